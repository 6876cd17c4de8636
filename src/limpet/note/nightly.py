"""Makes the notes: one agent's day from the events into its file, and all that is due at an instant. Not for printing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date
    from pathlib import Path

    from limpet.coverage import Watched
    from limpet.note.plan import Plan
    from limpet.settings import Settings
    from limpet.store.sqlite import SqliteStore

    Draft = Callable[[Plan], tuple[str, str]]
    """A plan in a model's words, and why not: ("", reason) where it has none that hold."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one note: `written`, `unchanged`, `empty` (nothing to say) or `failed`, with the reason."""

    agent: str
    day: date
    path: Path | None
    result: str
    why: str = ""
    warning: str = ""


class Nightly:
    """The notes of one memory. Two of them at once wait for each other."""

    def __init__(
        self, settings: Settings, store: SqliteStore, watched: Watched, draft: Draft | None = None
    ) -> None:
        """Write from this store, opened for reading; `draft` words a plan."""

    def agents(self, first: date, last: date) -> Sequence[str]:
        """Return the agents that have a note of these local days: those with events of their own."""
        raise NotImplementedError

    def plan(self, agent: str, first: date, last: date) -> Plan:
        """Return what the note of this agent and these local days says."""
        raise NotImplementedError

    def write(self, agent: str, day: date) -> Outcome:
        """Write one note; a failure is kept for `status` and comes back as an Outcome."""
        raise NotImplementedError

    def look(self, now_ms: int) -> Sequence[Outcome]:
        """Write every note that is due: nights that were missed, oldest first, and days whose events have changed."""
        raise NotImplementedError
