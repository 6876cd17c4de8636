"""A damaged database is moved aside, with its log; what can be read of it is brought back, and recording goes on.

Numbers stay: where a record cannot be read, one that says so stands in its place. What a witness still holds (the
spool, OpenClaw's transcripts) is read again by the recorder, since the new file knows no cursor. A kill at any step
leaves the old file or the new one, and the next start goes on. The caller holds the lock. What goes from one file into
the other: recovery.py.
"""

from __future__ import annotations

import contextlib
import io
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import apsw

from limpet import clock, days
from limpet.errors import Unavailable
from limpet.recording import Recording
from limpet.recovery import Recovery
from limpet.store.mending import mend
from limpet.store.opening import APPLICATION_ID
from limpet.store.salvage import Salvage, is_damaged
from limpet.store.search import path_of
from limpet.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from limpet.settings import Settings

PART, WHOLE, COPY = "rescue-part", "rescue", "rescue-copy"
LOG_MAGIC = b"\x37\x7f\x06"
"""How every log of SQLite's begins (sqlite.org/fileformat2.html, 4.1)."""


@dataclass(frozen=True, slots=True)
class Rescued:
    """What became of a damaged database: where it lies now, and how many of its records could be read.

    From before `kept_from_ms` nothing is taken in again: that was dropped, or may have been forgotten (0: no such).
    """

    moved_to: Path
    records: int
    lost: int
    kept_from_ms: int = 0

    @property
    def sentence(self) -> str:
        """All of it in one sentence."""
        what = f"{self.records:,} of {self.records + self.lost:,} records were read back"
        said = f"The database was damaged and lies at {self.moved_to} now; {what}, and recording goes on in a new one."
        if not self.kept_from_ms:
            return said
        return f"{said} Nothing from before {days.show(self.kept_from_ms, 'UTC')} is read in again."


def look(settings: Settings) -> str:
    """Return what is wrong with the database, "" where nothing is, or where there is none, or it cannot be told."""
    try:
        return is_damaged(settings.db) or _odd(settings.db) if _is_ours(settings.db) else ""
    except (apsw.Error, OSError):
        return ""  # locked, or no permission: that is no damage


def settle(settings: Settings) -> Rescued | None:
    """End what a killed rescue had begun; return what it did. Asked before the database is opened for recording.

    Raises Unavailable, with the code `damaged`, for what SQLite would pass over in silence.
    """
    whole = _beside(settings.db, WHOLE)
    try:
        _remove(_beside(settings.db, PART))
        _remove(_beside(settings.db, COPY))
        if whole.exists():
            return _swap(settings, whole)
        why = _odd(settings.db) if _is_ours(settings.db) else ""
    except OSError:
        return None  # whoever opens it says why it cannot
    if why:
        raise Unavailable(f"{settings.db} is damaged: {why}.", "limpet run  makes it anew.", "damaged")
    return None


def rescue(settings: Settings, progress: Callable[[int], None]) -> Rescued:
    """Bring back what can be read into a new file, and put that in the damaged one's place.

    `progress` is told how many records were looked at. Raises Unavailable where there is no room for it.
    """
    part = _beside(settings.db, PART)
    _remove(part)
    try:
        recording = Recording.open(replace(settings, db=part))
        with contextlib.closing(recording):
            _bring_back(settings, recording, progress)
        part.rename(_beside(settings.db, WHOLE))
        return _swap(settings, _beside(settings.db, WHOLE))
    except OSError as error:
        raise Unavailable(f"{settings.db} is damaged, and no new one can be made: {error.strerror}.") from error


def _bring_back(settings: Settings, recording: Recording, progress: Callable[[int], None]) -> None:
    copy = _beside(settings.db, COPY)
    try:
        salvage = _opened(settings.db, copy)
    except apsw.Error as error:
        Recovery(settings.db, None, recording).run(progress, str(error))
    else:
        with contextlib.closing(salvage):
            Recovery(settings.db, salvage, recording).run(progress)
    finally:
        _remove(copy)


def _opened(db: Path, copy: Path) -> Salvage:
    """Open the damaged file, or, where SQLite does not open it, a copy with a head that it takes."""
    try:
        return Salvage(db)
    except apsw.Error:
        _remove(copy)
        mend(db, copy)
        return Salvage(copy)


def _swap(settings: Settings, whole: Path) -> Rescued:
    """Put the new file in the old one's place. The old log must be gone before: on another file it would be rubbish."""
    db, aside = settings.db, _aside(settings.db)
    for end in ("-wal", "-shm", ""):
        if _beside(db, end, "").exists() and not _beside(aside, end, "").exists():
            os.link(_beside(db, end, ""), _beside(aside, end, ""))
    for end in ("-wal", "-shm"):
        _beside(db, end, "").unlink(missing_ok=True)
    _remove(path_of(db))
    whole.rename(db)
    _sync(db.parent)
    return _counted(db, aside)


def _counted(db: Path, aside: Path) -> Rescued:
    """Return what the new file itself says of its making."""
    with contextlib.closing(SqliteStore(db, writing=False)) as store:
        number = store.records.head()[0]
        (told,) = store.records.fetch([number])
    event = told.body["event"]
    return Rescued(aside, int(event["records"]), int(event["lost"]), int(event.get("kept_from_ms", 0)))


def _odd(db: Path) -> str:
    """Return what SQLite would pass over in silence: a file without a byte, a log whose head means nothing."""
    if db.stat().st_size == 0:
        return "the file is empty"
    log = _beside(db, "-wal", "")
    with log.open("rb") if log.exists() else io.BytesIO() as file:
        head = file.read(32)
    return "its log has lost its head" if len(head) == 32 and head[:3] != LOG_MAGIC else ""


def _is_ours(db: Path) -> bool:
    """Whether the file was Limpet's: by its header, or, where that is damaged, by the index beside it."""
    if not db.is_file():
        return False
    with db.open("rb") as file:
        header = file.read(100)
    return header[68:72] == APPLICATION_ID.to_bytes(4, "big") or path_of(db).exists()


def _aside(db: Path) -> Path:
    """Return where a damaged file is to lie: the same place when a killed rescue goes on."""
    changed_ms = db.stat().st_mtime_ns // 1_000_000 if db.exists() else clock.now_ms()
    return _beside(db, f"damaged-{changed_ms}")


def _beside(path: Path, end: str, dot: str = ".") -> Path:
    return path.with_name(f"{path.name}{dot if end else ''}{end}")


def _remove(path: Path) -> None:
    """Delete a database with its log."""
    for end in ("-wal", "-shm", ""):
        _beside(path, end, "").unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
