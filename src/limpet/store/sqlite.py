"""The store on SQLite: the tables of one database file and its index, put together, with one transaction for all."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import apsw

from limpet.errors import Unavailable
from limpet.store import opening
from limpet.store.custody import Custody
from limpet.store.events import EventTable
from limpet.store.finding import Finder
from limpet.store.names import Names
from limpet.store.outbox import Outbox
from limpet.store.records import Records
from limpet.store.search import SearchIndex, path_of
from limpet.store.sql import queries
from limpet.store.state import State
from limpet.store.where import Positions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

INDEX_BATCH = 1000
IDENTITY = "identity"
"""The name under which a database keeps its own number, which its text index carries, too."""

FEW = 200
"""Hits of the first piece, where few are asked for."""

TRIES = 1000
"""How often two readings are begun anew because somebody committed in between."""
LOG_BYTES = 64 << 20
"""A log that has grown past this, since somebody was reading whenever it might have begun anew, is cut."""

LOG_PATIENCE_MS = 200
"""How long a cut waits for readers; it is tried again later."""


class SqliteStore:
    """One database. `records`, `events`, `state` and `find` are its verbs by subject."""

    def __init__(self, path: Path, *, writing: bool) -> None:
        """Open the database; raises what `opening` raises."""
        self.path = path
        self.writing = writing
        open_it = opening.open_for_writing if writing else opening.open_for_reading
        found = opening.place_of(path)
        self.connection = open_it(path)
        self._place = found or opening.place_of(path)
        self._names = Names(self.connection)
        self._sql = queries("sqlite")
        self._index: SearchIndex | None = None
        self._seen_version = -1
        self.generation = 0
        self.records = Records(self.connection, self._names)
        self.events = EventTable(self.connection, self._names)
        self.state = State(self.connection, self._names)
        self.find = Finder(self.connection)
        self.custody = Custody(self.connection, self._names)
        self.outbox = Outbox(self.connection)

    def close(self) -> None:
        """Close both files."""
        if self._index is not None:
            self._index.close()
        self.connection.close()

    def shorten_log(self) -> None:
        """Move what is in a log that has grown too long into the file, and cut it, where no reader needs it now."""
        log = self.path.with_name(f"{self.path.name}-wal")
        if not log.exists() or log.stat().st_size < LOG_BYTES:
            return
        self.connection.set_busy_timeout(LOG_PATIENCE_MS)
        try:
            self.connection.execute(self._sql["cut_log"]).fetchall()
        except apsw.BusyError:
            return
        finally:
            self.connection.set_busy_timeout(opening.BUSY_MS)

    def check_in_place(self) -> None:
        """Raise Unavailable where the database was deleted, or another put in its place, since it was opened."""
        if opening.place_of(self.path) != self._place:
            raise Unavailable(f"{self.path} was replaced or deleted.", "It is opened anew.", "replaced")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything within, or nothing; raises Unavailable when the database will not have it."""
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            self._notice_others()
            try:
                self.check_in_place()  # what is written to a file that was put aside is lost
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                self._names.forget_cache()
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise
        except apsw.Error as error:
            raise opening.explained(error, self.path) from error

    def _notice_others(self) -> None:
        """Drop what is kept in memory where another connection has written: it may have taken names away.

        `generation` counts how often that was: whoever keeps something of the store in memory compares it.
        """
        version = int(self.connection.pragma("data_version"))
        if version != self._seen_version:
            self._names.forget_cache()
            self._seen_version = version
            self.generation += 1

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything within as of one moment."""
        try:
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                if self.connection.in_transaction:
                    self.connection.execute("COMMIT")
        except apsw.Error as error:
            raise opening.explained(error, self.path) from error

    @contextlib.contextmanager
    def snapshot_of_both(self) -> Iterator[None]:
        """Read the database and its index as of one moment; raises Unavailable where they cannot be read.

        The index is written within a transaction of the database: where nothing was committed between the beginnings
        of the two readings, all that the index may have too much is what the database has on its list of stale.
        """
        index = self.index
        try:
            for _ in range(TRIES):
                before = self.connection.pragma("data_version")
                index.begin()
                self.connection.execute("BEGIN")
                self.connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
                if self.connection.pragma("data_version") == before:
                    break
                self.connection.execute("COMMIT")
                index.end()
            yield
        except apsw.Error as error:
            raise opening.explained(error, self.path) from error
        finally:
            index.end()
            if self.connection.in_transaction:
                self.connection.execute("COMMIT")

    @property
    def identity(self) -> int:
        """This database's own number, 0 where it was made before it had one."""
        return int(self.state.meta(IDENTITY) or 0)

    @property
    def index(self) -> SearchIndex:
        """The full-text index, opened when first asked for, and anew where it was replaced or deleted since."""
        if self._index is not None and not self._index.is_in_place():
            self._index.close()
            self._index = None
        if self._index is None:
            with self._on_the_index():
                self._index = SearchIndex(self.path, writing=self.writing, owner=self.identity)
            if self._index.is_new:
                self.events.mark_all_stale()
        return self._index

    def hits(self, wanted: Sequence[str] | None, unwanted: Sequence[str], since: int, until: int) -> Positions:
        """Return the positions that full text leaves; see the port. Raises Unavailable."""
        among = None
        if wanted is not None:
            among = self.matches(" AND ".join(wanted), since, until) if wanted else []
        return Positions(among, self.matches(" OR ".join(unwanted), since, until) if unwanted else ())

    def hit_pages(self, wanted: Sequence[str], since: int, until: int) -> Iterator[Positions]:
        """Yield what full text leaves in pieces, newest first, each larger than the last; see the port."""
        most, expression = FEW, " AND ".join(wanted)
        while among := self.matches(expression, since, until, most):
            yield Positions(among)
            if len(among) < most:
                return
            most, until = 4 * most, among[-1]

    def matches(self, expression: str, since: int, until: int, most: int = -1) -> list[int]:
        """Return the positions whose text matches, newest first, in [since, until); raises Unavailable.

        At most so many, where `most` is not negative.
        """
        index = self.index
        with self._on_the_index():
            return index.matches(expression, since, until, most)

    def empty_index(self) -> None:
        """Let the full-text index begin anew; one that is damaged is thrown away."""
        try:
            self.index.clear()
        except apsw.CorruptError:
            self.index.discard()
            self._index = None
        except apsw.Error as error:
            raise opening.explained(error, self.path) from error
        self.events.mark_all_stale()

    def index_fault(self) -> str:
        """Return why the full-text index cannot be read, "" where it can."""
        path = path_of(self.path)
        if not path.exists():
            return f"there is no full-text index {path} (limpet rebuild makes it)"
        try:
            for _ in self.index.words():
                break
        except (Unavailable, apsw.Error) as error:
            return f"the full-text index {path} cannot be read: {error} (limpet rebuild makes it anew)"
        return ""

    @contextlib.contextmanager
    def _on_the_index(self) -> Iterator[None]:
        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError) as error:
            message = f"The full-text index {path_of(self.path)} is damaged: {error}."
            raise Unavailable(message, "limpet rebuild  makes it anew; no event is lost.", "damaged_index") from error
        except apsw.Error as error:
            raise opening.explained(error, path_of(self.path)) from error

    def follow(self, text_of: Callable[[list[int]], Mapping[int, str]]) -> int:
        """Let the index take in one batch of what is stale, newest first; return how many positions that were."""
        index = self.index
        if self.connection.execute(self._sql["stale"], (1,)).get is None:
            return 0
        with self.transaction():  # nobody says more of these events between the reading and the striking
            stale = [row[0] for row in self.connection.execute(self._sql["stale"], (INDEX_BATCH,))]
            if _is_taken_in(index, stale, text_of, self.path):
                self.connection.executemany(self._sql["unmark_stale"], [(pos,) for pos in stale])
                return len(stale)
        self.empty_index()
        return 1

    def copy_to(self, path: Path) -> None:
        """Write what is committed now into a new file, compact, while others go on writing. Raises Unavailable."""
        try:
            self.connection.execute(self._sql["copy_to"], (str(path),))
        except apsw.Error as error:
            raise opening.explained(error, path) from error

    def shred(self) -> None:
        """Let go, in both files, of every byte that was deleted. Raises Unavailable where a reader prevents it."""
        try:
            self.connection.pragma("secure_delete", True)
            opening.compact(self.connection)
            self.index.shred()
        except apsw.Error as error:
            raise opening.explained(error, self.path) from error

    def strays(self) -> list[tuple[str, str, str]]:
        """Return each table, view, index and trigger that is not as the schema has it; see `opening.strays`."""
        return opening.strays(self.connection) if opening.version(self.connection) == opening.newest() else []

    def mend_schema(self) -> None:
        """Make the views, indexes and triggers again that are not as they should be, in the caller's transaction."""
        opening.mend(self.connection)

    def stale_positions(self) -> set[int]:
        """Return the positions that the index has not taken in yet."""
        return {row[0] for row in self.connection.execute(self._sql["stale_positions"])}

    def stale(self) -> int:
        """Return how many positions the index has not taken in yet."""
        return int(self.connection.execute(self._sql["count_stale"]).get)


def _is_taken_in(
    index: SearchIndex, positions: list[int], text_of: Callable[[list[int]], Mapping[int, str]], db: Path
) -> bool:
    """Let the index take in what stands at these positions; False where it is damaged."""
    try:
        index.update(positions, text_of)
    except apsw.CorruptError:
        return False
    except apsw.Error as error:
        raise opening.explained(error, path_of(db)) from error
    return True
