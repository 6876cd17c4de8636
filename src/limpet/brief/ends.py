"""Open ends: what was begun and has no result, what went wrong and was not made good, what was promised. Pure.

Not for words. "Made good" is what it is in the daily note: a later success of the same kind (see `deeds`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from limpet.deeds.deed import aim_of, deed_of
from limpet.runtimes.saying import mapping, name

if TYPE_CHECKING:
    from limpet.model import Event

WRONG = frozenset({"failed", "timed_out", "interrupted"})
ENDLESS = frozenset({"started", "unknown"})
GRACE_MS = 300_000
"""A reminder may be this late before it is called forgotten."""

PROMISED = "promised"
"""The status of an open end that is a reminder which did not come."""

Aim = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class End:
    """What is still open: how often it went wrong since it last went well, the last event of it, its status."""

    event: Event
    status: str
    count: int = 1
    due_ms: int | None = None

    @property
    def at_ms(self) -> int:
        """When it happened last, or should have."""
        return self.event.at_ms if self.due_ms is None else self.due_ms


class Ends:
    """What is open, while events go by, oldest first. What it holds grows with what is open, not with what happens."""

    def __init__(self) -> None:
        """Begin with nothing open."""
        self._open: dict[Aim, End] = {}

    def feed(self, event: Event) -> None:
        """Take in one event."""
        aim = _aim(event)
        if not aim:
            return
        if event.type == "cron":
            self._keep_promise(event)
        if event.status == "succeeded":
            self._open.pop(aim, None)
        elif event.status in WRONG or event.type == "error" or (event.type == "tool_call" and event.status in ENDLESS):
            before = self._open.get(aim)
            self._open[aim] = End(event, event.status or "failed", before.count + 1 if before else 1)

    def left(self, now_ms: int) -> list[End]:
        """Return what is open at that moment, newest first; errors that nothing can make good come last."""
        due = (end for end in self._open.values() if end.due_ms is None or end.due_ms + GRACE_MS < now_ms)
        return sorted(due, key=lambda end: (end.event.type == "error", -end.at_ms, -end.event.id))

    def _keep_promise(self, event: Event) -> None:
        """Note a reminder that is to come once, or take the note away: it was changed, removed, or it came."""
        said = mapping(event.details)
        promise: Aim = (PROMISED, event.call or name(said.get("job")))
        due = said.get("due_ms")
        if event.call or said.get("action") in ("removed", "updated"):
            self._open.pop(promise, None)
        if isinstance(due, int) and not event.call and said.get("action") != "removed":
            self._open[promise] = End(event, PROMISED, due_ms=due)


def _aim(event: Event) -> Aim:
    """Return what a success must share with this event to make it good; () for what is never an open end."""
    if event.type == "tool_call":
        return ("tool_call", *aim_of(event, deed_of(event)))
    place = event.session_key or event.session
    shared = {
        "run": place,
        "cron": event.call,
        "delivery": place or name(mapping(event.details).get("channel")),
        "subagent": str(event.id),
        "error": event.summary,
    }
    return (event.type, shared[event.type]) if event.type in shared else ()
