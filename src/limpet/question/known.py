"""Which single words the grammar knows, and so what makes a question English. Tables made from other tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from limpet.question import dates, hours, spans, windows
from limpet.question import vocabulary as v

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from limpet.question.scan import Token


def _single(*tables: str | Iterable[str]) -> frozenset[str]:
    phrases = (phrase for table in tables for phrase in (table.split("|") if isinstance(table, str) else table))
    return frozenset(phrase for phrase in phrases if " " not in phrase)


KNOWN = _single(
    v.EFFECTS, v.COUNTING, v.EACH, v.SUPERLATIVES, v.GROUPING, v.KINDS, v.TEXT_VERBS, v.ASKING, v.NEGATORS, v.JOINERS,
    v.NAME_PREPOSITIONS, v.UNANSWERED, v.IMPLYING, v.DEEDS, ("different", "distinct"),
    dates.WEEKDAYS, dates.MONTHS, dates.NAMED, dates.WHICH, hours.NAMED,
    spans.DAY_PARTS, windows.WITHIN, windows.STARTS, windows.ENDS, windows.TO,
)  # fmt: skip
"""Words that stand for themselves somewhere in the grammar, or show a question to be English."""

SPELLINGS = KNOWN | frozenset({*hours.PARTS, *spans.UNITS, *v.GROUPS, "weekend", "ago", "week", "month", "year"})
"""All words worth comparing a slip of the pen with."""

TYING = frozenset({"and", "or", "not"})
DATES = (dates.ISO_DAY, dates.DOTTED, dates.SLASHED, spans.INSTANT)
IDENTIFIER = re.compile(r"(?=.*[^\W\d_])[\w@#][\w.\-:/#@]*[_.\-:/#@0-9][\w.\-:/#@]*")
"""A name that no English word looks like: `book_reservation`, `s-tau-190`, `agent:main:main`."""


def is_english(tokens: Sequence[Token]) -> bool:
    """Tell whether any word is one of English or of the grammar, so that every word must be understood."""
    words = [token.word for token in tokens if token.kind == "word" and not token.minus]
    asks = any((word in KNOWN and word not in v.WEAK) or is_date(word) for word in words)
    # Between phrases and filters "and", "or" and "not" are no texts: `"a" or "b"`, `not tool:exec`.
    joins = bool(words) and TYING.issuperset(words) and any(token.kind in ("quoted", "filter") for token in tokens)
    return asks or joins or bool(words and words[0] in v.COMMANDS)


def is_date(word: str) -> bool:
    """Tell whether the word is written like a date or a range of them."""
    return any(pattern.fullmatch(part) for part in word.split("..", 1) for pattern in DATES)


def is_free(token: Token) -> bool:
    """Tell whether the token is a word or phrase that the grammar does not know: a name, or a text."""
    if token.kind == "quoted":
        return not token.minus
    return token.kind == "word" and not token.minus and token.word not in KNOWN and not is_date(token.word)
