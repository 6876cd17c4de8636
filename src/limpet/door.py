"""The sidecar's Unix socket: one JSON line in, one out. Permission to the file is permission to ask."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import stat
import struct
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limpet import faults
from limpet.errors import LimpetError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LONGEST = 1 << 20
LONGEST_PATH = 100
"""A socket's path may have 104 bytes on some systems, 108 on Linux; a deep home needs a shorter one."""

PATIENCE_S = 5.0
"""How long one caller may take to say its line."""


def address_of(path: Path) -> Path:
    """Return where the socket of this name really lies: there, or, where that is too long, in a short folder."""
    if len(os.fsencode(path)) <= LONGEST_PATH:
        return path
    short = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return Path(f"/tmp/limpet-{os.getuid()}") / f"{short}.sock"  # noqa: S108 - 0700 and ours, checked in `Door.open`


class Door:
    """The listening end, in the sidecar."""

    def __init__(self, path: Path, answer: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        """Answer each line with `answer`; nothing is opened yet."""
        self._path = address_of(path)
        self._answer = answer
        self._socket: socket.socket | None = None

    def open(self) -> None:
        """Listen. The caller holds the recorder's lock, so a socket that lies there is a dead sidecar's and is removed.

        Raises Unavailable where something else lies there, or nothing can.
        """
        try:
            self._clear()
            self._listen()
        except OSError as error:
            raise Unavailable(
                f"The socket {self._path} cannot be made: {error.strerror}.",
                "Check that folder; where it is on a network: LIMPET_HOME=/var/lib/limpet limpet setup openclaw",
            ) from error
        threading.Thread(target=self._serve, name="door", daemon=True).start()

    def close(self) -> None:
        """Stop listening and take the socket away."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            with contextlib.suppress(OSError):
                self._path.unlink()

    def _clear(self) -> None:
        _private_folder(self._path.parent)
        try:
            mode = self._path.lstat().st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISSOCK(mode):
            raise Unavailable(f"{self._path} is in the way: it is no socket.", "Look at that file, and move it away.")
        self._path.unlink()

    def _listen(self) -> None:
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        old = os.umask(0o177)
        try:
            listening.bind(str(self._path))
        finally:
            os.umask(old)
        listening.listen(16)
        self._socket = listening

    def _serve(self) -> None:
        listening = self._socket
        while listening is not None:
            try:
                caller, _ = listening.accept()
            except OSError:
                return  # closed: the sidecar ends
            if is_trusted(_user_of(caller)):
                threading.Thread(target=self._talk, args=(caller,), name="caller", daemon=True).start()
            else:
                caller.close()

    def _talk(self, caller: socket.socket) -> None:
        with caller, contextlib.suppress(OSError):
            caller.settimeout(PATIENCE_S)
            line = _read_line(caller)
            caller.sendall(json.dumps(self._answered(line)).encode() + b"\n")

    def _answered(self, line: bytes) -> Mapping[str, Any]:
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            return {"error": {"code": "bad_input", "message": "That was not one line of JSON.", "hint": ""}}
        if not isinstance(request, dict):
            return {"error": {"code": "bad_input", "message": "A request is a JSON object.", "hint": ""}}
        try:
            return self._answer(request)
        except LimpetError as error:
            return {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
        except Exception as fault:  # noqa: BLE001 - the caller is told, and the others are answered all the same
            told = faults.kept(self._path.parent, fault)
            return {"error": {"code": told.code, "message": told.message, "hint": told.hint}}


def is_trusted(user: int | None) -> bool:
    """Whether a caller of this user id may ask: we ourselves and root; None where the system does not say."""
    return user is None or user in (os.getuid(), 0)


def _user_of(caller: socket.socket) -> int | None:
    """Return the user id of the process at the other end, as the kernel knows it; None where it does not tell."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    _, user, _ = struct.unpack("3i", caller.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    return int(user)


def ask(path: Path, request: Mapping[str, Any], seconds: float) -> Mapping[str, Any] | None:
    """Ask the sidecar and return its answer; None where no sidecar answers within that time."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC) as caller:
            caller.settimeout(seconds)
            caller.connect(str(address_of(path)))
            caller.sendall(json.dumps(request).encode() + b"\n")
            answer = json.loads(_read_line(caller))
    except (OSError, ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def _read_line(end: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n") and len(line) < LONGEST:
        piece = end.recv(65536)
        if not piece:
            break
        line += piece
    return line


def _private_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise Unavailable(f"{folder} is not a folder of yours.", "Look at it, and move it away.")
