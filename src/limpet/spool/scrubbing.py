"""Lines of the spool that are committed, and whose record was forgotten: made blank where they stand.

A segment that its producer still writes cannot be deleted: the producer might just be writing. Blank lines are no lines
to any reader, and what comes after them keeps its place. Not for lines that still wait.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from limpet.errors import BadInput, Unavailable
from limpet.spool.line import record_of
from limpet.spool.reader import SEGMENT_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from limpet.model import Json


def scrub(spool: Path, cursor: Mapping[str, Json], forgotten: Callable[[Collection[str]], Collection[str]]) -> int:
    """Blank the committed lines of forgotten records; return how many that were.

    `forgotten` says which of some record ids are. Raises Unavailable where a segment cannot be changed.
    """
    return sum(_scrub(path, int(cursor.get(item) or 0), forgotten) for item, path in _segments(spool))


def _segments(spool: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(spool.glob("*/*.jsonl")):
        if (found := SEGMENT_NAME.fullmatch(path.name)) and path.is_file() and not path.is_symlink():
            yield f"{path.parent.name}/{int(found[1])}", path


def _scrub(path: Path, committed: int, forgotten: Callable[[Collection[str]], Collection[str]]) -> int:
    try:
        with path.open("r+b") as file:
            lines: dict[str, list[tuple[int, int]]] = {}
            while file.tell() < committed and (line := file.readline()).endswith(b"\n"):
                if record_id := _id_of(line):
                    lines.setdefault(record_id, []).append((file.tell() - len(line), len(line)))
            gone = [span for one in forgotten(lines.keys()) for span in lines[one]]
            for at, length in gone:
                file.seek(at)
                file.write(b" " * (length - 1))
            file.flush()
            os.fsync(file.fileno())
    except FileNotFoundError:
        return 0  # it was wholly committed, and is deleted
    except OSError as error:
        raise Unavailable(f"{path} cannot be changed: {error.strerror}.", "Check its owner and permissions.") from error
    return len(gone)


def _id_of(line: bytes) -> str:
    try:
        return record_of(line, "", 0, 0).id
    except BadInput:
        return ""
