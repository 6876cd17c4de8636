"""Reading a damaged database: every record that can still be read whole, in order, and how many others there are.

It writes nothing into the damaged file, nor into its log. Not for judging a ledger that can be read (verification.py).
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import apsw

from limpet import ledger
from limpet.store import opening
from limpet.store.custody import Custody, Tombstone
from limpet.store.names import Names
from limpet.store.records import Records
from limpet.store.sql import queries
from limpet.store.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from limpet.model import Json, Record
    from limpet.store.custody import Seal
    from limpet.store.records import Stored
    from limpet.store.state import Stream, Watch

PAGE = 512
UNREADABLE = (apsw.Error, ValueError, TypeError, OverflowError)
"""What reading rubbish may raise: SQLite's own errors, and values that are none of those that were written."""


MOST_UNSEEN = 1_000_000
"""A number beyond all that can be seen, by more than this, is rubbish itself."""

T = TypeVar("T")


class Piece(NamedTuple):
    """The next number of the ledger: its record, None where it cannot be read, or was forgotten."""

    record: Record | None
    forgotten: bool = False


class Salvage:
    """One damaged database, opened as far as it can be."""

    def __init__(self, path: Path) -> None:
        """Open it; what is in its log is read, too. Raises apsw.Error where not even its schema can be read."""
        flags = apsw.SQLITE_OPEN_READWRITE  # a log without its index can be read by nobody else
        self._connection = apsw.Connection(str(path), flags=flags)
        self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self._connection.pragma("query_only", 1)
        try:
            self._connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
        except apsw.Error:
            self._connection.close()
            raise
        names = Names(self._connection)
        self._records = Records(self._connection, names)
        self._state = State(self._connection, names)
        self._custody = Custody(self._connection, names)

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(apsw.Error):
            self._connection.close()

    def beginning(self) -> tuple[int, bytes]:
        """Return the place before the first record that is kept; (0, GENESIS) where that cannot be told, too."""
        no, digest = _tried(self._custody.beginning, (0, ledger.GENESIS))
        is_place = 0 <= no <= self._head() and len(digest) == len(ledger.GENESIS)
        return (no, digest) if is_place else (0, ledger.GENESIS)

    def pieces(self, begins: int = 0, digest: bytes = ledger.GENESIS) -> Iterator[Piece]:
        """Yield the ledger behind its beginning, oldest first, as it can be read."""
        previous: tuple[int, bytes] | None = (begins, digest)
        head, no = self._head(), begins
        while no < head:
            until = min(no + PAGE, head)
            for stored, number in self._span(no, until):
                if stored is None or not _is_whole(stored, previous):
                    forgotten = stored is not None and stored.content is None and stored.leaf is not None
                    yield Piece(None, forgotten and stored is not None and not stored.damage)
                else:
                    yield Piece(stored.record)
                previous = None if stored is None else (number, stored.hash)
            no = until

    def head(self) -> tuple[int, bytes]:
        """Return the number and the hash of the last record, (0, b"") where they cannot be read."""
        number, _, digest = self.meta("head").partition(" ")
        return _tried(lambda: (int(number), bytes.fromhex(digest)), (0, b""))

    def tombstones(self) -> tuple[set[Tombstone], bool]:
        """Return what must not come back, as far as that can be read, from both ends; and whether that is all."""
        found: set[Tombstone] = set()
        for name in ("tombstones", "tombstones_backwards"):
            try:
                for row in self._connection.execute(queries("sqlite")[name]):
                    found.add(Tombstone(*row))
            except UNREADABLE:
                continue
            return found, True
        return found, False

    def seals(self) -> Sequence[Seal]:
        """Return the seals that were handed out, as far as they can be read."""
        return _tried(self._custody.seals, [])

    def streams(self) -> Sequence[Stream]:
        """Return what each stream gave, as far as that can be read."""
        return _tried(self._state.streams, [])

    def meta(self, name: str) -> str:
        """Return a named value, "" where there is none or none that can be read."""
        return str(_tried(lambda: self._state.meta(name), None) or "")

    def watches(self) -> Sequence[Watch]:
        """Return how each source stood, as far as that can be read."""
        return _tried(self._state.watches, [])

    def counts(self) -> Mapping[str, int]:
        """Return the plain counts, as far as they can be read."""
        return _tried(self._state.counts, {})

    def rejected(self) -> Mapping[str, Json]:
        """Return which lines were counted as unreadable, as far as that can be read."""
        return _tried(lambda: self._state.cursor("rejected"), {})

    def _head(self) -> int:
        """Return the last number that anything in the file tells of."""
        found = max(_tried(lambda: self._records.head()[0], 0), _tried(self._records.last_content, 0))
        said = (_tried(lambda: self._state.meta("head"), None) or "").partition(" ")[0]
        return int(said) if said.isdigit() and found < int(said) < found + MOST_UNSEEN else found

    def _span(self, after: int, until: int) -> Iterator[tuple[Stored | None, int]]:
        """Yield each number of a span with its row, None where it cannot be read: halved until the rest can."""
        try:
            rows = {one.record.no: one for one in self._records.after(after, until - after)}
        except UNREADABLE:
            if until - after == 1:
                yield None, until
                return
            middle = (after + until) // 2
            yield from self._span(after, middle)
            yield from self._span(middle, until)
            return
        yield from ((rows.get(number), number) for number in range(after + 1, until + 1))


def _tried(reading: Callable[[], T], nothing: T) -> T:
    try:
        return reading()
    except UNREADABLE:
        return nothing


def is_damaged(path: Path) -> str:
    """Return what SQLite finds wrong with a file, "" where nothing; raises apsw.Error where it cannot look now."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        with contextlib.closing(connection):
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            connection.set_busy_timeout(opening.BUSY_MS)
            found = connection.execute("PRAGMA quick_check(1)").get
    except (apsw.CorruptError, apsw.NotADBError) as error:
        return str(error)
    return "" if found == "ok" else str(found)


def _is_whole(stored: Stored, previous: tuple[int, bytes] | None) -> bool:
    """Whether a record is what was written: its names are there, and its link, where the one before is known."""
    if stored.content is None or stored.damage or "None" in (stored.record.source, stored.record.kind):
        return False
    if previous is None:
        return True
    return ledger.chain(previous[1], ledger.leaf_of(stored.record, stored.content, stored.nonce or b"")) == stored.hash
