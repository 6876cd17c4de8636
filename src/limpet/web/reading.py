"""How the page reads: a memory of its own for each request, in a thread, never writing. Not for what is read."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread
import apsw

from limpet import door, faults
from limpet.errors import LimpetError
from limpet.interpreter.places import event_id
from limpet.memory import Memory
from limpet.store import opening
from limpet.web import pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from limpet.settings import Settings

Result = TypeVar("Result")

FRESH_S = 0.25
"""How long a question waits until what is pending has been taken in; what is left is part of the answer's bounds."""

AT_ONCE = 4
"""So many questions are answered at the same time: others wait, and recording does not."""


class Reader(Memory):
    """A memory that leaves taking in to the sidecar."""

    def __init__(self, settings: Settings, known: KnownAgents, *, fresh: bool = True) -> None:
        """Read by these settings; `fresh` waits a moment for what the spool holds."""
        super().__init__(settings)
        self._known = known
        self._fresh = fresh

    def names(self) -> Mapping[str, frozenset[str]]:
        """Return the names that a question may say; the agents as they are remembered."""
        return {"tool": frozenset(self.store.find.names("tool")), "agent": self._known.now(self)}

    def refresh(self, *, make: bool = False) -> None:  # noqa: ARG002 - the page makes nothing
        """Have the sidecar take in what is pending."""
        if self._fresh:
            door.ask(self.settings.socket, {"op": "drain", "seconds": FRESH_S}, FRESH_S * 2)


class KnownAgents:
    """The agents that events name, remembered: to look through a million events for them takes too long each time."""

    def __init__(self) -> None:
        """Know of none yet."""
        self._agents: frozenset[str] = frozenset()
        self._head = 0

    def now(self, memory: Memory) -> frozenset[str]:
        """Return all of them, after a look at what is new."""
        head = memory.head()
        find = memory.store.find
        if self._head == 0 or head < self._head:  # nothing known yet, or another database lies there
            self._agents = frozenset(find.names("agent"))
        elif head > self._head:
            self._agents |= frozenset(find.agents_since(event_id((self._head + 1, 0))))
        self._head = head
        return self._agents


class Readers:
    """The readers of one application."""

    def __init__(self, settings: Settings) -> None:
        """Read by these settings."""
        self.settings = settings
        self._known = KnownAgents()
        self._limit: anyio.CapacityLimiter | None = None

    async def warm(self) -> None:
        """Learn what the first question will want to know; a memory that cannot be read now says so later."""
        with suppress(LimpetError):
            await self.read(_warmed, self.settings, fresh=False)

    async def read(self, what: Callable[[Reader], Result], settings: Settings, *, fresh: bool = True) -> Result:
        """Return what a function makes of a memory, which is closed afterwards."""
        if self._limit is None:
            self._limit = anyio.CapacityLimiter(AT_ONCE)

        def inside() -> Result:
            with _told(settings), Reader(settings, self._known, fresh=fresh) as memory:
                return what(memory)

        return await anyio.to_thread.run_sync(inside, limiter=self._limit)


def _warmed(memory: Reader) -> None:
    pages.prepare()
    if memory.exists() and not memory.settings.fleet:
        memory.names()
        memory.notes()  # what it needs is loaded with it


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
