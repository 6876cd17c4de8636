"""Opens a file for reading whether it is plain, gzip or zstd. Not for deciding what is in it."""

from __future__ import annotations

import gzip
import io
import zlib
from typing import TYPE_CHECKING, BinaryIO, cast

import zstandard

if TYPE_CHECKING:
    from pathlib import Path

DAMAGE = (zstandard.ZstdError, gzip.BadGzipFile, zlib.error, EOFError)
"""What reading raises when packed bytes are damaged or cut off."""

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def packing(path: Path) -> str:
    """Return how a file is packed, by its first bytes: `gzip`, `zstd` or ""."""
    with path.open("rb") as file:
        head = file.read(4)
    return "gzip" if head.startswith(GZIP) else "zstd" if head == ZSTD else ""


def unpacked(path: Path) -> BinaryIO:
    """Open a file for reading its plain bytes."""
    kind = packing(path)
    if kind == "gzip":
        return cast("BinaryIO", gzip.open(path, "rb"))
    file = path.open("rb")
    if not kind:
        return file
    stream = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True, closefd=True)
    return cast("BinaryIO", io.BufferedReader(cast("io.RawIOBase", stream), 1 << 16))


def skip(file: BinaryIO, count: int) -> None:
    """Move forward by that many bytes, also where the file cannot jump."""
    if file.seekable():
        file.seek(count, io.SEEK_CUR)
        return
    while count > 0 and (piece := file.read(min(count, 1 << 20))):
        count -= len(piece)
