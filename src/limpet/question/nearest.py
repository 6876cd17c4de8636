"""Which known word a word was probably meant to be."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

CLOSE = 0.8
LONGEST = 40
"""Longer words are nobody's slip of the pen, and cost time to compare."""

MOST = 2_000
"""How many known words are looked at."""


def nearest(word: str, known: Iterable[str], close: float = CLOSE) -> str:
    """Return the known word that is most like this one, "" where none is close."""
    import difflib  # noqa: PLC0415 - only when something was not understood

    if len(word) > LONGEST:
        return ""
    fitting = (name for name in known if abs(len(name) - len(word)) <= 4)
    return next(iter(difflib.get_close_matches(word, list(islice(fitting, MOST)), 1, close)), "")
