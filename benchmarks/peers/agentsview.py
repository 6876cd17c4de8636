"""agentsview as one of the sides: it reads OpenClaw's transcripts; its command line asks its own background server."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.peers.asking import Answer, Unavailable, running, told
from benchmarks.peers.day import DATE, FAILED, SESSION, WORD
from benchmarks.traffic import COMMON

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchmarks.peers.day import Day

READY_S = 60
ALL = ("--json", "--limit", "500")
EVERY_SESSION = ("--include-automated", "--include-one-shot", "--include-children")


@dataclass(frozen=True)
class Agentsview:
    """agentsview with its server up; `keys` names its messages by instant, `session` is the id that it gives."""

    program: Path
    home: Path
    transcripts: Path
    session: str
    keys: Mapping[str, str]
    word: str = COMMON
    date: str = DATE
    name: str = "agentsview"
    ways: Mapping[str, str] = field(default_factory=lambda: {
        FAILED: "agentsview session list --min-tool-failures 1",
        WORD: "agentsview session search WORD",
        SESSION: "agentsview session messages ID",
    })  # fmt: skip

    def ask(self, question: str) -> Answer:
        """Answer with its command line, cold; its server is warm, as it always is."""
        return {FAILED: self._failed, WORD: self._word, SESSION: self._session}[question]()

    def size(self) -> int:
        """Return the bytes of its database."""
        return (self.home / ".agentsview" / "sessions.db").stat().st_size

    def read(self, *arguments: str) -> tuple[dict[str, Any], float]:
        """Run one of its commands and return its JSON, with the seconds that it took."""
        answered = told([str(self.program), *arguments], self.environment())
        return json.loads(answered.out), answered.seconds

    def environment(self) -> dict[str, str]:
        """Return an environment in which nothing of the user is touched and nothing is reported to anybody."""
        return {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "TZ": "UTC", "OPENCLAW_DIR": str(self.transcripts),
                "AGENTSVIEW_TELEMETRY_ENABLED": "0", "AGENTSVIEW_DISABLE_UPDATE_CHECK": "1"}  # fmt: skip

    def _failed(self) -> Answer:
        told_of, seconds = self.read(
            "session", "list", "--min-tool-failures", "1", "--date", self.date, *EVERY_SESSION, *ALL
        )
        sessions = told_of["sessions"] or []
        signals = sum(one["tool_failure_signal_count"] for one in sessions)
        return Answer(
            None, seconds, f"names {len(sessions)} sessions with {signals} failures in all; not which calls failed"
        )

    def _word(self) -> Answer:
        told_of, seconds = self.read("session", "search", self.word, *EVERY_SESSION, *ALL)
        found = frozenset(self.keys.get(_full(one["timestamp"]), one["timestamp"]) for one in told_of["matches"] or [])
        return Answer(found, seconds, "results of `read` are not kept")

    def _session(self) -> Answer:
        told_of, seconds = self.read("session", "messages", self.session, "--json", "--limit", "1000")
        found: set[str] = set()
        for message in told_of["messages"]:
            called = [call["tool_use_id"] for call in message.get("tool_calls") or []]
            found |= {*called} or {self.keys.get(_full(message["timestamp"]), message["timestamp"])}
        return Answer(frozenset(found), seconds)


@contextlib.contextmanager
def opened(program: Path, day: Day) -> Iterator[Agentsview]:
    """Give an agentsview that has read the day's transcripts; its server ends with this."""
    home = day.scratch / f"agentsview-{day.events}"
    side = Agentsview(program, home, day.transcripts / "agents", f"openclaw:{day.agent}:{day.session}", day.keys)
    with served(side):
        yield side


@contextlib.contextmanager
def served(side: Agentsview) -> Iterator[None]:
    """Let its server read what there is, and run until this ends; raises Unavailable where it does not come up."""
    side.home.mkdir(parents=True, exist_ok=True)
    told([str(side.program), "sync"], {**side.environment(), "AGENTSVIEW_NO_DAEMON": "1"})
    command = [str(side.program), "serve", "--host", "127.0.0.1", "--port", "0", "--no-browser", "--no-update-check"]
    with running(command, side.environment(), str(side.home / "serve.log")) as process:
        deadline = time.monotonic() + READY_S
        while "running" not in told([str(side.program), "daemon", "status"], side.environment(), check=False).out:
            if process.poll() is not None or time.monotonic() > deadline:
                raise Unavailable(
                    f"agentsview's server does not come up: {(side.home / 'serve.log').read_text()[-300:]}"
                )
            time.sleep(0.2)
        yield


def _full(timestamp: str) -> str:
    """Return an instant with three digits after the point: it leaves out zeros at the end."""
    whole, _, rest = timestamp.rstrip("Z").partition(".")
    return f"{whole}.{rest.ljust(3, '0')[:3]}Z"
