"""Looks at somebody else's SQLite database as a guest: short, nothing written beside it. Not for ours.

A connection that stays open holds a lock on the file for as long as it lives: the owner's clean stop would
then leave its write-ahead log behind, and its own maintenance would be refused. So each look opens and closes
again (about 1 ms), and the sizes and times of the files say whether there is anything to look at.
"""

from __future__ import annotations

import os
import shutil
import weakref
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import apsw

from limpet.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

T = TypeVar("T")

Signature = tuple[tuple[int, int, int, int] | None, ...]
"""Of the file, its write-ahead log and its journal: device, inode, size, time of change; None if absent."""

ENDS = ("", "-wal", "-journal")

SETTLE_MS = 1000
"""A file that changed this short a time ago may change again without its time showing it."""

TRIES = 3

PATIENCE = 30
"""So many looks in a row may find the database busy before that is worth a word."""

_BUSY = (apsw.BusyError, apsw.LockedError, apsw.ReadOnlyError, apsw.SchemaChangeError)
_DAMAGED = (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError)


class ForeignDatabase:
    """One database file of another program.

    `needs` names the tables and columns without which nothing can be understood. `version` is its
    `user_version`, 0 before the first look.
    """

    def __init__(self, path: Path, needs: Mapping[str, Sequence[str]]) -> None:
        """Name the file; it need not be there yet."""
        self.path = path
        self.version = 0
        self._needs = needs
        self._seen: Signature = ()
        self._settled = False
        self._busy = 0
        self._copy: _Copy | None = None

    def exists(self) -> bool:
        """Return whether there is such a file."""
        return self.path.exists()

    def quiet(self) -> bool:
        """Return whether nothing was written since the last look that succeeded."""
        return self._settled and _signature(self.path) == self._seen

    def look(self, reading: Callable[[apsw.Connection], T], now_ms: int) -> T | None:
        """Return what `reading` gives in one read transaction; None when the owner keeps it busy just now.

        `reading` is called again when the file changed under it. Raises Unavailable with the code `missing`,
        `unreadable`, `damaged` or `schema_unknown`, and `busy` when it has been so for long.
        """
        for _ in range(TRIES):
            before = _signature(self.path)
            if before[0] is None:
                raise Unavailable(f"There is no database {self.path}.", "Check the state folder.", "missing")
            try:
                found, locked = self._read(reading, before)
            except _BUSY:
                continue
            except (apsw.Error, OSError, UnicodeDecodeError) as error:
                raise self._unusable(error) from error
            if locked or _signature(self.path) == before:
                self._seen, self._settled, self._busy = before, _newest_ms(before) + SETTLE_MS < now_ms, 0
                return found
        self._wait()
        return None

    def _read(self, reading: Callable[[apsw.Connection], T], signature: Signature) -> tuple[T, bool]:
        """Return what was found, and whether a lock of SQLite's guarded it against a change meanwhile."""
        connection, locked = self._open(signature)
        with closing(connection) as database:
            database.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            database.execute("BEGIN")
            self._check(database)
            return reading(database), locked

    def _open(self, signature: Signature) -> tuple[apsw.Connection, bool]:
        """Open in the way that shows everything committed and writes nothing into the owner's folder.

        With a write-ahead log and its index: through the index, itself read-only (`readonly_shm`); this also
        works when the owner was killed. Without a log the file alone is complete. With a log but no index
        nobody has it open, and SQLite would make an index there, a file of ours that could lock the owner
        out: so look at a copy.
        """
        log = signature[1]
        if not _has_log_mode(self.path):
            return _connect(self.path, "mode=ro"), True
        if log and _beside(self.path, "-shm").exists():
            self._drop_copy()
            return _connect(self.path, "mode=ro&readonly_shm=1"), True
        if log and log[2]:
            return _connect(self._copied(signature), "mode=ro"), False
        self._drop_copy()
        return _connect(self.path, "mode=ro&immutable=1"), False

    def _copied(self, signature: Signature) -> Path:
        if self._copy is None or self._copy.signature != signature:
            self._drop_copy()
            self._copy = _Copy(self.path, signature)
        return self._copy.path

    def _drop_copy(self) -> None:
        if self._copy is not None:
            self._copy.remove()
            self._copy = None

    def _check(self, database: apsw.Connection) -> None:
        self.version = int(database.pragma("user_version"))
        for table, columns in self._needs.items():
            there = {name for (name,) in database.execute("SELECT name FROM pragma_table_info(?)", (table,))}
            for column in columns:
                if column not in there:
                    raise self._unknown(f"{table}.{column}" if there else table)

    def _unknown(self, lacking: str) -> Unavailable:
        return Unavailable(
            f"{self.path} has a schema that Limpet does not know: version {self.version}, without {lacking}.",
            "Update Limpet; until then the other sources go on.",
            "schema_unknown",
        )

    def _unusable(self, error: Exception) -> Unavailable:
        if isinstance(error, _DAMAGED):
            hint = "Its owner has to mend it; what was read before is kept."
            return Unavailable(f"{self.path} is damaged, or no database: {error}.", hint, "damaged")
        hint = "Check its owner and permissions."
        return Unavailable(f"{self.path} cannot be read: {error}.", hint, "unreadable")

    def _wait(self) -> None:
        self._settled = False
        self._busy += 1
        if self._busy > PATIENCE:
            busy = f"{self.path} was busy {self._busy} times in a row."
            raise Unavailable(busy, "Its owner is at work on it; Limpet goes on trying.", "busy")


class _Copy:
    """A private copy of a database and its log, for as long as they stay as they are."""

    def __init__(self, original: Path, signature: Signature) -> None:
        folder = mkdtemp(prefix="limpet-look-")
        self.signature = signature
        self.path = Path(folder, "copy")
        self.remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        for end in ("", "-wal"):
            shutil.copyfile(_beside(original, end), _beside(self.path, end))


def named(cursor: apsw.Cursor) -> Iterator[dict[str, Any]]:
    """Give the rows of a statement with the names of their columns, as JSON can say them: bytes as hex digits."""
    names: list[str] = []
    for row in cursor:
        names = names or [column[0] for column in cursor.get_description()]
        said = (value.hex() if isinstance(value, bytes) else value for value in row)
        yield dict(zip(names, said, strict=True))


def _connect(path: Path, query: str) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"file:{quote(os.fsencode(path.absolute()))}?{query}", flags=flags)


def _beside(path: Path, end: str) -> Path:
    return path.with_name(path.name + end)


def _signature(path: Path) -> Signature:
    return tuple(_stat(_beside(path, end)) for end in ENDS)


def _stat(path: Path) -> tuple[int, int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def _newest_ms(signature: Signature) -> int:
    return max(part[3] for part in signature if part) // 1_000_000


def _has_log_mode(path: Path) -> bool:
    """Whether the file says that it is written through a write-ahead log: byte 18 of its header."""
    with path.open("rb") as file:
        return file.read(19)[18:] == b"\x02"
