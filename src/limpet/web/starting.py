"""The sidecar's side of the page: it starts the serving process when somebody wants to look, and makes links."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from limpet import clock, settings
from limpet.errors import LimpetError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from limpet.settings import Settings

PATIENCE_S = 20.0
"""How long the process may take to start; it loads more than the sidecar does."""

BYE_S = 3.0


class Page:
    """The page of one sidecar: no process until it is opened, and never more than one."""

    def __init__(self, chosen: Settings) -> None:
        """Serve the memory of these settings."""
        self._settings = chosen
        self._process: subprocess.Popen[str] | None = None
        self._port = 0
        self._one = threading.Lock()

    def open(self) -> Mapping[str, Any]:
        """Return the page's address and a one-time link to it, or the error, as the door says it."""
        with self._one:
            try:
                self._start()
                key = clock.token(24)
                self._ask({"key": key})
            except LimpetError as error:
                self._stop()
                return {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
        address = f"http://127.0.0.1:{self._port}/"
        return {"ok": True, "address": address, "link": f"{address}enter?key={key}"}

    def close(self) -> None:
        """End the process."""
        with self._one:
            self._stop()

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        command = [sys.executable, "-m", "limpet.web"]
        if self._settings.origins["db"].kind == "flag" and not self._settings.fleet:
            command += ["--db", str(self._settings.db)]
        self._process = subprocess.Popen(
            command,
            env={**settings.for_child(self._settings)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self._port = int(self._heard()["port"])

    def _ask(self, said: Mapping[str, Any]) -> None:
        assert self._process is not None and self._process.stdin is not None  # noqa: S101, PT018 - it was started
        try:
            self._process.stdin.write(json.dumps(said) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise _silent() from error
        self._heard()

    def _heard(self) -> Mapping[str, Any]:
        """Return the next line that the process says; raises the error that it says, or Unavailable."""
        assert self._process is not None and self._process.stdout is not None  # noqa: S101, PT018
        ready, _, _ = select.select([self._process.stdout], [], [], PATIENCE_S)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            raise _silent()
        said: Mapping[str, Any] = json.loads(line)
        if "error" in said:
            raise Unavailable(said["error"]["message"], said["error"]["hint"], said["error"]["code"])
        return said

    def _stop(self) -> None:
        if self._process is None:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        try:
            self._process.wait(BYE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


def _silent() -> Unavailable:
    return Unavailable("The page's process does not start.", "limpet run  in a terminal shows why.", "no_page")
