"""The producing end of the spool, for Python programs: one line per event, durable before `append` returns."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING

from limpet import clock, jsonline
from limpet.errors import BadInput, Unavailable

if TYPE_CHECKING:
    from pathlib import Path

    from limpet.model import Json

SEGMENT_BYTES = 1 << 20
PRODUCER_FILE = "producer.json"


class Writer:
    """One producer: a folder of its own in the spool, and in it the segment it now appends to."""

    def __init__(self, spool: Path, source: str) -> None:
        """Name the spool folder and the source that the lines belong to; nothing is created until the first line."""
        self.producer = clock.uuid7()
        self.folder = spool / self.producer
        self._source = source
        self._seq = 0
        self._segment = 0
        self._fd = -1
        self._pid = os.getpid()
        self._lock = threading.Lock()

    def append(self, hook: str, event: Json, ctx: Json) -> str:
        """Append one event and return its id once it would survive a power cut.

        Raises Unavailable where it cannot be written, BadInput where it is too large to be read again.
        """
        with self._lock:
            self._after_fork()
            line_id = clock.uuid7()
            line = {
                "v": 1,
                "id": line_id,
                "producer": self.producer,
                "seq": self._seq + 1,
                "ts": clock.now_ms(),
                "source": self._source,
                "hook": hook,
                "ctx": ctx,
                "event": event,
            }
            content = jsonline.dump(line) + b"\n"
            if len(content) > jsonline.MAX_LINE:
                raise BadInput(
                    f"The event has {len(content):,} bytes; at most {jsonline.MAX_LINE:,} can be kept.",
                    "Log a part of it, or the name of a file that holds it.",
                    "too_large",
                )
            try:
                self._write(content)
            except OSError as error:
                raise Unavailable(
                    f"The event could not be written to {self.folder}: {error.strerror}.",
                    "Check the disk and the permissions of that folder; `limpet doctor` shows where it is.",
                ) from error
            self._seq += 1
            return line_id

    def close(self) -> None:
        """Let go of the segment; the reader sees that this producer is gone when the process ends."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _after_fork(self) -> None:
        # A forked child that went on with its parent's folder would give the parent's numbers a second time.
        if os.getpid() != self._pid:
            self.__init__(self.folder.parent, self._source)  # type: ignore[misc]

    def _write(self, line: bytes) -> None:
        if self._fd < 0 or os.fstat(self._fd).st_nlink == 0 or os.fstat(self._fd).st_size >= SEGMENT_BYTES:
            self._open_next()
        if os.write(self._fd, line) != len(line):
            # The rest of a torn line must not become the head of the next one.
            self.close()
            self._open_next()
            os.write(self._fd, line)
        os.fdatasync(self._fd)

    def _open_next(self) -> None:
        self.close()
        if not self.folder.is_dir():
            self._make_folder()
        self._segment += 1
        path = self.folder / f"{self._segment}.jsonl"
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        _sync_folder(self.folder)

    def _make_folder(self) -> None:
        old = os.umask(0o077)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        finally:
            os.umask(old)
        identity = json.dumps(
            {
                "pid": self._pid,
                "start": clock.process_start(self._pid),
                "boot": clock.boot_id(),
                "ns": clock.pid_space(),
            }
        )
        fd = os.open(self.folder / PRODUCER_FILE, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(identity)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
