"""Event ids that a statement carries: the first ones, the last one, and how many there are. Bounded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from limpet.model import Event

NAMED = 8
"""How many ids of one statement are kept, where it is of no failure."""

MORE_NAMED = 40
"""And where it is of what several statements tell of."""


@dataclass(slots=True)
class Ids:
    """The ids of events that came one after the other; `most` are kept, and the last one."""

    most: int = NAMED
    kept: list[int] = field(default_factory=list)
    last: int = 0
    count: int = 0
    first_ms: int = 0
    last_ms: int = 0

    def add(self, event: Event) -> None:
        """Take an event in."""
        if not self.count:
            self.first_ms = event.at_ms
        self.count += 1
        self.last, self.last_ms = event.id, event.at_ms
        if len(self.kept) < self.most:
            self.kept.append(event.id)

    def merge(self, later: Ids) -> None:
        """Take in what another one holds."""
        if not later.count:
            return
        self.first_ms = min(self.first_ms, later.first_ms) if self.count else later.first_ms
        self.kept = (self.kept + later.kept)[: self.most]
        self.count += later.count
        if later.last_ms >= self.last_ms:
            self.last, self.last_ms = later.last, later.last_ms

    def named(self) -> tuple[int, ...]:
        """Return the ids: all, or the first ones and the last."""
        return (*self.kept, self.last) if self.count > len(self.kept) and self.last not in self.kept else (*self.kept,)
