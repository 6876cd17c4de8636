"""A laboratory for tests: a state folder of its own, the real spool, recorder and store, and the real command line.

Not for judging anything: what is right stands in the tests.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from limpet import door, settings
from limpet.errors import Unavailable
from limpet.model import Query
from limpet.recording import Recording
from limpet.store.sqlite import SqliteStore
from limpet.verification import Verdict, verify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from limpet.model import Event, Record
    from limpet.settings import Settings

NOON = 1_780_315_200_000
"""Some noon, in epoch milliseconds: 2026-06-01T12:00:00Z."""

PATIENCE_S = 60.0
"""How long a test waits for another process before it fails."""

Line = dict[str, Any]


@dataclass(frozen=True)
class Done:
    """How a process ended: its exit status and what it printed."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as strict JSON."""
        return json.loads(self.out, parse_constant=_refuse)


class Lab:
    """One installation in a folder: `state` is OpenClaw's folder, `home` Limpet's own, `db` the database."""

    def __init__(self, folder: Path) -> None:
        """Lay it into this folder; nothing is made before something is written."""
        self.folder = folder
        self.state = folder / "state"
        self.home = self.state / "limpet"
        self.db = self.state / "memory" / "agent_memory.db"
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("LIMPET_", "OPENCLAW_"))},
            "HOME": str(folder),
            "OPENCLAW_STATE_DIR": str(self.state),
            "TZ": "UTC",
        }

    @property
    def settings(self) -> Settings:
        """The settings of this installation, as every command settles them."""
        return settings.load(environment=self.environment)

    def spool(self, lines: Iterable[Line | bytes], producer: str = "plugin", segment: int = 1) -> Path:
        """Append lines to a segment of the spool, as a producer that has ended; bytes are written as they are."""
        folder = self.home / "spool" / producer
        path = folder / f"{segment}.jsonl"
        content = b"".join(raw(line) for line in lines)
        about = {"pid": 1, "start": "0", "boot": "an earlier boot", "ns": ""}
        # What a producer leaves that has ended is deleted once it is read: so it is there at once, or not at all.
        while True:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                whole = path.with_suffix(".whole")
                whole.write_bytes((path.read_bytes() if path.exists() else b"") + content)
                (folder / "producer.json").write_text(json.dumps(about))  # after it: an empty folder is cleared away
                whole.rename(path)
            except FileNotFoundError:
                continue
            return path

    def drain(self, most: int = 10_000) -> None:
        """Take in everything that waits, by the real recorder in this process."""
        with self.recording() as recording:
            for _ in range(most):
                if not recording.round():
                    return
        raise AssertionError("the recorder never comes to an end")

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """Open the recorder on this installation, as the sidecar does."""
        with closing(Recording.open(self.settings)) as recording:
            yield recording

    def take(self, lines: Iterable[Line | bytes], producer: str = "plugin", segment: int = 1) -> list[Event]:
        """Spool lines, take them in, and return every event there is."""
        self.spool(lines, producer, segment)
        self.drain()
        return self.events()

    @contextmanager
    def store(self) -> Iterator[SqliteStore]:
        """Open the store for reading."""
        with closing(SqliteStore(self.db, writing=False)) as store:
            yield store

    def events(self, *kinds: str, **filters: str) -> list[Event]:
        """Return the events of these types and filters, oldest first, noise included."""
        chosen = [("type", kinds, False)] if kinds else []
        chosen += [(name, (value,), False) for name, value in filters.items()]
        query = Query(filters=tuple(chosen), sort="oldest", limit=1_000_000, noise=True)
        with self.store() as store:
            return store.find.page(query)

    def records(self) -> list[Record]:
        """Return every record of the ledger, oldest first."""
        with self.store() as store:
            return [stored.record for stored in store.records.after(0, 1_000_000)]

    def found(self, *words: str) -> list[Event]:
        """Return the events in which the full-text index finds all these words, newest first."""
        from limpet import coverage, recall

        with self.store() as store:
            query = Query(words=words, limit=1000, noise=True)
            return list(recall.answer(store, query, coverage.Watched(now_ms=NOON)).events)

    def counts(self) -> Mapping[str, int]:
        """Return the plain counts: duplicates, rejects, images."""
        with self.store() as store:
            return store.state.counts()

    def verdict(self) -> Verdict:
        """Return what `verify` finds."""
        with self.store() as store, store.snapshot_of_both():
            return verify(store, lambda _: None)

    def quarantined(self) -> list[dict[str, Any]]:
        """Return what lies in quarantine, by where it stood."""
        kept = [json.loads(path.read_bytes()) for path in (self.home / "quarantine").glob("*.json")]
        return sorted(kept, key=lambda one: str(one["where"]))

    def left_in_spool(self) -> list[str]:
        """Return the segments that were not deleted."""
        return sorted(str(path.relative_to(self.home / "spool")) for path in self.home.glob("spool/*/*.jsonl"))

    def file(self, name: str, lines: Iterable[Line | bytes]) -> Path:
        """Write a file of lines that can be imported."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(raw(line) for line in lines))
        return path

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start the command line as a process of its own."""
        return self.python("-m", "limpet", *arguments, **environment)

    def python(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start Python as a process of its own, in this installation's environment."""
        return subprocess.Popen(
            [sys.executable, *arguments],
            env={**self.environment, **environment},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def limpet(self, *arguments: str, **environment: str) -> Done:
        """Run the command line to its end."""
        return ended(self.start(*arguments, **environment))

    def code(self, text: str, *arguments: str, **environment: str) -> Done:
        """Run a piece of Python in a process of its own, to its end."""
        return ended(self.python("-c", text, *arguments, **environment))

    def code_started(self, text: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Start a piece of Python in a process of its own."""
        return self.python("-c", text, *arguments, **environment)

    def imported(self, *paths: Path) -> Any:
        """Import files through the command line and return what it says of them."""
        done = self.limpet("import", "--json", *map(str, paths))
        assert done.status == 0, done.out + done.err
        return done.json

    @contextmanager
    def sidecar(self, **environment: str) -> Iterator[subprocess.Popen[str]]:
        """Run the sidecar for as long as needed, from when it answers."""
        process = self.start("run", **environment)
        try:
            until(lambda: process.poll() is not None or self.answers(), "the sidecar answers")
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            ended(process)

    def answers(self) -> bool:
        """Whether a sidecar answers at its socket."""
        return bool(self.asked(op="hello"))

    def asked(self, **request: Any) -> Mapping[str, Any]:
        """Return what the sidecar answers to a request, nothing where none answers."""
        return door.ask(self.settings.socket, request, 10.0) or {}


def raw(line: Line | bytes) -> bytes:
    """Return a line as it stands in a file; bytes as they are."""
    return line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"


def hook(name: str, event: Any = None, at: int = 0, **ctx: Any) -> Line:
    """Return a hook line, `at` milliseconds after NOON."""
    here = {"agentId": "main", "sessionKey": "agent:main:main", "sessionId": "s-1", "runId": "r-1"}
    return {"hook": name, "ts": NOON + at, "ctx": {**here, **ctx}, "event": event or {}}


def call(call_id: str, at: int = 0, tool: str = "exec", begins: bool = False, **said: Any) -> Line:
    """Return the line of a tool call's end, or of its begin; `said` is what the runtime tells of it."""
    event = {"toolName": tool, "params": said.pop("params", {"command": f"make {call_id}"}), "toolCallId": call_id}
    ctx = said.pop("ctx", {})
    if begins:
        return hook("before_tool_call", {**event, **said}, at, **ctx)
    given = {"durationMs": 20, "result": text_result("fine"), **said}
    return hook("after_tool_call", {**event, **given}, at, **ctx)


def numbered(
    lines: Iterable[Line], after: int = 0, producer: str = "01970000-0000-7000-8000-00000000000a"
) -> list[Line]:
    """Return lines as a producer writes them, with ids and numbers."""
    return [
        {"v": 1, "id": f"01970000-0000-7000-9000-{n:012x}", "producer": producer, "seq": n, **line}
        for n, line in enumerate(lines, start=after + 1)
    ]


def text_result(*texts: str) -> Line:
    """Return a tool's result that holds these texts as blocks."""
    return {"content": [{"type": "text", "text": text} for text in texts]}


def entry(kind: str, number: int, at: int = 0, **fields: Any) -> Line:
    """Return an entry of a transcript, `at` milliseconds after NOON."""
    return {"type": kind, "id": f"e{number}", "parentId": None, "timestamp": iso(at), **fields}


def message(number: int, role: str, content: Any, at: int = 0, **fields: Any) -> Line:
    """Return a transcript's entry that holds a message."""
    return entry("message", number, at, message={"role": role, "content": content, **fields})


def iso(at: int = 0) -> str:
    """Return the time `at` milliseconds after NOON, in ISO 8601."""
    seconds = time.gmtime((NOON + at) // 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", seconds) + f".{(NOON + at) % 1000:03d}Z"


def ended(process: subprocess.Popen[str], patience_s: float = PATIENCE_S) -> Done:
    """Wait for a process and return how it ended; one that hangs is killed and fails the test."""
    try:
        out, err = process.communicate(timeout=patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"a process hung; it said: {out} {err}") from None
    return Done(process.returncode, out, err)


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a process as a crash would, and wait until it is gone."""
    process.send_signal(signal.SIGKILL)
    process.communicate()


def until(true: Any, what: str) -> None:
    """Wait until something is true; fail, saying what was waited for, when it never becomes so.

    A database that another process is just making cannot be read yet: that is not yet, too.
    """
    end = time.monotonic() + PATIENCE_S
    while not _is(true):
        assert time.monotonic() < end, f"waited in vain until {what}"
        time.sleep(0.01)


def _is(true: Any) -> bool:
    try:
        return bool(true())
    except Unavailable:
        return False


def _refuse(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")
