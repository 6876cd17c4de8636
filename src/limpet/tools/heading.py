"""Limpet's own sentences above an answer: how many, which part, from when to when, how complete. Nothing recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import days

if TYPE_CHECKING:
    from collections.abc import Iterator

    from limpet.model import Answer, Coverage, Query

COMPLETE = {
    "complete": "complete: this time was watched, and nothing is known to be missing.",
    "partial": "partial: something may be missing.",
    "blind": "BLIND: nothing was watching then, so a zero says nothing about what happened.",
    "unknown": "unknown: nobody watched this time, or not all of it, so a zero proves nothing.",
}
NOUNS = {"session": "session", "agent": "agent", "tool": "tool", "run": "run"}


def counted(found: Answer) -> str:
    """Return the exact count in words."""
    noun = NOUNS.get(found.query.count)
    plural = "" if found.count == 1 else "s"
    return f"{found.count:,} different {noun}{plural}." if noun else f"{found.count:,} event{plural}."


def shown(what: str, first: int, number: int, total: int) -> str:
    """Return which part of `total` is shown, and how to get the rest; "" where it is all of it."""
    if first == 0 and number == total:
        return ""
    if number == 0:
        return f"None of the {total:,} {what} is shown from offset {first} on."
    last = first + number
    rest = f" For the next ones ask the same again with offset {last}." if last < total else ""
    return f"Shown: {what} {first + 1:,} to {last:,} of {total:,}.{rest}"


def window(query: Query) -> str:
    """Return from when to when was asked, and in which zone."""
    since = "the beginning" if query.since_ms is None else days.show(query.since_ms, query.zone)
    until = "now" if query.until_ms is None else days.show(query.until_ms, query.zone)
    return f"Window: {since} to {until} ({query.zone})."


def complete(coverage: Coverage, zone: str, listed: int) -> Iterator[str]:
    """Yield how complete the answer is; the first gaps in times alone where the answer itself lists none of them."""
    yield f"Coverage {COMPLETE[coverage.state]}"
    gaps = coverage.gaps
    if listed < len(gaps):
        spans = (f"{days.show(g.from_ms, zone)} to {_end(g.to_ms, zone)}" for g in gaps[:5])
        yield f"Gaps: {len(gaps):,}; " + (f"{listed} of them are listed." if listed else f"{'; '.join(spans)}.")
    if coverage.pending:
        yield f"{coverage.pending:,} bytes still wait to be taken in."


def _end(at_ms: int | None, zone: str) -> str:
    return "now" if at_ms is None else days.show(at_ms, zone)
