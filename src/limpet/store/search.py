"""The full-text index: a second file that follows the first, can be rebuilt at any time, and is never the truth."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import apsw

from limpet.errors import Unavailable
from limpet.store import opening, tokens
from limpet.store.opening import place_of
from limpet.store.sql import queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

SCHEMA = 2


def path_of(db: Path) -> Path:
    """Return where the index of a database lies."""
    return db.with_name(f"{db.stem}.search{db.suffix}")


def words_of(connection: apsw.Connection) -> Iterator[tuple[str, int, int]]:
    """Yield every (word, position, place in its text) that an index on this connection holds, in the order of words."""
    sql = queries("search")
    connection.execute(sql["words_schema"])
    yield from connection.execute(sql["words"])


@contextlib.contextmanager
def _transaction(connection: apsw.Connection) -> Iterator[None]:
    """Commit everything within, or nothing; begun as a writer: a reader that becomes one may be refused."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


class SearchIndex:
    """The index of one database."""

    def __init__(self, db: Path, *, writing: bool, owner: int = 0) -> None:
        """Open the index beside `db`; one that is missing, damaged, of another form or another's is made anew.

        That is when `writing`; for reading raises Unavailable. `owner` is the database's own number, 0 for none.
        """
        self._path = path_of(db)
        self._owner = owner
        self._sql = queries("search")
        self.is_new = False
        self._connection = self._opened(writing=writing)
        self._place = place_of(self._path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def is_in_place(self) -> bool:
        """Whether the file that is open is still the one beside the database."""
        return place_of(self._path) == self._place

    def discard(self) -> None:
        """Close and delete the file: one that is damaged is made anew."""
        self.close()
        self._discard()

    def update(self, positions: Iterable[int], text_of: Callable[[list[int]], Mapping[int, str]]) -> None:
        """Take in what changed at these positions; a position that no event has any more loses its text."""
        wanted = list(positions)
        texts = text_of(wanted)
        with _transaction(self._connection):
            self._connection.executemany(self._sql["drop_text"], [(pos,) for pos in wanted])
            self._connection.executemany(
                self._sql["put_text"], [(pos, tokens.indexed(text)) for pos, text in texts.items()]
            )

    def matches(self, expression: str, since: int, until: int, most: int) -> list[int]:
        """Return the positions whose text matches, newest first, in [since, until); a negative `most` means all."""
        given = {"expression": expression, "since": since, "until": until, "most": most}
        return [row[0] for row in self._connection.execute(self._sql["matches"], given)]

    def begin(self) -> None:
        """Read from now on as of this moment, until `end`."""
        self._connection.execute("BEGIN")
        self._connection.execute("SELECT 1 FROM sqlite_schema").fetchall()

    def end(self) -> None:
        """See what others have written since."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def words(self) -> Iterator[tuple[str, int, int]]:
        """Yield every (word, position, place in its text), in the order of words."""
        return words_of(self._connection)

    def shred(self) -> None:
        """Let go of every word that was taken out: they stay in the file until then. Raises apsw.Error."""
        self._connection.pragma("secure_delete", True)
        self._connection.execute(self._sql["optimize"])
        opening.compact(self._connection)

    def check(self) -> None:
        """Raise apsw.CorruptError when the index contradicts itself."""
        self._connection.execute(self._sql["check"])

    def clear(self) -> None:
        """Throw the index away; the caller marks everything stale."""
        with _transaction(self._connection):
            self._connection.execute(self._sql["clear_text"])

    def _opened(self, *, writing: bool) -> apsw.Connection:
        try:
            return self._connect(writing=writing)
        except (apsw.NotADBError, apsw.CorruptError):
            if not writing:
                raise
            self._discard()
            return self._connect(writing=writing)

    def _connect(self, *, writing: bool) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE if writing else apsw.SQLITE_OPEN_READONLY
        old = os.umask(0o077)
        try:
            connection = apsw.Connection(str(self._path), flags=flags)
            connection.set_busy_timeout(opening.BUSY_MS)
            if writing:
                self._prepare(connection)
            elif self._is_anothers(connection):
                message = f"The full-text index {self._path} belongs to another database."
                raise Unavailable(message, "limpet rebuild  makes it anew; no event is lost.", "foreign_index")
        finally:
            os.umask(old)
        return connection

    def _prepare(self, connection: apsw.Connection) -> None:
        opening.use_log(connection)  # what is taken off the list of stale positions must be here after a power cut
        if connection.pragma("user_version") == SCHEMA and self._owner in (0, connection.pragma("application_id")):
            return
        with _transaction(connection):
            if connection.pragma("user_version") != SCHEMA or self._is_anothers(
                connection
            ):  # now that nobody can make it
                connection.execute(self._sql["drop_schema"])
                connection.execute(self._sql["schema"])
                connection.pragma("user_version", SCHEMA)
                self.is_new = True
            if self._owner:
                connection.pragma("application_id", self._owner)

    def _is_anothers(self, connection: apsw.Connection) -> bool:
        """Whether the index says that it is another database's; an older one says nothing."""
        said = connection.pragma("application_id")
        return bool(self._owner and said) and said != self._owner

    def _discard(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                self._path.with_name(self._path.name + suffix).unlink()
