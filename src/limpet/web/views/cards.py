"""Sessions as cards: what each was about, when, how much was done, and how much of it failed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from limpet import text
from limpet.web.clocks import took

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limpet.model import Answer, Query
    from limpet.web.clocks import Clocks
    from limpet.web.reading import Reader

MOST = 12
"""So many sessions are shown, those in which most was done."""

EARLY = 12
"""Among so many events at the beginning is looked for what somebody asked."""

TITLE = 110


@dataclass(frozen=True, slots=True)
class Card:
    """One session within a span."""

    session: str
    name: str
    agent: str
    title: str
    first: str
    last: str
    last_ms: int
    lasted: str
    count: int
    failed: int
    label: str


def cards_of(memory: Reader, whole: Query, clocks: Clocks) -> Sequence[Card]:
    """Return the sessions of a span, the one that was last at work first."""
    by = replace(whole, by="session")
    every, failed = memory.parts([by, replace(by, filters=(("is", ("error",), False),))])
    names = [name for name, _ in every.groups if name][:MOST]
    bad = dict(failed.groups)
    told = memory.parts([query for name in names for query in _questions(whole, name)])
    counts = dict(every.groups)
    cards = [
        _card(name, counts[name], bad.get(name, 0), told[2 * number : 2 * number + 2], clocks)
        for number, name in enumerate(names)
    ]
    return sorted(cards, key=lambda card: -card.last_ms)


def _questions(whole: Query, name: str) -> Sequence[Query]:
    here = replace(whole, filters=(("session", (name,), False),))
    return [replace(here, sort="oldest", limit=EARLY), replace(here, limit=1)]


def _card(name: str, count: int, failed: int, told: Sequence[Answer], clocks: Clocks) -> Card:
    early, last = told[0].events, told[1].events[0]
    first = early[0]
    asked = next((event for event in early if event.type == "message" and event.actor == "user"), None)
    return Card(
        session=name,
        name=text.one_line(first.session_key or name, 48),
        agent=text.one_line(first.agent or "unknown", 24),
        title=text.one_line(asked.summary if asked else first.summary, TITLE),
        first=clocks.time(first.at_ms)[:5],
        last=clocks.time(last.at_ms)[:5],
        last_ms=last.at_ms,
        lasted=took(last.at_ms - first.at_ms),
        count=count,
        failed=failed,
        label=asked.label if asked else first.label,
    )
