"""A day of a real gateway as Limpet tells it: compared with what the scripted model really asked for and said."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from gateway import driving
from gateway.gateway import Gateway
from gateway.provider import Provider
from limpet import door

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.gateway


@dataclass
class Memory:
    """The command line on one state folder, run as a user runs it."""

    state: Path
    home: Path

    def limpet(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run a command and return what it printed."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("LIMPET_", "OPENCLAW_"))}
        environment = {**kept, "HOME": str(self.home), "OPENCLAW_STATE_DIR": str(self.state), "TZ": "UTC"}
        return subprocess.run(
            [sys.executable, "-m", "limpet", *args], env=environment, capture_output=True, text=True, check=False
        )

    def events(self, kind: str, *, noise: bool = False) -> list[dict[str, Any]]:
        """Return the events of a type, oldest first."""
        lines = [json.loads(line) for line in self.limpet("export", "--type", kind).stdout.splitlines()]
        return [event for event in lines if noise or event["label"] not in ("internal", "own")]

    def status(self) -> dict[str, Any]:
        """Return what `status --json` says, with its exit status."""
        done = self.limpet("status", "--json")
        return {**json.loads(done.stdout), "exit": done.returncode}


@dataclass
class Told:
    """What the day's driver knows: what was asked for, said and typed; and the memory to be judged."""

    memory: Memory
    provider: Provider
    texts: list[str] = field(default_factory=list)

    def calls(self) -> Counter[tuple[str, str]]:
        """Return (id, right status) of every call that the model asked for."""
        return Counter((call["id"], driving.expected_status(call)) for call in self.provider.issued)


@pytest.fixture(scope="module")
def live(openclaw: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """Drive a day with the plugin and the sidecar that `limpet setup openclaw` installs, killing both in between."""
    with Provider() as provider, Gateway(tmp_path_factory.mktemp("live"), openclaw, provider) as gateway:
        memory = Memory(gateway.state, gateway.home)
        done = memory.limpet("setup", "openclaw", "--yes")
        assert done.returncode == 0, done.stderr
        day = driving.Day(gateway, provider)
        gateway.start()
        day.all_day(between=lambda number: kill_sidecar(gateway) if number in (3, 6, 8) else None)
        settle(memory, day)
        yield Told(memory, provider, day.texts)


def kill_sidecar(gateway: Gateway) -> None:
    """Kill the sidecar that the gateway supervises, without a warning."""
    socket = gateway.state / "limpet" / "limpet.sock"
    gateway.wait_for(lambda: door.ask(socket, {"op": "hello"}, 1), "a sidecar answers", 90)
    told = door.ask(socket, {"op": "hello"}, 1)
    assert told is not None
    os.kill(told["pid"], signal.SIGKILL)


def settle(memory: Memory, day: driving.Day) -> None:
    """Wait until the last turn's end is in the memory."""
    day.gateway.wait_for(
        lambda: (
            all(run["status"] != "started" for run in memory.events("run")) and memory.status()["pending_bytes"] == 0
        ),
        "every run has ended",
    )


@pytest.fixture(scope="module", params=["both", "transcripts", "hooks"])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Return the day by both witnesses live, and a day by each of them alone."""
    if request.param == "both":
        return request.getfixturevalue("live")  # type: ignore[no-any-return]
    day: driving.Day = request.getfixturevalue("silent_day")
    home = tmp_path_factory.mktemp(request.param)
    state = home / ".openclaw"
    shutil.copytree(day.gateway.state, state)
    if request.param == "transcripts":
        shutil.rmtree(state / "limpet")
    else:
        for database in state.glob("agents/*/agent/openclaw-agent.sqlite"):
            make_unreadable(database)
    return Told(Memory(state, home), day.provider, day.texts)


def make_unreadable(database: Path) -> None:
    """Give the transcripts a schema that nobody knows, as a future version might."""
    with sqlite3.connect(database) as connection:
        connection.execute("ALTER TABLE transcript_events RENAME TO transcript_events_2030")
        connection.execute("PRAGMA user_version = 2030")
    connection.close()


def test_every_tool_call_is_there_exactly_once_with_the_right_status(told: Told) -> None:
    """Also those that failed, the unknown tool, an id used twice, and the one that was cut off."""
    outer = [call for call in told.memory.events("tool_call") if not call["call"].startswith("tool_search_code:")]
    assert told.calls() == Counter((call["call"], call["status"]) for call in outer)


def test_the_call_through_another_tool_is_there_once(told: Told) -> None:
    """`tool_call` makes a second call of its own, and that one is told once."""
    inner = [call for call in told.memory.events("tool_call") if call["call"].startswith("tool_search_code:")]
    assert [(call["tool"], call["status"]) for call in inner] == [("sessions_spawn", "succeeded")]


def test_every_message_of_the_user_is_there_exactly_once(told: Told) -> None:
    """What was typed, whichever way it came in."""
    users = Counter(message["summary"] for message in told.memory.events("message") if message["actor"] == "user")
    assert Counter(told.texts) == Counter({text: users[text] for text in told.texts})


def test_every_answer_of_the_model_is_there_exactly_once(told: Told) -> None:
    """What the model said in words, and nothing else, is what the agent said."""
    said = Counter(said["text"] for said in told.provider.said if said["text"] and said["directive"])
    agents = Counter(message["summary"] for message in told.memory.events("message") if message["actor"] == "agent")
    assert said - agents == Counter()
    undirected = Counter(said["text"] for said in told.provider.said if said["text"] and not said["directive"])
    assert agents - said - undirected == Counter()


def test_the_interrupted_call_and_its_run_are_interrupted(told: Told) -> None:
    """The gateway was killed in the middle of a call: that call and its run, and no other, say so."""
    calls = [call for call in told.memory.events("tool_call") if call["status"] == "interrupted"]
    assert [call["tool"] for call in calls] == ["exec"]
    runs = [run for run in told.memory.events("run") if run["status"] == "interrupted"]
    assert [calls[0]["run"]] == [run["run"] for run in runs]


def test_nothing_is_left_open(told: Told) -> None:
    """After the day nothing is `started` that has ended."""
    left = [event for kind in ("tool_call", "run", "subagent", "cron") for event in told.memory.events(kind)]
    assert [event for event in left if event["status"] == "started"] == []


def test_the_ledger_is_whole(told: Told) -> None:
    """The chain verifies and every part of every record is in an event."""
    done = told.memory.limpet("verify", "--json")
    assert (done.returncode, json.loads(done.stdout)["faults"]) == (0, [])


def test_openclaws_own_count_agrees(told: Told) -> None:
    """The audit ledger's tool actions and runs are all here."""
    sentence = told.memory.status()["sentence"]
    assert "counted" not in sentence


def test_both_witnesses_saw_every_call(live: Told) -> None:
    """With both at work each call names both; the unknown tool too."""
    sources = {tuple(call["sources"]) for call in live.memory.events("tool_call")}
    assert {("openclaw.hooks", "openclaw.transcripts")} == sources


def test_cron_jobs_subagents_resets_and_compactions_are_there_once(live: Told) -> None:
    """Each kind of event that the day held."""
    told = [(e["summary"].split(":")[0], e["status"]) for e in live.memory.events("cron") if e["status"]]
    finished = Counter(one for one in told if "heartbeat" not in one[0])  # the gateway's own, on a slow day
    assert Counter({("cron job nightly", "succeeded"): 1, ("cron job broken", "failed"): 1}) == finished
    assert [e["status"] for e in live.memory.events("subagent")] == ["succeeded"]
    assert [e["status"] for e in live.memory.events("compaction")] == ["succeeded"]
    assert len(live.memory.events("reset")) == 1
    assert len([e for e in live.memory.events("gateway") if e["status"] == "started"]) == 2


def test_status_says_that_it_is_recording(live: Told) -> None:
    """With the gateway up and both witnesses well nothing is lacking."""
    status = live.memory.status()
    assert (status["exit"], status["state"], status["lacks"]) == (0, "recording", []), status


def test_status_says_what_one_witness_alone_lacks(told: Told, request: pytest.FixtureRequest) -> None:
    """Transcripts alone lack the hooks; hooks alone lack the transcripts, and the unknown schema is said plainly."""
    lacks = " ".join(told.memory.status()["lacks"])
    wanted = {"both": "", "transcripts": "hooks", "hooks": "schema"}[request.node.callspec.params["told"]]
    assert wanted in lacks


def test_a_removed_event_is_noticed(live: Told, tmp_path: Path) -> None:
    """Take one call out of a copy of the database: `verify` names it, and `status` counts what OpenClaw counted."""
    copy = tmp_path / "state"
    shutil.copytree(live.memory.state, copy, ignore=shutil.ignore_patterns("*.sock", "spool"))
    memory = Memory(copy, tmp_path)
    with sqlite3.connect(copy / "memory" / "agent_memory.db") as connection:
        connection.execute("DELETE FROM event WHERE id = (SELECT max(id) FROM event WHERE call LIKE 'call_%')")
    connection.close()
    assert "in no event" in memory.limpet("verify").stdout
    status = memory.status()
    assert (status["exit"], "1 of" in status["sentence"]) == (5, True), status
