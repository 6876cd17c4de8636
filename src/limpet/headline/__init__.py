"""An answer in one sentence for people: how many of what, from when to when, in which zone, how complete. Asks nothing.

"3 failed tool calls, 25 Oct 00:00-24:00 Europe/Berlin, complete"
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import days, text
from limpet.headline.nouns import noun_of

if TYPE_CHECKING:
    from limpet.model import Answer, Coverage, Event, Query

MONTHS = ("", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DAY_MS = 86_400_000
TIMES = 3
"""So many times of what was found stand in the answer to "did the backup run"."""


def headline(found: Answer, now_ms: int | None = None) -> str:
    """Return the sentence; years are left out where they are that of `now_ms`."""
    query = found.query
    year = days.day_of(now_ms, query.zone).year if now_ms is not None else 0
    what = f"{_whether(found)}{noun_of(query, found.count)}{_times(found, year)}"
    return f"{what}, {window(query, year)} {query.zone}, {completeness(found, year)}"


def _whether(found: Answer) -> str:
    query = found.query
    if not query.yes_no or query.by or query.count or query.take:
        return ""
    return "yes: " if found.count else "no: " if found.coverage.state == "complete" else "not known: "


def _times(found: Answer, year: int) -> str:
    """Return when it was, and how it ended where not well, for a question that asks whether."""
    if not _whether(found) or not found.events:
        return ""
    times = [f"{_moment(event.at_ms, found.query.zone, year)}{_ending(event)}" for event in found.events[:TIMES]]
    more = "" if found.count <= TIMES else " and more"
    return f" (at {', '.join(dict.fromkeys(times))}{more})"


def _ending(event: Event) -> str:
    """Return how an event ended: a backup that failed did run, and that is not what one wants to hear of it."""
    return "" if event.status in ("", "succeeded") else f" {event.status.replace('_', ' ')}"


def window(query: Query, year: int = 0) -> str:
    """Return the query's span of time as people say it: "25 Oct 00:00-24:00"."""
    since, until, zone = query.since_ms, query.until_ms, query.zone
    if since is None:
        return "all time" if until is None else f"up to {_end(until, zone, year)}"
    if until is None:
        return f"since {_moment(since, zone, year)}"
    if since >= until:
        return f"an empty window at {_moment(since, zone, year)}"
    first, last = days.day_of(since, zone), days.day_of(until - 1, zone)
    if first != last:
        return f"{_moment(since, zone, year)} to {_end(until, zone, year)}"
    begun, ended = days.window_of(first, zone)
    odd = (since, until) == (begun, ended) and until - since != DAY_MS
    hours = f" ({(until - since) / 3_600_000:g} hours)" if odd else ""
    return f"{_moment(since, zone, year)}-{_end(until, zone, year).rpartition(' ')[2]}{hours}"


def _end(at_ms: int, zone: str, year: int) -> str:
    """Return the end of a window; midnight is 24:00 of the day before."""
    day = days.day_of(at_ms - 1, zone)
    if days.window_of(day, zone)[1] != at_ms:
        return _moment(at_ms, zone, year)
    return f"{day.day} {MONTHS[day.month]}{'' if day.year == year else f' {day.year}'} 24:00"


def _moment(at_ms: int, zone: str, year: int) -> str:
    """Return a time as people say it; with its offset where clocks show it twice."""
    shown = days.to_local(at_ms, zone)
    clock = f"{shown:%H:%M:%S}" if shown.second else f"{shown:%H:%M}"
    offset = days.show(at_ms, zone)[23:] if days.is_shown_twice(at_ms, zone) else ""
    return f"{shown.day} {MONTHS[shown.month]}{'' if shown.year == year else f' {shown.year}'} {clock}{offset}"


def completeness(found: Answer, year: int = 0) -> str:
    """Return how complete the answer is; a zero is clean, or says why it may not be."""
    coverage = found.coverage
    if coverage.state == "complete":
        return "complete" if found.count else "clean: all of it was watched"
    if coverage.state == "unknown":
        return "completeness unknown"
    if coverage.state == "blind":
        return f"blind {_blind(coverage, found.query.zone, year)}".rstrip()
    return f"not complete{_lacks(coverage)}"


def _blind(coverage: Coverage, zone: str, year: int) -> str:
    if not coverage.gaps:
        return ""
    first = min(gap.from_ms for gap in coverage.gaps)
    ends = [gap.to_ms for gap in coverage.gaps if gap.to_ms is not None]
    since = f"since {_moment(first, zone, year)}"
    if len(ends) < len(coverage.gaps):
        return since
    return f"{since} until {_moment(max(ends), zone, year)}"


def _lacks(coverage: Coverage) -> str:
    if not coverage.gaps:
        return ": some still wait to be taken in"
    first = text.one_line(coverage.gaps[0].why, 80)
    return f": {first}" if len(coverage.gaps) == 1 else f": {len(coverage.gaps)} gaps"
