"""What is broken now, and that each of it shows in `status`, in `doctor` and in the next answer, with what to do."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from agentdb import AgentDatabase
from lab import Lab, call, hook, until
from limpet import clock, coverage
from limpet.model import Query
from limpet.runtimes.openclaw import setup

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PRODUCER = "01970000-0000-7000-8000-000000000001"
SECOND, MINUTE = 1_000, 60_000


@contextmanager
def gateway(lab: Lab) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that looks, in the spool, like a gateway with the plugin in it."""
    process = subprocess.Popen(["sleep", "600"])
    try:
        folder = lab.home / "spool" / PRODUCER
        folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        start = clock.process_start(process.pid)
        about = {"v": 1, "producer": PRODUCER, "pid": process.pid, "start": start}
        (folder / "producer.json").write_text(json.dumps({**about, "boot": clock.boot_id(), "ns": clock.pid_space()}))
        yield process
    finally:
        process.kill()
        process.wait()


class Plugin:
    """Writes lines as the plugin does, into the spool of the running gateway."""

    def __init__(self, lab: Lab) -> None:
        """Begin with nothing."""
        self._path = lab.home / "spool" / PRODUCER / "1.jsonl"
        self._seq = 0

    def say(self, *lines: dict[str, Any], ago_ms: int = 0) -> None:
        """Append lines, told `ago_ms` before now."""
        with self._path.open("ab") as file:
            for line in lines:
                self._seq += 1
                head = {"v": 1, "id": f"{self._seq:032x}", "producer": PRODUCER, "seq": self._seq}
                file.write(json.dumps({**line, **head, "ts": clock.now_ms() - ago_ms}).encode() + b"\n")

    def beat(self, name: str = "limpet_beat", ago_ms: int = 0, version: str = "2026.9.6") -> None:
        """Say that it lives."""
        self.say({"hook": name, "ctx": {}, "event": {"openclaw": version}}, ago_ms=ago_ms)


def write(lab: Lab, database: AgentDatabase, *texts: str) -> None:
    """Let the gateway write messages into its transcript, now, and take them in."""
    for number, text in enumerate(texts):
        at = time.strftime("%Y-%m-%dT%H:%M:%S.999Z", time.gmtime())
        said = {"role": "assistant", "content": text}
        database.append("s-1", {"type": "message", "id": f"{text}{number}", "timestamp": at, "message": said})
    lab.drain()


def health(lab: Lab, later_ms: int = 0, **more: Any) -> coverage.Health:
    """Return how things stand in a moment in which all else is well, `later_ms` from now."""
    now = {"now_ms": clock.now_ms() + later_ms, "recording": True, "plugin": True, "alive": True}
    with lab.store() as store:
        return coverage.health(store, coverage.Watched(**{**now, "living": frozenset({PRODUCER}), **more}))


def codes(found: coverage.Health) -> list[str]:
    """Return what is broken."""
    return [one.code for one in found.breaks]


def test_a_plugin_that_was_stopped_in_a_running_gateway_is_a_break(lab: Lab):
    """It said good-bye, its process lives on, and no other plugin speaks; a reload is over sooner."""
    with gateway(lab):
        plugin = Plugin(lab)
        plugin.beat("limpet_start", ago_ms=MINUTE)
        plugin.beat("limpet_stop")
        lab.drain()
        assert codes(health(lab)) == []
        assert codes(health(lab, later_ms=6 * SECOND)) == ["stopped"]
        plugin.beat("limpet_start")
        lab.drain()
        assert codes(health(lab, later_ms=6 * SECOND)) == []


def test_what_was_stopped_is_still_known_when_its_spool_is_long_empty(lab: Lab):
    """The folder that names its process stays as long as the process does."""
    with gateway(lab):
        plugin = Plugin(lab)
        plugin.beat("limpet_stop")
        lab.drain()
        with lab.recording() as recording:
            later = clock.now_ms() + 3_600_000
            recording.recorder.take(recording._spool, later)
            recording.recorder.take(recording._spool, later)
            assert recording._spool.living(later) == {PRODUCER}


def test_a_beat_that_is_missed_is_a_break_whatever_the_clock_does(lab: Lab):
    """Two minutes without a word, also where the clock was set back or forth an hour."""
    with gateway(lab):
        Plugin(lab).beat()
        lab.drain()
        assert codes(health(lab, later_ms=MINUTE)) == []
        assert codes(health(lab, later_ms=3 * MINUTE)) == ["silent"]
        assert codes(health(lab, later_ms=-60 * MINUTE)) == ["silent"]


def test_a_clock_that_was_set_back_is_no_break_once_the_plugin_speaks_again(lab: Lab):
    """Its last time lies in the future, and what arrives now says that it lives."""
    with gateway(lab):
        Plugin(lab).beat(ago_ms=-60 * MINUTE)
        lab.drain()
        assert codes(health(lab)) == []


def test_hooks_that_stop_while_transcripts_go_on_are_a_break_since_then(lab: Lab):
    """The plugin's beats go on, and what the gateway writes is seen by one witness only."""
    with gateway(lab):
        plugin, database = Plugin(lab), AgentDatabase(lab.state / "agents/main/agent/openclaw-agent.sqlite")
        database.session("s-1")
        plugin.say(call("c-1"), ago_ms=10 * MINUTE)
        plugin.beat()
        write(lab, database, "one")
        assert codes(health(lab, later_ms=20 * SECOND)) == []
        write(lab, database, "two")
        found = health(lab, later_ms=20 * SECOND)
        assert codes(found) == ["hooks"]
        assert "2 events were seen there only" in found.sentence
        assert found.breaks[0].since_ms is not None
        assert abs(found.breaks[0].since_ms - clock.now_ms()) < MINUTE
        with lab.store() as store:
            now = coverage.Watched(clock.now_ms() + 20 * SECOND, recording=True, plugin=True, alive=True)
            told = coverage.of(store, Query(since_ms=clock.now_ms() - 30 * MINUTE), now)
        assert (told.state, "hooks have stopped" in told.warning) == ("partial", True)
        database.stop()


def test_a_plugin_that_came_back_is_no_break_before_anything_happens(lab: Lab):
    """What it missed is a gap of the past; whether it sees again the next turn will tell."""
    with gateway(lab):
        plugin, database = Plugin(lab), AgentDatabase(lab.state / "agents/main/agent/openclaw-agent.sqlite")
        database.session("s-1")
        earlier = {"v": 1, "id": f"{99:032x}", "producer": "earlier", "seq": 1, "ts": clock.now_ms() - 10 * MINUTE}
        lab.spool([{**call("c-1"), **earlier}], "earlier")
        write(lab, database, "one", "two", "three")
        assert codes(health(lab, later_ms=20 * SECOND, living=frozenset({"earlier"}))) == ["hooks"]
        plugin.beat("limpet_start", ago_ms=-2 * SECOND)
        lab.drain()
        assert codes(health(lab, later_ms=20 * SECOND)) == []
        database.stop()


def test_a_plugin_that_is_loaded_again_in_the_same_process_is_no_break(lab: Lab):
    """It goes on in its own numbers; what happened while it was switched off is a gap of the past."""
    with gateway(lab):
        plugin, database = Plugin(lab), AgentDatabase(lab.state / "agents/main/agent/openclaw-agent.sqlite")
        database.session("s-1")
        plugin.say(call("c-1"), ago_ms=10 * MINUTE)
        plugin.beat("limpet_stop")
        write(lab, database, "one", "two", "three")
        time.sleep(1.1)  # the messages above are of the second that they were written in
        plugin.beat("limpet_start")
        lab.drain()
        assert codes(health(lab, later_ms=20 * SECOND)) == []
        database.stop()


def test_an_agent_of_which_no_hook_ever_told_is_no_break(lab: Lab):
    """Other harnesses fire no hooks: their transcripts are the only witness there ever was."""
    with gateway(lab):
        plugin, database = Plugin(lab), AgentDatabase(lab.state / "agents/other/agent/openclaw-agent.sqlite")
        database.session("s-1", "agent:other:main")
        plugin.say(call("c-1"), ago_ms=10 * MINUTE)
        plugin.beat()
        write(lab, database, "one", "two", "three")
        assert codes(health(lab, later_ms=20 * SECOND)) == []
        database.stop()


def test_calls_without_results_are_a_break(lab: Lab):
    """Three in a row whose runs have ended; one result, and it is none any more."""
    with gateway(lab):
        plugin = Plugin(lab)
        for n in range(3):
            ctx = {"runId": f"r-{n}"}
            plugin.say(
                call(f"c-{n}", begins=True, ctx=ctx), hook("agent_end", {"success": True, "messages": []}, **ctx)
            )
        lab.drain()
        found = health(lab)
        assert (codes(found), "last 3 tool calls" in found.sentence) == (["results"], True)
        plugin.say(call("c-9", ctx={"runId": "r-9"}))
        lab.drain()
        assert codes(health(lab)) == []


def test_a_schema_that_cannot_be_read_is_a_break(lab: Lab):
    """An upgrade that took a column away; the others go on."""
    with gateway(lab):
        Plugin(lab).beat()
        database = AgentDatabase(lab.state / "agents/main/agent/openclaw-agent.sqlite")
        database.session("s-1")
        lab.drain()
        database.db.execute("ALTER TABLE transcript_events RENAME COLUMN event_json TO entry_json")
        lab.drain()
        found = health(lab)
        assert codes(found) == ["source openclaw.transcripts:main"]
        assert "transcript_events.event_json" in found.sentence
        database.stop()


def test_an_upgraded_gateway_is_said_until_both_witnesses_agree_again(lab: Lab):
    """It is no break, and it is in the sentence and in every answer, until one event was seen by both."""
    with gateway(lab):
        plugin, database = Plugin(lab), AgentDatabase(lab.state / "agents/main/agent/openclaw-agent.sqlite")
        database.session("s-1")
        plugin.beat("limpet_start", version="2027.1.1", ago_ms=MINUTE)
        lab.drain()
        found = health(lab)
        assert (found.ok, "OpenClaw 2027.1.1 runs" in found.sentence) == (True, True)
        said = {"role": "assistant", "content": "hello", "timestamp": clock.now_ms(), "responseId": "rs-1"}
        plugin.say(hook("before_message_write", {"message": said}))
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        database.append("s-1", {"type": "message", "id": "m1", "timestamp": at, "message": said})
        lab.drain()
        assert health(lab).sentence == "Limpet is recording."
        database.stop()


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ({"disabled": "plugins.enabled is false"}, "disabled"),
        ({"spool_fault": "No space left on device"}, "spool"),
        ({"complaint": "The disk is full."}, "recorder"),
        ({"stuck": "The sidecar runs, but does not answer."}, "stuck"),
        ({"recording": False}, "sidecar"),
        ({"recording": False, "pending": 9, "pending_ms": 1}, "undrained"),
    ],
)
def test_what_is_seen_from_outside_is_a_break_with_its_own_word(lab: Lab, told: dict[str, Any], code: str):
    """Each is in the sentence, with what to do."""
    with gateway(lab):
        Plugin(lab).beat()
        lab.drain()
        found = health(lab, **told)
        assert (codes(found), found.ok) == ([code], False)
        assert found.sentence == f"{found.breaks[0].sentence} -> {found.breaks[0].remedy}"


def test_of_several_breaks_the_first_on_an_events_way_is_said_and_the_others_counted(lab: Lab):
    """A full disk and a dead sidecar."""
    with gateway(lab):
        Plugin(lab).beat()
        lab.drain()
        found = health(lab, spool_fault="No space left on device", recording=False)
        assert codes(found) == ["spool", "sidecar"]
        assert found.sentence.endswith("(1 more: limpet doctor)")


@pytest.fixture
def openclaw(lab: Lab) -> Path:
    """Set Limpet up in a configuration of OpenClaw's and return that file."""
    path = lab.state / "openclaw.json"
    lab.state.mkdir()
    path.write_text("{}")
    setup.apply(setup.plan_setup(lab.state, setup.plugin_folder(), None))
    return path


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('"enabled": true', '"enabled": false', "plugins.entries.limpet.enabled is not true"),
        ('"plugins": {', '"plugins": {"enabled": false,', "plugins.enabled is false"),
        ('"plugins": {', '"plugins": {"deny": ["limpet"],', "plugins.deny names limpet"),
        ('"plugins": {', '"plugins": {"allow": ["other"],', "plugins.allow does not name limpet"),
        ('"paths"', '"others"', "plugins.load.paths does not name its folder"),
        ('"limpet"', '"other"', "its entry is gone from"),
        ("{", "", "is not valid"),
    ],
)
def test_a_plugin_that_openclaw_does_not_load_any_more_is_said_everywhere(
    lab: Lab, openclaw: Path, old: str, new: str, why: str
):
    """Status exits 5, doctor names the link and what to do, and the next answer says it."""
    assert setup.fault(lab.state) == ""
    text = openclaw.read_text()
    openclaw.write_text(text.replace(old, new, 1) if old != "{" else text[1:])
    lab.take([call("c-1")])
    assert why in setup.fault(lab.state) or why == "is not valid"
    status, doctor, recent = (lab.limpet(name, "--json") for name in ("status", "doctor", "recent"))
    said = "OpenClaw does not load Limpet's plugin"
    assert (status.status, said in status.json["sentence"], status.json["breaks"][0]["code"]) == (5, True, "disabled")
    assert (doctor.status, doctor.json["broken"]) == (5, "plugin")
    assert said in recent.json["coverage"]["warning"]
    assert said in lab.limpet("recent").err


def test_after_removal_nothing_is_broken(lab: Lab, openclaw: Path):
    """Whoever takes Limpet out does so on purpose."""
    lab.take([call("c-1")])
    setup.apply(setup.plan_removal(lab.state))
    assert (setup.fault(lab.state), lab.limpet("status").status, openclaw.exists()) == ("", 0, True)


def test_a_sidecar_that_is_stopped_in_its_tracks_is_said(lab: Lab):
    """SIGSTOP: it holds the lock and answers nobody. Status exits 5, doctor names the recorder, an answer says it."""
    lab.take([call("c-1")])
    with lab.sidecar() as sidecar:
        sidecar.send_signal(19)
        try:
            status, doctor, recent = (lab.limpet(name, "--json") for name in ("status", "doctor", "recent"))
        finally:
            sidecar.send_signal(18)
    assert (status.status, status.json["sentence"]) == (
        5,
        "The sidecar runs, but does not answer. -> End that process; the plugin, or limpet run, starts another.",
    )
    assert (doctor.status, doctor.json["broken"]) == (5, "recorder")
    assert "does not answer" in recent.json["coverage"]["warning"]
    assert recent.json["count"] == 0


def test_a_gateway_whose_sidecar_is_gone_is_said(lab: Lab):
    """The plugin writes on; the commands drain, answer, and say that nobody does so by himself."""
    with gateway(lab):
        plugin = Plugin(lab)
        with lab.sidecar() as sidecar:
            plugin.beat()
            assert lab.limpet("status").status == 0
            sidecar.kill()
            until(lambda: not lab.answers(), "the sidecar is gone")
        plugin.say(call("c-1"))
        status, doctor, recent = (lab.limpet(name, "--json") for name in ("status", "doctor", "recent"))
        assert (status.status, "sidecar is not running" in status.json["sentence"]) == (5, True)
        assert (doctor.status, doctor.json["broken"]) == (5, "recorder")
        assert "sidecar is not running" in recent.json["coverage"]["warning"]
        assert recent.json["count"] == 1


def test_a_program_that_uses_the_functions_is_no_gateway(lab: Lab):
    """It lives and has written, and nobody need listen at once."""
    done = lab.code(
        "import subprocess, sys; from limpet import init_db, log_event; log_event(init_db(), 'note', 'x');"
        "said = subprocess.run([sys.executable, '-m', 'limpet', 'status', '--json'], capture_output=True);"
        "print(said.stdout.decode()); sys.exit(said.returncode)"
    )
    assert (done.status, done.json["state"]) == (0, "not set up")


def test_doctor_walks_the_whole_way(lab: Lab, openclaw: Path):
    """From the plugin to an answer and to who would be told, each link by its name, in order."""
    assert openclaw.exists()
    with gateway(lab), lab.sidecar():
        Plugin(lab).beat()
        doctor = lab.limpet("doctor", "--json")
        names = list(dict.fromkeys(step["what"] for step in doctor.json["steps"]))
        wanted = ["plugin", "hooks", "spool", "recorder", "spool", "count", "all in all", "database", "index", "answer"]
        assert (doctor.status, doctor.json["broken"]) == (0, None)
        assert names == list(dict.fromkeys([*wanted, "notes", "alarm"]))
        assert "The broken link" not in lab.limpet("doctor").out
