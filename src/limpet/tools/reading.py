"""What each tool does: one question to the memory, within its scope, and the answer as sentences and JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from limpet import wire
from limpet.errors import BadInput, NotFound
from limpet.framing import escaped
from limpet.memory import parse_id
from limpet.model import Query
from limpet.tools import heading
from limpet.tools.fitting import MOST_GAPS, fitted, page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from limpet.memory import Memory
    from limpet.model import Answer, Event
    from limpet.tools.scope import Scope

MOST = 100
"""How many events or groups are shown at most, whatever the question says."""

LONGEST_SESSION = 10_000
"""How many events of a session are looked at."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a tool has to say: Limpet's own sentences, and the JSON of what was recorded (see `framing.escaped`)."""

    sentences: tuple[str, ...]
    payload: str


@dataclass(frozen=True, slots=True)
class Reader:
    """The tools on one memory, each seeing what the scope allows: there is no other way for a tool to read."""

    memory: Memory
    scope: Scope

    def memory_ask(self, question: str, limit: int = 0, offset: int = 0) -> Said:
        """Answer a question."""
        query = self.memory.understood(question, agent=self.scope.agent)
        return self._answered(query, question, limit or min(query.limit, MOST), offset or query.offset)

    def memory_recent(self, hours: float = 24, type: str = "", limit: int = 20, offset: int = 0) -> Said:  # noqa: A002
        """Show the newest events."""
        return self._answered(self.memory.newest(hours, type), "", limit, offset)

    def memory_session(self, session: str, limit: int = 50, offset: int = 0, *, children: bool = False) -> Said:
        """Show a session's timeline."""
        missing = NotFound(f"There is no session {session!r}.", "memory_recent  shows the sessions of the last hours.")
        try:
            events, end = self.memory.session(session, children=children, limit=LONGEST_SESSION)
        except NotFound:
            raise missing from None
        if not (mine := [event for event in events if self.scope.allows(event)]):
            raise missing
        zone = self.memory.settings.zone
        value = wire.session(session, mine[offset : offset + limit], end, self.memory.origin(mine), zone)
        found = fitted(value, "events")
        sentences = (f"{len(mine):,} events{' or more' if len(events) == LONGEST_SESSION else ''}.",)
        part = heading.shown("events", offset, found.shown, len(mine))
        return self._said((*sentences, part, *self._bounds(session, mine)), found.payload)

    def memory_show(self, event: str, offset: int = 0) -> Said:
        """Show one event in full."""
        number = parse_id(event)
        missing = NotFound(f"There is no event {number}.", "memory_recent  lists events with their numbers.")
        try:
            one, records = self.memory.show(number)
        except NotFound:
            raise missing from None
        if not self.scope.allows(one):
            raise missing
        payload = escaped(wire.shown(one, records, self.memory.settings.zone))
        if offset and offset >= len(payload):
            raise BadInput(f"Event {number} has {len(payload):,} characters; offset {offset} lies behind them.")
        part = page(payload, offset)
        last = offset + len(part)
        told = (
            ""
            if len(part) == len(payload)
            else f"Characters {offset + 1:,} to {last:,} of {len(payload):,} of its JSON."
        )
        rest = f"It goes on with offset {last}." if last < len(payload) else ""
        return self._said((f"Event {one.id}; records behind it: {len(records):,}.", told, rest), part)

    def _answered(self, query: Query, question: str, limit: int, offset: int) -> Said:
        """Return an answer; groups have their pages as events do."""
        wanted = replace(self.scope.narrowed(query), limit=limit, offset=offset)
        answer = self.memory.answer(wanted)
        grouped = bool(answer.groups) or bool(wanted.by)
        total = len(answer.groups) if grouped else answer.count
        value = _listed(answer, question, offset, limit)
        items = "groups" if grouped else "events"
        found = fitted(value, items)
        part = heading.shown(items, offset, found.shown, total)
        gaps = heading.complete(answer.coverage, wanted.zone, len(value["coverage"]["gaps"]))
        return self._said((heading.counted(answer), part, heading.window(wanted), *gaps), found.payload)

    def _bounds(self, session: str, events: Sequence[Event]) -> tuple[str, ...]:
        """Return the span of a session's events and how completely it was watched."""
        zone = self.memory.settings.zone
        span = Query(
            since_ms=events[0].at_ms,
            until_ms=events[-1].at_ms + 1,
            zone=zone,
            filters=(("session", (session,), False),),
            limit=0,
        )
        coverage = self.memory.answer(span).coverage
        return (heading.window(span), *heading.complete(coverage, zone, 0))

    def _said(self, sentences: tuple[str, ...], payload: str) -> Said:
        return Said((" ".join(filter(None, (*sentences, self.scope.remark()))),), payload)


def _listed(answer: Answer, question: str, offset: int, limit: int) -> dict[str, Any]:
    """Return the answer as every JSON answer gives it, with the part of its groups and gaps that is shown."""
    value = wire.answer(answer, question)
    value["groups"] = value["groups"][offset : offset + limit]
    value["coverage"]["gaps"] = value["coverage"]["gaps"][:MOST_GAPS]
    return value


def bodies(reader: Reader) -> Mapping[str, Callable[..., Said]]:
    """Return what each tool does, by its name."""
    return {
        "memory_ask": reader.memory_ask,
        "memory_recent": reader.memory_recent,
        "memory_session": reader.memory_session,
        "memory_show": reader.memory_show,
    }
