"""What comes from outside, made safe to stand in a Markdown note: text, never structure. Pure (field case F58)."""

from __future__ import annotations

import re

from limpet import text

ACTIVE = re.compile(
    r"[\\`*\[\]<]|>|(?<!\w)_|_(?!\w)|(?<=<)!|#(?=\w)|~(?=~)|(?<=~)~|=(?==)|(?<==)=|%(?=%)|(?<=%)%"
    r"|\{(?=\{)|(?<=\{)\{|\$(?=\$)|(?<=\$)\$|&(?=#?\w{1,32};)|(?<=:)/(?=/)|(?<=www)\.",
    re.IGNORECASE,
)
"""What Markdown, or a note-taking program, would read as more than a character: also tags, marks, bare addresses."""

IN_CODE = (
    ("`", "'"),
    ("<!--", "<! --"),
    ("-->", "-- >"),
    ("--!>", "-- !>"),
    ("[[", "[ ["),
    ("]]", "] ]"),
    ("](", "] ("),
)
"""What could end a code span, or be taken for a mark or a link by a reader that knows no code spans."""


def quoted(said: str, limit: int = 100) -> str:
    """Return somebody's words in quotation marks, on one line of at most `limit` characters and what escapes them."""
    return f"“{plain(said, limit)}”"


def plain(said: str, limit: int = 100) -> str:
    """Return words on one line, cut to `limit` characters, with every character escaped that Markdown would act on."""
    return ACTIVE.sub(lambda found: f"\\{found[0]}", text.one_line(said, limit))


def code(said: str, limit: int = 70) -> str:
    """Return a command, a file or a name as a code span, on one line, cut to `limit` characters."""
    shown = text.one_line(said, limit)
    for active, harmless in IN_CODE:
        shown = shown.replace(active, harmless)
    return f"`{shown or '?'}`"
