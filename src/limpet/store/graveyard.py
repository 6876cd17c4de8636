"""A second copy of what must not come back, beside the database, for when that one cannot be read. Not for asking.

A file of lines that only ever grows: `key from until` for each tombstone, `kept-from MS` for the time before which
nothing is taken in again; each with a check sum. It is written before anything is erased, and holds no word of it.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from limpet.errors import Unavailable
from limpet.store.custody import Tombstone

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

KEPT_FROM = b"kept-from"


@dataclass(frozen=True, slots=True)
class Graveyard:
    """What the file holds; `whole` that every line of it could be read."""

    tombstones: frozenset[Tombstone]
    kept_from_ms: int
    whole: bool


def path_of(db: Path) -> Path:
    """Return where the copy of a database lies."""
    return db.with_name(f"{db.name}.forgotten")


def bury(db: Path, tombstones: Iterable[Tombstone], kept_from_ms: int = 0) -> None:
    """Add what must not come back, synced. Raises Unavailable where that cannot be: then nothing may be erased."""
    told = [b"%d %d %d" % tuple(one) for one in sorted(set(tombstones))]
    told += [b"%b %d" % (KEPT_FROM, kept_from_ms)] if kept_from_ms else []
    content = b"".join(b"\n%b %08x" % (line, zlib.crc32(line)) for line in told) + b"\n"
    path = path_of(db)
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(fd)
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}. Nothing was erased."
        raise Unavailable(message, "Make room, or check its owner and permissions.") from error


def read(db: Path) -> Graveyard | None:
    """Return what the file holds, as far as it can be read; None where there is none: nothing was ever forgotten."""
    try:
        lines = [line for line in path_of(db).read_bytes().split(b"\n") if line]
    except FileNotFoundError:
        return None
    except OSError:
        return Graveyard(frozenset(), 0, whole=False)
    read_well = [told for line in lines if (told := _checked(line)) is not None]
    stones = {Tombstone(*map(int, words)) for words in read_well if len(words) == 3}
    kept = [int(words[1]) for words in read_well if words[0] == KEPT_FROM]
    return Graveyard(frozenset(stones), max(kept, default=0), whole=len(read_well) == len(lines))


def _checked(line: bytes) -> list[bytes] | None:
    """Return the words of a line, None where it is not what was written."""
    said, _, check = line.rpartition(b" ")
    return said.split(b" ") if check == b"%08x" % zlib.crc32(said) else None
