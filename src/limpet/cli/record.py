"""The commands that bring things in, take them out, and set Limpet up: add, import, export, setup, remove."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limpet import jsonline, settings, wire
from limpet.cli import output, proof
from limpet.errors import BadInput, LimpetError, NotFound
from limpet.memory import Imported, Memory
from limpet.model import Query
from limpet.runtimes.openclaw import cron
from limpet.runtimes.openclaw import setup as openclaw
from limpet.store import opening

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from limpet.settings import Settings

    Errand = tuple[str, Callable[[], None]]


def add(args: argparse.Namespace) -> int:
    """Add an event of one's own."""
    kind, summary = _heard(args.type), _heard(args.summary)
    with Memory.open(args.db, args.tz) as memory:
        record = memory.add(
            kind,
            summary,
            details=_details(args.details),
            tags=[_heard(tag) for tag in args.tag or ()] or None,
            session=_heard(args.session or ""),
            agent=_heard(args.agent or ""),
        )
        output.as_json({"record": record}) if args.json else output.data(f"added {kind}: {summary}")
    return 0


def import_(args: argparse.Namespace) -> int:
    """Bring in files."""
    if not all(args.path):
        raise BadInput("A path is empty.", "limpet import --help")
    paths = [Path(os.path.expanduser(path)) for path in args.path]  # noqa: PTH111 - leaves what nobody is called
    for path in paths:
        if not path.exists():
            raise NotFound(f"There is no file {path}.", "limpet import --help")
    progress = output.Progress("records read")
    with Memory.open(args.db) as memory:
        done = memory.take_in(paths, lambda sofar: progress(f"{sofar.read:,}"))
    progress.end()
    _report(done, machine=args.json)
    return 0


def export(args: argparse.Namespace) -> int:
    """Write events, or the ledger's records, as JSON lines; or all of it as a bundle."""
    if args.bundle:
        return proof.bundle(args)
    if args.format != "jsonl":
        raise BadInput("Parquet is a part of a bundle.", "limpet export --bundle FOLDER --format parquet")
    with Memory.open(args.db, args.tz) as memory:
        filters = (("type", (args.type,), False),) if args.type else ()
        if args.records:
            lines = (_record_line(record) for record in memory.every_record())
        else:
            found = memory.every(Query(filters=filters, noise=True, zone=memory.settings.zone))
            lines = ({**wire.event(e, memory.settings.zone), "details": e.details, "tags": e.tags} for e in found)
        for line in lines:
            sys.stdout.write(jsonline.dump(line).decode("utf-8") + "\n")
    return 0


def setup(args: argparse.Namespace) -> int:
    """Install the plugin and configure OpenClaw, or, for `remove`, undo that."""
    chosen = settings.load(db=args.db)
    chosen.check_local()
    removing = args.command == "remove"
    if removing:
        plan = openclaw.plan_removal(chosen.state)
    else:
        home = chosen.home if chosen.origins["home"].kind != "default" else None
        command = [*limpet_command(), "run", "--until-eof"]
        plan = openclaw.plan_setup(chosen.state, openclaw.plugin_folder(), command, home)
    errands = [*_alarm_errand(chosen, removing=removing), *_cron_errand(chosen, args)]
    sentences = [*(plan.sentences if plan.changes or not errands else ()), *(said for said, _ in errands)]
    if args.json:
        output.as_json({"plan": sentences, "changes": len(plan.changes) + len(errands), "dry_run": args.dry_run})
    else:
        for sentence in sentences:
            output.data(sentence)
    if args.dry_run or not (plan.changes or errands) or not _agreed(args):
        return 0
    openclaw.apply(plan)
    if plan.changes:
        output.say("Done. A gateway that is running takes it up when it next starts: openclaw gateway restart")
        _warn_of_the_place(chosen, removing=removing)
    for _, run in errands:
        run()
    return 0


def _warn_of_the_place(chosen: Settings, *, removing: bool) -> None:
    """Say that nothing can be recorded where the database is to lie, where that is so."""
    try:
        if not removing:
            opening.check_place(chosen.db)
    except LimpetError as error:
        output.say(f"But nothing will be recorded: {error.message} {error.hint}")


def _alarm_errand(chosen: Settings, *, removing: bool) -> Iterator[Errand]:
    """Yield the deletion of what the alarm keeps, where something is removed and there is such a thing."""
    from limpet import watch  # noqa: PLC0415 - nothing else here needs what it loads

    if removing and (kept := watch.kept(chosen)):
        names = ", ".join(path.name for path in kept)
        yield f"Delete what the alarm keeps in {chosen.home}: {names}.", lambda: watch.tidy(chosen)


def _cron_errand(chosen: Settings, args: argparse.Namespace) -> Iterator[Errand]:
    """Yield what is to be done with OpenClaw's cron, where anything is."""
    removing = args.command == "remove"
    if removing and (job := cron.job_of(chosen.state)):
        yield f"Delete the job {cron.JOB} from OpenClaw's cron.", lambda: _unregister(chosen, job)
    elif not removing and args.note_with == "openclaw-cron":
        when = f"at {chosen.note_at} ({chosen.zone}), as the job {cron.JOB}"
        yield f"Have OpenClaw's cron run `limpet note` {when}.", lambda: _register(chosen)


def _unregister(chosen: Settings, job: str) -> None:
    cron.unregister(chosen, job)
    output.say(f"The cron job {cron.JOB} is deleted.")


def _register(chosen: Settings) -> None:
    cron.register(chosen, [*limpet_command(), "note"])
    output.say(f"The cron job {cron.JOB} is registered.")


def _agreed(args: argparse.Namespace) -> bool:
    if args.yes or args.json or not sys.stdin.isatty():
        return True
    if input("Go on? [Y/n] ").strip().lower() in ("", "y", "yes"):
        return True
    output.say("Nothing was changed.")
    return False


def limpet_command() -> list[str]:
    """Return the words that start this very Limpet."""
    beside = Path(sys.executable).with_name("limpet")
    return [str(beside)] if beside.exists() else [sys.executable, "-m", "limpet"]


def _heard(said: str) -> str:
    """Return an argument as the UTF-8 that it was typed in: Python decodes it by the locale."""
    return os.fsencode(said).decode("utf-8", "replace")


def _details(said: str | None) -> Any:
    if said is None:
        return None
    try:
        return jsonline.parse(os.fsencode(said))
    except ValueError as error:
        raise BadInput(f"--details is no JSON: {error}", """For example --details '{"port": 9443}'""") from error


def _record_line(record: Any) -> dict[str, Any]:
    body = record.body if isinstance(record.body, dict) else {"event": record.body}
    return {**body, "id": record.id, "source": record.source, "producer": record.stream, "seq": record.seq}


def _report(done: Imported, *, machine: bool) -> None:
    known = done.read - done.added
    if machine:
        output.as_json(
            {
                "read": done.read,
                "added": done.added,
                "known": known,
                "rejected": done.rejected,
                "kinds": list(done.kinds),
            }
        )
        return
    output.data(
        f"{done.read:,} records read: {done.added:,} new, {known:,} known already"
        + (f", {done.rejected:,} unreadable (kept in quarantine)" if done.rejected else "")
    )
