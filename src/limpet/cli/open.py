"""`limpet open`: the page in a browser; where no sidecar runs, it is one until it is told to end."""

from __future__ import annotations

import threading
import webbrowser
from typing import TYPE_CHECKING, Any

from limpet import clock, door, settings, sidecar
from limpet.cli import fleet, output
from limpet.errors import Unavailable

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
    if not _is_there(chosen):
        return _alone(chosen, args)
    _show(_asked(chosen), args)
    return 0


def _alone(chosen: Settings, args: argparse.Namespace) -> int:
    """Be the sidecar, and show the page as soon as it answers."""
    output.say("No sidecar runs here, so this is one until Ctrl-C.")
    problems: list[Unavailable] = []
    own = sidecar.Sidecar(chosen, output.say)

    def show() -> None:
        try:
            _show(_asked(chosen), args)
        except Unavailable as problem:
            problems.append(problem)
            own.stop()

    threading.Thread(target=show, name="page", daemon=True).start()
    if not own.run(until_eof=False):  # another one was faster
        _show(_asked(chosen), args)
    if problems:
        raise problems[0]
    return 0


def _is_there(chosen: Settings) -> bool:
    return door.ask(chosen.socket, {"op": "hello"}, PATIENCE_S) is not None


def _asked(chosen: Settings) -> Mapping[str, Any]:
    """Return the page's address and link; raises Unavailable."""
    end = clock.monotonic_s() + PATIENCE_S
    while (told := door.ask(chosen.socket, {"op": "open"}, PATIENCE_S)) is None and clock.monotonic_s() < end:
        clock.sleep(PAUSE_S)
    if told is None:
        raise Unavailable("The sidecar does not answer.", "limpet doctor  says what it can see.")
    if "error" in told:
        raise Unavailable(told["error"]["message"], told["error"]["hint"], told["error"]["code"])
    return told


def _show(told: Mapping[str, Any], args: argparse.Namespace) -> None:
    if args.json:
        output.as_json({"address": told["address"], "link": told["link"]})
    else:
        output.data(told["link"])
        output.flush()
        output.say("This link lets one browser in, once, within five minutes.")
    if not args.no_browser and settings.has_screen():
        webbrowser.open(told["link"])
