"""How each side is told of the same traffic: as hook lines, as transcript entries, as rows of the script."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from limpet.model import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmarks.traffic import Happening, Line

PRODUCER = "01970000-0000-7000-8000-00000000000b"


def lines(happenings: Iterable[Happening], *, all_hooks: bool = False) -> Iterator[Line]:
    """Yield spool lines: one per event, or every line that a gateway's hooks write of it."""
    seq = 0
    for one in happenings:
        for hook, event in _hooks(one) if all_hooks else [_hook(one)]:
            seq += 1
            yield {"v": 1, "id": _id(one.at_ms, seq), "producer": PRODUCER, "seq": seq, "ts": one.at_ms, "hook": hook,
                   "ctx": _ctx(one, hook), "event": event}  # fmt: skip


def raw(line: Line) -> bytes:
    """Return a line as the plugin writes it."""
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def entries(happenings: Iterable[Happening]) -> Iterator[Line]:
    """Yield what OpenClaw's transcripts say of the same events."""
    for one in happenings:
        for place, message in enumerate(_messages(one)):
            yield {"type": "message", "id": f"{one.number:08x}{place}", "parentId": None, "timestamp": iso(one.at_ms),
                   "session": one.session, "key": one.key, "message": message}  # fmt: skip


def records(given: Iterable[Line]) -> Iterator[Record]:
    """Yield spool lines as the records that they are: for what measures the database and not the reading."""
    for line in given:
        number = line["id"].replace("-", "")
        yield Record(number, "openclaw.hooks", PRODUCER, line["seq"], line["hook"], line, line["ts"])


def script_row(one: Happening) -> tuple[str, str, str, str, str, str]:
    """Return the same content as the script keeps it: timestamp, session, type, summary, details, tags."""
    if one.role:
        details = {"role": one.role, "content": one.text, "agent": one.agent, "run": one.run}
        return (
            iso(one.at_ms),
            one.session,
            "message",
            one.text[:80],
            json.dumps(details, ensure_ascii=False),
            '["message"]',
        )
    details = {"tool": one.tool, "success": not one.error, "args": one.params, "result": one.text, "error": one.error,
               "duration_ms": one.took_ms, "call": one.call, "agent": one.agent, "run": one.run}  # fmt: skip
    if one.image:
        details["image"] = one.image
    tags = json.dumps(["tool", one.tool])
    return (
        iso(one.at_ms),
        one.session,
        "tool_call",
        f"{one.tool} executed",
        json.dumps(details, ensure_ascii=False),
        tags,
    )


def iso(at_ms: int) -> str:
    """Return an instant as ISO 8601 in UTC, to the millisecond."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _id(at_ms: int, seq: int) -> str:
    """Return a UUID version 7 as the plugin makes them: all but its time is drawn by lot."""
    lot = hashlib.md5(seq.to_bytes(8), usedforsecurity=False).hexdigest()
    time = f"{at_ms:012x}"
    return f"{time[:8]}-{time[8:]}-7{lot[:3]}-9{lot[3:6]}-{lot[6:18]}"


def _ctx(one: Happening, hook: str) -> Line:
    if hook == "before_message_write":
        return {"agentId": one.agent, "sessionKey": one.key, "sessionIdSeen": one.session, "runIdSeen": one.run}
    return {"toolName": one.tool, "agentId": one.agent, "sessionKey": one.key, "sessionId": one.session,
            "runId": one.run, "toolCallId": one.call}  # fmt: skip


def _hook(one: Happening) -> tuple[str, Line]:
    if one.role:
        return "before_message_write", {"message": _messages(one)[-1]}
    ended = {"error": one.error} if one.error else {}
    return "after_tool_call", {"toolName": one.tool, "params": one.params, "runId": one.run, "toolCallId": one.call,
                               "result": _result(one), "durationMs": one.took_ms, **ended}  # fmt: skip


def _hooks(one: Happening) -> list[tuple[str, Line]]:
    written = [("before_message_write", {"message": message}) for message in _messages(one)]
    if one.role:
        return written
    begun = {"toolName": one.tool, "params": one.params, "runId": one.run, "toolCallId": one.call}
    return [written[0], ("before_tool_call", begun), _hook(one), written[1]]


def _result(one: Happening) -> Line:
    content: list[Line] = [{"type": "text", "text": one.text}]
    if one.image:
        content.append({"type": "image", "data": one.image, "mimeType": "image/png"})
    details: Line = {}
    if one.tool == "exec":
        details = {"status": "completed", "exitCode": 1 if one.error else 0, "exitSignal": None, "exitReason": "exit",
                   "durationMs": one.took_ms, "aggregated": one.text, "noOutputTimedOut": False,
                   "cwd": "/home/agent/.openclaw/workspace"}  # fmt: skip
    return {"content": content, "details": details}


def _messages(one: Happening) -> list[Line]:
    """Return the messages that a transcript holds of it: what was said, or the call and its result."""
    if one.role == "user":
        return [{"role": "user", "content": one.text, "timestamp": one.at_ms, "idempotencyKey": f"{one.run}:user",
                 "__openclaw": {"senderIsOwner": True}}]  # fmt: skip
    made = {"role": "assistant", "api": "openai-completions", "provider": "mock", "model": "mock-1",
            "stopReason": "stop" if one.role else "toolUse", "timestamp": one.at_ms,
            "responseId": f"chatcmpl-{one.number:012x}"}  # fmt: skip
    if one.role:
        return [{**made, "content": [{"type": "text", "text": one.text}]}]
    asked = {**made, "content": [{"type": "toolCall", "id": one.call, "name": one.tool, "arguments": one.params}]}
    got = {"role": "toolResult", "toolCallId": one.call, "toolName": one.tool, **_result(one),
           "isError": bool(one.error), "timestamp": one.at_ms}  # fmt: skip
    return [asked, got]
