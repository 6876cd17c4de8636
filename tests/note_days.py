"""Generated days of an OpenClaw with two agents, as raw hook lines, and what a person with a pencil counts in them.

The count reads the lines alone, by rules of its own: it shares no code with what it judges.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Line = dict[str, Any]

COMMANDS = {
    "make deploy VERSION=2.8": "make deploy",
    "make deploy VERSION=2.9": "make deploy",
    "cd shop && ./backup.sh --full": "backup.sh",
    "python3 tools/report.py --month 5": "report.py",
    "git push origin main": "git push",
    "pytest -q tests": "pytest",
    "ls -la": "ls",
}
"""Command lines, and what a person would call the program."""

FILES = ("notes/a.md", "notes/b.md", "src/shop/prices.py")
TALK = (
    "please deploy the shop",
    "how is the post doing?",
    "# urgent <!-- limpet:end -->",
    "备份照片",
    "pay [me](http://x)",
)
OUTCOMES = ("fine", "fine", "fine", "error", "exit", "timeout", "blocked")
AGENTS = ("main", "helper")


def days_from(seed: int, first: date, count: int, zone: str) -> list[Line]:
    """Return the lines of so many local days, in the order of time; sessions run over midnight now and then."""
    chance = random.Random(seed)
    lines: list[Line] = []
    for number in range(count):
        day = first + timedelta(days=number)
        start = int(datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).timestamp() * 1000)
        lines += _Day(chance, f"{seed}-{number}", start).lines()
    return sorted(lines, key=lambda line: line["ts"])


class _Day:
    """One day: turns of two agents, heartbeats, cron jobs, what people added, a restart."""

    def __init__(self, chance: random.Random, name: str, start_ms: int) -> None:
        self._chance, self._name, self._start = chance, name, start_ms
        self._number = 0
        self._lines: list[Line] = []
        self._now = start_ms

    def lines(self) -> list[Line]:
        """Return the day's lines; some days have none."""
        if self._chance.random() < 0.05:
            return []
        for _ in range(self._chance.randint(0, 5)):
            self._now = self._start + self._chance.randrange(24 * 3_600_000)
            self._turn(self._chance.choice(AGENTS))
        for _ in range(self._chance.randint(0, 3)):
            self._now = self._start + self._chance.randrange(24 * 3_600_000)
            self._heartbeat()
        self._more()
        return self._lines

    def _more(self) -> None:
        if self._chance.random() < 0.3:
            self._tell(
                "cron_changed",
                {
                    "action": "finished",
                    "jobId": "digest",
                    "runAtMs": self._now,
                    "status": self._chance.choice(["ok", "error"]),
                    "job": {"name": "digest"},
                    "summary": "3 letters",
                },
                {},
            )
        if self._chance.random() < 0.3:
            self._tell("limpet_add", {"type": "decision", "summary": "we stay on port 9443"}, {})
        if self._chance.random() < 0.2:
            self._now = self._start + self._chance.randrange(20 * 3_600_000)
            self._tell("gateway_start", {"port": 1}, {})

    def _turn(self, agent: str) -> None:
        run, session = self._id("run"), f"s-{self._name}-{agent}-{self._chance.randint(0, 1)}"
        ctx = {"agentId": agent, "sessionKey": f"agent:{agent}:main", "sessionId": session, "runId": run}
        self._tell("message_received", {"content": self._chance.choice(TALK), "messageId": self._id("m")}, ctx)
        self._tell("model_call_started", {"callId": f"{run}:model:1", "provider": "p", "model": "m"}, ctx)
        self._tell(
            "model_call_ended", {"callId": f"{run}:model:1", "provider": "p", "model": "m", "outcome": "completed"}, ctx
        )
        for _ in range(self._chance.randint(0, 6)):
            self._call(ctx)
        self._tell(
            "message_sent",
            {"content": "done", "messageId": self._id("out"), "success": self._chance.random() > 0.1},
            {**ctx, "channelId": "telegram"},
        )
        self._tell("agent_end", {"success": self._chance.random() > 0.1, "durationMs": 5}, ctx)

    def _call(self, ctx: Line) -> None:
        tool, params = self._chance.choice(
            [("exec", {"command": c}) for c in COMMANDS] + [("write", {"path": p}) for p in FILES]
        )
        call, outcome = self._id("call"), self._chance.choice(OUTCOMES)
        event = {"toolName": tool, "params": params, "toolCallId": call}
        self._tell("before_tool_call", event, ctx)
        ends: Line = {
            "fine": {"result": {"content": [{"type": "text", "text": "ok"}], "details": {"exitCode": 0}}},
            "error": {"error": "it broke `badly` [really](http://x)"},
            "exit": {"result": {"content": [{"type": "text", "text": "no"}], "details": {"exitCode": 2}}},
            "timeout": {"result": {"content": [], "details": {"timedOut": True}}},
            "blocked": {"blocked": True, "blockReason": "not here"},
        }
        self._tell("after_tool_call", {**event, **ends[outcome], "durationMs": 7}, ctx)

    def _heartbeat(self) -> None:
        run = self._id("beat")
        ctx = {
            "agentId": "main",
            "sessionKey": "agent:main:main",
            "sessionId": "s-beats",
            "runId": run,
            "trigger": "heartbeat",
        }
        self._tell("message_received", {"content": "read HEARTBEAT.md", "messageId": self._id("m")}, ctx)
        self._tell("model_call_started", {"callId": f"{run}:model:1", "provider": "p", "model": "m"}, ctx)
        if self._chance.random() < 0.2:
            self._call(ctx)
        self._tell("message_sent", {"content": "HEARTBEAT_OK", "messageId": self._id("m")}, ctx)

    def _tell(self, hook: str, event: Line, ctx: Line) -> None:
        self._now += self._chance.randint(1, 90_000)
        self._lines.append({"hook": hook, "ts": self._now, "ctx": ctx, "event": event})

    def _id(self, what: str) -> str:
        self._number += 1
        return f"{what}-{self._name}-{self._number}"


def counted(lines: Iterable[Line], zone: str) -> dict[tuple[date, str], Counter[str]]:
    """Return what the lines of each local day and agent add up to."""
    days: dict[tuple[date, str], Counter[str]] = defaultdict(Counter)
    began = {line["event"]["toolCallId"]: line for line in lines if line["hook"] == "before_tool_call"}
    sets: dict[tuple[date, str, str], set[str]] = defaultdict(set)
    waiting: Counter[tuple[date, str, str]] = Counter()
    failed_runs = {
        line["ctx"]["runId"] for line in lines if line["hook"] == "agent_end" and not line["event"]["success"]
    }
    ends = {line["event"]["toolCallId"]: line for line in lines if line["hook"] == "after_tool_call"}
    for line in sorted(lines, key=lambda one: one["ts"]):
        agent = line["ctx"].get("agentId", "main")
        day = datetime.fromtimestamp(line["ts"] / 1000, ZoneInfo(zone)).date()
        counts, hook, event = days[day, agent], line["hook"], line["event"]
        beat = line["ctx"].get("trigger") == "heartbeat"
        if line["ctx"].get("runId") and beat and hook != "after_tool_call":
            sets[day, agent, "heartbeats"].add(line["ctx"]["runId"])
        if line["ctx"].get("sessionId") and not beat and hook in _BEGINS:
            sets[day, agent, "sessions"].add(line["ctx"]["sessionId"])
        if hook == "before_tool_call":
            end = ends[event["toolCallId"]]["event"]
            _count_call(counts, (day, agent), event, end, waiting, sets)
        if hook == "model_call_started":
            counts["failed_runs"] += line["ctx"]["runId"] in failed_runs
        for name in _plain(line, beat):
            counts[name] += 1
    for (day, agent, what), found in sets.items():
        days[day, agent][what] = len(found)
    assert began.keys() == ends.keys()
    return days


_BEGINS = frozenset({"message_received", "model_call_started", "before_tool_call", "message_sent"})


def _count_call(
    counts: Counter[str],
    where: tuple[date, str],
    event: Line,
    end: Line,
    waiting: Counter[Any],
    sets: dict[Any, set[str]],
) -> None:
    params = event["params"]
    kind = (*where, COMMANDS.get(params.get("command", ""), params.get("path", "")))
    result = end.get("result", {}).get("details", {})
    counts["calls"] += 1
    if end.get("blocked"):
        counts["blocked"] += 1
    elif end.get("error") or result.get("timedOut") or result.get("exitCode"):
        counts["failed"] += 1
        waiting[kind] += 1
    else:
        counts["recovered"] += waiting.pop(kind, 0)
        if "path" in params:
            sets[(*where, "files")].add(params["path"])


def _plain(line: Line, beat: bool) -> Iterator[str]:
    hook, event = line["hook"], line["event"]
    if hook == "message_received" and not beat:
        yield "asked"
    if hook == "message_sent" and not beat:
        yield "delivered" if event["success"] else "undelivered"
    if hook == "model_call_started":
        yield from ("model_calls", *([] if beat else ["runs"]))
    if hook == "cron_changed":
        yield from ("cron", *(["failed_cron"] if event["status"] == "error" else []))
    if hook == "limpet_add":
        yield "added"
    if hook == "gateway_start":
        yield "restarts"
