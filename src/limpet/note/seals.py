"""Seals in daily notes: the ledger's place and hash at the last record that a note cites, in its begin mark.

A note lies in the agent's workspace, outside Limpet's own files: whoever cuts the end off the ledger, or makes it
anew, would have to change the notes, too. Not for judging: `verify` holds them against the chain.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from limpet.checking.chain import Sealed
from limpet.note import files
from limpet.note.block import stamps_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

STAMP = re.compile(r"\d+:(?P<no>\d{1,18}):(?P<hash>[0-9a-f]{64})")
CITED = re.compile(r"\[(\d{1,18}(?:, \d{1,18})*)(?:; [\d,]+ in all)?\]")
NAME = re.compile(r"\d{4}-\d{2}-\d{2}\.md")


def stamp(events: int, no: int, digest: bytes) -> str:
    """Return the stamp of a note made of so many events, with the seal at a record."""
    return f"{events}:{no}:{digest.hex()}"


def seals_in(workspaces: Iterable[Path]) -> Iterator[Sealed]:
    """Yield the seal of every note in these workspaces that nobody has edited; what cannot be read is passed over."""
    for folder in sorted({workspace / files.FOLDER for workspace in workspaces}):
        for path in sorted(folder.glob("*.md")):
            if NAME.fullmatch(path.name):
                yield from seals_of(path)


def cited_in(workspaces: Iterable[Path]) -> set[int]:
    """Return the number of every event that a note in these workspaces cites, whoever has edited it since."""
    cited: set[int] = set()
    for folder in sorted({workspace / files.FOLDER for workspace in workspaces}):
        for path in sorted(folder.glob("*.md")):
            if NAME.fullmatch(path.name):
                content = _content(path)
                lists = CITED.findall(content.decode("utf-8", "replace")) if b"limpet:begin" in content else ()
                cited.update(int(number) for said in lists for number in re.findall(r"\d+", said))
    return cited


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.stat().st_size <= files.LARGEST else b""
    except OSError:
        return b""


def seals_of(path: Path) -> Iterator[Sealed]:
    """Yield the seals of one file of notes."""
    for day, agent, said in stamps_in(_content(path)):
        if found := STAMP.fullmatch(said):
            where = f"the note of {day} ({unquote(agent)}) in {path.parent}"
            yield Sealed(int(found["no"]), bytes.fromhex(found["hash"]), where)
