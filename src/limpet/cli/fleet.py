"""The commands of a fleet: push, and its page."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

from limpet import address, fleet, pushing, settings
from limpet.cli import output
from limpet.errors import BadInput, Unavailable
from limpet.web.starting import Page

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from limpet.push.pusher import Pushed
    from limpet.settings import Settings


def push(args: argparse.Namespace) -> int:
    """Bring to a fleet all that it lacks, or make its schema."""
    chosen = settings.load(db=args.db)
    where = args.url or chosen.push
    if not address.is_address(where):
        said = f"{where[:80]!r} is no fleet's address." if where else "No fleet is named."
        raise BadInput(said, "limpet push postgresql://web1@db.example.org/limpet")
    if args.prepare:
        return _prepare(where, settings.secret(chosen.push_password_env), machine=args.json)
    progress = output.Progress("pushed")
    try:
        done = pushing.Pushing(chosen, where, args.name or "").once(lambda sofar: progress(_line(sofar)))
    finally:
        progress.end()
    if args.json:
        output.as_json(done._asdict())
        return 0
    output.data(_line(done))
    if done.warning:
        output.say(f"warning: {done.warning}")
    return 0


def page(chosen: Settings, show: Callable[[Mapping[str, Any]], None]) -> int:
    """Serve the page of a fleet until told to end: no sidecar belongs to it."""
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: over.set())
    serving = Page(chosen)
    try:
        told = serving.open()
        if "error" in told:
            raise Unavailable(told["error"]["message"], told["error"]["hint"], told["error"]["code"])
        output.say("This is the page of a fleet, until Ctrl-C.")
        show(told)
        over.wait()
    finally:
        serving.close()
    return 0


def _prepare(where: str, password: str, *, machine: bool) -> int:
    fleet.check_installed()
    from limpet.store.postgres import opening  # noqa: PLC0415 - psycopg, an extra

    number = opening.prepare(where, password)
    output.as_json({"schema": number}) if machine else output.data(f"the fleet's schema is number {number}")
    return 0


def _line(done: Pushed) -> str:
    return f"{done.machine}: {done.records:,} records and {done.events:,} events; the fleet holds all to {done.head:,}"
