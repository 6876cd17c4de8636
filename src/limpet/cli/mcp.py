"""`limpet mcp`: the memory for any MCP client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import clock, days, settings

if TYPE_CHECKING:
    import argparse


def mcp(args: argparse.Namespace) -> int:
    """Serve the tools on standard input and output until the input ends."""
    chosen = settings.load(db=args.db, zone=args.tz)
    days.day_of(clock.now_ms(), chosen.zone)  # a wrong zone is said now, not in every answer
    from limpet import mcp as door  # noqa: PLC0415 - heavy: the settings are complained of first

    door.serve(chosen, args.agent)
    return 0
