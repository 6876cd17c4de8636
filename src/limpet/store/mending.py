"""A copy of a database that SQLite does not even open, with a head that it takes. Never the file itself.

The first hundred bytes say how large a page is and how many there are, nothing that anybody told: they can be written
anew (sqlite.org/fileformat2.html, 1.3). A file that is too short gets empty pages, so that those before can be read.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MAGIC = b"SQLite format 3\0"
HEAD, PAGE = 100, 4096
LOG = b"\2\2"
"""The versions, for writing and reading, of a file with a write-ahead log."""


def mend(path: Path, copy: Path) -> None:
    """Make the copy, with the log. Raises OSError where there is no room for it."""
    for suffix in ("", "-wal"):
        if (file := path.with_name(path.name + suffix)).exists():
            shutil.copyfile(file, copy.with_name(copy.name + suffix))
    with copy.open("r+b") as target:
        head = target.read(HEAD)
        size = target.seek(0, 2)
        if head[:18] == MAGIC + PAGE.to_bytes(2, "big") and head[18:20] == LOG:
            target.truncate(max(size, int.from_bytes(head[28:32], "big") * PAGE))
        else:
            pages = -(-size // PAGE)
            target.truncate(pages * PAGE)
            target.seek(0)
            target.write(_head(pages))


def _head(pages: int) -> bytes:
    """Return a head for so many pages: UTF-8, nothing free, and the fractions that every file has."""
    head = bytearray(HEAD)
    head[:24] = MAGIC + PAGE.to_bytes(2, "big") + LOG + bytes((0, 64, 32, 32))
    for at, value in ((24, 1), (28, pages), (40, 1), (44, 4), (56, 1), (92, 1)):
        head[at : at + 4] = value.to_bytes(4, "big")
    return bytes(head)
