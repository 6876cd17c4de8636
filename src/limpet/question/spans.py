"""From words to a span of time: "yesterday evening", "last week", "past 36 hours", "october". Knows no prepositions.

"last week", "last month" and "last year" are the calendar's, "last 7 days" and "past week" end now. Days, weeks, months
and years are taken off the calendar, hours, minutes and seconds off the clock. "Last night" is yesterday 18:00 to today
06:00.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from limpet import days
from limpet.question.dates import LAST, MONTHS, NEXT, WHICH, YEAR, count_of, read_day, word_at
from limpet.question.hours import PARTS, read_times
from limpet.question.moments import (
    FIRST_YEAR,
    LAST_YEAR,
    Span,
    Times,
    a_date,
    in_reach,
    later,
    months_later,
    on_day,
    out_of_reach,
    whole,
)
from limpet.question.refusal import refused, short

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from limpet.question.moments import Now

Read = tuple[Span | Times, int] | None
"""What was read, and how many words it took."""

DOUBTFUL = frozenset({"may", "march", "mar"})
"""Months that are also other words: they need a preposition, a day or a year."""

DAY_PARTS = {
    "last night": (-1, "night"), "last evening": (-1, "evening"), "tonight": (0, "night"),
    "this morning": (0, "morning"), "this afternoon": (0, "afternoon"), "this evening": (0, "evening"),
}  # fmt: skip
UNITS = {
    name: unit
    for unit, names in {
        "second": "second seconds sec secs s", "minute": "minute minutes min mins m", "hour": "hour hours hr hrs h",
        "day": "day days d", "week": "week weeks w", "month": "month months", "year": "year years y",
    }.items()
    for name in names.split()
}  # fmt: skip
SINGLE = frozenset(["second", "minute", "min", "hour", "hr", "day", "week", "month", "year"])
CLOCK_MS = {"second": 1_000, "minute": 60_000, "hour": 3_600_000}
CALENDAR = frozenset({"week", "month", "year", "weekend"})
GLUED = re.compile(r"([0-9]{1,6})([a-z]+)")
ISO_MONTH = re.compile(r"([0-9]{4})-([0-9]{1,2})")
INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}t[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(z|[+-][0-9:]{2,8})?")


def read_span(words: Sequence[str], now: Now, *, prepared: bool = False, hours: bool = False) -> Read:
    """Read a span or a time of day at the start of the words.

    `prepared`: a preposition stands before it (then "may" and "2025" are meant so); `hours`: a bare number is an hour.
    """
    for reader in (_instant, _day, _day_part, _calendar, _rolling, _ago, _month):
        if read := reader(words, now):
            return read
    if prepared and (read := _prepared(words, now)):
        return read
    return read_times(words, hours=hours, parts=prepared)


def _instant(words: Sequence[str], now: Now) -> Read:
    match = INSTANT.fullmatch(word_at(words, 0))
    if not match:
        return None
    try:
        said = datetime.fromisoformat(words[0].upper())
    except ValueError:
        raise refused(f"There is no time {short(words[0])!r}.", "impossible_date") from None
    if not FIRST_YEAR <= said.year <= LAST_YEAR:
        raise out_of_reach(words[0])
    at_ms = days.of_naive(said, now.zone) if said.tzinfo is None else (said - days.EPOCH) // days.MILLISECOND
    width = 1 if match[2] else 1_000 if match[1] else 60_000
    return Span(at_ms, at_ms + width, days.day_of(at_ms, now.zone), point=True), 1


def _day(words: Sequence[str], now: Now) -> Read:
    """Read a day, and the part of it or the time that may follow: "wednesday 14:00", "yesterday in the evening"."""
    read = read_day(words, now)
    if not read:
        return None
    day, used, loose = read
    if times := _time_after(words[used:]):
        return on_day(in_reach(day), times[0], now.zone, loose=loose), used + times[1]
    return whole(day, day, now.zone, loose=loose), used


def _time_after(rest: Sequence[str]) -> tuple[Times, int] | None:
    before = 2 if tuple(rest[:2]) == ("in", "the") else 1 if word_at(rest, 0) == "at" else 0
    times = read_times(rest[before:], hours=word_at(rest, 0) == "at", parts=True)
    return (checked_hour(times[0]), before + times[1]) if times else None


def checked_hour(times: Times) -> Times:
    """Return the times; raises NotUnderstood for a bare number that is no hour."""
    if times.number > 24:
        raise refused(f"There is no hour {times.number}.", "impossible_time", "tool calls before 9:40")
    return times


def _day_part(words: Sequence[str], now: Now) -> Read:
    for size in (2, 1):
        if len(words) >= size and (found := DAY_PARTS.get(" ".join(words[:size]))):
            return on_day(later(now.today, found[0]), Times(*PARTS[found[1]]), now.zone), size
    return None


def _calendar(words: Sequence[str], now: Now) -> Read:
    """Read "last week", "this month", "the weekend", "week of october 19"."""
    which, unit = word_at(words, 0), word_at(words, 1)
    if (which, unit) == ("week", "of") and (read := read_day(words[2 + (word_at(words, 2) == "the") :], now)):
        return _of_calendar("week", read[0], 0, now), 2 + (word_at(words, 2) == "the") + read[1]
    if which == "weekend":
        begun = (now.today.weekday() - 5) % 7
        return _week_end(later(now.today, -begun), now), 1
    if which not in WHICH or which == "past":
        return None
    if which == "this" and unit == "hour":
        start = days.to_local(now.at_ms, now.zone).replace(minute=0, second=0, microsecond=0)
        start_ms = (start - days.EPOCH) // days.MILLISECOND
        return Span(start_ms, start_ms + CLOCK_MS["hour"], now.today), 2
    return (_of_calendar(unit, now.today, WHICH[which], now), 2) if unit in CALENDAR else None


def _of_calendar(unit: str, day: date, shift: int, now: Now) -> Span:
    """Return the week, month, year or weekend that the day lies in, or one before or after it."""
    if unit in ("week", "weekend"):
        monday = later(day, 7 * shift - day.weekday())
        return _week_end(later(monday, 5), now) if unit == "weekend" else whole(monday, later(monday, 6), now.zone)
    if unit == "month":
        first = months_later(day.replace(day=1), shift)
        return whole(first, later(months_later(first, 1), -1), now.zone)
    return _year(day.year + shift, str(day.year + shift), now)


def _week_end(saturday: date, now: Now) -> Span:
    return whole(saturday, later(saturday, 1), now.zone)


def _year(year: int, said: str, now: Now) -> Span:
    return whole(a_date(year, 1, 1, said), a_date(year, 12, 31, said), now.zone)


def _amount(words: Sequence[str]) -> tuple[int, str, int] | None:
    """Read "36 hours", "24h", "two weeks", "hour": how many of which unit, and how many words it took."""
    if match := GLUED.fullmatch(word_at(words, 0)):
        return (int(match[1]), UNITS[match[2]], 1) if match[2] in UNITS else None
    if word_at(words, 0) in SINGLE:
        return 1, UNITS[words[0]], 1
    count, unit = count_of(word_at(words, 0)), word_at(words, 1)
    return (count, UNITS[unit], 2) if count is not None and unit in UNITS else None


def _rolling(words: Sequence[str], now: Now) -> Read:
    """Read "last 36 hours", "past week", "next 3 days"."""
    which = word_at(words, 0)
    if which not in LAST and which not in NEXT:
        return None
    amount = _amount(words[1:])
    if not amount:
        return None
    count, unit, used = amount
    if not count:
        raise refused(f"{' '.join(words[: 1 + used])!r} is no time at all.", "impossible_date")
    if which in LAST:
        return Span(_earlier(count, unit, now), now.at_ms), 1 + used
    return Span(now.at_ms, now.at_ms + 1), 1 + used


def _earlier(count: int, unit: str, now: Now) -> int:
    """Return the instant that many units before now."""
    if unit in CLOCK_MS:
        return _reachable(now.at_ms - count * CLOCK_MS[unit], f"{count} {unit}s", now.zone)
    local = days.to_local(now.at_ms, now.zone).replace(tzinfo=None, fold=0)
    months = {"month": 1, "year": 12}.get(unit)
    day = (
        months_later(local.date(), -months * count)
        if months
        else later(local.date(), -count * (7 if unit == "week" else 1))
    )
    return days.of_naive(datetime.combine(day, local.time()), now.zone)


def _reachable(at_ms: int, said: str, zone: str) -> int:
    if at_ms < 0 or days.day_of(at_ms, zone).year < FIRST_YEAR:
        raise out_of_reach(said)
    return at_ms


def _ago(words: Sequence[str], now: Now) -> Read:
    """Read "2 hours ago", a moment; "2 weeks ago", that calendar week."""
    article = word_at(words, 0) in ("a", "an")
    amount = _amount(words[article:])
    if not amount or word_at(words, article + amount[2]) != "ago":
        return None
    count, unit, used = amount
    used += article + 1
    if unit in CLOCK_MS:
        at_ms = _earlier(count, unit, now)
        return Span(at_ms, at_ms, days.day_of(at_ms, now.zone), point=True), used
    if unit == "day":
        day = later(now.today, -count)
        return whole(day, day, now.zone), used
    return _of_calendar(unit, now.today, -min(count, 10_000), now), used


def _month(words: Sequence[str], now: Now) -> Read:
    said = word_at(words, 0)
    if match := ISO_MONTH.fullmatch(said):
        return _of_calendar("month", a_date(int(match[1]), int(match[2]), 1, said), 0, now), 1
    which = WHICH.get(said)
    start = 0 if which is None or said == "past" else 1
    month, year = MONTHS.get(word_at(words, start)), word_at(words, start + 1)
    if not month:
        return None
    if not start and YEAR.fullmatch(year):
        return _of_calendar("month", a_date(int(year), month, 1, f"{said} {year}"), 0, now), 2
    if not start and said in DOUBTFUL:
        return None
    return _named_month(month, which if start else None, now), start + 1


def _named_month(month: int, which: int | None, now: Now) -> Span:
    """Return the most recent month of that name that has begun; with "last" the one before this month."""
    begun = now.today.month >= month if which is None else now.today.month > month
    year = now.today.year + (which or 0) if which is not None and which >= 0 else now.today.year - (not begun)
    span = _of_calendar("month", a_date(year, month, 1, str(year)), 0, now)
    return Span(span.start_ms, span.end_ms, loose=which is None)


def _prepared(words: Sequence[str], now: Now) -> Read:
    """Read what only a preposition makes a time: "(in) 2025", "(in) may"."""
    said = word_at(words, 0)
    start = 1 if said == "year" else 0
    if YEAR.fullmatch(word_at(words, start)) and FIRST_YEAR <= int(words[start]) <= LAST_YEAR:
        return _year(int(words[start]), words[start], now), start + 1
    return (_named_month(MONTHS[said], None, now), 1) if said in DOUBTFUL else None
