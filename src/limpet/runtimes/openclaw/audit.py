"""The gateway's audit ledger as a source of records: a witness that counts. Not for what was said or done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import jsonline
from limpet.model import Batch, Record
from limpet.runtimes.foreign import ForeignDatabase, named
from limpet.runtimes.openclaw.records import record_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import apsw

    from limpet.model import Json

SOURCE = "openclaw.audit"
BATCH_ROWS = 1000

NEEDS = {
    "audit_events": (
        "sequence",
        "event_id",
        "occurred_at",
        "kind",
        "action",
        "status",
        "agent_id",
        "session_key",
        "session_id",
        "run_id",
    )
}
"""The columns without which the ledger cannot be counted; all others are taken along as they are."""

NEWEST = "SELECT max(sequence) FROM audit_events"
IDENTITY = "SELECT event_id FROM audit_events WHERE sequence = ?"
NEXT = "SELECT * FROM audit_events WHERE sequence > ? ORDER BY sequence LIMIT ?"

_CTX = {"agentId": "agent_id", "sessionId": "session_id", "sessionKey": "session_key", "runId": "run_id"}


class AuditSource:
    """The ledger in the gateway's own database.

    The cursor has one item, `ledger`: the number and the id of the last row that was read. The gateway prunes the
    ledger from its old end; a row with that number and another id means that it is another ledger.
    """

    key = SOURCE

    def __init__(self, path: Path) -> None:
        """Name the gateway's database, which need not be there yet."""
        self._database = ForeignDatabase(path, NEEDS)
        self._whole: Json = None

    def read(self, cursor: Mapping[str, Json], now_ms: int) -> Batch:
        """Return the next rows, oldest first. Raises Unavailable as `ForeignDatabase.look` does."""
        item = cursor.get("ledger")
        if self._whole is not None and self._whole == item and self._database.quiet():
            return Batch()
        if item is None and not self._database.exists():
            return Batch()  # an older OpenClaw has none, a new one not yet
        rows = self._database.look(lambda database: _next(database, item or {}), now_ms)
        if not rows:
            self._whole = item
            return Batch()
        records = tuple(_record(row, now_ms) for row in rows)
        moved = {"sequence": rows[-1]["sequence"], "event_id": rows[-1]["event_id"]}
        more = len(rows) == BATCH_ROWS
        self._whole = None if more else moved
        return Batch(records, {"ledger": moved}, more)


def id_of(event_id: Json) -> str:
    """Return the id of the record that an entry of the ledger becomes."""
    return record_id(jsonline.canonical([SOURCE, event_id]))


def _next(database: apsw.Connection, item: Mapping[str, Json]) -> Sequence[dict[str, Json]]:
    return list(named(database.execute(NEXT, (_after(database, item), BATCH_ROWS))))


def _after(database: apsw.Connection, item: Mapping[str, Json]) -> int:
    """Return the number to go on behind: the one last read, or 0 where this is another ledger."""
    sequence = int(item.get("sequence", 0))
    newest = database.execute(NEWEST).get
    identity = database.execute(IDENTITY, (sequence,)).get
    is_other = identity is not None and identity != item.get("event_id")
    return 0 if is_other or (newest or 0) < sequence else sequence


def _record(row: Mapping[str, Json], now_ms: int) -> Record:
    event = {name: value for name, value in row.items() if value is not None}
    ctx = {said: row[name] for said, name in _CTX.items() if row[name] is not None}
    body = {"hook": "audit_event", "ts": row["occurred_at"], "ctx": ctx, "event": event}
    return Record(id_of(row["event_id"]), SOURCE, "audit", int(row["sequence"]), "audit_event", body, now_ms)
