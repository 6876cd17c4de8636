"""Targets 4 and 5: the same questions on a small and a large database, and put to the script."""

from __future__ import annotations

import functools
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from benchmarks import building, script, telling
from benchmarks.ratio import Figure, interleaved, seconds
from benchmarks.traffic import COMMON, END_MS, NEVER, RARE, Traffic
from limpet.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benchmarks.run import Run

DAY_MS = 86_400_000
MIDNIGHT_MS = END_MS // DAY_MS * DAY_MS
TIMES = 20
"""Answers of which one round takes the average."""

QUESTIONS = {
    "last 24 h by type": "tool calls in the last 24 hours",
    "failed yesterday": "failed tool calls yesterday",
    "counts by tool": "how many tool calls per tool in the last 7 days",
    "counts by day": "how many tool calls per day in the last 7 days",
}
TEXTS = {"newest 50 with a common word": COMMON, "newest 50 with a rare word": RARE, "a word that is nowhere": NEVER}


def figures(run: Run) -> Iterator[Figure]:
    """Yield how an answer's time grows with what lies before, and how many times the script's it is."""
    small, middle, large = (building.limpet_of(run.cache, run.traffic, size) for size in run.sizes)
    with closing(_memory(small)) as little, closing(_memory(large)) as much:
        session = session_of(run.traffic)
        for what, asked in _asked(session).items():
            most = 15.0 if what.startswith(("newest", "a word")) else 1.5
            _check_equal(what, asked(little), asked(much), run.sizes[0])
            yield _growth(run, f"{what}: {large.events:,} events against {small.events:,}", asked, much, little, most)
        yield from _counted(run, much, large.events)
    theirs = building.script_of(run.cache, run.traffic, run.sizes[1])
    with closing(_memory(middle)) as memory, closing(sqlite3.connect(theirs)) as connection:
        yield from _against_script(run, memory, connection, session)


def _memory(place: building.Place) -> Memory:
    memory = Memory(place.settings, drain_s=0)
    memory.attach()
    return memory


def session_of(traffic: Traffic) -> str:
    """Return the session of the newest events."""
    return next(traffic.events(1_000)).session


def _asked(session: str) -> dict[str, Callable[[Memory], object]]:
    """Return every question as something to ask a memory, whole: words read, coverage and all."""
    asked: dict[str, Callable[[Memory], object]] = {
        what: functools.partial(_answer, question) for what, question in QUESTIONS.items()
    }
    asked["session timeline, 200"] = lambda memory: [e.summary for e in memory.session(session, limit=200)[0]]
    asked |= {what: functools.partial(_answer, f"the last 50 events mentioning {word}") for what, word in TEXTS.items()}
    return asked


def _answer(question: str, memory: Memory) -> object:
    answer = memory.ask(question, END_MS)
    return answer.count, [(e.at_ms, e.summary) for e in answer.events], answer.groups


def _check_equal(what: str, small: object, large: object, events: int) -> None:
    """Raise where the large database answers otherwise: the newest events are the same ones, but for rare words."""
    if small != large and "rare" not in what and events >= 10_000:
        raise RuntimeError(f"{what}: the two databases do not give the same answer")


def _growth(
    run: Run, what: str, asked: Callable[[Memory], object], much: Memory, little: Memory, most: float
) -> Figure:
    return interleaved(
        "4", what, lambda: seconds(lambda: asked(much), TIMES), lambda: seconds(lambda: asked(little), TIMES),
        run.rounds, at_most=most, detail="seconds per answer, warm, the same answer",
    )  # fmt: skip


def _counted(run: Run, memory: Memory, events: int) -> Iterator[Figure]:
    """Yield what has no target: exact counts of what is everywhere, which read all of it."""
    once = {
        "the exact count of a common word": f"events mentioning {COMMON}",
        "counts by tool of all time": "how many tool calls per tool",
        "failed tool calls of all time": "failed tool calls",
    }
    for what, question in once.items():
        yield interleaved(
            "4+", f"{what}, {events:,} events, against the newest 50 of it",
            lambda question=question: seconds(lambda: memory.ask(question, END_MS)),  # type: ignore[misc]
            lambda: seconds(lambda: memory.ask(f"the last 50 events mentioning {COMMON}", END_MS), TIMES),
            run.rounds, detail="seconds per answer; no target: it reads all that it counts",
        )  # fmt: skip


def _against_script(run: Run, memory: Memory, connection: sqlite3.Connection, session: str) -> Iterator[Figure]:
    now, midnight, before = telling.iso(END_MS), telling.iso(MIDNIGHT_MS), telling.iso(MIDNIGHT_MS - DAY_MS)
    day, week = telling.iso(END_MS - DAY_MS), telling.iso(MIDNIGHT_MS - 6 * DAY_MS)
    asked = _asked(session)
    both = [asked["counts by tool"], asked["counts by day"]]
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object], float | None]] = {
        "last 24 h by type": (lambda: asked["last 24 h by type"](memory),
                              lambda: script.last_day(connection, "tool_call", day), 100.0),
        "failed yesterday": (lambda: asked["failed yesterday"](memory),
                             lambda: script.failed(connection, before, midnight), 100.0),
        "counts by tool and by day, 7 days": (lambda: [one(memory) for one in both],
                                              lambda: script.per_tool_and_day(connection, week, now), 100.0),
        "newest 50 with a rare word": (lambda: asked["newest 50 with a rare word"](memory),
                                       lambda: script.holding(connection, RARE), 100.0),
        "session timeline, 200 (both have an index)": (lambda: asked["session timeline, 200"](memory),
                                                       lambda: script.session(connection, session), None),
    }  # fmt: skip
    for what, (ours, theirs, least) in pairs.items():
        theirs(), ours()
        yield interleaved(
            "5", f"{what}, {run.sizes[1]:,} events, against the script", lambda ours=ours: seconds(ours, TIMES),  # type: ignore[misc]
            lambda theirs=theirs: seconds(theirs), run.rounds, at_least=least, inverted=True,  # type: ignore[misc]
            detail="seconds per answer, warm; ours with coverage and exact count",
        )  # fmt: skip


def check(run: Run) -> list[str]:
    """Return where an answer on the large database is not what was counted by hand; nothing where all are."""
    place = building.limpet_of(run.cache, run.traffic, run.sizes[2])
    counted = place.counted
    wrong: list[str] = []
    with closing(_memory(place)) as memory:
        for question, wanted in (
            ("how many tool calls per tool", counted["tool"]),
            ("how many failed tool calls per tool", counted["failed tool"]),
            ("how many events per type", counted["type"]),
            ("how many events per agent", counted["agent"]),
        ):
            found = dict(memory.ask(question, END_MS).groups)
            if found != dict(wanted):
                wrong.append(f"{question}: {found} and not {dict(wanted)}")
        for word in (COMMON, RARE):
            found_count = memory.ask(f"events mentioning {word}", END_MS).count
            if found_count != counted["word"].get(word, 0):
                wrong.append(f"events mentioning {word}: {found_count} and not {counted['word'].get(word, 0)}")
        wrong += _wrong_days(memory, counted["tool of a day"])
    return wrong


def _wrong_days(memory: Memory, counted: Mapping[str, int]) -> Iterator[str]:
    days = sorted({name.split()[0] for name in counted})[1:]
    for day in days:
        wanted = {name.split()[1]: n for name, n in counted.items() if name.startswith(day)}
        found = dict(memory.ask(f"how many tool calls per tool on {day}", END_MS).groups)
        if found != wanted:
            yield f"tools of {day}: {found} and not {wanted}"
