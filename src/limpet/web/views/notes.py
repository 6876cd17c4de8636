"""The daily notes by day, each statement with its events, and what each agent is told when it wakes up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from limpet import clock, days
from limpet.errors import BadInput
from limpet.note import wording
from limpet.note.diary import Diary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    shared = {"day": day, "title": f"{day:%A}, {clocks.day(day)}", "before": day - timedelta(days=1),
              "after": day + timedelta(days=1) if day < today else None, "is_today": day == today}  # fmt: skip
    if not memory.exists():
        return {**shared, "nothing": True, "notes": []}
    nightly = memory.notes()
    plans = [nightly.plan(agent, day, day) for agent in nightly.agents(day, day)]
    written = {agent: path for _, agent, path in written_of(memory, day)}
    return {
        **shared,
        "nothing": False,
        "notes": [_note(plan, written.get(plan.agent, "")) for plan in plans if not plan.is_empty],
        "zone": clocks.agent_zone,
    }


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
    try:
        day = date.fromisoformat(said)
    except ValueError:
        raise BadInput(f"{said[:40]!r} is no day.", "For example day=2026-10-26") from None
    if not date(1990, 1, 2) <= day <= today:
        raise BadInput(f"{day} is still to come, or too long ago.", "Choose a day that has begun.")
    return day
