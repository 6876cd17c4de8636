"""The managed block of a daily note: found, made and replaced in a file's bytes. Pure; not for files.

Nothing outside a block of ours is ever changed. A block is ours while its bytes are the ones that its begin mark
vouches for; one that somebody has edited is theirs and stays, and so do damaged marks: a new block is then added below.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """What is to stand in the file: whose note of which day (ISO), its text, and the stamp of what it was made from."""

    day: str
    agent: str
    body: str
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class Merged:
    """The file's bytes with the block in them, and a sentence where something stands in it that nobody should see."""

    content: bytes
    warning: str = ""


def merged(existing: bytes, block: Block) -> Merged:
    """Return the file with this block in it, in the file's own line ends; same in, same out.

    Raises BadInput for bytes that are no UTF-8 text.
    """
    raise NotImplementedError


def stamp_of(existing: bytes, day: str, agent: str) -> str | None:
    """Return the stamp of the block that stands there untouched, None where there is none."""
    raise NotImplementedError
