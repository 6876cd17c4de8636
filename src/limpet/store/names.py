"""Integer codes for the names that recur: agents, sessions, runs, tools, types. One table, one cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet.store.sql import queries

if TYPE_CHECKING:
    from limpet.store.connection import Connection

MOST = 50_000
"""Names kept in memory; sessions and runs go on for ever, and only the recent ones are asked for again."""


class Names:
    """The name table of one database."""

    def __init__(self, connection: Connection) -> None:
        """Use this connection; writes happen inside the caller's transaction."""
        self._connection = connection
        self._known: dict[str, int] = {}
        self._sql = queries("sqlite")

    def code(self, name: str) -> int | None:
        """Return the code of a name, made if need be; None for the empty name."""
        if not name:
            return None
        known = self._known.get(name)
        if known is not None:
            return known
        row = self._connection.execute(self._sql["name_id"], (name,)).fetchone()
        if row is None:
            self._connection.execute(self._sql["add_name"], (name,))
            row = (self._connection.last_insert_rowid(),)
        if len(self._known) >= MOST:
            self._known.clear()
        self._known[name] = row[0]
        return int(row[0])

    def forget_cache(self) -> None:
        """Forget what is cached: a transaction that was rolled back took its new names with it."""
        self._known.clear()
