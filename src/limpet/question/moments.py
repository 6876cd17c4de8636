"""What a piece of time is: a span of instants, or a time of day whose day is not known yet. Reads no words."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

from limpet import days
from limpet.question.refusal import refused, short

DAY_S = 86_400
FIRST_YEAR, LAST_YEAR = 1970, 2100
MONTH_NAMES = (
    "", "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Now:
    """When and where a question is asked; `today` is the day from which weekdays and dates look back."""

    at_ms: int
    zone: str
    today: date


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, its end excluded; `day` if it lies within one; `point` if it stands for a moment.

    `loose` says that it was chosen as the most recent one of its name, and could also be an earlier one.
    """

    start_ms: int
    end_ms: int
    day: date | None = None
    point: bool = False
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Times:
    """A stretch within a day that is not known yet, in seconds after midnight; `number` if only a number was said.

    `half` is the half of the day that was said: am or pm; `sure` for what has a name: noon, morning.
    """

    start_s: int
    end_s: int
    point: bool = False
    number: int = -1
    half: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it may be of either half of the day: "at 9", "between 8 and 10"."""
        return self.half in ("", "o'clock") and 3600 <= self.start_s < 3600 + DAY_S // 2


def on_day(day: date, times: Times, zone: str, *, loose: bool = False) -> Span:
    """Return the stretch on that day."""
    start, end = second_of(day, times.start_s, zone), second_of(day, times.end_s, zone)
    return Span(start, end, day, times.point, loose)


def second_of(day: date, second: int, zone: str) -> int:
    """Return the instant when clocks show that many seconds after the day's midnight; 24:00 is the day's end."""
    day, rest = day + timedelta(days=second // DAY_S), second % DAY_S
    if not rest:
        return days.window_of(day, zone)[0]
    return days.at_local(day, rest // 3600, rest // 60 % 60, zone, rest % 60)


def whole(first: date, last: date, zone: str, *, loose: bool = False) -> Span:
    """Return the span of the days from first to last, both held."""
    for day in (first, last):
        in_reach(day)
    start, end = days.window_of(first, zone)[0], days.window_of(last, zone)[1]
    return Span(start, end, first if first == last else None, loose=loose)


def in_reach(day: date) -> date:
    """Return the day; raises NotUnderstood for one of a year that cannot be asked about."""
    if FIRST_YEAR <= day.year <= LAST_YEAR:
        return day
    raise out_of_reach(day.isoformat())


def out_of_reach(said: str) -> Exception:
    """Return the refusal of a time before the first or after the last year."""
    reach = f"from {FIRST_YEAR} to {LAST_YEAR}"
    return refused(f"{short(said)!r} is out of reach: the years {reach} can be asked about.", "impossible_date")


def later(day: date, count: int) -> date:
    """Return the day so many days later (or earlier); raises NotUnderstood where no calendar reaches."""
    try:
        return in_reach(day + timedelta(days=count))
    except OverflowError:
        raise out_of_reach(f"{abs(count):,} days") from None


def months_later(day: date, count: int) -> date:
    """Return the same day of the month so many months later, or that month's last."""
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise out_of_reach(f"{abs(count):,} months")
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def a_date(year: int, month: int, day: int, said: str) -> date:
    """Return the date; raises NotUnderstood where there is none."""
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise out_of_reach(said)
    try:
        return date(year, month, day)
    except ValueError:
        raise impossible(said, month, day, year) from None


def impossible(said: str, month: int, day: int, year: int) -> Exception:
    """Return the refusal of a day that no calendar has."""
    if not 1 <= month <= 12:
        why = f"there is no month {month}"
    elif day < 1:
        why = "days are counted from 1"
    else:
        why = f"{MONTH_NAMES[month]}{f' {year}' if month == 2 else ''} has {monthrange(year, month)[1]} days"
    return refused(f"There is no day {short(said)!r}: {why}.", "impossible_date")
