"""The live stream: every reader is told, within a moment, the number of the newest record, and no more than that."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse

from limpet.errors import LimpetError, Unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from limpet.web.reading import Reader, Readers

LOOK_S = 0.25
"""How often is looked whether there is anything new, while anybody reads."""

BEAT_S = 15.0
"""How often a silent stream shows that it lives."""

MOST = 32
"""So many readers are told at once: each holds a connection."""


class Pulse:
    """Looks for new records once for all readers."""

    def __init__(self, readers: Readers) -> None:
        """Look into the memory that these read."""
        self._readers = readers
        self._listening = 0
        self._head = -1
        self._changed = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    async def stream(self, _: Request) -> Response:
        """Answer with a stream of numbers (server-sent events, WHATWG HTML 9.2)."""
        if self._listening >= MOST:
            raise Unavailable(f"{MOST} pages are open already.", "Close some.", "too_many")
        return StreamingResponse(self._numbers(), media_type="text/event-stream")

    async def _numbers(self) -> AsyncIterator[str]:
        self._listening += 1
        try:
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._look())
            yield "retry: 1000\n\n"
            seen = -1
            while True:
                if self._head != seen:
                    seen = self._head
                    yield f"data: {seen}\n\n"
                changed = self._changed
                try:
                    await asyncio.wait_for(changed.wait(), BEAT_S)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self._listening -= 1

    async def _look(self) -> None:
        while self._listening:
            with suppress(LimpetError):  # a database that is not there, or locked, may be back soon
                head = await self._readers.read(_head, self._readers.settings, fresh=False)
                if head != self._head:
                    self._head = head
                    changed, self._changed = self._changed, asyncio.Event()
                    changed.set()
            await asyncio.sleep(LOOK_S)


def _head(memory: Reader) -> int:
    return memory.head() if memory.exists() else 0


def answering(readers: Readers) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers the stream's address; its pulse begins with the first reader."""
    pulses: list[Pulse] = []

    async def answer(request: Request) -> Response:
        if not pulses:
            pulses.append(Pulse(readers))
        return await pulses[0].stream(request)

    return answer
