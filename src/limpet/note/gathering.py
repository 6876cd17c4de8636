"""From the store to a plan: whose events a note tells, read page by page. Reads only; not for words or files."""

from __future__ import annotations

import heapq
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

from limpet import coverage, days, recall
from limpet.belonging import NOBODY, belongs
from limpet.model import Query
from limpet.note.plan import plan_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from limpet.coverage import Watched
    from limpet.model import Event
    from limpet.note.plan import Plan
    from limpet.store.sqlite import SqliteStore

PAGE = 1000
DEFAULT = "main"


def agents_of(store: SqliteStore, first: date, last: date, zone: str, default: str = DEFAULT) -> Sequence[str]:
    """Return the agents that may have a note of these local days: the default one, then all others with events."""
    query = _query(first, last, zone)
    named = {agent for agent, _ in store.find.groups(replace(query, by="agent"))}
    return [default, *sorted(named - NOBODY - {default})]


def plan_from(
    store: SqliteStore, watched: Watched, agent: str, first: date, last: date, zone: str, default: str = DEFAULT
) -> Plan:
    """Return what the note of this agent and these local days says, as of one moment of the store.

    What names no agent is the default agent's, but for the gateway's starts and stops, which are everybody's.
    Raises BadInput for a zone that does not exist.
    """
    query = _query(first, last, zone)
    with store.snapshot():
        events = events_of(store, agent, query, default)
        known = coverage.of(store, query, watched)
        return plan_of(events, known, first=first, last=last, zone=zone, agent=agent)


def events_of(store: SqliteStore, agent: str, query: Query, default: str = DEFAULT) -> Iterator[Event]:
    """Yield an agent's events in a query's span, oldest first."""
    others = tuple(sorted({*store.find.names("agent")} - NOBODY))
    own = replace(query, filters=(("agent", (agent,), False),))
    lost = replace(query, filters=(("agent", others, True),) if others else ())
    mine = recall.every(store, own) if agent in others else iter(())
    nobodys = (event for event in recall.every(store, lost) if belongs(event, agent, default))
    return heapq.merge(mine, nobodys, key=attrgetter("at_ms"))


def _query(first: date, last: date, zone: str) -> Query:
    since, until = days.window_of(first, zone)[0], days.window_of(last, zone)[1]
    return Query(since_ms=since, until_ms=until, zone=zone, sort="oldest", limit=PAGE)
