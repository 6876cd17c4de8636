"""Sessions as OpenClaw's tables hold them: a record for each state worth knowing. Not for transcripts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import apsw

from limpet import jsonline
from limpet.model import Record
from limpet.runtimes.foreign import named
from limpet.runtimes.openclaw.records import SOURCE, Place, record_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from limpet.model import Json

NEEDS = {
    "session_nodes": (
        "session_key",
        "entry_json",
        "archived_at",
        "created_via",
        "created_actor_type",
        "created_actor_id",
        "fork_source_session_id",
        "label",
        "parent_session_key",
        "spawned_by",
    ),
    "session_windows": (
        "session_id",
        "session_key",
        "previous_session_id",
        "reason",
        "session_scope",
        "created_at",
        "updated_at",
        "transcript_updated_at",
        "status",
        "started_at",
        "ended_at",
        "chat_type",
        "channel",
        "account_id",
        "parent_session_key",
        "spawned_by",
        "display_name",
    ),
    "transcript_rewrite_watermarks": ("session_id", "generation"),
    "transcript_events": ("session_id", "seq", "event_json", "event_zstd", "created_at"),
}
"""The tables and columns without which sessions and their transcripts cannot be read."""

SKETCHES = """
SELECT session_id, previous_session_id, max(updated_at, coalesce(transcript_updated_at, 0)), status, ended_at,
       (SELECT generation FROM transcript_rewrite_watermarks WHERE session_id = w.session_id),
       (SELECT max(seq) FROM transcript_events WHERE session_id = w.session_id)
FROM session_windows AS w
"""

# A window's own `started_at` and `ended_at` are those of its last run: a session begins when its window is made,
# and ends when the next window of the same conversation is.
WINDOW = """
SELECT w.session_id, w.session_key, w.previous_session_id, w.reason AS start_reason, w.session_scope,
       w.created_at AS started_at, w.chat_type, w.channel, w.account_id,
       coalesce(w.parent_session_key, n.parent_session_key) AS parent_session_key,
       coalesce(w.spawned_by, n.spawned_by) AS spawned_by, coalesce(w.display_name, n.label) AS name,
       n.created_via, n.created_actor_type, n.created_actor_id, n.fork_source_session_id, n.archived_at,
       w.status AS run_status, w.started_at AS run_started_at, w.ended_at AS run_ended_at,
       CASE WHEN w.status IN ('failed', 'killed', 'timeout') AND json_valid(n.entry_json)
            THEN json_extract(n.entry_json, '$.lastRunId') END AS run_id
FROM session_windows AS w LEFT JOIN session_nodes AS n ON n.session_key = w.session_key
WHERE w.session_id = ?
"""
FOLLOWER = """
SELECT created_at AS ended_at, session_id AS next_session_id, reason
FROM session_windows WHERE session_key = ? AND previous_session_id = ? ORDER BY created_at, session_id LIMIT 1
"""

_BAD_ENDS = frozenset({"failed", "killed", "timeout"})
_OF_A_RUN = frozenset({"run_status", "run_started_at", "run_ended_at", "run_id"})
_CTX = {
    "sessionKey": "session_key",
    "spawnedBy": "spawned_by",
    "parentSessionKey": "parent_session_key",
    "channel": "channel",
}


class Sketch(NamedTuple):
    """As much of a session as says whether there is anything new: all of them are looked at each time.

    `generation` stands for the transcript's rows, and another one means that they were rewritten; `last_seq` is
    None when it has no rows.
    """

    session: str
    previous: str | None
    changed_ms: int
    status: str | None
    ended_ms: int | None
    generation: str | None
    last_seq: int | None


@dataclass(frozen=True, slots=True)
class Window:
    """One session in the database: whose it is, when it last changed, and what is told about it."""

    place: Place
    changed_ms: int
    event: Mapping[str, Json]

    def record(self, arrived_ms: int) -> Record:
        """Return the record of this state; the same state said again has the same id."""
        identity = jsonline.canonical([SOURCE, "session_window", self.place.agent, self.event])
        body = {
            "hook": "session_window",
            "ts": self.event.get("ended_at") or self.event.get("run_ended_at") or self.event.get("started_at"),
            "ctx": self.place.context(),
            "event": dict(self.event),
        }
        stream = f"{self.place.stream}#window"
        return Record(record_id(identity), SOURCE, stream, self.changed_ms, "session_window", body, arrived_ms)


def sketches(database: apsw.Connection) -> Sequence[Sketch]:
    """Return every session that the database knows, in no order. Raises CorruptError for values that cannot be."""
    found = [Sketch._make(row) for row in database.execute(SKETCHES)]
    if not all(map(_can_be, found)):
        raise apsw.CorruptError("a session has values of a wrong type")
    return found


def _can_be(sketch: Sketch) -> bool:
    numbers = isinstance(sketch.changed_ms, int) and isinstance(sketch.last_seq, int | None)
    return numbers and isinstance(sketch.session, str) and isinstance(sketch.generation, str | None)


def window(database: apsw.Connection, agent: str, sketch: Sketch) -> Window:
    """Return what is to be told about a session. Raises CorruptError when it cannot be found."""
    row = next(named(database.execute(WINDOW, (sketch.session,))), None)
    if row is None:
        raise apsw.CorruptError("a session is in the table but not in its index")
    left_out = frozenset() if row["run_status"] in _BAD_ENDS else _OF_A_RUN
    for follower in named(database.execute(FOLLOWER, (row["session_key"], sketch.session))):
        row.update(follower)
    event = {name: value for name, value in row.items() if value is not None and name not in left_out}
    ctx = {said: row[name] for said, name in _CTX.items() if isinstance(row[name], str)}
    return Window(Place(agent, sketch.session, ctx), sketch.changed_ms, event)
