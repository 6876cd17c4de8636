"""The folder of a note: opened without leaving the workspace by a link, held by one at a time. Not for files."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from limpet import clock
from limpet.errors import BadInput, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_S = 30.0
"""How long one waits for another that writes a note in the same folder."""

PAUSE_S = 0.01
NO_LEASE_S = 0.2
"""How long is waited for writers where the system cannot tell whether there are any."""

OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def opened(workspace: Path, below: str, name: str, *, alone: bool = True) -> Iterator[tuple[int, str]]:
    """Open the folder in which `<workspace>/<below>/<name>` really lies, making `below`; yield it and the name there.

    With `alone`, no other of us is in it. Raises Unavailable without a workspace, BadInput for a link that leads out
    of it, OSError for all else.
    """
    root = Path(os.path.realpath(workspace))
    if not root.is_dir():
        raise Unavailable(f"There is no workspace at {workspace}.", "Start its agent once, or name it in config.toml.")
    if alone:
        _make(root, workspace / below)
    target = Path(os.path.realpath(workspace / below / name))
    if not target.is_relative_to(root):
        raise BadInput("It is a link that leads out of the workspace.", "Put a file or a folder in its place.")
    place = _walked(root, target.parent.relative_to(root))
    try:
        if alone:
            _hold(place)
        yield place, target.name
    finally:
        os.close(place)


def _make(root: Path, path: Path) -> None:
    """Make the folder as open as its workspace is, and its owner's; what is a link or stands there already stays."""
    if path.is_symlink() or path.is_dir():
        return
    if path.exists():
        raise BadInput(f"A file stands where the folder {path} should be.", "Move it away.")
    about = root.stat()
    path.mkdir(mode=about.st_mode & 0o777)
    path.chmod(about.st_mode & 0o777)  # a sidecar's umask lets nobody in
    if about.st_uid != os.geteuid():
        with suppress(PermissionError):
            os.chown(path, about.st_uid, about.st_gid)


def _walked(root: Path, way: Path) -> int:
    """Open a folder step by step, so that no link that is put in its way meanwhile leads out."""
    place = os.open(root, OPEN)
    for part in way.parts:
        try:
            below = os.open(part, OPEN, dir_fd=place)
        finally:
            os.close(place)
        place = below
    return place


def _hold(place: int) -> None:
    """Take the kernel's lock on the folder; it goes with the process."""
    end = clock.monotonic_s() + PATIENCE_S
    while True:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if clock.monotonic_s() > end:
                raise Unavailable("Another Limpet is writing there.", "It is tried again.") from None
            clock.sleep(PAUSE_S)
        except OSError:
            return  # a file system without locks
        else:
            return


def wait_for_writers(fd: int, seconds: float) -> bool:
    """Wait until no process has this file, open for reading, open for writing; return False when one still has."""
    end = clock.monotonic_s() + seconds
    while (free := _lease(fd)) is False and clock.monotonic_s() < end:
        clock.sleep(PAUSE_S)
    if free:
        _let_go(fd)
    elif free is None:
        clock.sleep(NO_LEASE_S)
    return free is not False


@contextmanager
def nobody_writing(fd: int) -> Iterator[bool]:
    """Yield whether nobody has this file, open for reading, open for writing; who wants to meanwhile waits a moment.

    Where the system cannot tell, it is taken to be so.
    """
    free = _lease(fd)
    try:
        yield free is not False
    finally:
        if free:
            _let_go(fd)


def _lease(fd: int) -> bool | None:
    """Take a read lease, which is given only where nobody writes (fcntl(2)); None where the system has none."""
    try:
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)  # who opens it then makes a signal: one that does nothing
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return False if error.errno == errno.EAGAIN else None
    except AttributeError:
        return None  # not Linux
    return True


def _let_go(fd: int) -> None:
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def take_over(fd: int, place: int, name: str, old: os.stat_result | None) -> None:
    """Give a new file mode, owner and attributes of the one it replaces, or the first two of its folder."""
    about = old or os.fstat(place)
    mine = os.fstat(fd)
    if (about.st_uid, about.st_gid) != (mine.st_uid, mine.st_gid):
        try:
            os.fchown(fd, about.st_uid, about.st_gid)
        except PermissionError:
            if old is not None:
                raise
    os.fchmod(fd, about.st_mode & 0o7777 if old else about.st_mode & 0o666)
    if old is not None and hasattr(os, "listxattr"):
        _copy_attributes(fd, place, name)


def _copy_attributes(fd: int, place: int, name: str) -> None:
    former = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    try:
        for attribute in os.listxattr(former):
            with suppress(OSError):  # some are the system's own
                os.setxattr(fd, attribute, os.getxattr(former, attribute))
    except OSError:
        return  # a file system without them
    finally:
        os.close(former)
