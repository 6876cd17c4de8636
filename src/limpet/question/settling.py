"""How everything that a question says about time becomes its one window. Reads no words.

All of it holds at once: "yesterday before 9:40" is yesterday up to 9:40. A time of day without a day is that of the one
day named elsewhere; where none is named it is today's, or yesterday's where today's has not come yet ("before 9:40" is
today's all the same). A window never reaches past now; one that would begin after now is empty and stands at now.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from limpet import days
from limpet.question.moments import DAY_S, Now, Span, Times, on_day
from limpet.question.refusal import refused, short
from limpet.question.spans import checked_hour

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

WITH_OFFSET = re.compile(r"[0-9](?:z|[+-][0-9]{2}:?[0-9]{2})$", re.IGNORECASE)
"""How a time ends that says its offset, and so is in no doubt."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One thing said about time: `side` is in, since, after, until or before; `said` the words."""

    side: str
    when: Span | Times
    said: str


@dataclass(frozen=True, slots=True)
class Window:
    """From when (included, None is the beginning of time) to when (excluded); `note` says what had to be decided."""

    since_ms: int | None
    until_ms: int
    note: str = ""


def settle(bounds: Sequence[Bound], now: Now) -> Window:
    """Return the window that everything said about time agrees on.

    Raises NotUnderstood for times that exclude each other, and for a time of day with several days to choose from.
    """
    placed = [(bound.side, _placed(bound, bounds, now)) for bound in _telling(bounds, now.zone)]
    since = max((at for side, span in placed if (at := _begin(side, span)) is not None), default=None)
    until = min((at for side, span in placed if (at := _end(side, span)) is not None), default=None)
    if since is not None and until is not None and since >= until:
        _may_be_empty(bounds, [span for _, span in placed], since == until)
    if since is not None and since >= now.at_ms:
        said = " ".join(bound.said for bound in bounds)
        return Window(now.at_ms, now.at_ms, f"{short(said)!r} has not come yet: the window is empty.")
    note = "" if any(_is_day(bound) for bound in bounds) else _decided(bounds, [span for _, span in placed])
    note = f"{note} {_shown_twice(until, bounds, now)}".strip()
    return Window(since, now.at_ms if until is None else min(until, now.at_ms), note)


def _telling(bounds: Sequence[Bound], zone: str) -> Sequence[Bound]:
    """Return the bounds without the day on which another says the hours: "yesterday between 22:00 and 02:00".

    A part of a day ("last night") holds all the same.
    """
    refined = any(bound.side == "in" and isinstance(bound.when, Times) for bound in bounds)
    return [bound for bound in bounds if not (refined and _is_day(bound)) or _is_part(bound, zone)]


def _is_day(bound: Bound) -> bool:
    return bound.side == "in" and isinstance(bound.when, Span)


def _is_part(bound: Bound, zone: str) -> bool:
    """Tell whether it is a part of one day: "this morning", "last night"; no whole day, no moment."""
    span = bound.when
    if not _is_day(bound) or not isinstance(span, Span) or span.day is None or span.point:
        return False
    return (span.start_ms, span.end_ms) != days.window_of(span.day, zone)


def _placed(bound: Bound, bounds: Sequence[Bound], now: Now) -> Span:
    """Return the span that is meant, on its day; raises NotUnderstood where clocks never showed it."""
    span = _on_day(bound, bounds, now)
    if bound.side == "in" and (span.point or isinstance(bound.when, Times)) and _is_skipped(span, now.zone):
        message = f"Clocks did not show {bound.said!r} on {span.day}: they were put forward."
        raise refused(message, "impossible_time")
    return span


def _is_skipped(span: Span, zone: str) -> bool:
    """Tell whether it is what clocks left out within a day: 2:30 in the night when summer time begins."""
    if span.start_ms < span.end_ms:
        return False
    before, after = (days.to_local(at_ms, zone).utcoffset() for at_ms in (span.start_ms - 1, span.start_ms))
    return before is not None and after is not None and before < after


def _on_day(bound: Bound, bounds: Sequence[Bound], now: Now) -> Span:
    if isinstance(bound.when, Span):
        if bound.side == "in" and bound.when.point and bound.when.start_ms == bound.when.end_ms:
            if _is_skipped(bound.when, now.zone) and not bound.said.endswith("ago"):
                return bound.when
            raise refused(
                f"{bound.said!r} is a moment, not a window.", "no_window", "what happened in the last 2 hours"
            )
        return bound.when
    times = checked_hour(bound.when)
    if bound.side in ("until", "before") and times.start_s == 0:
        times = Times(DAY_S, DAY_S, point=True)
    parts = [other.when for other in bounds if _is_part(other, now.zone) and isinstance(other.when, Span)]
    if len(parts) == 1:
        return within(times, parts[0], now.zone)
    return on_day(_day_for(times, bound, bounds, now), times, now.zone)


def within(times: Times, span: Span, zone: str) -> Span:
    """Return when, in the day or the part of it, clocks show that time: "last night at 3", "tonight between 8 and 10".

    A night goes on into the next day; an hour said without am or pm may be of either half.
    """
    day = span.day or days.day_of(span.start_ms, zone)
    for on in (day, day + timedelta(days=1)):
        for later_s in (0, DAY_S // 2) if times.is_open else (0,):
            placed = on_day(on, replace(times, start_s=times.start_s + later_s, end_s=times.end_s + later_s), zone)
            if span.start_ms <= placed.start_ms < span.end_ms:
                return placed
    return on_day(day, times, zone)


def _day_for(times: Times, bound: Bound, bounds: Sequence[Bound], now: Now) -> date:
    """Return the day that a time of day is on."""
    named = {other.when.day for other in bounds if _is_day(other) and isinstance(other.when, Span)}
    if len(named) == 1 and (day := next(iter(named))):
        return day
    if named:
        raise refused(f"{bound.said!r}: on which day?", "which_day", "tool calls yesterday before 9:40")
    begun = on_day(now.today, times, now.zone).start_ms < now.at_ms
    return now.today if begun or bound.side in ("until", "before") else now.today - timedelta(days=1)


def _begin(side: str, span: Span) -> int | None:
    if side in ("in", "since"):
        return span.start_ms
    return (span.start_ms if span.point else span.end_ms) if side == "after" else None


def _end(side: str, span: Span) -> int | None:
    if side == "in":
        return span.end_ms
    if side == "until":
        return span.start_ms if span.point else span.end_ms
    return span.start_ms if side == "before" else None


def _may_be_empty(bounds: Sequence[Bound], spans: Sequence[Span], touching: bool) -> None:
    """Let a window be empty between two equal moments and on a day that the zone skipped; refuse any other."""
    if touching and (len(bounds) == 1 or all(span.point for span in spans)):
        return
    said = " and ".join(repr(short(text)) for text in dict.fromkeys(bound.said for bound in bounds))
    if len({bound.said for bound in bounds}) > 1:
        raise refused(f"{said} exclude each other: no time is in both.", "contradiction")
    raise refused(f"{said} ends before it begins.", "contradiction")


def _decided(bounds: Sequence[Bound], spans: Sequence[Span]) -> str:
    """Return which day was taken for a time of day, where none was named."""
    for bound, span in zip(bounds, spans, strict=True):
        if isinstance(bound.when, Times):
            return f"{short(bound.said)!r} names no day: {span.day} is meant."
    return ""


def _shown_twice(until: int | None, bounds: Sequence[Bound], now: Now) -> str:
    """Return which of two is taken for the end, where clocks went back and showed it twice."""
    if until is None or until >= now.at_ms or any(WITH_OFFSET.search(bound.said) for bound in bounds):
        return ""
    shown = days.to_local(until, now.zone)
    if shown.fold or not days.is_shown_twice(until, now.zone) or until == days.window_of(shown.date(), now.zone)[0]:
        return ""
    return f"On {shown:%Y-%m-%d} clocks showed {shown:%H:%M} twice: the first is meant, {shown.isoformat()[-6:]}."
