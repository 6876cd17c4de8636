"""What an agent runtime must offer: its sources and what their records mean. Adding a runtime is adding one folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from limpet.model import Batch, Json


class Source(Protocol):
    """One resumable stream of records.

    `key` names its cursor. A cursor is a mapping of items (a spool segment, a session) to a JSON value; `read` gets the
    whole mapping and returns in `Batch.cursor` only the items that changed (None removes one). The recorder commits it
    in the same transaction as the records it covers. `read` never waits, gives a bounded batch, and raises
    `Unavailable` with a sentence when it cannot see (the recorder keeps that sentence for `status` and goes on).
    """

    key: str

    def read(self, cursor: Mapping[str, Json], now_ms: int) -> Batch:
        """Return what has come since the cursor, at most a bounded batch."""
        ...


class Runtime(Protocol):
    """A program that runs agents, as far as Limpet sees it."""

    name: str

    def sources(self) -> Sequence[Source]:
        """Return the streams that exist now; asked again and again, since agents come and go."""
        ...
