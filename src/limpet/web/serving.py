"""The serving process: it listens on loopback, takes one-time links from the sidecar, and ends with it."""

from __future__ import annotations

import argparse
import json
import socket
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import uvicorn

from limpet import settings as settings_module
from limpet.errors import LimpetError, Unavailable
from limpet.web import keys as keys_module
from limpet.web.app import application

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limpet.settings import Settings
    from limpet.web.keys import Keys

LOOPBACK = "127.0.0.1"
PORT_FILE = "web.port"
GOING_S = 1
"""How long requests that are being answered may still take at the end."""


def main(arguments: Sequence[str]) -> int:
    """Serve until standard input ends. The first line that is said is the port, or the error."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--db")
    try:
        settings = settings_module.load(db=parser.parse_args(arguments).db)
        keys = keys_module.Keys(keys_module.token_in(settings.home))
        listening = listen(settings)
    except LimpetError as error:
        _say(error={"code": error.code, "message": error.message, "hint": error.hint})
        return error.exit_status
    serve(settings, keys, listening)
    return 0


def listen(settings: Settings) -> socket.socket:
    """Listen on the port that is set, else on the one of last time, else on any; raises Unavailable."""
    wanted = settings.web_port
    for port in (wanted,) if wanted else (_last_port(settings), 0):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((LOOPBACK, port))
            listening.listen()  # whoever is told the port may come at once
        except OSError:
            listening.close()
            continue
        _remember_port(settings, listening.getsockname()[1])
        return listening
    raise Unavailable(
        f"Port {wanted} of this machine is in use.", "Set another web_port in config.toml, or 0 for any.", "port_in_use"
    )


def serve(settings: Settings, keys: Keys, listening: socket.socket) -> None:
    """Answer requests until standard input ends, or the process is told to end."""
    port = listening.getsockname()[1]
    server = uvicorn.Server(
        uvicorn.Config(
            application(settings, keys, port),
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GOING_S,
        )
    )
    threading.Thread(target=_listen_to_the_sidecar, args=(keys, server), name="sidecar", daemon=True).start()
    _say(port=port)
    server.run(sockets=[listening])


def _listen_to_the_sidecar(keys: Keys, server: uvicorn.Server) -> None:
    """Take one-time links, a line of JSON each, until there are no more: then the sidecar is gone."""
    for line in sys.stdin:
        keys.add_link(json.loads(line)["key"])
        _say(ok=True)
    server.should_exit = True


def _say(**said: Any) -> None:
    with suppress(BrokenPipeError):
        print(json.dumps(said), flush=True)  # noqa: T201 - the sidecar reads it


def _last_port(settings: Settings) -> int:
    """Return the port of last time, so that bookmarks hold; 0 where there was none."""
    try:
        port = int((settings.home / PORT_FILE).read_text("ascii"))
    except (OSError, ValueError):
        return 0
    return port if 0 < port < 1 << 16 else 0


def _remember_port(settings: Settings, port: int) -> None:
    with suppress(OSError):
        path = settings.home / PORT_FILE
        path.touch(mode=0o600)
        path.write_text(f"{port}\n", "ascii")
