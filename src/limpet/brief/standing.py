"""What a brief says first: whether Limpet records, since when, and what it did not see. In its own words. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from limpet import breaks, coverage, text
from limpet.breaks import BEHIND_MS
from limpet.model import Query

if TYPE_CHECKING:
    from collections.abc import Iterator

    from limpet.breaks import Break
    from limpet.brief.times import Times
    from limpet.coverage import Watched
    from limpet.model import Coverage, Gap
    from limpet.store.port import Store

DAY_MS = 86_400_000
MOST_GAPS = 3

STATES = {
    "recording": "It is recording{since}.",
    "waiting": "It is recording{since}; no gateway with its plugin was running then.",
    "idle": "LIMPET WAS NOT RUNNING: what happens is kept in its spool and taken in later.",
    "demo": "This is a recorded day, to try Limpet on: nothing is recorded now.",
    "not set up": "LIMPET IS NOT SET UP to record anything here: it knows only what was brought in.",
}
BROKEN = "RECORDING IS BROKEN: {what} What happened lately may be missing here. Tell your human to do this: {remedy}"
UPGRADED = (
    "OPENCLAW WAS UPGRADED to a version that this Limpet was not tested with, and its two witnesses did not tell of "
    "the same event yet. Tell your human to do this: limpet doctor"
)
MOST_SAID = 400
SEEN = {
    "complete": "The last 24 hours are complete.",
    "partial": "Of the last 24 hours something is missing{gaps}.",
    "blind": "NOBODY WATCHED the last 24 hours: what is not told here may have happened all the same.",
    "unknown": "Not all of the last 24 hours was watched.",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """How recording stands, and how far the last 24 hours were watched.

    `broken` is what is to be mended first, if anything is; `upgraded` that OpenClaw was, and nothing proves yet that
    it is still understood.
    """

    state: str
    since_ms: int | None
    seen: Coverage
    broken: Break | None = None
    upgraded: bool = False

    @classmethod
    def of(cls, store: Store, watched: Watched, now_ms: int) -> Standing:
        """Return how it stands at that moment; what came in just now and will soon be taken in is no lack."""
        waits_ms = 0 if watched.pending_ms is None else watched.now_ms - watched.pending_ms
        if watched.recording and waits_ms < BEHIND_MS:
            watched = replace(watched, pending=0)
        health = coverage.health(store, watched)
        seen = coverage.of(store, Query(since_ms=now_ms - DAY_MS, until_ms=now_ms), watched)
        upgraded = not health.breaks and bool(breaks.unproven(store, watched))
        return cls(health.state, health.since_ms, seen, next(iter(health.breaks), None), upgraded)

    def alert(self) -> Iterator[str]:
        """Yield what must be read before anything else: what is broken and what to do, in Limpet's words alone."""
        if self.broken is not None:
            yield text.one_line(BROKEN.format(what=self.broken.own, remedy=self.broken.remedy), MOST_SAID)
        elif self.upgraded:
            yield UPGRADED

    def sentences(self, times: Times) -> Iterator[str]:
        """Yield what it says: nothing of why a source failed, for those words are not Limpet's."""
        since = f" since {times.short(self.since_ms)}" if self.since_ms is not None else ""
        if self.broken is None:
            yield STATES[self.state].format(since=since)
        yield SEEN.get(self.seen.state, SEEN["unknown"]).format(gaps=self._gaps(times))

    def _gaps(self, times: Times) -> str:
        told = [_span(gap, times) for gap in self.seen.gaps[:MOST_GAPS]]
        more = len(self.seen.gaps) - len(told)
        said = ", ".join((*told, *([f"{more:,} more"] if more else [])))
        return f": {said}" if said else ", it waits to be taken in"


def _span(gap: Gap, times: Times) -> str:
    return f"{times.short(gap.from_ms)} to {'now' if gap.to_ms is None else times.short(gap.to_ms)}"
