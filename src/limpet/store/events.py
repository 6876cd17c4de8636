"""The event tables: what happened, which records it was made from, and the keys by which more may join."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from limpet import jsonline
from limpet.interpreter.places import LAST, event_id
from limpet.store.sql import queries

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from limpet.model import Event
    from limpet.store.connection import Connection
    from limpet.store.names import Names

TIE_BITS = 20
"""A position is the time in milliseconds and, in this many low bits, a tie-break in order of arrival."""

TIES = 1 << TIE_BITS
FIRST_TIE = 1 << 16
"""Where the first event of a millisecond is placed: one that came before it may be told of later."""

TIE_GAP = 32
"""How far apart events of one millisecond are placed: room for a few that learn later that they belong there."""


def key_hash(key: str) -> int:
    """Return a join key as a signed 64-bit number; the full keys are compared again when events are made."""
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


class EventTable:
    """The event, sighting, event_key and stale tables of one database."""

    def __init__(self, connection: Connection, names: Names, dialect: str = "sqlite") -> None:
        """Use this connection; writes happen inside the caller's transaction."""
        self._connection = connection
        self._names = names
        self._sql = queries(dialect)

    def with_keys(self, keys: Iterable[str]) -> set[int]:
        """Return the ids of events that have one of these keys."""
        hashes = [key_hash(key) for key in keys]
        return {row[0] for row in self._connection.execute(self._sql["events_with_keys"], {"keys": json.dumps(hashes)})}

    def places(self, ids: Iterable[int]) -> set[int]:
        """Return the places (as event ids) of every fact that these events were made from."""
        wanted = set(ids)
        rows = self._connection.execute(self._sql["places_of_events"], {"ids": json.dumps(sorted(wanted))})
        return wanted | {row[0] for row in rows}

    def of_records(self, numbers: Iterable[int]) -> set[int]:
        """Return the ids of the events that any part of these records was made into."""
        found: set[int] = set()
        for number in numbers:
            given = {"first": event_id((number, 0)), "last": event_id((number, LAST))}
            found.update(row[0] for row in self._connection.execute(self._sql["events_of_record"], given))
        return found

    def release(self, numbers: Iterable[int], ids: Iterable[int], keys: Iterable[str]) -> None:
        """Let go of what these records told, and of the join keys of these events: they are put anew without them."""
        spans = [(event_id((number, 0)), event_id((number, LAST))) for number in numbers]
        self._connection.executemany(self._sql["drop_sightings"], spans)
        hashes = [key_hash(key) for key in keys]
        self._connection.executemany(self._sql["drop_key"], [(key, number) for number in ids for key in hashes])

    def resolve(self, number: int) -> int:
        """Return the event that holds this id now: ids that were merged away stay as aliases."""
        row = self._connection.execute(self._sql["event_of_place"], (number,)).fetchone()
        return int(row[0]) if row else number

    def replace(self, old: Iterable[int], events: Sequence[Event]) -> None:
        """Put these events in place of the old ones; `events` holds every fact that the old ones were made from."""
        old = set(old)
        where = self._positions(old | {event.id for event in events})
        gone = old - {event.id for event in events}
        self._drop(gone | {event.id for event in events if event.id in where}, where)
        keys = [key_hash(key) for event in events for key in event.keys] if gone else []
        self._connection.executemany(self._sql["drop_key"], [(key, number) for key in keys for number in gone])
        if old:  # a part that was merged may now stand for itself
            self._connection.executemany(self._sql["drop_sighting"], [(event.id,) for event in events])
        # What keeps its place takes it first, so that nothing new settles there meanwhile.
        for event in sorted(events, key=lambda e: where.get(e.id, -1) >> TIE_BITS != e.at_ms):
            self._put(event, where.get(event.id))

    def ids_at(self, positions: Iterable[int]) -> dict[int, int]:
        """Return the event id at each of these positions that has one."""
        rows = self._connection.execute(self._sql["ids_at"], {"positions": json.dumps(list(positions))})
        return {row[0]: row[1] for row in rows}

    def opened(self, runs: Iterable[str] | None = None) -> list[int]:
        """Return the ids of events without an end: all, or those of these runs."""
        if runs is None:
            return [row[0] for row in self._connection.execute(self._sql["open_events"])]
        given = {"runs": json.dumps(sorted(set(runs)))}
        return [row[0] for row in self._connection.execute(self._sql["open_events_of_runs"], given)]

    def has_ended(self, run: str) -> bool:
        """Whether the run is known to have ended."""
        return bool(run) and self._one("run_has_ended", run=run) > 0

    def restarted_after(self, event: Event) -> bool:
        """Whether a gateway started, or the session was told of a restart, after this event began."""
        pos = event.at_ms << TIE_BITS | (TIES - 1)
        return self._one("started_after", pos=pos) > 0 or self._one("notice_after", pos=pos, session=event.session) > 0

    def set_status(self, number: int, status: str) -> None:
        """Give an event without an end the status that the evidence allows."""
        self._connection.execute(self._sql["set_status"], (self._names.code(status), number))

    def clear(self) -> None:
        """Throw every event away; the ledger makes them anew."""
        self._connection.execute(self._sql["clear_events"])

    def mark_all_stale(self) -> None:
        """Let the text index take in everything again."""
        self._connection.execute(self._sql["mark_all_stale"])

    def _one(self, query: str, **given: object) -> int:
        return int(self._connection.execute(self._sql[query], given).get)

    def _positions(self, ids: set[int]) -> dict[int, int]:
        rows = self._connection.execute(self._sql["positions"], {"ids": json.dumps(sorted(ids))})
        return {row[0]: row[1] for row in rows}

    def _drop(self, ids: Iterable[int], where: dict[int, int]) -> None:
        for number in ids:
            self._connection.execute(self._sql["drop_event"], (number,))
            if number in where:
                self._connection.execute(self._sql["mark_stale"], (where[number],))

    def _put(self, event: Event, was: int | None) -> None:
        pos = self._position(event, was)
        code = self._names.code
        row = (
            pos, event.id, event.arrived_ms, code(event.type), code(event.status), code(event.agent),
            code(event.session), code(event.session_key), code(event.run), event.call or None, code(event.tool),
            code(event.actor), code(event.trust), code(event.label), event.duration_ms, event.summary,
            event.error or None, json.dumps(event.flags) if event.flags else None, code(",".join(event.sources)),
            _json(event.details), _json(event.tags), int(event.open),
        )  # fmt: skip
        self._connection.execute(self._sql["put_event"], row)
        self._connection.execute(self._sql["mark_stale"], (pos,))
        own = event.id
        others = [(number, own) for place in event.places if (number := event_id(place)) != own]
        if others:
            self._connection.executemany(self._sql["put_sighting"], others)
        self._connection.executemany(self._sql["put_key"], [(key_hash(key), own) for key in event.keys])

    def _position(self, event: Event, was: int | None) -> int:
        """Return a free position in the event's millisecond, its old one if it has not moved."""
        if was is not None and was >> TIE_BITS == event.at_ms:
            return was
        first = event.at_ms << TIE_BITS
        given = {"first": first, "last": first | (TIES - 1), "id": event.id, "gap": TIE_GAP}
        pos: int | None = self._connection.execute(self._sql["place_in_ms"], given).get
        if pos is None:
            return first | FIRST_TIE
        while self._connection.execute(self._sql["is_taken"], (pos,)).fetchone() != (0,):
            pos = first | (pos + 1) % TIES
        return pos


def _json(value: object) -> str | None:
    return None if value is None else jsonline.dump(value).decode("utf-8")
