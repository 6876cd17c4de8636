"""A desktop's notification service on a D-Bus session bus of its own: takes what `notify-send` sends and writes it down.

A program: `desktop.py FILE` puts a line of JSON for each notification into FILE, as freedesktop.org's specification
says a server must answer. `Desktop` runs it. Not for showing anything.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jeepney import HeaderFields, MessageType, new_error, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

from lab import until

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from jeepney import Message

NAME = "org.freedesktop.Notifications"
ABOUT = ("limpet's tests", "limpet", "1", "1.2")


class Desktop:
    """A session bus with a notification service on it; `environment` is what makes a program find it."""

    def __init__(self, folder: Path) -> None:
        """Keep what is notified in this folder."""
        self._said = folder / "notified.jsonl"
        self._processes: list[subprocess.Popen[str]] = []
        self.environment: dict[str, str] = {}

    def __enter__(self) -> Self:
        if not (shutil.which("notify-send") and shutil.which("dbus-daemon")):
            pytest.skip("there is no notify-send here (apt-get install libnotify-bin dbus-daemon)")
        bus = self._start("dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1")
        assert bus.stdout is not None
        self.environment = {"DBUS_SESSION_BUS_ADDRESS": bus.stdout.readline().strip()}
        self._start(sys.executable, str(Path(__file__)), str(self._said), **self.environment)
        until(self._said.exists, "the desktop takes notifications")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._processes):
            process.terminate()
            process.communicate()

    def _start(self, *command: str, **environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**environment, "PATH": "/usr/bin:/bin"}
        )
        self._processes.append(process)
        return process

    @property
    def notified(self) -> Sequence[dict[str, Any]]:
        """What was notified, oldest first: `app`, `title`, `text`, `urgency` (2: critical)."""
        return [json.loads(line) for line in self._said.read_text().splitlines()]


def serve(said: Path) -> None:
    """Answer as a notification service until ended."""
    with open_dbus_connection() as connection:
        connection.send_and_get_reply(message_bus.RequestName(NAME))
        said.touch()
        while True:
            message = connection.receive()
            if message.header.message_type == MessageType.method_call:
                connection.send(_answer(message, said))


def _answer(message: Message, said: Path) -> Message:
    method = message.header.fields.get(HeaderFields.member)
    if method == "Notify":
        app, _, _, title, text, _, hints, _ = message.body
        with said.open("a") as file:
            file.write(json.dumps({"app": app, "title": title, "text": text, "urgency": hints["urgency"][1]}) + "\n")
        return new_method_return(message, "u", (1,))
    if method == "GetServerInformation":
        return new_method_return(message, "ssss", ABOUT)
    if method == "GetCapabilities":
        return new_method_return(message, "as", (["body"],))
    return new_error(message, "org.freedesktop.DBus.Error.UnknownMethod")


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
