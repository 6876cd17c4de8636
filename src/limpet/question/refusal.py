"""How a question is refused: one sentence, and a question that would work. Finds nothing out by itself."""

from __future__ import annotations

from limpet.errors import NotUnderstood

EXAMPLE = "failed tool calls yesterday"
TRY = "Try: "
"""What stands in a hint before a question that would work."""


def refused(message: str, code: str, working: str = EXAMPLE, advice: str = "") -> NotUnderstood:
    """Return the error: what is wrong, its code, a question that works, and what else to say before it."""
    return NotUnderstood(message, f"{advice} {TRY}{working}".strip(), code)


def quote(text: str) -> str:
    """Return the text in double quotes, as a phrase to be looked for; a quote within is doubled."""
    return '"' + text.replace('"', '""') + '"'


def short(text: str, most: int = 60) -> str:
    """Return the text, cut to a length that fits a sentence."""
    return text if len(text) <= most else text[: most - 3] + "..."
