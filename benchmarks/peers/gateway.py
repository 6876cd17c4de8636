"""One real OpenClaw gateway with Limpet in it, driven through a scripted model: its own records against Limpet's."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.peers import limpet
from benchmarks.peers.asking import Answer, Question, told
from benchmarks.peers.day import FAILED, SESSION, WORD

sys.path.append(str(Path(__file__).parents[2] / "tests"))

from gateway import provider as scripts
from gateway.gateway import Gateway

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gateway.provider import Provider

QUOKKA = "quokka"
ONE = "agent:main:one"
CALLS = 40
TURNS = (
    (ONE, f"Where is the {QUOKKA}? DO:work({CALLS} one)"),
    ("agent:main:two", f"And now DO:work({CALLS} two)"),
    ("agent:main:three", f"Once more DO:work({CALLS} three)"),
)
SETTLED_S = 60


def work(argument: str) -> list[scripts.Step]:
    """Return a turn of so many tool calls: some fail with an exit status, some by an error, some print the word."""
    many, name = argument.split()
    return [*(scripts.Step(calls=(_call(number),)) for number in range(int(many))), scripts.Step(last_words(name))]


def last_words(name: str) -> str:
    """Return what the model says at the end of a turn."""
    return f"All of it is done, says the {QUOKKA} of {name}."


def _call(number: int) -> scripts.Call:
    if number % 5 == 3:
        return scripts.run(f"echo step-{number}; echo boom-{number} >&2; exit 3")
    if number % 7 == 5:
        return scripts.Call("read", {"path": f"/nonexistent/{number}.txt"})
    return scripts.run(f"cat note-{number % 4}.txt")


scripts.SCRIPTS["work"] = work


@dataclass(frozen=True)
class Driven:
    """The gateway after its turns, still running; what the model really asked for and said is the truth."""

    gateway: Gateway
    provider: Provider

    @property
    def questions(self) -> Sequence[Question]:
        """The same three questions as on the day of files."""
        calls = self.provider.issued
        failed = frozenset(call["id"] for call in calls if "exit 3" in str(call["args"]) or call["name"] == "read")
        printed = {call["id"] for call in calls if "note-1.txt" in str(call["args"])}
        word = frozenset({*printed, *self.texts(QUOKKA)})
        session = frozenset({*(call["id"] for call in calls[:CALLS]), *self.texts("", ONE)})
        return (
            Question(FAILED, "which tool calls failed (an exit status other than 0, a file that is not there)", failed),
            Question(WORD, f"where does `{QUOKKA}` stand: in what was said, and in what tools printed", word),
            Question(SESSION, "what happened in this session", session),
        )

    def texts(self, word: str, session: str = "") -> Iterator[str]:
        """Yield the messages that hold a word, each by its text: no two are the same."""
        for where, text in TURNS:
            for one in (text, last_words(where.rpartition(":")[2])):
                if word in one and session in {"", where}:
                    yield one


@dataclass(frozen=True)
class OpenClaw:
    """OpenClaw itself: its audit ledger, its session search, its chat history."""

    driven: Driven
    name: str = "openclaw"
    ways: Mapping[str, str] = field(default_factory=lambda: {
        FAILED: "openclaw audit --kind tool_action --status failed --json",
        WORD: "openclaw gateway call sessions.search (the agent's `sessions_search`; has no command)",
        SESSION: "openclaw gateway call chat.history",
    })  # fmt: skip

    def ask(self, question: str) -> Answer:
        """Answer with its command line, cold; the gateway is warm, as it always is."""
        return {FAILED: self._failed, WORD: self._word, SESSION: self._session}[question]()

    def size(self) -> None:
        """Nothing to say: its databases hold much else."""

    def _failed(self) -> Answer:
        answered = self._told("audit", "--kind", "tool_action", "--status", "failed", "--limit", "500", "--json")
        # It keeps ids as their SHA-256: whoever holds none of them cannot tell which call is meant.
        ids = {
            f"sha256:{hashlib.sha256(call['id'].encode()).hexdigest()}": call["id"]
            for call in self.driven.provider.issued
        }
        found = frozenset(ids.get(one["toolCallId"], "?") for one in json.loads(answered.out)["events"])
        said = "a command that exits with another status than 0 counts as succeeded; no arguments, no error text"
        return Answer(found, answered.seconds, said)

    def _word(self) -> Answer:
        answered = self._called("sessions.search", {"query": QUOKKA, "limit": 25})
        hits = json.loads(answered.out)["results"]
        found = frozenset(hit["snippet"] for hit in hits)
        return Answer(found, answered.seconds, "at most 25 hits; what tools were given and printed is not searched")

    def _session(self) -> Answer:
        answered = self._called("chat.history", {"sessionKey": ONE, "limit": 1000})
        found: set[str] = set()
        for one in json.loads(answered.out)["messages"]:
            parts = one["content"] if isinstance(one["content"], list) else [{"type": "text", "text": one["content"]}]
            found |= {part["id"] for part in parts if part["type"] == "toolCall"}
            if one["role"] != "toolResult":
                found |= {part["text"] for part in parts if part["type"] == "text"}
        return Answer(frozenset(found), answered.seconds, "until the session is deleted or its transcript is pruned")

    def _called(self, method: str, params: dict[str, Any]) -> Any:
        return self._told("gateway", "call", method, "--json", "--params", json.dumps(params))

    def _told(self, *arguments: str) -> Any:
        program = self.driven.gateway.cache / "node_modules" / ".bin" / "openclaw"
        return told([str(program), *arguments], self.driven.gateway.env)


@dataclass(frozen=True)
class Beside:
    """Limpet, which the same gateway has as its plugin."""

    driven: Driven
    name: str = "limpet"
    ways: Mapping[str, str] = field(default_factory=lambda: {
        FAILED: "limpet ask type:tool_call status:failed",
        WORD: f"limpet ask {QUOKKA}",
        SESSION: f"limpet session {ONE}",
    })  # fmt: skip

    def ask(self, question: str) -> Answer:
        """Answer with its command line, cold."""
        if question == SESSION:
            return self.read("session", ONE)
        words = [QUOKKA] if question == WORD else ["type:tool_call", "status:failed"]
        return self.read("ask", *words, "--limit", limpet.ALL)

    def size(self) -> None:
        """Nothing to say: there is nothing to compare it with here."""

    def read(self, *arguments: str) -> Answer:
        """Run one of its commands; runs of the gateway are no events of the question."""
        answered = told(limpet.command(*arguments, "--json"), self.environment())
        events = [one for one in json.loads(answered.out)["events"] if one["type"] in {"tool_call", "message"}]
        return Answer(frozenset(one["call"] or one["summary"] for one in events), answered.seconds)

    def environment(self) -> dict[str, str]:
        """Return an environment with the gateway's state folder."""
        return {**limpet.environment(self.driven.gateway.home), "OPENCLAW_STATE_DIR": str(self.driven.gateway.state)}


@contextlib.contextmanager
def driven(folder: Path, home: Path) -> Iterator[Driven]:
    """Give a gateway with Limpet set up in it, after its turns; it ends with this."""
    home.mkdir(parents=True)
    with scripts.Provider() as provider, Gateway(home, folder, provider) as gateway:
        one = Driven(gateway, provider)
        told(limpet.command("setup", "openclaw", "--yes"), Beside(one).environment())
        _notes(gateway.state / "workspace")
        gateway.start()
        for session, text in TURNS:
            gateway.turn(text, session)
        _settled(one)
        yield one


def _notes(workspace: Path) -> None:
    """Write the files that the calls print: one of the four holds the word."""
    workspace.mkdir(parents=True, exist_ok=True)
    for number in range(4):
        (workspace / f"note-{number}.txt").write_text(f"the {QUOKKA}\n" if number == 1 else "nothing\n", "utf-8")


def _settled(one: Driven) -> None:
    """Wait until the last answer has come to rest everywhere: nothing is pending, and the ledger has its last line."""
    deadline = time.monotonic() + SETTLED_S
    while time.monotonic() < deadline:
        status = json.loads(told(limpet.command("status", "--json"), Beside(one).environment(), check=False).out)
        if status["pending_bytes"] == 0:
            break
        time.sleep(0.5)
    time.sleep(2)
