"""Telling texts of what is to be forgotten, and where else they stand: in logs, in quarantine, in files that stay."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from limpet.model import Json

SHORTEST = 16
"""Characters from which a line of text is telling: shorter ones stand everywhere."""

MOST = 2_000
LARGEST = 64 << 20


class Needles:
    """What to look for: the words that a person named, all of which make a hit, and lines, each of which does."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        """Look for these words; capitals do not matter."""
        self.words = tuple(word.casefold() for word in words)
        self._lines: set[str] = set()

    def learn(self, text: str) -> None:
        """Look for the telling lines of this text, too, up to MOST in all."""
        for line in text.splitlines():
            if len(self._lines) >= MOST:
                return
            if len(line.strip()) >= SHORTEST:
                self._lines.add(line.strip())

    def are_said_in(self, value: Json) -> bool:
        """Whether a value says all the words, in whatever part of it."""
        said = json.dumps(value, ensure_ascii=False).casefold()
        return bool(self.words) and all(_escaped(word) in said for word in self.words)

    def are_in(self, text: str) -> bool:
        """Whether a text holds all the words, or one of the lines."""
        folded = text.casefold()
        by_words = bool(self.words) and all(word in folded for word in self.words)
        return by_words or any(line in text for line in self._lines)

    def spans_in(self, content: bytes) -> Iterator[tuple[int, int]]:
        """Yield where in a file's bytes one of the words or lines stands."""
        folded = content.lower()
        for needle in (*self.words, *self._lines):
            raw = needle.encode("utf-8", "replace")
            hay = folded if needle in self.words else content
            at = hay.find(raw) if raw else -1
            while at >= 0:
                yield at, len(raw)
                at = hay.find(raw, at + len(raw))

    def blank(self, path: Path) -> bool:
        """Put dots over every hit in a file that others go on writing; return whether there was one."""
        if not path.is_file() or path.stat().st_size > LARGEST:
            return False
        with path.open("r+b") as file:
            spans = list(self.spans_in(file.read()))
            for at, length in spans:
                file.seek(at)
                file.write(b"." * length)
        return bool(spans)


def _escaped(word: str) -> str:
    return json.dumps(word, ensure_ascii=False)[1:-1]
