"""Generated days of an agent, told by two witnesses as a real gateway tells them; for properties of interpretation."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from limpet.model import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

START_MS = 1_780_315_200_000
KEY = "agent:main:main"
SESSION = "5c7d1b1e-0000-4000-8000-000000000001"


@dataclass
class Story:
    """Lines of the hooks and of the transcript, in each one's own order, and what really happened."""

    hooks: list[dict[str, Any]] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    messages: list[tuple[str, str]] = field(default_factory=list)
    runs: list[tuple[str, str]] = field(default_factory=list)
    now: int = START_MS

    def records(self) -> list[Record]:
        """Return every record of both witnesses."""
        told = [("openclaw.hooks", "producer", self.hooks), ("openclaw.transcripts", f"main/{SESSION}", self.entries)]
        return [
            _record(source, stream, seq, body) for source, stream, lines in told for seq, body in enumerate(lines, 1)
        ]


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """Draw a story: turns with calls (ids that may recur), failures, a kill in the middle of a call, a reset."""
    story = Story()
    for number in range(draw(st.integers(1, 4))):
        run = f"run-{number}"
        _user(story, run, f"please do {number}")
        killed = False
        for name in draw(st.lists(st.sampled_from(["call_a", "call_b", "call_c"]), max_size=4)):
            outcome = draw(st.sampled_from(["succeeded", "succeeded", "failed", "interrupted"]))
            _call(story, run, name, outcome)
            killed = outcome == "interrupted"
            if killed:
                break
        story.runs.append((run, "interrupted" if killed else "succeeded"))
        if killed:
            _restart(story)
        else:
            _answer(story, run, f"done {number}")
        if draw(st.booleans()):
            _tell(story, "before_reset", {"reason": "new"}, {})
            _enter(story, {"type": "reset", "reason": "new"})
    return story


def _tick(story: Story, by: int = 250) -> int:
    story.now += by
    return story.now


def _tell(story: Story, hook: str, event: dict[str, Any], ctx: dict[str, Any]) -> None:
    where = {"agentId": "main", "sessionKey": KEY, "sessionId": SESSION}
    story.hooks.append({"hook": hook, "ts": _tick(story, 3), "ctx": {**where, **ctx}, "event": event})


def _write(story: Story, message: dict[str, Any], run: str) -> None:
    """Tell of a message by the hook, which knows no session and no run, and by the transcript, which knows both."""
    story.hooks.append(
        {
            "hook": "before_message_write",
            "ts": story.now,
            "ctx": {"agentId": "main", "sessionKey": KEY},
            "event": {"message": message},
        }
    )
    stored = message if message["role"] == "user" else {**message, "__openclaw": {"runId": run}}
    _enter(story, {"type": "message", "message": stored})


def _enter(story: Story, entry: dict[str, Any]) -> None:
    number = len(story.entries)
    said = {**entry, "id": f"entry-{number}", "timestamp": story.now + 40}
    where = {"agentId": "main", "sessionKey": KEY, "sessionId": SESSION}
    story.entries.append({"hook": "transcript_line", "ts": story.now + 40, "ctx": where, "event": said})


def _user(story: Story, run: str, text: str) -> None:
    message = {"role": "user", "content": text, "timestamp": _tick(story), "idempotencyKey": f"{run}:user"}
    _write(story, message, run)
    story.messages.append(("user", text))
    ids = {"runId": run, "callId": f"{run}:model:1"}
    _tell(story, "model_call_started", {**ids, "provider": "p", "model": "m"}, {"runId": run})
    _tell(story, "model_call_ended", {**ids, "outcome": "completed", "durationMs": 9}, {"runId": run})


def _call(story: Story, run: str, name: str, outcome: str) -> None:
    block = {"type": "toolCall", "id": name, "name": "exec", "arguments": {"command": f"echo {story.now}"}}
    _write(story, {"role": "assistant", "content": [block], "stopReason": "toolUse", "timestamp": _tick(story)}, run)
    told = {"toolName": "exec", "params": block["arguments"], "runId": run, "toolCallId": name}
    _tell(story, "before_tool_call", told, {"runId": run})
    story.calls.append((name, outcome))
    if outcome == "interrupted":
        return
    details = {"status": "completed", "exitCode": 0 if outcome == "succeeded" else 3}
    result = {"content": [{"type": "text", "text": "out"}], "details": details}
    _tell(story, "after_tool_call", {**told, "result": result, "durationMs": 12}, {"runId": run})
    answer = {"role": "toolResult", "toolCallId": name, "toolName": "exec", "isError": False, **result}
    _write(story, {**answer, "timestamp": _tick(story)}, run)


def _answer(story: Story, run: str, text: str) -> None:
    content = [{"type": "text", "text": text}]
    _write(story, {"role": "assistant", "content": content, "stopReason": "stop", "timestamp": _tick(story)}, run)
    story.messages.append(("agent", text))
    _tell(story, "agent_end", {"success": True, "durationMs": 40, "runId": run}, {"runId": run})


def _restart(story: Story) -> None:
    _tick(story, 5000)
    story.hooks.append({"hook": "gateway_start", "ts": _tick(story), "ctx": {}, "event": {"port": 1}})
    text = "[System] Your previous turn was interrupted by a gateway restart while OpenClaw was waiting."
    key = f"resume-{story.now}"
    _write(story, {"role": "user", "content": text, "timestamp": _tick(story), "idempotencyKey": f"{key}:user"}, key)
    story.messages.append(("system", text))
    _answer(story, key, f"resumed at {story.now}")
    story.runs.append((key, "succeeded"))


def _record(source: str, stream: str, seq: int, body: dict[str, Any]) -> Record:
    said = json.dumps([source, stream, seq, body]).encode()
    return Record(hashlib.sha256(said).hexdigest()[:32], source, stream, seq, body["hook"], body, body["ts"])


def cut(records: Sequence[Record], sizes: Sequence[int]) -> list[list[Record]]:
    """Cut records into batches of these sizes, the last one as large as need be."""
    batches, at = [], 0
    for size in sizes:
        batches.append(list(records[at : at + size]))
        at += size
    return [batch for batch in [*batches, list(records[at:])] if batch]
