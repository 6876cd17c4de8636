"""Older transcripts and archives of one agent, `sessions/*.jsonl*`, as records. Not for the live database."""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from limpet.errors import Unavailable
from limpet.model import Batch, Record, Reject
from limpet.runtimes.lines import lines
from limpet.runtimes.openclaw import layout
from limpet.runtimes.openclaw.names import SessionNames
from limpet.runtimes.openclaw.reading import TranscriptReading
from limpet.runtimes.openclaw.records import SOURCE, Place
from limpet.runtimes.unpacking import DAMAGE, skip, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from limpet.model import Json

BATCH_LINES = 500
BATCH_BYTES = 4 << 20

PAUSE_MS = 1000
"""These files change rarely: once all is read, they are looked at again after this time."""

MARK_BYTES = 512


@dataclass(frozen=True, slots=True)
class Archive:
    """One file: its name below the sessions folder, what the name says, and what the file system says.

    `grows` is False for what is written once; `touched_ns` also changes when the file may be read again.
    """

    path: Path
    name: str
    session: str
    grows: bool
    packed: bool
    size: int
    written_ns: int
    touched_ns: int


@dataclass(frozen=True, slots=True)
class Position:
    """How far a file was read: a cursor item.

    `at` is the offset behind the last line taken, in unpacked bytes, and `lines` how many were, in this file
    and in what stood under its name before; `session` is what the last header named; `mark` stands for the
    bytes before `at`, by which a file that was replaced is known. `size` and `touched_ns` are the file's when
    it was last opened, and `whole` says that it was then read to its end.
    """

    at: int = 0
    lines: int = 0
    session: str = ""
    mark: str = ""
    size: int = -1
    touched_ns: int = 0
    whole: bool = False

    @classmethod
    def of(cls, item: Json, archive: Archive) -> Position:
        """Return where to go on in the file: from the start where it is not the one that was read."""
        at = cls(**item) if item else cls()
        if at.is_same(archive) or (not archive.packed and _mark(archive.path, at.at) == at.mark):
            return at
        return cls(lines=at.lines)

    @classmethod
    def after(cls, reading: TranscriptReading, archive: Archive, *, whole: bool) -> Position:
        """Return where a pass over the file stands now."""
        mark = "" if archive.packed else _mark(archive.path, reading.at)
        same = (archive.size, archive.touched_ns)
        return cls(reading.at, reading.lines, reading.session, mark, *same, whole)

    def is_same(self, archive: Archive) -> bool:
        """Whether nothing has happened to the file since it was last opened."""
        return (self.size, self.touched_ns) == (archive.size, archive.touched_ns)


class ArchiveSource:
    """The transcript files of one agent. The cursor has an item for each file: see Position."""

    def __init__(self, agent: str, folder: Path, database: Path | None = None) -> None:
        """Name the agent, its `sessions` folder, and the database that knows which session was whose."""
        self.key = f"openclaw.archives:{agent}"
        self._agent = agent
        self._folder = folder
        self._names = SessionNames(folder, database)
        self._unfinished: TranscriptReading | None = None
        self._whole: dict[str, Json] | None = None
        self._looked_ms = 0

    def read(self, cursor: Mapping[str, Json], now_ms: int) -> Batch:
        """Return the next entries: newest file first, each from its start.

        A file that shrank or was replaced is read from its start; one that is gone deletes nothing; a
        half-written last line waits. Raises Unavailable when the folder cannot be listed.
        """
        if self._whole == cursor and 0 <= now_ms - self._looked_ms < PAUSE_MS:
            return Batch()
        archives = archives_in(self._folder)
        taken = self._take([a for a in archives if not _is_done(cursor.get(a.name), a)], cursor, now_ms)
        gone = dict.fromkeys(cursor.keys() - {archive.name for archive in archives})
        batch = Batch(tuple(taken.records), {**taken.moved, **gone}, taken.is_full, tuple(taken.rejects))
        after = {item: at for item, at in {**cursor, **batch.cursor}.items() if at is not None}
        self._whole, self._looked_ms = None if batch.more else after, now_ms
        return batch

    def _take(self, changed: Sequence[Archive], cursor: Mapping[str, Json], now_ms: int) -> _Taken:
        taken = _Taken(now_ms)
        names = self._names.known(now_ms) if changed else {}
        for archive in changed:
            if taken.is_full:
                break
            reading = self._reading(archive, Position.of(cursor.get(archive.name), archive), names)
            self._unfinished = None if taken.take(archive, reading) else reading
        return taken

    def _reading(
        self, archive: Archive, position: Position, names: Mapping[str, Mapping[str, str]]
    ) -> TranscriptReading:
        """Return the pass over a file from where it stands; the last batch's own where it goes on."""
        last = self._unfinished
        if last and (last.name, last.at, last.lines) == (archive.name, position.at, position.lines):
            return last
        reading = TranscriptReading(archive.name, Place(self._agent, archive.session), names)
        reading.go_on(position.at, position.lines, position.session, lambda: unpacked(archive.path))
        return reading


def archives_in(folder: Path) -> Sequence[Archive]:
    """Return the transcript files of a sessions folder, the last written first. Raises Unavailable."""
    found = [*_archives(folder, cold=False), *_archives(folder / "cold", cold=True)]
    return sorted(found, key=lambda archive: (-archive.written_ns, archive.name))


def _archives(folder: Path, *, cold: bool) -> Iterator[Archive]:
    for entry in _entries(folder):
        said = layout.transcript_file(entry.name)
        if said is None or cold != layout.is_cold(entry.name):
            continue
        try:
            stat = entry.stat()
        except OSError:
            continue  # it went away meanwhile
        yield Archive(
            path=Path(entry.path),
            name=f"cold/{entry.name}" if cold else entry.name,
            session=said.session,
            grows=entry.name.endswith(".jsonl"),
            packed=said.packed,
            size=stat.st_size,
            written_ns=stat.st_mtime_ns,
            touched_ns=stat.st_ctime_ns,
        )


def _entries(folder: Path) -> Sequence[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if entry.is_file()]
    except FileNotFoundError:
        return ()
    except OSError as error:
        sentence = f"The folder {folder} cannot be read: {error.strerror}."
        raise Unavailable(sentence, "Check its owner and permissions.", "unreadable") from error


def _is_done(item: Json, archive: Archive) -> bool:
    position = Position(**item) if item else Position()
    return position.whole and position.is_same(archive)


def _mark(path: Path, at: int) -> str:
    """Return what stands for the bytes before an offset: a digest of the first and the last of them."""
    if not at:
        return ""
    try:
        with path.open("rb") as file:
            head = file.read(min(at, MARK_BYTES))
            file.seek(max(0, at - MARK_BYTES))
            tail = file.read(min(at, MARK_BYTES))
    except OSError:
        return ""
    return hashlib.sha256(head + b"\n" + tail).hexdigest()[:16]


class _Taken:
    """What one look takes, at most a batch."""

    def __init__(self, now_ms: int) -> None:
        self.records: list[Record] = []
        self.rejects: list[Reject] = []
        self.moved: dict[str, Json] = {}
        self._now_ms = now_ms
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        return len(self.records) + len(self.rejects) >= BATCH_LINES or self._bytes >= BATCH_BYTES

    def take(self, archive: Archive, reading: TranscriptReading) -> bool:
        """Take the next entries of a file; return whether it is read to its end.

        A file that cannot be opened is told once, until something happens to it.
        """
        whole = True
        try:
            with unpacked(archive.path) as file:
                skip(file, reading.at)
                whole = self._all_of(reading, file, archive)
        except FileNotFoundError:
            return True
        except DAMAGE as error:
            self.rejects.append(Reject(SOURCE, archive.name, f"The file is damaged: {error}.", b""))
        except OSError as error:
            self.rejects.append(Reject(SOURCE, archive.name, f"The file cannot be read: {error.strerror}.", b""))
        self.moved[archive.name] = asdict(Position.after(reading, archive, whole=whole))
        return whole

    def _all_of(self, reading: TranscriptReading, file: BinaryIO, archive: Archive) -> bool:
        """Take lines as long as there is room; return whether that was all."""
        for line in lines(file, reading.at):
            if self.is_full:
                return False
            if not line.whole and archive.grows:
                return True
            told = reading.take(line, self._now_ms)
            self._bytes += line.end - line.start
            if isinstance(told, Record):
                self.records.append(told)
            elif told is not None:
                self.rejects.append(told)
        return True
