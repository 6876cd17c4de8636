"""A day at a glance: is it recording, how complete, what went wrong, what was done, in which sessions."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from limpet import clock, days
from limpet.errors import BadInput
from limpet.model import Query
from limpet.web import charts
from limpet.web.charts import Column
from limpet.web.rows import Row, row_of
from limpet.web.views.cards import cards_of
from limpet.web.views.notes import written_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from limpet.model import Answer
    from limpet.web.clocks import Clocks
    from limpet.web.reading import Reader

HOUR_MS = 3_600_000
MOST = 12
"""So many failures, and so many open ends, stand on the page; a link leads to the others."""

OPEN_TYPES = ("tool_call", "run", "cron", "subagent", "model_call", "delivery")
ERROR = ("is", ("error",), False)
OPEN_QUESTION = f"type:{','.join(OPEN_TYPES)} status:interrupted,blocked,cancelled,unknown,started"
ODD = ("status", ("interrupted", "blocked", "cancelled", "unknown", "started"), False)
OPEN_ENDS = (("type", OPEN_TYPES, False), ODD)


def view(memory: Reader, given: Mapping[str, Any], clocks: Clocks) -> Mapping[str, Any]:
    """Return what the page of one local day shows."""
    now = clock.now_ms()
    head = memory.head() if memory.exists() else 0  # before anything is read, so that nothing after it is missed
    day = _day(given["day"], clocks.of(now))
    since, until = days.window_of(day, clocks.zone)
    if since == until:  # a country that changed sides of the date line has left one out
        raise BadInput(f"There was no {day} in {clocks.zone}.", "Choose the day before it or after it.")
    shared = {"day": day, "title": _title(day, clocks.of(now)), "before": day - timedelta(days=1),
              "after": day + timedelta(days=1) if day < clocks.of(now) else None,
              "is_today": day == clocks.of(now), "head": head}  # fmt: skip
    if not memory.exists():
        return {**shared, "nothing": True}
    whole = Query(since_ms=since, until_ms=min(until, max(now, since) + 1), zone=clocks.zone, limit=MOST)
    return {
        **shared,
        "nothing": False,
        "watch": lambda: _watch(memory, whole, until, now),
        "numbers": lambda: _counts(memory, whole),
        "wrong": lambda: _wrong(memory, whole, clocks),
        "open_question": OPEN_QUESTION,
        "hours": lambda: _hours(memory.parts(_hourly(whole)), since, until, day, clocks),
        "cards": lambda: cards_of(memory, whole, clocks),
        "note": None if memory.settings.fleet else written_of(memory, day - timedelta(days=1)),
    }


def _watch(memory: Reader, whole: Query, until: int, now: int) -> Mapping[str, Any]:
    """Return whether it is recording, and how well the day was watched."""
    watched = memory.watched()
    health, bounds = memory.health(watched), memory.completeness(whole, watched)
    band = charts.band(whole.since_ms or 0, until, now, health.since_ms, bounds)
    return {"health": health, "coverage": bounds, "band": band}


def _wrong(memory: Reader, whole: Query, clocks: Clocks) -> Sequence[tuple[int, Sequence[Row]]]:
    """Return what went wrong and what has no end: of each how many there are, and the newest."""
    asked = [replace(whole, filters=filters) for filters in ((ERROR,), OPEN_ENDS)]
    return [(one.count, [row_of(event, clocks) for event in one.events]) for one in memory.parts(asked)]


def _hourly(whole: Query) -> Sequence[Query]:
    """Return what is asked of the hours: how many there are of each tone."""
    hourly = replace(whole, by="hour")
    return [hourly, replace(hourly, filters=(ERROR,)), replace(hourly, filters=OPEN_ENDS)]


def _counts(memory: Reader, whole: Query) -> Sequence[tuple[str, int, str]]:
    """Return the few numbers that say what kind of day it was: name, number, question."""
    types, sessions = memory.parts([replace(whole, by="type"), replace(whole, count="session")])
    found = dict(types.groups)
    named = (("tool calls", "tool_call"), ("messages", "message"), ("model calls", "model_call"), ("runs", "run"),
             ("subagents", "subagent"), ("cron", "cron"))  # fmt: skip
    shown = [(name, found.get(kind, 0), f"type:{kind}") for name, kind in named if found.get(kind)]
    return [("events", types.count, "everything"), ("sessions", sessions.count, "by:session"), *shown]


def _hours(hourly: Sequence[Answer], since: int, until: int, day: date, clocks: Clocks) -> Mapping[str, Any]:
    """Return the chart of the day's hours, and the same as a table."""
    every, bad, odd = (dict(answer.groups) for answer in hourly)
    found = []
    for at in range(since, until, HOUR_MS):
        shown = days.show(at, clocks.zone)
        key = f"{shown[:13]}:00{shown[23:]}"
        rest = every.get(key, 0) - bad.get(key, 0) - odd.get(key, 0)
        counts = {"fine": max(rest, 0), "open or cut off": odd.get(key, 0), "failed": bad.get(key, 0)}
        link = f"since:{_at(at, clocks)} until:{_at(min(at + HOUR_MS, until), clocks)}"
        found.append(Column(f"{shown[11:13]}:00", counts, link))
    most = max((column.total for column in found), default=0)
    return {"bars": charts.columns(found), "columns": found, "most": most, "day": day}


def _at(at_ms: int, clocks: Clocks) -> str:
    return days.to_local(at_ms, clocks.zone).isoformat(timespec="seconds")


def _day(said: str, today: date) -> date:
    if not said:
        return today
    try:
        day = date.fromisoformat(said)
    except ValueError:
        raise BadInput(f"{said[:40]!r} is no day.", "For example day=2026-10-26") from None
    if not date(1990, 1, 1) <= day <= today:
        raise BadInput(f"{day} is still to come, or too long ago.", "Choose a day that has begun.")
    return day


def _title(day: date, today: date) -> str:
    near = {today: "Today", today - timedelta(days=1): "Yesterday"}
    return near.get(day, f"{day:%A}")
