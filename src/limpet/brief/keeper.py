"""Keeps the files of the briefs fresh beside a recorder: soon after what changes them, never at the recorder's cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import clock, days
from limpet.belonging import NOBODY
from limpet.brief import files
from limpet.brief.gathering import agents_of, briefs_of
from limpet.brief.standing import Standing
from limpet.interpreter.places import event_id
from limpet.runtimes.openclaw.workspaces import Workspaces

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from limpet.coverage import Watched
    from limpet.settings import Settings
    from limpet.store.port import Store

CONFIRM_MS = 30_000
"""How often files that are still true are said to be so, and how recording stands is looked at again."""

RENEW_MS = 600_000
"""How often every brief is made again although nothing happened: time passes."""

SHARE = 10
"""Briefs take at most one part in so many of the time."""


class Keeper:
    """The briefs of one memory, in files."""

    def __init__(self, settings: Settings) -> None:
        """Keep the briefs of this memory; nothing is written yet."""
        self._settings = settings
        self._seen = 0
        self._agents: Sequence[str] = ()
        self._standing: Standing | None = None
        self._looked_ms = 0
        self._renewed_ms = 0

    def look(self, store: Store, watched: Watched) -> float:
        """Write what is due; return for how many seconds nothing more should be. Raises Unavailable."""
        began = clock.monotonic_s()
        now_ms = watched.now_ms
        head, _ = store.records.head()
        standing = self._standing
        if standing is None or head < self._seen or not 0 <= now_ms - self._looked_ms < CONFIRM_MS:
            standing = self._look_around(store, watched)
        for agent in self._due(store, head, now_ms):
            made = briefs_of(store, standing, agent, now_ms=now_ms, zone=self._settings.zone, default=self._agents[0])
            files.write(self._settings.home, made)
        self._seen = head
        return (clock.monotonic_s() - began) * SHARE

    def _look_around(self, store: Store, watched: Watched) -> Standing:
        """Look which agents there are and how recording stands; what has not changed is confirmed."""
        now_ms = watched.now_ms
        before = self._standing, self._agents, self._day(self._looked_ms)
        self._standing = standing = Standing.of(store, watched, now_ms)
        self._agents = tuple(dict.fromkeys((*Workspaces(self._settings).agents(), *agents_of(store, now_ms))))
        self._looked_ms = now_ms
        files.tidy(self._settings.home, self._agents, now_ms)
        same = before == (self._standing, self._agents, self._day(now_ms))
        fresh = same and 0 <= now_ms - self._renewed_ms < RENEW_MS
        if not fresh or not files.confirm(self._settings.home, self._agents):
            self._renewed_ms = 0
        return standing

    def _day(self, at_ms: int) -> object:
        return days.day_of(at_ms, self._settings.zone)

    def _due(self, store: Store, head: int, now_ms: int) -> Collection[str]:
        """Return the agents whose briefs are to be made: all, or those of whom something new is known.

        What names no agent may be everybody's: a start of the gateway, or that something was forgotten.
        """
        if not self._renewed_ms or head < self._seen:
            self._renewed_ms = now_ms
            return self._agents
        if head == self._seen:
            return ()
        touched = {agent for _, agent in store.find.touched(event_id((self._seen + 1, 0)))}
        if new := touched - NOBODY - {*self._agents}:
            self._agents = (*self._agents, *sorted(new))
        return self._agents if touched & NOBODY else [one for one in self._agents if one in touched]
