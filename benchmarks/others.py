"""`python -m benchmarks.others`: Limpet beside what a user would pick instead, on the same work. Not its targets."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.peers import agentsview, claude_mem, gateway, installs, limpet, llm_logs, report, scripted
from benchmarks.peers.asking import FAULTS, compared
from benchmarks.peers.day import Day
from benchmarks.traffic import Traffic

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.peers.asking import Question, Score, Side

FILES, SMALL, QUICK = 5_000, 1_000, 1_000
"""Events in the day of files, in the one that claude-mem's model can work through, and with --quick."""


@dataclass
class Comparison:
    """One table: several sides on the same work; `missing` says which could not take part, and why."""

    title: str
    events: int | None = None
    sides: list[Side] = field(default_factory=list)
    questions: tuple[Question, ...] = ()
    scores: list[Score] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, opened: Callable[[], Side]) -> None:
        """Take a side in, or note why not."""
        try:
            self.sides.append(opened())
        except FAULTS as error:
            self.missing[name] = str(error) or repr(error)

    def measure(self, questions: tuple[Question, ...], rounds: int) -> None:
        """Ask everything of everybody, and weigh what each keeps; one alone is no comparison."""
        if len(self.sides) < 2:
            return
        self.questions = questions
        self.scores = list(compared(self.sides, questions, rounds))
        weighed = {side.name: side.size() for side in self.sides}
        self.sizes = {name: size for name, size in weighed.items() if size is not None}

    def told(self) -> dict[str, Any]:
        """Return it for a machine."""
        questions = {one.name: {"what": one.what, "wanted": len(one.wanted)} for one in self.questions}
        return {"title": self.title, "events": self.events, "questions": questions, "sizes": self.sizes,
                "scores": [score.told() for score in self.scores], "missing": self.missing}  # fmt: skip


@dataclass(frozen=True)
class Bench:
    """One run: where it works, what may be fetched, and how often each is asked."""

    cache: Path
    scratch: Path
    programs: installs.Installs
    rounds: int
    events: int
    traffic: Traffic

    def day(self, events: int) -> Day:
        """Return the newest so many events."""
        return Day(self.traffic, events, self.cache, self.scratch)


def on_files(bench: Bench) -> Comparison:
    """Compare those that read or keep what lies in files already, at once: all have the same transcripts."""
    day = bench.day(bench.events)
    found = Comparison("The same transcripts", day.events)
    with ExitStack() as stack:
        found.sides.append(limpet.filled(day))
        found.add("the script", lambda: scripted.filled(day))
        found.add("llm logs", lambda: llm_logs.filled(bench.programs.llm(), day))
        found.add("agentsview", lambda: stack.enter_context(agentsview.opened(bench.programs.agentsview(), day)))
        found.measure(tuple(day.questions), bench.rounds)
    return found


def with_model(bench: Bench) -> Comparison:
    """Compare with what calls a model for each event, on as many as that works through in half a minute."""
    day = bench.day(min(SMALL, bench.events))
    found = Comparison("With a model that copies out all it is shown", day.events)
    with ExitStack() as stack:
        found.sides.append(limpet.filled(day))
        found.add("claude-mem", lambda: stack.enter_context(_claude_mem(bench, day)))
        found.measure(tuple(day.questions), bench.rounds)
    return found


def _claude_mem(bench: Bench, day: Day) -> AbstractContextManager[Side]:
    modules = bench.programs.claude_mem()
    return claude_mem.opened(modules, installs.openclaw() / "node_modules" / "node" / "bin" / "node", day)


def on_gateway(bench: Bench) -> Comparison:
    """Compare with what OpenClaw itself keeps of the same turns, on one gateway that runs both."""
    found = Comparison("One gateway", None)
    with ExitStack() as stack:
        try:
            driven = stack.enter_context(gateway.driven(installs.openclaw(), bench.scratch / "gateway"))
        except FAULTS as error:
            found.missing["openclaw"] = str(error) or repr(error)
            return found
        found.sides = [gateway.Beside(driven), gateway.OpenClaw(driven)]
        found.measure(tuple(driven.questions), bench.rounds)
    return found


PARTS: dict[str, Callable[[Bench], Comparison]] = {"files": on_files, "model": with_model, "gateway": on_gateway}


def main() -> int:
    """Run the comparisons that were asked for, print the tables, write them for machines."""
    asked = _arguments()
    scratch = Path(tempfile.mkdtemp(prefix="limpet-others-", dir=asked.scratch))
    rounds, events = (1, QUICK) if asked.quick else (asked.rounds, asked.events)
    programs = installs.Installs(asked.cache, may_install=not asked.quick)
    bench = Bench(asked.cache, scratch, programs, rounds, events, Traffic())
    left_out = {"gateway"} if asked.quick else set()
    try:
        done = [_timed(name, bench) for name in asked.only or PARTS if name not in left_out]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("\n".join(report.page(comparison.told() for comparison in done)))
    _write(asked.json, {"quick": asked.quick, "rounds": rounds, "comparisons": [one.told() for one in done]})
    return 0


def _timed(name: str, bench: Bench) -> Comparison:
    began = time.monotonic()
    print(f"{name} ...", flush=True)
    found = PARTS[name](bench)
    print(f"  ({time.monotonic() - began:.0f} s)", flush=True)
    return found


def _arguments() -> argparse.Namespace:
    default = Path(os.environ.get("LIMPET_CACHE") or Path.home() / ".cache" / "limpet-dev") / "others"
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.others", description="Limpet beside what one would pick instead, on the same work.",
        epilog="example: python -m benchmarks.others --only files --rounds 9",
    )  # fmt: skip
    add = parser.add_argument
    add("--quick", action="store_true", help="one round on few events, with what is installed already, and no gateway")
    add("--only", nargs="+", choices=[*PARTS], help="these comparisons alone")
    add("--rounds", type=int, default=5, metavar="N", help="how often each is asked, in turn (5)")
    add("--events", type=int, default=FILES, metavar="N", help="events in the files, in thousands (5000)")
    add(
        "--cache",
        type=Path,
        default=default,
        help="where the others are installed, and what takes long to fill is kept",
    )
    add("--scratch", type=Path, default=None, help="where to work")
    add("--json", type=Path, default=Path("build/others.json"), help="where the result goes")
    return parser.parse_args()


def _write(path: Path, found: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    versions = {"agentsview": installs.AGENTSVIEW, "llm": installs.LLM, "claude-mem": installs.CLAUDE_MEM}
    about = {"versions": versions, "load": os.getloadavg(), "cores": os.cpu_count()}
    path.write_text(json.dumps({**about, **found}, indent=1), "utf-8")
    print(f"The same for machines: {path}")


if __name__ == "__main__":
    sys.exit(main())
