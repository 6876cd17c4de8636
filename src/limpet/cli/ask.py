"""The reading commands: ask, recent, session, show."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from limpet import clock, days, wire
from limpet.cli import output
from limpet.errors import BadInput
from limpet.memory import Memory, parse_id
from limpet.question import print_query
from limpet.question.draft import SHOWN

if TYPE_CHECKING:
    import argparse

    from limpet.model import Answer

MOST = 1_000_000_000
"""The largest number that `--limit` and `--offset` take."""

MOST_HOURS = 1_000_000
"""The largest number that `--hours` takes: more than a century."""


def ask(args: argparse.Namespace) -> int:
    """Answer a question."""
    question = " ".join(args.question)
    if not 0 <= args.limit <= MOST or not 0 <= args.offset <= MOST:
        message = f"--limit and --offset must be numbers up to {MOST:,}, and not negative."
        raise BadInput(message, "limpet ask --limit 20 failed tool calls today")
    with Memory.open(args.db, args.tz) as memory:
        now_ms = now_of(args, memory.settings.zone)
        found = memory.ask(question, now_ms, args.limit, args.offset)
        output.answer(found, question, form=_form(args), now_ms=now_ms, next_=_next(args, found))
    return 0


def recent(args: argparse.Namespace) -> int:
    """Show the newest events of the last hours."""
    if not 1 <= args.limit <= MOST or not 0 < args.hours <= MOST_HOURS:
        message = f"--limit must be from 1 to {MOST:,}, --hours more than 0 and at most {MOST_HOURS:,}."
        raise BadInput(message, "limpet recent --hours 24 --limit 50")
    with Memory.open(args.db, args.tz) as memory:
        now_ms = now_of(args, memory.settings.zone)
        found = memory.recent(args.hours, args.type, args.limit, now_ms)
        output.answer(found, form=_form(args), now_ms=now_ms, next_=_next(args, found))
    return 0


def _form(args: argparse.Namespace) -> str:
    return "json" if args.json else "csv" if args.csv else "table"


def _next(args: argparse.Namespace, found: Answer) -> str:
    """Return the command that shows what comes next: the same instants, whatever the clock says then."""
    query = replace(found.query, offset=0, limit=found.query.take or SHOWN)
    flags = [part for name in ("db", "tz", "now") if (value := getattr(args, name)) for part in (f"--{name}", value)]
    limit = ["--limit", str(found.query.limit)] if found.query.limit != SHOWN else []
    offset = ["--offset", str(found.query.offset + len(found.events))]
    return shlex.join(["limpet", "ask", *flags, *limit, *offset, "--", print_query(query)])


def session(args: argparse.Namespace) -> int:
    """Show a session's timeline, oldest first."""
    with Memory.open(args.db, args.tz) as memory:
        zone = memory.settings.zone
        events, end = memory.session(args.id, children=args.children)
        before = memory.origin(events)
        if args.json:
            output.as_json(wire.session(args.id, events, end, before, zone))
            return 0
        output.table(events, zone, agent=False)
        if before:
            output.say(f"goes on from {before}")
        noun = "event" if len(events) == 1 else "events"
        output.say(f"{len(events):,} {noun}; " + (f"{end[1]}, {output.moment(end[0], zone)}" if end else "no end seen"))
    return 0


def show(args: argparse.Namespace) -> int:
    """Show one event and every record behind it."""
    with Memory.open(args.db, args.tz) as memory:
        event, records = memory.show(parse_id(args.event))
        if args.json:
            output.as_json(wire.shown(event, records, memory.settings.zone))
        else:
            output.details(event, records, memory.settings.zone)
    return 0


def now_of(args: argparse.Namespace, zone: str) -> int:
    """Return the moment that the command takes for now. Raises BadInput for a `--now` that is no time."""
    if not args.now:
        return clock.now_ms()
    at_ms, flag = days.instant(args.now, 0, zone)
    if flag.startswith("time_"):
        raise BadInput(f"--now {json.dumps(args.now)} is no time.", "For example --now 2026-10-26T09:00:00+01:00")
    return at_ms
