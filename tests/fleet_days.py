"""The invented events of `question_forms` as lines of hooks, with odd texts among them: for two stores to agree on."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from lab import NOON, call, hook, numbered
from question_forms import raw_events

if TYPE_CHECKING:
    from collections.abc import Iterator

Raw = dict[str, Any]

ENDS: dict[str, dict[str, Any]] = {
    "succeeded": {},
    "failed": {"error": "exit 1: disk full"},
    "timed_out": {"result": {"details": {"status": "timeout"}}},
    "blocked": {"blocked": True, "blockReason": "not allowed"},
    "cancelled": {"result": {"details": {"status": "cancelled"}}},
    "interrupted": {"result": {"details": {"exitCode": 130}}},
}
ODD = (
    "数据库 备份 failed: Größe überschritten",
    "snake_case_name --with-options /etc/hosts:42",
    "한국어 메시지 insurance",
    "a\u0000b and \ue000 private",
    "İstanbul naïve ÇA ñ ½ ⅷ ٣",
    "insurance travel insurance, travel",
    "日本語のテキスト、長い文章です",
    "x" * 3000 + " needle " + "y " * 2000,
)


def lines(number: int) -> list[Raw]:
    """Return lines of about so many events."""
    told = itertools.chain.from_iterable(map(_line, raw_events(number, seed=5)))
    return numbered([*told, *_more()])


def _line(raw: Raw) -> Iterator[Raw]:
    at = raw["at"] - NOON
    session = raw["session"]
    ctx = {"agentId": raw["agent"], "sessionId": session, "sessionKey": f"agent:{raw['agent']}:{session}",
           "runId": f"r-{raw['no'] // 9}"}  # fmt: skip
    if raw["label"]:
        ctx["trigger"] = "heartbeat"
    odd = f"{raw['text']} {ODD[raw['no'] % len(ODD)] if raw['no'] % 5 == 0 else ''}".strip()
    if raw["type"] == "tool_call":
        yield call(f"c-{raw['no']}", at - 5, raw["tool"], begins=True, params={"command": odd}, ctx=ctx)
        if raw["status"] != "started":
            end = {"params": {"command": odd}, "durationMs": raw["ms"], **ENDS[raw["status"]]}
            yield call(f"c-{raw['no']}", at, raw["tool"], ctx=ctx, **end)
    elif raw["type"] == "message":
        name = "message_received" if raw["actor"] == "user" else "message_sent"
        yield hook(name, {"content": odd, "messageId": f"m-{raw['no']}"}, at, **ctx)
    elif raw["type"] == "error":
        yield hook("limpet_add", {"type": "error", "summary": odd, "details": {"n": raw["no"]}}, at, **ctx)
    elif raw["type"] == "run":
        yield hook("agent_end", {"success": raw["status"] == "succeeded", "durationMs": raw["ms"]}, at, **ctx)
    else:
        event = {"callId": f"x-{raw['no']}", "outcome": "completed", "durationMs": raw["ms"]}
        yield hook("model_call_ended", event, at, **ctx)


def _more() -> Iterator[Raw]:
    """Yield what the invented events lack: no agent, no session, a subagent, a gateway that starts anew."""
    at = raw_events(1)[0]["at"] - NOON
    nobody = {"agentId": None, "sessionKey": None, "sessionId": None, "runId": None}
    for number, odd in enumerate(ODD):
        yield hook("limpet_add", {"type": "decision", "summary": odd, "tags": [odd]}, at + number, **nobody)
    child = {"childSessionKey": "agent:main:subagent:1", "agentId": "desk", "mode": "run"}
    yield hook("subagent_spawned", {**child, "runId": "child-run"}, at + 20)
    yield hook("gateway_start", {"port": 1}, at + 40)
