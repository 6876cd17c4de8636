"""From a question, understood, to its answer: exact count, the part shown, groups, bounds and coverage. Reads only."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from limpet import coverage, days, passages, text
from limpet.model import Answer
from limpet.passages import Needle
from limpet.store.finding import Hits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
    if query.count:
        count, groups = _different(store, query, hits)
    elif query.by:
        groups = tuple(_groups(store, query, hits))
        count = sum(n for _, n in groups)
    else:
        most = max(0, query.take - query.offset) if query.take else query.limit
        events = tuple(store.find.page(replace(query, limit=min(query.limit, most)), hits))
        count = _number(store, query, hits, len(events))
    needles = _needles(query.words)
    found = passages.snippets(store, [event.id for event in events], needles) if needles else {}
    return Answer(query, count, events, groups, coverage.of(store, query, watched), found)


def _number(store: SqliteStore, query: Query, hits: Hits, shown: int) -> int:
    """Return how many match, or of the first few that were asked for; what is all on the page is not counted again."""
    most = min(query.limit, query.take or query.limit)
    if not query.offset and (shown < most or shown == query.take):
        return shown
    count = store.find.count(query, hits)
    return min(count, query.take) if query.take else count


def _hits(store: SqliteStore, query: Query) -> tuple[Hits, Query]:
    """Return what the full-text part of the query leaves, and the query with a note on words that hold no word."""
    if not query.words and not query.without:
        return Hits(), query
    wanted, unwanted = _needles(query.words), _needles(query.without)
    if steering := [word for word in (*query.words, *query.without) if Needle(word).steers]:
        said = ", ".join(f'"{text.one_line(word, 40)}"' for word in steering)
        query = replace(query, note=f"{query.note} {said} holds no word to search for.".strip())
    if query.words and not wanted:
        return Hits([]), query
    among = _matching(store, query, " AND ".join(needle.term for needle in wanted if needle.term)) if wanted else None
    unsure = [needle for needle in wanted if not needle.is_sure]
    if unsure:
        among = passages.holding(store, store.find.positions(query, Hits(among)), unsure)
    outside = [pos for needle in unwanted for pos in _standing(store, query, needle, among)]
    return Hits(among, outside), query


def _needles(words: Iterable[str]) -> list[Needle]:
    return [needle for word in words if not (needle := Needle(word)).steers]


def _matching(store: SqliteStore, query: Query, expression: str) -> list[int] | None:
    """Return the positions in the query's window that the index finds; None, for all, where no word is asked for."""
    since = FIRST if query.since_ms is None else query.since_ms << 20
    until = LAST if query.until_ms is None else query.until_ms << 20
    return store.matches(expression, since, until) if expression else None


def _standing(store: SqliteStore, query: Query, needle: Needle, among: Sequence[int] | None) -> Sequence[int]:
    """Return the positions where something stands that must not."""
    found = _matching(store, query, needle.term)
    if needle.is_sure:
        return found or ()
    kept = among if found is None else found if among is None else sorted({*among} & {*found})
    return passages.holding(store, store.find.positions(query, Hits(kept)), [needle])


def _different(store: SqliteStore, query: Query, hits: Hits) -> tuple[int, tuple[tuple[str, int], ...]]:
    """Return how many different sessions (or agents, tools, runs) there are, and how many per group if asked.

    Without a group they are named, each with the number of its events.
    """
    named = [pair for pair in store.find.groups(replace(query, by=query.count), hits) if pair[0]]
    if not query.by:
        return len(named), tuple(named)
    found: dict[str, set[str]] = defaultdict(set)
    for at_ms, group, name in sorted(store.find.pairs(query, hits)):
        if name:
            found[_span(at_ms, query) if query.by in SPANS else group].add(name)
    counts = [(group, len(names)) for group, names in found.items()]
    ordered = counts if query.by in SPANS else sorted(counts, key=lambda pair: (-pair[1], pair[0]))
    return len(named), tuple(ordered)


def _groups(store: SqliteStore, query: Query, hits: Hits) -> Iterator[tuple[str, int]]:
    """Yield (name, count): names most first, spans of time in their order."""
    if query.by not in SPANS:
        yield from store.find.groups(query, hits)
        return
    counts: Counter[str] = Counter()
    for at_ms, n in sorted(store.find.times(query, hits)):
        counts[_span(at_ms, query)] += n
    yield from counts.items()


def _span(at_ms: int, query: Query) -> str:
    """Return the local hour, day, week (its Monday) or month of an instant."""
    day = days.day_of(at_ms, query.zone)
    if query.by == "hour":
        shown = days.show(at_ms, query.zone)
        return f"{shown[:13]}:00{shown[23:]}"
    if query.by == "week":
        return (day - timedelta(days=day.weekday())).isoformat()
    return day.isoformat()[:7] if query.by == "month" else day.isoformat()
