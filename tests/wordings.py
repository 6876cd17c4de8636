"""A day's plan to be worded, a good wording of it, and a model of our own on loopback. Not for judging anything."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from limpet.note.plan import Plan
from limpet.note.statement import Counts, Statement

if TYPE_CHECKING:
    from typing import Self

STATEMENTS = (
    Statement(
        "asked", "was asked by the owner: “move the site to port 9443, and do not touch \\*.old”", (4096,), first_ms=1
    ),
    Statement("done", "ran `make deploy` 14 times, 2 without success", (8192, 12288, 16384), count=14, first_ms=2),
    Statement("file", "wrote `/srv/site/deploy.conf` at 14:02", (20480,), first_ms=3),
    Statement(
        "failed",
        "`rsync -a photos/ /mnt/backup/` failed 3 times: “No space left on device”",
        (24576, 24577),
        first_ms=4,
    ),
    Statement("open", "`sleep 600` was interrupted by a restart of the gateway", (28672,), first_ms=5),
    Statement("cron", "the job `nightly` ran once and succeeded", (32768,), first_ms=6),
)
PLAN = Plan(
    agent="press",
    first=date(2026, 10, 25),
    last=date(2026, 10, 25),
    zone="Europe/Berlin",
    from_ms=0,
    until_ms=1,
    counts=Counts(calls=21, failed=5),
    statements=STATEMENTS,
)
PARAGRAPH = "The deterministic paragraph."
GOOD = (
    "On Sunday, 25 October 2026, the agent was asked by the owner “move the site to port 9443, and do not touch \\*.old” "
    "[4096]. It then ran `make deploy` fourteen times, twice without success [8192, 12288], and wrote "
    "`/srv/site/deploy.conf` at 14:02 [20480]. The command `rsync -a photos/ /mnt/backup/` failed three times [24576]. "
    "Later `sleep 600` was interrupted by a restart of the gateway [28672]. The job `nightly` ran once and succeeded [32768]."
)
"""Words of the plan, put otherwise: numbers in words, sentences joined, a statement cut short."""


def completion(text: str, **more: Any) -> dict[str, Any]:
    """Return a chat completion that says this."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"object": "chat.completion", "model": "ours-1", "choices": [choice], **more}


USAGE = {"prompt_tokens": 812, "completion_tokens": 96}


@dataclass
class Model:
    """A model on a free port of 127.0.0.1 that answers every request with `body` and `status`, after `wait_s` seconds.

    `slowly` sends a byte every tenth of a second instead. `asked` holds what was asked, `headers` with which headers.
    """

    body: bytes = b""
    status: int = 200
    wait_s: float = 0.0
    slowly: bool = False
    asked: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        self.over = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()

    def says(self, text: str, **more: Any) -> None:
        """Let it answer with this text."""
        self.body = json.dumps(completion(text, usage=USAGE, **more)).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    model: Model


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer as the test wants it."""
        model = self.server.model
        model.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        model.headers.append({name.lower(): value for name, value in self.headers.items()})
        model.paths.append(self.path)
        model.over.wait(model.wait_s)
        try:
            self._answer(model)
        except ConnectionError:
            self.close_connection = True  # whoever asked has gone, which is what some tests are about

    def _answer(self, model: Model) -> None:
        self.send_response(model.status)
        self.send_header("content-type", "application/json")
        self.end_headers()
        pieces = [model.body[i : i + 1] for i in range(len(model.body))] if model.slowly else [model.body]
        for piece in pieces:
            self.wfile.write(piece)
            if model.slowly:
                time.sleep(0.1)
