"""Verification: the ledger read again byte by byte, and the events held against it. It changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from limpet import interpreter, ledger
from limpet.model import COUNTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from limpet.store.records import Stored
    from limpet.store.sqlite import SqliteStore

PAGE = 1000
MOST_FAULTS = 1000
"""Faults that are told one by one; a damaged file may hold millions."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found: the records read, the events, the head's hash as hex, and every fault, oldest first."""

    records: int
    events: int
    head: str
    faults: tuple[str, ...]


def verify(store: SqliteStore, progress: Callable[[int], None]) -> Verdict:
    """Check the chain, the texts stored apart, and that each part of each record is in exactly one event."""
    faults: list[str] = []
    previous, no = ledger.GENESIS, 0
    while page := store.records.after(no, PAGE):
        for stored in page:
            faults += _link_faults(stored, no, previous)
            no, previous = stored.record.no, stored.hash
        faults += _event_faults(store, page)
        progress(no)
    faults += _head_faults(store.state.meta("head"), no, previous)
    faults += [
        f"text {name[:16]} was changed ({found[:32]})" for name, found in store.records.bodies() if name != found
    ]
    return Verdict(no, store.find.bounds()[2], previous.hex(), tuple(faults[:MOST_FAULTS]))


def _link_faults(stored: Stored, before: int, previous: bytes) -> Iterator[str]:
    no = stored.record.no
    if no != before + 1:
        yield (
            f"record {before + 1} is missing" if no == before + 2 else f"records {before + 1} to {no - 1} are missing"
        )
    leaf = stored.leaf
    if stored.content is not None:
        leaf = ledger.leaf_of(stored.record, stored.content, stored.nonce or b"")
    if stored.damage:
        yield f"record {no} {stored.damage}"
    if leaf is None and not stored.damage:
        yield f"record {no} has lost its content"
    elif leaf is not None and ledger.chain(previous, leaf) != stored.hash and no == before + 1:
        yield f"record {no} was changed, or stands in the wrong place"


def _event_faults(store: SqliteStore, page: list[Stored]) -> Iterator[str]:
    places = [
        interpreter.event_id(fact.place)
        for stored in page
        if stored.content is not None
        for fact in interpreter.facts_of(stored.record)
        if fact.type != COUNTED
    ]
    for place in store.events.without_event(places):
        no, _ = interpreter.place_of(place)
        yield f"what record {no} tells of is in no event (limpet rebuild makes the events again)"


def _head_faults(said: str | None, no: int, digest: bytes) -> Iterator[str]:
    if said is None and no:
        yield "where the last commit ended is not known any more"
    elif said is not None and said != f"{no} {digest.hex()}":
        yield f"the ledger ends at record {no}, but its last commit ended at record {said.partition(' ')[0]}"
