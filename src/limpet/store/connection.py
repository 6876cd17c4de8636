"""What the verbs of a store stand on: a database connection, and what full text leaves of a question. Types alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class Connection(Protocol):
    """What the verbs need of a database connection: APSW's, or one that speaks like it.

    `execute` gives a cursor of plain tuples with `fetchone`, `fetchall` and `get` (the only value, or row).
    """

    def execute(self, statements: str, bindings: Any = None, /) -> Any:
        """Run a statement; named (`:name`) or positional (`?`) bindings."""

    def executemany(self, statements: str, bindings: Iterable[Any], /) -> Any:
        """Run a statement for each of these bindings."""

    def total_changes(self) -> int:
        """Return how many rows this connection has changed."""

    def last_insert_rowid(self) -> int:
        """Return the number of the row that was inserted last."""


class Hits(Protocol):
    """What the full-text part of a question leaves: more pieces of a WHERE clause."""

    def parts(self, sql: Mapping[str, str], given: dict[str, object]) -> Iterator[str]:
        """Yield the pieces, made of named queries; put what they are asked with into `given`."""
