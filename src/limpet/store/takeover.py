"""The rows of a script's database that was taken over in place: a source like any other, until its table is read."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from limpet import jsonline
from limpet.model import Batch, Record
from limpet.store.sql import queries

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from limpet.model import Json

COLUMNS = ("id", "timestamp", "session_id", "event_type", "summary", "details", "tags")
SOURCE = "script"
PAGE = 1000


class TakeOver:
    """The table that the script's `events` was renamed to; it is dropped when every row is in the ledger."""

    key = "script"

    def __init__(self, connection: apsw.Connection, zone: str) -> None:
        """Read through the store's own connection; the script wrote times of this zone."""
        self._connection = connection
        self._zone = zone
        self._sql = queries("sqlite")

    def exists(self) -> bool:
        """Whether there is such a table."""
        return self._connection.execute(self._sql["has_script_table"]).fetchone() == (1,)

    def read(self, cursor: Mapping[str, Json], now_ms: int) -> Batch:
        """Return the next rows, oldest first; drop the table once there are none."""
        after = int(cursor.get("rowid") or -(1 << 62))
        rows = self._connection.execute(self._sql["script_rows"], {"after": after, "most": PAGE}).fetchall()
        if not rows:
            self._connection.execute(self._sql["drop_script_table"])
            return Batch(cursor={"rowid": None})
        records = tuple(script_record(row[1:], self._zone, now_ms) for row in rows)
        return Batch(records, {"rowid": rows[-1][0]}, more=True)


def script_record(row: tuple[Json, ...], zone: str, now_ms: int) -> Record:
    """Return the record of one row (the seven columns): its id comes from the row, so that no way in counts it twice."""
    event = {name: value for name, value in zip(COLUMNS, row, strict=True) if value is not None}
    event = {name: value.hex() if isinstance(value, bytes) else value for name, value in event.items()}
    digest = hashlib.sha256(b"script\n" + jsonline.canonical(event)).hexdigest()[:32]
    body = {"hook": "script_row", "ts": event.get("timestamp"), "ctx": {"zone": zone}, "event": event}
    number = event.get("id")
    return Record(
        digest, SOURCE, "script", number if isinstance(number, int) else 0, "script_row", body, now_ms
    )
