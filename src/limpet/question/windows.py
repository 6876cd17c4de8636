"""From words to what is said about time: prepositions and ranges. Does not put several of them together.

In a range the end is the most recent one of its name, and the beginning the most recent one before that end: said on a
Monday, "between monday and wednesday" are those of last week. Both days of a range are held; a time of day ends it
sharp.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from limpet import days
from limpet.question.dates import word_at
from limpet.question.moments import DAY_S, Span, Times, a_date, on_day
from limpet.question.refusal import refused, short
from limpet.question.settling import Bound, within
from limpet.question.spans import checked_hour, read_span

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from limpet.question.moments import Now

MOST_WORDS = 16
"""No way of saying a window takes more."""

WITHIN = frozenset({"on", "in", "during", "for", "over", "within", "throughout", "at", "of"})
LASTING = frozenset({"for", "over", "throughout", "of"})
"""Prepositions that go with a stretch of time, not with a moment."""

STARTS = {"since": "since", "starting": "since", "after": "after", "from": "from"}
ENDS = {"until": "until", "till": "until", "til": "until", "through": "until", "before": "before"}
TO = frozenset({"to", "until", "till", "through", "-"})
AND = frozenset({"and"})

When = Span | Times
Sides = list[tuple[str, When]]
Read = tuple[Sides, int] | None
"""What was said, each with its side, and how many words it took."""


def read_bounds(words: Sequence[str], now: Now) -> tuple[list[Bound], int] | None:
    """Read what is said about time at the start of the words, and how many words it took."""
    words = words[:MOST_WORDS]
    for reader in (_between, _starting, _ending, _within):
        if read := reader(words, now):
            sides, used = read
            said = " ".join(words[:used])
            return [Bound(side, when, said) for side, when in sides], used
    return None


def _between(words: Sequence[str], now: Now) -> Read:
    return _range(words, 1, now, TO | AND) if word_at(words, 0) == "between" else None


def _starting(words: Sequence[str], now: Now) -> Read:
    """Read "since monday", "after 9:40", "from 9:00 to 11:00"; "from yesterday" is yesterday."""
    side = STARTS.get(word_at(words, 0))
    if not side:
        return None
    if ranged := _range(words, 1, now, TO):
        return ranged
    read = _span(words, 1, now, prepared=True, hours=True)
    if not read:
        return None
    when, used = _on_its_day(words, read, now) if side in ("since", "from") else read
    if word_at(words, used) in ("onward", "onwards"):
        return [("since", when)], used + 1
    if side == "from":
        side = "since" if when.point else "in"
    return [(side, when)], used


def _on_its_day(words: Sequence[str], read: tuple[When, int], now: Now) -> tuple[When, int]:
    """Give the time of "since 9 this morning" the day that follows it: the window does not end with that day."""
    when, used = read
    said = _span(words, used + (word_at(words, used) == "on"), now) if isinstance(when, Times) else None
    if not isinstance(when, Times) or not said or not isinstance(said[0], Span) or said[0].day is None or said[0].point:
        return read
    return within(checked_hour(when), said[0], now.zone), said[1]


def _ending(words: Sequence[str], now: Now) -> Read:
    start = 2 if tuple(words[:2]) == ("up", "to") else 1
    side = "until" if start == 2 else ENDS.get(word_at(words, 0))
    if not side:
        return None
    read = _now(words, start, now) or _span(words, start, now, prepared=True, hours=True)
    return ([(side, read[0])], read[1]) if read else None


def _within(words: Sequence[str], now: Now) -> Read:
    """Read "on sunday", "in the last 3 days", "yesterday", "monday to friday", "yesterday and today"."""
    first = word_at(words, 0)
    start = 1 if first in WITHIN else 0
    for reader in (_dotted, _beside):
        if read := reader(words, start, now):
            return read
    ranged = _range(words, start, now, TO)
    if ranged and not (len(ranged[0]) == 2 and isinstance(ranged[0][1][1], Times)):
        return ranged  # "yesterday until 9:40" is no range: both hold at once
    one = _span(words, start, now, prepared=bool(start), hours=first == "at")
    if not one or (isinstance(one[0], Times) and not start) or (one[0].point and first in LASTING):
        return None
    return [("in", one[0])], one[1]


def _span(
    words: Sequence[str], start: int, now: Now, *, prepared: bool = False, hours: bool = False
) -> tuple[When, int] | None:
    """Read a span or a time of day at a place, a "the" before it too, and where it ends."""
    at = start + (word_at(words, start) == "the")
    read = read_span(words[at:], now, prepared=prepared, hours=hours)
    if not read or (at > start and read[0].point):
        return None
    return read[0], at + read[1]


def _now(words: Sequence[str], start: int, now: Now) -> tuple[When, int] | None:
    return (Span(now.at_ms, now.at_ms, point=True), start + 1) if word_at(words, start) == "now" else None


def _dotted(words: Sequence[str], start: int, now: Now) -> Read:
    """Read "2026-10-20..2026-10-22" and "9:00-11:00"."""
    said = word_at(words, start)
    first, joint, last = said.partition(".." if ".." in said else "-")
    if joint == "-" and not (":" in first and ":" in last):
        return None
    one, other = (read_span([first], now), read_span([last], now)) if joint else (None, None)
    if not one or not other:
        return None
    if isinstance(one[0], Times) and isinstance(other[0], Times):
        return [("in", _stretch(one[0], other[0]))], start + 1
    return [("since", one[0]), ("until", other[0])], start + 1


def _beside(words: Sequence[str], start: int, now: Now) -> Read:
    """Read "yesterday and today" as one span; two that do not touch are two windows."""
    one = _span(words, start, now)
    if not one or word_at(words, one[1]) != "and":
        return None
    other = _span(words, one[1] + 1, now)
    if not other or not _are_days(one[0]) or not _are_days(other[0]):
        return None
    pair = _paired(words[start:], one[0], other[0], now)
    spans = sorted((span for span in pair if isinstance(span, Span)), key=lambda span: span.start_ms)
    if spans[0].end_ms < spans[-1].start_ms:
        said = short(" ".join(words[start : other[1]]))
        raise refused(f"{said!r} are two windows; a question has one.", "contradiction")
    return [("since", spans[0]), ("until", spans[-1])], other[1]


def _are_days(when: When) -> bool:
    return isinstance(when, Span) and not when.point


def _range(words: Sequence[str], start: int, now: Now, joints: frozenset[str]) -> Read:
    """Read "A to B" at a place."""
    hours = start > 0
    one = _span(words, start, now, prepared=hours, hours=hours)
    one = _on_its_day(words, one, now) if one and hours else one
    if not one or word_at(words, one[1]) not in joints:
        return None
    at = one[1] + 1
    numbered = hours or (isinstance(one[0], Span) and one[0].day is not None)
    other = _now(words, at, now) or _span(words, at, now, prepared=True, hours=numbered)
    if not other:
        return None
    other = _on_its_day(words, other, now) if isinstance(one[0], Span) and one[0].point else other
    begin, end = _paired(words[start:], one[0], other[0], now)
    if isinstance(begin, Times) and isinstance(end, Times):
        return [("in", _stretch(begin, end))], other[1]
    return [("since", begin), ("until", end)], other[1]


def _paired(words: Sequence[str], one: When, other: When, now: Now) -> tuple[When, When]:
    """Let the two ends of a range tell each other which day, month or earlier week is meant."""
    if isinstance(one, Times) and isinstance(other, Span) and one.number >= 0 and other.day and not other.point:
        return on_day(_numbered(other.day, one.number), Times(0, DAY_S), now.zone), other
    if isinstance(one, Span) and isinstance(other, Times):
        return one, _end_after(one, other, now)
    if isinstance(one, Span) and isinstance(other, Span) and one.loose and one.start_ms > other.start_ms:
        anchor = other.day or days.day_of(other.end_ms - 1, now.zone)
        again = _span(words, 0, replace(now, today=anchor), prepared=True, hours=True)
        return (again[0] if again else one), other
    return one, other


def _numbered(day: date, number: int) -> date:
    return a_date(day.year, day.month, number, f"{number} {day:%B} {day.year}".lower())


def _end_after(one: Span, other: Times, now: Now) -> When:
    """Return the end of "october 20 to 25" and of "yesterday 22:00 to 02:00", which is on the next day.

    The end of "since yesterday until 9:40" is left without a day.
    """
    if one.day and not one.point and other.number > one.day.day:
        return on_day(_numbered(one.day, other.number), Times(0, DAY_S), now.zone)
    if not one.day or not one.point:
        return other
    end = on_day(one.day, checked_hour(other), now.zone)
    return end if end.start_ms > one.start_ms else on_day(one.day + timedelta(days=1), other, now.zone)


def _stretch(begin: Times, end: Times) -> Times:
    """Return from one time of day to another; one that is not later is on the next day.

    A bare hour goes with the other end: "2 to 4 pm" begins at 14:00, "11am to 1" ends at 13:00.
    """
    begin, end = checked_hour(begin), checked_hour(end)
    if 1 <= end.number < 12 and (begin.half == "am" or 1 <= begin.number <= 12):
        later_s = end.start_s + DAY_S // 2
        if end.start_s <= begin.start_s < later_s:
            end = Times(later_s, later_s + 3600, point=True)
    afternoon = Times(begin.start_s + DAY_S // 2, begin.end_s + DAY_S // 2, point=True)
    if 1 <= begin.number < 12 and end.half == "pm" and afternoon.start_s < end.start_s:
        begin = afternoon
    last = end.start_s if end.point else end.end_s
    half = begin.half if begin.half not in ("", "o'clock") else end.half
    return Times(begin.start_s, last if last > begin.start_s else last + DAY_S, half=half)
