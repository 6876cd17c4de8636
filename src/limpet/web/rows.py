"""An event as a line of a page: when, who, what, how it ended. Pure; the templates draw it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from limpet import text
from limpet.web.clocks import took

if TYPE_CHECKING:
    from collections.abc import Mapping

    from limpet.model import Event
    from limpet.web.clocks import Clocks

SHOWN = 240
"""So many characters of a summary stand in a line."""

TONES: Mapping[str, str] = {
    "failed": "bad",
    "timed_out": "bad",
    "interrupted": "odd",
    "blocked": "odd",
    "cancelled": "odd",
    "unknown": "odd",
    "started": "open",
    "succeeded": "good",
}
"""How each status looks; the word itself always stands beside it."""

MARKS = frozenset({"reset", "compaction", "gateway", "session", "gap"})
"""What changes the course of a session rather than happening in it."""

ENDS = frozenset({"tool_call", "model_call", "run", "cron", "subagent", "delivery"})
"""Types that have an end: of others the status says nothing to a reader."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line; `tone` is `bad`, `odd`, `open`, `good` or `plain`, `kind` who or what acted."""

    id: int
    at_ms: int
    iso: str
    time: str
    other: str
    day: str
    type: str
    kind: str
    what: str
    error: str
    status: str
    tone: str
    took: str
    duration_ms: int
    agent: str
    session: str
    flags: tuple[str, ...]
    label: str
    is_mark: bool
    is_child: bool
    is_turn: bool


def row_of(event: Event, clocks: Clocks) -> Row:
    """Return an event as a line."""
    status = event.status if event.type in ENDS or event.status in ("failed", "interrupted") else ""
    tone = "bad" if event.type == "error" else TONES.get(status, "plain")
    return Row(
        id=event.id,
        at_ms=event.at_ms,
        iso=clocks.iso(event.at_ms),
        time=clocks.time(event.at_ms),
        other=clocks.other(event.at_ms),
        day=clocks.day(clocks.of(event.at_ms)),
        type=event.type,
        kind=_kind(event),
        what=text.one_line(_what(event), SHOWN),
        error=text.one_line(event.error, SHOWN) if event.error and event.error not in event.summary else "",
        status=status.replace("_", " "),
        tone=tone,
        took=took(event.duration_ms) if event.type != "session" else "",
        duration_ms=event.duration_ms or 0,
        agent=text.one_line(event.agent, 40),
        session=event.session or event.session_key,
        flags=tuple(flag for flag in event.flags if flag != "child"),
        label=event.label,
        is_mark=event.type in MARKS,
        is_child="child" in event.flags,
        is_turn=event.type == "message" and event.actor == "user" and not event.label,
    )


def _kind(event: Event) -> str:
    if event.type == "tool_call":
        return text.one_line(event.tool or "tool", 24)
    if event.type == "message":
        return event.actor or "message"
    return event.type.replace("_", " ")


def _what(event: Event) -> str:
    """Return the summary without the tool's name before it, which stands beside it already."""
    said = event.summary
    return said[len(event.tool) :].strip() or said if event.tool and said.startswith(event.tool) else said
