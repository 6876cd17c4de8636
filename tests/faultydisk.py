"""A sidecar on a disk that fails now and then, or for good: SQLite's file system, refusing. Run as a program.

`faultydisk.py KIND HOW`: KIND is `full`, `eio` (writes) or `sync`; HOW is `rarely`, each time after more that went well,
so that in the end everything goes through, or `always`, once the file `fail` lies in the working folder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import apsw

from limpet import settings, sidecar
from limpet.store import opening

FIRST, STEP, LAST = 2, 3, 70
FAULTS = {"full": apsw.FullError, "eio": apsw.IOError, "sync": apsw.IOError}


class Refusing(apsw.VFS):
    """The system's own file system for SQLite, with faults; `failed` counts them."""

    def __init__(self, kind: str, how: str) -> None:
        """From now on every database of this process is opened here."""
        self._kind, self._how = kind, how
        self._next, self._gap, self.failed = FIRST, FIRST, 0
        super().__init__("refusing", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> File:  # noqa: N802 - SQLite's names
        """Open a file that may refuse."""
        return File(self, name, flags)

    def check(self, doing: str) -> None:
        """Raise the fault where one is due."""
        if (doing == "sync") != (self._kind == "sync") or not self._is_due():
            return
        self.failed += 1
        raise FAULTS[self._kind]("injected")

    def _is_due(self) -> bool:
        if self._how == "always":
            return Path("fail").exists()
        self._next -= 1
        if self._next > 0 or self._gap > LAST:
            return False
        self._gap += STEP
        self._next = self._gap
        return True


class File(apsw.VFSFile):
    """One file of it."""

    def __init__(self, disk: Refusing, name: Any, flags: list[int]) -> None:
        """Open it as the system does."""
        self._disk = disk
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        """Write, or refuse."""
        self._disk.check("write")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        """Sync, or refuse."""
        self._disk.check("sync")
        super().xSync(flags)


def run(kind: str, how: str) -> None:
    """Run the sidecar on it, in less time than a real one takes for a pause."""
    disk = Refusing(kind, how)
    sidecar.RETRY_S = 0.02
    opening.BUSY_MS = 200
    sidecar.Sidecar(settings.load(), lambda line: print(line, file=sys.stderr)).run(until_eof=False)
    print(disk.failed)


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2])
