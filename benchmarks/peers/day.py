"""The same few days of traffic for every side: as transcripts, and what is to be found in them, counted by hand."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from benchmarks import telling
from benchmarks.peers.asking import Question
from benchmarks.traffic import COMMON, END_MS, holds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchmarks.traffic import Happening, Traffic

DATE = "2026-11-29"
NOW = telling.iso(END_MS)
FAILED, WORD, SESSION = "failed", "word", "session"
VERSION = 1
"""Of what is kept: another one is made anew."""


@dataclass(frozen=True)
class Day:
    """The newest `events` of the traffic; `cache` is where what takes long to make is kept."""

    traffic: Traffic
    events: int
    cache: Path
    scratch: Path

    @cached_property
    def happenings(self) -> Sequence[Happening]:
        """All that happened, oldest first."""
        return tuple(self.traffic.events(self.events))

    @cached_property
    def keys(self) -> dict[str, str]:
        """The keys of the events by instant, in ISO 8601 with milliseconds: no two are at the same."""
        return {telling.iso(one.at_ms): key(one) for one in self.happenings}

    @property
    def session(self) -> str:
        """The newest session's id."""
        return self.happenings[-1].session

    @property
    def agent(self) -> str:
        """The newest session's agent."""
        return self.happenings[-1].agent

    @cached_property
    def questions(self) -> Sequence[Question]:
        """The three questions, with what was counted in the traffic itself."""
        failed = frozenset(key(one) for one in self.happenings if one.error and telling.iso(one.at_ms)[:10] == DATE)
        word = frozenset(key(one) for one in self.happenings if holds(one, COMMON))
        session = frozenset(key(one) for one in self.happenings if one.session == self.session)
        return (
            Question(FAILED, f"which tool calls failed on {DATE}", failed),
            Question(WORD, f"in what was `{COMMON}` said, asked or answered", word),
            Question(SESSION, "what happened in this session", session),
        )

    @cached_property
    def transcripts(self) -> Path:
        """A state folder with OpenClaw's transcripts of it, one JSON Lines file a session."""
        state = self.scratch / f"transcripts-{self.events}"
        lines: dict[Path, list[str]] = {}
        for one in self.happenings:
            path = state / "agents" / one.agent / "sessions" / f"{one.session}.jsonl"
            written = lines.setdefault(path, [_head(one)])
            written += [_line(entry) for entry in telling.entries([one])]
        for path, written in lines.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(written) + "\n", "utf-8")
        return state

    def kept(self, name: str, fill: Callable[[Path], None]) -> Path:
        """Return a folder of this name, filled once and then kept."""
        folder = self.cache / f"v{VERSION}-{name}-{self.events}"
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            print(f"  {name} is given {self.events:,} events", flush=True)
            fill(folder)
            (folder / "done").touch()
        return folder


def key(one: Happening) -> str:
    """Return what names an event on every side: the tool call's id, or a message's instant."""
    return one.call or telling.iso(one.at_ms)


def _head(one: Happening) -> str:
    return json.dumps({"type": "session", "version": 3, "id": one.session, "timestamp": telling.iso(one.at_ms),
                       "cwd": "/home/agent/.openclaw/workspace"})  # fmt: skip


def _line(entry: dict[str, object]) -> str:
    return json.dumps({k: v for k, v in entry.items() if k not in {"session", "key"}}, ensure_ascii=False)
