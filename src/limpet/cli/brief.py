"""The command that shows what an agent is told when it wakes up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet.brief import asjson
from limpet.cli import output
from limpet.cli.ask import now_of
from limpet.memory import Memory

if TYPE_CHECKING:
    import argparse


def brief(args: argparse.Namespace) -> int:
    """Show both parts of a brief, each marked by where it goes."""
    with Memory.open(args.db, args.tz) as memory:
        zone = memory.settings.zone
        found = memory.brief(args.agent, args.session, now_of(args, zone), args.tokens)
    if args.json:
        output.as_json(asjson.of(found, zone))
        return 0
    output.data("== in the system's part, on every turn of the window ==")
    output.data(found.own)
    output.data()
    output.data("== in the first message of the window ==")
    output.data(found.quoted or "(nothing)")
    output.say(f"{found.tokens} tokens at most, as counted here")
    return 0
