"""Where the marks of a chart stand: numbers to rectangles in a box of 100 by 100. Pure; the templates draw them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from limpet.model import Coverage

SPACE = 0.22
"""How much of a column's room stays empty."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One rectangle; `tone` says its colour, `label` what it stands for, `link` where it leads."""

    x: float
    y: float
    width: float
    height: float
    tone: str
    label: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """What one column shows: its label, its link, and how many of each tone, drawn from the ground up."""

    label: str
    counts: Mapping[str, int]
    link: str = ""

    @property
    def total(self) -> int:
        """How many there are in all."""
        return sum(self.counts.values())


def columns(found: Sequence[Column]) -> Sequence[Bar]:
    """Return the bars of stacked columns, left to right."""
    most = max((column.total for column in found), default=0) or 1
    room = 100 / max(1, len(found))
    return [bar for number, column in enumerate(found) for bar in _column(column, number * room, room, most)]


def _column(column: Column, x: float, room: float, most: int) -> Iterable[Bar]:
    top = 100.0
    told = ", ".join(f"{n:,} {tone}" for tone, n in column.counts.items() if n)
    for tone, count in column.counts.items():
        if not count:
            continue
        height = max(100 * count / most, 1.5)
        top -= height
        yield Bar(
            round(x + room * SPACE / 2, 3),
            round(max(top, 0), 3),
            round(room * (1 - SPACE), 3),
            round(height, 3),
            tone,
            f"{column.label}: {told}",
            column.link,
        )


def band(since: int, until: int, now: int, watched_since: int | None, coverage: Coverage) -> Sequence[Bar]:
    """Return how well the span was watched, left to right; `watched_since` None means never."""
    end = min(until, now)
    start = until if watched_since is None else min(max(since, watched_since), until)
    spans = [(since, min(start, end), "unknown", "before Limpet watched")]
    spans.append((start, end, "blind" if coverage.state == "blind" else "watched", "watched"))
    spans += [(max(g.from_ms, since), min(g.to_ms or end, end), "gap", f"{g.source}: {g.why}") for g in coverage.gaps]
    spans.append((max(end, since), until, "future", "still to come"))
    scale = 100 / (until - since)
    return [
        Bar(round((a - since) * scale, 3), 0, round(max((b - a) * scale, 0.4), 3), 100, tone, label)
        for a, b, tone, label in spans
        if b > a or (tone == "gap" and b == a)
    ]


class Folded:
    """A time axis on which idle spans are cut short: instants to places from 0 to 100."""

    def __init__(self, spans: Iterable[tuple[int, int]], gap: float = 2.0) -> None:
        """Lay out these spans (epoch milliseconds, any order); each idle time between takes `gap`."""
        busy = _joined(spans)
        total = sum(end - start for start, end in busy) or 1
        gap = min(gap, 50 / len(busy)) if busy else gap
        scale = (100 - gap * max(0, len(busy) - 1)) / total
        self._pieces: list[tuple[int, int, float]] = []
        place = 0.0
        for start, end in busy:
            self._pieces.append((start, end, place))
            place += (end - start) * scale + gap
        self._scale = scale

    def place(self, at_ms: int) -> float:
        """Return where an instant stands."""
        for start, end, place in reversed(self._pieces):
            if at_ms >= start:
                return min(100.0, place + (min(at_ms, end) - start) * self._scale)
        return 0.0

    def bar(self, at_ms: int, duration_ms: int, tone: str) -> Bar:
        """Return the bar of something that took so long."""
        x = min(self.place(at_ms), 99.2)
        return Bar(round(x, 3), 0, round(max(self.place(at_ms + duration_ms) - x, 0.8), 3), 100, tone)


IDLE_MS = 20_000
"""A longer time in which nothing goes on is folded."""

MOMENT_MS = 250
"""What took no time is drawn as if it took this."""


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order, those joined between which there is no idle time."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        end = max(end, start + MOMENT_MS)  # noqa: PLW2901 - a moment has a length on paper
        if joined and start - joined[-1][1] <= IDLE_MS:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined
