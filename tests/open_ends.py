"""What a person with a pencil finds unfinished in the raw lines of generated days (`note_days`). Shares no code with what it judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from note_days import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterable

Line = dict[str, Any]
Ends = dict[tuple[str, ...], tuple[str, int, int]]
"""By what it is: how it went the last time, how often since it last went well, and when that was."""


def open_ends(lines: Iterable[Line], agent: str, since_ms: int, now_ms: int) -> set[tuple[str, str, int, int]]:
    """Return (what, how, how often, epoch milliseconds of the last time) of everything that is open for this agent."""
    known = [line for line in lines if line["ts"] <= now_ms]
    ended = {line["event"]["toolCallId"]: line["event"] for line in known if line["hook"] == "after_tool_call"}
    attempts = {line["ctx"]["runId"]: line["event"] for line in known if line["hook"] == "agent_end"}
    starts = [line["ts"] for line in known if line["hook"] == "gateway_start"]
    ends: Ends = {}
    for line in sorted(known, key=lambda one: one["ts"]):
        if since_ms <= line["ts"] and line["ctx"].get("agentId", "main") == agent:
            told = _told(line, ended, attempts, starts)
            if told is not None:
                _take(ends, *told, line["ts"])
    return {(key[0], how, n, at) for key, (how, n, at) in ends.items()}


def _told(
    line: Line, ended: dict[str, Line], attempts: dict[str, Line], starts: list[int]
) -> tuple[tuple[str, ...], str] | None:
    """Return what a line is about and how that went, None where it is about nothing that can stay open."""
    event, ctx = line["event"], line["ctx"]
    if line["hook"] == "before_tool_call":
        params = event["params"]
        return (event["toolName"], COMMANDS.get(params.get("command", ""), params.get("path", ""))), _call(
            ended.get(event["toolCallId"])
        )
    if line["hook"] == "model_call_started":
        last = attempts.get(ctx["runId"])
        began_anew = any(at > line["ts"] for at in starts)
        how = ("fine" if last["success"] else "failed") if last else "was cut off" if began_anew else "runs"
        return ("a run", ctx["sessionKey"]), how
    if line["hook"] == "message_sent":
        how = "fine" if event.get("success", True) else "failed"
        return ("the delivery of a message", ctx["sessionKey"]), how
    if line["hook"] == "cron_changed":
        return ("a cron job", event["jobId"]), "fine" if event["status"] == "ok" else "failed"
    return None


def _call(end: Line | None) -> str:
    if end is None:
        return "has no result"
    details = end.get("result", {}).get("details", {})
    if end.get("blocked"):
        return "blocked"
    if details.get("timedOut"):
        return "ran into its time limit"
    return "failed" if end.get("error") or details.get("exitCode") else "fine"


def _take(ends: Ends, key: tuple[str, ...], how: str, at_ms: int) -> None:
    if how == "fine":
        ends.pop(key, None)
    elif how not in ("blocked", "runs"):
        ends[key] = (how, ends.get(key, ("", 0, 0))[1] + 1, at_ms)
