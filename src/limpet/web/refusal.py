"""A refusal, as a page for people or as JSON for programs: one sentence, one hint, the same for every error."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import Response

from limpet import jsonline
from limpet.errors import BadInput, CheckFailed, LimpetError, NotFound, NotUnderstood, Unavailable
from limpet.web.pages import page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Scope

STATUSES: Mapping[type[LimpetError], int] = {
    NotUnderstood: HTTPStatus.BAD_REQUEST,
    BadInput: HTTPStatus.BAD_REQUEST,
    NotFound: HTTPStatus.NOT_FOUND,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    CheckFailed: HTTPStatus.SERVICE_UNAVAILABLE,
}
EXTRA: Mapping[int, Mapping[str, str]] = {
    401: {"www-authenticate": 'Bearer realm="limpet"'},
    405: {"allow": "GET, HEAD"},
}


def status_of(error: LimpetError) -> int:
    """Return the HTTP status of an error; a file that is no database is no fault of whoever asks."""
    if error.code in ("not_a_database", "damaged"):
        return HTTPStatus.SERVICE_UNAVAILABLE
    return next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)


def of_error(scope: Scope, error: LimpetError) -> Response:
    """Return the answer to a request that ended in this error."""
    return refused(scope, status_of(error), error.code, error.message, error.hint)


def is_of_the_api(path: str) -> bool:
    """Whether whoever asks for this is a program: it is answered in JSON."""
    return path == "/api" or path.startswith("/api/")


def refused(scope: Scope, status: int, code: str, message: str, hint: str) -> Response:
    """Return a refusal in the form that whoever asks can read."""
    extra = EXTRA.get(status, {})
    if is_of_the_api(scope["path"]):
        body = {"error": {"code": code, "message": message, "hint": hint}}
        return Response(jsonline.dump(body), status, dict(extra), "application/json")
    shown = page("refusal.html", status=status, title=HTTPStatus(status).phrase, message=message, hint=hint)
    return Response(shown, status, dict(extra), "text/html; charset=utf-8")
