"""From the store to the briefs of an agent, one for each audience, in one pass over its newest events. Reads only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from limpet import days, recall
from limpet.belonging import NOBODY, OWNER, UNTOLD, Audiences, belongs
from limpet.brief.composing import TOKENS, Given, compose
from limpet.brief.digest import Digest, Span
from limpet.brief.times import Times
from limpet.model import Query

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from limpet.brief.composing import Brief
    from limpet.brief.standing import Standing
    from limpet.store.port import Store

DAY_MS = 86_400_000
WEEK_MS = 7 * DAY_MS
HOUR_MS = 3_600_000
MOST_EVENTS = 10_000
"""So many events of an agent, the newest, are looked at; a brief says so where there were more in the week."""

MOST_AUDIENCES, MOST_AGENTS = 64, 100
PAGE = 500
SILENT = ("model_call", "session", "compaction", "reset", "gap")
"""Types that no brief tells of."""


@dataclass(frozen=True, slots=True)
class Briefs:
    """The briefs of one agent by audience, the owner's among them, and `other`: for whom nothing is known of."""

    agent: str
    at_ms: int
    of: Mapping[str, Brief]
    other: Brief


def briefs_of(
    store: Store, standing: Standing, agent: str, *, now_ms: int, zone: str, default: str, tokens: int = TOKENS
) -> Briefs:
    """Return what each audience of an agent is told, as of one moment. What names no agent is the default one's.

    It reads at most MOST_EVENTS events. Raises BadInput for a zone that does not exist.
    """
    times = Times(zone, now_ms)
    with store.snapshot():
        since = _since(store, agent, default, now_ms)
        spans, called = _spans(times, since)
        digests = _digests(store, _query(agent, default, since, now_ms), agent, default, spans)
    period = "of the last 7 days" if since == now_ms - WEEK_MS else f"since {times.short(since)}"
    given = Given(standing, times, called, period, tokens)
    told = {audience: compose(agent, audience, digest, given) for audience, digest in digests.items()}
    return Briefs(agent, now_ms, told, compose(agent, UNTOLD, None, given))


def agents_of(store: Store, now_ms: int) -> Sequence[str]:
    """Return the agents that did something in the last week, at most MOST_AGENTS: those that did most."""
    query = Query(since_ms=now_ms - WEEK_MS, until_ms=now_ms + 1, by="agent")
    return sorted([name for name, _ in store.find.groups(query) if name not in NOBODY][:MOST_AGENTS])


def _spans(times: Times, since_ms: int) -> tuple[dict[str, Span], dict[str, str]]:
    """Return the spans in which a brief counts, and what they are called; days are those of `days`.

    Where not all of a span is looked at, its name says from when on.
    """
    day = times.now_ms - DAY_MS
    began, _ = days.window_of(days.day_of(times.now_ms, times.zone), times.zone)
    yesterday = days.day_of(began - 1, times.zone)
    before, until = days.window_of(yesterday, times.zone)
    spans = {"day": Span(day), "yesterday": Span(before, until)}
    hours = (until - before) / HOUR_MS
    long = f" ({hours:g} hours long)" if hours != DAY_MS / HOUR_MS else ""
    late = f", looked at since {times.short(since_ms)}"
    called = {
        "day": f"Last 24 hours{late if since_ms > day else ''}",
        "yesterday": f"Yesterday, {yesterday}{long}{late if since_ms > before else ''}",
    }
    return spans, called


def _query(agent: str, default: str, since_ms: int, now_ms: int) -> Query:
    names = (agent, *sorted(NOBODY - {""})) if agent == default else (agent,)
    filters = (("agent", names, False), ("type", SILENT, True))
    return Query(since_ms=since_ms, until_ms=now_ms + 1, filters=filters, sort="oldest", limit=PAGE)


def _since(store: Store, agent: str, default: str, now_ms: int) -> int:
    """Return from when on events are looked at: a week, or less where that would be too many."""
    query = _query(agent, default, now_ms - WEEK_MS, now_ms)
    beyond = store.find.page(replace(query, sort="newest", limit=1, offset=MOST_EVENTS))
    return beyond[0].at_ms + 1 if beyond else now_ms - WEEK_MS


def _digests(store: Store, query: Query, agent: str, default: str, spans: dict[str, Span]) -> Mapping[str, Digest]:
    """Return a digest for each audience: the owner, and those others to whom something happened last."""
    audiences = Audiences(store)
    digests = {OWNER: Digest(spans)}
    for event in recall.every(store, query):
        audience = audiences.of(event) if belongs(event, agent, default) else UNTOLD
        if audience != UNTOLD:
            digest = digests.pop(audience, None) or Digest(spans)
            digest.feed(event)
            digests[audience] = digest  # last, for who comes last stays
            _forget_one(digests)
    return digests


def _forget_one(digests: dict[str, Digest]) -> None:
    if len(digests) > MOST_AUDIENCES:
        del digests[next(one for one in digests if one != OWNER)]
