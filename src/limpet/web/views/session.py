"""A session's timeline, a window of it at a time: turns, calls, durations, marks, and what led to what."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from limpet.memory import parse_id
from limpet.web import charts
from limpet.web.charts import Bar
from limpet.web.clocks import took
from limpet.web.rows import TONES, Row, row_of
from limpet.web.views.mending import TRIED, WRONG, Ties, ties

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from limpet.model import Event
    from limpet.timeline import Place
    from limpet.web.clocks import Clocks
    from limpet.web.reading import Reader

WINDOW = 100
"""So many events are shown at a time; more come as the reader scrolls."""

MOST = 200_000
"""So many events of a session can be looked at."""

BEFORE = 5
"""So many events stand before the one that was asked for."""

ORIGIN = 50
"""Among so many events at the beginning is looked for what the session goes on from."""

PIECES = 80
"""The strip of the whole session has so many pieces."""

IDLE_MS = 60_000
"""A longer time between two events is said."""

TIMED = frozenset({"tool_call", "model_call", "run", "subagent", "cron", "delivery"})
"""What takes time, and is drawn as a bar beside the others of its turn."""

BAD = frozenset({"failed", "timed_out"})
NOTHING = Ties()


@dataclass(frozen=True, slots=True)
class Step:
    """One event of the timeline: its line, its bar, the time without anything before it, and what it is linked to."""

    row: Row
    bar: Bar | None
    idle: str
    ties: Ties
    is_new_day: bool


def view(memory: Reader, given: Mapping[str, Any], clocks: Clocks) -> Mapping[str, Any]:
    """Return whose session it is, which is known at once, and then a window of its timeline and the strip of all."""
    head = memory.head()  # before anything is read, so that nothing after it is missed
    wanted = parse_id(given["from"]) if given["from"] else 0
    (begin,) = memory.at(memory.outline(given["id"], limit=1))
    return {
        "head": head,
        "key": begin.session_key or given["id"],
        "agent": begin.agent or "unknown",
        "whole": lambda: _whole(memory, given["id"], wanted, clocks),
    }


def _whole(memory: Reader, name: str, wanted: int, clocks: Clocks) -> Mapping[str, Any]:
    places = memory.outline(name, limit=MOST)
    index = {place.line.id: number for number, place in enumerate(places)}
    first = max(0, index.get(wanted, 0) - BEFORE)
    window = places[first : first + WINDOW]
    until = first + len(window)
    failures = [place.line.id for place in places if _is_bad(place)]
    end = memory.end(memory.at([*[p for p in places if p.line.type == "session" and not p.is_child][:50], places[-1]]))
    return {
        "origin": memory.origin(memory.at(window[:ORIGIN])) if first == 0 else "",
        "end": (clocks.moment(end[0]), end[1]) if end else None,
        "total": len(places),
        "first": first,
        "until": until,
        "steps": lambda: _steps(memory.at(window), _ties(memory, places), clocks),
        "wanted": wanted,
        "strip": _strip(places, first, len(window)),
        "failures": failures,
        "failed_before": next((one for one in reversed(failures) if index[one] < first), 0),
        "failed_after": next((one for one in failures if index[one] >= until), 0),
        "earlier": places[max(0, first - WINDOW + 2 * BEFORE)].line.id if first else 0,
        "later": places[until].line.id if until < len(places) else 0,
        "span": (clocks.moment(places[0].line.at_ms), clocks.moment(places[-1].line.at_ms)),
        "last": window[-1].line.id,
    }


def _is_bad(place: Place) -> bool:
    return place.line.status in BAD or place.line.type == "error"


def _ties(memory: Reader, places: Sequence[Place]) -> Mapping[int, Ties]:
    """Return what is tied to what in the whole session; nothing is asked where nothing went wrong."""
    wrong = next((n for n, place in enumerate(places) if place.line.status in WRONG), None)
    if wrong is None:
        return {}
    return ties(memory.attempts([place for place in places[wrong:] if place.line.type in TRIED]))


def _steps(events: Sequence[Event], tied: Mapping[int, Ties], clocks: Clocks) -> Sequence[Step]:
    """Return the events of the window as steps."""
    rows = [row_of(event, clocks) for event in events]
    axes = _axes(rows)
    before = [None, *events[:-1]]
    idle = [0, *(b.at_ms - max(a.at_ms, _end(a)) for a, b in pairwise(events))]
    return [
        Step(
            row,
            axis.bar(row.at_ms, row.duration_ms, row.tone) if row.type in TIMED else None,
            took(gap) if gap >= IDLE_MS else "",
            tied.get(row.id, NOTHING),
            last is None or clocks.of(last.at_ms) != clocks.of(row.at_ms),
        )
        for row, axis, gap, last in zip(rows, axes, idle, before, strict=True)
    ]


def _axes(rows: Sequence[Row]) -> Sequence[charts.Folded]:
    """Return the time axis of each line: all lines of a turn have the same one, so that they can be compared."""
    turns = list(accumulate(int(row.is_turn) for row in rows))
    spans: dict[int, list[tuple[int, int]]] = {}
    for turn, row in zip(turns, rows, strict=True):
        if row.type in TIMED:
            spans.setdefault(turn, []).append((row.at_ms, row.at_ms + row.duration_ms))
    axes = {turn: charts.Folded(found) for turn, found in spans.items()}
    return [axes.get(turn) or charts.Folded(()) for turn in turns]


def _end(event: Event) -> int:
    return event.at_ms + (event.duration_ms or 0) if event.type not in ("session", "run") else event.at_ms


def _strip(places: Sequence[Place], first: int, shown: int) -> Sequence[Bar]:
    """Return the whole session as a strip: a piece is as bad as the worst event in it, and leads there."""
    size = max(1, -(-len(places) // PIECES))
    room = 100 / -(-len(places) // size)
    bars = []
    for number, start in enumerate(range(0, len(places), size)):
        part = places[start : start + size]
        tones = {TONES.get(place.line.status, "plain") if not _is_bad(place) else "bad" for place in part}
        tone = next(tone for tone in ("bad", "odd", "open", "good", "plain") if tone in tones)
        here = "here" if start < first + shown and start + size > first else ""
        bars.append(
            Bar(round(number * room, 3), 0, round(room * 0.8, 3), 100, f"{tone} {here}".strip(),
                f"events {start + 1:,} to {start + len(part):,}", str(part[0].line.id))
        )  # fmt: skip
    return bars
