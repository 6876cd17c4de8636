"""How the page reads: a memory of its own for each request, in a thread, never writing. Not for what is read."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread
import apsw

from limpet import door, faults
from limpet.errors import LimpetError
from limpet.memory import Memory
from limpet.store import opening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from limpet.settings import Settings

Result = TypeVar("Result")

FRESH_S = 0.25
"""How long a question waits until what is pending has been taken in; what is left is part of the answer's bounds."""

AT_ONCE = 4
"""So many questions are answered at the same time: others wait, and recording does not."""


class Reader(Memory):
    """A memory that leaves taking in to the sidecar."""

    def __init__(self, settings: Settings, *, fresh: bool = True) -> None:
        """Read by these settings; `fresh` waits a moment for what the spool holds."""
        super().__init__(settings)
        self._fresh = fresh

    def refresh(self, *, make: bool = False) -> None:  # noqa: ARG002 - the page makes nothing
        """Have the sidecar take in what is pending."""
        if self._fresh:
            door.ask(self.settings.socket, {"op": "drain", "seconds": FRESH_S}, FRESH_S * 2)


class Readers:
    """The readers of one application."""

    def __init__(self, settings: Settings) -> None:
        """Read by these settings."""
        self.settings = settings
        self._limit: anyio.CapacityLimiter | None = None

    async def read(self, what: Callable[[Reader], Result], settings: Settings, *, fresh: bool = True) -> Result:
        """Return what a function makes of a memory, which is closed afterwards."""
        if self._limit is None:
            self._limit = anyio.CapacityLimiter(AT_ONCE)

        def inside() -> Result:
            with _told(settings), Reader(settings, fresh=fresh) as memory:
                return what(memory)

        return await anyio.to_thread.run_sync(inside, limiter=self._limit)


@contextmanager
def _told(settings: Settings) -> Iterator[None]:
    """Make of everything that goes wrong an error that can be told."""
    try:
        yield
    except LimpetError:
        raise
    except apsw.Error as error:
        raise opening.explained(error, settings.db) from error
    except Exception as fault:
        raise faults.kept(settings.home, fault) from fault
