"""Sessions as OpenClaw's tables hold them: a record for each state worth knowing. Not for transcripts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from limpet import jsonline
from limpet.model import Record
from limpet.runtimes.foreign import named
from limpet.runtimes.openclaw.records import SOURCE, Place, record_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw

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

# A window's own `started_at` and `ended_at` are those of its last run: a session begins when its window is
# made, and ends when the next window of the same conversation is.
OVERVIEW = """
SELECT w.session_id, w.session_key, w.previous_session_id, w.reason AS start_reason, w.session_scope,
       w.created_at AS started_at, w.chat_type, w.channel, w.account_id,
       coalesce(w.parent_session_key, n.parent_session_key) AS parent_session_key,
       coalesce(w.spawned_by, n.spawned_by) AS spawned_by, coalesce(w.display_name, n.label) AS name,
       n.created_via, n.created_actor_type, n.created_actor_id, n.fork_source_session_id, n.archived_at,
       w.status AS run_status, w.started_at AS run_started_at, w.ended_at AS run_ended_at,
       CASE WHEN w.status IN ('failed', 'killed', 'timeout') AND json_valid(n.entry_json)
            THEN json_extract(n.entry_json, '$.lastRunId') END AS run_id,
       max(w.updated_at, coalesce(w.transcript_updated_at, 0)) AS changed_at,
       (SELECT generation FROM transcript_rewrite_watermarks WHERE session_id = w.session_id) AS generation,
       (SELECT max(seq) FROM transcript_events WHERE session_id = w.session_id) AS last_seq
FROM session_windows AS w LEFT JOIN session_nodes AS n ON n.session_key = w.session_key
ORDER BY w.created_at, w.session_id
"""

_BAD_ENDS = frozenset({"failed", "killed", "timeout"})
_OF_A_RUN = ("run_status", "run_started_at", "run_ended_at", "run_id")
_NOT_TOLD = frozenset({"changed_at", "generation", "last_seq"})
_CTX = {
    "sessionKey": "session_key",
    "spawnedBy": "spawned_by",
    "parentSessionKey": "parent_session_key",
    "channel": "channel",
}


@dataclass(frozen=True, slots=True)
class Window:
    """One session in the database: where it is, how far its transcript goes, and what is told about it.

    `changed_ms` is when it last changed; `generation` stands for the transcript's rows, and another one means
    that they were rewritten; `last_seq` is None when it has no rows.
    """

    place: Place
    changed_ms: int
    generation: str
    last_seq: int | None
    event: Mapping[str, Json]

    @property
    def session(self) -> str:
        """The session's id."""
        return self.place.session

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


def windows(database: apsw.Connection, agent: str) -> Sequence[Window]:
    """Return every session that the database knows, in the order in which they began."""
    rows = list(named(database.execute(OVERVIEW)))
    followers = {(row["previous_session_id"], row["session_key"]): row for row in reversed(rows)}
    return [_window(agent, row, followers.get((row["session_id"], row["session_key"]))) for row in rows]


def _window(agent: str, row: Mapping[str, Any], follower: Mapping[str, Any] | None) -> Window:
    ctx = {said: row[name] for said, name in _CTX.items() if isinstance(row[name], str)}
    left_out = _NOT_TOLD if row["run_status"] in _BAD_ENDS else _NOT_TOLD.union(_OF_A_RUN)
    event = {name: value for name, value in row.items() if value is not None and name not in left_out}
    if follower:
        event["ended_at"], event["next_session_id"] = follower["started_at"], follower["session_id"]
        if follower["start_reason"]:
            event["reason"] = follower["start_reason"]
    place = Place(agent, row["session_id"], ctx)
    return Window(place, row["changed_at"], row["generation"] or "", row["last_seq"], event)
