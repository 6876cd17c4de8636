"""The commands that look after the memory: status, verify, rebuild, drain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet import text
from limpet.alarm import Alarm
from limpet.cli import output
from limpet.errors import CheckFailed
from limpet.memory import Memory
from limpet.note.diary import Diary

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from limpet.breaks import Break


def status(args: argparse.Namespace) -> int:
    """Say in one line whether Limpet is recording; exit status 5 when it should be and is not."""
    with Memory.open(args.db) as memory:
        if not memory.exists():
            return _nothing_yet(memory, machine=args.json)
        health, watched = memory.health(), memory.watched()
        counts, told = memory.store.state.counts(), list(Alarm.read(memory.settings.home).told)
        zone = memory.settings.zone
        since = output.moment(health.since_ms, zone) if health.since_ms else None
        last = output.moment(health.last_ms, zone) if health.last_ms else None
        if args.json:
            output.as_json(
                {"ok": health.ok, "state": health.state, "sentence": health.sentence, "since": since,
                 "last_record": last,
                 "pending_bytes": watched.pending, "lacks": list(health.lacks), "counts": counts,
                 "breaks": [_broken(one, zone) for one in health.breaks], "told": told,
                 "note_model": _note_model(memory), "notes": troubles(memory)}
            )  # fmt: skip
        else:
            parts = [
                health.sentence,
                f"since {since}" if since else "",
                f"last record {last}" if last else "",
                f"{watched.pending:,} bytes behind",
            ]
            output.data(" ".join([parts[0], "; ".join(part for part in parts[1:] if part)]))
            for one in health.breaks[1:]:
                output.data(f"  also broken: {text.clean(one.sentence)} -> {one.remedy}")
            if told:
                output.data("  somebody was told")
            for lack in health.lacks:
                output.data(f"  cannot see {lack}")
            if model := _note_model(memory):
                output.data(f"  {model}")
            for trouble in troubles(memory):
                output.data(f"  {note_line(trouble)}")
            for name in ("rejected", "duplicate"):
                if counts.get(name):
                    output.data(
                        f"  {counts[name]:,} {name}"
                        + (" (kept in quarantine)" if name == "rejected" else " records (counted once)")
                    )
    return 0 if health.ok else CheckFailed.exit_status


def _broken(one: Break, zone: str) -> dict[str, Any]:
    since = output.moment(one.since_ms, zone) if one.since_ms else None
    return {"code": one.code, "sentence": one.sentence, "remedy": one.remedy, "since": since}


def _note_model(memory: Memory) -> str | None:
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
            "since": output.moment(one.since_ms, memory.settings.zone),
        }
        for (day, agent), one in sorted(Diary.read(memory.settings.home).troubles.items())
    ]


def note_line(trouble: Mapping[str, Any]) -> str:
    """Return one of these troubles in one line."""
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


def verify(args: argparse.Namespace) -> int:
    """Check the ledger and the events; exit status 5 for any fault."""
    progress = output.Progress("records verified")
    with Memory.open(args.db) as memory:
        verdict = memory.verify(progress)
        progress.end()
        if args.json:
            output.as_json(
                {
                    "ok": not verdict.faults,
                    "records": verdict.records,
                    "events": verdict.events,
                    "head": verdict.head,
                    "faults": list(verdict.faults),
                }
            )
        else:
            for fault in verdict.faults:
                output.data(fault)
            count = len(verdict.faults)
            judged = f"{count:,} {'fault' if count == 1 else 'faults'}" if count else "no fault"
            output.data(f"{verdict.records:,} records, {verdict.events:,} events, {judged}; head {verdict.head}")
    return CheckFailed.exit_status if verdict.faults else 0


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
