"""The making of one statement, and the few words that all of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet.deeds.quoting import quoted
from limpet.note.statement import Statement

if TYPE_CHECKING:
    from limpet.model import Event
    from limpet.note.ids import Ids

ERROR_CHARS = 90


def stated(kind: str, words: str, ids: Ids, **more: str) -> Statement:
    """Return a statement of all these events; `verb` and `brief` may be given."""
    return Statement(kind, words, ids.named(), ids.count, ids.first_ms, ids.last_ms, (), **more)


def stated_one(kind: str, words: str, event: Event, also: Event | None = None, **more: str) -> Statement:
    """Return a statement of one event, and perhaps of another that it speaks of."""
    others = (also.id,) if also is not None else ()
    return Statement(kind, words, (event.id,), 1, event.at_ms, event.at_ms, others, **more)


def stated_rest(kind: str, words: str, ids: Ids, told: set[int], **more: str) -> Statement:
    """Return a statement of those events that were not told before it, of which there are some."""
    left = tuple(number for number in ids.named() if number not in told) or (ids.last,)
    return Statement(kind, words, left, ids.count - len(told), ids.first_ms, ids.last_ms, (), **more)


def times(n: int) -> str:
    """Return how often: `once`, `twice`, `3 times`."""
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def why(error: str) -> str:
    """Return an error in brackets, "" where there are no words of it."""
    return f" ({quoted(error, ERROR_CHARS)})" if error else ""
