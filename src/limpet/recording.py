"""Recording: the sources there are, and the rounds in which they are taken in."""

from __future__ import annotations

import contextlib
import logging
import os
import stat
from functools import cached_property
from typing import TYPE_CHECKING

from limpet import clock
from limpet.burial import KEPT_FROM
from limpet.errors import Unavailable
from limpet.folder import make_private
from limpet.quarantine import Quarantine
from limpet.recorder import Recorder
from limpet.runtimes.openclaw.runtime import OpenClaw
from limpet.spool.reader import SpoolSource
from limpet.store import graveyard
from limpet.store.opening import TAKEN_OVER
from limpet.store.search import path_of
from limpet.store.sqlite import SqliteStore
from limpet.store.takeover import TakeOver

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from limpet.model import Json
    from limpet.redact import Redactor
    from limpet.runtimes.runtime import Source
    from limpet.settings import Settings

KEY_FILE = "redaction.key"
TAKEN_OVER_SAID = """%s was the script's and is Limpet's now: every row is kept, and a backup lies at %s.
The script's own code can no longer write to it. Replace its functions by this line:
    from limpet import init_db, log_event, log_tool_call, log_error, get_recent_events, get_session_timeline"""

SPOOL_ROUNDS = 8
"""Batches of the spool that one round takes before it looks at the other sources."""


class LateRedactor:
    """The redactor, made when the first record needs it: a question that finds nothing new need not wait for it."""

    def __init__(self, settings: Settings) -> None:
        """Make it with the key that lies in this home, and with the user's own kinds of secrets."""
        self._settings = settings

    def redact(self, value: Json) -> tuple[Json, Mapping[str, int]]:
        """Return the value without secrets, and how many there were by kind."""
        return self._made.redact(value)

    def redact_text(self, said: str) -> tuple[str, Mapping[str, int]]:
        """Return a text without secrets, and how many there were by kind."""
        return self._made.redact_text(said)

    def redact_bytes(self, content: bytes) -> bytes:
        """Return bytes that are no JSON, without secrets."""
        return self._made.redact_bytes(content)

    @cached_property
    def _made(self) -> Redactor:
        from limpet.redact import Redactor  # noqa: PLC0415 - its patterns take longer to load than all else

        return Redactor(key_of(self._settings.home), tuple(self._settings.secrets.items()))


class Recording:
    """A recorder at work: made only by whoever holds the lock."""

    def __init__(self, settings: Settings, store: SqliteStore) -> None:
        """Take in the sources of these settings into this store."""
        self._settings = settings
        self.store = store
        self.redactor = LateRedactor(settings)
        self.recorder = Recorder(store, self.redactor, Quarantine(settings.quarantine))
        self._spool = SpoolSource(settings.spool)
        self._openclaw = OpenClaw(settings.state)
        self._script = TakeOver(store.connection, settings.zone)

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Open the store for writing and return the recording on it."""
        _close_to_others(settings)
        recording = cls(settings, SqliteStore(settings.db, writing=True))
        recording._tell()
        recording._bury_again()
        return recording

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def _tell(self) -> None:
        """Say, once, that the script's database was taken over: its own code can no longer write to it."""
        backup = self.store.state.meta(TAKEN_OVER)
        if backup:
            with self.store.transaction():
                self.store.state.put_meta(TAKEN_OVER, "")
            logging.getLogger("limpet").warning(TAKEN_OVER_SAID, self.store.path, backup)

    def _bury_again(self) -> None:
        """Write down a second time what must not come back, where that was never done."""
        store = self.store
        if store.custody.count_tombstones() and graveyard.read(store.path) is None:
            graveyard.bury(store.path, store.custody.tombstones(), int(store.state.meta(KEPT_FROM) or 0))

    def round(self, *, everything: bool = True) -> bool:
        """Take in what is there now, new events first; return whether there is more.

        With `everything` false only the spool is looked at: it is where new events come in, many times a second.
        """
        more = self._drain_spool()
        if everything:
            self.store.shorten_log()
            for source in self._others():
                _, source_more = self.recorder.take(source, clock.now_ms())
                more = self._drain_spool() or source_more or more
        indexed = self.recorder.index()
        return more or indexed > 0

    def drain(self, seconds: float) -> int:
        """Take in what is pending for at most that long; return how many bytes still wait."""
        end = clock.monotonic_s() + seconds
        while self.round() and clock.monotonic_s() < end:
            pass
        return self._spool.pending_bytes(self.store.state.cursor("spool"), clock.now_ms())

    def history_left(self) -> int:
        """Return how many entries of OpenClaw's transcripts are still to be brought in, as far as is known."""
        return self._openclaw.left()

    def _drain_spool(self) -> bool:
        if not self._settings.owns_spool:
            return False
        for _ in range(SPOOL_ROUNDS):
            self.store.check_in_place()  # before anything that a deleted file holds is deleted from the spool
            _, more = self.recorder.take(self._spool, clock.now_ms())
            if not more:
                return False
            self.recorder.index()  # while the texts are at hand: read back later they cost as much as the rest
        return True

    def _others(self) -> Sequence[Source]:
        script: list[Source] = [self._script] if self._script.exists() else []
        if not self._settings.owns_spool:
            return script
        return [*script, *(self._openclaw.sources() if self._settings.history else ())]


def _close_to_others(settings: Settings) -> None:
    """Take what others may do with Limpet's own files from them, where somebody has allowed it (field case F74)."""
    index = path_of(settings.db)
    files = [file.with_name(file.name + suffix) for file in (settings.db, index) for suffix in ("", "-wal", "-shm")]
    for path in (settings.home, settings.spool, settings.quarantine, settings.home / KEY_FILE, *files):
        with contextlib.suppress(OSError):  # not there, or not ours: whoever opens it will hear of it
            found = path.lstat()
            if found.st_uid == os.getuid() and found.st_mode & 0o077 and _may_be_closed(found.st_mode):
                path.chmod(stat.S_IMODE(found.st_mode) & 0o700)


def _may_be_closed(mode: int) -> bool:
    """Whether it is a file, or a folder that is not everybody's, such as /tmp: somebody may name a device, too."""
    return stat.S_ISREG(mode) or (stat.S_ISDIR(mode) and not mode & stat.S_ISVTX)


def key_of(home: Path) -> bytes:
    """Return the key of the masks' fingerprints, made at first use; it lies beside the database, not in it.

    Raises Unavailable where it can neither be read nor made: nothing may be recorded without it.
    """
    path = home / KEY_FILE
    try:
        return path.read_bytes() if path.exists() else _new_key(path)
    except OSError as error:
        raise Unavailable(f"{path} cannot be used: {error.strerror}.", "Check the disk and its permissions.") from error


def _new_key(path: Path) -> bytes:
    """Make the key, whole or not at all: of two processes that make one at once, the first one's stays."""
    make_private(path.parent)
    made = path.with_name(f"{path.name}.{os.getpid()}")
    fd = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(clock.nonce() + clock.nonce())
        with contextlib.suppress(FileExistsError):
            os.link(made, path)
    finally:
        made.unlink()
    return path.read_bytes()
