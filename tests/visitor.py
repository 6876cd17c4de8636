"""A visitor of the page: real requests to a real serving process. Not for judging answers."""

from __future__ import annotations

import http.client
import json
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from limpet.web.keys import FILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lab import Lab


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, as JSON."""
        return json.loads(self.body)

    @property
    def text(self) -> str:
        """The body, as text."""
        return self.body.decode()


@dataclass(frozen=True)
class Visitor:
    """Somebody who asks at `port`, with these headers on every request."""

    port: int
    link: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, lab: Lab, told: Mapping[str, Any]) -> Visitor:
        """Return a visitor with the token for programs, of a page as `open --json` tells of it."""
        token = (lab.home / FILE).read_text().strip()
        port = urlsplit(told["address"]).port
        assert port
        return cls(port, told["link"], {"Authorization": f"Bearer {token}"})

    @property
    def address(self) -> str:
        """The page's first address, without the last slash."""
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, **parameters: Any) -> Reply:
        """Ask for a path; parameters go into the address."""
        return self.send("GET", f"{path}?{urlencode(parameters)}" if parameters else path)

    def send(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Reply:
        """Send one request as it is."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, quote(path, safe="/?&=%:+"), body, {**self.headers, **(headers or {})})
            answer = connection.getresponse()
            return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())


@contextmanager
def visiting(lab: Lab, **environment: str) -> Iterator[Visitor]:
    """Run the sidecar, have the page opened as a user does, and visit it with the token for programs."""
    with lab.sidecar(**environment):
        yield opened(lab)


def opened(lab: Lab) -> Visitor:
    """Return a visitor of the page of the sidecar that runs."""
    done = lab.limpet("open", "--no-browser", "--json")
    assert done.status == 0, done.out + done.err
    return Visitor.of(lab, done.json)


def stranger(visitor: Visitor) -> Visitor:
    """Return somebody at the same page who has no key."""
    return Visitor(visitor.port, visitor.link)


def browser(visitor: Visitor) -> Visitor:
    """Return a browser that used the one-time link."""
    reply = stranger(visitor).send("GET", visitor.link.partition(str(visitor.port))[2])
    assert reply.status == 200
    return Visitor(visitor.port, visitor.link, {"Cookie": reply.headers["set-cookie"].partition(";")[0]})
