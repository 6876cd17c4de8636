"""A large memory: as many events as wanted, over half a year, through the real recorder. Not for exact answers."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from lab import call, hook
from limpet.model import Batch, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab import Lab, Line

DAYS = 180
DAY_MS = 86_400_000
BATCH = 2_000
TOOLS = ("exec", "read", "write", "web_fetch", "browser", "memory_search")
LONG = 20_000
"""So many calls are made in one session, `s-long`, in the middle of the time."""


def fill(lab: Lab, events: int, seed: int = 1) -> None:
    """Record so many tool calls, the last one at NOON."""
    lines = enumerate(crowd(events, random.Random(seed)), 1)
    with lab.recording() as recording:
        while batch := [record(number, line) for number, line in _some(lines)]:
            recording.recorder.commit("import", Batch(tuple(batch)), batch[-1].body["ts"])
        while recording.recorder.index():
            pass


def crowd(events: int, dice: random.Random) -> Iterator[Line]:
    """Yield calls, oldest first: sessions of some hundred of them, one of twenty failed, with messages between."""
    step = DAYS * DAY_MS / events
    middle = events // 2
    for number in range(events):
        at = round((number - events) * step)
        long = middle <= number < middle + LONG
        session = "s-long" if long else f"s-{number // 300}"
        ctx = {"agentId": "main" if number % 3 else "press", "sessionId": session, "runId": f"{session}-{number // 12}",
               "sessionKey": f"agent:{'main' if number % 3 else 'press'}:{session}"}  # fmt: skip
        if long:
            ctx["agentId"], ctx["sessionKey"] = "main", "agent:main:s-long"
        if number % 12 == 0:
            text = f"Please look after {dice.choice(TOOLS)} number {number} of the list."
            yield hook("message_received", {"role": "user", "content": text}, at, **ctx)
            continue
        failed = {"error": f"exit {dice.randint(1, 127)}: it did not work"} if dice.random() < 0.05 else {}
        params = {"command": f"make target-{number % 977} --jobs {dice.randint(1, 8)}"}
        took = round(dice.lognormvariate(6, 1.5))
        yield call(f"c{number}", at, dice.choice(TOOLS), durationMs=took, params=params, ctx=ctx, **failed)


def record(number: int, line: Line) -> Record:
    """Return a line as the record that it is."""
    return Record(
        f"{number:032x}", "openclaw.hooks", "crowd", number, line["hook"], {**line, "seq": number}, line["ts"]
    )


def _some(lines: Iterator[tuple[int, Line]]) -> Iterator[tuple[int, Line]]:
    for _, line in zip(range(BATCH), lines, strict=False):
        yield line
