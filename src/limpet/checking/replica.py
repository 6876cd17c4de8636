"""A machine's chain as a fleet holds it: every link and every byte, and who vouches for what went. Reads only.

There a record keeps its leaf always, and its place for ever; what was forgotten, cleaned or cut off on the machine is
vouched for by later records of the same ledger, as in `chain`. The events there are not held against it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from limpet import amendment, ledger

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from limpet.store.records import Stored


class Hole(NamedTuple):
    """Records that are not there, the first and the last, and the link behind them."""

    first: int
    last: int
    leaf: bytes | None
    hash: bytes


class Replica:
    """Follows one chain page by page, and remembers what a later record has to vouch for."""

    def __init__(self) -> None:
        """Begin before the first record."""
        self.no, self.hash, self.records = 0, ledger.GENESIS, 0
        self.empty: list[int] = []
        self._faults: list[str] = []
        self._holes: list[Hole] = []
        self._unlike: dict[int, bytes] = {}
        self._vouched: list[tuple[int, int]] = []
        self._leaves: dict[int, bytes] = {}
        self._cuts: dict[int, bytes] = {}

    def take(self, page: Sequence[Stored]) -> None:
        """Follow the chain over the next page."""
        for stored in page:
            self._faults += self._link(stored)
            self._look_at_bytes(stored)
            self._hear(stored)
            self.no, self.hash = stored.record.no, stored.hash
        self.records += len(page)

    def finish(self, records: int, head: bytes) -> list[str]:
        """Return every fault; `records` and `head` are where the last push ended."""
        self._faults += map(_missing, (hole for hole in self._holes if not self._was_cut(hole)))
        self._faults += [
            f"record {no} was changed" for no, leaf in self._unlike.items() if self._leaves.get(no) != leaf
        ]
        for first, last in amendment.without(amendment.ranges_of(self.empty), self._vouched):
            which = f"record {first} has" if first == last else f"records {first} to {last} have"
            self._faults.append(f"{which} lost the content, and no record says that it was forgotten")
        if (self.no, self.hash) != (records, head):
            self._faults.append(f"the ledger ends at record {self.no}, but the last push ended at record {records}")
        return self._faults

    def _link(self, stored: Stored) -> Iterator[str]:
        no, leaf = stored.record.no, stored.leaf
        if no != self.no + 1:
            self._holes.append(Hole(self.no + 1, no - 1, leaf, stored.hash))
        elif leaf is not None and ledger.chain(self.hash, leaf) != stored.hash:
            yield f"record {no} stands in the wrong place, or its link was changed"
        if stored.damage:
            yield f"record {no} {stored.damage}"
        elif leaf is None:
            yield f"record {no} has no leaf"

    def _look_at_bytes(self, stored: Stored) -> None:
        if stored.content is None:
            self.empty += [] if stored.damage else [stored.record.no]
            return
        leaf = ledger.leaf_of(stored.record, stored.content, stored.nonce or b"")
        if leaf != stored.leaf:
            self._unlike[stored.record.no] = leaf

    def _hear(self, stored: Stored) -> None:
        """Take in what a record of Limpet's own vouches for."""
        if stored.record.kind not in amendment.KINDS:
            return
        forgotten = amendment.forgotten_in(stored.record)
        self._vouched += forgotten.ranges if forgotten else ()
        self._leaves |= amendment.leaves_in(stored.record)
        cut = amendment.place_in(stored.record, amendment.PRUNE)
        self._cuts |= {cut[0]: cut[1]} if cut else {}

    def _was_cut(self, hole: Hole) -> bool:
        """Whether the machine had cut off these records before it could push them."""
        before = self._cuts.get(hole.last)
        return before is not None and hole.leaf is not None and ledger.chain(before, hole.leaf) == hole.hash


def _missing(hole: Hole) -> str:
    if hole.first == hole.last:
        return f"record {hole.last} is missing"
    return f"records {hole.first} to {hole.last} are missing"
