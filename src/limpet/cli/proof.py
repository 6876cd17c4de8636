"""The commands that prove: verify, and `export --bundle`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from limpet import text
from limpet.cli import output
from limpet.cli.forget import finish_what_was_begun
from limpet.errors import CheckFailed
from limpet.memory import Memory
from limpet.upkeep import sealing

if TYPE_CHECKING:
    import argparse

    from limpet.verification import Verdict


def verify(args: argparse.Namespace) -> int:
    """Check the ledger and everything made from it; exit status 5 for any fault."""
    progress = output.Progress("records verified")
    with Memory.open(args.db) as memory:
        seals = [*sealing.known_seals(memory), *sealing.seals_said(args.against or ())]
        verdict = memory.verify(lambda no: progress(f"{no:,}"), seals)
        progress.end()
        _as_json(verdict) if args.json else _told(verdict)
    return CheckFailed.exit_status if verdict.faults else 0


def bundle(args: argparse.Namespace) -> int:
    """Hand everything out in a folder that proves itself."""
    from limpet.upkeep import bundle as bundles  # noqa: PLC0415 - for this command alone

    progress = output.Progress("records written")
    with Memory.open(args.db, args.tz) as memory:
        finish_what_was_begun(memory)
        parquet = args.format == "parquet"
        done = bundles.write(memory, Path(args.bundle), lambda no: progress(f"{no:,}"), parquet=parquet)
        progress.end()
    if args.json:
        said = {"path": str(done.path), "records": done.records, "events": done.events}
        output.as_json({**said, "head": done.head, "seal": done.seal})
    else:
        records, events = text.counted(done.records, "record"), text.counted(done.events, "event")
        output.data(f"{records} and {events} in {done.path}; seal {done.seal}")
    return 0


def _as_json(verdict: Verdict) -> None:
    output.as_json(
        {
            "ok": not verdict.faults,
            "records": verdict.records,
            "events": verdict.events,
            "head": verdict.head,
            "seal": verdict.seal or None,
            "faults": list(verdict.faults),
            "remarks": list(verdict.remarks),
            "seals": verdict.seals,
            "forgotten": verdict.forgotten,
            "begins": verdict.begins,
        }
    )


def _told(verdict: Verdict) -> None:
    for line in (*verdict.faults, *verdict.remarks):
        output.data(line)
    if verdict.begins:
        output.data(f"The ledger begins after record {verdict.begins:,}: what stood before was dropped.")
    if verdict.forgotten:
        output.data(f"{text.counted(verdict.forgotten, 'record')} forgotten; the chain goes through.")
    judged = text.counted(len(verdict.faults), "fault") if verdict.faults else "no fault"
    held = f"{text.counted(verdict.seals, 'seal')} held against the chain"
    read = f"{text.counted(verdict.records, 'record')}, {text.counted(verdict.events, 'event')}"
    output.data(f"{read}, {held}: {judged}; head {verdict.seal or verdict.head}")
