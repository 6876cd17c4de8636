"""How Limpet stands, as JSON: what `limpet status --json` and the page say. Not for judging it; see `coverage`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet import clock, days, fleet, pushing, text
from limpet.alarm import Alarm
from limpet.note.diary import Diary
from limpet.upkeep import finishing, pruning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from limpet.breaks import Break
    from limpet.coverage import Health, Watched
    from limpet.memory import Memory


def told(memory: Memory) -> dict[str, Any]:
    """Return whether it is recording, since when, how far behind, what it cannot see; the shape is a promise."""
    if memory.settings.fleet:
        return fleet.standing(memory.fleet(), memory.settings.zone, clock.now_ms())
    watched = memory.watched()
    health = memory.health(watched)
    zone = memory.settings.zone
    if not memory.exists():
        return _without_memory(health, watched, zone)
    return {
        "ok": health.ok,
        "state": health.state,
        "sentence": health.sentence,
        "since": days.show(health.since_ms, zone) if health.since_ms else None,
        "last_record": days.show(health.last_ms, zone) if health.last_ms else None,
        "pending_bytes": watched.pending,
        "lacks": list(health.lacks),
        "counts": memory.store.state.counts(),
        "breaks": [_broken(one, zone) for one in health.breaks],
        "told": list(Alarm.read(memory.settings.home).told),
        "note_model": note_model(memory),
        "notes": troubles(memory),
        "push": pushed(memory),
        "upkeep": upkeep(memory),
    }


def _broken(one: Break, zone: str) -> dict[str, Any]:
    since = days.show(one.since_ms, zone) if one.since_ms else None
    return {"code": one.code, "sentence": one.sentence, "remedy": one.remedy, "since": since}


def upkeep(memory: Memory) -> list[str]:
    """Return what was begun and not finished, and what was announced."""
    begun = "erasing was begun and not finished: the sidecar, or the next limpet forget, finishes it"
    said = begun if finishing.is_unfinished(memory) else ""
    return [*filter(None, (said, pruning.announcement(memory)))]


def pushed(memory: Memory) -> str | None:
    """Return how far a fleet has this memory, and what is in the way, in a sentence; None where it belongs to none."""
    store, zone = memory.local(), memory.settings.zone
    last = pushing.last_push(store)
    if last.done_ms is None and last.failing_ms is None:
        return None
    records, changes = pushing.waiting(store)
    when = f"last pushed {days.show(last.done_ms, zone)}" if last.done_ms else "never pushed"
    since = f"; failing since {days.show(last.failing_ms, zone)}" if last.failing_ms else ""
    return (
        f"fleet: {when}; {records:,} records and {changes:,} changes wait{since}{f': {last.why}' if last.why else ''}"
    )


def _without_memory(health: Health, watched: Watched, zone: str) -> dict[str, Any]:
    """Say how things stand where no memory was made yet."""
    return {
        "ok": health.ok,
        "state": health.state,
        "sentence": health.sentence,
        "pending_bytes": watched.pending,
        "lacks": [],
        "breaks": [_broken(one, zone) for one in health.breaks],
    }


def note_model(memory: Memory) -> str | None:
    """Return what became of the last note that a model was to word, and what it cost; None where none is wanted."""
    if memory.settings.note_model == "off":
        return None
    from limpet.note import drafting  # noqa: PLC0415 - only where a model is wanted is there anything to load

    report = drafting.report(memory.settings)
    return report.sentence if report is not None else None


def troubles(memory: Memory) -> list[dict[str, Any]]:
    """Return each note that could not be written, or that somebody should look at, and why; oldest day first."""
    return [
        {
            "day": day.isoformat(),
            "agent": agent,
            "failed": one.failed,
            "why": one.why,
            "since": days.show(one.since_ms, memory.settings.zone),
        }
        for (day, agent), one in sorted(Diary.read(memory.settings.home).troubles.items())
    ]


def trouble_line(trouble: Mapping[str, Any]) -> str:
    """Return one of these troubles in one line."""
    which = f"note of {trouble['day']} ({trouble['agent']})"
    state = f"cannot be written since {days.said(trouble['since'])}" if trouble["failed"] else "was written, but"
    return text.clean(f"{which} {state}: {trouble['why']}", newlines=False)
