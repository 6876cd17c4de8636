"""Text as the index sees it, and words as it is asked for them: the same rules on both sides. Pure.

SQLite's tokenizer makes one token of a whole run of Chinese or Japanese; so such runs become overlapping pairs, and
what is glued to them becomes a word of its own (field case F29).
"""

from __future__ import annotations

import re
import unicodedata

from limpet.text import clean

INDEXED = 20_000
"""Characters of one event that are indexed: its beginning and its end. An uncapped 0.8 MB event blocks a commit."""

TAIL = 4_000

CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{CJK}]+")
_WORD = re.compile(r"\w+")
_WIDE = re.compile(r"(?:[^\0]\0){2,}")
"""Text in UTF-16 that was read as if it were bytes: letters with NUL between them."""


def indexed(text: str) -> str:
    """Return the text to put into the index: cleaned, folded to compatibility forms, pairs for CJK, capped.

    What colour codes or hidden characters split is one word again (field case F31).
    """
    if "\0" in text:
        text = _WIDE.sub(lambda m: m[0].replace("\0", ""), text).replace("\0", " ")
    if len(text) > INDEXED:
        text = text[: INDEXED - TAIL] + " … " + text[-TAIL:]
    text = clean(text)
    if text.isascii():
        return text
    return _RUN.sub(lambda m: f" {' '.join(_pairs(m[0]))} ", unicodedata.normalize("NFKC", text))


def asked(words: str) -> str:
    """Return the full-text expression that matches these literal words in this order, "" where they hold no word."""
    terms: list[str] = []
    for word in _WORD.findall(_spread(unicodedata.normalize("NFKC", clean(words.replace("\0", " "))))):
        terms += word.split("_")
    terms = [t for t in terms if t]
    if not terms:
        return ""
    last = "*" if len(terms[-1]) == 1 and _RUN.fullmatch(terms[-1]) and len(terms) == 1 else ""
    return '"' + " ".join(terms) + '"' + last


def is_cjk(character: str) -> bool:
    """Whether the character is one of a script that is written without spaces."""
    return _RUN.fullmatch(character) is not None


def _spread(words: str) -> str:
    """Take runs of CJK apart into pairs; a single character stays and is asked for as the beginning of a pair.

    The last run may go on in the text; one that other words follow ends where it is said to.
    """
    return _RUN.sub(lambda m: f" {' '.join(_pairs(m[0], last=bool(_WORD.search(words, m.end()))))} ", words)


def _pairs(run: str, *, last: bool = True) -> list[str]:
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    return [*pairs, run[-1]] if last or len(run) == 1 else pairs
