"""The hash chain over records: what is hashed, and how the links join. Pure; the store keeps the bytes.

leaf = SHA-256(nonce, every column, the redacted bytes); hash = SHA-256(previous hash, leaf). The nonce is random, and
erased together with the bytes when a record is forgotten: the leaf stays, the chain still verifies, and nobody can
confirm a guess of what stood there.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from limpet.model import Record

GENESIS = bytes(32)
"""The hash before the first record."""


class Link(NamedTuple):
    """One record's place in the chain."""

    nonce: bytes
    leaf: bytes
    hash: bytes


def leaf_of(record: Record, content: bytes, nonce: bytes) -> bytes:
    """Return the leaf of a numbered record with its redacted bytes; each field is preceded by its length."""
    fields = (
        nonce,
        str(record.no).encode(),
        record.id.encode(),
        record.source.encode(),
        record.stream.encode(),
        str(record.seq).encode(),
        record.kind.encode(),
        str(record.arrived_ms).encode(),
        content,
    )
    return hashlib.sha256(b"".join(b"%d:%b" % (len(field), field) for field in fields)).digest()


def chain(previous: bytes, leaf: bytes) -> bytes:
    """Return the hash after this leaf."""
    return hashlib.sha256(previous + leaf).digest()


def link(previous: bytes, record: Record, content: bytes, nonce: bytes) -> Link:
    """Return the link that joins a record to the chain."""
    leaf = leaf_of(record, content, nonce)
    return Link(nonce, leaf, chain(previous, leaf))
