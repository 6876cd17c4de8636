"""The commands that look after the memory: status, doctor, rebuild, drain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet import text
from limpet.cli import output
from limpet.errors import CheckFailed, Unavailable
from limpet.memory import Memory
from limpet.note.diary import Diary
from limpet.runtimes.openclaw import cron
from limpet.runtimes.openclaw.workspaces import Workspaces

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping


def status(args: argparse.Namespace) -> int:
    """Say in one line whether Limpet is recording; exit status 5 when it should be and is not."""
    with Memory.open(args.db) as memory:
        if not memory.exists():
            return _nothing_yet(memory, machine=args.json)
        health, watched = memory.health(), memory.watched()
        counts = memory.store.state.counts()
        zone = memory.settings.zone
        since = output.moment(health.since_ms, zone) if health.since_ms else None
        last = output.moment(health.last_ms, zone) if health.last_ms else None
        if args.json:
            output.as_json(
                {"ok": health.ok, "state": health.state, "sentence": health.sentence, "since": since,
                 "last_record": last,
                 "pending_bytes": watched.pending, "lacks": list(health.lacks), "counts": counts,
                 "note_model": _note_model(memory), "notes": _troubles(memory)}
            )  # fmt: skip
        else:
            parts = [
                health.sentence,
                f"since {since}" if since else "",
                f"last record {last}" if last else "",
                f"{watched.pending:,} bytes behind",
            ]
            output.data(" ".join([parts[0], "; ".join(part for part in parts[1:] if part)]))
            for lack in health.lacks:
                output.data(f"  cannot see {lack}")
            if model := _note_model(memory):
                output.data(f"  {model}")
            for trouble in _troubles(memory):
                output.data(f"  {_note_line(trouble)}")
            for name in ("rejected", "duplicate"):
                if counts.get(name):
                    output.data(
                        f"  {counts[name]:,} {name}"
                        + (" (kept in quarantine)" if name == "rejected" else " records (counted once)")
                    )
    return 0 if health.ok else CheckFailed.exit_status


def _note_model(memory: Memory) -> str | None:
    """Return what became of the last note that a model was to word, and what it cost; None where none is wanted."""
    if memory.settings.note_model == "off":
        return None
    from limpet.note import drafting  # noqa: PLC0415 - only where a model is wanted is there anything to load

    report = drafting.report(memory.settings)
    return report.sentence if report is not None else None


def _troubles(memory: Memory) -> list[dict[str, Any]]:
    """Return each note that could not be written, or that somebody should look at, and why; oldest day first."""
    return [
        {
            "day": day.isoformat(),
            "agent": agent,
            "failed": one.failed,
            "why": one.why,
            "since": output.moment(one.since_ms, memory.settings.zone),
        }
        for (day, agent), one in sorted(Diary.read(memory.settings.home).troubles.items())
    ]


def _note_line(trouble: Mapping[str, Any]) -> str:
    which = f"note of {trouble['day']} ({trouble['agent']})"
    state = f"cannot be written since {trouble['since']}" if trouble["failed"] else "was written, but"
    return text.clean(f"{which} {state}: {trouble['why']}", newlines=False)


def _nothing_yet(memory: Memory, *, machine: bool) -> int:
    """Say that there is no memory, which is no fault where nobody has set Limpet up."""
    sentence = f"There is no memory at {memory.settings.db} yet, and nothing is set up (limpet setup openclaw)."
    if machine:
        output.as_json({"ok": True, "state": "not set up", "sentence": sentence, "pending_bytes": 0, "lacks": []})
    else:
        output.data(sentence)
    return 0


def doctor(args: argparse.Namespace) -> int:
    """Walk the chain from hook to answer, and name the broken link."""
    with Memory.open(args.db) as memory:
        steps = list(_steps(memory)) if memory.exists() else [(False, "memory", f"none yet at {memory.settings.db}")]
        broken = [step for step in steps if not step[0]]
        if args.json:
            output.as_json(
                {
                    "ok": not broken,
                    "steps": [{"ok": ok, "what": what, "found": found} for ok, what, found in steps],
                }
            )
        else:
            for ok, what, found in steps:
                output.data(f"{'ok    ' if ok else 'BROKEN'}  {what:<12} {found}")
            for name, origin in memory.settings.origins.items():
                value = getattr(memory.settings, name)
                output.data(f"setting {name:<18} {value}  ({origin.kind}{' ' + origin.name if origin.name else ''})")
    return CheckFailed.exit_status if broken else 0


def rebuild(args: argparse.Namespace) -> int:
    """Make the events and the index again."""
    progress = output.Progress("records read")
    with Memory.open(args.db) as memory:
        count = memory.rebuild(progress)
        progress.end()
        output.as_json({"events": count}) if args.json else output.data(f"{count:,} events made again from the ledger")
    return 0


def drain(args: argparse.Namespace) -> int:
    """Take in what is pending, and make the database if there is none."""
    with Memory.open(args.db) as memory:
        memory.refresh(make=True)
        pending = memory.watched().pending
        output.as_json({"pending_bytes": pending}) if args.json else output.data(f"{pending:,} bytes still wait")
    return 0


def _steps(memory: Memory) -> Iterator[tuple[bool, str, str]]:
    watched = memory.watched()
    health = memory.health()
    yield (
        watched.plugin,
        "plugin",
        "is in OpenClaw's configuration"
        if watched.plugin
        else "is not in OpenClaw's configuration: limpet setup openclaw",
    )
    yield True, "gateway", "runs, and its plugin writes" if watched.alive else "none runs now"
    fresh = watched.pending_ms is None or watched.now_ms - watched.pending_ms < 60_000
    yield fresh, "spool", f"{watched.pending:,} bytes wait" if watched.pending else "nothing waits"
    yield (
        watched.recording or not watched.alive,
        "recorder",
        "a sidecar is running" if watched.recording else "no sidecar is running: limpet run",
    )
    for watch in memory.store.state.watches():
        yield (
            not watch.why,
            watch.source,
            watch.why or f"read well, last {output.moment(watch.good_ms, memory.settings.zone)}",
        )
    yield from _notes(memory)
    yield from _database(memory)
    yield health.ok, "all in all", health.sentence


def _notes(memory: Memory) -> Iterator[tuple[bool, str, str]]:
    """Yield where each agent's notes go and what says so, when the last one was written, and what is in the way."""
    diary, known = Diary.read(memory.settings.home), Workspaces(memory.settings)
    for agent in known.agents():
        place = known.of(agent)
        last = diary.last.get(agent)
        when = f"; the last one, of {last[0]}, at {output.moment(last[2], memory.settings.zone)}" if last else ""
        there = "" if place.path.is_dir() else "; there is no such folder yet"
        yield True, "notes", f"of {agent} go to {place.path / 'memory'} ({place.why}){there}{when}"
    for trouble in _troubles(memory):
        yield not trouble["failed"], "note", _note_line(trouble)
    if job := cron.job_of(memory.settings.state):
        yield True, "cron", f"OpenClaw's cron starts the notes, too (job {job})"


def _database(memory: Memory) -> Iterator[tuple[bool, str, str]]:
    _, records, _ = memory.store.find.last_record()
    first, last, events = memory.store.find.bounds()
    zone = memory.settings.zone
    span = f", {output.moment(first, zone)} to {output.moment(last, zone)}" if first and last else ""
    yield True, "database", f"{records:,} records, {events:,} events{span}"
    try:
        memory.check_index()
    except Unavailable as error:
        yield False, "index", f"{error.message} limpet rebuild"
        return
    stale = memory.store.stale()
    yield True, "index", f"{stale:,} events still to be indexed" if stale else "every event is indexed"
