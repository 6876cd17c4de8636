"""From a question, understood, to its answer: exact count, the part shown, groups, bounds and coverage. Reads only."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from limpet import coverage, days, passages, text
from limpet.model import Answer, Coverage
from limpet.passages import Needle
from limpet.store.where import EVERY, Positions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from limpet.model import Event, Query
    from limpet.store.connection import Hits
    from limpet.store.port import Store

FIRST, LAST = -(1 << 62), 1 << 62
PAGE = 1000
SPANS = ("hour", "day", "week", "month")


def answer(store: Store, query: Query, watched: coverage.Watched) -> Answer:
    """Return the answer to a query. `watched` says what was pending and which sources there should be.

    `count` is exact; where the query takes only the first few ("the last 5"), they are counted, and where it counts
    sessions, agents, tools or runs, the different ones of these.
    """
    return replace(part(store, query), coverage=coverage.of(store, query, watched))


def part(store: Store, query: Query) -> Answer:
    """Return an answer that does not say how complete it is: for one of many on a page that says it once for all."""
    return _part(store, *_hits(store, query))


def parts(store: Store, queries: Sequence[Query]) -> Sequence[Answer]:
    """Return what `part` does of each; what the first one's words leave is not looked for again by those within it."""
    if not queries:
        return []
    hits, first = _hits(store, queries[0])
    return [_part(store, hits, first), *(_part(store, *_within(store, query, first, hits)) for query in queries[1:])]


def _within(store: Store, query: Query, first: Query, hits: Hits) -> tuple[Hits, Query]:
    """Return the hits of a query: those of the first one, where it asks for no more than a part of the same."""
    same = (query.words, query.without, query.since_ms, query.until_ms) == (
        first.words,
        first.without,
        first.since_ms,
        first.until_ms,
    )
    return (hits, query) if same and set(first.filters) <= set(query.filters) else _hits(store, query)


def _part(store: Store, hits: Hits, query: Query) -> Answer:
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
    return Answer(query, count, events, groups, Coverage("unknown"), found)


def _number(store: Store, query: Query, hits: Hits, shown: int) -> int:
    """Return how many match, or of the first few that were asked for; what is all on the page is not counted again."""
    most = min(query.limit, query.take or query.limit)
    if not query.offset and (shown < most or 0 < shown == query.take):
        return shown
    count = store.find.count(query, hits)
    return min(count, query.take) if query.take else count


def every(store: Store, query: Query) -> Iterator[Event]:
    """Yield every event that a query asks for, oldest first, whatever it limits or groups; only so many as it takes.

    The time grows with the matches alone: each page begins in the last one's millisecond, behind what was seen of it.
    """
    hits, query = _hits(store, query)
    if query.take:
        yield from sorted(store.find.page(replace(query, limit=query.take, offset=0), hits), key=_time)
        return
    query, seen = replace(query, sort="oldest", limit=PAGE), 0
    while events := store.find.page(replace(query, offset=seen), hits):
        yield from events
        last = events[-1].at_ms
        here = sum(event.at_ms == last for event in events)
        seen = seen + here if query.since_ms == last else here
        query = replace(query, since_ms=last)


def _time(event: Event) -> int:
    return event.at_ms


def _hits(store: Store, query: Query) -> tuple[Hits, Query]:
    """Return what the full-text part of the query leaves, and the query with a note on words that hold no word."""
    if not query.words and not query.without:
        return EVERY, query
    wanted, unwanted = _needles(query.words), _needles(query.without)
    if steering := [word for word in (*query.words, *query.without) if Needle(word).steers]:
        said = ", ".join(f'"{text.one_line(word, 40)}"' for word in steering)
        query = replace(query, note=f"{query.note} {said} holds no word to search for.".strip())
    if query.words and not wanted:
        return Positions([]), query
    if query.take and query.sort == "newest" and not unwanted and any(needle.terms for needle in wanted):
        return Positions(_newest(store, query, wanted)), query
    hits = _found(store, query, wanted, [needle for needle in unwanted if needle.is_sure])
    if unsure := [needle for needle in wanted if not needle.is_sure]:
        hits = Positions(passages.holding(store, store.find.positions(query, hits), unsure))
    for needle in unwanted:
        if not needle.is_sure:
            hits = _without(store, query, hits, needle)
    return hits, query


def _needles(words: Iterable[str]) -> list[Needle]:
    return [needle for word in words if not (needle := Needle(word)).steers]


def _newest(store: Store, query: Query, wanted: Sequence[Needle]) -> list[int]:
    """Return where the newest few stand that were asked for: of a word that is everywhere not all need be looked at."""
    found: list[int] = []
    unsure = [needle for needle in wanted if not needle.is_sure]
    for hits in store.hit_pages([term for needle in wanted for term in needle.terms], *_bounds(query)):
        positions = store.find.positions(query, hits)
        found += passages.holding(store, positions, unsure) if unsure else positions
        if len(found) >= query.take:
            break
    return found[: query.take]


def _bounds(query: Query) -> tuple[int, int]:
    """Return the first position of the query's window and the first one after it."""
    since = FIRST if query.since_ms is None else query.since_ms << 20
    return since, LAST if query.until_ms is None else query.until_ms << 20


def _found(store: Store, query: Query, wanted: Sequence[Needle], unwanted: Sequence[Needle]) -> Hits:
    """Return what the index leaves in the query's window; for signs that hold no word that is everything."""
    terms = [term for needle in wanted for term in needle.terms]
    return store.hits(terms or None, [term for needle in unwanted for term in needle.terms], *_bounds(query))


def _without(store: Store, query: Query, hits: Hits, needle: Needle) -> Positions:
    """Return what is left of the hits without those whose text holds the needle."""
    left = store.find.positions(query, hits)
    doubtful = {*store.find.positions(query, _found(store, query, [needle], []))} if needle.terms else {*left}
    holding = {*passages.holding(store, [pos for pos in left if pos in doubtful], [needle])}
    return Positions([pos for pos in left if pos not in holding])


def _different(store: Store, query: Query, hits: Hits) -> tuple[int, tuple[tuple[str, int], ...]]:
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


def _groups(store: Store, query: Query, hits: Hits) -> Iterator[tuple[str, int]]:
    """Yield (name, count): names most first, spans of time in their order."""
    if query.by not in SPANS:
        yield from store.find.groups(query, hits)
        return
    counts: Counter[str] = Counter()
    span, until_ms = "", FIRST
    for at_ms, n in sorted(store.find.times(query, hits)):
        if at_ms >= until_ms:
            span, until_ms = _span(at_ms, query), _same_until(at_ms, query)
        counts[span] += n
    yield from counts.items()


def _same_until(at_ms: int, query: Query) -> int:
    """Return until when the span is surely the same, for spans that are made of days."""
    return at_ms if query.by == "hour" else days.window_of(days.day_of(at_ms, query.zone), query.zone)[1]


def _span(at_ms: int, query: Query) -> str:
    """Return the local hour, day, week (its Monday) or month of an instant."""
    day = days.day_of(at_ms, query.zone)
    if query.by == "hour":
        shown = days.show(at_ms, query.zone)
        return f"{shown[:13]}:00{shown[23:]}"
    if query.by == "week":
        return (day - timedelta(days=day.weekday())).isoformat()
    return day.isoformat()[:7] if query.by == "month" else day.isoformat()
