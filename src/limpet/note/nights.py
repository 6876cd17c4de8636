"""Which local days are due for their note at an instant. Pure; not for making them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from limpet import days

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

AT = "03:00"
YEAR = timedelta(days=366)
LONGEST = 31
"""So many days without an event are looked at after a long time off: whether anybody was watching then."""


def ready_ms(day: date, zone: str, at: str = AT) -> int:
    """Return the instant from which a local day's note is due: that time on the next day, which comes once.

    Where clocks are put back over it, it is the first time; where they skip it, the first instant after.
    """
    hour, minute = map(int, at.split(":"))
    return days.at_local(day + timedelta(days=1), hour, minute, zone)


def latest(now_ms: int, zone: str, at: str = AT) -> date:
    """Return the newest local day whose note is due."""
    today = days.day_of(now_ms, zone)
    yesterday = today - timedelta(days=1)
    return yesterday if ready_ms(yesterday, zone, at) <= now_ms else yesterday - timedelta(days=1)


def due(wanted: Iterable[date], now_ms: int, zone: str, at: str = AT) -> Sequence[date]:
    """Return which of these days are due now, oldest first, each once."""
    return [day for day in sorted(set(wanted)) if ready_ms(day, zone, at) <= now_ms]


def since(through: date, newest: date) -> Sequence[date]:
    """Return the days after one that was looked at, to the newest one: the last LONGEST of them, oldest first.

    None where it is more than a year: that is a wrong clock, or a memory that was put away.
    """
    if newest - through > YEAR:
        return []
    first = max(through + timedelta(days=1), newest - timedelta(days=LONGEST - 1))
    return [first + timedelta(days=n) for n in range((newest - first).days + 1)]


def exists(day: date, zone: str) -> bool:
    """Whether the zone has that day: some have skipped one."""
    start, end = days.window_of(day, zone)
    return end > start
