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

IN_CODE = re.compile(
    r"(?<=<!)(?=--)|(?<=--)(?=!?>)|(?<=\[)(?=\[)|(?<=\])(?=\])|(?<=\])(?=\()|(?<=!)(?=\[)|(?<=\{)(?=\{)"
)
"""Between which characters a space goes in a code span, for readers that know no code spans: marks, links."""


WITHIN = str.maketrans("“”", "‘’")  # noqa: RUF001


def quoted(said: str, limit: int = 100) -> str:
    """Return somebody's words in quotation marks, on one line of at most `limit` characters and what escapes them.

    Such marks within them become single ones: where a quotation ends is never for the quoted to say.
    """
    return f"“{plain(said.translate(WITHIN), limit)}”"


def plain(said: str, limit: int = 100) -> str:
    """Return words on one line, cut to `limit` characters, with every character escaped that Markdown would act on."""
    return ACTIVE.sub(lambda found: f"\\{found[0]}", text.one_line(said, limit))


def code(said: str, limit: int = 70) -> str:
    """Return a command, a file or a name as a code span, on one line, cut to `limit` characters."""
    shown = text.one_line(said, limit).replace("`", "'")
    return f"`{IN_CODE.sub(' ', shown) or '?'}`"
