"""The same questions put to several sides in turn: how much each finds, and how long that takes. Knows no side."""

from __future__ import annotations

import contextlib
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

COMMAND_S = 120


class Unavailable(Exception):  # noqa: N818 (what is lacking is no error of ours)
    """A side cannot be run here; the sentence says what was tried and why not."""


FAULTS = (Unavailable, OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired)
"""What goes wrong with a program that is not ours: it does not start, or says something else than it did."""


@dataclass(frozen=True)
class Question:
    """What is asked, and the keys of the events that a right and complete answer names: counted without any side."""

    name: str
    what: str
    wanted: frozenset[str]


@dataclass(frozen=True)
class Answer:
    """The keys of the events that a side named, and the seconds of its processes from start to end.

    `found` is None where the side has no such question; `said` is what there is to say of it.
    """

    found: frozenset[str] | None
    seconds: float = 0.0
    said: str = ""


class Side(Protocol):
    """One of those that are compared."""

    @property
    def name(self) -> str:
        """What it is called in the tables."""

    @property
    def ways(self) -> Mapping[str, str]:
        """The commands, as typed, by question."""

    def ask(self, question: str) -> Answer:
        """Answer one of the questions, as a process of its own."""

    def size(self) -> int | None:
        """Return the bytes on disk of what it keeps, None where that cannot be told apart."""


@dataclass
class Score:
    """How one side did with one question, over all rounds; `ratios` are its seconds against the first side's."""

    side: str
    question: str
    way: str
    wanted: int
    right: int | None = None
    wrong: int = 0
    said: str = ""
    seconds: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)

    @property
    def found(self) -> str:
        """How much of the answer was there, in words."""
        if self.right is None:
            return "cannot be asked"
        return f"{self.right:,} of {self.wanted:,}" + (f", {self.wrong:,} wrong" if self.wrong else "")

    @property
    def cost(self) -> str:
        """The median of the ratios with their range."""
        if not self.ratios:
            return ""
        return f"{statistics.median(self.ratios):.2g} ({min(self.ratios):.2g} to {max(self.ratios):.2g})"

    def told(self) -> dict[str, Any]:
        """Return it for a machine."""
        medians = {
            "median_ratio": statistics.median(self.ratios) if self.ratios else None,
            "median_s": statistics.median(self.seconds) if self.seconds else None,
        }
        return {**vars(self), **medians}


class Told(NamedTuple):
    """What a command printed, and the seconds from its start to its end."""

    out: str
    seconds: float


def told(
    command: Sequence[str], environment: Mapping[str, str], *, check: bool = True, timeout_s: float = COMMAND_S
) -> Told:
    """Run a command and return what it printed; raises Unavailable with its last words where it fails."""
    began = time.perf_counter()
    done = subprocess.run(
        command, env=dict(environment), capture_output=True, encoding="utf-8", timeout=timeout_s, check=False
    )
    took = time.perf_counter() - began
    if check and done.returncode:
        raise Unavailable(f"`{' '.join(command)[:120]}` failed: {(done.stderr or done.stdout).strip()[-300:]}")
    return Told(done.stdout, took)


@contextlib.contextmanager
def running(command: Sequence[str], environment: Mapping[str, str], log: str) -> Iterator[subprocess.Popen[bytes]]:
    """Keep a server running for as long as needed, its words in a file; end it and nothing else."""
    with open(log, "ab") as words:  # noqa: PTH123 (a path in words is what the callers have)
        process = subprocess.Popen(
            command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=words, stderr=words, start_new_session=True
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def compared(sides: Sequence[Side], questions: Sequence[Question], rounds: int) -> Iterator[Score]:
    """Ask every side every question, the sides in turn within each round; yield the scores, the first side's first."""
    for question in questions:
        scores = [
            Score(side.name, question.name, side.ways.get(question.name, ""), len(question.wanted)) for side in sides
        ]
        for _ in range(rounds):
            answers = [sides[0].ask(question.name), *(_asked(side, question.name) for side in sides[1:])]
            for score, answer in zip(scores, answers, strict=True):
                _counted(score, question, answer, answers[0].seconds)
        yield from scores


def _asked(side: Side, question: str) -> Answer:
    """Ask one of the others: where it fails, that is its answer, and the rest goes on."""
    try:
        return side.ask(question)
    except FAULTS as error:
        return Answer(None, 0.0, f"failed: {error!r}"[:300])


def _counted(score: Score, question: Question, answer: Answer, against: float) -> None:
    score.said = answer.said
    if answer.seconds:
        score.seconds.append(answer.seconds)
        score.ratios.append(answer.seconds / against)
    if answer.found is None:
        return
    right = len(answer.found & question.wanted)
    # The worst round counts: an answer that is complete only sometimes is not.
    score.right = right if score.right is None else min(score.right, right)
    score.wrong = max(score.wrong, len(answer.found - question.wanted))
