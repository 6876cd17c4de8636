"""From a question, understood, to its answer: exact count, the part shown, groups, bounds and coverage. Reads only."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from limpet import coverage, days, text
from limpet.model import Answer
from limpet.store import tokens
from limpet.store.finding import Hits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from limpet.model import Event, Query
    from limpet.store.sqlite import SqliteStore

FIRST, LAST = -(1 << 62), 1 << 62
SPANS = ("hour", "day", "week", "month")


def answer(store: SqliteStore, query: Query, watched: coverage.Watched) -> Answer:
    """Return the answer to a query. `watched` says what was pending and which sources there should be.

    `count` is exact; where the query takes only the first few ("the last 5"), they are counted, and where it counts
    sessions, agents, tools or runs, the different ones of these.
    """
    hits, query = _hits(store, query)
    groups: tuple[tuple[str, int], ...] = ()
    events: tuple[Event, ...] = ()
    count = store.find.count(query, hits)
    if query.count:
        count, groups = _different(store, query, hits)
    elif query.by:
        groups = tuple(_groups(store, query, hits))
    else:
        most = max(0, query.take - query.offset) if query.take else query.limit
        events = tuple(store.find.page(replace(query, limit=min(query.limit, most)), hits))
        count = min(count, query.take) if query.take else count
    return Answer(query, count, events, groups, coverage.of(store, query, watched))


def every(store: SqliteStore, query: Query) -> Iterator[Event]:
    """Yield every match, oldest first, page by page of `query.limit`, in time that grows with the matches alone.

    Each page begins in the last one's millisecond, behind what was seen of it.
    """
    query, seen = replace(query, sort="oldest"), 0
    while events := store.find.page(replace(query, offset=seen)):
        yield from events
        last = events[-1].at_ms
        here = sum(event.at_ms == last for event in events)
        seen = seen + here if query.since_ms == last else here
        query = replace(query, since_ms=last)


def _hits(store: SqliteStore, query: Query) -> tuple[Hits, Query]:
    """Return what the full-text part of the query leaves, and the query with a note on words that hold no word."""
    if not query.words and not query.without:
        return Hits(), query
    wordless = [word for word in (*query.words, *query.without) if not tokens.asked(word)]
    if wordless:
        said = ", ".join(f'"{text.one_line(word, 40)}"' for word in wordless)
        query = replace(query, note=f"{query.note} {said} holds no word to search for.".strip())
    since = FIRST if query.since_ms is None else query.since_ms << 20
    until = LAST if query.until_ms is None else query.until_ms << 20
    wanted = [term for word in query.words if (term := tokens.asked(word))]
    unwanted = [term for word in query.without if (term := tokens.asked(word))]
    among = store.matches(" AND ".join(wanted), since, until) if wanted else [] if query.words else None
    outside = store.matches(" OR ".join(unwanted), since, until) if unwanted else ()
    return Hits(among, outside), query


def _different(store: SqliteStore, query: Query, hits: Hits) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return how many different sessions (or agents, tools, runs) there are, and how many per group if asked.

    Without a group they are named, each with the number of its events.
    """
    named = [pair for pair in store.find.groups(replace(query, by=query.count), hits) if pair[0]]
    if not query.by:
        return len(named), tuple(named)
    found: dict[str, set[str]] = defaultdict(set)
    for at_ms, group, name in store.find.pairs(query, hits):
        if name:
            found[_span(at_ms, query) if query.by in SPANS else group].add(name)
    counts = [(group, len(names)) for group, names in found.items()]
    ordered = sorted(counts) if query.by in SPANS else sorted(counts, key=lambda pair: (-pair[1], pair[0]))
    return len(named), tuple(ordered)


def _groups(store: SqliteStore, query: Query, hits: Hits) -> Iterator[tuple[str, int]]:
    """Yield (name, count): names most first, spans of time in their order."""
    if query.by not in SPANS:
        yield from store.find.groups(query, hits)
        return
    counts: Counter[str] = Counter()
    for at_ms, n in store.find.times(query, hits):
        counts[_span(at_ms, query)] += n
    yield from sorted(counts.items())


def _span(at_ms: int, query: Query) -> str:
    """Return the local hour, day, week (its Monday) or month of an instant."""
    day = days.day_of(at_ms, query.zone)
    if query.by == "hour":
        shown = days.show(at_ms, query.zone)
        return f"{shown[:13]}:00{shown[23:]}"
    if query.by == "week":
        return (day - timedelta(days=day.weekday())).isoformat()
    return day.isoformat()[:7] if query.by == "month" else day.isoformat()
