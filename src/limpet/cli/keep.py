"""The commands that look after the memory: status, doctor, rebuild, drain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet import days, standing, text
from limpet.cli import output
from limpet.errors import CheckFailed
from limpet.memory import Memory

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
        f"Since {days.said(told['since'])}" if told.get("since") else "",
        f"last record {days.said(told['last_record'])}" if told.get("last_record") else "",
        f"{told['pending_bytes']:,} bytes behind" if "counts" in told else "",
    ]
    yield " ".join(filter(None, [told["sentence"], "; ".join(part for part in parts if part)]))
    for one in told.get("breaks", ())[1:]:
        yield f"  also broken: {text.clean(one['sentence'])} -> {one['remedy']}"
    if told.get("told"):
        yield "  somebody was told"
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
        yield f"  {standing.trouble_line(trouble)}"
    yield from _counted(told.get("counts", {}))


def _counted(counts: Mapping[str, int]) -> Iterator[str]:
    for name, what in (
        ("rejected", "rejected (kept in quarantine)"),
        ("duplicate", "duplicate records (counted once)"),
    ):
        if n := counts.get(name):
            yield f"  {n:,} {what}"


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
