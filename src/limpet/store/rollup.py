"""Which part of a question the counts by day answer: its whole days. What lies before and after is counted itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limpet.model import Query

DAY_MS = 86_400_000
FIRST_DAY, LAST_DAY = -(1 << 40), 1 << 40

COUNTED_BY = frozenset({"type", "status", "tool", "agent", "label"})
"""What the events of a day are counted by."""

WORTH = 3
"""From so many whole days on they are asked for; fewer are counted in the same time."""


class WholeDays(NamedTuple):
    """Days since 1970, UTC, from the first to before the end, and the question for what is left of the window."""

    first: int
    end: int
    edges: Sequence[Query]


def whole_days(query: Query) -> WholeDays | None:
    """Return the whole days in a question's window, None where there are too few to be worth it."""
    first = FIRST_DAY if query.since_ms is None else -(-query.since_ms // DAY_MS)
    end = LAST_DAY if query.until_ms is None else query.until_ms // DAY_MS
    if end - first < WORTH:
        return None
    edges = []
    if query.since_ms is not None and query.since_ms < first * DAY_MS:
        edges.append(replace(query, until_ms=first * DAY_MS))
    if query.until_ms is not None and end * DAY_MS < query.until_ms:
        edges.append(replace(query, since_ms=end * DAY_MS))
    return WholeDays(first, end, edges)
