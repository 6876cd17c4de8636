"""A disk that loses power: a file system for SQLite that writes down what is done to it, and what is left after a cut.

Run as a program it records lines through that file system. Not for judging anything: what is right stands in the tests.
"""

from __future__ import annotations

import json
import pickle
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

SECTOR = 512
"""What a disk writes whole or not at all."""

Step = tuple[str, str, int, bytes]
"""What was done (`write`, `truncate`, `sync`, `delete`, `said`), to which file, where, and the bytes."""


class Diary(apsw.VFS):
    """The system's own file system for SQLite, with every change written down in a file, in its order."""

    def __init__(self, path: Path) -> None:
        """Write into this file; from now on every database of this process is opened here."""
        self._file = path.open("wb")
        super().__init__("diary", "unix", makedefault=True)

    def note(self, what: str, name: str = "", at: int = 0, content: bytes = b"") -> None:
        """Write down one step."""
        pickle.dump((what, name, at, content), self._file)

    def end(self) -> None:
        """Close the file."""
        self._file.close()

    def xOpen(self, name: Any, flags: list[int]) -> Watched:  # noqa: N802 - SQLite's names
        """Open a file whose changes are written down."""
        return Watched(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        """Delete a file; SQLite syncs the folder where that matters."""
        super().xDelete(filename, syncdir)
        self.note("delete", Path(filename).name)


class Watched(apsw.VFSFile):
    """One file of the diary's."""

    def __init__(self, diary: Diary, name: Any, flags: list[int]) -> None:
        """Open it as the system does."""
        self._diary = diary
        self._name = Path(name.filename() if isinstance(name, apsw.URIFilename) else str(name)).name
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        """Write, and note it."""
        self._diary.note("write", self._name, offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        """Cut, and note it."""
        self._diary.note("truncate", self._name, newsize)
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        """Sync, and note that it is done."""
        super().xSync(flags)
        self._diary.note("sync", self._name)


@dataclass
class Disk:
    """What is on the disk for certain, and what was done since to each file that is not synced yet."""

    synced: dict[str, bytearray] = field(default_factory=dict)
    unsynced: dict[str, list[Step]] = field(default_factory=dict)

    def do(self, step: Step) -> None:
        """Take one step: a sync makes all that was done to its file certain."""
        what, name, _, _ = step
        if what == "delete":
            self.synced.pop(name, None)
            self.unsynced.pop(name, None)
        elif what == "sync":
            content = self.synced.setdefault(name, bytearray())
            for one in self.unsynced.pop(name, []):
                _apply(content, one)
        elif what in ("write", "truncate"):
            self.unsynced.setdefault(name, []).append(step)

    def left(self, chance: random.Random | None = None) -> dict[str, bytes]:
        """Return the files after a cut now: what was synced, and of the rest nothing, or by `chance` any sectors."""
        files = {name: bytearray(content) for name, content in self.synced.items()}
        if chance is not None:
            for name, steps in self.unsynced.items():
                content = files.setdefault(name, bytearray())
                for one in _torn(steps, chance):
                    _apply(content, one)
        return {name: bytes(content) for name, content in files.items()}


def _torn(steps: list[Step], chance: random.Random) -> list[Step]:
    """Return the sectors of these steps that reached the disk, in the order in which they did: any."""
    sectors = [sector for step in steps for sector in _sectors(step)]
    some = [sector for sector in sectors if chance.random() < 0.5]
    chance.shuffle(some)
    return some


def _sectors(step: Step) -> Iterator[Step]:
    what, name, at, content = step
    if what != "write":
        yield step
        return
    for start in range(0, len(content), SECTOR):
        yield what, name, at + start, content[start : start + SECTOR]


def _apply(content: bytearray, step: Step) -> None:
    what, _, at, data = step
    if what == "truncate":
        del content[at:]
        return
    if len(content) < at:
        content.extend(bytes(at - len(content)))
    content[at : at + len(data)] = data


def steps_of(path: Path) -> Iterator[Step]:
    """Yield the steps of a diary."""
    with path.open("rb") as file:
        while True:
            try:
                yield pickle.load(file)  # noqa: S301 - our own
            except EOFError:
                return


def record(diary_path: Path, lines_path: Path, size: int) -> None:
    """Take lines in, `size` at a time, and say after each time how many of them were committed."""
    from lab import Lab

    diary = Diary(diary_path)
    lab = Lab(Path.cwd())
    lines = [json.loads(line) for line in lines_path.read_text().splitlines()]
    with lab.recording() as recording:
        for segment, start in enumerate(range(0, len(lines), size), start=1):
            lab.spool(lines[start : start + size], segment=segment)
            while recording.round():
                pass
            diary.note("said", at=min(start + size, len(lines)))
    diary.end()


if __name__ == "__main__":
    record(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
