"""The daily notes by day, each statement with its events, and what each agent is told when it wakes up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from limpet import clock, days
from limpet.errors import BadInput
from limpet.model import Query
from limpet.note import wording
from limpet.note.diary import Diary
from limpet.web.rows import row_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from limpet.model import Event
    from limpet.note.plan import Plan
    from limpet.note.statement import Statement
    from limpet.web.clocks import Clocks
    from limpet.web.reading import Reader

IDS = 12
"""So many events of a statement are linked."""

TICKS = re.compile(r"(`+)(.+?)\1")
ESCAPED = re.compile(r"\\([^\w\s])")


@dataclass(frozen=True, slots=True)
class Told:
    """One statement: its title, its words as (is code, text), its events, and how many more there are."""

    title: str
    kind: str
    words: Sequence[tuple[bool, str]]
    events: Sequence[int]
    more: int


def view(memory: Reader, given: Mapping[str, Any], clocks: Clocks) -> Mapping[str, Any]:
    """Return the notes of one local day, as Limpet itself words them."""
    # A note is of the agent's day, whatever zone its reader sits in.
    today = days.day_of(clock.now_ms(), clocks.agent_zone)
    day = _day(given["day"], today)
    shared: dict[str, Any] = {"day": day, "title": f"{day:%A}, {clocks.day(day)}", "before": day - timedelta(days=1),
              "after": day + timedelta(days=1) if day < today else None, "is_today": day == today}  # fmt: skip
    if not memory.exists():
        return {**shared, "nothing": True}
    memory.head()  # a memory that cannot be read says so before anything is sent
    shared |= {"nothing": False, "briefs": lambda: [row_of(event, clocks) for event in _briefs(memory, day, clocks)]}
    if memory.settings.fleet:
        return {**shared, "machines": [one.name for one in memory.fleet().machines]}
    written = {agent: path for _, agent, path in written_of(memory, day)}
    return {
        **shared,
        "machines": None,
        "notes": lambda: [_note(plan, written.get(plan.agent, "")) for plan in plans_of(memory, day)],
        "agents": lambda: sorted(memory.note_agents()),
    }


def brief(memory: Reader, given: Mapping[str, Any], clocks: Clocks) -> Mapping[str, Any]:
    """Return what an agent would be told now, as the bytes that it would get."""
    found = memory.brief(given["agent"])
    return {"brief": found, "moment": clocks.moment(found.at_ms), "told": found.told[:IDS]}


def plans_of(memory: Reader, day: date) -> Sequence[Plan]:
    """Return what the notes of a local day say, of each agent that has anything to tell."""
    nightly = memory.notes()
    plans = [nightly.plan(agent, day, day) for agent in nightly.agents(day, day)]
    return [plan for plan in plans if not plan.is_empty]


def read_day(said: str) -> date:
    """Return a day from its ISO date; raises BadInput."""
    try:
        day = date.fromisoformat(said)
    except ValueError:
        raise BadInput(f"{said[:40]!r} is no day.", "For example day=2026-10-26") from None
    if not date(1990, 1, 2) <= day <= date(2099, 1, 1):
        raise BadInput(f"{day} is too long ago, or far away.", "For example day=2026-10-26")
    return day


def _briefs(memory: Reader, day: date, clocks: Clocks) -> Sequence[Event]:
    """Return the events of briefs that were handed over on a day; they are Limpet's own, so no answer counts them."""
    since, until = days.window_of(day, clocks.agent_zone)
    handed = Query(since_ms=since, until_ms=until, filters=(("type", ("brief",), False),), noise=True, sort="oldest")
    return memory.parts([handed])[0].events


def written_of(memory: Reader, day: date) -> Sequence[tuple[date, str, str]]:
    """Return (day, agent, file) of each agent's last note that was written for this day."""
    last = Diary.read(memory.settings.home).last
    return [(when, agent, str(path)) for agent, (when, path, _) in last.items() if when == day]


def marked(words: str) -> Sequence[tuple[bool, str]]:
    """Return one line of our own Markdown as (is code, text), so that a template need not know any."""
    parts, end = [], 0
    for found in TICKS.finditer(words):
        parts.append((False, ESCAPED.sub(r"\1", words[end : found.start()])))
        parts.append((True, found[2]))
        end = found.end()
    parts.append((False, ESCAPED.sub(r"\1", words[end:])))
    return [part for part in parts if part[1]]


def _note(plan: Plan, path: str) -> Mapping[str, Any]:
    return {
        "agent": plan.agent,
        "paragraph": marked(wording.paragraph(plan)),
        "statements": [_told(one) for one in plan.statements],
        "state": plan.state,
        "uncovered": [marked(line) for line in plan.uncovered],
        "path": path,
    }


def _told(one: Statement) -> Told:
    events = [*one.events, *one.also][:IDS]
    return Told(wording.TITLES[one.kind], one.kind, marked(one.words), events, max(0, one.count - len(events)))


def _day(said: str, today: date) -> date:
    if not said:
        return today - timedelta(days=1)
    day = read_day(said)
    if day > today:
        raise BadInput(f"{day} is still to come, or too long ago.", "Choose a day that has begun.")
    return day
