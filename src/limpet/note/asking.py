"""Ways to put a text to a model and get one back, bounded in time and size. Not for what is asked or believed."""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import select
import signal
import socket
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from limpet import clock, text
from limpet.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

TIMEOUT_S = 60.0
MOST_BYTES = 65_536
"""A longer answer is no paragraph: it is not read to its end."""

MOST_TOKENS = 1500
"""What a model may answer with, thinking included."""

GRACE_S = 5.0
"""How long OpenClaw may take to end after its answer."""

NEXT_NIGHT = "It is tried again with the next note."


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, which it was, and what that cost; the tokens are None where it does not say."""

    text: str
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None


class Asker(Protocol):
    """Somebody who can be asked."""

    def ask(self, order: str, data: str, agent: str) -> Reply:
        """Put the order and the data to the model of this agent. Raises Unavailable where no answer can be had."""


@dataclass(frozen=True, slots=True)
class OpenClaw:
    """OpenClaw's own configured model, by `openclaw infer model run`: no session, no tools, no running gateway needed.

    `program` is a name on PATH or a path; `model` is `provider/model`, "" for the one that the agent has. OpenClaw does
    not say what a run cost, and takes the prompt as an argument, which users of this machine may see while it runs.
    """

    program: str
    environment: Mapping[str, str]
    model: str = ""
    timeout_s: float = TIMEOUT_S

    def ask(self, order: str, data: str, agent: str) -> Reply:
        """Run the command to its end, or kill it with all that it has started."""
        command = [self.program, "infer", "model", "run", "--json", f"--prompt={order}\n\n{data}"]
        command += [f"--agent={agent}"] if agent else []
        command += [f"--model={self.model}"] if self.model else []
        try:
            process = subprocess.Popen(
                command,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise Unavailable(f"{self.program} cannot be started: {why}.", NEXT_NIGHT) from error
        return _openclaws_reply(_output(process, self.timeout_s))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint; `url` is its base (`http://127.0.0.1:11434/v1`) or its `/chat/completions`.

    The key goes out over HTTPS only, or to this machine; redirects and proxies are not followed.
    """

    url: str
    model: str = ""
    key: str = field(default="", repr=False)
    timeout_s: float = TIMEOUT_S

    def ask(self, order: str, data: str, agent: str) -> Reply:  # noqa: ARG002 - an endpoint knows no agents
        """Post one chat completion."""
        messages = [{"role": "system", "content": order}, {"role": "user", "content": data}]
        asked = {"messages": messages, "max_tokens": MOST_TOKENS, "stream": False}
        content = json.dumps({**asked, **({"model": self.model} if self.model else {})}).encode()
        return _endpoints_reply(self._posted(content), self.model)

    def _posted(self, content: bytes) -> bytes:
        """Exchange it in a thread: a server that sends a byte now and then would outlast any time-out of a socket."""
        exchange = _Exchange(self.url, self.key, content, self.timeout_s)
        threading.Thread(target=exchange.run, name="model", daemon=True).start()
        if not exchange.ended.wait(self.timeout_s):
            exchange.cut()
            raise Unavailable(f"The model at {exchange.host} took longer than {self.timeout_s:g} s.", NEXT_NIGHT)
        if exchange.fault:
            raise Unavailable(f"The model at {exchange.host} {exchange.fault}.", NEXT_NIGHT)
        return exchange.said


class _Exchange:
    """One request and its answer; `fault` says what went wrong."""

    def __init__(self, url: str, key: str, content: bytes, timeout_s: float) -> None:
        """Raise Unavailable where the address is none that may be asked."""
        parts = urlsplit(url)
        self.host = parts.netloc.rpartition("@")[2]
        secure = parts.scheme == "https"
        if key and not secure and not _is_here(parts.hostname or ""):
            raise Unavailable(f"The model's key is not sent to {self.host} unencrypted.", "Use https in note_model.")
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=2 * timeout_s)
        self._path = _completions(parts.path) + (f"?{parts.query}" if parts.query else "")
        self._key = key
        self._content = content
        self._socket: socket.socket | None = None
        self.ended = threading.Event()
        self.said = b""
        self.fault = ""

    def run(self) -> None:
        """Connect, ask, and read the answer as far as an answer may go."""
        try:
            self._connection.connect()
            self._socket = self._connection.sock
            self._connection.request("POST", self._path, self._content, self._headers())
            answer = self._connection.getresponse()
            self.said = answer.read(MOST_BYTES + 1)
            if answer.status != http.client.OK:
                self.fault = f"answered HTTP {answer.status}"
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.fault = f"gave no answer ({type(error).__name__})"
        finally:
            self._connection.close()
            self.ended.set()

    def cut(self) -> None:
        """End it from outside; the thread then ends by itself."""
        with suppress(OSError):
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_RDWR)

    def _headers(self) -> dict[str, str]:
        headers = {"content-type": "application/json", "accept": "application/json"}
        return {**headers, "authorization": f"Bearer {self._key}"} if self._key else headers


def _completions(path: str) -> str:
    path = path.rstrip("/") or "/v1"
    return path if path.endswith("/chat/completions") else f"{path}/chat/completions"


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _output(process: subprocess.Popen[bytes], timeout_s: float) -> bytes:
    """Return what the process prints, up to one byte more than an answer may have; it is gone afterwards."""
    end = clock.monotonic_s() + timeout_s
    said = b""
    assert process.stdout is not None  # noqa: S101 - it was asked for
    try:
        while len(said) <= MOST_BYTES:
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, end - clock.monotonic_s()))
            if not ready:
                raise Unavailable(f"OpenClaw's model took longer than {timeout_s:g} s.", NEXT_NIGHT)
            piece = os.read(process.stdout.fileno(), 65_536)
            if not piece:
                break
            said += piece
        else:
            return said
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
        return said
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()


def _openclaws_reply(said: bytes) -> Reply:
    value = _parsed(said, "OpenClaw's model")
    if value.get("ok") is False:
        raise Unavailable(f"OpenClaw's model: {_complaint(value)}", NEXT_NIGHT)
    outputs = value.get("outputs")
    first = outputs[0] if isinstance(outputs, list) and outputs else None
    words = first.get("text") if isinstance(first, dict) else None
    model = "/".join(part for name in ("provider", "model") if isinstance(part := value.get(name), str))
    return Reply(_words(words, "OpenClaw's model"), text.one_line(model, 80))


def _endpoints_reply(said: bytes, model: str) -> Reply:
    value = _parsed(said, "The model")
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    words = message.get("content") if isinstance(message, dict) else None
    named = value.get("model")
    usage = value.get("usage")
    cost = usage if isinstance(usage, dict) else {}
    return Reply(
        _words(words, "The model"),
        text.one_line(named if isinstance(named, str) else model, 80),
        _number(cost.get("prompt_tokens")),
        _number(cost.get("completion_tokens")),
    )


def _parsed(said: bytes, who: str) -> dict[str, Any]:
    if len(said) > MOST_BYTES:
        raise Unavailable(f"{who} answered more than {MOST_BYTES:,} bytes.", NEXT_NIGHT)
    try:
        value = json.loads(said)
    except (ValueError, RecursionError) as error:
        raise Unavailable(f"{who} answered something that is not JSON.", NEXT_NIGHT) from error
    if not isinstance(value, dict):
        raise Unavailable(f"{who} answered JSON of another shape.", NEXT_NIGHT)
    return value


def _words(words: Any, who: str) -> str:
    if not isinstance(words, str) or not words.strip():
        raise Unavailable(f"{who} answered nothing.", NEXT_NIGHT)
    return words


def _complaint(value: Mapping[str, Any]) -> str:
    error = value.get("error")
    said = error.get("message") if isinstance(error, dict) else None
    return text.one_line(said, 160) if isinstance(said, str) else "it failed without a word."


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else None
