"""Kinds of things that are done again and again, and what went wrong, each until a success makes it good. Bounded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from limpet.note.ids import MORE_NAMED, Ids

if TYPE_CHECKING:
    from limpet.deeds.deed import Deed
    from limpet.model import Event

FEW = 12
"""Up to so many failures (open ends, added events ...) are told one by one; of more, their kinds."""

MOST_KINDS = 1000
"""So many kinds of a family are told apart; what comes after them is counted together."""

MOST_HOPES = 2000
"""So many things that went wrong wait for their success at a time; more than these are never called made good."""

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
    mended: int = 0
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

    def add(self, event: Event, shown: str, hope: Hope | None = None) -> None:
        """Take one in; `hope` is where a later success will find it."""
        self.ids.add(event)
        if len(self.few) <= FEW:
            mishap = Mishap(event, shown)
            self.few.append(mishap)
            if hope is not None:
                hope.mishaps.append(mishap)


@dataclass(slots=True)
class Hope:
    """What a later success would make good: how many failed calls, and the mishaps that are told one by one."""

    failed: int = 0
    mishaps: list[Mishap] = field(default_factory=list)


class Hopes:
    """Everything that still waits for its success, by what it was."""

    def __init__(self) -> None:
        """Begin with none."""
        self._waiting: dict[tuple[str, str], Hope] = {}

    def of(self, what: tuple[str, str]) -> Hope | None:
        """Return where a success of this will look, None where too much waits already."""
        if what not in self._waiting and len(self._waiting) >= MOST_HOPES:
            return None
        return self._waiting.setdefault(what, Hope())

    def fulfil(self, what: tuple[str, str], success: Event) -> int:
        """Make good what waits for this success; return how many failed calls these are."""
        hope = self._waiting.pop(what, None)
        for mishap in hope.mishaps if hope else ():
            mishap.mended = success
        return hope.failed if hope else 0


def kind_of(kinds: dict[str, Kind], deed: Deed) -> Kind:
    """Return the kind of a deed, a new one for its first; what is too much to be told apart is one kind."""
    if deed.key not in kinds and len(kinds) >= MOST_KINDS:
        return kinds.setdefault(REST, Kind(deed, rest=True))
    return kinds.setdefault(deed.key, Kind(deed))
