"""The invented events of `question_forms` as the hook lines that tell of them, with what such lines can say.

Each line is written from the event; what is right is counted over the events, by no code of Limpet's.
"""

from __future__ import annotations

from typing import Any

from question_forms import Raw, raw_events

Line = dict[str, Any]
ERROR_TYPES = ("failed", "timed_out", "blocked", "cancelled", "interrupted")


def said_events(number: int, seed: int) -> list[Raw]:
    """Return events as `raw_events`, kept to what lines can tell, with cron jobs and starts of sessions among them."""
    return [_told(raw) for raw in raw_events(number, seed)]


def _told(raw: Raw) -> Raw:
    """Return the event as a line can tell it: a run has failed or not, and only an error's words are its text."""
    kind = raw["type"]
    if kind == "run" and raw["no"] % 3 == 0:
        kind = ("cron", "session")[raw["no"] % 2]
    told = {**raw, "type": kind, "label": "own" if raw["label"] else ""}
    if kind == "tool_call":
        return {**told, "ms": None if raw["status"] == "started" else raw["ms"]}
    if kind == "message":
        return {**told, "status": ""}
    if kind == "error":
        return {**told, "status": "", "actor": "user", "ms": None}
    if kind == "session":
        name = f"s-new-{raw['no']}"
        return {**told, "status": "started", "actor": "system", "text": "", "ms": None, "session": name}
    failed = raw["status"] != "succeeded"
    status = "failed" if failed else "succeeded"
    actor = "system" if kind == "cron" else "agent"
    label = "" if kind == "cron" else told["label"]
    return {
        **told,
        "label": label,
        "status": status,
        "actor": actor,
        "text": raw["text"] if failed or kind == "cron" else "",
    }


def lines_of(raw: Raw) -> list[Line]:
    """Return the lines that tell of an event."""
    return [*globals()[f"_{raw['type']}"](raw)]


def _line(raw: Raw, hook: str, event: Line, late: int = 0, **ctx: Any) -> Line:
    name = f"limpet-{raw['session']}" if raw["label"] else raw["session"]
    here = {"agentId": raw["agent"], "sessionKey": f"agent:{raw['agent']}:{name}", "sessionId": raw["session"]}
    return {"hook": hook, "ts": raw["at"] + late, "ctx": {**here, **ctx}, "event": event}


def _tool_call(raw: Raw) -> list[Line]:
    about = {"toolName": raw["tool"], "params": {"command": raw["text"]}, "toolCallId": f"c{raw['no']}"}
    run = {"runId": f"r{raw['no']}"}
    lines = [_line(raw, "before_tool_call", about, **run)]
    if raw["status"] == "started":
        return lines
    fine = raw["status"] == "succeeded"
    result = {"content": [{"type": "text", "text": "over"}], **({} if fine else {"details": {"status": raw["status"]}})}
    end = {**about, "durationMs": raw["ms"], "result": result}
    return [*lines, _line(raw, "after_tool_call", end, raw["ms"], **run)]


def _message(raw: Raw) -> list[Line]:
    if raw["actor"] == "user":
        return [_line(raw, "message_received", {"content": raw["text"], "messageId": f"m{raw['no']}"})]
    message = {"role": "assistant", "content": [{"type": "text", "text": raw["text"]}], "timestamp": raw["at"]}
    return [_line(raw, "before_message_write", {"message": {**message, "responseId": f"m{raw['no']}"}})]


def _run(raw: Raw) -> list[Line]:
    fine = raw["status"] == "succeeded"
    end = {"success": fine, "durationMs": raw["ms"], **({} if fine else {"error": raw["text"]})}
    return [_line(raw, "agent_end", end, runId=f"r{raw['no']}")]


def _model_call(raw: Raw) -> list[Line]:
    about = {"callId": f"m{raw['no']}:model:2", "provider": "p", "model": "m"}
    end = {**about, "durationMs": raw["ms"], "outcome": "completed"}
    if raw["status"] == "failed":
        end |= {"outcome": "error", "error": raw["text"]}
    run = {"runId": f"r{raw['no']}"}
    return [_line(raw, "model_call_started", about, **run), _line(raw, "model_call_ended", end, raw["ms"], **run)]


def _error(raw: Raw) -> list[Line]:
    return [_line(raw, "limpet_add", {"type": "error", "summary": raw["text"]})]


def _session(raw: Raw) -> list[Line]:
    return [_line(raw, "session_start", {"sessionId": raw["session"]})]


def _cron(raw: Raw) -> list[Line]:
    fine = {"status": "ok"} if raw["status"] == "succeeded" else {"status": "error", "error": "went wrong"}
    job = {"job": {"name": raw["text"]}, "jobId": f"j{raw['no']}", "runAtMs": raw["at"], "durationMs": raw["ms"]}
    return [_line(raw, "cron_changed", {"action": "finished", **job, **fine})]
