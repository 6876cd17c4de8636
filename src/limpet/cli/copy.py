"""The commands that copy a memory and put a copy back: backup, restore."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import settings, text
from limpet.cli import output
from limpet.cli.forget import finish_what_was_begun
from limpet.memory import Memory
from limpet.upkeep import copies

if TYPE_CHECKING:
    import argparse

    from limpet.upkeep.copies import Copied


def backup(args: argparse.Namespace) -> int:
    """Copy the memory."""
    progress = output.Progress("records of the copy verified")
    with Memory.open(args.db) as memory:
        finish_what_was_begun(memory)
        done = copies.backup(memory, args.path, lambda no: progress(f"{no:,}"), replace=args.replace)
        progress.end()
    _report(done, "copied to", machine=args.json)
    return 0


def restore(args: argparse.Namespace) -> int:
    """Put a copy back."""
    progress = output.Progress("records of the copy verified")
    chosen = settings.load(db=args.db)
    path = settings.user_path(args.path).absolute()
    done = copies.restore(chosen, path, lambda no: progress(f"{no:,}"), replace=args.replace)
    progress.end()
    if done.aside is not None and not args.json:
        output.say(f"What was there lies at {done.aside}. Delete it when you need it no longer.")
    _report(done, "put back at", machine=args.json)
    return 0


def _report(done: Copied, verb: str, *, machine: bool) -> None:
    if machine:
        aside = str(done.aside) if done.aside else None
        output.as_json(
            {
                "path": str(done.path),
                "records": done.records,
                "events": done.events,
                "head": done.head,
                "seal": done.seal,
                "aside": aside,
            }
        )
        return
    records, events = text.counted(done.records, "record"), text.counted(done.events, "event")
    output.data(f"{records} and {events} {verb} {done.path}, and verified; seal {done.seal}")
