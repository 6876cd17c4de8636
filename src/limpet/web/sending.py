"""A page that goes out while it is being made: what is known at once first, what takes longer as it comes.

The template says where with `then(part)`: all before it is sent, and then the part is made. So nothing that stands on
the page moves, it needs no script, and the order is that of the page. Not for the pages themselves.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from starlette.responses import HTMLResponse, Response, StreamingResponse

from limpet.errors import LimpetError
from limpet.web.pages import page, pieces

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from typing import Any

    Part = TypeVar("Part")
    Make = Callable[["Sheet"], None]


class Piece(NamedTuple):
    """A part of a page, with the page's status; `last` where nothing follows."""

    text: str
    status: int
    last: bool = False


class Sheet:
    """One page under way from the thread that makes it to the loop that sends it."""

    def __init__(self) -> None:
        """Begin with nothing; called in the loop."""
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Queue[Piece | LimpetError | None] = asyncio.Queue()
        self._made: list[str] = []
        self._status: int = HTTPStatus.OK

    def fill(self, template: str, values: Mapping[str, Any]) -> None:
        """Make the page of these values, in the calling thread; `status` among them is the page's."""
        self._status = values.get("status", HTTPStatus.OK)
        for text in pieces(template, **values, then=self._then):
            self._made.append(text)
        self._send(last=True)

    def _then(self, part: Callable[[], Part]) -> Part:
        self._send()
        return part()

    def _send(self, *, last: bool = False) -> None:
        piece = Piece("".join(self._made), self._status, last)
        self._made.clear()
        self._put(piece)

    def _put(self, piece: Piece | LimpetError | None) -> None:
        self._loop.call_soon_threadsafe(self._ready.put_nowait, piece)

    async def answer(self, making: Awaitable[None]) -> Response:
        """Return the answer once its first part is there; raises what prevents that."""
        task = asyncio.ensure_future(self._minded(making))
        first = await self._ready.get()
        if first is None:
            await task
            raise AssertionError("a page has a last piece, or an error")
        if isinstance(first, LimpetError):
            raise first
        if first.last:
            await task
            return HTMLResponse(first.text, first.status)
        return StreamingResponse(self._rest(first, task), first.status, media_type="text/html; charset=utf-8")

    async def _minded(self, making: Awaitable[None]) -> None:
        try:
            await making
        except LimpetError as error:
            self._put(error)
        finally:
            self._put(None)

    async def _rest(self, piece: Piece, task: asyncio.Future[None]) -> AsyncIterator[str]:
        """Yield the pieces; what goes wrong after the first one is said where the page ends then."""
        yield piece.text
        while not piece.last:
            found = await self._ready.get()
            if isinstance(found, LimpetError):
                yield page("cut.html", message=found.message, hint=found.hint)
            if not isinstance(found, Piece):
                break
            piece = found
            yield piece.text
        await task
