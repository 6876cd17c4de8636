"""What a fleet's full text leaves: phrases to be found in the tokens of an event, through an index of their hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from limpet.store.terms import Phrase


class Phrases(NamedTuple):
    """All of `wanted` (None: no matter) and none of `unwanted`, between two positions."""

    wanted: Sequence[Phrase] | None
    unwanted: Sequence[Phrase]
    first: int
    last: int

    def parts(self, sql: Mapping[str, str], given: dict[str, object]) -> Iterator[str]:
        """Yield the pieces of a WHERE clause that say so."""
        wanted = self.wanted or ()
        if (self.wanted is not None and not wanted) or not all(phrase.piece for phrase in wanted):
            yield sql["where.nothing"]
            return
        if wanted:
            terms = sorted({term for phrase in wanted for term in phrase.terms})
            given.update(terms=terms, first=self.first, last=self.last)
            yield sql["where.words"]
        for number, phrase in enumerate(wanted):
            yield _holds(f"with{number}", phrase, sql, given)
        for number, phrase in enumerate(one for one in self.unwanted if one.piece):
            yield f"NOT {_holds(f'without{number}', phrase, sql, given)}"


def _holds(name: str, phrase: Phrase, sql: Mapping[str, str], given: dict[str, object]) -> str:
    given[name] = phrase.piece
    return sql["where.phrase"].replace(":phrase", f":{name}")
