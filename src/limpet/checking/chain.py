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
        self.records = self.forgotten = self.held = 0
        self.remarks: list[str] = []
        self._faults: list[str] = []
        self._seals: dict[int, list[Sealed]] = {}
        for seal in seals:
            self._seals.setdefault(seal.no, []).append(seal)
        self._empty: list[list[int]] = []
        self._vouched: list[tuple[int, int]] = []
        self._cut: tuple[int, bytes] | None = None
        self._restored = 0

    def take(self, page: Sequence[Stored]) -> None:
        """Follow the chain over the next page."""
        for stored in page:
            self._faults += self._link(stored)
            self._faults += self._amended(stored.record)
            self._faults += self._sealed(stored.record.no)
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
        restored = amendment.place_in(record, amendment.RESTORE)
        if restored is not None:
            self._restored = record.no
            self.remarks.append(
                f"record {record.no}: the ledger was put back from a copy that ended at record {restored[0]}"
            )

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

    def _sealed(self, no: int) -> Iterator[str]:
        for seal in self._seals.pop(no, ()):
            self.held += 1
            if seal.hash != self.hash:
                yield from self._contradicted(seal, f"record {no} is not the one that {seal.where} has the seal of")

    def _contradicted(self, seal: Sealed, what: str) -> Iterator[str]:
        if self._restored > 0 and seal.no >= self._restored:
            self.remarks.append(f"{what}: that was before the ledger was put back")
        else:
            yield what

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
                    yield from self._contradicted(seal, what)

    def _bodies(self) -> Iterator[str]:
        for digest, found, refs in self._store.records.texts.checked():
            name, held = digest.hex()[:16], self._scratch.holders(digest)
            if digest.hex() != found:
                yield f"text {name} was changed ({found[:32]})"
            if refs != held:
                yield f"text {name} is held by {held:,} records, and counted as held by {refs:,}"
