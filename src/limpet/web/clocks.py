"""How times and durations are written: in the reader's zone, the agent's beside it where they differ. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from limpet import days

if TYPE_CHECKING:
    from datetime import date

DAY_MS = 86_400_000
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True, slots=True)
class Clocks:
    """The reader's zone and the one in which the agent lives; both IANA names."""

    zone: str
    agent_zone: str

    def iso(self, at_ms: int) -> str:
        """Return the instant for machines."""
        return days.show(at_ms, self.zone)

    def time(self, at_ms: int) -> str:
        """Return the time of day: 14:02:11."""
        return days.show(at_ms, self.zone)[11:19]

    def moment(self, at_ms: int) -> str:
        """Return day and time: 29 Nov 2026, 14:02:11."""
        return f"{self.day(days.day_of(at_ms, self.zone))}, {self.time(at_ms)}"

    def other(self, at_ms: int) -> str:
        """Return the time in the agent's zone, "" where its clocks show the same."""
        there = days.show(at_ms, self.agent_zone)
        here = days.show(at_ms, self.zone)
        if there[:16] == here[:16]:
            return ""
        return there[11:16] if there[:10] == here[:10] else f"{there[8:10]}. {there[11:16]}"

    def day(self, day: date) -> str:
        """Return a day: 29 Nov 2026."""
        return f"{day.day} {day:%b %Y}"

    def of(self, at_ms: int) -> date:
        """Return the reader's day that an instant belongs to."""
        return days.day_of(at_ms, self.zone)


def took(ms: int | None) -> str:
    """Return a duration in the two units that matter: 70 ms, 1.9 s, 2 min 5 s, 3 h 12 min."""
    if ms is None:
        return ""
    if ms < 1000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    rest = ms // 1000
    parts: list[str] = []
    for size, unit in UNITS:
        if rest >= size or parts:
            parts.append(f"{rest // size} {unit}")
            rest %= size
    return " ".join(parts[:2])


def size(count: int) -> str:
    """Return a number of bytes for people: 812 B, 3.4 MB."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"
