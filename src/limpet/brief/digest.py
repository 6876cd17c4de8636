"""The pass over an agent's newest events: what one audience is to be told, counted and kept short. Not for words."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from limpet.brief.ends import ENDLESS, Ends
from limpet.model import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from limpet.model import Event

FAILED = frozenset({"failed", "timed_out"})
MOST_SESSIONS = 50
"""So many sessions are told apart: those in which something happened last."""

MOST_QUOTED = 20
"""So many messages, and so many things that were added, are kept to be quoted; the last ones."""


@dataclass(slots=True)
class Stretch:
    """What happened in one session: from when to when, and the counts."""

    session: str
    from_ms: int
    to_ms: int
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Span:
    """Counts from one instant on: `until_ms` excluded, None where it is still going on."""

    from_ms: int
    until_ms: int | None = None
    counts: Counter[str] = field(default_factory=Counter)

    def holds(self, at_ms: int) -> bool:
        """Whether the instant lies in it."""
        return at_ms >= self.from_ms and (self.until_ms is None or at_ms < self.until_ms)


class Digest:
    """Everything that is kept for one audience while its events go by, oldest first."""

    def __init__(self, spans: dict[str, Span]) -> None:
        """Count in these spans, and since the last conversation."""
        self.spans = {name: Span(span.from_ms, span.until_ms) for name, span in spans.items()}
        self.ends = Ends()
        self.sessions: OrderedDict[str, Stretch] = OrderedDict()
        self.asked: deque[Event] = deque(maxlen=MOST_QUOTED)
        self.added: deque[Event] = deque(maxlen=MOST_QUOTED)
        self.since: Counter[str] = Counter()
        self.talk: Event | None = None
        self._beats: set[str] = set()
        self._last: dict[str, str] = {}
        self._waiting: dict[str, Event] = {}

    def feed(self, event: Event) -> None:
        """Take one event in."""
        self.ends.feed(event)
        if event.label == "heartbeat":
            self._beat(event)
            return
        words = list(words_of(event))
        for span in self.spans.values():
            if span.holds(event.at_ms):
                span.counts.update(words)
        if "messages" in words:
            self._talked(event)
        else:
            self.since.update(words)
        if event.type in ("message", "delivery") and event.actor == "agent":
            self._answered(event)
        if "added" in words:
            self.added.append(event)
        if words and (event.session or event.session_key) and event.type != "cron":
            self._in_session(event, words)

    def _talked(self, event: Event) -> None:
        self.talk = event
        self.since.clear()
        self._waiting[event.session_key or event.session] = event

    def _answered(self, event: Event) -> None:
        """Keep a message to be quoted once it has an answer: before that its turn is still going on."""
        if (asked := self._waiting.pop(event.session_key or event.session, None)) is not None:
            self.asked.append(asked)

    def _beat(self, event: Event) -> None:
        """Count a heartbeat once: by its run, or by the message that set it off."""
        beat = event.run or (str(event.id) if event.actor == "user" else "")
        words = ["beats"] if beat and beat not in self._beats else []
        self._beats.add(beat)
        words += ["bad_beats"] if event.status in FAILED or event.status == "interrupted" else []
        for span in self.spans.values():
            if span.holds(event.at_ms):
                span.counts.update(words)
        self.since.update(words)

    def _in_session(self, event: Event, words: list[str]) -> None:
        name = event.session or self._last.get(event.session_key) or event.session_key
        self._last[event.session_key] = name
        stretch = self.sessions.setdefault(name, Stretch(event.session, event.at_ms, event.at_ms))
        self.sessions.move_to_end(name)
        stretch.to_ms = event.at_ms
        stretch.counts.update(words)
        if len(self.sessions) > MOST_SESSIONS:
            self.sessions.popitem(last=False)


def words_of(event: Event) -> Iterator[str]:
    """Yield what an event counts as: nothing, for what is only the machinery of something else."""
    failed = event.status in FAILED
    if event.type == "tool_call":
        yield "calls"
        yield from (_call_ended(event.status),) if event.status != "succeeded" else ()
    elif event.type == "message":
        yield from ("messages",) if event.actor == "user" and not event.label and not _is_child(event) else ()
    elif event.type == "cron":
        yield from ("jobs", *(("failed_jobs",) if failed else ())) if event.call else ()
    elif event.type in ("run", "delivery"):
        yield from (f"failed_{event.type}",) if failed else ()
    elif event.type in ("subagent", "error"):
        yield event.type
    elif event.type == "gateway":
        yield from ("starts",) if event.status == "started" else ()
    elif event.type not in TYPES or event.type == "note":
        yield "added"


def _call_ended(status: str) -> str:
    return "failed" if status in FAILED else "endless" if status in ENDLESS else status


def _is_child(event: Event) -> bool:
    return ":subagent:" in event.session_key
