"""One `limpet` command on a disk that fails at its nth step of writing, once or from then on. Run as a program.

`faultycommand.py KIND FIRST HOW ARGUMENTS...`: KIND is `full`, `eio`, `sync` or `readonly`; FIRST counts from 1 (0: no
fault); HOW is `once` or `on`. How many steps there were is left in the file `steps` of the working folder. A step is a
write or a sync of SQLite's, a file that is opened for writing, put in another's place, or synced.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import sys
from pathlib import Path
from typing import Any

import apsw

from limpet.cli.main import main

SQLITE = {"full": apsw.FullError, "eio": apsw.IOError, "sync": apsw.IOError, "readonly": apsw.ReadOnlyError}
NUMBERS = {"full": errno.ENOSPC, "eio": errno.EIO, "sync": errno.EIO, "readonly": errno.EROFS}
WRITING = os.O_WRONLY | os.O_RDWR


class Disk(apsw.VFS):
    """The system's own file system, for SQLite and for Python, which counts and refuses."""

    def __init__(self, kind: str, first: int, *, once: bool) -> None:
        """From now on everything of this process that writes goes through here."""
        self._kind, self._first, self._once = kind, first, once
        self.steps = 0
        self._open, self._fsync, self._replace, self._io_open = os.open, os.fsync, os.replace, io.open
        super().__init__("refusing", "unix", makedefault=True)
        os.open, os.fsync, os.replace, os.rename, os.link = (  # type: ignore[assignment]
            self._opened, self._synced, self._moved(os.replace), self._moved(os.rename), self._moved(os.link)
        )  # fmt: skip
        io.open = builtins.open = self._python_opened  # type: ignore[assignment]

    def xOpen(self, name: Any, flags: list[int]) -> File:  # noqa: N802 - SQLite's names
        """Open a file that may refuse."""
        return File(self, name, flags)

    def refuses(self, doing: str) -> bool:
        """Count a step, and say whether it is one at which the disk fails."""
        if (doing == "sync") != (self._kind == "sync"):
            return False
        self.steps += 1
        return bool(self._first) and (self.steps == self._first if self._once else self.steps >= self._first)

    def check(self, doing: str) -> None:
        """Raise SQLite's error where a fault is due."""
        if self.refuses(doing):
            raise SQLITE[self._kind]("injected")

    def _check(self, doing: str, what: Any) -> None:
        if self.refuses(doing):
            raise OSError(NUMBERS[self._kind], os.strerror(NUMBERS[self._kind]), str(what))

    def _opened(self, path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & WRITING and "lock" not in str(path):
            self._check("write", path)
        return self._open(path, flags, *more, **named)

    def _python_opened(self, file: Any, mode: str = "r", *more: Any, **named: Any) -> Any:
        if set(mode) & set("wxa+") and not isinstance(file, int):
            self._check("write", file)
        return self._io_open(file, mode, *more, **named)

    def _synced(self, fd: int) -> None:
        self._check("sync", fd)
        self._fsync(fd)

    def _moved(self, move: Any) -> Any:
        def moved(source: Any, target: Any, **named: Any) -> None:
            self._check("write", target)
            move(source, target, **named)

        return moved


class File(apsw.VFSFile):
    """One file of it."""

    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        """Open it as the system does."""
        self._disk = disk
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        """Write, or refuse."""
        self._disk.check("write")
        super().xWrite(data, offset)

    def xLock(self, level: int) -> None:  # noqa: N802
        """Lock; a reader that may not is refused in the way that SQLite expects, not by an error of reading."""
        try:
            super().xLock(level)
        except apsw.IOError as error:
            raise apsw.BusyError("a reader cannot lock") from error

    def xSync(self, flags: int) -> None:  # noqa: N802
        """Sync, or refuse."""
        self._disk.check("sync")
        super().xSync(flags)


def run(kind: str, first: int, how: str, arguments: list[str]) -> int:
    """Run the command on such a disk; return its exit status."""
    disk = Disk(kind, first, once=how == "once")
    status = main(arguments)
    disk.__dict__["_first"] = 0
    Path("steps").write_text(str(disk.steps))
    return status


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]))
