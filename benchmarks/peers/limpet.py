"""Limpet as one of the sides: its command line on the transcripts that the others read. Not its Python interface."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.peers.asking import Answer, told
from benchmarks.peers.day import DATE, FAILED, NOW, SESSION, WORD
from benchmarks.traffic import COMMON

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.peers.day import Day

ALL = "10000"


@dataclass(frozen=True)
class Limpet:
    """A Limpet whose memory holds the day."""

    home: Path
    day: Day
    name: str = "limpet"

    @property
    def ways(self) -> dict[str, str]:
        """The commands, as typed."""
        return {
            FAILED: f"limpet ask type:tool_call status:failed on:{DATE}",
            WORD: f"limpet ask {COMMON}",
            SESSION: "limpet session ID",
        }

    def ask(self, question: str) -> Answer:
        """Answer from a cold process, in JSON."""
        if question == SESSION:
            return self._read("session", self.day.session, "--json")
        words = [COMMON] if question == WORD else ["type:tool_call", "status:failed", f"on:{DATE}"]
        return self._read("ask", *words, "--json", "--limit", ALL, "--tz", "UTC", "--now", NOW)

    def size(self) -> int:
        """Return the bytes of the database and of its index."""
        return sum(path.stat().st_size for path in (self.home / "state" / "memory").glob("agent_memory*.db"))

    def _read(self, *arguments: str) -> Answer:
        answered = told(command(*arguments), environment(self.home))
        events = json.loads(answered.out)["events"]
        return Answer(frozenset(self._key(event) for event in events), answered.seconds)

    def _key(self, event: dict[str, str]) -> str:
        return event["call"] or event["time"].replace("+00:00", "Z")


def filled(day: Day) -> Limpet:
    """Return a Limpet that has imported the transcripts; raises Unavailable where that fails."""
    home = day.scratch / f"limpet-{day.events}"
    if not home.exists():
        home.mkdir(parents=True)
        told(command("import", str(day.transcripts)), environment(home))
    return Limpet(home, day)


def command(*arguments: str) -> list[str]:
    """Return the command line of this Limpet."""
    return [sys.executable, "-m", "limpet", *arguments]


def environment(home: Path) -> dict[str, str]:
    """Return an environment in which nothing of the user is touched."""
    return {"HOME": str(home), "OPENCLAW_STATE_DIR": str(home / "state"), "TZ": "UTC", "LANG": "C.UTF-8"}
