"""The consuming end of the spool: whole lines only, newest segment first, files deleted once committed."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limpet import clock, jsonfile, jsonline
from limpet.errors import BadInput, Unavailable
from limpet.model import Batch, Record, Reject
from limpet.spool.line import DEFAULT_SOURCE, record_of
from limpet.spool.writer import PRODUCER_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from limpet.model import Json

BATCH_RECORDS = 1000
BATCH_BYTES = 4 << 20
QUIET_MS = 600_000
"""A producer starts a new segment after 60 s, so one that was not written for ten minutes never will be again."""

PROBE_BYTES = 4096
SEGMENT_NAME = re.compile(r"(\d{1,9})\.jsonl")


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of the spool; `item` is its cursor's name, `closed` that no one will write to it any more."""

    path: Path
    item: str
    size: int
    written_ms: int
    closed: bool


class SpoolSource:
    """The spool as a source of records."""

    key = "spool"

    def __init__(self, spool: Path) -> None:
        """Name the spool folder; it may not exist yet."""
        self._spool = spool

    def read(self, cursor: Mapping[str, Json], now_ms: int) -> Batch:
        """Return the next lines, newest segment first; delete segments that are closed and wholly committed.

        Raises Unavailable when the spool cannot be listed.
        """
        segments = self._segments(now_ms)
        moved: dict[str, Json] = {item: None for item in cursor if item not in {s.item for s in segments}}
        records: list[Record] = []
        rejects: list[Reject] = []
        room = BATCH_BYTES
        for segment in segments:
            offset = _offset(cursor, segment)
            if offset >= segment.size:
                if segment.closed and _forget(segment):
                    moved[segment.item] = None
                continue
            if room <= 0 or len(records) >= BATCH_RECORDS:
                return Batch(tuple(records), moved, more=True, rejects=tuple(rejects))
            chunk = _Chunk(segment, offset, now_ms)
            chunk.read(min(room, BATCH_BYTES), BATCH_RECORDS - len(records))
            records += chunk.records
            rejects += chunk.rejects
            room -= chunk.end - offset
            if chunk.end != offset:
                moved[segment.item] = chunk.end
        return Batch(tuple(records), moved, more=room <= 0 or len(records) >= BATCH_RECORDS, rejects=tuple(rejects))

    def taken(self, cursor: Mapping[str, Json], now_ms: int) -> Iterator[tuple[str, Sequence[Record], bool]]:
        """Yield each segment that is still there, by name, with the records that the cursor says were taken from it.

        The last one is whether the cursor stands at the end of a line, as it always should. Raises Unavailable.
        """
        for segment in self._segments(now_ms):
            if offset := _offset(cursor, segment):
                chunk = _Chunk(segment, 0, now_ms)
                chunk.read(offset, offset)  # a line has at least one byte
                yield segment.item, chunk.records, chunk.end == offset

    def pending_bytes(self, cursor: Mapping[str, Json], now_ms: int) -> int:
        """Return how many bytes wait that were not yet committed."""
        return sum(s.size - _offset(cursor, s) for s in self._segments(now_ms))

    def oldest_pending_ms(self, cursor: Mapping[str, Json], now_ms: int) -> int | None:
        """Return when the oldest waiting segment was last written, or None when nothing waits."""
        waiting = [s.written_ms for s in self._segments(now_ms) if s.size > _offset(cursor, s)]
        return min(waiting, default=None)

    def fault(self) -> str:
        """Return why nothing could be written into the spool now, "" where it could: a full disk, no permission."""
        if not self._spool.is_dir():
            return ""
        probe = self._spool / f".probe-{os.getpid()}"
        try:
            fd = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(fd, bytes(PROBE_BYTES))
            finally:
                os.close(fd)
                probe.unlink()
        except OSError as error:
            return error.strerror or "it cannot be written"
        return ""

    def living(self, now_ms: int) -> frozenset[str]:
        """Return the plugins that still live: their process does, or, where that is unseen, they wrote a while ago."""
        return frozenset(folder.name for folder in self._folders() if _is_plugin(folder) and _is_alive(folder, now_ms))

    def _folders(self) -> Sequence[Path]:
        try:
            found = [entry for entry in os.scandir(self._spool) if entry.is_dir(follow_symlinks=False)]
            return [Path(entry.path) for entry in found if entry.name.isprintable()]  # a producer's name is a uuid
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise Unavailable(
                f"The spool {self._spool} cannot be read: {error.strerror}.",
                "Check its owner and permissions.",
            ) from error

    def _segments(self, now_ms: int) -> Sequence[Segment]:
        found = [segment for folder in self._folders() for segment in _segments_of(folder, now_ms)]
        return sorted(found, key=lambda s: (-s.written_ms, s.item))


def _offset(cursor: Mapping[str, Json], segment: Segment) -> int:
    """Return how far a segment was read; one that is shorter than that is another file now, and read from its start."""
    offset = int(cursor.get(segment.item) or 0)
    return offset if offset <= segment.size else 0


def _segments_of(folder: Path, now_ms: int) -> Iterator[Segment]:
    numbers = sorted(int(m[1]) for name in _names(folder) if (m := SEGMENT_NAME.fullmatch(name)))
    if not numbers:
        _remove_empty(folder, now_ms)
        return
    gone = _is_gone(folder)
    for number in numbers:
        path = folder / f"{number}.jsonl"
        try:
            found = path.lstat()
        except OSError:
            continue
        if not stat.S_ISREG(found.st_mode):
            continue  # no producer makes links, folders or pipes
        written_ms = found.st_mtime_ns // 1_000_000
        closed = number != numbers[-1] or gone or written_ms < now_ms - QUIET_MS
        yield Segment(path, f"{folder.name}/{number}", found.st_size, written_ms, closed)


def _names(folder: Path) -> Sequence[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return ()


def _is_gone(folder: Path) -> bool:
    """Whether the process that made this folder has ended.

    Only a process id of our own space says anything: a producer in another container is known by its silence alone.
    """
    identity = _identity(folder)
    boot = identity.get("boot")
    if boot and boot != clock.boot_id():
        return True
    return _is_of_our_space(identity) and clock.process_start(identity["pid"]) != str(identity.get("start"))


def _is_plugin(folder: Path) -> bool:
    """Whether a runtime's plugin made this folder: a program that uses our functions does not name itself in it."""
    return "producer" in _identity(folder)


def _is_alive(folder: Path, now_ms: int) -> bool:
    identity = _identity(folder)
    if _is_of_our_space(identity):
        return not _is_gone(folder)
    times = [written for segment in _segments_of(folder, now_ms) if (written := segment.written_ms)]
    return bool(identity) and not _is_gone(folder) and max(times, default=0) >= now_ms - QUIET_MS


def _is_of_our_space(identity: Mapping[str, Any]) -> bool:
    return identity.get("ns") == clock.pid_space() and isinstance(identity.get("pid"), int)


def _identity(folder: Path) -> Mapping[str, Any]:
    """Return what a producer said of itself, {} where that cannot be read."""
    try:
        identity = jsonfile.read(folder / PRODUCER_FILE)
    except (OSError, ValueError):
        return {}
    return identity if isinstance(identity, dict) else {}


def _remove_empty(folder: Path, now_ms: int) -> None:
    """Take an ended producer's folder away; where anything else lies in it, what it said of itself stays, too.

    Without that word a segment that comes after all would wait for ten quiet minutes before it is deleted.
    """
    if not set(_names(folder)) <= {PRODUCER_FILE}:
        return
    try:
        quiet = folder.stat().st_mtime_ns // 1_000_000 < now_ms - QUIET_MS
        if _is_gone(folder) or (
            quiet and not _is_of_our_space(_identity(folder))
        ):  # a stopped plugin is still known by it
            (folder / PRODUCER_FILE).unlink(missing_ok=True)
            folder.rmdir()
    except OSError:
        return  # it is gone already, or not ours


def _forget(segment: Segment) -> bool:
    """Delete a committed segment; False when it has grown meanwhile or cannot be deleted."""
    try:
        if segment.path.lstat().st_size != segment.size:
            return False
        segment.path.unlink()
    except OSError:
        return False
    return True


class _Chunk:
    """What one read takes from one segment."""

    def __init__(self, segment: Segment, offset: int, now_ms: int) -> None:
        self.segment = segment
        self.end = offset
        self.records: list[Record] = []
        self.rejects: list[Reject] = []
        self._now_ms = now_ms

    def read(self, room: int, most: int) -> None:
        try:
            fd = os.open(self.segment.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise Unavailable(
                f"{self.segment.path} cannot be read: {error.strerror}.", "Check its owner and permissions."
            ) from error
        with os.fdopen(fd, "rb") as file:
            file.seek(self.end)
            self._take(file, room, most)

    def _take(self, file: Any, room: int, most: int) -> None:
        start = self.end
        while self.end - start < room and len(self.records) < most:
            line = file.readline(jsonline.MAX_LINE + 1)
            if not line.endswith(b"\n"):
                self._tail(file, line)
                return
            self._add(line)
            self.end += len(line)

    def _tail(self, file: Any, line: bytes) -> None:
        if len(line) > jsonline.MAX_LINE:
            self._skip_long(file, line)
        elif line and self.segment.closed and self.end + len(line) == self.segment.size:
            self._reject(line, "the producer ended in the middle of this line")
            self.end += len(line)

    def _skip_long(self, file: Any, head: bytes) -> None:
        length = len(head)
        while piece := file.readline(jsonline.MAX_LINE):
            length += len(piece)
            if piece.endswith(b"\n"):
                break
        else:
            if not self.segment.closed:
                return  # it is still being written
        self._reject(head[:65536], f"a line of {length:,} bytes, over the limit of {jsonline.MAX_LINE:,}")
        self.end += length

    def _add(self, line: bytes) -> None:
        if not line.strip():
            return
        if b"\0" in line:
            # No producer writes one: JSON spells it \u0000. After a power cut whole sectors may be zeros, and what
            # stands around them may by accident be a line of its own.
            self._reject(line, "a part of this line was never written to the disk")
            return
        producer, _, number = self.segment.item.partition("/")
        try:
            self.records.append(record_of(line, producer, (int(number) << 32) + self.end, self._now_ms))
        except BadInput as error:
            self._reject(line, error.message)

    def _reject(self, content: bytes, reason: str) -> None:
        where = f"{self.segment.item} at byte {self.end}"
        self.rejects.append(Reject(DEFAULT_SOURCE, where, reason, content))
