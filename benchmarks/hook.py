"""Target 3: what a hook handler adds to an agent's turn, in OpenClaw's Node, against a bare `fs.writeSync`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import telling
from benchmarks.node import node
from benchmarks.ratio import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.run import Run

MEASURING = Path(__file__).with_name("hook.mjs")


def figures(run: Run) -> Iterator[Figure]:
    """Yield the ratio, measured by Node itself; nothing where there is no Node that OpenClaw takes."""
    program = node()
    if program is None:
        print("  3 is left out: OpenClaw's Node cannot be had here")
        return
    lines = list(telling.lines(run.traffic.events(1_000 if run.quick else 10_000)))
    given = run.fresh("hook") / "lines.jsonl"
    given.write_bytes(b"".join(map(telling.raw, lines)))
    done = subprocess.run(
        [program, MEASURING, given, given.parent, str(run.rounds)], check=True, capture_output=True, encoding="utf-8"
    )
    rounds = json.loads(done.stdout)
    yield Figure(
        "3", "hook handler in Node, against one bare fs.writeSync of the same line",
        [one["handler"] / one["bare"] for one in rounds], at_most=2.0,
        detail="microseconds per event: capture, id, JSON, append",
        sides={side: sorted(one[side] for one in rounds)[len(rounds) // 2] for side in ("handler", "bare")},
    )  # fmt: skip
