"""From words to one day: "yesterday", "last monday", "25 october", "3 days ago". Knows no times of day, no ranges.

A weekday, a date without its year, a day of the month is the most recent one that has begun; "last monday" is the one
before today, "this" and "next monday" those of this week and the next.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta
from typing import TYPE_CHECKING

from limpet.question.moments import a_date, impossible, later
from limpet.question.refusal import refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limpet.question.moments import Now

WEEKDAYS = {
    name: number
    for number, names in enumerate(
        ("monday mon", "tuesday tue tues", "wednesday wed", "thursday thu thur thurs",
         "friday fri", "saturday sat", "sunday sun")
    )
    for name in names.split()
}  # fmt: skip
MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct", "november nov", "december dec"), 1,
    )
    for name in names.split()
}  # fmt: skip
NAMED = {
    "today": 0,
    "earlier today": 0,
    "yesterday": -1,
    "tomorrow": 1,
    "day before yesterday": -2,
    "day after tomorrow": 2,
}
LAST, NEXT = ("last", "past", "previous"), ("next", "coming")
WHICH = {**dict.fromkeys(LAST, -1), "this": 0, **dict.fromkeys(NEXT, 1)}
"""Words for the one before, this one and the one after."""

COUNTS = {
    name: number
    for number, name in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
} | {"twenty": 20, "thirty": 30}  # fmt: skip
NUMBER = re.compile(r"[0-9]{1,6}")
ORDINAL = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th)")
YEAR = re.compile(r"[0-9]{4}")
ISO_DAY = re.compile(r"([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})")
DOTTED = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
SLASHED = re.compile(r"([0-9]{1,2})/([0-9]{1,2})(?:/([0-9]{4}))?")

Day = tuple[date, int, bool]
"""The day, how many words it took, and whether it was chosen as the most recent of its name."""


def read_day(words: Sequence[str], now: Now) -> Day | None:
    """Read one day at the start of the words."""
    for reader in (_named, _ago, _weekday, _figures, _spelled):
        if read := reader(words, now):
            return read
    return None


def word_at(words: Sequence[str], at: int) -> str:
    """Return the word at a place, "" past the end."""
    return words[at] if at < len(words) else ""


def count_of(word: str) -> int | None:
    """Return the number that a word is."""
    return int(word) if NUMBER.fullmatch(word) else COUNTS.get(word)


def _named(words: Sequence[str], now: Now) -> Day | None:
    for size in (3, 2, 1):
        shift = NAMED.get(" ".join(words[:size])) if len(words) >= size else None
        if shift is not None:
            return later(now.today, shift), size, False
    return None


def _ago(words: Sequence[str], now: Now) -> Day | None:
    if word_at(words, 2) != "ago" or word_at(words, 1) not in ("day", "days"):
        return None
    count = 1 if words[0] == "a" else count_of(words[0])
    return None if count is None else (later(now.today, -count), 3, False)


def _weekday(words: Sequence[str], now: Now) -> Day | None:
    which = WHICH.get(word_at(words, 0))
    start = 0 if which is None else 1
    number = WEEKDAYS.get(word_at(words, start))
    if number is None:
        return None
    in_week = timedelta(days=number) - timedelta(days=now.today.weekday())
    back = -in_week.days % 7
    if which is None:
        dated = _with_date(words, number, now)
        week = _of_week(words[1:])
        in_that = week and (later(now.today, in_week.days + 7 * week[0]), 1 + week[1], False)
        return dated or in_that or (later(now.today, -back), 1, True)
    shift = -(back or 7) if which < 0 else in_week.days + 7 * which
    return later(now.today, shift), 2, False


def _of_week(words: Sequence[str]) -> tuple[int, int] | None:
    """Read "last week", "of this week" after a weekday: how many weeks on, and how many words it took."""
    start = 1 if word_at(words, 0) in ("of", "in") else 0
    start += word_at(words, start) == "the"
    which = WHICH.get(word_at(words, start))
    return (which, start + 2) if which is not None and word_at(words, start + 1) == "week" else None


def _with_date(words: Sequence[str], number: int, now: Now) -> Day | None:
    """Read the date that may follow a weekday; the two must agree."""
    before = 2 if word_at(words, 1) in (",", "the") else 1
    dated = _figures(words[before:], now) or _spelled(words[before:], now)
    if not dated:
        return None
    day, used, loose = dated
    if day.weekday() == number:
        return day, before + used, loose
    said = " ".join(words[: before + used]).replace(" ,", ",")
    right = f"{day.isoformat()} is a {day:%A}"
    raise refused(f"{said!r} contradicts itself: {right}.", "contradiction", f"failed tool calls on {day.isoformat()}")


def _figures(words: Sequence[str], now: Now) -> Day | None:
    """Read a date in figures."""
    said = word_at(words, 0)
    if match := ISO_DAY.fullmatch(said):
        return a_date(int(match[1]), int(match[2]), int(match[3]), said), 1, False
    if match := DOTTED.fullmatch(said):
        return a_date(int(match[3]), int(match[2]), int(match[1]), said), 1, False
    if match := SLASHED.fullmatch(said):
        return _slashed(said, (int(match[1]), int(match[2])), match[3], now)
    return None


def _slashed(said: str, pair: tuple[int, int], year: str | None, now: Now) -> Day:
    """Read 10/25/2026 and 25/10/2026; 10/5/2026 can be either, and is refused."""
    low, high = sorted(pair)
    if low >= 1 and high <= 12 and low != high:
        shown = year or str(now.today.year)
        one, other = f"{shown}-{low:02}-{high:02}", f"{shown}-{high:02}-{low:02}"
        raise refused(f"{said!r} can be {one} or {other}.", "ambiguous_date", f"failed tool calls on {one}")
    month, day = (low, high) if high > 12 else pair
    return (a_date(int(year), month, day, said), 1, False) if year else (_latest(month, day, said, now), 1, True)


def _latest(month: int, day: int, said: str, now: Now) -> date:
    """Return the most recent such date that has begun: this year's, or an earlier year's."""
    for year in range(now.today.year, now.today.year - 9, -1):
        if 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1] and date(year, month, day) <= now.today:
            return date(year, month, day)
    raise impossible(said, month, day, now.today.year)


def _spelled(words: Sequence[str], now: Now) -> Day | None:
    """Read "25 october", "october 25th, 2026", "the 25th of october", "25th"."""
    first = word_at(words, 0)
    if first in MONTHS:
        day = day_number(word_at(words, 1))
        return None if day is None else _of_year(words, (MONTHS[first], day), 2, now)
    day = 1 if first == "first" and word_at(words, 1) == "of" else day_number(first)
    if day is None:
        return None
    of = 1 if word_at(words, 1) != "of" else 3 if word_at(words, 2) == "the" else 2
    if month := MONTHS.get(word_at(words, of)):
        return _of_year(words, (month, day), of + 1, now)
    return (_latest_number(day, first, now), 1, True) if ORDINAL.fullmatch(first) else None


def day_number(word: str) -> int | None:
    """Return the day of a month that a word may be: "25", "25th", even "35th"."""
    match = ORDINAL.fullmatch(word)
    if match:
        return int(match[1])
    return int(word) if NUMBER.fullmatch(word) and len(word) < 3 else None


def _of_year(words: Sequence[str], month_day: tuple[int, int], used: int, now: Now) -> Day:
    comma = 1 if word_at(words, used) == "," else 0
    year = word_at(words, used + comma)
    said = " ".join(words[:used])
    if YEAR.fullmatch(year):
        return a_date(int(year), *month_day, f"{said} {year}"), used + comma + 1, False
    return _latest(*month_day, said, now), used, True


def _latest_number(day: int, said: str, now: Now) -> date:
    """Return the most recent day with that number in its month."""
    if not 1 <= day <= 31:
        raise refused(f"There is no day {said!r}: a month has at most 31 days.", "impossible_date")
    month = now.today.replace(day=1)
    while day > monthrange(month.year, month.month)[1] or month.replace(day=day) > now.today:
        month = (month - timedelta(days=1)).replace(day=1)
    return month.replace(day=day)
