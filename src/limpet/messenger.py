"""The ways on which a sentence reaches a person: the user's own command, a channel of OpenClaw's, the desktop.

Each way is a command whose last argument is the sentence. They are kept in `ways.json`, where the plugin finds them
when the sidecar is dead. Not for what is said, nor when (alarm.py).
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from typing import TYPE_CHECKING

from limpet import jsonfile
from limpet.settings import for_child, has_desktop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from limpet.alarm import Message
    from limpet.settings import Settings

FILE = "ways.json"
TIMEOUT_S = 120.0
"""A command of OpenClaw's takes five to ten seconds; one that hangs is ended, and the next way is taken."""

Route = tuple[str, str, str]
"""A channel, whom it reaches there, and on which account ("" for the only one)."""


def ways(settings: Settings, route: Route | None) -> Sequence[Sequence[str]]:
    """Return the ways there are, best first; the last argument of each is still to come.

    The user's own command alone where one is set; no shell reads it. Without a channel the agent's main session is
    told, which says it on.
    """
    if settings.on_alarm:
        return [shlex.split(settings.on_alarm)]
    found = [["openclaw", "message", "send", *_to(route), "--message"]] if route else []
    if has_desktop():
        found.append(["notify-send", "--urgency=critical", "--app-name=Limpet", "Limpet"])
    return [*found, ["openclaw", "system", "event", "--mode", "next-heartbeat", "--text"]]


def keep(settings: Settings, found: Sequence[Sequence[str]]) -> None:
    """Write the ways down for the plugin. Raises Unavailable."""
    jsonfile.write(settings.home / FILE, {"after_s": settings.alarm_after_s, "ways": [list(way) for way in found]})


def deliver(settings: Settings, found: Sequence[Sequence[str]], message: Message) -> str:
    """Send the message on the first way that takes it; return that way's program, "" where none did."""
    environment = {
        **for_child(settings),
        "LIMPET_ALARM": message.text,
        "LIMPET_ALARM_STATE": "clear" if message.clear else "broken",
        "NO_COLOR": "1",
    }
    return next((way[0] for way in found if _is_taken([*way, message.text], environment)), "")


def _is_taken(command: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Run a command to its end, or kill it with all that it has started; whether it said that it worked."""
    try:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError):
        return False  # there is no such program here: that is what the other ways are for
    try:
        return process.wait(TIMEOUT_S) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False


def _to(route: Route) -> Sequence[str]:
    channel, target, account = route
    return ["--channel", channel, "--target", target, *(["--account", account] if account else [])]
