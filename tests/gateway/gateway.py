"""A real OpenClaw gateway in a HOME of its own, talking to the scripted provider. Not for anything but tests."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from gateway.provider import Provider

READY_S = 120
COMMAND_S = 180
TOKEN = "test-token"


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def children_of(pid: int) -> list[int]:
    """Return the processes that this one has started and that still run (proc_pid_task_children(5))."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def end_tree(pid: int) -> None:
    """Kill a process and all below it."""
    below = children_of(pid)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    for child in below:
        end_tree(child)


@dataclass
class Gateway:
    """`start` and `stop` it as often as needed; leaving the context ends it.

    `home` becomes HOME, `cache` is the folder that `tools/openclaw.sh` prints, `more` goes into the environment,
    `sections` into the configuration.
    """

    home: Path
    cache: Path
    provider: Provider
    more: dict[str, str] = field(default_factory=dict)
    sections: dict[str, Any] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self._orphans: list[int] = []
        self.port = free_port()
        self.state = self.home / ".openclaw"
        self.log = self.home / "gateway.log"
        self.state.mkdir(parents=True, exist_ok=True, mode=0o700)
        (self.home / "tmp").mkdir(exist_ok=True)
        if not self.config.exists():
            self.config.write_text(json.dumps(self._config(), indent=2), "utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        for orphan in self._orphans:
            end_tree(orphan)

    @property
    def config(self) -> Path:
        """OpenClaw's configuration file."""
        return self.state / "openclaw.json"

    @property
    def env(self) -> dict[str, str]:
        """The environment of every command: nothing of the user's own OpenClaw."""
        modules = self.cache / "node_modules"
        path = f"{modules}/node/bin:{modules}/.bin:{os.environ.get('PATH', '/usr/bin:/bin')}"
        ours = {"HOME": str(self.home), "PATH": path, "TMPDIR": str(self.home / "tmp"), "NO_COLOR": "1", "TZ": "UTC"}
        gateway = {"OPENCLAW_GATEWAY_PORT": str(self.port), "OPENCLAW_GATEWAY_TOKEN": TOKEN}
        return {**ours, **gateway, "LANG": "C.UTF-8", **self.more}

    def _config(self) -> dict[str, Any]:
        free = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
        model = {"id": "scripted-1", "name": "Scripted", "reasoning": False, "input": ["text"], "cost": free}
        provider = {
            "baseUrl": f"http://127.0.0.1:{self.provider.port}/v1",
            "apiKey": "no-key",
            "api": "openai-completions",
            "models": [{**model, "contextWindow": 128000, "maxTokens": 8192}],
        }
        auth = {"mode": "token", "token": TOKEN}
        return {
            "gateway": {"mode": "local", "port": self.port, "bind": "loopback", "auth": auth},
            "agents": {"defaults": {"model": {"primary": "scripted/scripted-1"}, "compaction": {"mode": "default"}}},
            "models": {"mode": "replace", "providers": {"scripted": provider}},
            "logging": {"file": str(self.home / "openclaw.log")},
            **self.sections,
        }

    def start(self) -> None:
        """Start it and wait until it is ready; raises TimeoutError with the end of its log."""
        with self.log.open("ab") as log:
            command = ["openclaw", "gateway", "run"]
            self.process = subprocess.Popen(
                command, env=self.env, cwd=self.home, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        deadline = time.monotonic() + READY_S
        while not self._is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise TimeoutError(f"The gateway did not get ready:\n{self._log_end()}")
            time.sleep(0.2)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _log_end(self) -> str:
        return self.log.read_text("utf-8", "replace")[-3000:]

    def stop(self) -> None:
        """End it as a service manager would."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it without a warning; the commands that its tools run outlive it, until this context ends."""
        if self.process is not None:
            self._orphans += children_of(self.process.pid)
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self.process is None:
            return
        self.process.send_signal(how)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(30)
        self.process = None

    def openclaw(self, *args: str, check: bool = True) -> str:
        """Run an `openclaw` command and return what it printed; raises AssertionError with its errors."""
        done = self.openclaw_started(*args)
        out, err = done.communicate(timeout=COMMAND_S)
        assert not check or done.returncode == 0, f"openclaw {' '.join(args)}: {out[-2000:]}{err[-2000:]}"
        return out

    def openclaw_started(self, *args: str) -> subprocess.Popen[str]:
        """Start an `openclaw` command and return its process, for turns that are cut short."""
        return subprocess.Popen(
            ["openclaw", *args],
            env=self.env,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def turn(self, message: str, session_key: str | None = None, *, check: bool = True) -> str:
        """Send a message as a user of the command line does, and wait for the answer."""
        where = ["--session-key", session_key] if session_key else ["--agent", "main"]
        return self.openclaw("agent", *where, "--message", message, check=check)

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """Call a method of the gateway and return its result."""
        return json.loads(self.openclaw("gateway", "call", method, "--json", "--params", json.dumps(params)))

    def chat_send(self, message: str, session_key: str = "agent:main:main") -> Any:
        """Send a message the way the web chat does; returns at once, the turn runs on."""
        params = {"sessionKey": session_key, "message": message, "idempotencyKey": f"chat-{uuid.uuid4().hex[:8]}"}
        return self.call("chat.send", params)

    def cron_add(self, name: str, command: str, cron: str = "0 3 * * *") -> str:
        """Add a command job and return its id."""
        out = self.openclaw(
            "cron", "add", "--cron", cron, "--tz", "UTC", "--name", name, "--command", command, "--no-deliver", "--json"
        )
        return str(json.loads(out)["id"])

    def cron_run(self, job: str) -> str:
        """Run a job now."""
        return self.openclaw("cron", "run", job)

    def compact(self, session_key: str = "agent:main:main") -> str:
        """Compact a session by hand."""
        return self.openclaw("sessions", "compact", session_key)

    def wait_for(self, holds: Callable[[], Any], what: str, timeout_s: float = 60) -> None:
        """Wait until `holds()` is true; raises TimeoutError naming `what`."""
        deadline = time.monotonic() + timeout_s
        while not holds():
            if time.monotonic() > deadline:
                raise TimeoutError(f"Still not so after {timeout_s} s: {what}")
            time.sleep(0.1)
