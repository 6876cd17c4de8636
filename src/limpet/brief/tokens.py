"""How many tokens a text is at most likely to be, counted without any model's tokenizer, on the high side. Pure.

A third of its bytes, as is often guessed, or more where more is likely: an ordinary word costs one for each
four letters begun, other letters (long runs, capitals) one for each two, marks one for each two that stand together, a
digit one, and what is not ASCII one for each of its UTF-8 bytes, of which no byte-level tokenizer makes more.
"""

from __future__ import annotations

import re

BYTES_A_TOKEN = 3
PIECES = re.compile(r"(?P<word>[A-Z]?[a-z]+|[A-Z]+)|(?P<marks>[!-/:-@\[-`{-~]+)|(?P<space>(?<! ) (?! ))|.", re.DOTALL)
LONGEST_WORD = 12


def tokens_of(said: str) -> int:
    """Return the number of tokens that a text is counted as."""
    size = len(said.encode("utf-8", "replace"))
    return max(-(-size // BYTES_A_TOKEN), sum(map(_of_piece, PIECES.finditer(said))))


def _of_piece(found: re.Match[str]) -> int:
    piece = found[0]
    if found.lastgroup == "word":
        ordinary = len(piece) <= LONGEST_WORD and (len(piece) == 1 or piece[1:].islower())
        return -(-len(piece) // (4 if ordinary else 2))
    if found.lastgroup == "marks":
        return -(-len(piece) // 2)
    return 0 if found.lastgroup == "space" else len(piece.encode("utf-8", "replace"))
