"""`limpet run`: the sidecar in the foreground."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import settings, sidecar
from limpet.cli import output

if TYPE_CHECKING:
    import argparse


def run(args: argparse.Namespace) -> int:
    """Record until the process is told to end."""
    chosen = settings.load(db=args.db)
    chosen.check_local()
    started = sidecar.Sidecar(chosen, output.say).run(until_eof=args.until_eof)
    if not started:
        output.say(sidecar.ALREADY_RUNNING)
    return 0
