"""The fleet's end of a push: says hello, lays a batch down, has it taken in. Not for deciding what to send."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, NamedTuple

from limpet import clock
from limpet.store.postgres import opening, text
from limpet.store.sql import queries

if TYPE_CHECKING:
    from limpet.push.batch import Batch

ORDER = ("record", "body", "event", "stream", "amended")
SQL = queries("push")


class Standing(NamedTuple):
    """How a machine stands in the fleet: its number, its head there, the last change taken in, the server's clock."""

    machine: int
    records: int
    head: bytes
    sent: int
    now_ms: int
    fleet: str


class Target:
    """One connection to a fleet, as one machine."""

    def __init__(self, where: str, password: str, name: str) -> None:
        """Connect and say hello; raises what `opening.connect` raises, and Unavailable where we are not let in."""
        self._connection = opening.connect(where, password)
        self._months: set[int] = set()
        try:
            with opening.errors():
                row = self._connection.execute(SQL["hello"].encode(), (text.kept(name),)).fetchone()
        except BaseException:
            self.close()
            raise
        self.standing = Standing(*row) if row else Standing(0, 0, b"", 0, 0, "")
        self.skew_ms = clock.now_ms() - self.standing.now_ms

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def take(self, batch: Batch, said: str) -> None:
        """Bring a batch there, all of it or nothing; raises Unavailable."""
        key = uuid.UUID(bytes=clock.nonce())
        with opening.errors():
            self._make_months(batch)
            with self._connection.transaction(), self._connection.cursor() as cursor:
                for table in ORDER:
                    if rows := batch.rows.get(table):
                        with cursor.copy(SQL[f"copy_{table}"].encode()) as copy:
                            for row in rows:
                                copy.write_row((key, *row))
                cursor.execute(SQL["take"].encode(), self._taking(batch, key, said))
        self.standing = self.standing._replace(records=batch.head, sent=batch.sent)

    def _taking(self, batch: Batch, key: uuid.UUID, said: str) -> tuple[Any, ...]:
        here = self.standing
        return here.machine, key, here.records, batch.begins, here.sent, batch.sent, list(batch.dropped), said

    def _make_months(self, batch: Batch) -> None:
        """Have the months' partitions made, in a transaction of their own: whoever waits there waits for no batch."""
        days = {at_ms // 86_400_000 for at_ms in batch.times} - self._months
        if days:
            self._connection.execute(SQL["make_months"].encode(), ([day * 86_400_000 for day in sorted(days)],))
            self._months |= days
