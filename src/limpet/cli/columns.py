"""How wide text is on a terminal: Chinese, Japanese, Korean and emoji take two columns. Measures and cuts, no more."""

from __future__ import annotations

import unicodedata

from limpet import text


def width(said: str) -> int:
    """Return how many columns the text takes, rather too many than too few (emoji that are joined)."""
    return len(said) if said.isascii() else sum(map(_columns, said))


def fit(said: str, most: int) -> str:
    """Return the text on one line of at most so many columns; `…` shows a cut."""
    line = text.one_line(said, max(most, 1))
    if width(line) <= most:
        return line
    used, kept = 0, 0
    for char in line:
        used += _columns(char)
        if used > most - 1:
            break
        kept += 1
    return line[:kept].rstrip() + "…"


def pad(said: str, columns: int) -> str:
    """Return the text cut or filled to so many columns."""
    shown = fit(said, columns)
    return shown + " " * (columns - width(shown))


def _columns(char: str) -> int:
    if unicodedata.combining(char) or char in "\u200d\ufe0f\u200b":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
