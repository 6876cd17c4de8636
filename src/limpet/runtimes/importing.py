"""Files and folders given to `limpet import`: what they are, and their records. Not for what is read again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from limpet import clock
from limpet.errors import BadInput, LimpetError, NotFound
from limpet.model import Batch, Record, Reject
from limpet.runtimes.databasefile import batches_of_transcripts, is_database, kind_of_database, told_by_script
from limpet.runtimes.linefile import SOURCE, kind_of_lines, told_by_lines
from limpet.runtimes.openclaw import layout
from limpet.runtimes.unpacking import DAMAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

BATCH_RECORDS = 1000
BATCH_BYTES = 4 << 20

LINE_FILES = (".jsonl", ".ndjson", ".jsonl.gz", ".jsonl.zst", ".ndjson.gz", ".ndjson.zst")
"""What a file in a folder is called if it is worth a word that it cannot be read; others are passed over."""


def detect(path: Path) -> str:
    """Return what a path is: `folder`, `hooks`, `transcript`, `script` or `openclaw` (an agent's database).

    Plain, gzip or zstd. Raises NotFound, BadInput when it is something else, Unavailable when it cannot be read.
    """
    path = Path(path)
    if path.is_dir():
        return "folder"
    if not path.exists():
        raise NotFound(f"There is no file {path}.", "Check its name.")
    if not path.is_file():
        raise BadInput(f"{path} is no plain file.", "Give a file or a folder.")
    try:
        return kind_of_database(path) if is_database(path) else kind_of_lines(path)
    except DAMAGE as error:
        raise BadInput(f"{path} is damaged: {error}.", "Unpack it by hand to see what is left of it.") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.", "Check its owner and permissions.") from error


def read(path: Path, zone: str = "UTC", now_ms: int | None = None) -> Iterator[Batch]:
    """Give the records of a file or folder in bounded batches, and what in it could not be read as rejects.

    The same file again gives the same records, wherever it lies. Folders are read newest file first. `zone` is that
    of the local times in the script's database. Raises as `detect` does.
    """
    now = clock.now_ms() if now_ms is None else now_ms
    path = Path(path)
    kind = detect(path)
    yield from _read_folder(path, zone, now) if kind == "folder" else _read_file(path, kind, zone, now)


def _read_file(path: Path, kind: str, zone: str, now_ms: int) -> Iterator[Batch]:
    if kind == "openclaw":
        return batches_of_transcripts(path, now_ms)
    return _batched(told_by_script(path, zone, now_ms) if kind == "script" else told_by_lines(path, kind, now_ms))


def _read_folder(folder: Path, zone: str, now_ms: int) -> Iterator[Batch]:
    found = False
    for path in _files(folder):
        try:
            kind = detect(path)
        except LimpetError as error:
            if path.name.endswith(LINE_FILES) or layout.transcript_file(path.name):
                yield Batch(rejects=(Reject(SOURCE, str(path.relative_to(folder)), error.message, b""),))
            continue
        found = True
        yield from _read_file(path, kind, zone, now_ms)
    if not found:
        raise BadInput(f"{folder} holds nothing that can be imported.", "Give the folder that the files are in.")


def _files(folder: Path) -> Sequence[Path]:
    """Return the files of a folder and those below it, the last written first; hidden folders are left out."""
    found: list[tuple[int, Path]] = []
    for place, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if not name.startswith("."))
        found += [(path.stat().st_mtime_ns, path) for name in names if _is_file(path := Path(place, name))]
    return [path for _, path in sorted(found, key=lambda item: (-item[0], item[1]))]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # not even to be looked at
        return False


def _batched(told: Iterable[tuple[Record | Reject, int]]) -> Iterator[Batch]:
    records: list[Record] = []
    rejects: list[Reject] = []
    size = 0
    for item, length in told:
        if isinstance(item, Record):
            records.append(item)
        else:
            rejects.append(item)
        size += length
        if len(records) + len(rejects) >= BATCH_RECORDS or size >= BATCH_BYTES:
            yield Batch(tuple(records), more=True, rejects=tuple(rejects))
            records, rejects, size = [], [], 0
    yield Batch(tuple(records), rejects=tuple(rejects))
