"""The ledger's tables: records appended and linked, read back, never changed."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from limpet import ledger
from limpet.model import Record
from limpet.store import packing
from limpet.store.sql import queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import apsw

    from limpet.model import Json
    from limpet.store.names import Names


class Stored(NamedTuple):
    """A record as it stands in the ledger, with its bytes and its link.

    `content` is None where it was forgotten or cannot be read; `damage` says what of it is damaged or missing.
    """

    record: Record
    content: bytes | None
    nonce: bytes | None
    leaf: bytes | None
    hash: bytes
    damage: str = ""


class Records:
    """The record, content and body tables of one database."""

    def __init__(self, connection: apsw.Connection, names: Names) -> None:
        """Use this connection; writes happen inside the caller's transaction."""
        self._connection = connection
        self._names = names
        self._sql = queries("sqlite")

    def head(self) -> tuple[int, bytes]:
        """Return the newest record's number and hash; (0, GENESIS) for an empty ledger."""
        row = self._connection.execute(self._sql["head"]).fetchone()
        return (int(row[0]), bytes(row[1])) if row else (0, ledger.GENESIS)

    def last_content(self) -> int:
        """Return the newest number of which there are bytes; 0 where there are none."""
        row = self._connection.execute(self._sql["last_content"]).fetchone()
        return int(row[0]) if row else 0

    def known(self, ids: Iterable[str]) -> set[str]:
        """Return which of these record ids the ledger holds."""
        rows = self._connection.execute(self._sql["known_records"], {"ids": json.dumps(list(ids))})
        return {bytes(row[0]).hex() for row in rows}

    def append(self, records: Sequence[Record], nonce: Callable[[], bytes]) -> list[Record]:
        """Append records that the ledger does not hold yet, in this order, and return them with their numbers."""
        no, previous = self.head()
        rows, contents, numbered = [], [], []
        code = self._names.code
        for record in records:
            no += 1
            record = record.at(no)  # noqa: PLW2901 - the same record, now with its place
            content, bodies = packing.pack(record.body)
            link = ledger.link(previous, record, content, nonce())
            previous = link.hash
            rows.append(
                (no, bytes.fromhex(record.id), code(record.source), code(record.stream or "-"), record.seq,
                 code(record.kind), record.arrived_ms, link.nonce, link.hash)
            )  # fmt: skip
            contents.append((no, *packing.compress(content)))
            for digest, text in bodies.items():
                self._keep(digest, text)
            numbered.append(record)
        self._connection.executemany(self._sql["add_record"], rows)
        self._connection.executemany(self._sql["add_content"], contents)
        return numbered

    def fetch(self, numbers: Iterable[int]) -> list[Record]:
        """Return the records with these numbers that still have their content, oldest first."""
        rows = self._connection.execute(self._sql["records"], {"nos": json.dumps(sorted(set(numbers)))})
        return [stored.record for row in rows if (stored := self._opened(row)).content is not None]

    def after(self, no: int, most: int) -> list[Stored]:
        """Return up to `most` records after this number, as they stand."""
        rows = self._connection.execute(self._sql["records_after"], {"no": no, "most": most})
        return [self._opened(row) for row in rows]

    def body(self, digest: bytes) -> str | None:
        """Return the large text with this SHA-256, None where it is not kept any more or cannot be read."""
        row = self._connection.execute(self._sql["body"], (digest,)).fetchone()
        try:
            return packing.decompress(row[0], bytes(row[1])).decode("utf-8") if row else None
        except ValueError:
            return None

    def bodies(self) -> Iterator[tuple[str, str]]:
        """Yield, of every large text, the hash that it is kept under and the one that it has, as hex."""
        for digest, codec, stored in self._connection.execute(self._sql["bodies"]):
            try:
                found = hashlib.sha256(packing.decompress(codec, bytes(stored))).hexdigest()
            except ValueError as error:
                found = f"unreadable: {error}"
            yield bytes(digest).hex(), found

    def _keep(self, digest: bytes, text: bytes) -> None:
        if self._connection.execute(self._sql["has_body"], (digest,)).fetchone() == (1,):
            self._connection.execute(self._sql["count_body"], (digest,))
        else:
            self._connection.execute(self._sql["add_body"], (digest, *packing.compress(text)))

    def _opened(self, row: tuple[object, ...]) -> Stored:
        no, hexed, source, stream, seq, kind, arrived_ms, nonce, leaf, digest, codec, stored = row
        content, body, damage = self._unpacked(None if stored is None else (int(codec), bytes(stored)))  # type: ignore[call-overload]
        record = Record(
            id=str(hexed).lower(), source=str(source), stream="" if stream == "-" else str(stream), seq=int(seq),  # type: ignore[call-overload]
            kind=str(kind), body=body, arrived_ms=int(arrived_ms), no=int(no),  # type: ignore[call-overload]
        )  # fmt: skip
        as_bytes = [None if value is None else bytes(value) for value in (nonce, leaf)]  # type: ignore[call-overload]
        return Stored(record, content, as_bytes[0], as_bytes[1], bytes(digest), damage)  # type: ignore[call-overload]

    def _unpacked(self, stored: tuple[int, bytes] | None) -> tuple[bytes | None, Json, str]:
        """Return a record's bytes, its value, and what of it is damaged or missing."""
        if stored is None:
            return None, None, ""
        lost: list[str] = []

        def text_of(digest: bytes) -> str | None:
            text = self.body(digest)
            if text is None:
                lost.append(digest.hex()[:16])
            return text

        try:
            content = packing.decompress(*stored)
            value = packing.unpack(content, text_of)
        except ValueError as error:
            return None, None, f"cannot be read: {error}"
        return content, value, f"has lost the text {', '.join(lost)}" if lost else ""


def pages(records: Records, size: int = 1000) -> Iterator[list[Stored]]:
    """Yield the whole ledger, oldest first, in pages."""
    no = 0
    while page := records.after(no, size):
        yield page
        no = page[-1].record.no
