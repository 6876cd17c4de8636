"""The verbs that change what the ledger keeps: forget, clean, cut, seal. The chain stays whole. Not for reading it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from limpet import amendment, clock, ledger
from limpet.store import packing
from limpet.store.bodies import Bodies
from limpet.store.sql import queries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

    from limpet.model import Record
    from limpet.store.names import Names
    from limpet.store.records import Stored

PRUNED = "pruned"
"""The seal that says where the ledger begins."""


class Seal(NamedTuple):
    """A signed-off pair of ledger position and hash, when it was made, what for and where its copy lies."""

    no: int
    hash: bytes
    at_ms: int
    what: str
    place: str


class Tombstone(NamedTuple):
    """A join key of something forgotten, and within which times it happened."""

    key: int
    from_ms: int
    until_ms: int


class Custody:
    """The destructive verbs on the ledger's tables, and the tombstone and seal tables."""

    def __init__(self, connection: apsw.Connection, names: Names) -> None:
        """Use this connection; writes happen inside the caller's transaction."""
        self._connection = connection
        self._names = names
        self._bodies = Bodies(connection)
        self._sql = queries("sqlite")

    def forget(self, stored: Sequence[Stored]) -> None:
        """Erase the bytes and the nonces of these records; their leaves, by which the chain verifies, stay."""
        for one in stored:
            leaf = one.leaf
            if leaf is None and one.content is not None:
                leaf = ledger.leaf_of(one.record, one.content, one.nonce or b"")
            self._connection.execute(self._sql["forget_record"], (leaf, one.record.no))
            self._drop_content(one)
            self._connection.execute(self._sql["drop_audit"], (one.record.no,))

    def clean(self, stored: Stored, record: Record, nonce: bytes) -> bytes:
        """Put a cleaned record in place of the old one; return its new leaf. The old leaf stays, for the chain."""
        old = stored.leaf
        if old is None:
            old = ledger.leaf_of(stored.record, stored.content or b"", stored.nonce or b"")
        content, bodies = packing.pack(record.body)
        self._drop_content(stored)
        self._connection.execute(self._sql["add_content"], (record.no, *packing.compress(content)))
        for digest, text in bodies.items():
            self._bodies.keep(digest, text)
        code = self._names.code
        columns = (code(record.source), code(record.stream or "-"), code(record.kind))
        self._connection.execute(self._sql["clean_record"], (*columns, nonce, old, record.no))
        was = code(stored.record.stream or "-")
        if was != columns[1]:
            self._connection.execute(self._sql["rename_stream"], (columns[1], was))
        return ledger.leaf_of(record, content, nonce)

    def older_than(self, before_ms: int, kept: Iterable[int]) -> list[int]:
        """Return the records that tell only of what ended before this time; events in `kept` are not among it."""
        given = {
            "before": before_ms,
            "kept": json.dumps(sorted(kept)),
            "kinds": json.dumps(sorted(amendment.KINDS)),
        }
        return [row[0] for row in self._connection.execute(self._sql["older_records"], given)]

    def cut(self, through: int) -> None:
        """Drop every record up to this number: the caller has forgotten them all, and seals the place."""
        self._connection.execute(self._sql["cut_records"], (through,))

    def empty_through(self, before_ms: int) -> int:
        """Return up to which number no record has content, but for amendments that arrived before that time."""
        given = {"kinds": json.dumps(sorted(amendment.KINDS)), "before": before_ms}
        row = self._connection.execute(self._sql["first_kept"], given).fetchone()
        return int(row[0]) - 1 if row else 0

    def kept_through(self, through: int) -> list[int]:
        """Return the numbers up to this one that have content."""
        return [row[0] for row in self._connection.execute(self._sql["kept_through"], (through,))]

    def of_kind(self, kind: str) -> list[int]:
        """Return the numbers of the records of a kind."""
        return [row[0] for row in self._connection.execute(self._sql["records_of_kind"], (kind,))]

    def forgotten(self, ids: Iterable[str]) -> set[str]:
        """Return which of these record ids the ledger holds without their content."""
        rows = self._connection.execute(self._sql["forgotten_ids"], {"ids": json.dumps(list(ids))})
        return {bytes(row[0]).hex() for row in rows}

    def sweep_names(self) -> None:
        """Drop the names that nothing carries any more."""
        self._connection.execute(self._sql["sweep_names"])
        self._names.forget_cache()

    def put_tombstones(self, tombstones: Iterable[Tombstone]) -> None:
        """Keep what must not come back."""
        self._connection.executemany(self._sql["put_tombstone"], list(tombstones))

    def tombstones(self) -> Iterator[Tombstone]:
        """Yield every tombstone, in the order of their keys."""
        for row in self._connection.execute(self._sql["tombstones"]):
            yield Tombstone(*row)

    def clear_tombstones(self) -> None:
        """Throw them away; the ledger's records of what was forgotten make them anew."""
        self._connection.execute(self._sql["clear_tombstones"])

    def count_tombstones(self) -> int:
        """Return how many there are."""
        return int(self._connection.execute(self._sql["count_tombstones"]).get)

    def buried(self, keys: Iterable[int]) -> list[Tombstone]:
        """Return the tombstones of these keys."""
        rows = self._connection.execute(self._sql["tombstones_of_keys"], {"keys": json.dumps(list(keys))})
        return [Tombstone(*row) for row in rows]

    def put_seal(self, seal: Seal) -> None:
        """Keep a seal; the one before it of the same purpose and place goes."""
        self._connection.execute(self._sql["put_seal"], seal)

    def seals(self) -> list[Seal]:
        """Return every seal that was handed out."""
        rows = self._connection.execute(self._sql["seals"])
        return [Seal(no, bytes(digest), at_ms, what, place) for no, digest, at_ms, what, place in rows]

    def beginning(self) -> tuple[int, bytes]:
        """Return the place before the first record that is kept: (0, GENESIS) where nothing was cut off."""
        cut = [seal for seal in self.seals() if seal.what == PRUNED]
        return (cut[-1].no, cut[-1].hash) if cut else (0, ledger.GENESIS)

    def begin_after(self, no: int, digest: bytes, at_ms: int) -> None:
        """Let a ledger that holds nothing yet go on after this place, as one whose beginning was cut off there.

        The place itself stands in it until it is cut off.
        """
        code = self._names.code
        stub = (no, clock.nonce(), code("limpet"), code("-"), 0, code(amendment.PRUNE), at_ms, None, digest)
        self._connection.execute(self._sql["add_record"], stub)
        self.put_seal(Seal(no, digest, at_ms, PRUNED, ""))

    def _drop_content(self, one: Stored) -> None:
        self._connection.execute(self._sql["drop_content"], (one.record.no,))
        self._bodies.release(packing.references(one.content or b""))
