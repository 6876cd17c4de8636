"""Text between us and PostgreSQL, which keeps no NUL: it is written as a character for private use, doubled. Pure."""

from __future__ import annotations

from typing import Any

NUL = "\0"
MARK = "\ue000"
AS_NUL = MARK + MARK
AS_MARK = MARK + "\ue001"


def kept(value: str) -> str:
    """Return a text as PostgreSQL keeps it; half a surrogate pair, which it keeps neither, as a replacement."""
    if NUL in value or MARK in value:
        value = value.replace(MARK, AS_MARK).replace(NUL, AS_NUL)
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def said(value: Any) -> Any:
    """Return a value of a row as it was before it was kept."""
    if isinstance(value, str) and MARK in value:
        return value.replace(AS_NUL, NUL).replace(AS_MARK, MARK)
    return value
