"""The pages: one table of addresses, what each shows, and the zone that its reader sits in. Not for the API."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from starlette.responses import JSONResponse, Response

from limpet import days
from limpet.errors import BadInput
from limpet.web import parameters, spreadsheet, suggesting
from limpet.web.clocks import Clocks
from limpet.web.guard import cookies_of
from limpet.web.parameters import LIMIT, NOW, OFFSET, TZ, Parameter, Q
from limpet.web.sending import Sheet
from limpet.web.views import ask, event, health, live, notes, session, today

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from starlette.requests import Request

    from limpet.web.reading import Reader, Readers

    View = Callable[[Reader, Mapping[str, Any], Clocks], Mapping[str, Any]]
    Endpoint = Callable[[Request], Awaitable[Response]]

ZONE_COOKIE = "limpet-zone"
DAY = Parameter("day", "text", "an ISO date", "")
ID = Parameter("id", "text", "a number or a name", needed=True, in_path=True)
FROM = Parameter("from", "text", "an event's number", "")
AFTER = Parameter("after", "integer", "a record's number", 0)
AGENT = Parameter("agent", "text", "an agent's name", "")
SOME_Q = replace(Q, needed=False, default="")


@dataclass(frozen=True, slots=True)
class Page:
    """One address: what it shows, in which template, under which heading of the menu, and what it takes.

    `of_agent` is for what Limpet words for an agent: it stands there as the agent has it, in the agent's zone.
    """

    path: str
    template: str
    view: View
    takes: Sequence[Parameter]
    menu: str = ""
    of_agent: bool = False


PAGES = (
    Page("/", "today.html", today.view, (DAY, TZ), "today"),
    Page("/ask", "ask.html", ask.view, (SOME_Q, LIMIT, OFFSET, NOW, TZ), "ask"),
    Page("/ask/chart", "chart.html", ask.chart, (Q, NOW, TZ)),
    Page("/event/{id}/inside", "inside.html", event.inside, (ID, TZ)),
    Page("/event/{id}", "event.html", event.view, (ID, TZ)),
    Page("/session/{id:path}", "session.html", session.view, (ID, FROM, TZ)),
    Page("/notes", "notes.html", notes.view, (DAY, TZ), "notes", of_agent=True),
    Page("/brief", "brief.html", notes.brief, (AGENT, TZ), "notes", of_agent=True),
    Page("/health", "health.html", health.view, (TZ,), "health"),
    Page("/live", "live.html", live.view, (TZ,), "live"),
    Page("/live/rows", "rows.html", live.news, (AFTER, TZ)),
)


def showing(one: Page, readers: Readers) -> Endpoint:
    """Return what answers a page's address."""

    async def show(request: Request) -> Response:
        given = parameters.read(one.takes, request.query_params.multi_items(), request.path_params)
        clocks = _clocks(request, given, readers)
        settings = replace(readers.settings, zone=clocks.agent_zone if one.of_agent else clocks.zone)

        sheet = Sheet()

        def make(memory: Reader) -> None:
            sheet.fill(one.template, {"q": "", **one.view(memory, given, clocks), "clocks": clocks, "menu": one.menu})

        return await sheet.answer(readers.read(make, settings, fresh=False))

    return show


def exporting(readers: Readers) -> Endpoint:
    """Return what answers the address of an answer as a spreadsheet."""

    async def export(request: Request) -> Response:
        given = parameters.read((Q, NOW, TZ), request.query_params.multi_items(), {})
        settings = replace(readers.settings, zone=_clocks(request, given, readers).zone)
        told = await readers.read(lambda m: spreadsheet.of(m.ask(given["q"], given["now"], spreadsheet.MOST)), settings)
        head = {"content-disposition": 'attachment; filename="limpet.csv"'}
        return Response(told, 200, head, "text/csv; charset=utf-8")

    return export


def suggestions(readers: Readers) -> Endpoint:
    """Return what answers with how a question might go on."""

    async def suggest(request: Request) -> Response:
        given = parameters.read((SOME_Q,), request.query_params.multi_items(), {})
        found = await readers.read(lambda m: suggesting.of(given["q"], m.names()), readers.settings, fresh=False)
        return JSONResponse(found)

    return suggest


def _clocks(request: Request, given: Mapping[str, Any], readers: Readers) -> Clocks:
    """Return the reader's zone: the one asked for, else what the browser said, else the user's own."""
    own = readers.settings.zone
    said = unquote(cookies_of(request.headers).get(ZONE_COOKIE, ""))
    try:
        days.zone(said or own)
    except BadInput:
        said = ""
    return Clocks(given.get("tz") or said or own, own)
