"""Who asked what, what the last answer was, and what has none. Bounded; not for words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from limpet.note.ids import MORE_NAMED, Ids
from limpet.note.kinds import MOST_KINDS

if TYPE_CHECKING:
    from limpet.model import Event

MOST_ASKED = 8
"""So many messages of people are told; the first ones, but the first of as many sessions as there is room for."""


@dataclass(slots=True)
class Ask:
    """A message of a person, and the agent's last words before the next one."""

    event: Event
    answer: Event | None = None


class Turns:
    """The conversations of a span, while their messages go by, oldest first."""

    def __init__(self) -> None:
        """Begin with none."""
        self.asked = Ids(MORE_NAMED)
        self.asks: list[Ask] = []
        self.waiting: dict[str, tuple[Event, Ids]] = {}
        self._now: dict[str, Ask] = {}
        self._opened: set[int] = set()

    def ask(self, event: Event) -> None:
        """Take in a message of a person."""
        place = _place(event)
        self.asked.add(event)
        self._now.pop(place, None)
        is_first = hash(place) not in self._opened
        self._opened.add(hash(place))
        if len(self.asks) < MOST_ASKED or (is_first and self._make_room()):
            self._now[place] = Ask(event)
            self.asks.append(self._now[place])
        if len(self.waiting) < MOST_KINDS or place in self.waiting:
            self.waiting.setdefault(place, (event, Ids(2)))[1].add(event)

    def answer(self, event: Event) -> None:
        """Take in a message of the agent, or its delivery: the last one before the next question is the answer."""
        place = _place(event)
        self.waiting.pop(place, None)
        if place in self._now and event.summary:
            self._now[place].answer = event

    def _make_room(self) -> bool:
        """Take out the latest message of a session that has an earlier one, so that more sessions are spoken of."""
        seen = Counter(_place(ask.event) for ask in self.asks)
        gone = next((ask for ask in reversed(self.asks) if seen[_place(ask.event)] > 1), None)
        if gone is None:
            return False
        self.asks.remove(gone)
        place = _place(gone.event)
        if self._now.get(place) is gone:
            del self._now[place]
        return True


def _place(event: Event) -> str:
    return event.session_key or event.session
