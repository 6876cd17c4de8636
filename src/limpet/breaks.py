"""What is broken now on the way from hook to memory, found by holding the witnesses against each other. Reads only.

Each break has a word for programs, a sentence for people, what to do about it, and since when it blinds, where that is
known. Not for what lies in the past (coverage.py) and not for telling anybody (alarm.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from limpet.store.port import Store
    from limpet.store.state import Counted, Stream, Watch

HOOKS = "openclaw.hooks"
TRANSCRIPTS = "openclaw.transcripts"
BEAT_MS = 60_000
"""The plugin says that it lives this often."""

SILENT_MS = 2 * BEAT_MS
"""Nothing from the plugin for so long: it has missed a beat."""

RELOAD_MS = 5_000
"""A plugin that is reloaded is back sooner than this."""

BEHIND_MS = 60_000
"""Events that wait longer than this are a fault."""

WEEK_MS = 7 * 86_400_000
DAY_MS = 86_400_000
SETTLE_MS = 15_000
"""A transcript may be read before the hook's line that tells of the same."""

GRACE_MS = 5_000
"""The audit ledger may be read a moment before the hook that tells of the same action."""

UNSEEN = 2
"""So many events that only transcripts tell of are no accident: a turn has at least two messages."""

LONGEST_LOG = 256 << 20
"""The log is cut at 64 MiB; where it is so long, somebody has prevented that for long."""

ENDLESS = 3
"""So many calls in a row of which nothing tells the result."""

TESTED = "2026.9.6"
"""The OpenClaw that this Limpet is tested with."""

ROOM = "Make room, or mend the folder's permissions."
RESTART = "openclaw gateway restart"
SETUP = "limpet setup openclaw"
CHECK = "Check that file; where OpenClaw was upgraded, upgrade Limpet, too: pip install -U limpet"


Word = tuple[str, str, int, int]
"""What a plugin said of itself: its producer, the kind of record, its number there, and when it arrived."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What the caller knows of this moment.

    `recording` that a recorder holds the lock; `plugin` that OpenClaw's configuration names the plugin; `disabled` why
    it does not load it although it was set up; `alive` that a producer's process lives, `living` which producers';
    `pending` bytes wait in the spool, the oldest since `pending_ms`; `spool_fault` says why the plugin could write
    nothing now; `complaint` why the sidecar cannot record, `stuck` that it does nothing any more; `damaged` where a
    database lies that was damaged and moved aside; `misplaced` why no database can be where it is to be, `advice` what
    to do then; `log_bytes` how long the database's log is, `beside` what goes wrong beside the recorder, a sentence
    each. Of a fleet's machine, `told_ms` is when it last told of itself, `machine` its name, and `complaint` what it
    said is broken; where an answer is about several machines, `each` holds what is known of each, with its store.
    """

    now_ms: int
    recording: bool = False
    plugin: bool = False
    alive: bool = False
    pending: int = 0
    pending_ms: int | None = None
    spool_fault: str = ""
    disabled: str = ""
    living: frozenset[str] = frozenset()
    complaint: str = ""
    stuck: str = ""
    told_ms: int | None = None
    machine: str = ""
    each: tuple[tuple[Store, Watched], ...] = ()
    damaged: str = ""
    misplaced: str = ""
    advice: str = ""
    log_bytes: int = 0
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Break:
    """One thing that is broken: `code` for programs, a sentence, what to do, and since when it blinds (or None).

    `plain` says the same in Limpet's words alone, where the sentence quotes a system, a file or a setting.
    """

    code: str
    sentence: str
    remedy: str
    since_ms: int | None = None
    plain: str = ""

    @property
    def own(self) -> str:
        """The sentence as a model may read it among instructions: not a word of anybody else's in it."""
        return self.plain or self.sentence


def found(store: Store, watched: Watched) -> Sequence[Break]:
    """Return what is broken now, in the order of an event's way: the first is where to begin."""
    hooks = [s for s in store.state.streams() if s.source == HOOKS]
    words = [word for word in store.state.last_words() if word[0] in watched.living]
    return [
        *_of_the_plugin(store, hooks, words, watched),
        *_of_the_spool(hooks, watched, writes=_stopped_ms(words) is None),
        *_of_the_database(watched),
        *_beside(watched),
        *_of_the_sources(store.state.watches()),
        *_of_the_results(store, watched),
    ]


def without_memory(watched: Watched) -> Sequence[Break]:
    """Return what is broken where no memory could be made yet: what is seen from outside."""
    return [*_of_the_way_in(watched, None), *_of_the_spool([], watched, writes=True), *_of_the_database(watched)]


def unproven(store: Store, watched: Watched) -> str:
    """Return what is to be said after OpenClaw was upgraded, until both witnesses told of the same event; else ""."""
    version, since_ms = _version(store)
    if version in ("", TESTED) or store.find.seen_by_both(HOOKS, TRANSCRIPTS, since_ms, watched.now_ms):
        return ""
    return (
        f"OpenClaw {version} runs, this Limpet was tested with {TESTED}, and its hooks and transcripts "
        "did not yet tell of the same event: limpet doctor says what is read."
    )


def _version(store: Store) -> tuple[str, int]:
    """Return OpenClaw's version as the plugin said it last, "" where unknown, and since when that one runs."""
    beat = store.state.last_beat()
    said = store.records.fetch([beat[0]]) if beat else []
    event = said[0].body.get("event") if said else None
    version = event.get("openclaw") if isinstance(event, dict) else None
    return (version, beat[1]) if beat and isinstance(version, str) else ("", 0)


def miscounted(store: Store, now_ms: int) -> Iterator[Break]:
    """Yield that OpenClaw's own audit ledger counted more than the memory holds."""
    told = counted(store, now_ms)
    parts = [
        f"{missing:,} of {total:,} {what}"
        for missing, total, what in (
            (told.missing_actions, told.actions, "tool actions"),
            (told.missing_runs, told.runs, "runs"),
        )
        if missing
    ]
    if parts:
        sentence = f"OpenClaw counted {' and '.join(parts)} that are not in the memory."
        yield Break("count", sentence, "limpet doctor  says which source cannot be read.")


def counted(store: Store, now_ms: int) -> Counted:
    """Return what OpenClaw's own audit ledger counted in the last week, and how much of it no event tells of."""
    return store.state.counted(now_ms - WEEK_MS, now_ms - GRACE_MS)


def _of_the_plugin(store: Store, hooks: Sequence[Stream], words: Sequence[Word], watched: Watched) -> Iterator[Break]:
    last_ms = hooks[-1].last_ms if hooks else None
    yield from _of_the_way_in(watched, last_ms)
    if watched.disabled or not (watched.alive or watched.plugin):
        return
    stopped_ms = _stopped_ms(words)
    if stopped_ms is not None and abs(watched.now_ms - stopped_ms) > RELOAD_MS:
        yield Break("stopped", "The gateway runs on, but Limpet's plugin in it was stopped.", RESTART, stopped_ms)
        return
    if watched.alive and hooks and _is_silent(store, hooks[-1], watched.now_ms):
        yield Break("silent", "The gateway runs, but its plugin has gone silent.", RESTART, last_ms)
        return
    starts = [at_ms for _, kind, _, at_ms in words if kind == "limpet_start"]
    began_ms = max(starts, default=hooks[-1].first_ms if hooks else watched.now_ms)
    now_ms = watched.now_ms
    unseen, since_ms = store.find.unseen_by(HOOKS, now_ms - WEEK_MS, began_ms, now_ms - SETTLE_MS)
    if unseen >= UNSEEN:
        sentence = f"The hooks have stopped while transcripts go on: {unseen:,} events were seen there only."
        yield Break("hooks", sentence, RESTART, since_ms)


def _of_the_way_in(watched: Watched, last_ms: int | None) -> Iterator[Break]:
    """Yield that the plugin is not loaded, or cannot write."""
    if watched.disabled:
        sentence = f"OpenClaw does not load Limpet's plugin: {watched.disabled}."
        yield Break("disabled", sentence, SETUP, last_ms, "OpenClaw does not load Limpet's plugin.")
    if watched.spool_fault:
        sentence = (
            f"The plugin cannot write into its spool: {watched.spool_fault}. What happens now is not recorded by it."
        )
        yield Break("spool", sentence, ROOM, last_ms, "The plugin cannot write into its spool.")


def _stopped_ms(words: Sequence[Word]) -> int | None:
    """Return when the last plugin said good-bye, None where one lives that did not; one process may start it anew."""
    last = {producer: (kind, at_ms) for producer, kind, _, at_ms in words}
    if not last or any(kind != "limpet_stop" for kind, _ in last.values()):
        return None
    return max(at_ms for _, at_ms in last.values())


def _is_silent(store: Store, stream: Stream, now_ms: int) -> bool:
    """Whether neither the time that it wrote nor the time that this arrived is of now; clocks may jump both ways."""
    arrived_ms = store.find.last_of(HOOKS)
    at = (stream.last_ms, stream.last_ms if arrived_ms is None else arrived_ms)
    return all(abs(now_ms - one) > SILENT_MS for one in at)


def _of_the_spool(hooks: Sequence[Stream], watched: Watched, *, writes: bool) -> Iterator[Break]:
    behind = watched.pending_ms is not None and abs(watched.now_ms - watched.pending_ms) > BEHIND_MS
    if watched.stuck:
        yield Break("stuck", watched.stuck, "End that process; the plugin, or limpet run, starts another.")
    elif watched.complaint and not watched.misplaced:
        sentence = f"The sidecar cannot record: {watched.complaint}"
        yield Break("recorder", sentence, "limpet doctor", plain="The sidecar cannot record.")
    elif not watched.recording and behind:
        sentence = f"Nobody takes in what the plugin writes: {watched.pending:,} bytes wait in the spool."
        yield Break("undrained", sentence, "limpet run")
    elif not watched.recording and watched.alive and writes:
        sentence = "The gateway runs and its plugin writes, but the sidecar is not running."
        yield Break("sidecar", sentence, "limpet run" if hooks else SETUP)


def _of_the_database(watched: Watched) -> Iterator[Break]:
    """Yield that it cannot be where it is to be, or that some program reads on and on, so that its log only grows."""
    if watched.misplaced:
        plain = "Nothing is recorded: the database lies on a file system where it cannot be written safely."
        yield Break("place", f"Nothing is recorded: {watched.misplaced}", watched.advice, plain=plain)
    if watched.log_bytes > LONGEST_LOG:
        sentence = (
            f"The database's log has grown to {watched.log_bytes >> 20:,} MB: a program does not end its reading."
        )
        yield Break("log", sentence, "End that program: fuser -v names those that have the database open.")


def _beside(watched: Watched) -> Iterator[Break]:
    """Yield that something which goes on beside the recorder ended, hangs or fails: notes, copies, the watch."""
    if watched.beside:
        remedy = f"Mend what limpet doctor names; {RESTART}  starts it anew."
        plain = "Something that goes on beside the recorder ended, hangs or fails."
        yield Break("beside", " ".join(watched.beside), remedy, plain=plain)


def _of_the_sources(watches: Sequence[Watch]) -> Iterator[Break]:
    for watch in watches:
        if watch.why:
            since_ms = watch.good_ms or watch.failed_ms
            plain = f"What {watch.source.partition(':')[0]} tells cannot be read."  # behind it stands an agent's name
            yield Break(f"source {watch.source}", watch.why, CHECK, since_ms, plain)


def _of_the_results(store: Store, watched: Watched) -> Iterator[Break]:
    """Yield that the newest calls have no result though their runs ended: something does not tell of ends any more."""
    ends = store.find.last_calls(watched.now_ms - DAY_MS)
    without = next((n for n, (status, _) in enumerate(ends) if status != "unknown"), len(ends))
    if without >= ENDLESS:
        sentence = f"The last {without:,} tool calls have no result, though their runs have ended."
        yield Break("results", sentence, RESTART, ends[without - 1][1])
