"""From a question's filters and window to a WHERE clause that is made of named pieces. Reads nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from limpet.model import OWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from limpet.model import Query
    from limpet.store.connection import Hits

FILTERS = frozenset({"type", "status", "tool", "agent", "session", "run", "call", "actor", "trust", "label", "source"})
"""The filters that are a list of names; `is:error` and `is:deed` have conditions of their own."""

NOISE = (OWN, "internal")
"""Labels that no answer shows unless it is asked for them: Limpet's own calls and the gateway's internal runs."""


class Positions(NamedTuple):
    """What the full-text index leaves: only these positions (None: all), and none of those."""

    among: Sequence[int] | None = None
    outside: Sequence[int] = ()

    def parts(self, sql: Mapping[str, str], given: dict[str, object]) -> Iterator[str]:
        """Yield the pieces of a WHERE clause that say so."""
        if self.among is not None:
            given["positions"] = json.dumps(list(self.among))
            yield sql["where.positions"]
        if self.outside:
            given["outside"] = json.dumps(list(self.outside))
            yield sql["where.outside"]


EVERY = Positions()


class Where:
    """WHERE clauses in the words of one dialect."""

    def __init__(self, sql: Mapping[str, str]) -> None:
        """Take the dialect's queries by name."""
        self._sql = sql

    def of(self, query: Query, hits: Hits) -> tuple[str, dict[str, object]]:
        """Return the clause, with what goes before it, and the values it is asked with."""
        given: dict[str, object] = {}
        parts = list(self._parts(query, hits, given))
        # In a window events are found by their time: what an index finds may be years of them.
        hint = self._sql["by_time"] if has_window(query) and not _names_a_session(query) else ""
        return hint + (" WHERE " + " AND ".join(parts) if parts else ""), given

    def _parts(self, query: Query, hits: Hits, given: dict[str, object]) -> Iterator[str]:
        if "where.always" in self._sql:  # what holds for every event of this store: whose it is
            yield self._sql["where.always"]
        if query.since_ms is not None:
            given["since"] = query.since_ms
            yield self._sql["where.since"]
        if query.until_ms is not None:
            given["until"] = query.until_ms
            yield self._sql["where.until"]
        yield from hits.parts(self._sql, given)
        for number, (name, values, negated) in enumerate(query.filters):
            part = self._filter(name, f"{name}{number}", values, given)
            yield f"NOT coalesce({part}, false)" if negated else part
        if not query.noise and not any(name == "label" and not negated for name, _, negated in query.filters):
            part = self._filter("label", "noise", NOISE, given)
            yield f"NOT {part}"

    def _filter(self, name: str, parameter: str, values: Iterable[str], given: dict[str, object]) -> str:
        if name == "is" or name not in FILTERS:
            return f"({' OR '.join(self._sql[f'where.is_{value}'] for value in values)})"
        given[parameter] = json.dumps(list(values))
        return self._sql[f"where.{name}"].replace(f":{name}", f":{parameter}")


def has_window(query: Query) -> bool:
    """Whether a question is about some time and not about all of it."""
    return query.since_ms is not None  # every question ends at some moment, mostly now


def _names_a_session(query: Query) -> bool:
    return any(name == "session" and not negated for name, _, negated in query.filters)
