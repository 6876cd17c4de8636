"""Times as a note says them: local, short, and in no doubt about the zone. Pure; not a clock (field case F90)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from limpet import days

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hours:
    """The clocks of a zone in a span of local days: `first` to `last`, `from_ms` included, `until_ms` excluded."""

    zone: str
    first: date
    last: date
    from_ms: int
    until_ms: int

    @classmethod
    def of(cls, first: date, last: date, zone: str) -> Hours:
        """Return the clocks of these days. Raises BadInput for a zone that does not exist."""
        return cls(zone, first, last, days.window_of(first, zone)[0], days.window_of(last, zone)[1])

    def at(self, at_ms: int) -> str:
        """Return `at 14:02`, or `on Mon 23 Nov at 14:02` where the span has several days."""
        return f"at {self.time(at_ms)}" if self.first == self.last else f"on {self.time(at_ms)}"

    def time(self, at_ms: int) -> str:
        """Return `14:02`, with the offset where clocks show that time twice; with the day where there are several."""
        local = days.to_local(at_ms, self.zone)
        shown = f"{local:%H:%M}"
        if local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset():
            shown += f" ({self._offset(at_ms)})"
        if self.first == self.last:
            return shown
        day = days.day_of(at_ms, self.zone)
        return f"{WEEKDAYS[day.weekday()][:3]} {day.day} {MONTHS[day.month - 1][:3]}, {shown}"

    def full(self, at_ms: int) -> str:
        """Return date, time and offset: `2026-05-05 01:25 +09:00`."""
        shown = days.show(at_ms, self.zone)
        return f"{shown[:10]} {shown[11:16]} {shown[23:]}"

    def span(self) -> str:
        """Return the days in words: `on Sunday, 29 November 2026`, `from Monday, 23 to ...`."""
        if self.first == self.last:
            return f"on {self._day(self.first)}"
        return f"from {self._day(self.first)} to {self._day(self.last)}"

    def zoned(self) -> str:
        """Return the zone with its offsets: `Europe/Berlin, +02:00 and from 03:00 on +01:00`."""
        begin, end = self._offset(self.from_ms), self._offset(self.until_ms - 1)
        if begin == end:
            return f"{self.zone}, {begin}"
        change = days.show(self._change(), self.zone)
        since = change[11:16] if self.first == self.last else f"{change[:10]} {change[11:16]}"
        return f"{self.zone}, {begin} and from {since} on {end}"

    def _offset(self, at_ms: int) -> str:
        return days.show(at_ms, self.zone)[23:]

    def _change(self) -> int:
        """Return an instant at which the offset is the new one and, a moment before, was not."""
        low, high = self.from_ms, self.until_ms - 1
        new = self._offset(high)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._offset(middle) == new else (middle, high)
        return high

    def _day(self, day: date) -> str:
        return f"{WEEKDAYS[day.weekday()]}, {day.day} {MONTHS[day.month - 1]} {day.year}"


def week_of(day: date) -> tuple[date, date]:
    """Return the Monday and the Sunday of the week that holds this day."""
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6)


def month_of(day: date) -> tuple[date, date]:
    """Return the first and the last day of the month that holds this day."""
    first = day.replace(day=1)
    return first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
