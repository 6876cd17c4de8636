"""The commands that look after the memory: status, doctor, rebuild, drain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet import address, standing, text
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
        told = standing.told(memory)
    if args.json:
        output.as_json(told)
    else:
        for line in _standing_lines(told):
            output.data(line)
    return 0 if told["ok"] else CheckFailed.exit_status


def _standing_lines(told: Mapping[str, Any]) -> Iterator[str]:
    parts = [
        f"since {output.moment_said(told['since'])}" if told.get("since") else "",
        f"last record {output.moment_said(told['last_record'])}" if told.get("last_record") else "",
        f"{told['pending_bytes']:,} bytes behind" if "counts" in told else "",
    ]
    yield " ".join(filter(None, [told["sentence"], "; ".join(part for part in parts if part)]))
    for lack in told["lacks"]:
        yield f"  cannot see {lack}"
    if told.get("note_model"):
        yield f"  {told['note_model']}"
    if told.get("push"):
        yield f"  {text.clean(told['push'])}"
    for said in told.get("upkeep", ()):
        yield f"  {said}"
    for machine in told.get("machines", ()):
        yield f"  {machine['machine']:<24} {machine['records']:>12,} records  {text.clean(machine['state'])}"
    for trouble in told.get("notes", ()):
        yield f"  {_note_line(trouble)}"
    for name, what in (
        ("rejected", "rejected (kept in quarantine)"),
        ("duplicate", "duplicate records (counted once)"),
    ):
        if n := told.get("counts", {}).get(name):
            yield f"  {n:,} {what}"


def _note_line(trouble: Mapping[str, Any]) -> str:
    which = f"note of {trouble['day']} ({trouble['agent']})"
    state = (
        f"cannot be written since {output.moment_said(trouble['since'])}" if trouble["failed"] else "was written, but"
    )
    return text.clean(f"{which} {state}: {trouble['why']}", newlines=False)


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
                value = address.shown(str(getattr(memory.settings, name)))
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
    for trouble in standing.troubles(memory):
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
