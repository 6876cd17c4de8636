"""Secrets known from elsewhere in the same record: found again by themselves, whole or torn. Judges nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

PART = 12
"""So many bytes of a secret are still told as a part of it."""

MOST, LONGEST = 256, 4096
"""How many secrets of one record are kept in mind, and how many bytes of each for its parts: time stays bounded."""

_TEAR = re.compile(
    rb"\s*(?:\xe2\x80\xa6|\.{3,})\s*|[\"'`\n]"
    rb"|\s*[\[(<][^\[\](<>)\n]{0,40}(?:truncated|omitted|cut|skipped)[^\[\](<>)\n]{0,60}[\])>]\s*"
)


class Again(NamedTuple):
    """Where a known secret, or a part of it, stands; the whole secret and its kind."""

    start: int
    end: int
    secret: bytes
    kind: str


class Known:
    """The secrets found so far in one record, with their kinds."""

    def __init__(self) -> None:
        """Know none."""
        self._kinds: dict[bytes, str] = {}
        self._parts: dict[bytes, tuple[bytes, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._kinds)

    def learn(self, secret: bytes, kind: str) -> None:
        """Keep a secret in mind, up to MOST of them."""
        if secret in self._kinds or len(self._kinds) >= MOST:
            return
        self._kinds[secret] = kind
        for at in range(min(len(secret), LONGEST) - PART + 1):
            self._parts.setdefault(secret[at : at + PART], (secret, at))

    def again(self, text: bytes) -> Iterator[Again]:
        """Yield each place where a known secret stands, and each where a cut left a part of it."""
        for secret, kind in self._kinds.items():
            if secret in text:
                for found in re.finditer(re.escape(secret), text):
                    yield Again(found.start(), found.end(), secret, kind)
        for end, start in _tears(text):
            yield from self._before(text, end)
            yield from self._after(text, start)

    def _before(self, text: bytes, end: int) -> Iterator[Again]:
        secret, at = self._parts.get(text[max(0, end - PART) : end], (b"", 0))
        if not secret:
            return
        start = end - PART
        while start > 0 and at > 0 and text[start - 1] == secret[at - 1]:
            start, at = start - 1, at - 1
        yield Again(start, end, secret, self._kinds[secret])

    def _after(self, text: bytes, start: int) -> Iterator[Again]:
        secret, at = self._parts.get(text[start : start + PART], (b"", 0))
        if not secret:
            return
        end, at = start + PART, at + PART
        while end < len(text) and at < len(secret) and text[end] == secret[at]:
            end, at = end + 1, at + 1
        yield Again(start, end, secret, self._kinds[secret])


def _tears(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield where text ends before a tear and begins after it; the ends of the text are torn, too."""
    yield 0, 0
    for tear in _TEAR.finditer(text):
        yield tear.span()
    yield len(text), len(text)
