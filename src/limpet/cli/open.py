"""`limpet open`: the page in a browser; where no sidecar runs, it is one until it is told to end."""

from __future__ import annotations

import os
import threading
import webbrowser
from typing import TYPE_CHECKING, Any

from limpet import clock, door, settings, sidecar
from limpet.cli import fleet, output
from limpet.errors import Unavailable
from limpet.lock import Lock

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from limpet.settings import Settings

PATIENCE_S = 30.0
PAUSE_S = 0.05


def open_(args: argparse.Namespace) -> int:
    """Open the page; of a sidecar that runs, or of our own."""
    chosen = settings.load(db=args.db)
    if chosen.fleet:
        return fleet.page(chosen, lambda told: _show(told, args))
    end = clock.monotonic_s() + PATIENCE_S
    while clock.monotonic_s() < end:
        told = door.ask(chosen.socket, {"op": "open"}, PATIENCE_S)
        if told is not None:
            _show(told, args)
            return 0
        if not Lock(chosen.lock).is_held() and _was_the_sidecar(chosen, args):
            return 0
        clock.sleep(PAUSE_S)  # one is just beginning, or ending
    raise Unavailable("The sidecar does not answer.", "limpet doctor  says what it can see.")


def _was_the_sidecar(chosen: Settings, args: argparse.Namespace) -> bool:
    """Be the sidecar until told to end, and show the page as soon as it answers; False where another was faster."""
    problems: list[Unavailable] = []
    own = sidecar.Sidecar(chosen, output.say)
    over = threading.Event()

    def show() -> None:
        try:
            if told := _own_page(chosen, over):
                output.say("No sidecar ran here, so this is one until Ctrl-C.")
                _show(told, args)
        except Unavailable as problem:
            problems.append(problem)
            own.stop()

    threading.Thread(target=show, name="page", daemon=True).start()
    ran = own.run(until_eof=False)
    over.set()
    if problems:
        raise problems[0]
    return ran


def _own_page(chosen: Settings, over: threading.Event) -> Mapping[str, Any] | None:
    """Wait until this very process answers at the door, and return what it says of the page."""
    while not over.wait(PAUSE_S):
        hello = door.ask(chosen.socket, {"op": "hello"}, PATIENCE_S)
        if hello and hello.get("pid") == os.getpid():
            return door.ask(chosen.socket, {"op": "open"}, PATIENCE_S)
    return None


def _show(told: Mapping[str, Any], args: argparse.Namespace) -> None:
    if "error" in told:
        raise Unavailable(told["error"]["message"], told["error"]["hint"], told["error"]["code"])
    if args.json:
        output.as_json({"address": told["address"], "link": told["link"]})
    else:
        output.data(told["link"])
    output.flush()
    if not args.json:
        output.say("This link lets one browser in, once, within five minutes.")
    if not args.no_browser and settings.has_screen():
        webbrowser.open(told["link"])
