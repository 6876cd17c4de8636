"""What grows how: more agents, more sessions, longer texts and busier days against the same number of usual events."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from benchmarks import answers, building
from benchmarks.building import page_bytes
from benchmarks.ratio import Figure, interleaved, seconds
from benchmarks.traffic import END_MS, Traffic
from limpet.store.search import path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.run import Run
    from limpet.memory import Memory

MANY_AGENTS = tuple((f"agent-{number}", 1) for number in range(300))
KINDS = {
    "300 agents in place of 3": {"agents": MANY_AGENTS},
    "sessions of 10 events in place of 200": {"session": 10},
    "texts four times as long": {"scale": 1.25},
}
QUESTIONS = ("failed tool calls yesterday", "how many tool calls per tool", "how many events per agent",
             "the last 50 events mentioning deploy")  # fmt: skip


def figures(run: Run) -> Iterator[Figure]:
    """Yield the ratios of bytes and of answers, each against the same number of usual events."""
    events = 2_000 if run.quick else 50_000
    words = 200_000 if run.quick else 4_000_000
    usual = building.limpet_of(run.cache, run.traffic, events)
    for what, given in KINDS.items():
        kind = f"limpet-{what.replace(' ', '-')}"
        other = building.limpet_of(run.cache, Traffic(words, **given), events, kind)  # type: ignore[arg-type]
        yield Figure("G", f"{what}: bytes per event", [_bytes(other) / _bytes(usual)], detail="database and index")
        with closing(answers.opened(usual)) as one, closing(answers.opened(other)) as another:
            yield interleaved(
                "G", f"{what}: four questions", lambda another=another: _asked(another),  # type: ignore[misc]
                lambda one=one: _asked(one), run.rounds, detail="seconds, warm",  # type: ignore[misc]
            )  # fmt: skip


def _bytes(place: building.Place) -> int:
    return page_bytes(place.settings.db) + page_bytes(path_of(place.settings.db))


def _asked(memory: Memory) -> float:
    return seconds(lambda: [memory.ask(question, END_MS) for question in QUESTIONS], answers.TIMES)
