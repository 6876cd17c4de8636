"""How a record's body becomes bytes and back: large texts apart, stored once; the rest as zstd. Pure."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard

from limpet import jsonline

if TYPE_CHECKING:
    from collections.abc import Callable

    from limpet.model import Json

LARGE = 2048
"""A text of more characters than this is stored apart: witnesses repeat each other's outputs."""

SMALL = 150
"""Fewer bytes than this are not worth compressing."""

MARK = "\0body:"
"""Begins a reference to a text stored apart; a text that begins with NUL itself gets another one in front."""

RAW, ZSTD, SHAPED = 0, 1, 2
"""As it is; zstd; zstd with what `shapes.txt` holds as its dictionary: the shapes of hook lines and everyday words.

That file is the same for everybody, and for ever: a dictionary that learned from what is recorded would keep pieces of
what is forgotten. Another one would be another number.
"""

LEVEL = 3
SHAPES = Path(__file__).with_name("shapes.txt")

_decompressor = zstandard.ZstdDecompressor()


def pack(value: Json) -> tuple[bytes, dict[bytes, bytes]]:
    """Return the record's own bytes (what the ledger's hash covers), and the large texts in it by SHA-256."""
    content = jsonline.dump(value)
    if len(content) <= LARGE and b"\\u0000" not in content:
        return content, {}
    bodies: dict[bytes, bytes] = {}
    return jsonline.dump(_without_large(value, bodies)), bodies


def unpack(content: bytes, body: Callable[[bytes], str | None]) -> Json:
    """Return the value; `body` gives a text by its hash, None for one that was forgotten."""
    value = jsonline.parse_text(content.decode("utf-8"))
    return _with_large(value, body) if b"\\u0000" in content else value


def references(content: bytes) -> set[bytes]:
    """Return the hashes of the large texts that a record's own bytes refer to; empty for bytes that cannot be read."""
    if b"\\u0000" not in content:
        return set()
    found: set[bytes] = set()

    def note(digest: bytes) -> str:
        found.add(digest)
        return ""

    try:
        unpack(content, note)
    except ValueError:
        return set()
    return found


def compress(content: bytes) -> tuple[int, bytes]:
    """Return (codec, bytes) for the database."""
    if len(content) > SMALL and len(small := _shaping().compress(content)) < len(content):
        return SHAPED, small
    return RAW, content


def decompress(codec: int, stored: bytes) -> bytes:
    """Return what was compressed. Raises ValueError for a damaged or unknown form."""
    if codec == RAW:
        return stored
    if codec not in (ZSTD, SHAPED):
        raise ValueError(f"unknown codec {codec}")
    try:
        return (_decompressor if codec == ZSTD else _unshaping()).decompress(stored, max_output_size=1 << 28)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


@functools.cache
def _shapes() -> zstandard.ZstdCompressionDict:
    shapes = zstandard.ZstdCompressionDict(SHAPES.read_bytes(), dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    shapes.precompute_compress(level=LEVEL)
    return shapes


@functools.cache
def _shaping() -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=LEVEL, dict_data=_shapes(), write_checksum=False)


@functools.cache
def _unshaping() -> zstandard.ZstdDecompressor:
    return zstandard.ZstdDecompressor(dict_data=_shapes())


def _without_large(value: Json, bodies: dict[bytes, bytes]) -> Json:
    if isinstance(value, dict):
        return {k: _without_large(v, bodies) for k, v in value.items()}
    if isinstance(value, list):
        return [_without_large(v, bodies) for v in value]
    if not isinstance(value, str):
        return value
    if len(value) > LARGE:
        text = value.encode("utf-8")
        digest = hashlib.sha256(text).digest()
        bodies[digest] = text
        return MARK + digest.hex()
    return "\0" + value if value.startswith("\0") else value


def _with_large(value: Json, body: Callable[[bytes], str | None]) -> Json:
    if isinstance(value, dict):
        return {k: _with_large(v, body) for k, v in value.items()}
    if isinstance(value, list):
        return [_with_large(v, body) for v in value]
    if not isinstance(value, str) or not value.startswith("\0"):
        return value
    if value.startswith(MARK):
        text = body(bytes.fromhex(value[len(MARK) :]))
        return "⟦a text that is not kept any more⟧" if text is None else text
    return value[1:]
