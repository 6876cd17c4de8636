"""The application: every address, what answers it, and the guard before all of them. Not for starting it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from limpet import jsonline
from limpet.errors import LimpetError, NotFound
from limpet.web import api, description, parameters, refusal, showing, streaming
from limpet.web.guard import Guard, cookie_name
from limpet.web.pages import STATIC, page
from limpet.web.reading import Readers

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from limpet.settings import Settings
    from limpet.web.keys import Keys

    Endpoint = Callable[[Request], Awaitable[Response]]

JSON = "application/json"


def application(settings: Settings, keys: Keys, port: int) -> ASGIApp:
    """Return the whole application for one memory on one port of loopback."""
    readers = Readers(settings)
    routes = [
        Route("/enter", _enter(keys, port, readers)),
        Route("/api/openapi.json", _description),
        *(Route(_convertible(call.path), _call(call, readers)) for call in api.CALLS),
        *(Route(one.path, showing.showing(one, readers)) for one in showing.PAGES),
        Route("/ask.csv", showing.exporting(readers)),
        Route("/suggest", showing.suggestions(readers)),
        Route("/live/stream", streaming.answering(readers)),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    handlers: Any = {LimpetError: _told, HTTPException: _no_such_page}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), keys, port)


def _convertible(path: str) -> str:
    """Return a path of the API as the router reads it: a session's key may hold any sign."""
    return path.replace("{id}", "{id:path}")


def _enter(keys: Keys, port: int, readers: Readers) -> Endpoint:
    async def enter(request: Request) -> Response:
        cookie = keys.cookie_for(request.query_params.get("key", ""))
        if cookie is None:
            message = "This link was used already, or is too old."
            return refusal.refused(request.scope, 403, "used_link", message, "limpet open  gives a new one.")
        # Not a redirect: coming from another site, the browser would not send a strict cookie along with it.
        answer = HTMLResponse(page("enter.html"), background=BackgroundTask(readers.warm))
        answer.set_cookie(cookie_name(port), cookie, httponly=True, samesite="strict", path="/")
        return answer

    return enter


async def _description(_: Request) -> Response:
    return Response(jsonline.dump(description.described(api.CALLS)), media_type=JSON)


def _call(call: api.Call, readers: Readers) -> Endpoint:
    async def answer(request: Request) -> Response:
        given = parameters.read(call.takes, request.query_params.multi_items(), request.path_params)
        settings = replace(readers.settings, zone=given.get("tz") or readers.settings.zone)
        found = await readers.read(lambda memory: jsonline.dump(call.answer(memory, given)), settings)
        return Response(found, media_type=JSON)

    return answer


async def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, LimpetError)  # noqa: S101 - the table of handlers says so
    return refusal.of_error(request.scope, error)


async def _no_such_page(request: Request, _: Exception) -> Response:
    hint = (
        "What there is: /api/openapi.json" if refusal.is_of_the_api(request.url.path) else "Begin at the first page: /"
    )
    missing = NotFound("There is no such page.", hint)
    return refusal.of_error(request.scope, missing)
