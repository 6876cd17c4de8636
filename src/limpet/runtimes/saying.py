"""What any record says about itself: whose, where, when. The start of every fact that an interpreter makes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from limpet import days
from limpet.model import OWN, Fact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from limpet.model import Json, Record

OWN_TOOL = re.compile(
    r"(?:mcp__)?limpet__\w+|(?:(?:mcp_+)?limpet[_.:/-]+)?memory_(?:ask|recent|session|show)", re.ASCII
)
"""Limpet's tools by the names under which runtimes and MCP clients know them: `limpet__memory_ask` and its like."""

BRIDGE = "tool_call"
"""OpenClaw's tool through which a model calls those that it is not offered directly: `{"id": <tool>, "args"}`."""

WEB_TOOLS = ("web_", "browser", "fetch", "http", "firecrawl", "playwright")
LONGEST_MS = 1 << 53
TIME_FLAGS = frozenset({days.NAIVE, days.UNREADABLE, days.OUT_OF_RANGE})
REMARKS = ("invalid_utf8",)
"""What a reader of lines may have noted in a record's body."""

DAY_MS = 86_400_000
NAIVE_ZONE = "UTC"
"""How a time without a zone is read, unless its source is known to write local time."""


@dataclass(frozen=True, slots=True)
class Saying:
    """A record, opened: its `ctx` and `event`, and who and where it speaks of."""

    record: Record
    ctx: Mapping[str, Any]
    event: Mapping[str, Any]
    agent: str
    session: str
    session_key: str
    run: str
    at_ms: int | None
    flags: tuple[str, ...]
    label: str

    def fact(self, kind: str, phase: str, part: int = 0, *keys: str, **fields: Any) -> Fact:
        """Return a fact of this record: an event `kind` and `phase`, its part, its join keys, and what it says."""
        record = self.record
        given: dict[str, Any] = {
            "agent": self.agent,
            "session": self.session,
            "session_key": self.session_key,
            "run": self.run,
            "at_ms": self.at_ms,
            "label": self.label,
        }
        given.update(fields)
        given["flags"] = self.flags + tuple(fields.get("flags", ()))
        return Fact(
            place=(record.no, part),
            source=record.source,
            order=(record.stream, record.seq),
            type=kind,
            phase=phase,
            keys=keys,
            arrived_ms=record.arrived_ms,
            kind=record.kind,
            **given,
        )

    def at(self, said: Json) -> Saying:
        """Return the same saying with another time, as the source gives it; unchanged where it gives none."""
        if said is None:
            return self
        at_ms, flag = when(said, self.record.arrived_ms)
        kept = tuple(f for f in self.flags if f not in TIME_FLAGS)
        return replace(self, at_ms=at_ms, flags=(flag, *kept) if flag else kept)


def gateway_turn(saying: Saying, what: str, summary: str, rank: int = 1) -> Fact:
    """Return a start or a stop (`what`) of the gateway, by its hook or its log: the nearest of a day are one."""
    day = (saying.record.arrived_ms if saying.at_ms is None else saying.at_ms) // DAY_MS
    return saying.fact(
        "gateway", "whole", 0, f"gateway:{what}:{day}", actor="system", trust="system", agent="", session="",
        session_key="", run="", status="started" if what == "start" else "succeeded", summary=summary, rank=rank,
    )  # fmt: skip


def saying_of(record: Record) -> Saying:
    """Open a record. Missing names stay empty: another record of the same thing may know them."""
    body = record.body if isinstance(record.body, dict) else {}
    ctx, event = mapping(body.get("ctx")), mapping(body.get("event"))
    session_key = name(ctx.get("sessionKey")) or name(event.get("sessionKey"))
    at_ms, flag = when(body.get("ts"), record.arrived_ms)
    return Saying(
        record=record,
        ctx=ctx,
        event=event,
        agent=name(ctx.get("agentId")) or agent_of_key(session_key),
        session=name(ctx.get("sessionId")) or name(event.get("sessionId")) or name(ctx.get("sessionIdSeen")),
        session_key=session_key,
        run=name(ctx.get("runId")) or name(event.get("runId")) or name(ctx.get("runIdSeen")),
        at_ms=at_ms,
        flags=(flag, *_flags(body)) if flag else _flags(body),
        label=label_of(session_key, ctx.get("trigger")),
    )


def _flags(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the reader of the line had to remark on it; a producer's own word of that name is none of ours."""
    return tuple(flag for flag in REMARKS if isinstance(body.get("flags"), list) and flag in body["flags"])


def when(said: Json, arrived_ms: int, zone: str = NAIVE_ZONE) -> tuple[int, str]:
    """Return the instant as epoch milliseconds and a flag; see `days.instant`, whose fast path this is."""
    if type(said) is int and 946_684_800_000 < said < 4_102_444_800_000:
        return said, ""
    return days.instant(said, arrived_ms, zone)


def duration(value: Json) -> int | None:
    """Return a duration in whole milliseconds; None for what is none, or is longer than any database can hold."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return round(value) if is_number and 0 <= value < LONGEST_MS else None


def keyed(kind: str, *names: str) -> Sequence[str]:
    """Return the join key made of these names; none where one of them is missing: what is missing matches nothing."""
    return [":".join((kind, *names))] if all(names) else []


def mapping(value: Json) -> Mapping[str, Any]:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def name(value: Json) -> str:
    """Return an id or name as text: numbers too (every digit), anything else is no name."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def agent_of_key(session_key: str) -> str:
    """Return the agent that a session key of OpenClaw names (`agent:<id>:...`), or ""."""
    parts = session_key.split(":", 2)
    return parts[1] if len(parts) == 3 and parts[0] == "agent" else ""


def label_of(session_key: str, trigger: Json) -> str:
    """Return the noise label of a session: `own`, `internal`, `heartbeat`, `cron` or ""."""
    rest = session_key.split(":", 2)[-1]
    if rest.startswith(("sidecar-summary", "limpet-")):
        return OWN
    if rest.startswith(("internal-session-effects:", "explicit:model-run-")):
        return "internal"
    if trigger == "heartbeat" or rest.endswith(":heartbeat") or rest == "heartbeat":
        return "heartbeat"
    return "cron" if trigger == "cron" or rest.startswith("cron:") else ""


def trust_of_tool(tool: str) -> str:
    """Return where a tool's output comes from: `web` for what reads the web, else `tool`."""
    return "web" if tool.startswith(WEB_TOOLS) else "tool"


def is_own_call(tool: str, params: Json) -> bool:
    """Whether a call asks Limpet's own memory, directly or through OpenClaw's bridge."""
    return bool(OWN_TOOL.fullmatch(name(mapping(params).get("id")) if tool == BRIDGE else tool))
