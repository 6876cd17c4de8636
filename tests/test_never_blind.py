"""Each way of going blind, on real processes: status, doctor, the next answer and the brief's first line say it."""

from __future__ import annotations

import json
import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from agentdb import AgentDatabase
from lab import Lab, call, hook, kill, until
from limpet.runtimes.openclaw import setup
from test_breaks import MINUTE, SECOND, Plugin, gateway

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator


class Scene:
    """A gateway's process that lives, what its plugin and its transcripts say, a real sidecar beside it."""

    def __init__(self, lab: Lab, sidecar: subprocess.Popen[str]) -> None:
        """Begin well: the plugin beats, one call was seen by its hooks, a transcript is there."""
        self.lab, self.sidecar, self.plugin = lab, sidecar, Plugin(lab)
        self.database = AgentDatabase(lab.state / "agents/main/agent/openclaw-agent.sqlite")
        self.database.session("s-1")
        self.plugin.beat("limpet_start", ago_ms=10 * MINUTE)
        self.plugin.say(call("c-0"), ago_ms=9 * MINUTE)
        self.plugin.beat()
        self.taken()

    def taken(self) -> None:
        """Wait until everything was taken in."""
        assert self.lab.asked(op="drain", seconds=20)["ok"]

    def hooks_stop(self) -> None:
        """Let transcripts tell of messages that no hook tells of."""
        write(self.database, "one", "two", "three")

    def results_stay_away(self) -> None:
        """Let three runs end whose calls have no result."""
        for n in range(3):
            ctx = {"runId": f"r-{n}"}
            end = hook("agent_end", {"success": True, "messages": []}, **ctx)
            self.plugin.say(call(f"d-{n}", begins=True, ctx=ctx), end)
        self.taken()

    def schema_changes(self) -> None:
        """Let an upgrade rename a column of the transcripts."""
        self.database.db.execute("ALTER TABLE transcript_events RENAME COLUMN event_json TO entry_json")

    def plugin_is_switched_off(self) -> None:
        """As `openclaw plugins disable limpet` writes it."""
        path = self.lab.state / "openclaw.json"
        path.write_text(re.sub(r'"enabled":\s*true', '"enabled": false', path.read_text()))

    def plugin_dies(self) -> None:
        """Let it say good-bye; the gateway's process lives on."""
        self.plugin.beat("limpet_stop", ago_ms=10 * SECOND)
        self.taken()

    def sidecar_dies(self) -> None:
        """SIGKILL; the plugin writes on."""
        kill(self.sidecar)
        self.plugin.say(call("c-9"))

    def sidecar_hangs(self) -> None:
        """SIGSTOP: it holds the lock, and nobody drains the spool."""
        self.sidecar.send_signal(19)
        self.plugin.say(call("c-9"))

    def openclaw_is_upgraded(self) -> None:
        """Let the gateway start anew in a version that nobody tried."""
        self.plugin.beat("limpet_start", version="2027.1.1")
        self.taken()


WAYS: dict[str, tuple[Callable[[Scene], None], str, int, str | None]] = {
    "hooks stopped": (Scene.hooks_stop, "hooks have stopped while transcripts go on", 5, "hooks"),
    "calls without results": (Scene.results_stay_away, "tool calls have no result", 5, "hooks"),
    "unreadable schema": (Scene.schema_changes, "event_json", 5, "openclaw.transcripts:main"),
    "plugin disabled": (Scene.plugin_is_switched_off, "does not load Limpet's plugin", 5, "plugin"),
    "dead plugin": (Scene.plugin_dies, "plugin in it was stopped", 5, "hooks"),
    "dead sidecar": (Scene.sidecar_dies, "sidecar is not running", 5, "recorder"),
    "spool nobody drains": (Scene.sidecar_hangs, "does not answer", 5, "recorder"),
    "gateway upgrade": (Scene.openclaw_is_upgraded, "OpenClaw 2027.1.1 runs", 0, None),
}  # fmt: skip
SLOW = ("spool nobody drains",)
"""Each command waits for the sidecar that hangs; test_breaks.py has one."""

IN_A_BRIEF = {
    "unreadable schema": "What openclaw.transcripts tells cannot be read",
    "gateway upgrade": "OPENCLAW WAS UPGRADED",
}


def write(database: AgentDatabase, *texts: str) -> None:
    """Let a transcript grow beside the sidecar, which takes it in."""
    for text in texts:
        at = time.strftime("%Y-%m-%dT%H:%M:%S.999Z", time.gmtime())
        said = {"role": "assistant", "content": text}
        database.append("s-1", {"type": "message", "id": text, "timestamp": at, "message": said})


@contextmanager
def scene(lab: Lab) -> Iterator[Scene]:
    """Set Limpet up and begin well."""
    lab.state.mkdir()
    (lab.state / "openclaw.json").write_text("{}")
    setup.apply(setup.plan_setup(lab.state, setup.plugin_folder(), None))
    with gateway(lab), lab.sidecar() as sidecar:
        made = Scene(lab, sidecar)
        try:
            yield made
        finally:
            made.database.stop()
            if sidecar.poll() is None:
                sidecar.send_signal(18)


def said(lab: Lab) -> dict[str, Any]:
    """Return what each door says now."""
    done = {name: lab.limpet(name, "--json") for name in ("status", "doctor", "recent", "brief")}
    return {name: (one.status, one.json) for name, one in done.items()}


@pytest.mark.parametrize("way", [pytest.param(way, marks=pytest.mark.soak if way in SLOW else ()) for way in WAYS])
def test_every_door_says_it_as_soon_as_it_is_asked(lab: Lab, way: str) -> None:
    """All is well before; then `status` ends with 5, `doctor` names the link, an answer warns, a brief begins with it."""
    breaks, words, status, link = WAYS[way]
    with scene(lab) as now:
        before = said(lab)
        assert [before[name][0] for name in ("status", "doctor")] == [0, 0]
        assert "warning" not in before["recent"][1]["coverage"]
        assert before["brief"][1]["own"].startswith("Limpet's memory of this agent")
        breaks(now)
        until(lambda: words in lab.limpet("status").out, f"status says: {words}")
        after = said(lab)
    assert (after["status"][0], words in after["status"][1]["sentence"]) == (status, True)
    assert (after["doctor"][0], after["doctor"][1]["broken"]) == (status, link)
    assert words in json.dumps(after["doctor"][1], ensure_ascii=False)
    assert words in after["recent"][1]["coverage"]["warning"]
    assert IN_A_BRIEF.get(way, words) in after["brief"][1]["own"].splitlines()[0]


@pytest.mark.soak
@pytest.mark.parametrize("way", [name for name in WAYS if name not in ("dead sidecar", "spool nobody drains")])
def test_the_brief_that_lies_ready_says_it_within_a_minute(lab: Lab, way: str) -> None:
    """The file that the plugin hands over; with a sidecar that is dead or hangs it is the plugin that says so."""
    breaks, words, _, _ = WAYS[way]
    path = lab.home / "brief" / "main.json"

    def first_line() -> str:
        return str(json.loads(path.read_text())["of"]["owner"]["own"].splitlines()[0]) if path.exists() else ""

    with scene(lab) as now:
        until(lambda: first_line().startswith("Limpet's memory"), "a brief lies ready")
        breaks(now)
        until(lambda: IN_A_BRIEF.get(way, words) in first_line(), f"the brief says: {words}")
