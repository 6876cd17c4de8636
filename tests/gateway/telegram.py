"""A Telegram Bot API on loopback, with one person writing to the bot: a real channel without a network.

Not for anything but tests; after https://core.telegram.org/bots/api, as far as OpenClaw asks for it.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from typing import Self

TOKEN = "1234567:test-token"
PERSON = {"id": 4242, "is_bot": False, "first_name": "Ada", "username": "ada"}
BOT = {"id": 1234567, "is_bot": True, "first_name": "Bot", "username": "limpet_test_bot"}
CHAT = {"id": 4242, "type": "private", "first_name": "Ada"}
POLL_S = 2.0


@dataclass
class Telegram:
    """The server on a free port, as a context manager; `asked` holds each (method, parameters), `sent` what it sent.

    While `refuse` is set, sending is refused with that description, as when the person has blocked the bot.
    """

    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)
    refuse: str = ""

    def __enter__(self) -> Self:
        self._new = threading.Condition()
        self._updates: list[dict[str, Any]] = []
        self._next_id = 100
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.telegram = self
        self.root = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def channels(self) -> dict[str, Any]:
        """Return what stands under `channels` in OpenClaw's configuration."""
        who = {"dmPolicy": "allowlist", "allowFrom": [str(PERSON["id"])]}
        return {"telegram": {"enabled": True, "botToken": TOKEN, "apiRoot": self.root, **who}}

    def write(self, text: str) -> int:
        """Let the person write to the bot; return the message's id."""
        with self._new:
            message = self._message(text, PERSON)
            self._updates.append({"update_id": message["message_id"], "message": message})
            self._new.notify_all()
            return int(message["message_id"])

    def answer(self, method: str, params: dict[str, Any]) -> Any:
        """Return the result of a method; raises PermissionError where sending is refused."""
        self.asked.append((method, params))
        if method == "getUpdates":
            return self._poll(int(params.get("offset") or 0))
        if method.startswith("send") and method != "sendChatAction":
            return self._send(params)
        return {"getMe": BOT, "getWebhookInfo": {"url": ""}, "getChat": CHAT}.get(method, True)

    def _send(self, params: dict[str, Any]) -> dict[str, Any]:
        if self.refuse:
            raise PermissionError(self.refuse)
        with self._new:
            message = self._message(str(params.get("text", "")), BOT)
        self.sent.append(message)
        return message

    def _message(self, text: str, sender: dict[str, Any]) -> dict[str, Any]:
        self._next_id += 1
        return {"message_id": self._next_id, "from": sender, "chat": CHAT, "date": int(time.time()), "text": text}

    def _poll(self, offset: int) -> list[dict[str, Any]]:
        with self._new:
            self._new.wait_for(lambda: self._from(offset), POLL_S)
            return self._from(offset)

    def _from(self, offset: int) -> list[dict[str, Any]]:
        return [update for update in self._updates if update["update_id"] >= offset]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    telegram: Telegram


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Say nothing: `Telegram.asked` has it."""

    def do_GET(self) -> None:
        """Answer a method without parameters."""
        self._answer({})

    def do_POST(self) -> None:
        """Answer a method with parameters as JSON or as a form."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")
        as_json = "json" in self.headers.get("content-type", "")
        self._answer(json.loads(raw or "{}") if as_json else dict(parse_qsl(raw)))

    def _answer(self, params: dict[str, Any]) -> None:
        method = self.path.partition("?")[0].rsplit("/", 1)[-1]
        try:
            status, body = 200, {"ok": True, "result": self.server.telegram.answer(method, params)}
        except PermissionError as refused:
            status, body = 403, {"ok": False, "error_code": 403, "description": str(refused)}
        data = json.dumps(body).encode()
        with contextlib.suppress(ConnectionError):  # the gateway ended while it polled
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
