"""The brief in a real gateway, judged by what the scripted model received: when it is there, for how long, and whose it is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from gateway.gateway import Gateway
from gateway.provider import Provider, flat
from limpet import door

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.gateway

MODEL = {"model": {"primary": "scripted/scripted-1"}, "compaction": {"mode": "default"}}
PEER, STRANGER = "agent:main:telegram:direct:111", "agent:main:telegram:direct:222"
BEGIN, FRAME = "Limpet's memory of this agent, as of", "<limpet-memory id="
NONE, OLD = "Limpet, the memory of this agent, has no brief here", "Limpet's sidecar does not seem to run"
TRIES = 3
"""On a busy machine OpenClaw may refuse a turn because another process of its own holds its state."""

BEFORE_MS = 20 * 3_600_000
"""What is told of the time before the gateway was started lies so far back."""


def said(agent: str, key: str, text: str, now_ms: int) -> dict[str, Any]:
    """Return the line of a message that an agent got."""
    ctx = {"agentId": agent, "sessionKey": key, "sessionId": f"before-{key}", "runId": f"run-{text[:8]}"}
    event = {
        "content": text,
        "messageId": text,
        "senderId": "1",
        "metadata": {"senderIsOwner": key.endswith("main")},
    }
    return {"hook": "message_received", "ts": now_ms - BEFORE_MS, "ctx": ctx, "event": event}


def answered(agent: str, key: str, now_ms: int) -> dict[str, Any]:
    """Return the line of an answer to it."""
    ctx = {"agentId": agent, "sessionKey": key, "sessionId": f"before-{key}"}
    event = {"content": "Yes.", "messageId": f"answer-{key}", "success": True, "to": "1"}
    return {"hook": "message_sent", "ts": now_ms - BEFORE_MS + 500, "ctx": ctx, "event": event}


def failed(now_ms: int) -> dict[str, Any]:
    """Return the line of a call that failed the day before."""
    ctx = {"agentId": "main", "sessionKey": "agent:main:main", "sessionId": "before", "runId": "run-before"}
    event = {
        "toolName": "exec",
        "params": {"command": "make old-report"},
        "toolCallId": "before-1",
        "error": "no paper",
    }
    return {"hook": "after_tool_call", "ts": now_ms - BEFORE_MS + 1, "ctx": ctx, "event": event}


@dataclass
class Woken:
    """A gateway whose agents were woken up again and again, with the requests that each turn made."""

    gateway: Gateway
    provider: Provider
    turns: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    briefs: list[dict[str, Any]] = field(default_factory=list)
    handed: dict[str, Any] = field(default_factory=dict)
    shown: dict[str, Any] = field(default_factory=dict)
    heard: str = ""

    @property
    def path(self) -> Path:
        """The file in which the main agent's brief waits."""
        return self.gateway.state / "limpet" / "brief" / "main.json"

    def turn(self, name: str, message: str, *where: str) -> None:
        """Let an agent have a turn, and keep what the model received for it."""
        for _ in range(TRIES):
            before = len(self.provider.requests)
            self.gateway.openclaw("agent", *(where or ("--agent", "main")), "--message", message, check=False)
            self.turns[name] = [body for body in self.provider.requests[before:] if body.get("tools")]
            if self.turns[name]:
                return

    def limpet(self, *arguments: str) -> str:
        """Run the command line on this gateway's state folder and return what it printed."""
        command = [sys.executable, "-m", "limpet", *arguments]
        done = subprocess.run(command, env=self.gateway.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def handed_over(self) -> list[dict[str, Any]]:
        """Return the events of what was handed over, oldest first."""
        asked = self.limpet("ask", "--json", "--limit", "99", "type:brief noise:yes sort:oldest")
        return list(json.loads(asked)["events"])

    def sidecar(self) -> int:
        """Return the sidecar's process id."""
        return int((door.ask(self.gateway.state / "limpet" / "limpet.sock", {"op": "hello"}, 5.0) or {})["pid"])

    def system(self, name: str) -> list[str]:
        """Return the system's part of each request of a turn, from where Limpet's begins to the end of its paragraph."""
        texts = [flat(body["messages"][0]["content"]) for body in self.turns[name]]
        return [text[text.index(BEGIN) :].partition("\n\n")[0] if BEGIN in text else "" for text in texts]

    def rest(self, name: str) -> str:
        """Return everything else that the model received in the last request of a turn."""
        return "\n".join(flat(message.get("content")) for message in self.turns[name][-1]["messages"][1:])

    def all_of(self, name: str) -> str:
        """Return all that the model received in the last request of a turn."""
        return "\n".join(flat(message.get("content")) for message in self.turns[name][-1]["messages"])


def is_fresh(woken: Woken, since_ms: int) -> bool:
    """Whether the brief was made after this moment."""
    return woken.path.exists() and json.loads(woken.path.read_bytes())["at"] > since_ms


def windows(woken: Woken) -> None:
    """Three turns, a compaction and two turns, a new window and a restart in it, one turn of each other audience."""
    for number, message in enumerate(("Hello", "DO:ok please", "What was it yesterday?"), start=1):
        woken.turn(f"first {number}", message)
    woken.gateway.compact()
    woken.turn("compacted 1", "DO:ok after the compaction")
    woken.turn("compacted 2", "And again")
    woken.gateway.turn("/new")
    woken.turn("new 1", "Hello again")
    woken.turn("new 2", "DO:ok once more")
    woken.turn("peer", "Hello from the peer", "--session-key", PEER)
    woken.turn("stranger", "Hello from a stranger", "--session-key", STRANGER)
    woken.turn("second", "Hello second", "--agent", "second")


def compared(woken: Woken) -> None:
    """Wake the agent once more, and let `limpet brief` show what it got, as of the same moment."""
    woken.turn("shown", "What does limpet brief show?", "--session-key", "agent:main:shown")
    number = woken.handed_over()[-1]["id"]
    woken.handed = json.loads(woken.limpet("show", "--json", number))["records"][0]["body"]["event"]
    seconds, rest = divmod(woken.handed["at"], 1000)
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:03d}Z"
    woken.shown = json.loads(woken.limpet("brief", "--json", "--now", at))


def without_sidecar(woken: Woken) -> None:
    """Stop the sidecar in its tracks, and put things into the place of its file that are no brief."""
    pid = woken.sidecar()
    os.kill(pid, signal.SIGSTOP)
    try:
        os.utime(woken.path, (0, time.time() - 3600))
        woken.turn("hung", "Hello hung", "--session-key", "agent:main:hung")
        for what in ("missing", "fifo", "folder", "huge"):
            woken.path.rmdir() if woken.path.is_dir() else woken.path.unlink(missing_ok=True)
            put_in_place(woken.path, what)
            woken.turn(what, f"Hello {what}", "--session-key", f"agent:main:{what}")
        woken.path.unlink()
    finally:
        os.kill(pid, signal.SIGCONT)


def put_in_place(path: Path, what: str) -> None:
    """Put something there that is no brief."""
    if what == "fifo":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what == "huge":
        path.write_text(json.dumps({"v": 1, "agent": "main", "of": {}, "other": {"own": "x" * (1 << 20)}}))


@pytest.fixture(scope="module")
def woken(openclaw: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Woken]:
    """Bring in a day before, set up as a user does, and wake two agents for three people in every way there is."""
    home = tmp_path_factory.mktemp("woken")
    more = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
    entries = {"main": {"workspace": str(home / ".openclaw" / "workspace")}, "second": {}}
    sections = {"agents": {"defaults": MODEL, "ownership": "explicit", "entries": entries}}
    with Provider() as provider, Gateway(home, openclaw, provider, more, sections) as gateway:
        seen = Woken(gateway, provider)
        now_ms = time.time_ns() // 1_000_000
        whose = (
            ("main", "agent:main:main", "OWNER"),
            ("main", PEER, "PEER"),
            ("second", "agent:second:main", "SECOND"),
        )
        lines = [said(agent, key, f"MARKER-{mark} bring the paper", now_ms) for agent, key, mark in whose]
        lines += [answered(agent, key, now_ms) for agent, key, _ in whose] + [failed(now_ms)]
        before = home / "before.jsonl"
        before.write_text("".join(json.dumps(line) + "\n" for line in lines))
        seen.limpet("import", str(before))
        seen.limpet("setup", "openclaw", "--yes")
        gateway.start()
        gateway.wait_for(lambda: is_fresh(seen, now_ms), "the sidecar has written a brief")
        windows(seen)
        compared(seen)
        gateway.stop()
        gateway.start()
        seen.turn("restarted", "Hello after the restart")
        without_sidecar(seen)
        gateway.wait_for(lambda: is_fresh(seen, now_ms), "the sidecar writes again")
        seen.briefs = seen.handed_over()
        seen.heard = seen.limpet("ask", "--json", "--limit", "999", "type:message noise:yes")
        yield seen


@pytest.mark.parametrize(
    "window", [("first 1", "first 2", "first 3"), ("compacted 1", "compacted 2"), ("new 1", "new 2", "restarted")]
)
def test_the_brief_is_the_same_in_every_request_of_a_window(woken: Woken, window: tuple[str, ...]) -> None:
    """From first to last, byte by byte, also between the steps of one turn and where the gateway starts anew."""
    texts = [text for name in window for text in woken.system(name)]
    assert texts[0].startswith(BEGIN)
    assert texts == texts[:1] * len(texts)


def test_each_window_has_a_brief_of_its_own(woken: Woken) -> None:
    """After a compaction and after /new it is another one."""
    assert len({woken.system(name)[0] for name in ("first 1", "compacted 1", "new 1")}) == 3


@pytest.mark.parametrize("turn", ["first 1", "compacted 1", "new 1"])
def test_quotations_stand_in_the_first_message(woken: Woken, turn: str) -> None:
    """In the user's message of the first turn, and never in the system's part."""
    assert FRAME in woken.rest(turn)
    assert FRAME not in flat(woken.turns[turn][-1]["messages"][0]["content"])


@pytest.mark.parametrize("turn", ["first 2", "first 3", "compacted 2", "new 2", "restarted"])
def test_quotations_do_not_come_again(woken: Woken, turn: str) -> None:
    """Not in a later message, and not in the history either: OpenClaw keeps the message as it was written."""
    assert FRAME not in woken.all_of(turn)


def test_a_fact_of_yesterday_is_there_in_the_third_turn(woken: Woken) -> None:
    """The failed call of the day before, as an open end."""
    (text,) = woken.system("first 3")
    assert "- exec failed" in text
    assert "1 tool call (1 failed)" in text


def test_the_owner_is_told_of_what_was_asked(woken: Woken) -> None:
    """The message of the day before is quoted, with its trust."""
    assert '"trust": "owner", "said": "MARKER-OWNER bring the paper"' in woken.rest("first 1")


def test_two_agents_and_two_people_are_told_nothing_of_each_other(woken: Woken) -> None:
    """Each one's own words alone; somebody new is told nothing of anybody."""
    told = {name: woken.all_of(name) for name in ("first 1", "new 1", "peer", "stranger", "second")}
    marks = ("MARKER-OWNER", "MARKER-PEER", "MARKER-SECOND")
    found = {name: [mark for mark in marks if mark in text] for name, text in told.items()}
    assert found["first 1"] == ["MARKER-OWNER"]
    assert {*found["new 1"]} <= {"MARKER-OWNER"}
    assert (found["peer"], found["stranger"], found["second"]) == (["MARKER-PEER"], [], ["MARKER-SECOND"])
    assert "- exec failed" not in told["peer"] + told["stranger"] + told["second"]


def test_limpet_brief_shows_what_the_agent_gets(woken: Woken) -> None:
    """The same bytes of both parts in what the model received, in what was recorded of that, and on the command line."""
    assert (woken.system("shown")[0], woken.handed["own"]) == (woken.shown["own"], woken.shown["own"])
    assert woken.shown["quoted"] in woken.rest("shown")
    assert woken.handed["told"] == woken.shown["told"]
    assert woken.shown["told"]


def test_what_was_handed_over_is_recorded_and_no_news(woken: Woken) -> None:
    """An event of Limpet's own for each window; no message that was recorded holds a quotation of a brief."""
    windows = (
        "first",
        "compacted",
        "new",
        "peer",
        "stranger",
        "second",
        "shown",
        "hung",
        "missing",
        "fifo",
        "folder",
        "huge",
    )
    assert len(windows) == len([one for one in woken.briefs if one["label"] == "own"])
    assert ("limpet-memory" in woken.heard, "MARKER-OWNER" in woken.heard) == (False, True)
    assert json.loads(woken.limpet("ask", "--json", "MARKER-OWNER"))["count"] == 1


def test_with_the_sidecar_hung_the_brief_is_called_old(woken: Woken) -> None:
    """It is handed over, and a sentence in front says that nobody keeps it up."""
    assert OLD in flat(woken.turns["hung"][0]["messages"][0]["content"])
    assert BEGIN in flat(woken.turns["hung"][0]["messages"][0]["content"])


@pytest.mark.parametrize("what", ["missing", "fifo", "folder", "huge"])
def test_without_a_readable_file_the_turn_goes_on(woken: Woken, what: str) -> None:
    """The agent is told that there is no brief, and answers as ever."""
    assert NONE in flat(woken.turns[what][0]["messages"][0]["content"])
    assert woken.turns[what][-1]["messages"][-2]["role"] == "user"


def test_every_turn_reached_the_model(woken: Woken) -> None:
    """Whatever stood in the place of the brief."""
    assert [name for name, requests in woken.turns.items() if not requests] == []
