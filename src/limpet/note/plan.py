"""What a note will say, from the events alone: exact counts, and statements that each name their events. Pure.

Not for how it reads (`wording`), nor for where it goes (`block`, `files`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from limpet.deeds.quoting import plain
from limpet.note.hours import Hours
from limpet.note.statement import KINDS, Counts, Statement
from limpet.note.tally import Tally
from limpet.note.telling import statements_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from limpet.model import Coverage, Event

__all__ = ["KINDS", "Counts", "Plan", "Statement", "plan_of"]

BACKGROUND = frozenset({"restart"})
"""Alone these make no note: nothing was done."""

GAPS = 6
"""So many spans that were not seen are named; more are counted."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that the note of one agent and one span of local days will say.

    `first` and `last` are its first and its last local day, `from_ms` included and `until_ms` excluded their bounds;
    `began_ms` and `ended_ms` are when the first and the last thing began that was more than a heartbeat, None where
    there was none. `statements` stand in the order of KINDS. `state` is the coverage's, and `uncovered` has one line of
    Markdown for each span that was not seen.
    """

    agent: str
    first: date
    last: date
    zone: str
    from_ms: int
    until_ms: int
    counts: Counts
    statements: tuple[Statement, ...]
    state: str = "complete"
    uncovered: tuple[str, ...] = ()
    began_ms: int | None = None
    ended_ms: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say: no note is made of that (field case F94).

        A span in which Limpet was blind is worth a line, as is one of heartbeats; starts of the gateway are not.
        """
        told = any(one.kind not in BACKGROUND for one in self.statements)
        return not told and not (self.state == "blind" and self.uncovered)

    @property
    def hours(self) -> Hours:
        """The clocks of its days."""
        return Hours.of(self.first, self.last, self.zone)


def plan_of(events: Iterable[Event], coverage: Coverage, *, first: date, last: date, zone: str, agent: str) -> Plan:
    """Return what the note of these local days says, in one pass over the events, which stand oldest first.

    Events outside the days' bounds are passed over. The memory it takes does not grow with the number of events, but
    for eight bytes or so for each different session and file. Raises BadInput for a zone that does not exist.
    """
    hours = Hours.of(first, last, zone)
    tally = Tally(agent)
    for event in events:
        if hours.from_ms <= event.at_ms < hours.until_ms:
            tally.feed(event)
    counts = tally.finish()
    return Plan(
        agent=agent,
        first=first,
        last=last,
        zone=zone,
        from_ms=hours.from_ms,
        until_ms=hours.until_ms,
        counts=Counts(**{field.name: counts[field.name] for field in fields(Counts)}),
        statements=statements_of(tally, hours),
        state=coverage.state,
        uncovered=tuple(_uncovered(coverage, hours)),
        began_ms=tally.first_ms,
        ended_ms=None if tally.first_ms is None else tally.last_ms,
    )


def _uncovered(coverage: Coverage, hours: Hours) -> Iterator[str]:
    """Yield what was not seen; nothing in it changes with the time at which it is asked."""
    spans = sorted(
        (max(gap.from_ms, hours.from_ms), min(gap.to_ms or hours.until_ms, hours.until_ms), gap.source, gap.why)
        for gap in coverage.gaps
    )
    for since, until, source, why in spans[:GAPS]:
        span = "the whole time" if (since, until) == (hours.from_ms, hours.until_ms) else _span(since, until, hours)
        yield f"{span}: {plain(why, 160)} ({plain(source, 40)})"
    if len(spans) > GAPS:
        yield f"{len(spans) - GAPS:,} more spans"
    if coverage.pending:
        yield "more was waiting to be taken in when this was written"
    if coverage.state == "unknown":
        yield "Limpet did not watch all of this time; of the rest it knows what was brought in later"


def _span(since: int, until: int, hours: Hours) -> str:
    return f"from {hours.time(since)} to {'the end' if until >= hours.until_ms else hours.time(until)}"
