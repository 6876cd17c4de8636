"""Secrets known from elsewhere in the same record: found again by themselves, whole or torn. Judges nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PART = 12
"""So many bytes of a secret are still told as a part of it."""

_TEAR = re.compile(
    rb"\s*(?:\xe2\x80\xa6|\.{3,})\s*|[\"'`\n]"
    rb"|\s*[\[(<][^\[\](<>)\n]{0,40}(?:truncated|omitted|cut|skipped)[^\[\](<>)\n]{0,60}[\])>]\s*"
)


class Again(NamedTuple):
    """Where a known secret, or a part of it, stands."""

    start: int
    end: int
    secret: bytes


def again(text: bytes, known: Mapping[bytes, str]) -> Iterator[Again]:
    """Yield each place where a known secret stands, and each where a cut left a part of it."""
    for secret in known:
        if secret in text:
            for found in re.finditer(re.escape(secret), text):
                yield Again(found.start(), found.end(), secret)
    for end, start in _tears(text):
        for secret in known:
            yield from _before(text, end, secret)
            yield from _after(text, start, secret)


def _tears(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield where text ends before a tear and begins after it; the ends of the text are torn, too."""
    yield 0, 0
    for tear in _TEAR.finditer(text):
        yield tear.span()
    yield len(text), len(text)


def _before(text: bytes, end: int, secret: bytes) -> Iterator[Again]:
    size = PART
    at = secret.find(text[end - size : end]) if end >= size else -1
    if at < 0:
        return
    while size < end and at > 0 and text[end - size - 1] == secret[at - 1]:
        size, at = size + 1, at - 1
    yield Again(end - size, end, secret)


def _after(text: bytes, start: int, secret: bytes) -> Iterator[Again]:
    size = PART
    piece = text[start : start + size]
    at = secret.find(piece) if len(piece) == size else -1
    if at < 0:
        return
    while start + size < len(text) and at + size < len(secret) and text[start + size] == secret[at + size]:
        size += 1
    yield Again(start, start + size, secret)
