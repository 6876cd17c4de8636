"""Kinds of things that are done again and again, and what went wrong, each until a success makes it good. Bounded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from limpet.note.ids import MORE_NAMED, Ids

if TYPE_CHECKING:
    from limpet.model import Event
    from limpet.note.deeds import Deed

FEW = 12
"""Up to so many failures (open ends, added events ...) are told one by one; of more, their kinds."""

MOST_KINDS = 1000
"""So many kinds of a family are told apart; what comes after them is counted together."""

REST = "\0rest"


@dataclass(slots=True)
class Mishap:
    """One thing that went wrong, by itself, and the success that made it good, if one did."""

    event: Event
    shown: str
    mended: Event | None = None


@dataclass(slots=True)
class Kind:
    """What is done again and again: a command, a file, a tool, a channel, a cron job."""

    deed: Deed
    rest: bool = False
    made: bool = False
    same: bool = True
    told: Ids = field(default_factory=Ids)
    without: int = 0
    failed: Ids = field(default_factory=Ids)
    error: str = ""
    waiting: int = 0
    mended: int = 0
    good: int = 0
    hopes: list[Mishap] = field(default_factory=list)
    last: Event | None = None

    @property
    def shown(self) -> str:
        """Its name: in full where it was the same each time."""
        return self.deed.whole if self.same else self.deed.shown


@dataclass(slots=True)
class Mishaps:
    """The first few things of a sort that went wrong, and all of their ids as far as they can be named."""

    few: list[Mishap] = field(default_factory=list)
    ids: Ids = field(default_factory=lambda: Ids(MORE_NAMED))

    def add(self, event: Event, shown: str, kind: Kind | None = None) -> None:
        """Take one in; a later success of its kind will make it good."""
        self.ids.add(event)
        if len(self.few) <= FEW:
            mishap = Mishap(event, shown)
            self.few.append(mishap)
            if kind is not None and not kind.rest:
                kind.hopes.append(mishap)


def kind_of(kinds: dict[str, Kind], deed: Deed) -> Kind:
    """Return the kind of a deed, a new one for its first; what is too much to be told apart is one kind."""
    if deed.key not in kinds and len(kinds) >= MOST_KINDS:
        return kinds.setdefault(REST, Kind(deed, rest=True))
    return kinds.setdefault(deed.key, Kind(deed))
