"""Times as a brief says them: local and short, in no doubt about the zone (field case F90). Pure; not a clock."""

from __future__ import annotations

from dataclasses import dataclass

from limpet import days


@dataclass(frozen=True, slots=True)
class Times:
    """The clocks of a zone, as of one moment: a time with that moment's offset needs no other."""

    zone: str
    now_ms: int

    def full(self, at_ms: int) -> str:
        """Return date, time and offset: `2026-05-05 01:25 +09:00`."""
        shown = days.show(at_ms, self.zone)
        return f"{shown[:10]} {shown[11:16]} {shown[23:]}"

    def short(self, at_ms: int) -> str:
        """Return `05-05 01:25`, with the year or the offset where these are not this moment's."""
        shown, now = days.show(at_ms, self.zone), days.show(self.now_ms, self.zone)
        day = shown[5:10] if shown[:4] == now[:4] else shown[:10]
        return f"{day} {shown[11:16]}" + (f" {shown[23:]}" if shown[23:] != now[23:] else "")
