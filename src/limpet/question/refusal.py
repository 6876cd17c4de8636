"""How things are said back: one sentence and a question that would work; text and filters as typed. Decides nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from limpet.errors import NotUnderstood
from limpet.model import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable

EXAMPLE = "failed tool calls yesterday"
TRY = "Try: "
"""What stands in a hint before a question that would work."""

PLAIN = re.compile(r"[\w@+#][\w./@+\-:#]*")
"""A value that needs no quotes."""


def refused(message: str, code: str, working: str = EXAMPLE, advice: str = "") -> NotUnderstood:
    """Return the error: what is wrong, its code, a question that works, and what else to say before it."""
    return NotUnderstood(message, f"{advice} {TRY}{working}".strip(), code)


def quote(text: str) -> str:
    """Return the text in double quotes, as a phrase to be looked for; a quote within is doubled."""
    return '"' + text.replace('"', '""') + '"'


def as_filter(name: str, values: Iterable[str], *, negated: bool = False) -> str:
    """Return a filter as it is typed: `tool:exec,"my tool"`; types that are not ours are quoted too."""
    printed = (
        value if PLAIN.fullmatch(value) and (name != "type" or value in TYPES) else quote(value) for value in values
    )
    return f"{'-' if negated else ''}{name}:{','.join(printed)}"


def short(text: str, most: int = 60) -> str:
    """Return the text, cut to a length that fits a sentence."""
    return text if len(text) <= most else text[: most - 3] + "..."
