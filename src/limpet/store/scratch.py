"""A second set of event tables, made anew from the ledger to hold the first against. Private; gone with its process.

It lies in a temporary file without a name, so that memory stays bounded; nothing of it is ever kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import apsw

from limpet.store import opening, tokens
from limpet.store.events import EventTable
from limpet.store.finding import Finder
from limpet.store.names import Names
from limpet.store.search import words_of
from limpet.store.sql import queries
from limpet.store.state import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from limpet.store.records import Records

CACHE_KIB = 65_536


class Scratch:
    """Event tables of its own over somebody else's records; what is written to it is seen by nobody."""

    def __init__(self, records: Records) -> None:
        """Make the empty tables; read these records."""
        self.connection = apsw.Connection("")  # SQLite's private temporary file
        self.connection.pragma("journal_mode", "off")
        self.connection.pragma("cache_size", -CACHE_KIB)
        opening.lay_out(self.connection)
        names = Names(self.connection)
        self._sql = queries("scratch")
        self.connection.execute(queries("search")["schema"])
        self.connection.execute(self._sql["schema"])
        self.connection.execute("BEGIN")
        self.records = records
        self.events = EventTable(self.connection, names)
        self.state = State(self.connection, names)
        self.find = Finder(self.connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def index(self, texts: Mapping[int, str]) -> None:
        """Take texts into the scratch index, by their positions; one that is there already is replaced."""
        self.connection.executemany(self._sql["drop_text"], [(pos,) for pos in texts])
        rows = [(pos, tokens.indexed(text)) for pos, text in texts.items()]
        self.connection.executemany(self._sql["put_text"], rows)

    def words(self) -> Iterator[tuple[str, int, int]]:
        """Yield every (word, position, place) of the scratch index, in the order of words."""
        return words_of(self.connection)

    def put_cleaned(self, numbers: Iterable[int]) -> None:
        """Note that these records have another leaf than the chain's: an amendment has to vouch for it."""
        self.connection.executemany(self._sql["put_cleaned"], [(no,) for no in numbers])

    def put_leaves(self, leaves: Mapping[int, bytes]) -> None:
        """Note the leaves that an amendment vouches for; a later one counts."""
        self.connection.executemany(self._sql["put_leaf"], list(leaves.items()))

    def leaves(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield, of each record that was cleaned, the leaf that is vouched for; None where nobody does."""
        for no, leaf in self.connection.execute(self._sql["leaves"]):
            yield no, None if leaf is None else bytes(leaf)

    def put_holders(self, texts: Iterable[Iterable[bytes]]) -> None:
        """Count which large texts records hold."""
        self.connection.executemany(self._sql["put_holder"], [(digest,) for held in texts for digest in held])

    def holders(self, digest: bytes) -> int:
        """Return how many records hold this large text."""
        return int(self.connection.execute(self._sql["holders"], (digest,)).get or 0)

    def put_keys(self, keys: Iterable[tuple[int, int, int]]) -> None:
        """Note what must not come back."""
        self.connection.executemany(self._sql["put_key"], list(keys))

    def count_keys(self) -> int:
        """Return how many different things must not come back."""
        return int(self.connection.execute(self._sql["count_keys"]).get)
