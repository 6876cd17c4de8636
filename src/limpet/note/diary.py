"""What is still to be noted, and what went wrong: `notes.json` in Limpet's own folder. Not for the notes themselves.

Losing it harms nothing: every day since set-up is then looked at again, and a note that stands is not changed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from limpet import jsonfile

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

FILE = "notes.json"
FAULTS = 50
"""So many are kept; the newest days stay."""

Key = tuple[date, str]
"""A local day and an agent."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a note could not be written (`failed`), or what is odd about one that was; since when, and last when."""

    why: str
    since_ms: int
    last_ms: int
    failed: bool = True


@dataclass(slots=True)
class Diary:
    """How far the events were looked at, and which notes are wanted.

    `seen` is the last record that was looked at and `mark` its id, which says that the ledger is still the same.
    `through` is the last local day that was due once. `unsettled` counts the things without an end, per note.
    """

    seen: int = 0
    mark: str = ""
    through: date | None = None
    pending: set[Key] = field(default_factory=set)
    unsettled: dict[Key, int] = field(default_factory=dict)
    troubles: dict[Key, Trouble] = field(default_factory=dict)
    last: dict[str, tuple[date, str, int]] = field(default_factory=dict)

    @classmethod
    def read(cls, home: Path) -> Self:
        """Return the diary of this folder; an empty one where there is none, or none that can be read."""
        try:
            said = jsonfile.read(home / FILE)
            return cls(
                seen=int(said["seen"]),
                mark=str(said["mark"]),
                through=date.fromisoformat(said["through"]) if said["through"] else None,
                pending={_key(one) for one in said["pending"]},
                unsettled={_key(one): int(n) for one, n in said["unsettled"]},
                troubles={_key(one): Trouble(**trouble) for one, trouble in said["troubles"]},
                last={agent: (date.fromisoformat(day), path, at) for agent, day, path, at in said["last"]},
            )
        except (OSError, ValueError, KeyError, TypeError, OverflowError):
            return cls()

    def write(self, home: Path) -> None:
        """Keep it, whole or not at all. Raises Unavailable."""
        said = {
            "seen": self.seen,
            "mark": self.mark,
            "through": self.through.isoformat() if self.through else None,
            "pending": [_said(key) for key in sorted(self.pending)],
            "unsettled": [(_said(key), n) for key, n in sorted(self.unsettled.items())],
            "troubles": [(_said(key), asdict(one)) for key, one in sorted(self.troubles.items())[-FAULTS:]],
            "last": [(agent, day.isoformat(), path, at) for agent, (day, path, at) in sorted(self.last.items())],
        }
        jsonfile.write(home / FILE, said)

    def done(self, key: Key, path: Path | None, now_ms: int, warning: str = "") -> None:
        """Note down that a note stands, or that there is nothing to say."""
        self.pending.discard(key)
        self.troubles.pop(key, None)
        if warning:
            self.troubles[key] = Trouble(warning, now_ms, now_ms, failed=False)
        if path is not None:
            self.last[key[1]] = (key[0], str(path), now_ms)

    def failed(self, key: Key, why: str, now_ms: int) -> None:
        """Note down why a note could not be written: it stays wanted."""
        known = self.troubles.get(key)
        since_ms = known.since_ms if known and known.failed else now_ms
        self.troubles[key] = Trouble(why, since_ms, now_ms)
        self.pending.add(key)


def _said(key: Key) -> tuple[str, str]:
    return key[0].isoformat(), key[1]


def _key(said: Any) -> Key:
    day, agent = said
    return date.fromisoformat(day), str(agent)
