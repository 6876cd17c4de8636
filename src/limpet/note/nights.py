"""Which local days are due for their note at an instant. Pure; not for making them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from limpet import days

if TYPE_CHECKING:
    from collections.abc import Iterable

NIGHT = "03:00"
"""When, in the user's zone, the day before gets its note."""


def ready_ms(day: date, zone: str, at: str = NIGHT) -> int:
    """Return the instant from which the note of a local day is due: that time of the next day, once in every night."""
    hour, minute = map(int, at.split(":"))
    return days.at_local(day + timedelta(days=1), hour, minute, zone)


def due(pending: Iterable[date], now_ms: int, zone: str, at: str = NIGHT) -> list[date]:
    """Return which of these days are due now, oldest first, each once."""
    return sorted({day for day in pending if ready_ms(day, zone, at) <= now_ms})
