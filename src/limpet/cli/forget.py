"""The commands that erase for good: forget, prune, redact."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from limpet import days, text
from limpet.cli import output
from limpet.cli.ask import now_of
from limpet.errors import BadInput
from limpet.memory import Memory
from limpet.upkeep import cleaning, finishing, forgetting, pruning

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from limpet.upkeep.finishing import Finished
    from limpet.upkeep.forgetting import Plan


SHOWN = 5
"""So many of the events to be erased are shown."""


def forget(args: argparse.Namespace) -> int:
    """Show what would be forgotten, ask, and forget it."""
    question = " ".join(args.question)
    with Memory.open(args.db, args.tz) as memory:
        finish_what_was_begun(memory)
        now_ms = now_of(args, memory.settings.zone)
        looking = output.Progress("records looked through")
        plan = forgetting.plan(memory, question, now_ms, lambda no: looking(f"{no:,}"))
        looking.end()
        if not args.json:
            for line in _plan_lines(plan, memory.settings.zone):
                output.data(line)
            _show(memory, plan)
            if args.dry_run and not plan.is_empty:
                output.say("Nothing was changed. Without --dry-run it asks, and then erases this for good.")
        if args.dry_run or plan.is_empty or not agreed(args, "Forget this for good?"):
            _as_json(plan, None, args.json)
            return 0
        erasing = output.Progress("records to erase")
        done = forgetting.forget(memory, plan, now_ms, lambda left: erasing(f"{left:,}"))
        erasing.end()
        if args.json:
            _as_json(plan, done, args.json)
        else:
            report(done)
    return 0


def prune(args: argparse.Namespace) -> int:
    """Show what is older than so many days, ask, and drop it."""
    with Memory.open(args.db, args.tz) as memory:
        finish_what_was_begun(memory)
        now_ms = now_of(args, memory.settings.zone)
        plan = pruning.plan(memory, args.older_than, now_ms, less=args.less)
        if not args.json:
            before = output.moment(plan.before_ms, memory.settings.zone)
            output.data(f"{text.counted(plan.records, 'record')} from before {before}")
            output.data(f"  what daily notes cite is kept ({text.counted(plan.cited, 'event')})")
        if args.dry_run or not plan.records or not agreed(args, "Drop this for good?"):
            done = finishing.Finished()
        else:
            erasing = output.Progress("records to drop")
            done = pruning.prune(memory, plan, now_ms, lambda left: erasing(f"{left:,}"))
            erasing.end()
        if args.json:
            before_said = days.show(plan.before_ms, memory.settings.zone)
            output.as_json(
                {"before": before_said, "records": plan.records, "cited": plan.cited, "erased": done.records}
            )
        elif done.records:
            report(done)
    return 0


def redact(args: argparse.Namespace) -> int:
    """Take secrets out of what was kept before, by the rules of today."""
    with Memory.open(args.db, args.tz) as memory:
        finish_what_was_begun(memory)
        progress = output.Progress("records gone through")
        now_ms = now_of(args, memory.settings.zone)
        found = cleaning.redact(memory, now_ms, lambda no: progress(f"{no:,}"), dry_run=not args.again or args.dry_run)
        progress.end()
        if args.json:
            output.as_json(
                {"records": found.records, "quarantine": found.quarantined, "kinds": dict(found.kinds),
                 "cleaned": found.done is not None}
            )  # fmt: skip
            return 0
        where = f"{text.counted(found.records, 'record')} and {text.counted(found.quarantined, 'line')} of quarantine"
        output.data(f"secrets {'taken out of' if found.done else 'found in'} {where}")
        for kind, n in sorted(found.kinds.items()):
            output.data(f"  {n:>7,}  {kind}")
        if not args.again and found.records + found.quarantined:
            output.say("limpet redact --again  takes them out")
        if found.done:
            for trouble in found.done.troubles:
                output.say(f"not done: {text.clean(trouble, newlines=False)}")
    return 0


def finish_what_was_begun(memory: Memory) -> None:
    """Finish, and say so, what an earlier run began and did not finish."""
    if memory.exists() and finishing.is_unfinished(memory):
        output.say("Finishing what an earlier run began to erase ...")
        report(finishing.finish(memory), talk=True)


def agreed(args: argparse.Namespace, question: str) -> bool:
    """Ask, unless `--yes` was given. Raises BadInput where there is nobody to ask."""
    if args.yes:
        return True
    if args.json or not sys.stdin.isatty():
        raise BadInput("This cannot be undone, and there is nobody to ask.", "Look with --dry-run, then add --yes.")
    if input(f"{question} [y/N] ").strip().lower() in ("y", "yes"):
        return True
    output.say("Nothing was changed.")
    return False


def report(done: Finished, *, talk: bool = False) -> None:
    """Say what was erased, and what was in the way."""
    tell = output.say if talk else output.data
    parts = [f"{text.counted(done.records, 'record')} erased for good"]
    if done.notes:
        parts.append(f"{text.counted(done.notes, 'note')} written again")
    if done.quarantined:
        parts.append(f"{text.counted(done.quarantined, 'line')} of quarantine deleted")
    if done.lines:
        parts.append(f"{text.counted(done.lines, 'line')} of the spool made blank")
    tell("; ".join(parts))
    for trouble in done.troubles:
        output.say(f"not done: {text.clean(trouble, newlines=False)}")


def _plan_lines(plan: Plan, zone: str) -> Iterator[str]:
    counted = text.counted
    head = f"{counted(len(plan.events), 'event')}, {counted(plan.records, 'record')}"
    yield f"{head}  [{plan.understood or 'everything'}]"
    if plan.first_ms is not None and plan.last_ms is not None:
        yield f"  from {output.moment(plan.first_ms, zone)} to {output.moment(plan.last_ms, zone)}"
    if plan.unsearched:
        says = "says" if plan.unsearched == 1 else "say"
        yield f"  {plan.unsearched:,} of them {says} it where the text index does not look"
    if plan.shared:
        yield f"  {counted(len(plan.shared), 'other event')} told of by the same records, which lose what these say"
        yield f"    {', '.join(map(str, plan.shared[:20]))}{' ...' if len(plan.shared) > 20 else ''}"
    if plan.notes:
        yield f"  {counted(len(plan.notes), 'daily note')} will be written again"
    if plan.quarantine:
        yield f"  {counted(len(plan.quarantine), 'unreadable line')} in quarantine will be deleted"
    for path in plan.copies:
        yield f"  out of reach, delete it yourself: {text.clean(str(path), newlines=False)}"
    for source, count in plan.held.items():
        yield f"  OpenClaw itself still holds {count:,} of these records ({source}); Limpet will not read them in again"


def _show(memory: Memory, plan: Plan) -> None:
    """Print some of the events, so that somebody sees what they are about to lose."""
    found = filter(None, map(memory.store.find.by_id, plan.events[:SHOWN]))
    output.table(sorted(found, key=lambda event: event.at_ms), memory.settings.zone)
    if len(plan.events) > SHOWN:
        output.data(f"  and {text.counted(len(plan.events) - SHOWN, 'other event')}: limpet ask shows them all")


def _as_json(plan: Plan, done: Finished | None, wanted: bool) -> None:
    if not wanted:
        return
    output.as_json(
        {
            "understood": plan.understood,
            "events": list(map(str, plan.events)),
            "shared": list(map(str, plan.shared)),
            "records": plan.records,
            "notes": [{"day": day, "agent": agent} for day, agent in plan.notes],
            "quarantine": len(plan.quarantine),
            "copies": [str(path) for path in plan.copies],
            "held": dict(plan.held),
            "erased": done.records if done else 0,
            "troubles": list(done.troubles) if done else [],
        }
    )
