"""A connection to PostgreSQL that speaks as the verbs of the store know it. It only reads; writing is for `push`."""

from __future__ import annotations

import contextlib
import functools
import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

from limpet.store.postgres import opening, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import psycopg
    from psycopg import sql

Row = tuple[Any, ...]

STRIDE = 1 << 44
"""How far the event numbers of one machine are set apart from those of the next, where several are read as one."""

_NAMED = re.compile(r"(?<!:):([a-z_]\w*)|\?|%")
_LISTS = re.compile(r"(?:ANY \(|unnest\():([a-z_]\w*)")


class Rows(list[Row]):
    """The rows of an answer, all of them, read as from APSW's cursor."""

    def fetchone(self) -> Row | None:
        """Return the first row."""
        return self[0] if self else None

    def fetchall(self) -> list[Row]:
        """Return every row."""
        return self

    @property
    def get(self) -> Any:
        """The only value, the only row, or None where there is none."""
        if not self:
            return None
        return self[0][0] if len(self[0]) == 1 else self[0]


class FleetConnection:
    """One connection, on the rows of some machines."""

    def __init__(self, connection: psycopg.Connection[Row], machines: Sequence[int], *, apart: bool) -> None:
        """Read these machines; `apart` sets their numbers apart from each other."""
        self._connection = connection
        self._scope = {"machines": list(machines), "stride": STRIDE if apart else 0}

    def execute(self, statements: str, bindings: Any = None, /) -> Rows:
        """Run a query; raises what `opening.explained` makes of an error."""
        query, lists = _translated(statements)
        with opening.errors():
            cursor = self._connection.execute(query, self._bound(bindings, lists))
            return Rows(tuple(map(text.said, row)) for row in cursor.fetchall())

    def stream(self, statements: str) -> Iterator[Row]:
        """Yield the rows of a query that may be large, some at a time. Within a snapshot only."""
        query, lists = _translated(statements)
        with opening.errors(), self._connection.cursor("limpet_stream") as cursor:
            cursor.itersize = 100
            cursor.execute(query, self._bound(None, lists))
            for row in cursor:
                yield tuple(map(text.said, row))

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read everything within as of one moment."""
        with opening.errors(), self._connection.transaction():
            self._connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield

    def executemany(self, _statements: str, _bindings: Iterable[Any], /) -> NoReturn:
        """Refuse: a fleet is only read."""
        raise opening.only_read()

    def total_changes(self) -> NoReturn:
        """Refuse: a fleet is only read."""
        raise opening.only_read()

    def last_insert_rowid(self) -> NoReturn:
        """Refuse: a fleet is only read."""
        raise opening.only_read()

    def _bound(self, bindings: Any, lists: frozenset[str]) -> dict[str, Any]:
        given = bindings if isinstance(bindings, dict) else {f"p{n}": one for n, one in enumerate(bindings or ())}
        return {**{name: _value(one, is_list=name in lists) for name, one in given.items()}, **self._scope}


@functools.lru_cache(maxsize=512)
def _translated(statement: str) -> tuple[sql.SQL, frozenset[str]]:
    """Return a query with psycopg's placeholders, and the names of those that take a list."""
    from psycopg import sql  # noqa: PLC0415 - beside the module's own queries

    places = iter(range(100))

    def placeholder(found: re.Match[str]) -> str:
        if found[0] == "%":
            return "%%"
        return f"%({found[1] or f'p{next(places)}'})s"

    query = sql.SQL(_NAMED.sub(placeholder, statement))
    return query, frozenset(_LISTS.findall(statement)) - {"machines"}


def _value(value: Any, *, is_list: bool) -> Any:
    if is_list and isinstance(value, str):
        return [_value(one, is_list=False) for one in json.loads(value)]
    return text.kept(value) if isinstance(value, str) else value
