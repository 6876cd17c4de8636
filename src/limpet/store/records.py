"""The ledger's tables: records appended and linked, read back, never changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from limpet import ledger
from limpet.model import Record
from limpet.store import packing
from limpet.store.bodies import Bodies
from limpet.store.sql import queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from limpet.model import Json
    from limpet.store.connection import Connection
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

    def __init__(self, connection: Connection, names: Names, dialect: str = "sqlite") -> None:
        """Use this connection; writes happen inside the caller's transaction."""
        self._connection = connection
        self._names = names
        self._sql = queries(dialect)
        self.texts = Bodies(connection, dialect)

    def head(self) -> tuple[int, bytes]:
        """Return the newest record's number and hash; (0, GENESIS) for an empty ledger."""
        row = self._connection.execute(self._sql["head"]).fetchone()
        return (int(row[0]), bytes(row[1])) if row else (0, ledger.GENESIS)

    def hash_at(self, no: int) -> bytes | None:
        """Return the chain's hash at this record, None where there is no such record."""
        row = self._connection.execute(self._sql["hash_at"], (no,)).fetchone()
        return bytes(row[0]) if row else None

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
                self.texts.keep(digest, text)
            numbered.append(record)
        self._connection.executemany(self._sql["add_record"], rows)
        self._connection.executemany(self._sql["add_content"], contents)
        return numbered

    def fetch(self, numbers: Iterable[int]) -> list[Record]:
        """Return the records with these numbers that still have their content, oldest first."""
        return [stored.record for stored in self.stored(numbers) if stored.content is not None]

    def stored(self, numbers: Iterable[int]) -> list[Stored]:
        """Return the records with these numbers as they stand, oldest first."""
        rows = self._connection.execute(self._sql["records"], {"nos": json.dumps(sorted(set(numbers)))})
        return [self._opened(row) for row in rows]

    def after(self, no: int, most: int) -> list[Stored]:
        """Return up to `most` records after this number, as they stand."""
        rows = self._connection.execute(self._sql["records_after"], {"no": no, "most": most})
        return [self._opened(row) for row in rows]

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
            text = self.texts.text(digest)
            if text is None:
                lost.append(digest.hex()[:16])
            return text

        try:
            content = packing.decompress(*stored)
            value = packing.unpack(content, text_of)
        except ValueError as error:
            return None, None, f"cannot be read: {error}"
        return content, value, f"has lost the text {', '.join(lost)}" if lost else ""
