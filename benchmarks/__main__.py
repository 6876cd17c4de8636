"""`python -m benchmarks`: measures everything, prints the table, and writes it for machines too."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from benchmarks import answers, cold, hook, living, recording, size
from benchmarks.ratio import Figure, table
from benchmarks.run import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PARTS: dict[str, Callable[[Run], Iterator[Figure]]] = {
    "recording": recording.figures,
    "hook": hook.figures,
    "answers": answers.figures,
    "size": size.figures,
    "cold": cold.figures,
    "living": living.figures,
}
SIZES = (10_000, 1_000_000, 10_000_000)
QUICK = (1_000, 2_000, 3_000)


def main() -> int:
    """Run the parts that were asked for; the exit status says whether answers were right, never how fast."""
    asked = _arguments()
    if asked.table:
        print(table(read(asked.table)))
        return 0
    sizes = QUICK if asked.quick else tuple(asked.sizes)
    scratch = Path(tempfile.mkdtemp(prefix="limpet-bench-", dir=asked.scratch))
    cache = scratch / "cache" if asked.quick else asked.cache
    cache.mkdir(parents=True, exist_ok=True)
    run = Run(cache, scratch, asked.quick, 2 if asked.quick else asked.rounds, sizes)
    try:
        figures, wrong = _measured(run, asked.only or [*PARTS])
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"\n{table(figures)}\n")
    for line in wrong:
        print(f"WRONG: {line}")
    _write(asked.json, figures, wrong, sizes)
    return 1 if wrong else 0


def _arguments() -> argparse.Namespace:
    default = Path(os.environ.get("LIMPET_CACHE") or Path.home() / ".cache" / "limpet-dev") / "benchmarks"
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="What Limpet costs, as ratios. On a machine that does nothing else.",
        epilog="example: python -m benchmarks --only answers --sizes 10000 100000 1000000",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="in a minute: shows that everything runs, not how fast")
    parser.add_argument("--only", nargs="+", choices=[*PARTS], help="these parts alone")
    parser.add_argument("--sizes", nargs=3, type=int, default=SIZES, metavar="N", help="events: small, middle, large")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="how often each pair is measured (5)")
    parser.add_argument("--cache", type=Path, default=default, help="where databases are kept")
    parser.add_argument("--scratch", type=Path, default=None, help="where to work: the disk that is measured")
    parser.add_argument("--table", type=Path, help="measure nothing: print the table of such a result")
    parser.add_argument("--json", type=Path, default=Path("build/benchmarks.json"), help="where the result goes")
    return parser.parse_args()


def _measured(run: Run, parts: list[str]) -> tuple[list[Figure], list[str]]:
    figures: list[Figure] = []
    for part in parts:
        print(f"{part} ...", flush=True)
        began = time.monotonic()
        for figure in PARTS[part](run):
            print(f"  {figure.number:3} {figure.median:10.3g} {figure.target:>7}  {figure.what}", flush=True)
            figures.append(figure)
        print(f"  ({time.monotonic() - began:.0f} s)", flush=True)
    return figures, answers.check(run) if "answers" in parts else []


def read(path: Path) -> list[Figure]:
    """Return the figures of a result that was written."""
    said = json.loads(path.read_text("utf-8"))["figures"]
    names = {field.name for field in fields(Figure)}
    return [Figure(**{name: value for name, value in one.items() if name in names}) for one in said]


def _write(path: Path, figures: list[Figure], wrong: list[str], sizes: tuple[int, ...]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"python": platform.python_version(), "sqlite": apsw.sqlite_lib_version(), "cores": os.cpu_count(),
             "load": os.getloadavg(), "sizes": sizes, "wrong": wrong}  # fmt: skip
    path.write_text(json.dumps({**about, "figures": [figure.told() for figure in figures]}, indent=1), "utf-8")
    print(f"The same for machines: {path}")


if __name__ == "__main__":
    sys.exit(main())
