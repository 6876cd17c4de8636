"""Drives a busy day through a real gateway: what the tests of the plugin and of the memory both judge. No judgement here."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway import spooled

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.gateway import Gateway
    from gateway.provider import Provider

SIDECAR = ("sh", "-c", 'echo $$ >> "$LIMPET_HOME/sidecar.pids"; cat > /dev/null')
"""Stands where the sidecar would, for a day that nobody drains: it notes its process id and ends with its input."""

TURNS = ("ok", "fail", "three", "unknown_tool", "missing_file", "flaky", "http(400)", "same_id", "big(20000)", "spawn")
CHAT_ANSWER = "Answer to the chat."
FAILING = {"fail", "unknown_tool", "missing_file"}
INTERRUPTED = "sleep"


def expected_status(call: dict[str, Any]) -> str:
    """Return how a call that the scripted model asked for must have ended."""
    script = call["directive"].partition("@")[0]
    if script == INTERRUPTED:
        return "interrupted"
    return "failed" if script in FAILING or "/nonexistent" in str(call["args"]) else "succeeded"


@dataclass
class Day:
    """What was driven, and what is left of it; `former` is OpenClaw's configuration before Limpet
    came, `configured` right after."""

    gateway: Gateway
    provider: Provider
    former: bytes = b""
    configured: bytes = b""
    texts: list[str] = field(default_factory=list)

    @property
    def home(self) -> Path:
        """Limpet's own folder."""
        return self.gateway.state / "limpet"

    def hooks(self, name: str) -> list[dict[str, Any]]:
        """Return the records of one hook that lie in the spool."""
        return [record for record in spooled.records(self.home) if record["hook"] == name]

    def say(self, text: str, session: str | None = None) -> None:
        """Send a message and wait for the answer."""
        self.texts.append(text)
        self.gateway.turn(text, session, check=False)

    def wait_for_text(self, text: str) -> None:
        """Wait until the model has said this."""
        self.gateway.wait_for(
            lambda: any(said["text"] == text for said in self.provider.said), f"the model says {text!r}"
        )

    def ordinary_turns(self, between: Callable[[int], None] = lambda _: None) -> None:
        """Talk: plain, with tools that work and fail, in two sessions, and the way the web chat does."""
        self.say("Hello there")
        for number, directive in enumerate(TURNS):
            self.say(f"Please DO:{directive} now")
            between(number)
        self.wait_for_text("Relayed the child's result.")
        self.say("DO:ok in another session", "agent:main:other")
        self.texts.append(f"DO:say({CHAT_ANSWER}) by chat")
        self.gateway.chat_send(self.texts[-1])
        self.wait_for_text(CHAT_ANSWER)

    def clockwork(self) -> None:
        """Run cron commands that work and fail, compact by hand, begin a new window."""
        for name, command in (("nightly", "echo cron-ran"), ("broken", "echo oops >&2; exit 4")):
            self.gateway.cron_run(self.gateway.cron_add(name, command))
        self.gateway.compact()
        self.say("DO:ok after the compaction")
        self.gateway.turn("/new")
        self.say("DO:ok in the new window")

    def all_day(self, between: Callable[[int], None] = lambda _: None) -> None:
        """Drive everything there is."""
        self.ordinary_turns(between)
        self.clockwork()
        self.killed_in_a_call()

    def killed_in_a_call(self) -> None:
        """Kill the gateway while a tool runs, start it again, and go on."""
        self.texts.append("DO:sleep(600)")
        cut_short = self.gateway.openclaw_started("agent", "--agent", "main", "--message", self.texts[-1])
        self.gateway.wait_for(self._sleeps, "a tool call under way")
        self.gateway.kill()
        cut_short.kill()
        cut_short.communicate()
        self.gateway.start()
        self.say("DO:ok after the kill")

    def _sleeps(self) -> bool:
        """Whether the call that is to be cut off runs now."""
        asked = any(call["directive"].startswith(INTERRUPTED) for call in self.provider.issued)
        return asked and any(b"sleep 600" in line for line in commands_of(self.gateway.home))


def commands_of(home: Path) -> list[bytes]:
    """Return the command lines of the processes that live in this HOME."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"HOME={home}\0".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes())
        except OSError:
            continue  # it ended while we looked, or is not ours
    return found
