"""Puts a block into a file of the agent's workspace, while agent and human may be writing it, too. Not for its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from limpet.note.block import Merged


@dataclass(frozen=True, slots=True)
class Written:
    """Whether the file was changed, and a warning for people, "" where all is well."""

    changed: bool
    warning: str = ""


def write(workspace: Path, name: str, change: Callable[[bytes], Merged]) -> Written:
    """Change `memory/<name>` of the workspace: `change` gets its bytes (b"" where there is none) and gives the new ones.

    Raises Unavailable or BadInput, with nothing changed, where that cannot be done now.
    """
    raise NotImplementedError


def read(workspace: Path, name: str) -> bytes:
    """Return what `memory/<name>` holds, b"" where there is no such file. Raises as `write` does."""
    raise NotImplementedError
