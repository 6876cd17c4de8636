"""What the store knows of its own work: cursors, counts, streams, watches. Small tables, written with the records."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from limpet.store.sql import queries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from limpet.model import Fact, Json
    from limpet.store.connection import Connection
    from limpet.store.names import Names

SLACK_MS = 600_000

RECENT = 5_000
"""So many of the newest records are looked at for the plugin's last word."""


class Stream(NamedTuple):
    """What one stream gave: `records` different ones, numbered from `low` to `high`; `ended` that it said good-bye."""

    name: str
    source: str
    records: int
    low: int
    high: int
    first_ms: int
    last_ms: int
    ended: bool

    @property
    def missing(self) -> int:
        """How many numbers between the first and the last were never seen."""
        return max(0, self.high - self.low + 1 - self.records)


class Counted(NamedTuple):
    """How many tool actions and runs the runtime counted, and how many of each no event tells of."""

    actions: int
    missing_actions: int
    runs: int
    missing_runs: int


class Watch(NamedTuple):
    """How a source stands: watched since, last read well, and, where it cannot be read, since when and why."""

    source: str
    since_ms: int
    good_ms: int
    failed_ms: int | None
    why: str | None


class State:
    """The cursor, tally, stream, watch and meta tables of one database."""

    def __init__(self, connection: Connection, names: Names, dialect: str = "sqlite") -> None:
        """Use this connection; writes happen inside the caller's transaction."""
        self._connection = connection
        self._names = names
        self._sql = queries(dialect)

    def cursor(self, source: str) -> dict[str, Json]:
        """Return how far a source was read."""
        return {item: json.loads(value) for item, value in self._connection.execute(self._sql["cursors"], (source,))}

    def move(self, source: str, changes: Mapping[str, Json]) -> None:
        """Move a source's cursor; None removes an item."""
        for item, value in changes.items():
            if value is None:
                self._connection.execute(self._sql["drop_cursor"], (source, item))
            else:
                self._connection.execute(self._sql["put_cursor"], (source, item, json.dumps(value)))

    def first_seen(self, source: str, items: Iterable[str]) -> int:
        """Remember these items of a source; return how many of them were not known before."""
        before = self._connection.total_changes()
        self._connection.executemany(self._sql["remember_item"], [(source, item) for item in items])
        return self._connection.total_changes() - before

    def count(self, counts: Mapping[str, int]) -> None:
        """Add to the plain counts."""
        self._connection.executemany(self._sql["tally"], [(name, n) for name, n in counts.items() if n])

    def counts(self) -> dict[str, int]:
        """Return the plain counts."""
        return {str(name): int(n) for name, n in self._connection.execute(self._sql["tallies"])}

    def put_streams(self, streams: Iterable[Stream]) -> None:
        """Add what a batch of new records says about their streams."""
        rows = [
            (
                self._names.code(s.name),
                self._names.code(s.source),
                s.records,
                s.low,
                s.high,
                s.first_ms,
                s.last_ms,
                int(s.ended),
            )
            for s in streams
            if s.name
        ]
        self._connection.executemany(self._sql["put_stream"], rows)

    def streams(self) -> list[Stream]:
        """Return every stream, the one that spoke last at the end."""
        rows = self._connection.execute(self._sql["streams"])
        return [Stream._make((*told, ended == 1)) for *told, ended in rows]

    def put_counted(self, facts: Iterable[Fact]) -> None:
        """Keep what the runtime's audit ledger counted."""
        code = self._names.code
        rows = [
            (
                f.place[0],
                f.at_ms,
                f.summary,
                code(f.run),
                code(f.session),
                code(f.tool),
                f.call or None,
                f.status,
            )
            for f in facts
        ]
        self._connection.executemany(self._sql["put_audit"], rows)

    def counted(self, since_ms: int, until_ms: int) -> Counted:
        """Hold what the audit ledger counted in a span against the events; see Counted."""
        given = {"since": since_ms, "until": until_ms}
        actions = Counter(row[0] for row in self._connection.execute(self._sql["audited_calls"], given))
        runs = {row[0] for row in self._connection.execute(self._sql["audited_runs"], given)}
        if not actions and not runs:
            return Counted(0, 0, 0, 0)
        # An event may begin a little before the ledger counts it, so a wider span of events is asked.
        wider = {"since": (since_ms - SLACK_MS) << 20, "until": (until_ms + SLACK_MS) << 20}
        calls = Counter(
            hashlib.sha256(row[0].encode("utf-8", "replace")).hexdigest()
            for row in self._connection.execute(self._sql["called"], wider)
        )
        held = {row[0] for row in self._connection.execute(self._sql["ran"], wider)}
        return Counted(actions.total(), (actions - calls).total(), len(runs), len(runs - held))

    def watched(self, source: str, now_ms: int) -> None:
        """Say that a source was read well."""
        self._connection.execute(self._sql["put_watch"], {"source": source, "now_ms": now_ms})

    def failed(self, source: str, now_ms: int, why: str) -> None:
        """Say that a source cannot be read, and why; the first time stays."""
        self._connection.execute(self._sql["put_watch_failure"], {"source": source, "now_ms": now_ms, "why": why})

    def watches(self) -> list[Watch]:
        """Return how each source stands."""
        return [Watch(*row) for row in self._connection.execute(self._sql["watches"])]

    def last_beat(self) -> tuple[int, int] | None:
        """Return the plugin's last word that it lives, a record's number, and since when it does; None: long ago."""
        row: tuple[int, int] | None = self._connection.execute(self._sql["last_beat"], {"among": RECENT}).fetchone()
        return row

    def last_words(self) -> list[tuple[str, str, int, int]]:
        """Return (producer, kind, number, arrival) of what plugins said lately of themselves, in their own order."""
        return list(self._connection.execute(self._sql["last_words"], {"among": RECENT}))

    def meta(self, name: str) -> str | None:
        """Return a named value, None where there is none."""
        row = self._connection.execute(self._sql["meta"], (name,)).fetchone()
        return row[0] if row else None

    def put_meta(self, name: str, value: str) -> None:
        """Keep a named value."""
        self._connection.execute(self._sql["put_meta"], (name, value))
