"""From records to facts and from facts to events: pure, without clock, store or order of arrival.

The same facts in any order give the same events. Facts belong together when they share a key; where a key recurs (a
provider gives a tool-call id twice, a session is reset twice) each source's own order tells the occurrences apart, and
the sources' occurrences are matched with each other.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from limpet import text
from limpet.model import UNWRITTEN, Event, Fact
from limpet.runtimes import meaning
from limpet.runtimes.saying import saying_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from limpet.model import Record
    from limpet.runtimes.saying import Saying

PART_BITS = 12
"""An event's id is its first record's number and the part within that record; a record has at most 4,095 parts."""

RECURRING: Mapping[str, int] = {
    "tool_call": 1 << 60,
    "subagent": 1 << 60,
    "reset": 60_000,
    "compaction": 120_000,
    "gateway": 60_000,
}
"""Types whose key may recur, and how many milliseconds apart two sources may place the same occurrence."""

LONG = frozenset({"session", "run", "subagent", "cron"})
"""What lasts long enough that the difference of two witnesses' times says how long."""

CLOSED_WITHOUT_END = frozenset({"session"})
"""A session that nobody ended is just still there; everything else that began and has no end is an open end."""

LAST = (1 << PART_BITS) - 1


def facts_of(record: Record) -> Sequence[Fact]:
    """Return what a record says.

    A kind that nobody knows gives a fact of type `unknown`, so that it can be found; so does a record that its reader
    stumbles over, with the flag `misread`.
    """
    saying = saying_of(record)
    read = meaning.of(record.kind)
    if read is None:
        return [_unknown(saying, "not known to Limpet")]
    try:
        facts = read(saying)
    except Exception:  # noqa: BLE001 - a fault of ours must not stop the recorder; `rebuild` reads the record again
        return [_unknown(saying, "could not be read by Limpet", "misread")]
    return [fact if fact.place[1] <= LAST else replace(fact, place=(record.no, LAST)) for fact in facts]


def _unknown(saying: Saying, why: str, *flags: str) -> Fact:
    summary = text.one_line(f"{saying.record.kind} ({why})", 200)
    return saying.fact("unknown", "whole", actor="system", trust="unknown", summary=summary, flags=flags)


def event_id(place: tuple[int, int]) -> int:
    """Return the id of an event whose first fact stands at this place."""
    return place[0] << PART_BITS | place[1]


def place_of(number: int) -> tuple[int, int]:
    """Return the (record, part) that an event id stands for."""
    return number >> PART_BITS, number & LAST


def events_of(facts: Iterable[Fact]) -> list[Event]:
    """Return the events that these facts are about, sorted by id.

    All facts that share keys, directly or through others, must be given together. What has a start and no end comes as
    `open`, with the status `started`; `status_without_end` says what the evidence makes of it.
    """
    groups = chain.from_iterable(_occurrences(component) for component in _components(facts))
    return sorted((_fold(group) for group in groups), key=lambda event: event.id)


def status_without_end(kind: str, *, ended: bool, restarted: bool) -> str:
    """Return the status of what has no end: `ended` that its run did, `restarted` that a gateway started later."""
    if ended and kind != "run":
        return "unknown"
    return "interrupted" if restarted else "started"


def _components(facts: Iterable[Fact]) -> Iterator[list[Fact]]:
    """Yield the groups of facts of one type that are joined by keys."""
    parent: dict[tuple[str, str], tuple[str, str]] = {}

    def root(key: tuple[str, str]) -> tuple[str, str]:
        while parent.setdefault(key, key) != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    keyed: list[Fact] = []
    alone: list[Fact] = []
    for fact in facts:
        (keyed if fact.keys else alone).append(fact)
        for key in fact.keys:
            parent[root((fact.type, key))] = root((fact.type, fact.keys[0]))
    groups: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in keyed:
        groups[root((fact.type, fact.keys[0]))].append(fact)
    yield from ([fact] for fact in alone)
    yield from groups.values()


def _occurrences(component: list[Fact]) -> Iterator[list[Fact]]:
    """Yield, for each time that the thing happened, the facts about it."""
    kind = component[0].type
    if len(component) == 1 or kind not in RECURRING:
        yield component
    elif kind != "tool_call":
        yield from _matched(component, RECURRING[kind])
    else:
        for conversation in _conversations(component):
            yield from _matched(conversation, RECURRING[kind])


def _conversations(facts: list[Fact]) -> Iterator[list[Fact]]:
    """Split the facts of one call id by conversation: facts that share a session, its key or a copied entry.

    A fact that names no session goes with the only conversation there is; where there are several it stays alone.
    """
    groups: list[tuple[set[str], list[Fact]]] = []
    lost: list[Fact] = []
    for fact in facts:
        names = {
            n
            for n in (
                fact.session and f"s {fact.session}",
                fact.session_key and f"k {fact.session_key}",
                fact.entry and f"e {fact.entry}",
            )
            if n
        }
        if not fact.session and not fact.session_key:
            lost.append(fact)
            continue
        joined = [group for group in groups if group[0] & names]
        groups = [group for group in groups if not group[0] & names]
        groups.append((names.union(*(g[0] for g in joined)), [fact, *chain.from_iterable(g[1] for g in joined)]))
    if len(groups) == 1 or not groups:
        yield [*(groups[0][1] if groups else []), *lost]
        return
    yield from (group[1] for group in groups)
    yield from ([fact] for fact in lost)


def _matched(facts: list[Fact], near_ms: int) -> Iterator[list[Fact]]:
    """Match the occurrences that each source saw with those that the others saw."""
    by_source: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        by_source[fact.source].append(fact)
    seen = [list(_in_order(by_source[source])) for source in sorted(by_source)]
    seen.sort(key=len, reverse=True)
    merged = seen[0]
    for others in seen[1:]:
        _join(merged, others, near_ms)
    yield from merged


def _in_order(facts: list[Fact]) -> Iterator[list[Fact]]:
    """Yield the occurrences in one source's own order: a start after an end, or another run, begins a new one."""
    current: list[Fact] = []
    ended = False
    for fact in _without_copies(facts):
        other_run = any(f.run and fact[0].run and f.run != fact[0].run for f in current)
        begins = fact[0].phase != "end"
        whole_again = fact[0].phase == "whole" and bool(current)
        if current and (other_run or whole_again or (begins and ended)):
            yield current
            current, ended = [], False
        current = [*current, *fact]
        ended = ended or fact[0].phase == "end"
    if current:
        yield current


def _without_copies(facts: list[Fact]) -> Iterator[list[Fact]]:
    """Yield the facts in order, those of one copied transcript entry together (a resumed session repeats them)."""
    began: dict[str, int] = {}
    for fact in facts:
        began[fact.order[0]] = min(_time(fact), began.get(fact.order[0], _time(fact)))
    by_entry: dict[str, list[Fact]] = {}
    ordered = sorted(facts, key=lambda fact: (began[fact.order[0]], *_source_order(fact)))
    for number, fact in enumerate(ordered):
        by_entry.setdefault(fact.entry or f"#{number}", []).append(fact)
    yield from by_entry.values()


def _source_order(fact: Fact) -> tuple[str, int, int, int, str, tuple[int, int]]:
    """Return the source's own order; what it numbers alike is told apart by what it says, at last by its place."""
    return (*fact.order, fact.place[1], _time(fact), fact.text, fact.place)


def _join(merged: list[list[Fact]], others: list[list[Fact]], near_ms: int) -> None:
    """Add each of one source's occurrences to the one of `merged` that it is; `merged` changes in place.

    Equally many on both sides are matched one by one; otherwise each goes to the nearest in time that is still free,
    and one that fits nowhere stands alone.
    """
    even = len(merged) == len(others)
    free = list(range(len(merged)))
    for number, other in enumerate(others):
        fitting = [i for i in free if _fits(merged[i], other, near_ms)]
        if even and number in fitting:
            chosen = number
        elif fitting:
            chosen = min(fitting, key=lambda i: (abs(_begin(merged[i]) - _begin(other)), i))
        else:
            merged.append(list(other))
            continue
        merged[chosen] = merged[chosen] + other
        free.remove(chosen)


def _fits(mine: list[Fact], other: list[Fact], near_ms: int) -> bool:
    runs = {fact.run for fact in mine if fact.run}
    other_runs = {fact.run for fact in other if fact.run}
    return (not runs or not other_runs or bool(runs & other_runs)) and abs(_begin(mine) - _begin(other)) <= near_ms


def _begin(facts: list[Fact]) -> int:
    return min(_time(fact) for fact in facts)


def _time(fact: Fact) -> int:
    return fact.arrived_ms if fact.at_ms is None else fact.at_ms


def _preference(fact: Fact) -> tuple[Any, ...]:
    """Best first: the better witness, then the fuller one, then the source's own order; never the order of arrival."""
    fullness = (fact.duration_ms is not None) + bool(fact.text) + bool(fact.error)
    return (-fact.rank, -fullness, -len(fact.text), fact.source, *_source_order(fact))


def _fold(facts: list[Fact]) -> Event:
    """Make one event of all facts about it."""
    facts = _written(facts)
    best = sorted(facts, key=_preference)
    starts = [f for f in best if f.phase != "end"]
    ends = [f for f in best if f.phase in ("end", "whole")]
    final = _final(ends)
    head = best[0]
    said = Said(best)
    still_open = _is_open(head.type, facts, ends)
    return Event(
        id=min(event_id(fact.place) for fact in facts),
        at_ms=_event_time(starts or ends),
        arrived_ms=min(fact.arrived_ms for fact in facts),
        type=head.type,
        status=final.status if final else said.first("status", starts) or ("started" if still_open else ""),
        agent=said.first("agent"),
        session=said.first("session"),
        session_key=said.first("session_key"),
        run=said.first("run"),
        call=said.first("call"),
        tool=said.first("tool"),
        actor=said.first("actor"),
        trust=next((f.trust for f in best if f.trust not in ("", "unknown")), "unknown"),
        label=said.first("label"),
        duration_ms=_duration(head.type, best, starts, ends),
        summary=_summary(said, best, starts, ends) or _named(head.type, said.first("tool")),
        error=final.error if final else "",
        flags=tuple(sorted({flag for fact in facts for flag in fact.flags})),
        sources=tuple(sorted({fact.source for fact in facts})),
        details=next((f.details for f in _latest_snapshot(best) if f.details is not None), None),
        tags=next((f.tags for f in best if f.tags is not None), None),
        text="\n".join(dict.fromkeys(f.text for f in (*starts[:1], *ends[:1], *_latest_snapshot(best)[:1]) if f.text)),
        keys=tuple(sorted({f"{head.type} {key}" for fact in facts for key in fact.keys})),
        places=tuple(sorted(fact.place for fact in facts)),
        open=still_open,
    )


def _summary(said: Said, best: list[Fact], starts: list[Fact], ends: list[Fact]) -> str:
    """Return what happened in a few words; a session's event tells of its start and of its end."""
    if best[0].type != "session":
        return said.first("summary", _latest_snapshot(best))
    return "; ".join(dict.fromkeys(filter(None, (said.first("summary", starts), said.first("summary", ends)))))


def _named(kind: str, tool: str) -> str:
    return (tool or "a tool") if kind == "tool_call" else ""


def _duration(kind: str, best: list[Fact], starts: list[Fact], ends: list[Fact]) -> int | None:
    """Return how long it took: as a witness measured it, or, for what is long, from its start to its end."""
    said = next((f.duration_ms for f in (ends or best) if f.duration_ms is not None), None)
    over = [fact for fact in ends if fact.phase == "end"]
    if said is not None or kind not in LONG or not starts or not over:
        return said
    return max(0, max(map(_time, over)) - _event_time(starts))


def _written(facts: list[Fact]) -> list[Fact]:
    """Take the mark of what was never written from what another witness holds."""
    marked = [UNWRITTEN in fact.flags for fact in facts]
    if all(marked) or not any(marked):
        return facts
    return [
        replace(fact, label="", flags=tuple(f for f in fact.flags if f != UNWRITTEN)) if mark else fact
        for fact, mark in zip(facts, marked, strict=True)
    ]


def _is_open(kind: str, facts: list[Fact], ends: list[Fact]) -> bool:
    if kind in CLOSED_WITHOUT_END or any(fact.phase == "whole" for fact in facts):
        return False
    return not any(fact.status for fact in ends)


def _final(ends: list[Fact]) -> Fact | None:
    """Return the fact that says how it ended: of the best witnesses, the last that says so in its source's order."""
    telling = [fact for fact in ends if fact.status]
    if not telling:
        return ends[0] if ends and ends[0].phase == "whole" else None
    rank = telling[0].rank
    if telling[0].type == "run":  # an attempt that failed may be followed by one that did not
        return max((f for f in telling if f.rank == rank), key=lambda f: (_time(f), *_source_order(f)))
    return telling[0]


def _event_time(facts: list[Fact]) -> int:
    """Return the time of the first fact by the best witness that has one."""
    certain = [
        f for f in facts if f.at_ms is not None and not any(flag.startswith("time_") for flag in f.flags)
    ] or facts
    rank = max(fact.rank for fact in certain)
    return min(_time(fact) for fact in certain if fact.rank == rank)


def _latest_snapshot(best: list[Fact]) -> list[Fact]:
    """Put the last of a streamed message's snapshots first: its text is what was said (field case F14)."""
    if best[0].type != "message":
        return best
    last = {(f.source, f.order[0]): f.place for f in sorted(best, key=_source_order)}
    places = set(last.values())
    return sorted(best, key=lambda f: (f.place not in places, -f.rank, -len(f.text), f.source, *_source_order(f)))


class Said:
    """The facts of one event, best first, asked for the first that says something."""

    def __init__(self, best: list[Fact]) -> None:
        self._best = best

    def first(self, field: str, facts: Sequence[Fact] | None = None) -> str:
        """Return the first value of that field that is not empty."""
        return next(
            (value for fact in (self._best if facts is None else facts) if (value := getattr(fact, field))),
            "",
        )
