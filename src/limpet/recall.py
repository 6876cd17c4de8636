"""From a question, understood, to its answer: exact count, the part shown, groups, bounds and coverage. Reads only."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from limpet import coverage, days
from limpet.errors import NotFound
from limpet.model import Answer, Query
from limpet.store import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from limpet.model import Event
    from limpet.store.sqlite import SqliteStore

FIRST, LAST = -(1 << 62), 1 << 62
SPANS = ("hour", "day", "week", "month")


def answer(store: SqliteStore, query: Query, watched: coverage.Watched) -> Answer:
    """Return the answer to a query. `watched` says what was pending and which sources there should be.

    `count` is exact; where the query takes only the first few ("the last 5"), they are counted, and where it counts
    sessions, agents, tools or runs, the different ones of these.
    """
    positions = _hits(store, query)
    count = store.find.count(query, positions)
    groups: tuple[tuple[str, int], ...] = ()
    events: tuple[Event, ...] = ()
    if query.count:
        groups = tuple(pair for pair in store.find.groups(replace(query, by=query.count), positions) if pair[0])
        count = len(groups)
    elif query.by:
        groups = tuple(_groups(store, query, positions))
    else:
        most = max(0, query.take - query.offset) if query.take else query.limit
        events = tuple(store.find.page(replace(query, limit=min(query.limit, most)), positions))
        count = min(count, query.take) if query.take else count
    return Answer(query, count, events, groups, coverage.of(store, query, watched))


def session(store: SqliteStore, name: str, *, children: bool, limit: int) -> Sequence[Event]:
    """Return a session's timeline, oldest first; `children` takes in what its subagents did.

    Raises NotFound for a session that no event names. A call belongs to the run that made it: where a subagent's run
    carries its parent's session, the run decides (field case F80). What is a child's has the flag `child`.
    """
    mine = Query(filters=(("session", (name,), False),), sort="oldest", limit=limit, noise=True)
    events = store.find.page(mine)
    if not events:
        raise NotFound(f"There is no session {name!r}.", "limpet recent --json  shows the sessions of the last hours.")
    key = next((event.session_key for event in events if event.session_key), "")
    names, runs = _below(store, name, key)
    own = [event for event in events if event.run not in runs or event.type == "subagent"]
    own += _of(store, mine, "run", _run_of_child(store, key))
    found = {event.id: event for event in own}
    if children:
        for event in (*events, *_of(store, mine, "session", names), *_of(store, mine, "run", runs)):
            found.setdefault(event.id, replace(event, flags=(*event.flags, "child")))
    return sorted(found.values(), key=lambda event: (event.at_ms, event.id))[:limit]


def _below(store: SqliteStore, name: str, key: str) -> tuple[set[str], set[str]]:
    """Return the sessions (ids and keys) and the runs of all subagents below a session, of every generation."""
    names: set[str] = set()
    runs: set[str] = set()
    asked = [(name, key)]
    while asked:
        for child_key, child_session, run in store.find.children(*asked.pop()):
            runs.update({run} if run else ())
            if new := {child_key or "", child_session or ""} - names - {""}:
                names |= new
                asked.append((child_session or "", child_key or ""))
    return names, runs


def _run_of_child(store: SqliteStore, key: str) -> set[str]:
    """Return the run in which the subagent with this session key works, as the one who started it was told."""
    found = [store.find.by_id(number) for number in store.events.with_keys([f"subagent subagent:{key}"])] if key else []
    return {event.call for event in found if event and event.call}


def _of(store: SqliteStore, query: Query, name: str, values: set[str]) -> Sequence[Event]:
    return store.find.page(replace(query, filters=((name, tuple(values), False),))) if values else ()


def session_end(store: SqliteStore, events: Sequence[Event]) -> tuple[int, str] | None:
    """Return when and how a session ended, as far as anybody said or the next session under its key shows."""
    said = next((e for e in events if e.type == "session" and e.status == "succeeded"), None)
    last = events[-1]
    if said is not None:
        return last.at_ms, said.summary.rpartition("; ")[2]
    follower = store.find.next_session(last) if last.session_key else None
    return (follower[0], f"end inferred: {follower[1]} went on in its place") if follower else None


def session_origin(store: SqliteStore, events: Sequence[Event]) -> str:
    """Return the session that this one goes on from, "" where nobody says (field case F17)."""
    for event in events:
        said = event.details if event.type == "session" and isinstance(event.details, dict) else {}
        if said.get("continues"):
            return str(said["continues"])
        if said.get("copied"):
            first = store.events.with_keys([f"message entry:{said['copied']}"])
            found = [store.find.by_id(number) for number in sorted(first)]
            return next((one.session for one in found if one and one.session != event.session), "")
    return ""


def _hits(store: SqliteStore, query: Query) -> list[int] | None:
    """Return the positions that the full-text part of the query matches, None where it has none."""
    if not query.words and not query.without:
        return None
    since = FIRST if query.since_ms is None else query.since_ms << 20
    until = LAST if query.until_ms is None else query.until_ms << 20
    wanted = [tokens.asked(word) for word in query.words]
    if not any(wanted):
        return []
    expression = " AND ".join(term for term in wanted if term)
    unwanted = [term for word in query.without if (term := tokens.asked(word))]
    if unwanted:
        expression = f"({expression}) NOT ({' OR '.join(unwanted)})"
    return store.index.matches(expression, since, until)


def _groups(store: SqliteStore, query: Query, positions: list[int] | None) -> Iterator[tuple[str, int]]:
    """Yield (name, count): names most first, spans of time in their order."""
    if query.by not in SPANS:
        yield from store.find.groups(query, positions)
        return
    counts: Counter[str] = Counter()
    for at_ms, n in store.find.times(query, positions):
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
