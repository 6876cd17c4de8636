"""The lock that one recorder holds: a kernel lock, so that it goes with its process. Not for what is recorded."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from limpet.errors import Unavailable
from limpet.folder import make_private

if TYPE_CHECKING:
    from pathlib import Path


class Lock:
    """The kernel lock: whoever holds it is the recorder; it goes with the process (field case F66)."""

    def __init__(self, path: Path) -> None:
        """Name the lock's file."""
        self._path = path
        self._fd = -1

    def take(self) -> bool:
        """Take the lock without waiting; False when another process holds it. Raises Unavailable when it cannot."""
        try:
            make_private(self._path.parent)
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise Unavailable(
                f"{self._path} cannot be opened: {error.strerror}.", "Check its owner and permissions."
            ) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            return False
        self._fd = fd
        return True

    def release(self) -> None:
        """Let go of the lock."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def is_held(self) -> bool:
        """Whether any process holds the lock now."""
        if self._fd >= 0:
            return True
        try:
            fd = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(fd)
        return False
