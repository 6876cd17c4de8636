"""Dropping what is old: by hand, or by the settings. Off unless somebody wants it; what a note cites is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from limpet import amendment, clock, days
from limpet.erasing import Eraser, Job
from limpet.errors import BadInput
from limpet.note import seals
from limpet.note.diary import Diary
from limpet.runtimes.openclaw.workspaces import Workspaces
from limpet.settings import LEAST_DAYS
from limpet.store.search import path_of
from limpet.upkeep import finishing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from limpet.memory import Memory
    from limpet.upkeep.finishing import Finished

DAY_MS = 86_400_000
STEP_DAYS = 30
WARNING_DAYS = 7
"""So long before anything is dropped by the settings it is announced."""

PAUSE_DAYS = 14
"""After so long without a look it is announced anew."""

ANNOUNCED, LOOKED = "retention_announced_ms", "retention_looked"
"""Names under which it is kept when it was announced; when it was last looked, and by which settings."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be dropped: everything that ended before a time, but for what a note cites."""

    before_ms: int
    ranges: amendment.Ranges
    cited: int

    @property
    def records(self) -> int:
        """How many records would lose their content."""
        return sum(last - first + 1 for first, last in self.ranges)


def plan(memory: Memory, keep_days: int, now_ms: int, *, less: bool = False) -> Plan:
    """Return what keeping only so many days would drop. Raises BadInput for too few.

    A day whose note is still to be written is not touched, nor any after it.
    """
    if keep_days < (1 if less else LEAST_DAYS):
        raise BadInput(
            f"That would keep {keep_days:,} days, which is less than {LEAST_DAYS}.", "If you mean it, say --less."
        )
    before_ms = min([now_ms - keep_days * DAY_MS, *_waiting(memory)])
    known = Workspaces(memory.settings)
    cited = seals.cited_in(known.of(agent).path for agent in sorted(memory.note_agents()))
    store = memory.local()
    numbers = store.custody.older_than(before_ms, map(store.events.resolve, cited))
    return Plan(before_ms, amendment.ranges_of(numbers), len(cited))


def prune(memory: Memory, chosen: Plan, now_ms: int, progress: Callable[[int], None] = lambda _: None) -> Finished:
    """Drop what a plan says. Once it has begun, a run that is killed is finished by the next one."""
    before = days.show(chosen.before_ms, memory.settings.zone)[:10]
    job = Job(
        id=clock.uuid7(),
        left=chosen.ranges,
        summary=f"dropped {chosen.records:,} records from before {before}",
        at_ms=now_ms,
        quarantine=tuple(_old_quarantine(memory, chosen.before_ms)),
        before_ms=chosen.before_ms,
    )
    with memory.writing() as recording:
        Eraser(recording.store).begin(job, ())
    return finishing.finish(memory, progress)


def retain(memory: Memory, now_ms: int) -> str:
    """Do what the settings say about old events; return a sentence for people, "" where there is nothing to say.

    The first time it only announces; a week later, and from then on at each look, it acts. It announces anew where the
    settings are others, and where the last look is a fortnight ago or still to come: then nobody was there to read it,
    or the clock was set, and what it calls old may be of yesterday.
    """
    wanted = _wanted_days(memory, now_ms)
    if wanted is None:
        return ""
    chosen = plan(memory, wanted, now_ms, less=memory.settings.keep_less)
    if not chosen.records:
        return ""
    announced, is_new = _looked(memory, now_ms)
    if is_new:
        when = days.show(now_ms + WARNING_DAYS * DAY_MS, memory.settings.zone)[:10]
        return (
            f"From {when} on, what is older than {wanted:,} days will be dropped ({chosen.records:,} records now), as "
            "config.toml says (keep_days, keep_mb). limpet backup  keeps a copy."
        )
    if now_ms < announced + WARNING_DAYS * DAY_MS:
        return ""
    prune(memory, chosen, now_ms)
    return f"{chosen.records:,} records older than {wanted:,} days were dropped."


def _looked(memory: Memory, now_ms: int) -> tuple[int, bool]:
    """Note that it was looked now; return when it was announced, and whether that is now."""
    chosen = memory.settings
    by = f"{chosen.keep_days} {chosen.keep_mb}"
    state = memory.local().state
    announced = int(state.meta(ANNOUNCED) or 0)
    looked_ms, _, looked_by = (state.meta(LOOKED) or f"{announced} {by}").partition(" ")
    goes_on = looked_by == by and 0 <= now_ms - int(looked_ms) <= PAUSE_DAYS * DAY_MS
    is_new = not announced or not goes_on
    with memory.writing() as recording, recording.store.transaction():
        if is_new:
            recording.store.state.put_meta(ANNOUNCED, str(now_ms))
        recording.store.state.put_meta(LOOKED, f"{now_ms} {by}")
    return now_ms if is_new else announced, is_new


def announcement(memory: Memory) -> str:
    """Return what was announced and is still to come, "" where nothing is."""
    announced = int(memory.local().state.meta(ANNOUNCED) or 0)
    begins = announced + WARNING_DAYS * DAY_MS
    if not announced or clock.now_ms() >= begins or not (memory.settings.keep_days or memory.settings.keep_mb):
        return ""
    when = days.show(begins, memory.settings.zone)[:10]
    return f"from {when} on, what is old will be dropped (keep_days, keep_mb in config.toml)"


def size_mb(memory: Memory) -> float:
    """Return how many megabytes the memory takes: database, index and their logs."""
    files = (memory.settings.db, path_of(memory.settings.db))
    sizes = [path.stat().st_size for file in files for path in file.parent.glob(f"{file.name}*") if path.is_file()]
    return sum(sizes) / 1_000_000


def _wanted_days(memory: Memory, now_ms: int) -> int | None:
    """Return how many days the settings want to keep, None for all."""
    chosen = memory.settings
    wanted = chosen.keep_days or None
    first, _, _ = memory.local().find.bounds()
    if not chosen.keep_mb or first is None or size_mb(memory) <= chosen.keep_mb:
        return wanted
    least = 1 if chosen.keep_less else LEAST_DAYS
    _, total, _ = memory.local().find.last_record()
    surplus = total * (1 - chosen.keep_mb / size_mb(memory))
    days_kept = max(least, (now_ms - first) // DAY_MS)
    while days_kept > least and plan(memory, days_kept, now_ms, less=True).records < surplus:
        days_kept = max(least, days_kept - STEP_DAYS)
    return min(days_kept, wanted or days_kept)


def _waiting(memory: Memory) -> Iterator[int]:
    """Yield where the days begin whose note is still to be written: they have to be told of first."""
    if memory.settings.note_nightly:
        for day, _ in Diary.read(memory.settings.home).pending:
            yield days.window_of(day, memory.settings.zone)[0]


def _old_quarantine(memory: Memory, before_ms: int) -> Iterator[str]:
    for path in memory.settings.quarantine.glob("*.json"):
        if path.stat().st_mtime_ns // 1_000_000 < before_ms:
            yield path.name
