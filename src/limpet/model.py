"""The frozen values that the floors hand to each other. No behaviour beyond what the words mean."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

Json = Any
"""A value made of dict, list, str, int, float, bool and None."""

TYPES = (
    "tool_call",
    "message",
    "model_call",
    "run",
    "session",
    "reset",
    "compaction",
    "subagent",
    "cron",
    "gateway",
    "delivery",
    "error",
    "note",
    "gap",
    "brief",
)
"""Event types that Limpet itself makes; `add` may use any other word. `docs/glossary.md` says what each is."""

STATUSES = (
    "started",
    "succeeded",
    "failed",
    "cancelled",
    "timed_out",
    "blocked",
    "unknown",
    "interrupted",
)
"""OpenClaw's own words, and `interrupted`."""

TRUSTS = ("owner", "agent", "tool", "web", "system", "unknown")
"""Where a text came from."""

COUNTED = "counted"
"""The type of a fact that makes no event: the runtime's own audit ledger counted an action. It is a third witness."""

OWN = "own"
"""The label of Limpet's own work: its jobs, and calls of its tools, whose results only quote what is known already."""

UNWRITTEN = "unwritten"
"""Flags a message that a hook announced; where a transcript holds it too, it was written, and the flag goes."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a source said, once.

    `id` is made at the source: the same thing said again has the same id. `stream` and `seq` are the source's own
    order: a producer's uuid and number in the spool, a session and row in a transcript. `body` is the line as said:
    `{"hook", "ts", "ctx", "event"}` with whatever else stood in it. `no` is the ledger position, 0 before it has one.
    `arrived_ms` is epoch milliseconds.
    """

    id: str
    source: str
    stream: str
    seq: int
    kind: str
    body: Json
    arrived_ms: int
    no: int = 0

    def at(self, no: int) -> Record:
        """Return the same record with its place in the ledger."""
        return replace(self, no=no)


@dataclass(frozen=True, slots=True)
class Batch:
    """What a source gave in one read; `more` says that another read would give more now.

    `cursor` holds only the items (a spool segment, a session) whose position changed; None removes an item.

    `rejects` could not be read as records: each goes to quarantine with its reason and stops nothing.
    """

    records: tuple[Record, ...] = ()
    cursor: Mapping[str, Json] = field(default_factory=dict)
    more: bool = False
    rejects: tuple[Reject, ...] = ()


@dataclass(frozen=True, slots=True)
class Reject:
    """Bytes that could not be read as a record: kept (redacted) in quarantine, counted, shown in `status`."""

    source: str
    where: str
    reason: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Fact:
    """What one record says about one thing that happened: a part of an event.

    Facts of the same `type` that share a key are about the same thing; `place` is (record number, part).
    `phase` is `start`, `end` or `whole`; `rank` says how good the witness is; `entry` is the identity of the
    statement in a transcript, which a copy of it shares. Empty strings and None mean "this record does not say".
    """

    place: tuple[int, int]
    source: str
    order: tuple[str, int]
    type: str
    phase: str
    keys: tuple[str, ...]
    at_ms: int | None
    arrived_ms: int
    kind: str = ""
    agent: str = ""
    session: str = ""
    session_key: str = ""
    run: str = ""
    call: str = ""
    tool: str = ""
    status: str = ""
    actor: str = ""
    trust: str = ""
    label: str = ""
    duration_ms: int | None = None
    summary: str = ""
    error: str = ""
    parent: str = ""
    flags: tuple[str, ...] = ()
    details: Json = None
    tags: Json = None
    text: str = ""
    rank: int = 0
    entry: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. Times are epoch milliseconds, UTC; `places` are the records it was made from.

    `machine` is the one that it comes from, where several are read as one.
    """

    id: int
    at_ms: int
    arrived_ms: int
    type: str
    status: str = ""
    agent: str = ""
    session: str = ""
    session_key: str = ""
    run: str = ""
    call: str = ""
    tool: str = ""
    actor: str = ""
    trust: str = "unknown"
    label: str = ""
    duration_ms: int | None = None
    summary: str = ""
    error: str = ""
    parent: str = ""
    flags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    details: Json = None
    tags: Json = None
    text: str = field(default="", compare=False)
    keys: tuple[str, ...] = field(default=(), compare=False)
    places: tuple[tuple[int, int], ...] = ()
    open: bool = False
    machine: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Query:
    """A question, understood. `docs/how-it-works.md` gives the filter form.

    Times are epoch milliseconds, UTC: `since_ms` included, `until_ms` excluded. In each `(name, values, negated)`
    filter the values are alternatives; the filters and all else are joined by AND. The filter `is:error` stands for
    status `failed` or `timed_out`, or type `error`; `is:deed` for all but messages of the user and the types `gap`,
    `gateway`, `reset` and `session`. `words` (each a word or a phrase) are full text; `without` must
    not appear.
    `by` groups; `count` counts the different sessions, agents, tools or runs instead of the events. `take` above 0:
    only that many, in the order of `sort`, are what was asked for ("the last 5"). `limit` and `offset` only say what is
    shown. `noise` lets events with a noise label in. `note` says what had to be decided to understand the question,
    `yes_no` that it asked whether, not what ("did the backup run").
    """

    since_ms: int | None = None
    until_ms: int | None = None
    zone: str = "UTC"
    filters: tuple[tuple[str, tuple[str, ...], bool], ...] = ()
    words: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    by: str = ""
    count: str = ""
    limit: int = 50
    offset: int = 0
    sort: str = "newest"
    take: int = 0
    noise: bool = False
    understood: str = ""
    note: str = field(default="", compare=False)
    yes_no: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Gap:
    """A span that a source did not watch, and why. `to_ms` None means: still so."""

    from_ms: int
    to_ms: int | None
    source: str
    why: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far an answer can be trusted: `complete`, `partial`, `blind` or `unknown`, with the gaps.

    `warning` is what is broken at this moment, whatever span was asked for, and what to do about it.
    """

    state: str
    gaps: tuple[Gap, ...] = ()
    pending: int = 0
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The exact number of matches, the part shown, the groups, and the bounds.

    `snippets` gives, where a text was looked for, the passage around it by the event's id.
    """

    query: Query
    count: int
    events: tuple[Event, ...]
    groups: tuple[tuple[str, int], ...]
    coverage: Coverage
    snippets: Mapping[int, str] = field(default_factory=dict)
