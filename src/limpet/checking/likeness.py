"""The events that are there held against those that the ledger gives: row by row, in the order of their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet.interpreter.places import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from limpet.store.finding import Finder

COLUMNS = (
    "id", "time", "arrival", "type", "status", "agent", "session", "session key", "run", "call", "tool", "actor",
    "trust", "label", "duration", "summary", "error", "flags", "sources", "details", "tags", "open end",
)  # fmt: skip
MEND = "(limpet rebuild makes the events again)"

Row = tuple[Any, ...]


def differences(found: Finder, given: Finder) -> Iterator[str]:
    """Yield what differs between the events `found` and those that the ledger has `given`, a sentence each."""
    yield from _events(found, given)
    yield from _sightings(found, given)
    yield from _keys(found, given)
    yield from _audit(found, given)


def _events(found: Finder, given: Finder) -> Iterator[str]:
    for number, mine, theirs in paired(found.told("events"), given.told("events")):
        if mine is None:
            no, _ = place_of(number)
            yield f"event {number} is gone: what record {no} tells of is in no event {MEND}"
        elif theirs is None:
            yield f"event {number} is told of by no record {MEND}"
        elif mine != theirs:
            names = ", ".join(name for name, a, b in zip(COLUMNS, mine, theirs, strict=True) if a != b)
            yield f"event {number} does not say what its records give: {names} {MEND}"


def _sightings(found: Finder, given: Finder) -> Iterator[str]:
    for place, mine, theirs in paired(found.told("sightings"), given.told("sightings")):
        no, _ = place_of(place)
        if mine is None:
            yield f"what record {no} tells of is in no event {MEND}"
        elif mine != theirs:
            yield f"what record {no} tells of is in another event than the ledger gives {MEND}"


def _keys(found: Finder, given: Finder) -> Iterator[str]:
    """Yield the events that have lost a key; one too many finds nothing that the full keys would not refuse."""
    pairs = paired(((row, row) for row in found.told("keys")), ((row, row) for row in given.told("keys")))
    yield from (
        f"event {key[1]} has lost a join key that its records give {MEND}" for key, mine, _ in pairs if mine is None
    )


def _audit(found: Finder, given: Finder) -> Iterator[str]:
    for place, mine, theirs in paired(found.told("audit"), given.told("audit")):
        if mine != theirs:
            yield f"what OpenClaw counted, by record {place}, is not what that record gives {MEND}"


def paired(left: Iterator[Row], right: Iterator[Row]) -> Iterator[tuple[Any, Row | None, Row | None]]:
    """Yield (key, row, row) of two sequences that rise by their first column; None where one has no such row."""
    a, b = next(left, None), next(right, None)
    while a is not None or b is not None:
        if b is None or (a is not None and a[0] < b[0]):
            assert a is not None  # noqa: S101 - for the type checker
            yield a[0], a, None
            a = next(left, None)
        elif a is None or b[0] < a[0]:
            yield b[0], None, b
            b = next(right, None)
        else:
            yield a[0], a, b
            a, b = next(left, None), next(right, None)
