"""Where words stand in what was said: makes a search exact where the index is coarser, and cuts the passage to show.

The index knows words; whether `rm -rf`, `100%` or `a_b` stands there is seen in the text itself, made again from the
ledger. Not for finding: the index does that.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from limpet import text
from limpet.errors import BadInput
from limpet.interpreter.places import place_of
from limpet.store import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from limpet.store.port import Store

BATCH = 500
MOST_READ = 20_000
"""Events whose text is read for a sign that no index holds, such as `%`."""

ROOM = 160
"""Characters of a passage that is shown."""

BEFORE = 50
LETTER = f"[^\\W_{tokens.CJK}]"
"""A letter or digit of a script that puts spaces between words."""


class Needle:
    """What is looked for: a word or phrase, literally, in any case and accent, white space as it may be."""

    def __init__(self, words: str) -> None:
        """Take it as it was typed."""
        said = tokens.folded(words).split()
        self.terms = tokens.asked(words)
        self.is_sure = len(said) == 1 and tokens.is_one_word(said[0])
        """Whether the index alone decides."""

        self.steers = not self.terms and not "".join(said).strip("\"'*:^()")
        """Whether it is nothing but signs by which searches are steered: those are looked for by nobody."""

        begin = f"(?<!{LETTER})" if said and re.match(LETTER, said[0]) else ""
        end = f"(?!{LETTER})" if said and re.match(LETTER, said[-1][-1]) else ""
        self._pattern = re.compile(begin + r"\s+".join(map(re.escape, said)) + end)

    def stands_in(self, said: str) -> bool:
        """Tell whether the text holds it."""
        return self._pattern.search(tokens.folded(said)) is not None

    def place_in(self, said: str) -> tuple[int, int]:
        """Return where in the text it begins and ends, (-1, -1) where it is not there."""
        folded, origin = tokens.folded_with_places(said)
        found = self._pattern.search(folded)
        return (origin[found.start()], origin[found.end() - 1] + 1) if found else (-1, -1)


def holding(store: Store, positions: Sequence[int], needles: Sequence[Needle]) -> list[int]:
    """Return those of the positions whose text holds all the needles; raises BadInput where too many must be read."""
    unread = [needle for needle in needles if not needle.terms]
    if unread and len(positions) > MOST_READ:
        message = f"What holds no word is looked for in at most {MOST_READ:,} events, and these are {len(positions):,}."
        raise BadInput(message, "Ask about a shorter time, such as on:yesterday, or add a word.", "too_many")
    return [pos for pos, said in _texts(store, positions) if all(needle.stands_in(said) for needle in needles)]


def snippets(store: Store, ids: Iterable[int], needles: Sequence[Needle]) -> dict[int, str]:
    """Return, of each of these events, the passage around the first thing looked for."""
    return {number: snippet(said, needles) for number, said in _said(store, list(ids)).items() if said}


def snippet(said: str, needles: Sequence[Needle]) -> str:
    """Return the passage of at most ROOM characters, on one line, around the first needle that stands in the text."""
    said = text.clean(said)
    begin, end = next((place for needle in needles if (place := needle.place_in(said))[0] >= 0), (0, 0))
    first = max(0, begin - BEFORE)
    if first > 0 and (space := said.find(" ", first, begin)) > 0:
        first = space + 1
    shown = text.one_line(said[first : max(end, first) + 4 * ROOM], ROOM - 2)
    return f"{'…' if first else ''}{shown}"


def _texts(store: Store, positions: Sequence[int]) -> Iterator[tuple[int, str]]:
    for first in range(0, len(positions), BATCH):
        some = positions[first : first + BATCH]
        ids = [event.id for event in store.find.at(some)]
        said = _said(store, ids)
        yield from ((pos, said.get(number, "")) for pos, number in zip(some, ids, strict=True))


def _said(store: Store, ids: Sequence[int]) -> dict[int, str]:
    """Return the whole text of these events, as the index was given it."""
    from limpet.interpreter import making  # noqa: PLC0415 - it knows all runtimes, and few questions need it

    places = {place_of(number) for number in store.events.places(ids)}
    records = store.records.fetch({no for no, _ in places})
    facts = [fact for record in records for fact in making.facts_of(record) if fact.place in places]
    return {event.id: event.text for event in making.events_of(facts)}
