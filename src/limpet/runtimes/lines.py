"""Lines out of a growing file: where each stands and whether it is finished. Not for what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from limpet import jsonline

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = 1 << 16
"""How much is kept of a line that is too long to be read, in bytes."""


class Readable(Protocol):
    """What lines are read from: a file, or what unpacks one."""

    def readline(self, size: int = -1, /) -> bytes:
        """Return the next line with its end, or at most `size` bytes of it; b"" at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its bytes without the line end, and where it stands.

    `start` and `end` are offsets in bytes, the line end included. `whole` is False for a last line without an
    end: it may still be being written, so no position may move past it (field case F07). Of a line that is
    `too_long` only the first HEAD bytes are kept.
    """

    raw: bytes
    start: int
    end: int
    whole: bool
    too_long: bool = False

    @property
    def blank(self) -> bool:
        """Whether there is nothing on it."""
        return not self.too_long and not self.raw.strip()


def lines(file: Readable, start: int = 0, longest: int = jsonline.MAX_LINE) -> Iterator[Line]:
    """Give the lines from where the file stands; `start` is that offset.

    Never holds more than `longest` bytes of a line (field case F34).
    """
    while piece := file.readline(longest + 1):
        if len(piece) > longest and not piece.endswith(b"\n"):
            line = _too_long(file, piece, start, longest)
        else:
            whole = piece.endswith(b"\n")
            line = Line(piece.removesuffix(b"\n").removesuffix(b"\r"), start, start + len(piece), whole)
        yield line
        start = line.end


def _too_long(file: Readable, head: bytes, start: int, longest: int) -> Line:
    end, last = start + len(head), head
    while not last.endswith(b"\n") and (last := file.readline(longest)):
        end += len(last)
    return Line(head[:HEAD], start, end, last.endswith(b"\n"), too_long=True)
