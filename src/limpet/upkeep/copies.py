"""Copies of a memory: made while it is recording, checked before they count, put back only on request."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from limpet import amendment, clock
from limpet.erasing import append
from limpet.errors import BadInput, CheckFailed, LimpetError, NotFound, Unavailable
from limpet.interpretation import Interpretation
from limpet.lock import Lock
from limpet.recording import Recording
from limpet.settings import user_path
from limpet.store.custody import Seal
from limpet.store.search import path_of
from limpet.store.sqlite import SqliteStore
from limpet.upkeep.sealing import BACKUP
from limpet.verification import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from limpet.checking.chain import Sealed
    from limpet.memory import Memory
    from limpet.settings import Settings
    from limpet.verification import Verdict

FRESH_MS = 20 * 3_600_000
"""A copy younger than this is of today."""

HALF = ".half"
COPYING = "copying"
"""The name under which it is kept which half of a copy is being written: a kill may leave it there."""

ASIDE = ".replaced-"


@dataclass(frozen=True, slots=True)
class Copied:
    """A copy that was made or put back: where it lies, and the seal that it ends with."""

    path: Path
    records: int
    events: int
    head: str
    seal: str
    aside: Path | None = None


def known_copies(memory: Memory) -> Iterator[Path]:
    """Yield the files that hold copies of this memory as far as is known: backups, what a take-over or damage left."""
    db = memory.settings.db
    yield from sorted(db.parent.glob(f"{db.name}.before-limpet-*"))
    yield from sorted(db.parent.glob(f"{db.name}{ASIDE}*"))
    yield from sorted(db.parent.glob(f"{db.name}.damaged-*[0-9]"))
    for seal in memory.local().custody.seals():
        if seal.what == BACKUP and Path(seal.place).is_file():
            yield Path(seal.place)
    half = memory.local().state.meta(COPYING)
    if half and Path(half).is_file():
        yield Path(half)


def backup(memory: Memory, path: str | Path, progress: Callable[[int], None], *, replace: bool = False) -> Copied:
    """Copy the database as of one moment, open and verify the copy, and give it its name only then.

    A folder, or a text that ends as one does (`backups/`), gets a file named after the time. Recording goes on
    meanwhile, and the memory remembers the seal that was handed out. Raises BadInput where something lies there and
    `replace` is not said, Unavailable where it cannot be written, CheckFailed for a copy with a fault.
    """
    target = _target(path, memory.settings.db)
    if target.exists() and not replace:
        raise BadInput(f"{target} is there already.", "Name another file, or say --replace.")
    half = target.with_name(f"{target.name}{HALF}")
    with memory.writing() as recording, recording.store.transaction():
        recording.store.state.put_meta(COPYING, str(half))
    _write_copy(memory, half)
    verdict = checked(half, progress)
    half.replace(target)
    _sync_folder(target.parent)
    with memory.writing() as recording, recording.store.transaction():
        seal = Seal(verdict.begins + verdict.records, bytes.fromhex(verdict.head), clock.now_ms(), BACKUP, str(target))
        recording.store.custody.put_seal(seal)
        recording.store.state.put_meta(COPYING, "")
    return Copied(target, verdict.records, verdict.events, verdict.head, verdict.seal)


def restore(settings: Settings, path: Path, progress: Callable[[int], None], *, replace: bool = False) -> Copied:
    """Put a copy back as the memory, after it was verified; what lay there is kept aside.

    The sidecar must not run. Raises NotFound, BadInput where a memory is there and `replace` is not said, Unavailable
    while somebody records, CheckFailed for a copy with a fault: then nothing is changed.
    """
    settings.check_local()
    if not path.is_file():
        raise NotFound(f"There is no file {path}.", "limpet restore --help")
    if settings.db.exists() and not replace:
        raise BadInput(
            f"There is a memory at {settings.db} already.", "Say --replace: what is there is moved aside, not deleted."
        )
    half = settings.db.with_name(f"{settings.db.name}{HALF}")
    lock = Lock(settings.lock)
    if not lock.take():
        raise Unavailable("A sidecar is recording into this memory.", "End it first: openclaw gateway stop")
    try:
        _copy_file(path, half)
        verdict = checked(half, progress)
        aside = _set_aside(settings.db)
        half.replace(settings.db)
        _sync_folder(settings.db.parent)
        _take_up(settings, verdict)
    finally:
        _tidy(half)
        lock.release()
    return Copied(settings.db, verdict.records, verdict.events, verdict.head, verdict.seal, aside)


def nightly(memory: Memory, now_ms: int) -> str:
    """Make a copy in the folder that the settings name, unless the last one is of today; let the oldest go.

    Return a sentence for people, "" where nothing was to be done. Raises what `backup` raises.
    """
    chosen = memory.settings
    if not chosen.backups:
        return ""
    folder = Path(chosen.backups)
    pattern = f"{chosen.db.stem}-[0-9]*Z{chosen.db.suffix}"
    made = sorted(folder.glob(pattern))
    if made and now_ms - made[-1].stat().st_mtime_ns // 1_000_000 < FRESH_MS:
        return ""
    for half in folder.glob(f"{pattern}{HALF}"):
        if now_ms - half.stat().st_mtime_ns // 1_000_000 > FRESH_MS:
            half.unlink()  # somebody was killed while writing it
    path = folder / f"{chosen.db.stem}-{clock.stamp()}{chosen.db.suffix}"
    done = backup(memory, path, lambda _: None)
    for old in sorted(folder.glob(pattern))[: -chosen.backups_kept]:
        old.unlink()
    return f"{done.records:,} records copied to {done.path}, and verified"


def drop_half(db: Path) -> None:
    """Delete what a restore that was killed has left beside the memory."""
    _tidy(db.with_name(f"{db.name}{HALF}"))


def checked(path: Path, progress: Callable[[int], None], seals: tuple[Sealed, ...] = ()) -> Verdict:
    """Return the verdict on a copy, which has no index; raises CheckFailed with the first fault."""
    store = SqliteStore(path, writing=False)
    try:
        with store.snapshot():
            verdict = verify(store, progress, seals=seals, indexed=False)
    finally:
        store.close()
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    if verdict.faults:
        more = f" ({len(verdict.faults) - 1:,} more faults)" if len(verdict.faults) > 1 else ""
        raise CheckFailed(f"The copy has a fault: {verdict.faults[0]}{more}.", f"limpet verify --db {path}")
    return verdict


def _target(said: str | Path, db: Path) -> Path:
    """Return the file to write: in a folder, also in one still to be made, one named after the day and the second."""
    path = user_path(said).absolute()
    if not path.is_dir() and not str(said).endswith(os.sep):
        return path
    return path / f"{db.stem}-{clock.stamp()}{db.suffix}"


def _write_copy(memory: Memory, half: Path) -> None:
    old = os.umask(0o077)
    try:
        half.parent.mkdir(parents=True, exist_ok=True)
        half.unlink(missing_ok=True)  # somebody was killed while writing it
        memory.local().copy_to(half)
        _sync(half)
    except OSError as error:
        raise Unavailable(
            f"{half} cannot be written: {error.strerror}.", "Check the disk and its permissions."
        ) from error
    finally:
        os.umask(old)


def _copy_file(path: Path, half: Path) -> None:
    """Copy a backup beside the memory; one that is in use is copied as of one moment."""
    old = os.umask(0o077)
    try:
        half.parent.mkdir(parents=True, exist_ok=True)
        _tidy(half)
        store = SqliteStore(path, writing=False)
        try:
            store.copy_to(half)
        finally:
            store.close()
        _sync(half)
    except OSError as error:
        raise Unavailable(
            f"{half} cannot be written: {error.strerror}.", "Check the disk and its permissions."
        ) from error
    finally:
        os.umask(old)


def _set_aside(db: Path) -> Path | None:
    """Keep the memory that is there under another name, and take its log away from where the new one will lie.

    A whole one is copied, so that there is a memory at every moment; one that cannot be read is moved, with its log.
    A log beside another database would be taken for its own, and damage it.
    """
    aside = db.with_name(f"{db.name}{ASIDE}{clock.stamp()}") if db.exists() else None
    if aside is not None and not _is_copied(db, aside):
        _tidy(aside)
        for suffix in ("-wal", "-shm", ""):
            with contextlib.suppress(FileNotFoundError):
                db.with_name(db.name + suffix).rename(aside.with_name(aside.name + suffix))
    for suffix in ("-wal", "-shm"):
        db.with_name(db.name + suffix).unlink(missing_ok=True)
    return aside


def _is_copied(db: Path, aside: Path) -> bool:
    old = os.umask(0o077)
    try:
        store = SqliteStore(db, writing=False)
        try:
            store.copy_to(aside)
        finally:
            store.close()
        _sync(aside)
    except (LimpetError, OSError):
        return False
    finally:
        os.umask(old)
    return True


def _take_up(settings: Settings, verdict: Verdict) -> None:
    """Say in the ledger that it was put back, and make the index anew."""
    index = path_of(settings.db)
    for suffix in ("", "-wal", "-shm"):
        index.with_name(index.name + suffix).unlink(missing_ok=True)
    recording = Recording.open(settings)
    try:
        store = recording.store
        with store.transaction():
            said = {"summary": f"put back from a copy that ended at record {verdict.begins + verdict.records:,}"}
            no, digest = store.records.head()
            append(store, Interpretation(store), amendment.RESTORE, amendment.sealed(no, digest, said), clock.now_ms())
        store.empty_index()
        while recording.recorder.index():
            pass
    finally:
        recording.close()


def _tidy(half: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        half.with_name(half.name + suffix).unlink(missing_ok=True)


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _sync_folder(folder: Path) -> None:
    _sync(folder)
