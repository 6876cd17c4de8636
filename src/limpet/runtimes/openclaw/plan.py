"""A plan to change files, in sentences and in bytes, and how it is carried out. Not for making it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from limpet import clock
from limpet.errors import Unavailable


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after, as bytes; None: there is no such file."""

    path: Path
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done: sentences for people, changes for `apply` (none: nothing is to be done)."""

    sentences: tuple[str, ...]
    changes: tuple[Change, ...] = ()


def apply(plan: Plan) -> None:
    """Make the changes, each whole or not at all. Raises Unavailable where a file has changed meanwhile."""
    for change in plan.changes:
        try:
            _write(change)
        except OSError as error:
            raise Unavailable(f"{change.path} cannot be written: {error}.", "Check its permissions.") from error


def content(path: Path) -> bytes | None:
    """Return what is in a file, None if there is no such file."""
    return path.read_bytes() if path.exists() else None


def _write(change: Change) -> None:
    target = Path(os.path.realpath(change.path))
    if content(target) != change.before:
        raise Unavailable(f"{change.path} has changed meanwhile.", "Run this again.")
    if change.after is None:
        target.unlink()
        return
    fresh = target.with_name(f".{target.name}.{clock.token(4)}")
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            _take_over(fd, target)
            file.write(change.after)
            file.flush()
            os.fsync(fd)
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _take_over(fd: int, target: Path) -> None:
    """Give the new file the mode and the owner of the one it replaces."""
    if target.exists():
        old = target.stat()
        os.fchmod(fd, old.st_mode & 0o7777)
        if (old.st_uid, old.st_gid) != (os.fstat(fd).st_uid, os.fstat(fd).st_gid):
            os.fchown(fd, old.st_uid, old.st_gid)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
