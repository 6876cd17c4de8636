"""What no request gets past: its Host, its Origin, its method, its key; and the headers that every answer carries.

A page of the internet can make a browser send requests to loopback, with any name that it lets point there (DNS
rebinding) and with the cookie that the browser has: so the name is checked before anything else, then who it is that
asks (field cases F62, F63). Not for what is answered.
"""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, NamedTuple

from starlette.datastructures import Headers, MutableHeaders

from limpet.web.refusal import refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from limpet.web.keys import Keys

OPEN = ("/enter", "/static/")
"""What needs no key: the way in, and the files that lie in the package for everybody to read."""

NAMES = ("127.0.0.1", "localhost", "[::1]")
ALLOWED = ("GET", "HEAD")
"""Nothing can be changed here."""

POLICY = "; ".join(  # noqa: FLY002 - one rule a line
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class Refusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    code: str
    message: str
    hint: str


class Guard:
    """The outermost part of the application."""

    def __init__(self, app: ASGIApp, keys: Keys, port: int) -> None:
        """Let through to `app` what comes to this port of loopback with one of these keys."""
        self._app = app
        self._keys = keys
        self._hosts = frozenset(f"{name}:{port}" for name in NAMES)
        self._cookie = cookie_name(port)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http":
            return

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        problem = self._problem(scope)
        app = self._app if problem is None else refused(scope, *problem)
        await app(scope, receive, dressed)

    def _problem(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        if headers.getlist("host") != [headers.get("host")] or headers.get("host") not in self._hosts:
            return Refusal(
                403, "foreign_host", "This name is not Limpet's.", "Use the address that limpet open prints."
            )
        if _is_foreign(headers, scope["method"]):
            message = "Another web page asked for this, so it is not answered."
            return Refusal(403, "foreign_origin", message, "limpet open  opens the page itself.")
        if not scope["path"].startswith(OPEN) and not self._has_key(headers):
            message = "You are not let in: there is no valid key in this request."
            return Refusal(401, "no_key", message, "limpet open  gives a new link (for programs: docs/web.md).")
        if scope["method"] not in ALLOWED:
            return Refusal(405, "read_only", "Nothing can be changed here.", "Ask with GET.")
        return None

    def _has_key(self, headers: Headers) -> bool:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        return self._keys.opens(
            cookie=cookies_of(headers).get(self._cookie, ""),
            bearer=bearer.strip() if scheme.lower() == "bearer" else "",
        )


def cookie_name(port: int) -> str:
    """Return the name of the cookie: browsers keep one jar for all ports of a machine."""
    return f"limpet-{port}"


def cookies_of(headers: Headers) -> Mapping[str, str]:
    """Return the cookies of a request; what is no cookie is passed over."""
    found: dict[str, str] = {}
    for piece in ";".join(headers.getlist("cookie")).split(";"):
        try:
            found.update({name: one.value for name, one in SimpleCookie(piece.strip()).items()})
        except CookieError:
            continue
    return found


def _is_foreign(headers: Headers, method: str) -> bool:
    """Whether another page is behind the request; following a link to us is not that (Fetch Metadata, W3C)."""
    origin = headers.getlist("origin")
    if origin and origin != [f"http://{headers.get('host')}"]:
        return True
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return False
    follows = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return not (follows and method in ALLOWED)
