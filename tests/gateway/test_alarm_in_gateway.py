"""Killing each on a real gateway: the plugin has somebody told of a dead sidecar, the sidecar of a dead plugin."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from gateway.telegram import Telegram
from limpet import door, settings
from limpet.runtimes.openclaw import setup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gateway.gateway import Gateway

pytestmark = [pytest.mark.gateway, pytest.mark.soak]  # a gateway of its own for minutes

AFTER_S = 5
PATIENCE_S = 150
"""A command of OpenClaw's takes five seconds on a quiet machine, and many times that on a busy one."""

NO_SIDECAR = "Limpet: the gateway runs and its plugin writes, but the sidecar does not answer."
NO_PLUGIN = "Limpet: OpenClaw does not load Limpet's plugin"
CLEAR = "Limpet: all is well again."
SIDECAR = f"""#!/bin/sh
[ -e "$LIMPET_HOME/dead" ] && exit 1
exec {sys.executable} -m limpet run --until-eof
"""


@dataclass
class Drill:
    """A gateway whose owner is reached on Telegram; `seen` is what was said at each moment."""

    gateway: Gateway
    telegram: Telegram
    seen: dict[str, Any] = field(default_factory=dict)

    def limpet(self, *args: str) -> tuple[int, Any]:
        """Run a command with --json; return its exit status and what it said."""
        command = [sys.executable, "-m", "limpet", *args, "--json"]
        done = subprocess.run(command, env=self.gateway.env, capture_output=True, text=True, check=False)
        return done.returncode, json.loads(done.stdout)

    def sidecar(self) -> int:
        """Return the process id of the sidecar that answers, 0 where none does."""
        chosen = settings.load(environment=self.gateway.env)
        return int((door.ask(chosen.socket, {"op": "hello"}, 5.0) or {}).get("pid") or 0)

    def reached(self, start: str) -> list[str]:
        """Return what reached the owner's phone and begins so."""
        return [text for m in self.telegram.sent if (text := str(m["text"])).startswith(start)]

    def look(self, moment: str) -> None:
        """Keep what status, doctor and an answer say now."""
        asked = {name: self.limpet(*name.split()) for name in ("status", "doctor", "recent --hours 1")}
        self.seen[moment] = {
            **asked,
            "told": [str(m["text"]) for m in self.telegram.sent if "Limpet:" in str(m["text"])],
        }


@pytest.fixture(scope="module")
def drill(new_gateway: Callable[..., Gateway]) -> Iterator[Drill]:
    """Let the sidecar die for good and come back, then the plugin."""
    with Telegram() as telegram:
        gateway = new_gateway({"channels": telegram.channels})
        drill = Drill(gateway, telegram)
        home = gateway.state / "limpet"
        home.mkdir(mode=0o700)
        (home / "config.toml").write_text(f"alarm_after_s = {AFTER_S}\nnote_nightly = false\n")
        program = gateway.home / "sidecar.sh"
        program.write_text(SIDECAR)
        program.chmod(0o700)
        setup.apply(setup.plan_setup(gateway.state, setup.plugin_folder(), [str(program)]))
        gateway.start()
        telegram.write("DO:say(Good morning.) please")
        gateway.wait_for(lambda: drill.reached("Good morning."), "an answer on the phone")
        gateway.wait_for(drill.sidecar, "the sidecar answers")
        gateway.wait_for(lambda: "telegram" in (home / "ways.json").read_text(), "the way to the phone is known")
        drill.look("well")
        kill_the_sidecar(drill)
        kill_the_plugin(drill)
        yield drill


def kill_the_sidecar(drill: Drill) -> None:
    """Kill it, and each that follows, until somebody was told; then let it live again."""
    dead = drill.gateway.state / "limpet" / "dead"
    dead.touch()
    os.kill(drill.sidecar(), signal.SIGKILL)
    drill.gateway.wait_for(lambda: drill.reached(NO_SIDECAR), "the plugin has somebody told", PATIENCE_S)
    drill.look("no sidecar")
    dead.unlink()
    drill.gateway.wait_for(lambda: drill.reached(CLEAR), "the plugin gives the all-clear", PATIENCE_S)
    drill.look("sidecar again")


def kill_the_plugin(drill: Drill) -> None:
    """Switch it off beside a sidecar that runs by itself, until somebody was told; then switch it on again."""
    gateway = drill.gateway
    gateway.openclaw("plugins", "disable", "limpet")
    gateway.wait_for(lambda: not drill.sidecar(), "the plugin's own sidecar ends with it")
    alone = subprocess.Popen([sys.executable, "-m", "limpet", "run"], env=gateway.env, stderr=subprocess.DEVNULL)
    try:
        gateway.wait_for(lambda: drill.reached(NO_PLUGIN), "the sidecar has somebody told", PATIENCE_S)
        gateway.turn("DO:ok while nobody listens", check=False)
        drill.look("no plugin")
        gateway.openclaw("plugins", "enable", "limpet", "--accept-capabilities")
        gateway.wait_for(lambda: len(drill.reached(CLEAR)) == 2, "the sidecar gives the all-clear", PATIENCE_S)
        drill.look("plugin again")
    finally:
        alone.terminate()
        alone.wait(30)


def test_before_it_all_is_well(drill: Drill) -> None:
    """Nobody is told anything, and every link holds."""
    now = drill.seen["well"]
    assert (now["status"][0], now["doctor"][1]["broken"], now["told"]) == (0, None, [])
    assert "warning" not in now["recent --hours 1"][1]["coverage"]


def test_a_dead_sidecar_is_said_everywhere_and_told_once(drill: Drill) -> None:
    """By the plugin, on the owner's phone; `status` exits 5, `doctor` names the link, the next answer says it."""
    now = drill.seen["no sidecar"]
    assert (now["status"][0], now["doctor"][0], now["doctor"][1]["broken"]) == (5, 5, "recorder")
    assert "sidecar is not running" in now["recent --hours 1"][1]["coverage"]["warning"]
    assert len(drill.reached(NO_SIDECAR)) == 1


def test_its_return_is_told_once_and_nothing_is_missing(drill: Drill) -> None:
    """The all-clear follows, and the plugin's numbers have no hole."""
    now = drill.seen["sidecar again"]
    assert (now["status"][0], [text.startswith(CLEAR) for text in now["told"]]) == (0, [False, True])
    assert now["recent --hours 1"][1]["coverage"]["gaps"] == []


def test_a_plugin_that_was_switched_off_is_said_everywhere_and_told_once(drill: Drill) -> None:
    """By the sidecar, on the owner's phone."""
    now = drill.seen["no plugin"]
    assert (now["status"][0], now["doctor"][0], now["doctor"][1]["broken"]) == (5, 5, "plugin")
    assert "OpenClaw does not load Limpet's plugin" in now["recent --hours 1"][1]["coverage"]["warning"]
    assert len(drill.reached(NO_PLUGIN)) == 1


def test_what_happened_meanwhile_is_there_by_the_other_witness(drill: Drill) -> None:
    """The transcript tells of the turn that no hook saw, and the answer says that it is not complete."""
    answer = drill.seen["no plugin"]["recent --hours 1"][1]
    mine = [e for e in answer["events"] if "while nobody listens" in e["summary"]]
    assert [e["sources"] for e in mine if e["type"] == "message"] == [["openclaw.transcripts"]]
    assert answer["coverage"]["state"] == "partial"


def test_its_return_is_told_once(drill: Drill) -> None:
    """Two alarms and two all-clears in all."""
    now = drill.seen["plugin again"]
    assert now["status"][0] == 0
    assert [text.startswith(CLEAR) for text in now["told"]] == [False, True, False, True]
