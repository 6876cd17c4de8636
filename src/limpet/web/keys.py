"""Who may look: the token in a file, one-time links, and the cookies that come of them. Not for what a request may do.

The token is for programs (`Authorization: Bearer`) and stays; links and cookies live in this process and go with it.
"""

from __future__ import annotations

import hmac
import os
from typing import TYPE_CHECKING

from limpet import clock
from limpet.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path

FILE = "web.token"
TOKEN_BYTES = 32
LINK_S = 300.0
"""How long a one-time link can be used."""

MOST_COOKIES = 64
"""So many browsers may look at once; the one that came first has to come again."""


class Keys:
    """The keys of one serving process."""

    def __init__(self, token: str) -> None:
        """Take the token for programs."""
        self._token = token
        self._links: dict[str, float] = {}
        self._cookies: list[str] = []

    def add_link(self, secret: str) -> None:
        """Let a link with this secret be used, once and soon."""
        self._links[secret] = clock.monotonic_s() + LINK_S

    def cookie_for(self, secret: str) -> str | None:
        """Use a link up; return the new cookie's value, None for one that is unknown, used up or too old."""
        until = self._links.pop(secret, 0.0)
        if clock.monotonic_s() >= until:
            return None
        cookie = clock.token(TOKEN_BYTES)
        self._cookies = [*self._cookies, cookie][-MOST_COOKIES:]
        return cookie

    def opens(self, *, cookie: str, bearer: str) -> bool:
        """Whether this cookie, or this token, is one of ours; takes the same time for near and far ones."""
        given = cookie.encode("utf-8", "replace")
        known = [hmac.compare_digest(one.encode(), given) for one in self._cookies]
        return any(known) or hmac.compare_digest(self._token.encode(), bearer.encode("utf-8", "replace"))


def token_in(home: Path) -> str:
    """Return the token that lies in this home, made when there is none; raises Unavailable where that cannot be."""
    path = home / FILE
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.read_text("ascii").strip() if path.exists() else ""
        if len(found) == 2 * TOKEN_BYTES:
            path.chmod(0o600)
            return found
        return _made(path)
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable(f"{path} cannot be used: {error}.", f"Move {path} away; a new one is made.") from error


def _made(path: Path) -> str:
    """Write a new token, never readable by anybody else, and never half."""
    token, half = clock.token(TOKEN_BYTES), path.with_suffix(f".{clock.token(4)}")
    fd = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w") as file:
        file.write(token + "\n")
    half.replace(path)
    return token
