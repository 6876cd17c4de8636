"""Which facts are about the same thing, and about which time that it happened. Pure.

Facts belong together when they share a key; where a key recurs, each source's own order tells the occurrences apart,
and the sources' occurrences are matched with each other.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING

from limpet.interpreter.order import source_order, time_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from limpet.model import Fact

RECURRING: Mapping[str, int] = {
    "tool_call": 1 << 60,
    "subagent": 1 << 60,
    "reset": 60_000,
    "compaction": 120_000,
    "gateway": 60_000,
}
"""Types whose key may recur, and how many milliseconds apart two sources may place the same occurrence."""


def occurrences(facts: Iterable[Fact]) -> Iterator[list[Fact]]:
    """Yield, for each time that each thing happened, the facts about it."""
    yield from chain.from_iterable(_occurrences(component) for component in _components(facts))


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
        began[fact.order[0]] = min(time_of(fact), began.get(fact.order[0], time_of(fact)))
    by_entry: dict[str, list[Fact]] = {}
    ordered = sorted(facts, key=lambda fact: (began[fact.order[0]], *source_order(fact)))
    for number, fact in enumerate(ordered):
        by_entry.setdefault(fact.entry or f"#{number}", []).append(fact)
    yield from by_entry.values()


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
    return min(time_of(fact) for fact in facts)
