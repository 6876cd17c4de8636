"""For which spans the sources were watching, and where not: the bounds of every answer, and the health of the whole.

Hooks alone lose events, transcripts alone lose events. A silence of the plugin is a gap only where a transcript shows
that something happened meanwhile; a silence of both, with the gateway stopped, is no gap: nothing happened.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from limpet import breaks, text
from limpet.breaks import BEAT_MS, BEHIND_MS, HOOKS, TRANSCRIPTS, Watched, counted
from limpet.burial import KEPT_FROM
from limpet.model import Coverage, Gap, Query

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from limpet.breaks import Break
    from limpet.store.port import Store
    from limpet.store.state import Stream, Watch

__all__ = ["HOOKS", "TRANSCRIPTS", "Health", "Watched", "counted", "health", "of"]

DEMO = "demo_day"
"""The name under which a memory says that it is the demo's, with its day."""

FAR_OFF_MS = 300_000
"""From here on, a machine's clock and that of its fleet are said to disagree."""


@dataclass(frozen=True, slots=True)
class Health:
    """Whether Limpet is recording: `ok` or not, one sentence, what it cannot see, since when it watches.

    `breaks` is what is broken now; the sentence is the first one's, and where there are more says how many.
    """

    ok: bool
    state: str
    sentence: str
    lacks: tuple[str, ...]
    since_ms: int | None
    last_ms: int | None
    breaks: tuple[Break, ...] = ()


def of(store: Store, query: Query, watched: Watched) -> Coverage:
    """Return how far an answer to this query can be trusted, and what is broken now."""
    if watched.each:
        return _together([(one.machine, of(its, query, one)) for its, one in watched.each])
    if watched.told_ms is not None:
        return _as_told(_of(store, query, watched, ()), query, watched)
    broken = breaks.found(store, watched)
    warning = _sentence(broken) or breaks.unproven(store, watched)
    return replace(_of(store, query, watched, broken), warning=warning)


def _of(store: Store, query: Query, watched: Watched, broken: Sequence[Break]) -> Coverage:
    watches = [w for w in store.state.watches() if w.source != "spool"]
    hooks = [s for s in store.state.streams() if s.source == HOOKS]
    started = min([w.since_ms for w in watches] + [s.first_ms for s in hooks], default=None)
    until = min(watched.now_ms, query.until_ms if query.until_ms is not None else watched.now_ms)
    since = query.since_ms if query.since_ms is not None else store.find.first_ms() or started
    if started is None or since is None or until <= started:
        return Coverage("partial" if watched.pending else "unknown", (), watched.pending)
    left = _abandoned(hooks, watches, watched)
    if left and store.state.meta(DEMO):
        left = replace(left, why="this is the demo, and its recorded day ends there")
    if left and left.from_ms < since:
        return Coverage("blind", (left,), watched.pending)
    all_gaps = [*_gaps(store, hooks, watches, watched), *_gaps_of(broken), *_dropped(store, started)]
    all_gaps += [left] if left and left.from_ms < until - BEAT_MS else []
    asked_from = started if query.since_ms is None else max(since, started)
    gaps = tuple(gap for gap in all_gaps if _touches(gap, asked_from, until))
    if gaps and not _any_witness(hooks, watches, max(since, started), until):
        return Coverage("blind", gaps, watched.pending)
    if gaps or watched.pending:
        return Coverage("partial", gaps, watched.pending)
    before = since < started - BEAT_MS and not _is_history(watches)
    return Coverage("unknown" if before else "complete")


def _dropped(store: Store, started: int) -> Iterator[Gap]:
    """Yield the time of which events were dropped by age."""
    kept_from = int(store.state.meta(KEPT_FROM) or 0)
    if kept_from:
        yield Gap(min(started, kept_from), kept_from - 1, "limpet", "events of that time were dropped by age")


def _as_told(found: Coverage, query: Query, watched: Watched) -> Coverage:
    """Return the coverage with a gap from when the machine last told of itself: what came then is not here yet."""
    until = query.until_ms if query.until_ms is not None else watched.now_ms
    told = watched.told_ms or 0
    found = replace(found, warning=watched.complaint)
    if min(until, watched.now_ms) <= told + BEHIND_MS:
        return found
    gap = Gap(told, None, "push", "nothing was pushed since")
    return replace(found, state="partial" if found.state == "complete" else found.state, gaps=(*found.gaps, gap))


def _together(found: Sequence[tuple[str, Coverage]]) -> Coverage:
    """Return the coverage of several machines: no better than that of any, each gap with its machine's name."""
    states = {one.state for _, one in found}
    state = states.pop() if len(states) == 1 else "unknown" if states <= {"complete", "unknown"} else "partial"
    gaps = [replace(gap, source=f"{name}: {gap.source}") for name, one in found for gap in one.gaps]
    warnings = [f"{name}: {one.warning}" for name, one in found if one.warning]
    more = f" ({len(warnings) - 1} more: limpet status)" if len(warnings) > 1 else ""
    return Coverage(state, tuple(gaps), sum(one.pending for _, one in found), (warnings or [""])[0] + more)


def health(store: Store, watched: Watched) -> Health:
    """Return whether Limpet records what it should, and what it cannot see."""
    watches = store.state.watches()
    hooks = [s for s in store.state.streams() if s.source == HOOKS]
    last_ms = store.find.newest_ms()
    since = min([s.first_ms for s in hooks] + [w.since_ms for w in watches], default=None)
    lacks = tuple(_lacks(hooks, watches, watched))
    broken = (*breaks.found(store, watched), *breaks.miscounted(store, watched.now_ms))
    if broken:
        return Health(False, "broken", _sentence(broken), lacks, since, last_ms, broken)
    if (day := store.state.meta(DEMO)) and not (watched.plugin or watched.alive):
        sentence = f"This is the demo, the recorded day {day}: nothing is recorded here, and nothing need be."
        return Health(True, "demo", sentence, (), since, last_ms)
    state, sentence = _state(hooks, watches, watched)
    upgrade = breaks.unproven(store, watched) if state == "recording" else ""
    return Health(True, state, f"{sentence} {upgrade}".strip(), lacks, since, last_ms)


def without_memory(watched: Watched, db: Path) -> Health:
    """Return how things stand where there is no memory: that is no fault where nobody has set Limpet up."""
    if broken := breaks.without_memory(watched):
        return Health(False, "broken", _sentence(broken), (), None, None, tuple(broken))
    if watched.plugin:
        sentence = f"There is no memory at {db} yet: it begins when the gateway next starts (openclaw gateway restart)."
        return Health(True, "idle", sentence, (), None, None)
    sentence = f"There is no memory at {db} yet, and nothing is set up (limpet setup openclaw)."
    return Health(True, "not set up", sentence, (), None, None)


def _state(hooks: Sequence[Stream], watches: Sequence[Watch], watched: Watched) -> tuple[str, str]:
    if not watched.plugin and not hooks and not [w for w in watches if w.source != "spool"]:
        return "not set up", "Limpet is not set up to record anything (limpet setup openclaw)."
    if watched.recording and watched.alive:
        return "recording", "Limpet is recording."
    if watched.recording:
        return "waiting", "Limpet is running; no gateway with its plugin is running now."
    return "idle", "No gateway with Limpet's plugin is running now, and no sidecar."


def _sentence(broken: Sequence[Break]) -> str:
    """Return the first break in one sentence, with what to do, and how many others there are; "" where none is."""
    if not broken:
        return ""
    more = f" ({len(broken) - 1} more: limpet doctor)" if len(broken) > 1 else ""
    return f"{broken[0].sentence} -> {broken[0].remedy}{more}"


def _gaps_of(broken: Sequence[Break]) -> Iterator[Gap]:
    """Yield since when each break blinds; a source that cannot be read is a gap of its own already."""
    for one in broken:
        if one.since_ms is not None and not one.code.startswith("source "):
            yield Gap(one.since_ms, None, HOOKS, one.sentence)


def _lacks(hooks: Sequence[Stream], watches: Sequence[Watch], watched: Watched) -> Iterator[str]:
    if not watched.plugin and not hooks:
        yield "hooks (the plugin is not installed): no durations, model calls, failed retries or live starts"
    elif not hooks:
        yield "hooks (the plugin is installed, but never wrote anything): no durations, model calls or live starts"
    elif not watched.plugin and not watched.alive:
        yield "hooks (the plugin is not in OpenClaw's configuration any more): no durations, no model calls"
    if not any(w.source.startswith(TRANSCRIPTS) and not w.why for w in watches):
        yield "transcripts: no compaction summaries, no record of what happened while the plugin was off"
    for watch in watches:
        if watch.why:
            yield f"{watch.source}: {watch.why}"
    if watched.damaged:
        yield (
            f"what could not be read back from a damaged database (limpet ask type:gap); it lies at {watched.damaged}: "
            "take it away when you need it no more"
        )
    if missing := sum(stream.missing for stream in hooks):
        yield f"{text.counted(missing, 'numbered event')} of the plugin {_were(missing)} never seen"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _gaps(store: Store, hooks: Sequence[Stream], watches: Sequence[Watch], watched: Watched) -> Iterator[Gap]:
    for watch in watches:
        if watch.why and watch.failed_ms is not None:
            yield Gap(watch.good_ms or watch.failed_ms, None, watch.source, watch.why)
    for stream in hooks:
        if stream.missing:
            why = f"{text.counted(stream.missing, 'numbered event')} {_were(stream.missing)} never seen"
            yield Gap(stream.first_ms, stream.last_ms, HOOKS, why)
    for event in store.find.page(Query(filters=(("type", ("gap",), False),), limit=200)):
        yield Gap(event.at_ms, event.at_ms + (event.duration_ms or 0), HOOKS, event.summary)
    yield from _silences(store, hooks, watched)


def _abandoned(hooks: Sequence[Stream], watches: Sequence[Watch], watched: Watched) -> Gap | None:
    """Return since when nobody watches: no plugin is set up, none lives, and no transcript is read."""
    reads = any(w.source.startswith(TRANSCRIPTS) and not w.why for w in watches)
    if not hooks or watched.plugin or watched.alive or reads:
        return None
    return Gap(max(s.last_ms for s in hooks), None, HOOKS, "the plugin is not set up any more, nothing else watches")


def _silences(store: Store, hooks: Sequence[Stream], watched: Watched) -> Iterator[Gap]:
    """Yield the spans between the plugin's lives in which a transcript shows that something happened."""
    lives = sorted((s.first_ms, s.last_ms) for s in hooks)
    if not lives:
        return
    end = lives[0][1]
    for start, last in [*lives[1:], (watched.now_ms, watched.now_ms)]:
        if start - end > BEAT_MS and _unseen(store, end + 1000, start):
            yield Gap(
                end,
                start if start < watched.now_ms else None,
                HOOKS,
                "the plugin was not running; transcripts go on",
            )
        end = max(end, last)


def _unseen(store: Store, since: int, until: int) -> int:
    return store.find.count(
        Query(
            since_ms=since,
            until_ms=until,
            filters=(("source", (TRANSCRIPTS,), False), ("source", (HOOKS,), True)),
            noise=True,
        )
    )


def _touches(gap: Gap, since: int, until: int) -> bool:
    return gap.from_ms < until and (gap.to_ms is None or gap.to_ms >= since)


def _any_witness(hooks: Sequence[Stream], watches: Sequence[Watch], since: int, until: int) -> bool:
    if any(w.source.startswith(TRANSCRIPTS) and (not w.why or w.good_ms >= until) for w in watches):
        return True
    return any(s.first_ms < until and s.last_ms >= since for s in hooks)


def _is_history(watches: Sequence[Watch]) -> bool:
    """Whether transcripts are read: they tell of the time before Limpet was set up, too."""
    return any(w.source.startswith(TRANSCRIPTS) and not w.why for w in watches)
