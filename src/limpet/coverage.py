"""For which spans the sources were watching, and where not: the bounds of every answer, and the health of the whole.

Hooks alone lose events, transcripts alone lose events. A silence of the plugin is a gap only where a transcript shows
that something happened meanwhile; a silence of both, with the gateway stopped, is no gap: nothing happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from limpet.model import Coverage, Gap, Query

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from limpet.store.sqlite import SqliteStore
    from limpet.store.state import Counted, Stream, Watch

HOOKS = "openclaw.hooks"
TRANSCRIPTS = "openclaw.transcripts"
BEAT_MS = 60_000
"""The plugin says that it lives this often."""

SILENT_MS = 3 * BEAT_MS
WEEK_MS = 7 * 86_400_000
GRACE_MS = 5_000
"""The audit ledger may be read a moment before the hook that tells of the same action."""

BEHIND_MS = 60_000
"""Events that wait longer than this are a fault."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What the caller knows of this moment.

    `recording` that a recorder holds the lock; `plugin` that OpenClaw's configuration names the plugin; `alive` that a
    producer's process lives; `pending` bytes wait in the spool, the oldest since `pending_ms`; `spool_fault` says why
    the plugin could write nothing now.
    """

    now_ms: int
    recording: bool = False
    plugin: bool = False
    alive: bool = False
    pending: int = 0
    pending_ms: int | None = None
    spool_fault: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    """Whether Limpet is recording: `ok` or not, one sentence, what it cannot see, since when it watches."""

    ok: bool
    state: str
    sentence: str
    lacks: tuple[str, ...]
    since_ms: int | None
    last_ms: int | None


def of(store: SqliteStore, query: Query, watched: Watched) -> Coverage:
    """Return how far an answer to this query can be trusted."""
    watches = [w for w in store.state.watches() if w.source != "spool"]
    hooks = [s for s in store.state.streams() if s.source == HOOKS]
    started = min([w.since_ms for w in watches] + [s.first_ms for s in hooks], default=None)
    until = min(watched.now_ms, query.until_ms if query.until_ms is not None else watched.now_ms)
    since = query.since_ms if query.since_ms is not None else store.find.first_ms() or started
    if started is None or since is None or until <= started:
        return Coverage("partial" if watched.pending else "unknown", (), watched.pending)
    left = _abandoned(hooks, watches, watched)
    if left and left.from_ms < since:
        return Coverage("blind", (left,), watched.pending)
    gaps = tuple(gap for gap in _gaps(store, hooks, watches, watched) if _touches(gap, max(since, started), until))
    if gaps and not _any_witness(hooks, watches, max(since, started), until):
        return Coverage("blind", gaps, watched.pending)
    if gaps or watched.pending:
        return Coverage("partial", gaps, watched.pending)
    before = since < started - BEAT_MS and not _is_history(watches)
    return Coverage("unknown" if before else "complete")


def health(store: SqliteStore, watched: Watched) -> Health:
    """Return whether Limpet records what it should, and what it cannot see."""
    watches = store.state.watches()
    hooks = [s for s in store.state.streams() if s.source == HOOKS]
    last_ms = store.find.newest_ms()
    since = min([s.first_ms for s in hooks] + [w.since_ms for w in watches], default=None)
    lacks = tuple(_lacks(hooks, watches, watched))
    broken = _broken(hooks, watches, watched) or _miscounted(counted(store, watched.now_ms))
    if broken:
        return Health(False, "broken", broken, lacks, since, last_ms)
    if not watched.plugin and not hooks and not [w for w in watches if w.source != "spool"]:
        return Health(
            True,
            "not set up",
            "Limpet is not set up to record anything (limpet setup openclaw).",
            lacks,
            since,
            last_ms,
        )
    if watched.recording and watched.alive:
        return Health(True, "recording", "Limpet is recording.", lacks, since, last_ms)
    if watched.recording:
        return Health(
            True,
            "waiting",
            "Limpet is running; no gateway with its plugin is running now.",
            lacks,
            since,
            last_ms,
        )
    return Health(
        True, "idle", "No gateway with Limpet's plugin is running now, and no sidecar.", lacks, since, last_ms
    )


def counted(store: SqliteStore, now_ms: int) -> Counted:
    """Return what OpenClaw's own audit ledger counted in the last week, and how much of it no event tells of."""
    return store.state.counted(now_ms - WEEK_MS, now_ms - GRACE_MS)


def _miscounted(found: Counted) -> str:
    parts = [
        f"{missing:,} of {total:,} {what}"
        for missing, total, what in (
            (found.missing_actions, found.actions, "tool actions"),
            (found.missing_runs, found.runs, "runs"),
        )
        if missing
    ]
    return f"OpenClaw counted {' and '.join(parts)} that are not in the memory." if parts else ""


def _broken(hooks: Sequence[Stream], watches: Sequence[Watch], watched: Watched) -> str:
    if watched.spool_fault:
        return f"The plugin cannot write into its spool: {watched.spool_fault}. What happens now is not recorded by it."
    if watched.pending_ms is not None and watched.now_ms - watched.pending_ms > BEHIND_MS and not watched.recording:
        return f"Nobody takes in what the plugin writes: {watched.pending:,} bytes wait in the spool."
    if watched.alive and not watched.recording:
        return "The gateway runs and its plugin writes, but the sidecar is not running."
    if watched.alive and hooks and watched.now_ms - hooks[-1].last_ms > SILENT_MS:
        return "The gateway runs, but its plugin has gone silent."
    failed = [w for w in watches if w.why]
    return f"{failed[0].why}" if failed else ""


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
    if missing := sum(stream.missing for stream in hooks):
        yield f"{missing:,} numbered events of the plugin were never seen"


def _gaps(store: SqliteStore, hooks: Sequence[Stream], watches: Sequence[Watch], watched: Watched) -> Iterator[Gap]:
    for watch in watches:
        if watch.why and watch.failed_ms is not None:
            yield Gap(watch.good_ms or watch.failed_ms, None, watch.source, watch.why)
    for stream in hooks:
        if stream.missing:
            yield Gap(stream.first_ms, stream.last_ms, HOOKS, f"{stream.missing:,} numbered events were never seen")
    for event in store.find.page(Query(filters=(("type", ("gap",), False),), limit=200)):
        yield Gap(event.at_ms, event.at_ms + (event.duration_ms or 0), HOOKS, event.summary)
    yield from _silences(store, hooks, watched)


def _abandoned(hooks: Sequence[Stream], watches: Sequence[Watch], watched: Watched) -> Gap | None:
    """Return since when nobody watches: no plugin is set up, none lives, and no transcript is read."""
    reads = any(w.source.startswith(TRANSCRIPTS) and not w.why for w in watches)
    if not hooks or watched.plugin or watched.alive or reads:
        return None
    return Gap(max(s.last_ms for s in hooks), None, HOOKS, "the plugin is not set up any more, nothing else watches")


def _silences(store: SqliteStore, hooks: Sequence[Stream], watched: Watched) -> Iterator[Gap]:
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


def _unseen(store: SqliteStore, since: int, until: int) -> int:
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
