"""How a plan reads without any model: a paragraph for people, a short list with event ids, both bounded. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limpet.note.plan import Plan

MOST_BYTES = 16_384
"""No note's body is longer, whatever the day was like."""


def paragraph(plan: Plan) -> str:
    """Return the note's paragraph: one line of Markdown, no line break."""
    raise NotImplementedError


def listing(plan: Plan) -> Sequence[str]:
    """Return the list below the paragraph, one Markdown item a line, each with its event ids (`[4096, 8192]`)."""
    raise NotImplementedError


def body(plan: Plan, words: str = "") -> str:
    """Return the note's body, at most MOST_BYTES long in UTF-8, ending in a line end; `words` replaces the paragraph.

    It holds a heading of level 2, the paragraph, the list, and a line that says how to open an event.
    """
    raise NotImplementedError
