"""A scripted OpenAI-compatible model provider: the double for the model. Not for anything but tests.

A user message that holds `DO:<name>` or `DO:<name>(argument)` selects a script; the step is the number of assistant
messages after it. Without one the answer is a plain sentence. `issued` is what the model really asked for: the truth
to compare a record with.
"""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Self

DIRECTIVE = re.compile(r"DO:([a-z0-9_]+)(?:\((.*?)\)(?=\s|$|\"))?", re.DOTALL)
INTERNAL = "BEGIN_OPENCLAW_INTERNAL_CONTEXT"
PLAN = re.compile(r"^PLAN \w+ BEGINS$", re.MULTILINE)
CHILD_DONE = "A background task completed"


@dataclass(frozen=True)
class Call:
    """A tool call that a step asks for; `id` is made when it is issued, unless the script fixes one."""

    name: str
    args: dict[str, Any]
    id: str = ""


@dataclass(frozen=True)
class Step:
    """One answer of the model: a text, tool calls, or an HTTP status; `times` limits how often the status is given."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    status: int = 200
    times: int = 1 << 30
    then: str = ""


HEADINGS = ("Decisions", "Open TODOs", "Constraints/Rules", "Pending user asks", "Exact identifiers")
SUMMARY = Step("\n\n".join(f"## {heading}\nNone." for heading in HEADINGS))
"""What a request without tools asks for: the summary of a compaction."""


def run(command: str, **more: Any) -> Call:
    """Return a call of the tool `exec`."""
    return Call("exec", {"command": command, **more})


THREE = (run("echo A"), run("echo B"), run("ls /nonexistent"))
CHILD = {"id": "sessions_spawn", "args": {"task": "DO:ok please", "label": "child"}}
SAME = "call_same"
SCRIPTS: dict[str, Callable[[str], list[Step]]] = {
    "ok": lambda _: [Step(calls=(run("echo hello-from-tool; date +%s"),)), Step("Tool finished OK.")],
    "fail": lambda _: [Step(calls=(run("echo partial-out; echo boom >&2; exit 3"),)), Step("It failed with exit 3.")],
    "three": lambda _: [Step("Running three.", THREE), Step("All three done.")],
    "unknown_tool": lambda _: [Step(calls=(Call("no_such_tool", {"x": 1}),)), Step("No such tool.")],
    "missing_file": lambda _: [Step(calls=(Call("read", {"path": "/nonexistent/file.txt"}),)), Step("Read failed.")],
    "same_id": lambda _: [Step(calls=(replace(run(f"echo {n}"), id=SAME),)) for n in (1, 2)] + [Step("Both done.")],
    "flaky": lambda status: [Step(status=int(status or 503), times=1, then="Recovered.")],
    "http": lambda status: [Step(status=int(status or 400))],
    "sleep": lambda s: [Step(calls=(run(f"echo up; sleep {s or 60}; echo woke", yieldMs=60000),)), Step("Slept.")],
    "big": lambda n: [Step(calls=(run(f"seq 1 {n or 20000}"),)), Step("Big output done.")],
    "long": lambda n: [Step("Lorem ipsum dolor sit amet. " * int(n or 2000))],
    "loop": lambda n: [Step(calls=(run(f"echo step-{i}"),)) for i in range(int(n or 100))] + [Step("Loop done.")],
    "spawn": lambda _: [Step(calls=(Call("tool_call", CHILD),)), Step("Spawned.")],
    "tool": lambda said: [Step(calls=(named(said),)), Step("Tool done.")],
    "say": lambda text: [Step(text)],
}
"""What each directive does, given its argument: the answers in order; the last one is repeated."""


def named(said: str) -> Call:
    """Return the call that `DO:tool(name {"json": 1})` asks for."""
    tool, _, args = said.partition(" ")
    return Call(tool, json.loads(args or "{}"))


def script(name: str, argument: str) -> list[Step]:
    """Return the steps of a directive."""
    return SCRIPTS.get(name, lambda _: [Step(f"There is no script {name}.")])(argument)


def flat(content: Any) -> str:
    """Return the text of a message's content."""
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def choose(messages: list[dict[str, Any]]) -> tuple[Step, str]:
    """Return what the model answers to this window, and the directive that decided it ("" if none)."""
    for i in range(len(messages) - 1, -1, -1):
        text = flat(messages[i].get("content"))
        if messages[i].get("role") != "user" or INTERNAL in text:
            continue
        if CHILD_DONE in text:
            return Step("Relayed the child's result."), ""
        found = DIRECTIVE.findall(text)
        if not found:
            break
        steps = script(*found[-1])
        done = sum(1 for later in messages[i + 1 :] if later.get("role") == "assistant")
        return steps[min(done, len(steps) - 1)], f"{found[-1][0]}@{i}"
    return Step(f"A plain reply to {len(messages)} messages."), ""


@dataclass
class Provider:
    """The server on a free port of 127.0.0.1, as a context manager.

    `requests` holds each body asked; `issued` each tool call given out as {id, name, args, directive, at}; `said` each
    text as {id, text, directive, at} (`id` is the response's); with `log` all of it goes to that JSON-lines file too.
    `worded` answers what is asked for a daily note, given the prompt.
    """

    log: Path | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    issued: list[dict[str, Any]] = field(default_factory=list)
    said: list[dict[str, Any]] = field(default_factory=list)
    worded: Callable[[str], Step] = field(default=lambda _: SUMMARY)

    def __enter__(self) -> Self:
        self._lock = threading.Lock()
        self._refused: dict[str, int] = {}
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.provider = self
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: dict[str, Any]) -> tuple[Step, str]:
        """Decide, note down, and return the step with its ids filled in, and the id of the response."""
        step, directive = choose(body["messages"]) if body.get("tools") else (self._without_tools(body), "")
        step = self._after_refusals(step, directive)
        response = f"chatcmpl-{uuid.uuid4().hex[:12]}"
        calls = tuple(Call(c.name, c.args, c.id or f"call_{uuid.uuid4().hex[:16]}") for c in step.calls)
        step = Step(step.text, calls, step.status)
        self._note(body, step, directive, response)
        return step, response

    def _without_tools(self, body: dict[str, Any]) -> Step:
        asked = flat(body["messages"][-1].get("content"))
        return self.worded(asked) if PLAN.search(asked) else SUMMARY

    def _after_refusals(self, step: Step, directive: str) -> Step:
        if not step.then:
            return step
        with self._lock:
            self._refused[directive] = self._refused.get(directive, 0) + 1
            return step if self._refused[directive] <= step.times else Step(step.then)

    def _note(self, body: dict[str, Any], step: Step, directive: str, response: str) -> None:
        at = time.time()
        calls = [{"id": c.id, "name": c.name, "args": c.args, "directive": directive, "at": at} for c in step.calls]
        said = [{"id": response, "text": step.text, "directive": directive, "at": at}] if step.text else []
        with self._lock:
            self.requests.append(body)
            self.issued += calls
            self.said += said
            if self.log:
                line = {"at": at, "status": step.status, "response": response, "issued": calls, "said": said}
                with self.log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({**line, "asked": body}) + "\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    provider: Provider


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Say nothing: `Provider.log` has it."""

    def do_GET(self) -> None:
        """List the one model."""
        self._json(200, {"object": "list", "data": [{"id": "scripted-1", "object": "model", "owned_by": "tests"}]})

    def do_POST(self) -> None:
        """Answer a chat completion, streamed or whole."""
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw)
        step, response = self.server.provider.answer(body)
        if step.status != 200:
            self._json(step.status, {"error": {"message": f"scripted {step.status}", "code": f"http_{step.status}"}})
            return
        head = {"id": response, "created": int(time.time()), "model": body.get("model", "scripted-1")}
        usage = {"prompt_tokens": len(raw) // 4, "completion_tokens": 20, "total_tokens": len(raw) // 4 + 20}
        if body.get("stream"):
            self._stream(head, step, usage)
        else:
            self._whole(head, step, usage)

    def _json(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _whole(self, head: dict[str, Any], step: Step, usage: dict[str, int]) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
        if step.calls:
            message["tool_calls"] = [_function(call) for call in step.calls]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if step.calls else "stop"}
        self._json(200, {**head, "object": "chat.completion", "choices": [choice], "usage": usage})

    def _stream(self, head: dict[str, Any], step: Step, usage: dict[str, int]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        head = {**head, "object": "chat.completion.chunk"}
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": step.text[i : i + 400]} for i in range(0, len(step.text), 400)]
        deltas += [{"tool_calls": [{"index": i, **_function(call)}]} for i, call in enumerate(step.calls)]
        chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        finish = "tool_calls" if step.calls else "stop"
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        chunks.append({"choices": [], "usage": usage})
        try:
            for chunk in chunks:
                self.wfile.write(b"data: " + json.dumps({**head, **chunk}).encode() + b"\n\n")
            self.wfile.write(b"data: [DONE]\n\n")
        except ConnectionError:
            self.close_connection = True  # the gateway was killed while it listened


def _function(call: Call) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(call.args)}}
