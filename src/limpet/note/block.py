"""The managed block of a daily note: found, made and replaced in a file's bytes. Pure; not for files.

Nothing outside a block of ours is ever changed. A block is ours while its bytes are the ones that its begin mark
vouches for; one that somebody has edited is theirs and stays, and so do damaged marks: a new block is then added below.

    <!-- limpet:begin 2026-05-04 main 0f3c...(stamp) 9a1b...(checksum) -->
    ...
    <!-- limpet:end -->
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from limpet.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BEGIN = re.compile(rb"<!-- limpet:begin (?P<day>\S+) (?P<agent>\S+) (?P<stamp>\S+) (?P<sum>[0-9a-f]{16}) -->")
END = b"<!-- limpet:end -->"
LIKE_A_MARK = re.compile(rb"<!--\s*limpet:", re.IGNORECASE)
FORGED = re.compile(r"<!--(\s*)limpet:", re.IGNORECASE)

DAMAGED = "Marks of Limpet's block are damaged: nothing there was changed, and a new block stands below."
EDITED = "Somebody has edited Limpet's block: that was kept, and a new block stands below."


@dataclass(frozen=True, slots=True)
class Block:
    """What is to stand in the file: whose note of which day (ISO), its text, and the stamp of what it was made from.

    `stamp` has no white space; two blocks of one day and agent with the same stamp say the same.
    """

    day: str
    agent: str
    body: str
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class Merged:
    """The file's bytes with the block in them, and a warning for people, "" where all is well."""

    content: bytes
    warning: str = ""


@dataclass(frozen=True, slots=True)
class _Found:
    """A block as it stands in a file: from its begin mark to the end of its end mark, without the line end."""

    start: int
    end: int
    day: bytes
    agent: bytes
    stamp: bytes
    intact: bool

    def belongs_to(self, block_day: str, agent: str) -> bool:
        return (self.day, self.agent) == (block_day.encode(), safe_name(agent).encode())


def merged(existing: bytes, block: Block) -> Merged:
    """Return the file with this block in it, in the file's own line ends; same in, same out.

    The last untouched block of the same day and agent is replaced; where there is none, one is added at the end.
    Raises BadInput for bytes that are no UTF-8 text.
    """
    _check_text(existing)
    found, damaged = _blocks(existing)
    mine = [one for one in found if one.belongs_to(block.day, block.agent)]
    ours = [one for one in mine if one.intact]
    warning = DAMAGED if damaged else EDITED if len(ours) < len(mine) else ""
    if ours:
        before, after = existing[: ours[-1].start], existing[ours[-1].end :]
        rendered = _rendered(block, _line_end(before + after, existing))
        return Merged(before + rendered + after, warning)
    line_end = _line_end(existing, existing)
    gap = line_end if existing and not existing.endswith(b"\n") else b""
    return Merged(existing + gap + _rendered(block, line_end) + line_end, warning)


def stamp_of(existing: bytes, day: str, agent: str) -> str | None:
    """Return the stamp of the block that stands there untouched, None where there is none."""
    found, _ = _blocks(existing)
    ours = [one.stamp for one in found if one.intact and one.belongs_to(day, agent)]
    return ours[-1].decode("ascii", "replace") if ours else None


def stamps_in(existing: bytes) -> list[tuple[str, str, str]]:
    """Return (day, agent, stamp) of every block that nobody has edited; the agent as the mark spells it."""
    found, _ = _blocks(existing)
    told = [(one.day, one.agent, one.stamp) for one in found if one.intact]
    return [tuple(part.decode("ascii", "replace") for part in one) for one in told]  # type: ignore[misc]


def safe_name(agent: str) -> str:
    """Return an agent's name as it stands in a mark: one word that cannot end the comment."""
    return quote(agent, safe="") or "%"


def _check_text(existing: bytes) -> None:
    try:
        existing.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"It is not UTF-8 text (byte {error.start}).", "Convert it, or move it away.") from error
    if b"\0" in existing:
        raise BadInput("It is no text: it holds NUL bytes.", "Convert it to UTF-8, or move it away.")


def _blocks(existing: bytes) -> tuple[Sequence[_Found], bool]:
    """Return every block with both its marks, and whether there are marks that belong to none."""
    found: list[_Found] = []
    begun: tuple[int, int, re.Match[bytes]] | None = None
    damaged = False
    for start, end, line in _marks(existing):
        begin = BEGIN.fullmatch(line)
        if line == END and begun is not None:
            found.append(_found(existing, begun, start))
            begun = None
            continue
        damaged = damaged or begin is None or begun is not None
        begun = (start, end, begin) if begin else None
    return found, damaged or begun is not None


def _marks(existing: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield each line in which a mark of ours stands, or something like it: its start, its end with the line end."""
    for hit in LIKE_A_MARK.finditer(existing):
        start = existing.rfind(b"\n", 0, hit.start()) + 1
        newline = existing.find(b"\n", hit.start())
        end = len(existing) if newline < 0 else newline + 1
        yield start, end, existing[start:end].removesuffix(b"\n").removesuffix(b"\r")


def _found(existing: bytes, begun: tuple[int, int, re.Match[bytes]], end: int) -> _Found:
    start, text_start, mark = begun
    told = mark["day"], mark["agent"], mark["stamp"]
    text = existing[text_start:end].replace(b"\r\n", b"\n")
    return _Found(start, end + len(END), *told, intact=_sum(*told, text) == mark["sum"])


def _sum(day: bytes, agent: bytes, stamp: bytes, text: bytes) -> bytes:
    return hashlib.sha256(b"\n".join((day, agent, stamp, text))).hexdigest()[:16].encode()


def _rendered(block: Block, line_end: bytes) -> bytes:
    text = FORGED.sub(r"&lt;!--\1limpet:", block.body.replace("\r\n", "\n").replace("\r", "\n"))
    text = f"{text.rstrip(chr(10))}\n"
    told = (block.day.encode(), safe_name(block.agent).encode(), block.stamp.encode() or b"-")
    raw = text.encode("utf-8", "replace")
    begin = b"<!-- limpet:begin %b %b %b %b -->\n" % (*told, _sum(*told, raw))
    return (begin + raw + END).replace(b"\n", line_end)


def _line_end(text: bytes, otherwise: bytes) -> bytes:
    """Return the line end that most lines of a text have; of the other one where this has none."""
    text = text if text.strip() else otherwise
    windows = text.count(b"\r\n")
    return b"\r\n" if windows > text.count(b"\n") - windows else b"\n"
