"""The model that claude-mem needs, scripted: it copies out all that it is shown, which no real model does."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from typing import Self

MOST = 16_000
"""Characters in an answer: about the 4,096 tokens that claude-mem allows."""

TOOL = re.compile(r"<what_happened>(.*?)</what_happened>.*?<parameters>(.*?)</outcome>", re.DOTALL)
SAID = re.compile(r"Claude's Full Response to User:\n(.*?)\n\nRespond in this XML format", re.DOTALL)
NOTHING = '<skip_summary reason="noise" />'


def answer(asked: str) -> str:
    """Return what the model answers to the last message: all of it, in the form that claude-mem reads."""
    if seen := TOOL.search(asked):
        told = f"<title>{_safe(seen[1])}</title><narrative>{_safe(seen[2])}</narrative>"
        return f"<observation><type>discovery</type>{told}</observation>"
    if said := SAID.search(asked):
        return f"<summary><request>all of it</request><completed>{_safe(said[1])}</completed></summary>"
    return NOTHING


@dataclass
class Observer:
    """The server on a free port of 127.0.0.1, as a context manager; `answered` counts what it was asked."""

    port: int = 0
    answered: int = 0

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.observer = self
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    observer: Observer


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer a chat completion."""
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.observer.answered += 1
        message = {"role": "assistant", "content": answer(asked["messages"][-1]["content"])}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        data = json.dumps({"id": "scripted", "choices": choices, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _safe(text: str) -> str:
    plain = re.sub(r"</?\w+>", " ", text)
    return escape(plain[:MOST])
