"""A line of Markdown, taken apart into what it claims: numbers, names, outcomes, quotations, plain words. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from limpet.note.lexicon import AGAINST, CONDITION, LINKING, MODAL, NOT, NUMBERS, STATUS, stem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SPAN = re.compile(
    r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)|“(?P<curly>[^“”]*)”|\"(?P<plain>[^\"]*)\""
)
"""What stands in a code span or in quotation marks: somebody else's words."""

_EDGES = ".,;:!?()'’…–—"  # noqa: RUF001 - dashes and curly apostrophes are what people write
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_PLAIN = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")  # noqa: RUF001
_APOSTROPHES = re.compile(r"(?<=\w)[´`ʼ‘′＇](?=\w)")  # noqa: RUF001 - what people write for one
_PARTS = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a line: `kind` is `span`, `hard` (a number, path, time, name), `status` or `soft` (a plain word).

    `text` is its canonical form, `said` how it stands there.
    """

    kind: str
    text: str
    said: str


def tokens(line: str) -> tuple[Token, ...]:
    """Take a line apart, in order; linking words are left out, `without success` is one failure."""
    return tuple(_joined([token for piece in _pieces(line) if (token := _token(piece)) is not None]))


def outside(line: str) -> str:
    """Return the line with its spans taken out."""
    return SPAN.sub(" ", line)


def parts(span: str) -> tuple[str, ...]:
    """Return the stems of a span's words, in order; () where a part of it could say the opposite of the whole."""
    words = [word.casefold() for word in _PARTS.findall(_APOSTROPHES.sub("'", span))]
    if any(word in NOT | AGAINST | CONDITION | MODAL or word.endswith(("n't", "n’t")) for word in words):  # noqa: RUF001
        return ()
    return tuple(stem(word) for word in words if word not in LINKING)


def _pieces(line: str) -> Iterator[re.Match[str] | str]:
    at = 0
    for found in SPAN.finditer(line):
        yield from re.split(r"[\s–—]+", line[at : found.start()])  # noqa: RUF001
        yield found
        at = found.end()
    yield from re.split(r"[\s–—]+", line[at:])  # noqa: RUF001


def _token(piece: re.Match[str] | str) -> Token | None:
    if isinstance(piece, re.Match):
        return Token("span", piece["code"].strip() if piece["ticks"] == "`" else piece[0], piece[0])
    word = piece.strip(_EDGES)
    return None if not word or word.casefold() in LINKING else Token(*_meaning(word.casefold(), word), word)


def _meaning(lower: str, word: str) -> tuple[str, str]:
    """Return the kind and the canonical form of a word."""
    if lower in NUMBERS:
        return "hard", NUMBERS[lower]
    if lower in STATUS:
        return "status", STATUS[lower]
    if lower in NOT or lower.endswith(("n't", "n’t")):  # noqa: RUF001
        return "status", "not"
    if lower in MODAL | CONDITION:
        return "status", stem(lower)
    if _PLAIN.fullmatch(word) is None:
        return "hard", word.replace(",", "") if _THOUSANDS.fullmatch(word) else word
    return "soft", stem(lower)


def _joined(found: Sequence[Token]) -> Iterator[Token]:
    skip = False
    for token, after in zip(found, [*found[1:], None], strict=True):
        if skip:
            skip = False
        elif token.text == "not" and after is not None and after.text == "succeeded":
            skip = True
            yield Token("status", "failed", f"{token.said} {after.said}")
        else:
            yield token
