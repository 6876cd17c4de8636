"""The rows of a script's database that was taken over in place: a source like any other, until its table is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet.model import Batch
from limpet.runtimes.script import script_record
from limpet.store.sql import queries

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from limpet.model import Json

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
        rows = self._rows({"after": after, "most": PAGE})
        if not rows:
            self._connection.execute(self._sql["drop_script_table"])
            return Batch(cursor={"rowid": None})
        records = tuple(script_record(row[1:], self._zone, now_ms) for row in rows)
        return Batch(records, {"rowid": rows[-1][0]}, more=True)

    def _rows(self, bounds: Mapping[str, int]) -> list[tuple[Json, ...]]:
        """Return a page of rows; where a text in it is no UTF-8 (field case F30), its bytes as far as they are."""
        try:
            return self._connection.execute(self._sql["script_rows"], bounds).fetchall()
        except UnicodeDecodeError:
            rows = self._connection.execute(self._sql["script_rows_as_bytes"], bounds)
            return [(rowid, *map(_text, row)) for rowid, *row in rows]


def _text(value: Json) -> Json:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
