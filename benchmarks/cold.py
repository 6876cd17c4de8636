"""Targets 7 and 8: one question and one brief from a cold process."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks import building, telling
from benchmarks.ratio import interleaved, seconds
from benchmarks.traffic import END_MS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.ratio import Figure
    from benchmarks.run import Run


def figures(run: Run) -> Iterator[Figure]:
    """Yield what a process of its own costs."""
    small, middle, large = (building.limpet_of(run.cache, run.traffic, size) for size in run.sizes)
    now = telling.iso(END_MS)
    yield interleaved(
        "7", f"limpet ask, cold, {middle.events:,} events, against python -I -S -c pass",
        lambda: limpet(middle, "ask", "--now", now, "failed tool calls yesterday"),
        lambda: _timed([sys.executable, "-I", "-S", "-c", "pass"]), 3 * run.rounds, at_most=8.0,
        detail="seconds from start to end of the process",
    )  # fmt: skip
    yield interleaved(
        "8", f"limpet brief, cold, {large.events:,} events against {small.events:,}",
        lambda: limpet(large, "brief", "--now", now), lambda: limpet(small, "brief", "--now", now), 3 * run.rounds,
        at_most=1.2, detail="seconds from start to end of the process",
    )  # fmt: skip


def limpet(place: building.Place, *arguments: str) -> float:
    """Return how long a command takes as a process of its own; raises CalledProcessError where it fails."""
    environment = {"HOME": str(place.folder), "OPENCLAW_STATE_DIR": str(place.folder / "state"), "TZ": "UTC"}
    return _timed([sys.executable, "-m", "limpet", *arguments], environment)


def _timed(command: list[str], environment: dict[str, str] | None = None) -> float:
    return seconds(lambda: subprocess.run(command, check=True, capture_output=True, env=environment))
