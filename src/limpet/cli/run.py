"""`limpet run`, the sidecar in the foreground, and `limpet watch`, which only looks."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from limpet import settings, sidecar
from limpet.cli import output
from limpet.watch import Watch

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


def watch(args: argparse.Namespace) -> int:
    """Look at what is broken, and have somebody told, for as long as no sidecar runs."""
    chosen, stop = settings.load(db=args.db), threading.Event()
    if args.minutes:
        end = threading.Timer(args.minutes * 60, stop.set)
        end.daemon = True
        end.start()
    Watch(chosen, output.say).run_alone(stop)
    return 0
