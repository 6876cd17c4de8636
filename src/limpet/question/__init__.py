"""Questions: plain English and filters, one grammar with two faces that give the same Query. Pure; answers nothing.

In a question with any word of English or of the grammar every word must be understood, or it is refused. Bare words,
none of which the grammar knows, are a text search, and the Query's note says so. `vocabulary` holds the words, the
docstrings of `dates`, `spans`, `windows` and `settling` the rules of time.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from limpet import days
from limpet.errors import NotUnderstood
from limpet.question import explain, filters, grouping, naming, placed, sentence, texts
from limpet.question.draft import Draft
from limpet.question.known import is_english
from limpet.question.moments import Now
from limpet.question.printing import pieces, print_query
from limpet.question.refusal import quote, refused, short
from limpet.question.scan import scan
from limpet.question.vocabulary import ASKING, ENDING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from limpet.model import Query
    from limpet.question.scan import Token

__all__ = ["parse", "pieces", "print_query"]

RULES = (
    sentence.filter_or_phrase,
    sentence.joiner,
    placed.whole,
    texts.text_after,
    texts.did_something,
    naming.of_kind,
    naming.calls_of,
    naming.calls_to,
    naming.agent_named,
    naming.excepted,
    grouping.most,
    grouping.counting,
    sentence.window,
    grouping.first_few,
    grouping.grouping,
    grouping.which,
    placed.distinct,
    grouping.each,
    placed.opening,
    placed.deeds,
    placed.implied,
    sentence.meaning,
    sentence.negator,
    texts.with_something,
    naming.known_name,
)
"""How English is read: at each word the first of these that knows what stands there."""


def parse(text: str, now_ms: int, zone: str, names: Mapping[str, Collection[str]] | None = None) -> Query:
    """Return the question, understood, with its filter form in `understood`.

    `now_ms` is epoch milliseconds, `zone` an IANA name. `names` gives what the store knows, from kind (tool, agent,
    session, run, type) to names (sets answer fastest): with them "exec errors" is understood, and a tool that nobody
    knows is not. Raises NotUnderstood, with the part that was not, a hint and a question that works, and BadInput for
    an unknown zone.
    """
    tokens = scan(text)
    now, known = Now(now_ms, zone, days.day_of(now_ms, zone)), names or {}
    query, unknown = _read(tokens, now, known)
    if query:
        return query
    raise explain.not_understood(tokens, unknown, known, lambda other: _understood(other, now, known))


def _understood(text: str, now: Now, names: filters.Names) -> str:
    try:
        query, _ = _read(scan(text), now, names)
    except NotUnderstood:
        return ""
    return query.understood if query else ""


def _read(tokens: Sequence[Token], now: Now, names: filters.Names) -> tuple[Query | None, Sequence[int]]:
    """Return the Query, or None and the places of the tokens that were not understood."""
    if all(token.kind == "comma" for token in tokens):
        raise refused("The question is empty.", "empty_question")
    draft = Draft()
    unknown = _read_english(draft, tokens, now, names) if is_english(tokens) else _read_texts(draft, tokens, now, names)
    if unknown:
        return None, unknown
    query = draft.query(now)
    return replace(query, understood=print_query(query)), ()


def _read_english(draft: Draft, tokens: Sequence[Token], now: Now, names: filters.Names) -> Sequence[int]:
    said = sentence.Sentence(tokens, draft, now, names)
    sentence.read(said, RULES)
    if not said.unknown:
        placed.finish(said)
    draft.yes_no = said.words[0] in ASKING and not ENDING & set(said.words)
    if not said.unknown and not draft.asks:
        raise refused(f"{quote(short(sentence.in_words(tokens)))} asks for nothing in particular.", "empty_question")
    return said.unknown


def _read_texts(draft: Draft, tokens: Sequence[Token], now: Now, names: filters.Names) -> Sequence[int]:
    """Read a question of filters and of bare words that the grammar does not know: those are looked for as text."""
    if language := explain.language_of(tokens):
        bare = sentence.in_words([token for token in tokens if token.kind == "word"])
        advice = f"To look for the text, quote it: {quote(bare)}."
        raise refused(f"This seems to be {language}; questions are asked in English.", "other_language", advice=advice)
    alone = all(token.kind == "word" for token in tokens)
    for kind, same in groupby(tokens, key=lambda token: token.kind):
        if kind == "word":
            texts.look_for_bare(draft, list(same), alone=alone)
        elif kind == "filter":
            for token in same:
                filters.apply(draft, token, now, names)
        elif kind == "quoted":
            for token in same:
                draft.look_for(token.text, without=token.minus)
    return ()
