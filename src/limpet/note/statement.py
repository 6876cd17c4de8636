"""What a note counts and states: plain numbers, and statements that each name their events. No behaviour."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = (
    "asked",
    "done",
    "file",
    "failed",
    "stopped",
    "open",
    "trouble",
    "delivered",
    "cron",
    "subagent",
    "decided",
    "added",
    "reset",
    "restart",
    "heartbeat",
)
"""What a statement may be about, in the order in which a note tells it.

`failed` are tool calls that failed or timed out, `stopped` those that were not allowed or were cancelled, `open` calls
and messages without an end; `trouble` is everything else that went wrong: runs, cron jobs, deliveries, model calls.
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """Exact numbers of a span: each counts what began in it, without Limpet's own events and the gateway's inner ones.

    `calls` are all tool calls; of these `failed` failed or timed out, `blocked`, `cancelled` and `interrupted` were,
    and `open` have no known end; after `recovered` of the failed ones a call of the same kind succeeded. `sessions`
    are those in which more than heartbeats happened. `runs`, `asked` (messages of people), `answered` (messages of the
    agent), `delivered` and `undelivered` (messages to a channel) are without heartbeats, which `heartbeats` counts by
    their runs. `files` are the different ones that were written, `added` the events that somebody added.
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

    `words` is one line of Markdown: what stands in it from outside is quoted and cannot be anything but text. `verb`
    and `brief` say the same within a sentence: "ran" and "`make deploy` twice"; `verb` may be "". `events` are ids that
    `limpet show` opens, oldest first; where there are more than can be named, the first ones and the last one; `count`
    is how many there really are. `also` are further events that it speaks of: an answer, or the success by which a
    failure was made good. `first_ms` and `last_ms` are the times of the first and the last event.
    """

    kind: str
    words: str
    events: tuple[int, ...]
    count: int = 1
    first_ms: int = 0
    last_ms: int = 0
    also: tuple[int, ...] = ()
    verb: str = ""
    brief: str = ""
