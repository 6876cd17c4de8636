"""claude-mem as one of the sides: its worker is told of the day as its OpenClaw plugin tells it, then asked."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sqlite3
import time
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import unescape

from benchmarks.peers.asking import Answer, Unavailable, running, told
from benchmarks.peers.day import FAILED, SESSION, WORD, key
from benchmarks.peers.observer import Observer
from benchmarks.traffic import COMMON

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from benchmarks.peers.day import Day
    from benchmarks.traffic import Happening

READY_S = 60
PROCESSED_S = 240
RESULT_MOST = 1_000
"""Characters of a tool's result that its OpenClaw plugin hands on (MAX_TOOL_RESPONSE_LENGTH)."""

SHOWN = re.compile(r"^\| #(P|S)?(\d+) ", re.MULTILINE)


UNLINKED = "SELECT id, narrative FROM observations WHERE id NOT IN (SELECT observation_id FROM tool_uses)"
"""What it observed without keeping the call itself: searches in a memory, which are known by what was searched."""


@dataclass(frozen=True)
class ClaudeMem:
    """claude-mem with its worker up; `rows` names the events behind what it shows: ("P", 20) is prompt 20."""

    modules: Path
    node: Path
    home: Path
    port: int
    day: Day
    asked_of_model: int
    rows: Mapping[tuple[str, str], frozenset[str]]
    name: str = "claude-mem"
    ways: Mapping[str, str] = field(default_factory=lambda: {
        FAILED: "(none)",
        WORD: "claude-mem search WORD",
        SESSION: "GET /api/tool-uses?session=ID of its worker (its command line has no such command)",
    })  # fmt: skip

    def ask(self, question: str) -> Answer:
        """Answer with its command line, cold; its worker is warm, as it always is."""
        if question == FAILED:
            return Answer(None, 0.0, "keeps no status of a call, and no time but that of its arrival")
        return self._word() if question == WORD else self._session()

    def size(self) -> int:
        """Return the bytes of its database."""
        return (self.home / ".claude-mem" / "claude-mem.db").stat().st_size

    def _word(self) -> Answer:
        program = str(self.modules / "claude-mem" / "dist" / "npx-cli" / "index.js")
        answered = told([str(self.node), program, "search", COMMON], environment(self.home, self.modules, self.port))
        shown = SHOWN.findall(json.loads(answered.out)["content"][0]["text"])
        found = frozenset[str]().union(*(self.rows.get(one, frozenset({"".join(one)})) for one in shown))
        return Answer(
            found, answered.seconds, f"shows the best 20; {self.asked_of_model:,} calls of a model to get there"
        )

    def _session(self) -> Answer:
        began = time.perf_counter()
        uses = fetched(self.port, f"/api/tool-uses?session={self.day.session}&limit=500")["toolUses"]
        took = time.perf_counter() - began
        return Answer(
            frozenset(use["tool_use_id"] for use in uses),
            0.0,
            f"tool calls alone, without messages; warm, {1000 * took:.0f} ms",
        )


@contextlib.contextmanager
def opened(modules: Path, node: Path, day: Day) -> Iterator[ClaudeMem]:
    """Give a claude-mem that was told of the day; its worker ends with this."""
    home = day.kept("claude-mem", lambda folder: _filled(folder, modules, day))
    asked = int((home / "asked").read_text("utf-8"))
    with worker(home, modules, 0) as port:
        yield ClaudeMem(modules, node, home, port, day, asked, _rows(home, day))


@contextlib.contextmanager
def worker(home: Path, modules: Path, model_port: int) -> Iterator[int]:
    """Run its worker and give its port; raises Unavailable where it does not come up."""
    port = free_port()
    _settings(home, port, model_port)
    (home / ".claude" / "plugins" / "marketplaces").mkdir(parents=True, exist_ok=True)
    installed = home / ".claude" / "plugins" / "marketplaces" / "thedotmack"
    installed.unlink(missing_ok=True)
    installed.symlink_to(modules / "claude-mem")
    bun = modules / "@oven" / "bun-linux-x64" / "bin" / "bun"
    script = modules / "claude-mem" / "plugin" / "scripts" / "worker-service.cjs"
    with running(
        [str(bun), str(script), "--daemon"], environment(home, modules, port), str(home / "worker.log")
    ) as process:
        deadline = time.monotonic() + READY_S
        while not _is_ready(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise Unavailable(f"claude-mem's worker does not come up: {(home / 'worker.log').read_text()[-300:]}")
            time.sleep(0.2)
        yield port


def _filled(home: Path, modules: Path, day: Day) -> None:
    """Tell it of the day and wait until its model has seen all of it."""
    with Observer() as model, worker(home, modules, model.port) as port:
        for one in day.happenings:
            _tell(port, one)
        deadline = time.monotonic() + PROCESSED_S
        while fetched(port, "/api/processing-status")["queueDepth"]:
            if time.monotonic() > deadline:
                raise Unavailable(f"claude-mem had not worked through {day.events:,} events after {PROCESSED_S} s")
            time.sleep(0.5)
        (home / "asked").write_text(str(model.answered), "utf-8")
    with contextlib.closing(sqlite3.connect(home / ".claude-mem" / "claude-mem.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _tell(port: int, one: Happening) -> None:
    """Post one event to the place that its OpenClaw plugin posts it to, in the same form."""
    session = {"contentSessionId": one.session}
    if one.role == "user":
        fetched(port, "/api/sessions/init", {**session, "project": "workspace", "prompt": one.text})
    elif one.role:
        fetched(port, "/api/sessions/summarize", {**session, "last_assistant_message": one.text})
    else:
        result = (one.text or one.error)[:RESULT_MOST]
        told_of = {"tool_name": one.tool, "tool_input": one.params, "tool_response": result, "toolUseId": one.call}
        fetched(port, "/api/sessions/observations", {**session, **told_of, "cwd": "/home/agent/workspace"})


def fetched(port: int, path: str, body: dict[str, Any] | None = None) -> Any:
    """Return what its worker answers."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 (loopback)
        return json.load(answer)


def _is_ready(port: int) -> bool:
    try:
        return bool(fetched(port, "/api/readiness")["status"] == "ready")
    except (OSError, ValueError):
        return False


def _rows(home: Path, day: Day) -> dict[tuple[str, str], frozenset[str]]:
    """Return the events behind each row of its tables, by the letter and number that its command line shows."""
    texts = {_flat(one.text): key(one) for one in day.happenings if one.role}
    found: dict[tuple[str, str], set[str]] = {}
    with contextlib.closing(sqlite3.connect(f"file:{home}/.claude-mem/claude-mem.db?mode=ro", uri=True)) as connection:
        for number, call in connection.execute("SELECT observation_id, tool_use_id FROM tool_uses"):
            found.setdefault(("", str(number)), set()).add(call)
        for number, text in connection.execute(UNLINKED):
            told_of = {one.call for one in day.happenings if one.tool and _query(one) and _query(one) in text}
            found.setdefault(("", str(number)), set()).update(told_of)
        for number, text in connection.execute("SELECT id, prompt_text FROM user_prompts"):
            found.setdefault(("P", str(number)), set()).add(texts.get(_flat(text), ""))
        for number, text in connection.execute("SELECT id, completed FROM session_summaries"):
            found.setdefault(("S", str(number)), set()).add(texts.get(_flat(text), ""))
    return {row: frozenset(keys) for row, keys in found.items()}


def _query(one: Happening) -> str:
    return str(one.params.get("query", ""))


def _flat(text: str | None) -> str:
    return " ".join(unescape(text or "").split())


def _settings(home: Path, port: int, model_port: int) -> None:
    chosen = {
        "CLAUDE_MEM_PROVIDER": "openrouter",
        "CLAUDE_MEM_OPENROUTER_API_KEY": "no-key",
        "CLAUDE_MEM_OPENROUTER_BASE_URL": f"http://127.0.0.1:{model_port or 9}/v1",
        "CLAUDE_MEM_WORKER_PORT": str(port),
        "CLAUDE_MEM_WORKER_HOST": "127.0.0.1",
        "CLAUDE_MEM_CHROMA_ENABLED": "false",
        "CLAUDE_MEM_DATA_DIR": str(home / ".claude-mem"),
    }
    (home / ".claude-mem").mkdir(parents=True, exist_ok=True)
    (home / ".claude-mem" / "settings.json").write_text(json.dumps(chosen), "utf-8")


def environment(home: Path, modules: Path, port: int) -> dict[str, str]:
    """Return an environment in which nothing of the user is touched and nothing is reported to anybody."""
    ours = {"HOME": str(home), "PATH": f"{modules}/@oven/bun-linux-x64/bin:/usr/bin:/bin", "TZ": "UTC"}
    its = {"CLAUDE_MEM_DATA_DIR": str(home / ".claude-mem"), "CLAUDE_MEM_WORKER_PORT": str(port)}
    return {**ours, **its, "DO_NOT_TRACK": "1", "CLAUDE_MEM_TELEMETRY": "0"}


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
