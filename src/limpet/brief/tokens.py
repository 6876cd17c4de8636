"""How many tokens a text is at most likely to be, counted without any model's tokenizer, on the high side. Pure.

An ordinary word costs one for each four letters begun, other letters (long runs, capitals) one for each two, a digit or
a mark one each, and what is not ASCII one for each of its UTF-8 bytes, of which no byte-level tokenizer makes more.
"""

from __future__ import annotations

import re

LETTERS = re.compile("[A-Z]?[a-z]+|[A-Z]+")
LONGEST_WORD = 12
SPACE_BEFORE = re.compile(r"(?<! ) (?! )")
"""A single space goes with the word behind it."""


def tokens_of(said: str) -> int:
    """Return the number of tokens that a text is counted as."""
    words = LETTERS.findall(said)
    rest = len(SPACE_BEFORE.sub("", said).encode("utf-8", "replace")) - sum(map(len, words))
    return rest + sum(map(_of_word, words))


def _of_word(word: str) -> int:
    ordinary = len(word) <= LONGEST_WORD and (word[1:].islower() or len(word) == 1)
    return -(-len(word) // (4 if ordinary else 2))
