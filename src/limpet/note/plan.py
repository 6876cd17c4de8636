"""What a note will say, from the events alone: exact counts, and statements that each name their events. Pure.

Not for how it reads (`wording`), nor for where it goes (`block`, `files`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from limpet.model import Coverage, Event

KINDS = (
    "asked",
    "done",
    "file",
    "failed",
    "blocked",
    "open",
    "delivered",
    "cron",
    "subagent",
    "decided",
    "added",
    "reset",
    "restart",
    "heartbeat",
)
"""What a statement may be about, in the order in which a note tells it."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Exact numbers of the span; every one counts events that began in it, Limpet's own and the gateway's inner ones out.

    `sessions` are the different ones that an event names, `failed` the tool calls that failed or timed out, `recovered`
    those of them after which a call of the same kind succeeded, `open` the calls that have no known end.
    """

    events: int = 0
    sessions: int = 0
    runs: int = 0
    failed_runs: int = 0
    calls: int = 0
    failed: int = 0
    recovered: int = 0
    blocked: int = 0
    cancelled: int = 0
    interrupted: int = 0
    open: int = 0
    asked: int = 0
    answered: int = 0
    delivered: int = 0
    undelivered: int = 0
    cron: int = 0
    failed_cron: int = 0
    subagents: int = 0
    model_calls: int = 0
    failed_model_calls: int = 0
    files: int = 0
    added: int = 0
    errors: int = 0
    resets: int = 0
    compactions: int = 0
    restarts: int = 0
    heartbeats: int = 0


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that the note says, and the events that say so.

    `words` is one line of Markdown: what stands in it from outside is quoted and cannot be anything but text. `events`
    are ids that `limpet show` opens, oldest first; where there are more than can be named, the first ones and the last
    one; `count` is how many there really are. `first_ms` and `last_ms` are the times of the first and the last.
    `also` are further events that it speaks of: the success by which a failure was made good.
    """

    kind: str
    words: str
    events: tuple[int, ...]
    count: int = 1
    first_ms: int = 0
    last_ms: int = 0
    also: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that the note of one agent and one span of local days will say.

    `first` and `last` are its first and its last local day, `from_ms` included and `until_ms` excluded their bounds.
    `told` are the statements that are told in words, in the order of KINDS and of time; `state` is the coverage's, and
    `uncovered` has one line for each span that was not seen.
    """

    agent: str
    first: date
    last: date
    zone: str
    from_ms: int
    until_ms: int
    counts: Counts
    statements: tuple[Statement, ...]
    state: str = "complete"
    uncovered: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say: no note is made of that."""
        return not self.statements and not (self.state == "blind" and self.uncovered)


def plan_of(  # noqa: PLR0913 - a note is of an agent and a span, in a zone
    events: Iterable[Event], coverage: Coverage, *, first: date, last: date, zone: str, agent: str
) -> Plan:
    """Return what the note of these local days says; one pass over the events, oldest first, in bounded memory."""
    raise NotImplementedError
