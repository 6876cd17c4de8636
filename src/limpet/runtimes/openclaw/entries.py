"""What the rows of OpenClaw's transcripts mean, from its database or an older file: entries in, facts out. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from limpet import text
from limpet.model import COUNTED
from limpet.runtimes.messages import begun, ended, facts_of_message
from limpet.runtimes.saying import gateway_turn, keyed, mapping, name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from limpet.model import Fact
    from limpet.runtimes.saying import Saying

COPY_PART = 4095
"""The part of an entry's record that tells of its being a copy; the blocks of a message are counted from 2."""

SILENT = frozenset(
    {
        "session",
        "model_change",
        "thinking_level_change",
        "custom",
        "custom_message",
        "label",
        "session_info",
        "leaf",
        "branch_summary",
    }
)
"""Entries that are known and tell of nothing that happened; they stay in the ledger."""


def transcript_line(saying: Saying) -> Sequence[Fact]:
    """Return what one entry of a transcript says; an entry of a kind that nobody knows can be found as `unknown`."""
    entry = saying.event
    kind = name(entry.get("type"))
    here = _located(saying)
    if kind in SILENT:
        return ()
    if read := READERS.get(kind):
        return read(here)
    return [
        here.fact(
            "unknown",
            "whole",
            actor="system",
            trust="unknown",
            summary=text.one_line(f"transcript entry {kind or 'without a type'} (not known to Limpet)", 200),
        )
    ]


def session_window(saying: Saying) -> Sequence[Fact]:
    """Return the start or the end of a session as OpenClaw's session table tells it."""
    event = saying.event
    keys = [f"session:{saying.agent}:{saying.session}"] if saying.session else []
    made: dict[str, Any] = {"actor": "system", "trust": "system", "rank": 1}
    started, over = event.get("started_at"), event.get("ended_at")
    facts = []
    if started is not None:
        before = name(event.get("fork_source_session_id")) or name(event.get("previous_session_id"))
        made["details"] = {"continues": before} if before else None
        facts.append(
            saying.at(started).fact("session", "start", 0, *keys, status="started", summary="session started", **made)
        )
    if over is not None:
        reason = name(event.get("reason"))
        words = f"session ended ({reason})" if reason else "session ended"
        facts.append(saying.at(over).fact("session", "end", 1, *keys, status="succeeded", summary=words, **made))
    return facts


def audit_event(saying: Saying) -> Sequence[Fact]:
    """Return what OpenClaw's audit ledger counted; `call` is the SHA-256 that it keeps of a tool call's id."""
    row = saying.event
    here = saying.at(row.get("occurred_at"))
    digest = name(row.get("tool_call_id")).removeprefix("sha256:")
    return [
        here.fact(
            COUNTED, "whole", 0, call=digest, tool=name(row.get("tool_name")), status=name(row.get("status")),
            summary=name(row.get("action")),
        )
    ]  # fmt: skip


TURNS: Mapping[str, tuple[str, str]] = {
    "start": ("gateway ready", "gateway started"),
    "stop": ("received SIG", "gateway stopped"),
}
"""How the log's lines on the gateway's own life begin, and what they mean."""


def gateway_log(saying: Saying) -> Sequence[Fact]:
    """Return an error that the gateway logged and no hook tells of (a channel, a plugin), or its start or stop."""
    event = saying.event
    if event.get("level") not in ("error", "fatal", "warn"):
        said = text.plain(event.get("message"))
        return [gateway_turn(saying, what, words) for what, (begin, words) in TURNS.items() if said.startswith(begin)]
    part, said = name(event.get("subsystem")) or "gateway", text.plain(event.get("message"))
    line = text.one_line(f"{part}: {said}", 300)
    return [
        saying.fact(
            "error", "whole", 0, actor="system", trust="system", summary=line, error=text.one_line(said, 500),
            text=f"{part} {said}",
            details={"level": event.get("level"), "subsystem": part},
        )
    ]  # fmt: skip


def _located(saying: Saying) -> Saying:
    """Return the saying with the run that the message names, and the entry's own time."""
    message = mapping(saying.event.get("message"))
    # A user's message names its run in its idempotency key, the others in OpenClaw's own field.
    run = name(mapping(message.get("__openclaw")).get("runId"))
    key = name(message.get("idempotencyKey"))
    run = run or (key.removesuffix(":user") if key.endswith(":user") else "")
    here = saying.at(saying.event.get("timestamp"))
    return replace(here, run=run) if run else here


def _identity(entry: Mapping[str, Any]) -> str:
    own = name(entry.get("id"))
    return f"{own}@{entry.get('timestamp')}" if own else ""


def _message(saying: Saying) -> Sequence[Fact]:
    entry = _identity(saying.event)
    facts = facts_of_message(saying, mapping(saying.event.get("message")), entry)
    if not saying.ctx.get("sessionStartedAt"):
        return facts
    return [*(replace(fact, rank=fact.rank - 1) for fact in facts), _copying(saying, entry)]


def _copying(saying: Saying, entry: str) -> Fact:
    """Return the start of the session that repeats this entry of an earlier one."""
    keys = [f"session:{saying.agent}:{saying.session}"] if saying.session else []
    return saying.at(saying.ctx.get("sessionStartedAt")).fact(
        "session", "start", COPY_PART, *keys,
        actor="system", trust="system", status="started", summary="session started", details={"copied": entry}, run="",
    )  # fmt: skip


def _reset(saying: Saying) -> Sequence[Fact]:
    reason = name(saying.event.get("reason"))
    place = saying.session_key or saying.session
    summary = f"session reset ({reason})" if reason else "session reset"
    return [
        saying.fact(
            "reset",
            "whole",
            0,
            *keyed("reset", place),
            actor="user",
            trust="system",
            summary=summary,
            rank=1,
            entry=_identity(saying.event),
        )
    ]


def _compaction(saying: Saying) -> Sequence[Fact]:
    place = saying.session_key or saying.session
    said = text.plain(saying.event.get("summary"))
    return [
        saying.fact(
            "compaction", "end", 0, *keyed("compaction", place), actor="system", trust="system", status="succeeded",
            summary=text.one_line(f"prompt compacted: {said}" if said else "prompt compacted", 200), text=said, rank=3,
            entry=_identity(saying.event),
        )
    ]  # fmt: skip


def _item(saying: Saying) -> Sequence[Fact]:
    """Read an item of the codex harness."""
    item = mapping(saying.event.get("payload"))
    kind = name(item.get("type"))
    if kind == "function_call":
        return [begun(saying, item, 0, _identity(saying.event))]
    if kind == "function_call_output":
        return [ended(saying, item, 0, _identity(saying.event))]
    if kind == "message":
        return facts_of_message(saying, item, _identity(saying.event))
    return ()


READERS: Mapping[str, Callable[[Saying], Sequence[Fact]]] = {
    "message": _message,
    "reset": _reset,
    "compaction": _compaction,
    "response_item": _item,
}
ENTRIES: Mapping[str, Callable[[Saying], Sequence[Fact]]] = {
    "transcript_line": transcript_line,
    "session_window": session_window,
    "audit_event": audit_event,
    "gateway_log": gateway_log,
}
"""Each kind of record that is made from OpenClaw's own files, and what it means."""
