"""Time, decided in one place: which local day an instant belongs to, and what a said time means. Not a clock.

Instants are epoch milliseconds, UTC, between the years 1970 and 2200; zones are IANA names. A local day is the time
from its first instant to the first instant of the next day: 23, 24 or 25 hours, and none at all for a day that a zone
skipped (Pacific/Apia, 2011-12-30). Where clocks go back over midnight the day begins once, after the last instant that
still belongs to the day before, so that days never overlap and leave nothing out.
"""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Any

from limpet.errors import BadInput

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
EARLIEST_MS = 631_152_000_000
"""1990-01-01: an event said to be older is placed by its arrival."""

LATEST_MS = 4_102_444_800_000
"""2100-01-01: an event said to be newer is placed by its arrival."""

NAIVE = "naive_time"
UNREADABLE = "time_unreadable"
OUT_OF_RANGE = "time_out_of_range"

UNITS = ((1, 1000), (1, 1), (1000, 1), (1_000_000, 1))
"""Seconds, milliseconds, microseconds, nanoseconds: (divide by, multiply by) gives milliseconds."""

NUMBER = re.compile(r"[+-]?[0-9]{1,25}(\.[0-9]{1,25})?")
LONGEST_TIME = 64
"""No way of writing a time is longer; what is, is not looked at."""


@lru_cache(maxsize=256)
def zone(name: str) -> tzinfo:
    """Return the zone of an IANA name; raises BadInput with near matches where there is none."""
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        if name == "UTC":
            return UTC
        raise BadInput(f"There is no time zone {name[:80]!r}.", _near_zones(name), "unknown_zone") from error


def _near_zones(name: str) -> str:
    import difflib  # noqa: PLC0415 - only for a wrong name

    known = {full.lower(): full for full in sorted(zoneinfo.available_timezones())}
    if not known:
        return "This machine has no time zone data: install the package tzdata, or use UTC."
    wanted = name[:80].lower().replace(" ", "_")
    near = [wanted] if wanted in known else [full for full in known if wanted and full.endswith(f"/{wanted}")]
    near += [full for full in difflib.get_close_matches(wanted, known, 3, 0.6) if full not in near]
    return f"Did you mean {' or '.join(known[full] for full in near[:3])}?" if near else "For example Europe/Berlin."


def day_of(at_ms: int, zone_name: str) -> date:
    """Return the local day that the instant belongs to: the one whose `window_of` holds it."""
    day = datetime.fromtimestamp(at_ms // 1000, zone(zone_name)).date()
    return day if _start_of(day, zone_name) <= at_ms else day - timedelta(days=1)


def window_of(day: date, zone_name: str) -> tuple[int, int]:
    """Return the first instant of the local day and the first one after it."""
    return _start_of(day, zone_name), _start_of(day + timedelta(days=1), zone_name)


def at_local(day: date, hour: int, minute: int, zone_name: str, second: int = 0, millisecond: int = 0) -> int:
    """Return the instant at which the clocks of that zone show that time.

    Where they show it twice it is the first time; where they never show it (the hour that is skipped) it is the first
    instant after the gap.
    """
    return of_naive(datetime.combine(day, time(hour, minute, second, millisecond * 1000)), zone_name)


def of_naive(local: datetime, zone_name: str) -> int:
    """Return the instant of a local time without zone, by the rules of `at_local`."""
    first, last = _both(local, zone_name)
    return first if first <= last else _after_gap(last, first, zone(zone_name))


def to_local(at_ms: int, zone_name: str) -> datetime:
    """Return what clock and calendar of that zone show at the instant, with its offset."""
    shown = datetime.fromtimestamp(at_ms // 1000, zone(zone_name))
    return shown.replace(microsecond=at_ms % 1000 * 1000)


def is_shown_twice(at_ms: int, zone_name: str) -> bool:
    """Tell whether clocks of that zone show this time of day twice, since they were put back."""
    first, last = _both(to_local(at_ms, zone_name).replace(tzinfo=None), zone_name)
    return first < last


def show(at_ms: int, zone_name: str) -> str:
    """Return the instant as people of that zone write it: ISO 8601 with milliseconds and offset."""
    return to_local(at_ms, zone_name).isoformat(timespec="milliseconds")


def said(shown: str) -> str:
    """Return for people what `show` says of a time: 2026-05-04 14:02:11+02:00."""
    return f"{shown[:10]} {shown[11:19]}{shown[23:]}"


def instant(value: Any, arrived_ms: int, zone_name: str) -> tuple[int, str]:
    """Return what a source said the time was, and a flag: "" where it is plain.

    Numbers are seconds, milliseconds, microseconds or nanoseconds, by their size; text is such a number or ISO 8601.
    `naive_time` says that no zone was given, so the given one was taken (UTC where there is no such zone).
    `time_unreadable` and `time_out_of_range` (not within 1990 to 2100) say that the time is that of the arrival.
    Never raises.
    """
    if type(value) is int and EARLIEST_MS <= value < LATEST_MS:
        return value, ""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return arrived_ms, UNREADABLE
    at_ms, flag = _said(value, zone_name)
    return (arrived_ms, flag) if at_ms is None else (at_ms, flag)


def _said(value: float | str, zone_name: str) -> tuple[int | None, str]:
    if not isinstance(value, str):
        return _of_number(value)
    text = value.strip()
    if len(text) > LONGEST_TIME:
        return None, UNREADABLE
    if not NUMBER.fullmatch(text):
        return _of_iso(text, zone_name)
    numbered = _of_number(float(text) if "." in text else int(text))
    return _of_iso(text, zone_name) if numbered[1] and len(text) == len("20260504") else numbered


def _of_number(value: float) -> tuple[int | None, str]:
    """Return the instant that a number stands for in the only unit that makes it one between 1990 and 2100."""
    for divide, multiply in UNITS:
        if EARLIEST_MS * divide <= value * multiply < LATEST_MS * divide:
            return (value // divide * multiply if isinstance(value, int) else round(value * multiply / divide)), ""
    return None, OUT_OF_RANGE if value == value else UNREADABLE  # noqa: PLR0124 - NaN alone differs from itself


def _of_iso(text: str, zone_name: str) -> tuple[int | None, str]:
    try:
        said = datetime.fromisoformat(text.upper())
        at_ms = of_naive(said, _known(zone_name)) if said.tzinfo is None else _ms(said)
    except (ValueError, OverflowError):
        return None, UNREADABLE
    if not EARLIEST_MS <= at_ms < LATEST_MS:
        return None, OUT_OF_RANGE
    return at_ms, NAIVE if said.tzinfo is None else ""


def _known(zone_name: str) -> str:
    try:
        zone(zone_name)
    except BadInput:
        return "UTC"
    return zone_name


@lru_cache(maxsize=4096)
def _start_of(day: date, zone_name: str) -> int:
    midnight = datetime.combine(day, time())
    first, last = _both(midnight, zone_name)
    if first > last:
        return _after_gap(last, first, zone(zone_name))
    still_before = to_local(last - 1, zone_name).date() < day
    return last if still_before else first


def _both(local: datetime, zone_name: str) -> tuple[int, int]:
    """Return the instants of the first and second time that clocks show it; in a gap the first is the later one."""
    there = local.replace(tzinfo=zone(zone_name))
    return _ms(there.replace(fold=0)), _ms(there.replace(fold=1))


def _after_gap(before: int, after: int, tz: tzinfo) -> int:
    """Return the instant between the two at which the zone's offset changes."""
    old = datetime.fromtimestamp(before / 1000, tz).utcoffset()
    while after - before > 1:
        middle = (before + after) // 2
        if datetime.fromtimestamp(middle / 1000, tz).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after


def _ms(moment: datetime) -> int:
    return (moment - EPOCH) // MILLISECOND
