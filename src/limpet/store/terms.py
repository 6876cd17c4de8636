"""The text index's own tokens, for a store whose full text is not SQLite's: so both find the same. Not for parsing."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from limpet.store import tokens
from limpet.store.events import key_hash

RULES = ["remove_diacritics", "2"]
"""As in `queries/search.sql`."""


class Text(NamedTuple):
    """A text as a fleet keeps it: its tokens in order, between spaces, and the hashes by which it is looked for."""

    words: str
    terms: tuple[int, ...]


class Phrase(NamedTuple):
    """What is looked for: a piece of `Text.words`, and the hashes that a text must have to hold it.

    `piece` is "" for what holds no token: no text has that.
    """

    piece: str
    terms: tuple[int, ...]


class Tokenizer:
    """SQLite's tokenizer, as the text index uses it. For one thread."""

    def __init__(self) -> None:
        """Open the library's own tokenizer."""
        self._connection = apsw.Connection(":memory:")
        self._tokenize = self._connection.fts5_tokenizer("unicode61", RULES)

    def text(self, said: str) -> Text:
        """Return a text as it is kept."""
        found = self._tokens(tokens.indexed(said), apsw.FTS5_TOKENIZE_DOCUMENT)
        terms = {_term(token) for token in found} | {_beginning(token[0]) for token in found if tokens.is_cjk(token[0])}
        return Text(f" {' '.join(found)} ", tuple(sorted(terms)))

    def phrase(self, asked: str) -> Phrase:
        """Return what `tokens.asked` asks for: `"a b"`, or `"c"*` for the beginning of a token."""
        begins = asked.endswith("*")
        found = self._tokens(asked.strip('"*'), apsw.FTS5_TOKENIZE_QUERY)
        if not found:
            return Phrase("", ())
        if begins:
            return Phrase(f" {' '.join(found)}", (*map(_term, found[:-1]), _beginning(found[-1])))
        return Phrase(f" {' '.join(found)} ", tuple(map(_term, found)))

    def _tokens(self, said: str, reason: int) -> list[str]:
        given = said.encode("utf-8", "replace")
        return [
            str(token) for token in self._tokenize(given, reason, None, include_offsets=False, include_colocated=False)
        ]


def _term(token: str) -> int:
    return key_hash(f"text {token}")


def _beginning(character: str) -> int:
    return key_hash(f"text {character}*")
