"""Reading events: filters to a WHERE clause made of named pieces, rows back to events."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from limpet.model import Event
from limpet.store.rollup import COUNTED_BY, whole_days
from limpet.store.sql import queries
from limpet.store.where import EVERY, Where, has_window

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from limpet.model import Query
    from limpet.store.connection import Connection, Hits
    from limpet.store.rollup import WholeDays

INDEXED = frozenset({"type", "status", "tool", "agent", "session", "is"})
"""Filters by which an index finds events."""

FEW = 1_000
"""Events that are sorted in a moment."""

RECENT = 5_000
"""So many of the newest records, or events, are looked at for how things stand now."""

LAST_CALLS = 50


class Line(NamedTuple):
    """An event in a list of many: where it stands, and as much of it as a look over all of them needs."""

    position: int
    id: int
    type: str
    status: str
    run: str
    session_key: str
    duration_ms: int | None
    at_ms: int


class Attempt(NamedTuple):
    """As much of an event as says what was tried, and whether that succeeded."""

    id: int
    type: str
    status: str
    tool: str
    session: str
    session_key: str
    summary: str


class Finder:
    """The reading verbs on events of one database."""

    def __init__(self, connection: Connection, dialect: str = "sqlite") -> None:
        """Use this connection and the queries of its dialect."""
        self._connection = connection
        self._sql = queries(dialect)
        self._where = Where(self._sql)

    def count(self, query: Query, hits: Hits = EVERY) -> int:
        """Return the exact number of events that match; `hits` is what the full-text index leaves."""
        if hits is EVERY and (days := self._whole_days(query)):
            edges = sum(self.count(edge) for edge in days.edges)
            return edges + sum(n for _, n in self._rolled_up(query, days, "column.none"))
        where, given = self._where.of(query, hits)
        return int(self._connection.execute(self._sql["count_events"] + where, given).get)

    def page(self, query: Query, hits: Hits = EVERY) -> list[Event]:
        """Return the part of the matches that the query's sort, limit and offset name."""
        where, given = self._where.of(query, hits)
        order = self._sql[f"order.{query.sort}"]
        # Newest first of all time is read from the end: sorting all that an index finds would take longer.
        walks = query.sort in ("newest", "oldest") and not has_window(query) and hits is EVERY
        walks = walks and not self._are_few(query, where, given)
        text = self._sql["matching"] + (self._sql["by_time"] if walks else "") + where + order + self._sql["page"]
        given = {**given, "limit": query.limit, "offset": query.offset}
        return self.at([row[0] for row in self._connection.execute(text, given)])

    def _are_few(self, query: Query, where: str, given: Mapping[str, object]) -> bool:
        """Whether an index finds all that match, and they are few: walking past all others would take long."""
        if not any(name in INDEXED and not negated for name, _, negated in query.filters) or not self._sql["by_time"]:
            return False
        few = self._connection.execute(self._sql["are_few"].replace(":where", where), {**given, "few": FEW})
        return bool(few.get)

    def at(self, positions: Sequence[int]) -> list[Event]:
        """Return the events that stand at these positions, in this order."""
        by_position = dict(self._rows(positions))
        return [by_position[pos] for pos in positions if pos in by_position]

    def outline(self, query: Query) -> list[Line]:
        """Return the matches that `page` would, as lines: a session of many thousand events in a moment."""
        where, given = self._where.of(query, EVERY)
        text = self._sql["outline"] + where + self._sql[f"order.{query.sort}"] + self._sql["page"]
        given = {**given, "limit": query.limit, "offset": query.offset}
        rows: list[tuple[Any, ...]] = self._connection.execute(text, given).fetchall()
        # Looked up once each and not joined: a session has many events and few names.
        said = self._said({code for row in rows for code in row[2:6] if code is not None})
        return [
            Line(pos, number, said[kind], said[status], said[run], said[key], took, at_ms)
            for pos, number, kind, status, run, key, took, at_ms in rows
        ]

    def attempts(self, positions: Sequence[int]) -> list[Attempt]:
        """Return what was tried at these positions, in this order: of thousands in a moment, as in an outline."""
        text = self._sql["attempts"] + self._sql["of_positions"]
        rows = self._connection.execute(text, {"positions": json.dumps(list(positions))}).fetchall()
        said = self._said({code for row in rows for code in row[2:7] if code is not None})
        found = {
            pos: Attempt(number, said[kind], said[status], said[tool], said[session], said[key], what)
            for pos, number, kind, status, tool, session, key, what in rows
        }
        return [found[pos] for pos in positions if pos in found]

    def _said(self, codes: Collection[Any]) -> Mapping[Any, str]:
        """Return what these codes of names stand for."""
        named = (
            self._connection.execute(self._sql["values_of_names"], {"ids": json.dumps(sorted(codes))}) if codes else ()
        )
        return {None: "", **dict(named)}

    def news(self, first: int, most: int) -> list[Event]:
        """Return the newest events, at most so many, of which records from this place on tell; newest first."""
        rows = self._connection.execute(self._sql["news"], {"first": first, "most": most})
        return self.at([row[0] for row in rows])

    def positions(self, query: Query, hits: Hits = EVERY) -> list[int]:
        """Return where every match stands, newest first."""
        where, given = self._where.of(query, hits)
        return [
            row[0] for row in self._connection.execute(self._sql["matching"] + where + self._sql["order.newest"], given)
        ]

    def groups(self, query: Query, hits: Hits = EVERY) -> list[tuple[str, int]]:
        """Return how many matches there are by `query.by` (type, status, tool, agent, session), most first."""
        column = f"column.{query.by}"
        if hits is EVERY and query.by in COUNTED_BY and (days := self._whole_days(query)):
            rows = [row for edge in days.edges for row in self._counts(edge, EVERY, column)]
            rows += self._rolled_up(query, days, column)
        else:
            rows = self._counts(query, hits, column)
        # Looked up once each and not joined: there are many events and few names.
        said = self._said({code for code, _ in rows if isinstance(code, int)})
        counts: Counter[str] = Counter()
        for code, n in rows:
            counts[said.get(code, code) or ""] += n
        return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))

    def _counts(self, query: Query, hits: Hits, column: str) -> list[tuple[Any, int]]:
        where, given = self._where.of(query, hits)
        text = self._sql["counts"].replace(":by_column", self._sql[column])
        return list(self._connection.execute(text + where + self._sql["grouped"], given))

    def _rolled_up(self, query: Query, days: WholeDays, column: str) -> list[tuple[Any, int]]:
        """Return (name, count) of the query's whole days."""
        where, given = self._where.of(replace(query, since_ms=None, until_ms=None), EVERY)
        text = self._sql["rollup"].replace(":by_column", self._sql[column])
        given |= {"first_day": days.first, "end_day": days.end}
        return list(self._connection.execute(text + where + self._sql["grouped"], given))

    def miscounted_days(self) -> list[int]:
        """Return the days, UTC, since 1970, whose counts by day are not those of their events."""
        return [day for (day,) in self._connection.execute(self._sql["miscounted_days"])]

    def _whole_days(self, query: Query) -> WholeDays | None:
        """Return the whole days of a query's window, None where there are none or not all of it was counted by day."""
        if "rollup" not in self._sql or not all(
            name in COUNTED_BY or (name == "is" and set(values) <= {"error"}) for name, values, _ in query.filters
        ):
            return None
        return whole_days(query)

    def times(self, query: Query, hits: Hits = EVERY) -> list[tuple[int, int]]:
        """Return (quarter of an hour in epoch milliseconds, count): every zone's days are made of these."""
        where, given = self._where.of(query, hits)
        return [
            (at, n)
            for at, n in self._connection.execute(self._sql["counts.hour_ms"] + where + self._sql["grouped"], given)
        ]

    def pairs(self, query: Query, hits: Hits = EVERY) -> list[tuple[int, str, str]]:
        """Return each different (quarter of an hour, name of `query.by`, name of `query.count`) of the matches."""
        where, given = self._where.of(query, hits)
        by = self._sql[f"column.{query.by}"] if f"column.{query.by}" in self._sql else self._sql["column.none"]
        text = self._sql["pairs"].replace(":by_column", by).replace(":count_column", self._sql[f"column.{query.count}"])
        return [(at, by or "", name or "") for at, by, name in self._connection.execute(text + where, given)]

    def touched(self, first: int) -> list[tuple[int, str]]:
        """Return (quarter of an hour in epoch milliseconds, agent) of what records from this place on tell of."""
        return [(at, agent) for at, agent in self._connection.execute(self._sql["touched"], {"first": first})]

    def by_id(self, number: int) -> Event | None:
        """Return the event with this id, None where there is none."""
        row = self._connection.execute(self._sql["positions"], {"ids": json.dumps([number])}).fetchone()
        return next((event for _, event in self._rows([row[1]])), None) if row else None

    def names(self, kind: str) -> list[str]:
        """Return every name of a kind (`tool`, `agent`) that an event carries."""
        return [row[0] for row in self._connection.execute(self._sql[f"names_of_kind.{kind}"])]

    def agents_since(self, first: int) -> list[str]:
        """Return every agent that an event names whose number is not below this one."""
        return [row[0] for row in self._connection.execute(self._sql["names_since.agent"], {"first": first})]

    def first_ms(self) -> int | None:
        """Return the first event's time, None where there is none."""
        first = self._connection.execute(self._sql["first_event"]).get
        return None if first is None else int(first)

    def newest_ms(self) -> int | None:
        """Return when the newest record arrived, None where there is none."""
        arrived = self._connection.execute(self._sql["newest_record"]).get
        return None if arrived is None else int(arrived)

    def bounds(self) -> tuple[int | None, int | None, int]:
        """Return the first and the last event's time and how many there are."""
        first, last, count = self._connection.execute(self._sql["bounds"]).get
        return first, last, count

    def last_record(self) -> tuple[int | None, int, int]:
        """Return when the newest record arrived, how many records there are, and the newest number."""
        arrived, count, number = self._connection.execute(self._sql["last_record"]).get
        return arrived, count, number or 0

    def last_of(self, source: str) -> int | None:
        """Return when the newest record of a source arrived; None where it is not among the newest of all."""
        row = self._connection.execute(self._sql["last_of_source"], {"source": source, "among": RECENT}).fetchone()
        return row[0] if row else None

    def unseen_by(self, witness: str, since_ms: int, after_ms: int, until_ms: int) -> tuple[int, int | None]:
        """Return how many calls and messages, and from when on, a witness missed that told of their agent before.

        Only those since then and `after_ms`, and only what arrived until `until_ms`.
        """
        given = {"witness": witness, "since": since_ms, "after": after_ms, "until": until_ms}
        count, first_ms = self._connection.execute(self._sql["unseen_by"], {**given, "among": RECENT}).get
        return count, first_ms

    def seen_by_both(self, one: str, other: str, since_ms: int, until_ms: int) -> bool:
        """Whether two witnesses tell of the same event in this span."""
        given = {"one": one, "other": other, "since": since_ms, "until": until_ms}
        return bool(self._connection.execute(self._sql["seen_by_both"], given).get)

    def last_calls(self, since_ms: int) -> list[tuple[str, int]]:
        """Return (status, time) of the newest tool calls that are not under way, newest first."""
        return list(self._connection.execute(self._sql["last_calls"], {"since": since_ms, "among": LAST_CALLS}))

    def next_session(self, event: Event) -> tuple[int, str] | None:
        """Return when, and which, other session went on under the same key after this event."""
        given = {"key": event.session_key, "session": event.session, "pos": event.at_ms << 20}
        row = self._connection.execute(self._sql["other_session_of_key"], given).fetchone()
        return (row[0], row[1]) if row and row[0] is not None else None

    def children(self, session: str, session_key: str) -> list[tuple[str | None, str | None, str | None]]:
        """Return (session key, session, run) of each subagent that this session started."""
        return list(self._connection.execute(self._sql["children"], {"session": session, "key": session_key}))

    def told(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Yield every row of `events`, `sightings`, `keys` or `audit`, names in place of their codes, in key order."""
        yield from self._connection.execute(self._sql[f"told_{table}"])

    def positions_of(self, ids: Iterable[int]) -> dict[int, int]:
        """Return where each of these events stands."""
        rows = self._connection.execute(self._sql["positions"], {"ids": json.dumps(sorted(ids))})
        return {row[0]: row[1] for row in rows}

    def counted_call(self, digest: str, since_ms: int, until_ms: int) -> list[int]:
        """Return the records by which the runtime's audit ledger counted a call in that time."""
        given = {"calls": json.dumps([digest]), "since": since_ms, "until": until_ms}
        return [row[0] for row in self._connection.execute(self._sql["audit_of_calls"], given)]

    def counted_run(self, run: str) -> list[int]:
        """Return the records by which the runtime's audit ledger counted a run."""
        return [row[0] for row in self._connection.execute(self._sql["audit_of_runs"], {"runs": json.dumps([run])})]

    def audit_bounds(self) -> tuple[int, int] | None:
        """Return the time of the first and of the last thing that the runtime's audit ledger counted."""
        first, last = self._connection.execute(self._sql["audit_bounds"]).get
        return None if first is None else (first, last)

    def _rows(self, positions: Sequence[int]) -> Iterator[tuple[int, Event]]:
        text = self._sql["event_columns"] + self._sql["of_positions"]
        for row in self._connection.execute(text, {"positions": json.dumps(list(positions))}):
            yield row[-1], _event(row)


def _event(row: Sequence[object]) -> Event:
    (number, at_ms, arrived_ms, kind, status, agent, session, session_key, run, call, tool, actor, trust, label,
     duration_ms, summary, error, flags, sources, details, tags, _) = row  # fmt: skip
    given: dict[str, object] = {
        "id": number, "at_ms": at_ms, "arrived_ms": arrived_ms, "type": kind, "status": status or "",
        "agent": agent or "", "session": session or "", "session_key": session_key or "", "run": run or "",
        "call": call or "", "tool": tool or "", "actor": actor or "", "trust": trust or "unknown",
        "label": label or "", "duration_ms": duration_ms, "summary": summary, "error": error or "",
        "flags": tuple(json.loads(str(flags))) if flags else (), "sources": tuple(str(sources).split(",")),
        "details": json.loads(str(details)), "tags": json.loads(str(tags)),
    }  # fmt: skip
    return Event(**given)  # type: ignore[arg-type]
