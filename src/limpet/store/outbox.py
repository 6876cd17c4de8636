"""What a fleet does not hold yet: records behind its head, and what changed since, each as it stands now."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from limpet.store.sql import queries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from limpet.store.connection import Connection


class Membership(NamedTuple):
    """The fleet that this memory is pushed to, under which name, up to which change and which record it has all."""

    fleet: str
    machine: str
    sent: int
    head: int


class Change(NamedTuple):
    """One thing that changed: an `event` by id, a `stream` by number, a record's `content`, a `body` by hash."""

    no: int
    kind: str
    key: Any


class Outbox:
    """The fleet and outbox tables of one database, and what is sent of the others."""

    def __init__(self, connection: Connection) -> None:
        """Use this connection; writes happen inside the caller's transaction."""
        self._connection = connection
        self._sql = queries("sqlite")

    def membership(self) -> Membership | None:
        """Return the fleet that this memory belongs to, None where it belongs to none."""
        row = self._connection.execute(self._sql["fleet"]).fetchone()
        return Membership(*row) if row else None

    def join(self, fleet: str, machine: str, sent: int, *, again: bool) -> None:
        """Belong to this fleet from now on, with every event still to be sent; numbers go on above what it has seen.

        `again` says that it holds records of ours: those that were forgotten or cleaned since are told of again.
        """
        self._connection.execute(self._sql["leave_fleet"])
        self._connection.execute(self._sql["join_fleet"], (fleet, machine, sent))
        self._connection.execute(self._sql["outbox_from"], (sent, sent))
        for name in (
            "mark_nothing",
            "mark_bodies",
            "mark_events",
            "mark_streams",
            *(("mark_contents",) if again else ()),
        ):
            self._connection.execute(self._sql[name])

    def waiting(self, after: int, most: int) -> list[Change]:
        """Return the next changes after this one, oldest first."""
        return [Change(*row) for row in self._connection.execute(self._sql["outbox"], (after, most))]

    def done(self, through: int, head: int) -> None:
        """Strike out what the fleet has taken in: changes up to one, records up to another."""
        self._connection.execute(self._sql["outbox_done"], (through,))
        self._connection.execute(self._sql["fleet_has"], (through, head))

    def last(self) -> int:
        """Return the number of the newest change that there ever was."""
        return int(self._connection.execute(self._sql["last_change"]).get or 0)

    def left(self) -> int:
        """Return how many changes wait."""
        return int(self._connection.execute(self._sql["count_outbox"]).get)

    def begins(self) -> int:
        """Return the number before the first record: 0 where none was cut off."""
        return int(self._connection.execute(self._sql["first_record"]).get or 1) - 1

    def records(self, after: int, most: int) -> Iterator[tuple[Any, ...]]:
        """Yield the next records as rows, one at a time: see `records_after`."""
        yield from self._connection.execute(self._sql["records_after"], {"no": after, "most": most})

    def record(self, no: int) -> tuple[Any, ...] | None:
        """Return one record as such a row, None where it is not there any more."""
        row: tuple[Any, ...] | None = self._connection.execute(
            self._sql["records"], {"nos": json.dumps([no])}
        ).fetchone()
        return row

    def body(self, digest: bytes) -> tuple[int, bytes] | None:
        """Return (codec, bytes) of a large text, None where it is not kept any more."""
        row = self._connection.execute(self._sql["body"], (digest,)).fetchone()
        return (row[0], bytes(row[1])) if row else None

    def events(self, ids: Iterable[int]) -> list[tuple[Any, ...]]:
        """Return events as rows, with their details and tags as JSON text: see `told_events_by_id`."""
        return list(self._connection.execute(self._sql["told_events_by_id"], {"ids": json.dumps(list(ids))}))

    def events_of(self, numbers: Iterable[int]) -> list[int]:
        """Return the ids of the events that began with one of these records."""
        rows = self._connection.execute(self._sql["events_of_records"], {"nos": json.dumps(list(numbers))})
        return [row[0] for row in rows]

    def sightings(self, ids: Iterable[int]) -> Mapping[int, Sequence[int]]:
        """Return, by event, the other places that were merged into it."""
        found: defaultdict[int, list[int]] = defaultdict(list)
        for place, event in self._connection.execute(self._sql["places_of_events"], {"ids": json.dumps(list(ids))}):
            found[event].append(place)
        return found

    def streams(self, numbers: Iterable[int]) -> list[tuple[Any, ...]]:
        """Return streams as rows."""
        return list(self._connection.execute(self._sql["streams_by_id"], {"ids": json.dumps(list(numbers))}))
