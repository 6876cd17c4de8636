"""Large texts, stored once by their hash and counted: how many records hold each. Not for what is in them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from limpet.store import packing
from limpet.store.sql import queries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from limpet.store.connection import Connection


class Bodies:
    """The body table of one database."""

    def __init__(self, connection: Connection, dialect: str = "sqlite") -> None:
        """Use this connection; writes happen inside the caller's transaction."""
        self._connection = connection
        self._sql = queries(dialect)

    def keep(self, digest: bytes, text: bytes) -> None:
        """Keep a large text, or count one more record that holds it."""
        if self._connection.execute(self._sql["has_body"], (digest,)).fetchone() == (1,):
            self._connection.execute(self._sql["count_body"], (digest,))
        else:
            self._connection.execute(self._sql["add_body"], (digest, *packing.compress(text)))

    def release(self, digests: Iterable[bytes]) -> None:
        """Count one record less that holds each of these texts; one that no record holds goes."""
        for digest in digests:
            self._connection.execute(self._sql["release_body"], (digest,))
            self._connection.execute(self._sql["drop_body"], (digest,))

    def text(self, digest: bytes) -> str | None:
        """Return the large text with this SHA-256, None where it is not kept any more or cannot be read."""
        row = self._connection.execute(self._sql["body"], (digest,)).fetchone()
        try:
            return packing.decompress(row[0], bytes(row[1])).decode("utf-8") if row else None
        except ValueError:
            return None

    def checked(self) -> Iterator[tuple[bytes, str, int]]:
        """Yield, of every large text, the hash that it is kept under, the one that it has (hex), and its count."""
        for digest, refs, codec, stored in self._connection.execute(self._sql["bodies"]):
            yield bytes(digest), kept_and_found(digest, codec, stored)[1], int(refs)


def kept_and_found(digest: bytes, codec: int, stored: bytes) -> tuple[str, str]:
    """Return the hash that a large text is kept under and the one that it has, as hex."""
    try:
        found = hashlib.sha256(packing.decompress(codec, bytes(stored))).hexdigest()
    except ValueError as error:
        found = f"unreadable: {error}"
    return bytes(digest).hex(), found
