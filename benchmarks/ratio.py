"""Two sides measured in turn, round after round, and what their ratio is. Not for what is measured."""

from __future__ import annotations

import statistics
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Figure:
    """One line of the table: how many times as much the first side is as the second, over several rounds.

    `at_most` and `at_least` are the target; neither means that there is none. `detail` says what was measured.
    """

    number: str
    what: str
    ratios: Sequence[float]
    at_most: float | None = None
    at_least: float | None = None
    detail: str = ""
    sides: dict[str, float] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """The middle one of the ratios."""
        return statistics.median(self.ratios)

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.at_most is not None:
            return self.median <= self.at_most
        return None if self.at_least is None else self.median >= self.at_least

    @property
    def target(self) -> str:
        """The target, in words."""
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return "" if self.at_least is None else f">= {self.at_least:g}"

    def told(self) -> dict[str, Any]:
        """Return it for a machine."""
        return {**asdict(self), "median": self.median, "met": self.is_met}


def interleaved(
    number: str, what: str, one: Callable[[], float], other: Callable[[], float], rounds: int, **said: Any
) -> Figure:
    """Measure both sides in turn and return how many times as much `one` is as `other`.

    Each returns what it cost, in any unit; `inverted` among what is said turns the ratio round: how many times as fast.
    """
    inverted = said.pop("inverted", False)
    pairs = [(one(), other()) for _ in range(rounds)]
    ratios = [theirs / ours if inverted else ours / theirs for ours, theirs in pairs]
    sides = {"one": statistics.median(a for a, _ in pairs), "other": statistics.median(b for _, b in pairs)}
    return Figure(number, what, ratios, sides=sides, **said)


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Return how long a piece of work takes, on average of so many times."""
    began = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - began) / times


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as a table in Markdown."""
    rows = [
        (f.number, f.what, f"{f.median:.3g}", f"{min(f.ratios):.3g} to {max(f.ratios):.3g}", str(len(f.ratios)),
         f.target, {True: "yes", False: "**no**", None: ""}[f.is_met])
        for f in figures
    ]  # fmt: skip
    heads = ("#", "what", "median ratio", "range", "rounds", "target", "met")
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ("---",) * len(heads), *rows))
