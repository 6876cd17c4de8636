"""What comes from outside, made safe to stand in a Markdown note: always text, never structure. Pure (field case F58)."""

from __future__ import annotations


def quoted(said: str, limit: int = 80) -> str:
    """Return words of somebody in quotation marks, on one line, with every Markdown character escaped."""
    raise NotImplementedError


def code(said: str, limit: int = 60) -> str:
    """Return a command, a file or a name as a code span, on one line."""
    raise NotImplementedError
