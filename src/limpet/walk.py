"""The walk from hook to answer: every link in an event's way, what is found there, and what to do where it is broken.

It mends nothing. Not for printing it: `limpet doctor` and the page's Health do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from limpet import breaks, standing
from limpet.alarm import Alarm
from limpet.errors import LimpetError, Unavailable
from limpet.note.diary import Diary
from limpet.runtimes.openclaw import cron
from limpet.runtimes.openclaw.workspaces import Workspaces

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from limpet.breaks import Break, Watched
    from limpet.coverage import Health
    from limpet.memory import Memory


class Step(NamedTuple):
    """One link of the chain: whether it holds, its name, what was found there, and what to do where it is broken."""

    ok: bool
    what: str
    found: str
    remedy: str = ""


LINKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("plugin", ("disabled",)),
    ("hooks", ("stopped", "silent", "hooks", "results")),
    ("spool", ("spool", "undrained")),
    ("recorder", ("sidecar", "stuck", "recorder", "place", "log", "beside")),
)
"""The links in the order of an event's way, with the breaks that lie there; the sources come after them."""


def steps(memory: Memory, moment: Callable[[int], str], *, thorough: bool = True) -> Iterator[Step]:
    """Yield every link, the first one first; `moment` writes an instant (epoch milliseconds) for the reader.

    `thorough` has the index check itself, which writes to its file and takes long in a large memory.
    """
    try:
        if not memory.exists():
            yield from _without_memory(memory)
            return
        yield from _chain(memory, moment)
        yield from _database(memory, moment, thorough=thorough)
        yield from _answer(memory)
    except LimpetError as error:
        yield Step(False, "database", error.message, error.hint)
    yield from _notes(memory, moment)
    yield _alarm(memory)


def _without_memory(memory: Memory) -> Iterator[Step]:
    """Yield what is broken where no memory was made yet, and that there is none."""
    watched = memory.watched()
    health = memory.health(watched)
    for what, codes in LINKS:
        yield from (Step(False, what, one.sentence, one.remedy) for one in health.breaks if one.code in codes)
    remedy = breaks.RESTART if watched.plugin else breaks.SETUP
    yield Step(False, "memory", f"none yet at {memory.settings.db}", remedy)


def _chain(memory: Memory, moment: Callable[[int], str]) -> Iterator[Step]:
    """Yield the links up to the memory, each with what is broken in it, or with what was found there."""
    watched = memory.watched()
    health = memory.health(watched)
    last_ms = memory.store.find.last_of(breaks.HOOKS)
    heard = f"last heard of {moment(last_ms)}" if last_ms else "nothing was ever heard"
    well = {
        "plugin": _plugin(watched, health),
        "hooks": f"{'a gateway runs with the plugin in it' if watched.alive else 'no gateway runs now'}; {heard}",
        "spool": f"{watched.pending:,} bytes wait" if watched.pending else "nothing waits",
        "recorder": "a sidecar is running, and answers" if watched.recording else "no sidecar is running",
    }
    for what, codes in LINKS:
        yield from _link(what, codes, well[what], health.breaks)
    for watch in memory.store.state.watches():
        if watch.source == "spool" and not watch.why:
            continue  # that nothing waits there was said
        good = f"read well, last {moment(watch.good_ms)}"
        yield from _link(watch.source, (f"source {watch.source}",), good, health.breaks)
    yield from _link("count", ("count",), _counted(memory, watched.now_ms), health.breaks)
    yield Step(health.ok, "all in all", health.sentence)


def _plugin(watched: Watched, health: Health) -> str:
    if health.state == "demo":
        return "none is wanted: this is the demo"
    where = "in OpenClaw's configuration"
    return f"is {where}" if watched.plugin else f"is not {where} ({breaks.SETUP})"


def _link(what: str, codes: Collection[str], well: str, broken: Sequence[Break]) -> Iterator[Step]:
    here = [one for one in broken if one.code in codes]
    yield from (Step(False, what, one.sentence, one.remedy) for one in here)
    if not here:
        yield Step(True, what, well)


def _counted(memory: Memory, now_ms: int) -> str:
    told = breaks.counted(memory.store, now_ms)
    return f"OpenClaw counted {told.actions:,} tool actions and {told.runs:,} runs in a week; all are here"


def _database(memory: Memory, moment: Callable[[int], str], *, thorough: bool) -> Iterator[Step]:
    _, records, _ = memory.store.find.last_record()
    first, last, events = memory.store.find.bounds()
    span = f", {moment(first)} to {moment(last)}" if first and last else ""
    yield Step(True, "database", f"{records:,} records, {events:,} events{span}")
    if thorough:
        try:
            memory.check_index()
        except Unavailable as error:
            yield Step(False, "index", error.message, "limpet rebuild")
            return
    stale = memory.store.stale()
    yield Step(True, "index", f"{stale:,} events still to be indexed" if stale else "every event is indexed")


def _answer(memory: Memory) -> Iterator[Step]:
    """Ask what anybody would ask, the way that anybody's question goes."""
    found = memory.recent(24, limit=1)
    yield Step(True, "answer", f"{found.count:,} events in the last 24 hours, {found.coverage.state}")


def _notes(memory: Memory, moment: Callable[[int], str]) -> Iterator[Step]:
    """Yield where each agent's notes go and what says so, when the last one was written, and what is in the way."""
    diary, known = Diary.read(memory.settings.home), Workspaces(memory.settings)
    for agent in known.agents():
        place = known.of(agent)
        last = diary.last.get(agent)
        when = f"; the last one, of {last[0]}, at {moment(last[2])}" if last else ""
        there = "" if place.path.is_dir() else "; there is no such folder yet"
        yield Step(True, "notes", f"of {agent} go to {place.path / 'memory'} ({place.why}){there}{when}")
    for trouble in standing.troubles(memory):
        yield Step(not trouble["failed"], "note", standing.trouble_line(trouble))
    if job := cron.job_of(memory.settings.state):
        yield Step(True, "cron", f"OpenClaw's cron starts the notes, too (job {job})")


def _alarm(memory: Memory) -> Step:
    """Return who would be told, and what they were told that still holds."""
    chosen = memory.settings
    if not chosen.alarm_after_s:
        return Step(True, "alarm", "nobody is told: alarm_after_s is 0")
    way = next(iter(memory.ways()))[0]
    said = f"somebody is told by {way} after {chosen.alarm_after_s:,} s of trouble"
    told = Alarm.read(chosen.home).told
    return Step(True, "alarm", f"{said}; was told: {' '.join(told)}" if told else said)
