"""The watch in a real sidecar: somebody is told once, by a real command, also over restarts, and of the end of it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab import Lab, call, ended, kill, until
from limpet import watch
from limpet.alarm import Alarm
from limpet.runtimes.openclaw import setup
from test_alarm import configure, write_program
from test_breaks import SECOND, Plugin, gateway

if TYPE_CHECKING:
    from collections.abc import Sequence

STOPPED = "Limpet: The gateway runs on, but Limpet's plugin in it was stopped. -> openclaw gateway restart"


def prepare(lab: Lab, after_s: int = 1) -> None:
    """Have somebody told after a second; what they are told is written down."""
    write_program(lab.folder / "bin", "pen")
    configure(lab, f'on_alarm = "{lab.folder}/bin/pen"', f"alarm_after_s = {after_s}")


def told(lab: Lab) -> Sequence[str]:
    """Return what somebody was told, with its state."""
    path = lab.folder / "told"
    return path.read_text().splitlines() if path.exists() else []


def test_a_dead_plugin_is_told_once_over_restarts_and_so_is_its_return(lab: Lab):
    """The sidecar is killed and started again meanwhile: no second alarm; the all-clear follows."""
    prepare(lab)
    with gateway(lab):
        plugin = Plugin(lab)
        plugin.beat("limpet_stop")
        with lab.sidecar() as first:
            until(lambda: Alarm.read(lab.home).told, "the alarm is kept")
            kill(first)
        with lab.sidecar():
            time.sleep(2.5)
            assert told(lab) == [f"broken 1 {STOPPED}"]
            assert lab.limpet("status", "--json").json["told"] == [STOPPED.removeprefix("Limpet: ")]
            assert "was told: " in lab.limpet("doctor").out
            plugin.beat("limpet_start")
            until(lambda: len(told(lab)) == 2, "the all-clear")
    assert told(lab)[1] == f"clear 1 Limpet: all is well again. It was: {STOPPED.removeprefix('Limpet: ')}"


def test_a_plugin_that_takes_its_sidecar_along_is_told_all_the_same(lab: Lab):
    """The gateway lives on without it: the sidecar ends with its input, and leaves somebody who looks on for a while."""
    prepare(lab)
    with gateway(lab):
        plugin = Plugin(lab)
        plugin.beat("limpet_start", ago_ms=30 * SECOND)
        plugin.beat("limpet_stop")
        assert lab.limpet("run", "--until-eof").status == 0  # its input is at its end already
        until(lambda: told(lab), "the alarm")
        with lab.sidecar():
            until(lambda: not watches(lab), "whoever looked on ends when a sidecar is back")
    assert told(lab) == [f"broken 1 {STOPPED}"]


def watches(lab: Lab) -> list[bytes]:
    """Return the command lines of the processes of this installation that only look on."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"OPENCLAW_STATE_DIR={lab.state}\0".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes())
        except OSError:
            continue  # it ended while we looked, or is not ours
    return [line for line in found if b"\0watch\0" in line]


def test_of_several_watches_one_tells(lab: Lab):
    """A sidecar, and three that look on as after its end."""
    prepare(lab, after_s=2)
    with gateway(lab):
        Plugin(lab).beat("limpet_stop")
        lab.drain()
        code = "import threading; from limpet import settings, watch; watch.Watch(settings.load(), print).run(threading.Event())"
        watching = [lab.python("-c", code) for _ in range(3)]
        with lab.sidecar():
            until(lambda: told(lab), "the alarm")
            time.sleep(2)
        for one in watching:
            kill(one)
    assert told(lab) == [f"broken 1 {STOPPED}"]


def test_the_ways_lie_ready_for_the_plugin(lab: Lab):
    """A dead sidecar cannot be asked for them."""
    prepare(lab)
    with lab.sidecar():
        until((lab.home / "ways.json").exists, "the ways are written down")
        until(lambda: json.loads((lab.home / "ways.json").read_text()), "they are whole")
    said = json.loads((lab.home / "ways.json").read_text())
    assert said == {"after_s": 1, "ways": [[f"{lab.folder}/bin/pen"]]}
    assert {path.stat().st_mode & 0o777 for path in lab.home.glob("*.json")} == {0o600}


def test_a_database_that_cannot_be_read_is_told(lab: Lab):
    """The watch itself needs the memory, and says so where it has none; somebody else's file is left alone."""
    prepare(lab)
    lab.db.parent.mkdir(parents=True)
    lab.db.write_bytes(b"this is no database" * 1000)
    with lab.sidecar():
        until(lambda: told(lab), "the alarm")
    assert "is not a SQLite database" in told(lab)[0]


def test_where_all_is_well_nobody_is_told(lab: Lab):
    """A plugin that beats and a sidecar that records."""
    prepare(lab)
    with gateway(lab), lab.sidecar():
        Plugin(lab).beat()
        time.sleep(2.5)
    assert told(lab) == []


def test_an_alarm_can_be_switched_off(lab: Lab):
    """`alarm_after_s = 0`; status says it all the same."""
    prepare(lab, after_s=0)
    with gateway(lab), lab.sidecar():
        Plugin(lab).beat("limpet_stop")
        time.sleep(6)
        assert (lab.limpet("status").status, told(lab)) == (5, [])


@pytest.fixture
def set_up(lab: Lab) -> Lab:
    """Set Limpet up in a configuration of OpenClaw's, with somebody to be told."""
    lab.state.mkdir()
    (lab.state / "openclaw.json").write_text("{}")
    prepare(lab)
    setup.apply(setup.plan_setup(lab.state, setup.plugin_folder(), None))
    return lab


def test_who_looks_on_ends_when_limpet_is_removed_and_nothing_of_the_alarm_stays(set_up: Lab):
    """`remove` says what it deletes; the process that was left behind notices, and writes nothing any more."""
    with gateway(set_up):
        Plugin(set_up).beat("limpet_stop")
        assert set_up.limpet("run", "--until-eof").status == 0
        until(lambda: told(set_up), "the alarm")
        assert len(watches(set_up)) == 1
        removed = set_up.limpet("remove", "openclaw", "--yes")
        until(lambda: not watches(set_up), "whoever looked on ends")
    assert (removed.status, "Delete what the alarm keeps in" in removed.out) == (0, True)
    assert watch.kept(set_up.settings) == []
    assert set_up.limpet("status", "--json").json["told"] == []


def test_a_sidecar_that_ends_after_the_removal_leaves_nobody_behind(set_up: Lab):
    """The gateway starts anew without the plugin; the sidecar that it had ends, and takes the alarm's files along."""
    sidecar = set_up.python("-m", "limpet", "run")
    until(set_up.answers, "it records")
    until((set_up.home / "alarm.json").exists, "it looks")
    assert set_up.limpet("remove", "openclaw", "--yes").status == 0
    until((set_up.home / "alarm.json").exists, "it looks on")
    sidecar.terminate()
    assert ended(sidecar).status == 0
    assert (watches(set_up), watch.kept(set_up.settings)) == ([], [])


def test_where_nothing_was_set_up_somebody_may_look_on_all_the_same(lab: Lab):
    """`limpet watch` beside a sidecar of a container's, say: it was never set up here, so it was not removed."""
    prepare(lab)
    lab.take([call("c-1")])
    looking = lab.start("watch")
    time.sleep(3)
    assert looking.poll() is None
    kill(looking)
