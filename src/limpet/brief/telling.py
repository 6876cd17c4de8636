"""Limpet's own sentences of a brief: counts, times, numbers and known words; nothing that anybody else wrote. Pure.

Names of tools, agents and sessions are other people's text, too: only a name that Limpet knows is said, or an id of a
form in which nothing can be said. These sentences go into the system's part of what a model reads.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from limpet.brief.ends import PROMISED

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping

    from limpet.brief.digest import Digest, Stretch
    from limpet.brief.ends import End
    from limpet.brief.times import Times

KNOWN_TOOLS = frozenset(
    {
        *(
            "agents_list",
            "apply_patch",
            "browser",
            "canvas",
            "cron",
            "edit",
            "exec",
            "find",
            "gateway",
            "grep",
            "image",
        ),
        *("ls", "memory_get", "memory_search", "message", "nodes", "process", "read", "session_status", "tool_call"),
        *("sessions_history", "sessions_list", "sessions_send", "sessions_spawn", "tool_search", "tts", "web_fetch"),
        *("web_search", "write"),
    }
)
"""OpenClaw's own tools. Any other tool is called "a tool" here, and by its name in a quotation."""
UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

COUNTED: Mapping[str, tuple[str, str]] = {
    "messages": ("message", "messages"),
    "calls": ("tool call", "tool calls"),
    "jobs": ("cron run", "cron runs"),
    "subagent": ("subagent", "subagents"),
    "added": ("note", "notes"),
    "starts": ("gateway start", "gateway starts"),
    "error": ("error", "errors"),
    "failed_run": ("failed run", "failed runs"),
    "failed_delivery": ("failed delivery", "failed deliveries"),
}
"""What is counted, in the order in which it is said: one, many."""

WITHIN: Mapping[str, tuple[tuple[str, str], ...]] = {
    "calls": (
        ("failed", "failed"),
        ("endless", "without a result"),
        ("interrupted", "cut off"),
        ("blocked", "not allowed"),
        ("cancelled", "cancelled"),
    ),
    "jobs": (("failed_jobs", "failed"),),
}

ENDINGS: Mapping[str, str] = {
    "failed": "failed",
    "timed_out": "ran into its time limit",
    "interrupted": "was cut off",
    "started": "has no result",
    "unknown": "has no result",
}
WHAT: Mapping[str, str] = {
    "run": "a run",
    "cron": "a cron job",
    "delivery": "the delivery of a message",
    "subagent": "a subagent",
}


def counts(counted: Counter[str]) -> str:
    """Return counts in words, `nothing` where there are none."""
    said = [_counted(what, counted) for what in COUNTED if counted[what]]
    return ", ".join(said) or "nothing"


def _counted(what: str, counted: Counter[str]) -> str:
    n = counted[what]
    inner = [f"{counted[word]:,} {said}" for word, said in WITHIN.get(what, ()) if counted[word]]
    return f"{n:,} {COUNTED[what][n != 1]}" + (f" ({', '.join(inner)})" if inner else "")


def spans(digest: Digest, days_of: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each span; `days_of` says what the spans are called."""
    for name, called in days_of.items():
        yield f"{called}: {counts(digest.spans[name].counts)}."


def beats(digest: Digest, span: str) -> Iterator[str]:
    """Yield the heartbeats of a span, folded into one sentence (field case F77)."""
    counted = digest.spans[span].counts
    if counted["beats"] or counted["bad_beats"]:
        bad = counted["bad_beats"]
        how = f"{bad:,} failure{'s' if bad > 1 else ''} in them" if bad else "all ok"
        yield f"Heartbeats x {counted['beats']:,}, {how}."


def since_talk(digest: Digest, times: Times) -> str:
    """Return when somebody last wrote, and what happened by itself since then."""
    if digest.talk is None:
        return "Nobody wrote to this agent in the last days."
    beats = f", heartbeats x {digest.since['beats']:,}" if digest.since["beats"] else ""
    at = times.short(digest.talk.at_ms)
    return f"Last written to {at}{_session(digest.talk.session)}; since then: {counts(digest.since)}{beats}."


def end(one: End, times: Times) -> str:
    """Return an open end: what, how often, when last, and the number of its last event."""
    event = one.event
    often = f" {one.count:,} times, last" if one.count > 1 else ""
    number = f"(event {event.id})"
    if one.status == PROMISED:
        return f"- a reminder was due {times.short(one.at_ms)} and did not come {number}"
    when = f"{often} {times.short(one.at_ms)}"
    if event.type == "error":
        return f"- an error was logged{when} {number}"
    what = WHAT.get(event.type) or (event.tool if event.tool in KNOWN_TOOLS else "a tool")
    return f"- {what} {ENDINGS.get(one.status, 'failed')}{when}, no success since {number}"


def session(stretch: Stretch, times: Times) -> str:
    """Return a session in one line."""
    began, to = times.short(stretch.from_ms), times.short(stretch.to_ms)
    span = began if began == to else f"{began} to {to.removeprefix(began[:6])}"
    return f"- {span}{_session(stretch.session)}: {counts(stretch.counts)}"


def _session(name: str) -> str:
    """Return a session's short name, where nothing but an id can stand in it."""
    return f" in session {name[:8]}" if UUID.fullmatch(name) else ""
