"""Puts a block into a file of the agent's workspace, while agent and human may be writing it, too. Not for its words.

The new version is written beside the file, made durable, and changes places with it in one step. What somebody wrote
into the former one meanwhile is brought over; its name says what it was, so that a run that was killed is made good by
the next one. No byte is lost, and no half-written file is ever seen.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from limpet import clock
from limpet.errors import BadInput, Unavailable
from limpet.note import exchange, folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from limpet.note.block import Merged

FOLDER = "memory"
TRIES = 30
"""How often it begins anew where others keep changing the file."""

PAUSE_S = 0.02
BUSY_S = 2.0
"""How long it waits for a program that has the file open for writing."""

LARGEST = 32 * 1024 * 1024
BESIDE = re.compile(
    r"\.(?P<name>.+)\.limpet-[0-9a-f]{8}\.(?P<new_length>\d+)-(?P<new>[0-9a-f]{16})\.(?P<length>\d+)-(?P<old>[0-9a-f]{16})"
)
"""A version beside the file: length and checksum of the new bytes, and of those that were read."""

LATER = "It is tried again."
KEPT = "Somebody rewrote the note while it was being replaced; what they wrote is in "


@dataclass(frozen=True, slots=True)
class Written:
    """Whether the file was changed, and a warning for people, "" where all is well."""

    changed: bool
    warning: str = ""


@dataclass(frozen=True, slots=True)
class _Version:
    """A file as it was read; `about` is None where there is none."""

    content: bytes = b""
    about: os.stat_result | None = None


def write(workspace: Path, name: str, change: Callable[[bytes], Merged]) -> Written:
    """Change `memory/<name>` of the workspace: `change` gets its bytes (b"" where there is none), gives the new ones.

    Returns once the file was read again and is as `change` wants it. Raises Unavailable or BadInput, with nothing
    changed, where that cannot be done now.
    """
    with _explained(workspace / FOLDER / name), folder.opened(workspace, FOLDER, name) as (place, file):
        warning, changed = _made_good(place, file), False
        for _ in range(TRIES):
            old = _version(place, file)
            new = change(old.content)
            if new.content == old.content:
                return Written(changed, new.warning or warning)
            _check_writable(place, file, old)
            if _replaced(place, file, old, new.content):
                changed = True
            else:
                clock.sleep(PAUSE_S)
            warning = _made_good(place, file) or warning
    raise Unavailable(f"{workspace / FOLDER / name} keeps changing.", LATER)


def read(workspace: Path, name: str) -> bytes:
    """Return what `memory/<name>` holds, b"" where there is no such file. Raises as `write` does."""
    if not (workspace / FOLDER).is_dir():
        return b""
    with _explained(workspace / FOLDER / name), folder.opened(workspace, FOLDER, name, alone=False) as (place, file):
        return _version(place, file).content


def _version(place: int, name: str) -> _Version:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place)
    except FileNotFoundError:
        return _Version()
    try:
        about = os.fstat(fd)
        if not stat.S_ISREG(about.st_mode):
            raise BadInput("It is a folder." if stat.S_ISDIR(about.st_mode) else "It is no file.", "Move it away.")
        if about.st_size > LARGEST:
            raise BadInput(f"It has {about.st_size:,} bytes.", "Move it away: a note that large is none.")
        return _Version(_bytes(fd), about)
    finally:
        os.close(fd)


def _bytes(fd: int) -> bytes:
    parts = []
    while part := os.read(fd, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _check_writable(place: int, name: str, old: _Version) -> None:
    """Refuse a file that its owner does not want changed, and wait for whoever is writing it now."""
    if old.about is None:
        return
    may = os.access(name, os.W_OK, dir_fd=place, effective_ids=True)
    if not may or not old.about.st_mode & 0o222:
        raise Unavailable("It is read-only.", f"Make it writable. {LATER}")
    if not _is_left_alone(place, name):
        raise Unavailable("A program has it open for writing.", LATER)


def _replaced(place: int, name: str, old: _Version, content: bytes) -> bool:
    """Put the new bytes in the place of those that were read; return False where they are not there any more."""
    beside = _beside(name, content, old.content)
    try:
        _write_beside(place, name, beside, content, old)
        if old.about is None:
            return exchange.place(place, beside, name)
        if not _exchanged(place, name, beside, old.about):
            return False
        os.fsync(place)
    except FileNotFoundError:
        return False
    finally:
        _drop_new(place, beside, _sum(content))
    return True


def _exchanged(place: int, name: str, beside: str, old: os.stat_result) -> bool:
    """Let the two change places, if nobody has written since, or does now; what came in between goes back at once."""
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    try:
        with folder.nobody_writing(fd) as alone:
            if not alone or not _of(os.fstat(fd)) == _identity(place, name) == _of(old):
                return False
            exchange.exchange(place, beside, name)
            if _identity(place, beside)[:2] != _of(old)[:2]:
                exchange.exchange(place, beside, name)
                return False
            return True
    finally:
        os.close(fd)


def _beside(name: str, new: bytes, old: bytes) -> str:
    return f".{name}.limpet-{clock.token(4)}.{len(new)}-{_sum(new)}.{len(old)}-{_sum(old)}"


def _write_beside(place: int, name: str, beside: str, content: bytes, old: _Version) -> None:
    part = f"{beside}.part"
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=place)
    try:
        left = memoryview(content)
        while left:
            left = left[os.write(fd, left) :]
        folder.take_over(fd, place, name, old.about)
        os.fsync(fd)
        os.rename(part, beside, src_dir_fd=place, dst_dir_fd=place)
    except BaseException:
        with suppress(OSError):
            os.unlink(part, dir_fd=place)
        raise
    finally:
        os.close(fd)


def _drop_new(place: int, beside: str, new: str) -> None:
    """Take a new version away that did not get its place."""
    with suppress(OSError):
        if _sum(_version(place, beside).content) == new:
            os.unlink(beside, dir_fd=place)


def _made_good(place: int, name: str) -> str:
    """Bring over what was written into former versions of the file, by a run that was killed too; return a warning."""
    warning = ""
    for beside in sorted(os.listdir(place)):
        found = BESIDE.fullmatch(beside.removesuffix(".part").removesuffix(".spare"))
        if not found or found["name"] != name:
            continue
        if beside.endswith(".part"):
            os.unlink(beside, dir_fd=place)
        else:
            warning = _brought_over(place, name, beside, found) or warning
    return warning


def _brought_over(place: int, name: str, beside: str, told: re.Match[str]) -> str:
    if not _is_left_alone(place, beside):
        raise Unavailable("A program still writes into a former version of it.", LATER)
    content = _version(place, beside).content
    if _sum(content) not in (told["new"], told["old"]) and not _is_same(place, name, beside):
        known = next(_known(content, told), None)
        if known is None:
            return _given_back(place, name, beside, told)
        _append(place, name, content[known:])
    os.unlink(beside, dir_fd=place)
    return ""


def _known(content: bytes, told: re.Match[str]) -> Iterator[int]:
    """Yield how many of the first bytes are those that we wrote, or read: what follows is somebody's addition."""
    for length, checksum in ((int(told["new_length"]), told["new"]), (int(told["length"]), told["old"])):
        if _sum(content[:length]) == checksum:
            yield length


def _given_back(place: int, name: str, beside: str, told: re.Match[str]) -> str:
    """Let a version that somebody wrote in the same moment stand; the block goes into it in the next round."""
    ours = _version(place, name).content[: int(told["new_length"])]
    if _sum(ours) != told["new"]:
        return f"{KEPT}{beside}."
    back = _beside(name, _version(place, beside).content, ours)
    exchange.exchange(place, beside, name)
    os.rename(beside, back, src_dir_fd=place, dst_dir_fd=place)
    return _made_good(place, name)


def _is_same(place: int, name: str, beside: str) -> bool:
    return _identity(place, name)[:2] == _identity(place, beside)[:2]


def _append(place: int, name: str, content: bytes) -> None:
    fd = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    try:
        os.write(fd, content)
        os.fsync(fd)
    finally:
        os.close(fd)


def _is_left_alone(place: int, name: str) -> bool:
    """Wait until no program has the file open for writing; return False where one still has."""
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place)
    try:
        return folder.wait_for_writers(fd, BUSY_S)
    finally:
        os.close(fd)


def _identity(place: int, name: str) -> tuple[int, ...]:
    try:
        return _of(os.stat(name, dir_fd=place, follow_symlinks=False))
    except FileNotFoundError:
        return ()


def _of(about: os.stat_result | None) -> tuple[int, ...]:
    return () if about is None else (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what the system says into a sentence that names the file."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        why = "the disk is full" if full else error.strerror or str(error)
        hint = "Make room." if full else "Check its permissions."
        raise Unavailable(f"{path} cannot be written: {why}.", f"{hint} {LATER}") from error
    except (BadInput, Unavailable) as error:
        if str(path) in error.message:
            raise
        raise type(error)(f"{path} cannot be written: {error.message}", error.hint, error.code) from error
