"""The chain followed from its beginning to its head: every link, every forgotten or cleaned record, every seal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from limpet import amendment, ledger
from limpet.store import packing
from limpet.store.custody import PRUNED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from limpet.model import Record
    from limpet.store.records import Stored
    from limpet.store.scratch import Scratch
    from limpet.store.sqlite import SqliteStore

PAGE = 500


@dataclass(frozen=True, slots=True)
class Sealed:
    """A copy of a seal, and where it was found: a daily note, a backup, a line that somebody wrote down."""

    no: int
    hash: bytes
    where: str


class Chain:
    """Follows the chain page by page, and remembers what has to be vouched for by a later record."""

    def __init__(self, store: SqliteStore, scratch: Scratch, seals: Iterable[Sealed] = ()) -> None:
        """Begin where the ledger begins; `seals` are the copies to hold it against."""
        self._store = store
        self._scratch = scratch
        self.begins, self.hash = store.custody.beginning()
        self.no = self.begins
        self.records = self.forgotten = self.held = self.lost = 0
        self.remarks: list[str] = []
        self._faults: list[str] = []
        self._seals: dict[int, list[Sealed]] = {}
        for seal in seals:
            self._seals.setdefault(seal.no, []).append(seal)
        self._empty: list[list[int]] = []
        self._vouched: list[tuple[int, int]] = []
        self._cut: tuple[int, bytes] | None = None
        self._restored = self._rescued = 0
        self._is_unread = False
        self._contradictions: list[tuple[Sealed, str]] = []

    def take(self, page: Sequence[Stored]) -> None:
        """Follow the chain over the next page."""
        for stored in page:
            self._faults += self._link(stored)
            self._faults += self._amended(stored.record)
            self._hold(stored.record.no)
            self.lost += stored.record.kind == amendment.LOST and stored.record.stream == "rescue"
        self._scratch.put_holders(packing.references(one.content) for one in page if one.content is not None)
        self._scratch.put_cleaned(one.record.no for one in page if one.leaf is not None and one.content is not None)

    def finish(self) -> list[str]:
        """Return every fault, with those that show only at the head."""
        self._faults += self._unvouched()
        self._faults += self._cleaned()
        self._faults += self._beginning()
        self._faults += self._head()
        self._faults += self._too_late()
        self._faults += self._bodies()
        return self._faults

    def _link(self, stored: Stored) -> Iterator[str]:
        no = stored.record.no
        gap = no != self.no + 1
        if gap:
            last = no - 1
            yield f"record {last} is missing" if last == self.no + 1 else f"records {self.no + 1} to {last} are missing"
        if stored.damage:
            yield f"record {no} {stored.damage}"
        leaf = stored.leaf
        if stored.content is None and not stored.damage:
            self._note_empty(no)
        elif leaf is None and stored.content is not None:
            leaf = ledger.leaf_of(stored.record, stored.content, stored.nonce or b"")
        if leaf is None and not stored.damage:
            yield f"record {no} has lost its content"
        elif leaf is not None and not gap and ledger.chain(self.hash, leaf) != stored.hash:
            yield f"record {no} was changed, or stands in the wrong place"
        self.no, self.hash = no, stored.hash
        self.records += 1

    def _note_empty(self, no: int) -> None:
        self.forgotten += 1
        if self._empty and self._empty[-1][1] == no - 1:
            self._empty[-1][1] = no
        else:
            self._empty.append([no, no])

    def _amended(self, record: Record) -> Iterator[str]:
        """Take in what a record of Limpet's own vouches for."""
        if record.kind not in amendment.KINDS:
            return
        said = amendment.forgotten_in(record)
        if said is not None:
            yield from self._forgotten(record.no, said)
        self._scratch.put_leaves(amendment.leaves_in(record))
        self._cut = amendment.place_in(record, amendment.PRUNE) or self._cut
        if record.kind == amendment.RESCUE:
            self._rescued_at(record)
        restored = amendment.place_in(record, amendment.RESTORE)
        if restored is not None:
            self._restored = record.no
            self.remarks.append(
                f"record {record.no}: the ledger was put back from a copy that ended at record {restored[0]}"
            )

    def _rescued_at(self, record: Record) -> None:
        """Take note that the ledger was begun anew here; its old head is told where that could be read."""
        self._rescued = record.no
        place = amendment.place_in(record, amendment.RESCUE)
        self._is_unread = self._is_unread or place is None
        was = f", from one that ended at record {place[0]} with {place[1].hex()}" if place else ""
        self.remarks.append(f"record {record.no}: the database was damaged, and the ledger was begun anew{was}")

    def _forgotten(self, no: int, said: amendment.Forgotten) -> Iterator[str]:
        """Hold what stays of forgotten records against what the record that forgot them says of them."""
        self._vouched += said.ranges
        self._scratch.put_keys(said.keys)
        if {*said.keys} - {*self._store.custody.buried(key for key, _, _ in said.keys)}:
            yield f"something that record {no} says must not come back may do so (limpet rebuild mends it)"
        if any(first <= self.begins for first, _ in said.ranges):
            return  # some of them were cut off since
        if any(last >= no or first > last for first, last in said.ranges):
            yield f"record {no} says that records were forgotten which were not there before it"
            return
        rows = self._store.records.stored(amendment.numbers_in(said.ranges))
        if amendment.digest_of((one.record, one.leaf, one.hash) for one in rows) != said.digest:
            yield f"what stays of the records that record {no} says were forgotten was changed"
        for one in rows:
            if one.content is not None or one.nonce is not None:
                yield f"record {one.record.no} was forgotten, but holds something again"

    def _hold(self, no: int) -> None:
        """Hold the seals of this record against it."""
        for seal in self._seals.pop(no, ()):
            self.held += 1
            if seal.hash != self.hash:
                self._contradictions.append((seal, f"record {no} is not the one that {seal.where} has the seal of"))

    def _contradicted(self) -> Iterator[str]:
        """Tell of each seal that this ledger contradicts; one of a ledger that is gone is no fault of this one."""
        gone = 0
        for seal, what in self._contradictions:
            if self._rescued and (self._is_unread or seal.no < self._rescued):
                gone += 1
            elif self._restored > 0 and seal.no >= self._restored:
                self.remarks.append(f"{what}: that was before the ledger was put back")
            else:
                yield what
        self.held -= gone
        if gone:
            which = "1 seal is" if gone == 1 else f"{gone} seals are"
            self.remarks.append(
                f"{which} of the ledger from before record {self._rescued}: only the file aside can hold it"
            )

    def _unvouched(self) -> Iterator[str]:
        for first, last in amendment.without(self._empty, self._vouched):
            which = f"record {first} has" if first == last else f"records {first} to {last} have"
            yield f"{which} lost the content, and no record says that it was forgotten"
        if self._store.custody.count_tombstones() != self._scratch.count_keys():
            yield "what must not come back is not what the records say was forgotten (limpet rebuild mends it)"

    def _cleaned(self) -> Iterator[str]:
        """Hold each record that was cleaned again against the leaf that a later record vouches for."""
        waiting: dict[int, bytes | None] = {}
        for no, leaf in self._scratch.leaves():
            waiting[no] = leaf
            if len(waiting) >= PAGE:
                yield from self._unlike(waiting)
                waiting = {}
        yield from self._unlike(waiting)

    def _unlike(self, leaves: dict[int, bytes | None]) -> Iterator[str]:
        for one in self._store.records.stored(leaves):
            found = ledger.leaf_of(one.record, one.content or b"", one.nonce or b"")
            if leaves[one.record.no] is None:
                yield f"record {one.record.no} was changed: no record says that it was cleaned"
            elif found != leaves[one.record.no]:
                yield f"record {one.record.no} was changed after it was cleaned"

    def _beginning(self) -> Iterator[str]:
        cut = [seal for seal in self._store.custody.seals() if seal.what == PRUNED]
        said = (cut[-1].no, cut[-1].hash) if cut else None
        if said != self._cut:
            yield f"the ledger begins after record {self.begins}, and no record says that it was cut off there"

    def _head(self) -> Iterator[str]:
        said = self._store.state.meta("head")
        if said is None and self.no:
            yield "where the last commit ended is not known any more"
        elif said is not None and said != f"{self.no} {self.hash.hex()}":
            last = said.partition(" ")[0]
            yield f"the ledger ends at record {self.no}, but its last commit ended at record {last}"

    def _too_late(self) -> Iterator[str]:
        """Tell of seals of records that are not there: behind the head, where the tail was cut off."""
        for no, seals in sorted(self._seals.items()):
            for seal in seals:
                if no == self.begins:
                    self.held += 1
                    if seal.hash != self._store.custody.beginning()[1]:
                        yield f"the ledger does not begin at the record that {seal.where} has the seal of"
                elif no > self.no:
                    self.held += 1
                    what = f"the ledger ends at record {self.no}, but {seal.where} has the seal of record {no}"
                    self._contradictions.append((seal, what))
        yield from self._contradicted()

    def _bodies(self) -> Iterator[str]:
        for digest, found, refs in self._store.records.texts.checked():
            name, held = digest.hex()[:16], self._scratch.holders(digest)
            if digest.hex() != found:
                yield f"text {name} was changed ({found[:32]})"
            if refs != held:
                yield f"text {name} is held by {held:,} records, and counted as held by {refs:,}"
