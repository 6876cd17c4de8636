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
_RUNS = re.compile(f"([{CJK}]+)")
_WORD = re.compile(r"\w+")
_WIDE = re.compile(r"(?:[^\0]\0){2,}")
"""Text in UTF-16 that was read as if it were bytes: letters with NUL between them."""

_ACCENTS = re.compile("[\u0300-\u0305\u0307-\u036f]|(?<!\u0438)\u0306")
"""What is left out of letters; \u0439 is a letter of its own."""

_PICTURE = re.compile("[\u2190-\u24ff\u25a0-\u2bff\U0001f000-\U0001faff]")
"""Arrows, signs and emoji, which SQLite's tokenizer takes for spaces; frames of tables are left to it."""

_SAME = {0x2018: "'", 0x2019: "'", 0x02BC: "'", 0x2010: "-", 0x2011: "-", 0xFE0F: None, 0x200D: None}
"""Apostrophes and hyphens as keyboards have them, and what joins the parts of an emoji."""


def indexed(text: str) -> str:
    """Return the text to put into the index: capped, cleaned, folded, pairs for CJK, words for emoji."""
    if len(text) > INDEXED:
        text = text[: INDEXED - TAIL] + " … " + text[-TAIL:]
    text = folded(text)
    if text.isascii():
        return text
    return _PICTURE.sub(_named, _RUN.sub(lambda m: f" {' '.join(_pairs(m[0]))} ", text))


def folded(text: str) -> str:
    """Return the text without case, accents and forms that only look different, control characters and NUL.

    What colour codes or hidden characters split is one word again (field case F31).
    """
    if "\0" in text:
        text = _WIDE.sub(lambda m: m[0].replace("\0", ""), text).replace("\0", " ")
    text = clean(text)
    if text.isascii():
        return text.lower()
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text).casefold()).translate(_SAME)
    return unicodedata.normalize("NFKC", plain)


def folded_with_places(text: str) -> tuple[str, list[int]]:
    """Return the text folded, and for each of its characters the place of the one it came from."""
    if text.isascii() and "\0" not in text:
        return text.lower(), list(range(len(text)))
    parts = [" " if char == "\0" else folded(char) for char in text]
    return "".join(parts), [place for place, part in enumerate(parts) for _ in part]


def is_one_word(text: str) -> bool:
    """Tell whether a folded text is a single word of the index, so that finding it there is finding it."""
    return (_WORD.fullmatch(text) is not None and "_" not in text and not _mixed(text)) or (
        len(text) == 1 and _PICTURE.fullmatch(text) is not None
    )


def _mixed(text: str) -> bool:
    return _RUN.search(text) is not None and _RUN.fullmatch(text) is None


def _named(match: re.Match[str]) -> str:
    return f" zz{ord(match[0]):x} "


def asked(words: str) -> list[str]:
    """Return the full-text terms that a text with these literal words must match, none where they hold no word.

    Each is a phrase, `"a b"`, or `"c"*` for the beginning of a word. They find every text that holds the words, and may
    find more: in a text of two scripts their order is not asked for.
    """
    terms: list[str] = []
    for part in _RUNS.split(folded(words)):
        if _RUN.fullmatch(part):
            terms.append(_phrase(_pairs(part, last=False)) + ("*" if len(part) == 1 else ""))
        elif found := [term for word in _WORD.findall(_PICTURE.sub(_named, part)) for term in word.split("_") if term]:
            terms.append(_phrase(found))
    return terms


def _phrase(terms: list[str]) -> str:
    return f'"{" ".join(terms)}"'


def is_cjk(character: str) -> bool:
    """Whether the character is one of a script that is written without spaces."""
    return _RUN.fullmatch(character) is not None


def _pairs(run: str, *, last: bool = True) -> list[str]:
    """Return the overlapping pairs of a run of CJK; its last character alone is there as the beginning of a pair."""
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    return [*pairs, run[-1]] if last or len(run) == 1 else pairs
