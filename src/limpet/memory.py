"""Memory: the full Python API. It puts settings, store, recorder and readers together, under the command line.

What few commands need is imported where it is used: a question is answered sooner than all of this is loaded.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import apsw

from limpet import clock, coverage, door, outside, recall, timeline
from limpet import settings as settings_module
from limpet.errors import BadInput, NotFound, Unavailable
from limpet.interpreter.places import event_id, place_of
from limpet.lock import Lock
from limpet.model import Batch, Event, Query, Record
from limpet.question import parse
from limpet.store import opening
from limpet.store.known import Known
from limpet.store.paging import pages
from limpet.store.search import SearchIndex, path_of
from limpet.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from limpet.brief.composing import Brief
    from limpet.checking.chain import Sealed
    from limpet.model import Answer, Coverage, Json
    from limpet.note.nightly import Nightly
    from limpet.recording import Recording
    from limpet.settings import Settings
    from limpet.spool.reader import SpoolSource
    from limpet.store.finding import Attempt
    from limpet.store.port import Store
    from limpet.store.postgres.store import FleetStore
    from limpet.store.records import Stored
    from limpet.verification import Verdict

DRAIN_S = 2.0
"""How long a reading command takes in what is pending before it answers."""

SOURCE, ADDED = "limpet", "limpet_add"
"""The source and the kind of an event that somebody adds."""

LONGEST_ID = 18
"""Digits of an event's number: more do not fit into SQLite's integers."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: records read, new ones, lines that could not be read, by kind of file."""

    read: int = 0
    added: int = 0
    rejected: int = 0
    kinds: tuple[str, ...] = ()


class Memory:
    """One database, opened for reading; what is pending is taken in first, so answers are fresh."""

    def __init__(self, settings: Settings, drain_s: float = DRAIN_S) -> None:
        """Use these settings, which `Memory.open()` settles; what is pending is taken in for at most `drain_s`.

        With 0 nothing is: that is for who runs beside a recorder.
        """
        self.settings = settings
        self._drain_s = drain_s
        self._store: Store | None = None
        self._is_fresh = False

    @classmethod
    def open(cls, db: str | None = None, zone: str | None = None) -> Self:
        """Open the memory that the environment names. Raises BadInput for a wrong setting."""
        return cls(settings_module.load(db=db, zone=zone))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database."""
        self._is_fresh = False
        if self._store is not None:
            self._store.close()
            self._store = None
            self.__dict__.pop("_fleet", None)

    @property
    def store(self) -> Store:
        """The store, opened for reading when first asked for, after what is pending was taken in."""
        if self._store is None:
            self._store = self._fleet if self.settings.fleet else self.local()
        return self._store

    def fleet(self) -> FleetStore:
        """Return the fleet that is read, as `store`; raises BadInput where none is."""
        if not self.settings.fleet:
            raise BadInput("That is no fleet.", "limpet status --db postgresql://reader@host/database", "no_fleet")
        return self._fleet

    @cached_property
    def _fleet(self) -> FleetStore:
        from limpet import fleet

        return fleet.opened(self.settings)

    def local(self) -> SqliteStore:
        """Return this machine's own store, as `store`; raises BadInput where a fleet is read in its place."""
        self.settings.check_local()
        if not isinstance(self._store, SqliteStore):
            self.exists()
            self._store = SqliteStore(self.settings.db, writing=False)
        return self._store

    def exists(self) -> bool:
        """Whether there is a memory, after what is pending was taken in."""
        if self.settings.fleet:
            return True
        if self._store is None and not (self._is_fresh and self.settings.db.exists()):
            self.refresh()
            self._is_fresh = True
        return self.settings.db.exists()

    def attach(self) -> None:
        """Open the store as it stands and take nothing in: for a look beside a recorder. Raises Unavailable."""
        self._store = self._store or SqliteStore(self.settings.db, writing=False)

    def refresh(self, *, make: bool = False) -> None:
        """Take in what is pending: through the sidecar where one runs, else ourselves, for at most two seconds.

        With `make` the memory is made where there is none; a question alone makes nothing.
        """
        if make:
            self.settings.check_local()
        elif self._drain_s <= 0 or self.settings.fleet or not self._is_wanted():
            return
        answer = door.ask(self.settings.socket, {"op": "drain", "seconds": self._drain_s}, self._drain_s + 0.5)
        if answer is not None:
            return
        with contextlib.suppress(Unavailable), self._recording() as recording:
            if recording is not None:
                recording.drain(self._drain_s)

    def _is_wanted(self) -> bool:
        """Whether there is anything to take in or to look at."""
        chosen = self.settings
        if not chosen.owns_spool:
            return chosen.db.exists()
        return any(
            path.exists() for path in (chosen.db, chosen.spool, chosen.state / "openclaw.json", chosen.state / "agents")
        )

    def answer(self, query: Query) -> Answer:
        """Return the answer to a query, as of one moment, with its coverage."""
        with self.store.snapshot():
            return recall.answer(self.store, query, self.watched())

    def parts(self, queries: Sequence[Query]) -> Sequence[Answer]:
        """Return answers as of one moment that do not say how complete they are: a page says it once for all."""
        with self.store.snapshot():
            return recall.parts(self.store, queries)

    def completeness(self, query: Query, watched: coverage.Watched | None = None) -> Coverage:
        """Return how complete an answer to this query is; `watched` is what `watched()` said just now, if it did."""
        with self.store.snapshot():
            return coverage.of(self.store, query, watched or self.watched())

    def ask(self, question: str, now_ms: int | None = None, limit: int = 0, offset: int = 0) -> Answer:
        """Answer a question, in plain English or in filters. Raises NotUnderstood, with what would be understood."""
        query = self.understood(question, now_ms)
        return self.answer(replace(query, limit=limit or query.limit, offset=offset or query.offset))

    def understood(self, question: str, now_ms: int | None = None, agent: str = "") -> Query:
        """Return a question, understood; with `agent` by the names alone that its own events carry."""
        now = clock.now_ms() if now_ms is None else now_ms
        return parse(question, now, self.settings.zone, self._names(agent))

    def _names(self, agent: str) -> Mapping[str, frozenset[str]]:
        if not agent:
            return Known(self.store)
        own = Query(filters=(("agent", (agent,), False),), by="tool", noise=True)
        return {"tool": frozenset(name for name, _ in self.store.find.groups(own) if name), "agent": frozenset({agent})}

    def names(self) -> Mapping[str, frozenset[str]]:
        """Return every name that a question may say without saying of what: tools and agents."""
        return {kind: frozenset(self.store.find.names(kind)) for kind in ("tool", "agent")}

    def recent(self, hours: float = 24, kind: str = "", limit: int = 50, now_ms: int | None = None) -> Answer:
        """Return the newest events of the last hours, of one type if given."""
        return self.answer(replace(self.newest(hours, kind, now_ms), limit=limit))

    def latest(self, most: int) -> Sequence[Event]:
        """Return the newest events of all, at most so many, newest first."""
        with self.store.snapshot():
            return self.store.find.page(Query(limit=most))

    def newest(self, hours: float = 24, kind: str = "", now_ms: int | None = None) -> Query:
        """Return the question for the events of the last hours, of one type if given."""
        now = clock.now_ms() if now_ms is None else now_ms
        filters = (("type", (kind,), False),) if kind else ()
        understood = " ".join(
            filter(None, (f"type:{kind}" if kind else "", f"last {hours:g} hour{'' if hours == 1 else 's'}"))
        )
        return Query(
            since_ms=now - round(hours * 3_600_000),
            until_ms=now + 1,
            zone=self.settings.zone,
            filters=filters,
            understood=understood,
        )

    def session(
        self, name: str, *, children: bool = False, limit: int = 10_000
    ) -> tuple[Sequence[Event], tuple[int, str] | None]:
        """Return a session's timeline, oldest first, and its end if anything tells of one."""
        with self.store.snapshot():
            events = timeline.events_of(self.store, name, children=children, limit=limit)
            return events, timeline.end_of(self.store, events)

    def outline(self, name: str, *, limit: int = 10_000) -> Sequence[timeline.Place]:
        """Return the places of a session's timeline, oldest first; raises NotFound.

        Its subagents' are among them, and the gateway's starts and stops meanwhile, but for a fleet: it has many.
        """
        with self.store.snapshot():
            restarts = not self.settings.fleet
            return timeline.outline_of(self.store, name, children=True, limit=limit, restarts=restarts)

    def at(self, places: Sequence[timeline.Place]) -> Sequence[Event]:
        """Return the events that stand at these places of a timeline."""
        with self.store.snapshot():
            return timeline.events_at(self.store, places)

    def attempts(self, places: Sequence[timeline.Place]) -> Sequence[Attempt]:
        """Return what was tried at these places of a timeline, and whether it succeeded."""
        with self.store.snapshot():
            return self.store.find.attempts([place.line.position for place in places])

    def end(self, events: Sequence[Event]) -> tuple[int, str] | None:
        """Return when and how the session of these events ended, as far as anything tells of it."""
        with self.store.snapshot():
            return timeline.end_of(self.store, events)

    def head(self) -> int:
        """Return the number of the newest record."""
        return self.store.records.head()[0]

    def news(self, after: int, most: int) -> Sequence[Event]:
        """Return the newest events, at most so many, of which records after this number tell."""
        with self.store.snapshot():
            return self.store.find.news(event_id((after + 1, 0)), most)

    def origin(self, events: Sequence[Event]) -> str:
        """Return the session that the session of these events goes on from, "" where nobody says."""
        with self.store.snapshot():
            return timeline.origin_of(self.store, events)

    def show(self, number: int) -> tuple[Event, Sequence[Record]]:
        """Return an event and every record behind it. Raises NotFound."""
        with self.store.snapshot():
            event = self.store.find.by_id(self.store.events.resolve(number))
            if event is None:
                raise NotFound(f"There is no event {number}.", "limpet recent  lists events with their numbers.")
            places = self.store.events.places([event.id])
            return event, self.store.records.fetch(place_of(place)[0] for place in places)

    def behind(self, event: Event) -> Sequence[Stored]:
        """Return the records behind an event as they stand in the ledger, each with its hash, oldest first."""
        with self.store.snapshot():
            places = self.store.events.places([event.id])
            return self.store.records.stored(place_of(place)[0] for place in places)

    def every(self, query: Query) -> Iterator[Event]:
        """Yield every event that matches, oldest first."""
        yield from recall.every(self.store, query)

    def every_record(self) -> Iterator[Record]:
        """Yield the ledger's records that were not forgotten, oldest first."""
        for page in pages(self.store.records):
            yield from (stored.record for stored in page if stored.content is not None)

    def add(self, kind: str, summary: str, **more: Json) -> str:
        """Add an event of any type; return its record's id. `details`, `tags`, `session`, `agent` may be given."""
        self.settings.check_local()
        ctx = {k: more[name] for k, name in (("sessionId", "session"), ("agentId", "agent")) if more.get(name)}
        event = {
            "type": kind,
            "summary": summary,
            **{k: more[k] for k in ("details", "tags") if more.get(k) is not None},
        }
        if not self.settings.owns_spool:
            return self._add_here(event, ctx)
        from limpet.spool import writer

        pen = writer.Writer(self.settings.spool, SOURCE)
        record_id = pen.append(ADDED, event, ctx)
        pen.close()
        self.refresh()
        return record_id

    def _add_here(self, event: Json, ctx: Json) -> str:
        """Add an event to a database to which the spool does not belong: what is spooled comes into another one."""
        at_ms, record_id = clock.now_ms(), clock.uuid7()
        body: Json = {"v": 1, "id": record_id, "ts": at_ms, "source": SOURCE, "hook": ADDED, "ctx": ctx, "event": event}
        record = Record(record_id.replace("-", ""), SOURCE, SOURCE, 0, ADDED, body, at_ms)
        with self.writing() as recording:
            recording.recorder.commit("add", Batch((record,)), at_ms)
            while recording.recorder.index():
                pass
        return record_id

    def take_in(self, paths: Sequence[Path], progress: Callable[[Imported], None]) -> Imported:
        """Import files: hook lines, transcripts, the script's databases, folders of these. Nothing counts twice."""
        from limpet.runtimes import importing

        done = Imported()
        with self.writing() as recording:
            for path in paths:
                kind = importing.detect(path)
                done = replace(done, kinds=(*done.kinds, kind))
                for batch in importing.read(path, zone=self.settings.zone):
                    added = recording.recorder.commit(
                        "import", Batch(batch.records, {}, rejects=batch.rejects), clock.now_ms()
                    )
                    done = replace(
                        done,
                        read=done.read + len(batch.records),
                        added=done.added + added,
                        rejected=done.rejected + len(batch.rejects),
                    )
                    progress(done)
            while recording.recorder.index():
                pass
        return done

    def notes(self) -> Nightly:
        """Return the daily notes of this memory: what each says, and its way into the agent's workspace."""
        from limpet.note.nightly import Nightly

        return Nightly(self.settings, self.local(), self.watched())

    def brief(self, agent: str = "", session_key: str = "", now_ms: int | None = None, tokens: int = 0) -> Brief:
        """Return what an agent would be told now at the start of this session, of the main one where none is given.

        Without `agent` it is the default one. Raises BadInput for a number of tokens that cannot be kept to.
        """
        from limpet.brief import briefing

        return briefing.of(self.settings, self.local(), self.watched(), agent, session_key, now_ms, tokens)

    def notes_of(self, store: SqliteStore) -> Nightly:
        """Return the daily notes as they are made from a store that is open already."""
        from limpet.note.nightly import Nightly

        return Nightly(self.settings, store, coverage.Watched(now_ms=clock.now_ms()))

    def note_agents(self) -> frozenset[str]:
        """Return every agent that may have notes: those that are configured, and those that an event names."""
        from limpet.runtimes.openclaw.workspaces import Workspaces

        return frozenset({*Workspaces(self.settings).agents(), *self.store.find.names("agent")})

    def rebuild(self, progress: Callable[[int], None]) -> int:
        """Make every event and the text index again from the ledger; return how many events there are."""
        with self.writing() as recording:
            count = recording.recorder.rebuild(progress)
            recording.store.empty_index()
            while recording.recorder.index():
                pass
        return count

    def verify(self, progress: Callable[[int], None], seals: Iterable[Sealed] = ()) -> Verdict:
        """Check the ledger byte by byte, and the events, the index and OpenClaw's counts against it.

        `seals` are copies of seals that were found elsewhere: in notes, in backups.
        """
        from limpet import fleet, verification

        if self.settings.fleet:
            with self.store.snapshot():
                return fleet.verify(self._fleet, progress)
        store = self.local()
        fault = store.index_fault()
        with store.snapshot() if fault else store.snapshot_of_both():
            found = verification.verify(
                store, progress, seals=seals, now_ms=clock.now_ms(), indexed=not fault, spool=self._spool()
            )
        if fault and not path_of(store.path).exists() and Lock(self.settings.lock).is_held():
            said = "the full-text index is being made, and was not checked"  # after a rescue, or somebody deleted it
            return replace(found, remarks=(*found.remarks, said))
        return replace(found, faults=(*found.faults, fault)) if fault else found

    def _spool(self) -> SpoolSource | None:
        from limpet.spool.reader import SpoolSource

        return SpoolSource(self.settings.spool) if self.settings.owns_spool else None

    def check_index(self) -> None:
        """Let the full-text index check itself; raises Unavailable where it contradicts itself or cannot be opened."""
        self.settings.check_local()
        try:
            index = SearchIndex(self.settings.db, writing=True, owner=self.local().identity)
            try:
                index.check()
            finally:
                index.close()
        except apsw.Error as error:
            raise opening.explained(error, path_of(self.settings.db)) from error

    def ways(self) -> Sequence[Sequence[str]]:
        """Return the ways on which somebody is told that something is broken, best first: commands."""
        from limpet import messenger
        from limpet.runtimes.openclaw import route

        return messenger.ways(self.settings, route.last(self.settings.state, clock.now_ms()))

    def health(self, watched: coverage.Watched | None = None) -> coverage.Health:
        """Return whether Limpet records what it should; `watched` is what `watched()` said a moment ago, if it did."""
        if self.settings.fleet:
            from limpet import fleet

            return fleet.health(self._fleet, clock.now_ms())
        if not self.exists():
            return coverage.without_memory(watched or self.watched(), self.settings.db)
        return coverage.health(self.store, watched or self.watched())

    def watched(self) -> coverage.Watched:
        """Return what can be seen of this moment from outside the store."""
        now = clock.now_ms()
        if self.settings.fleet:
            from limpet import fleet

            return fleet.watched(self._fleet, now)
        return outside.watched(self.settings, self.store if self.exists() else None, now)

    def about(self) -> dict[str, Json]:
        """Return what this machine says of itself with every push."""
        from limpet import fleet

        with self.local().snapshot():
            return fleet.about(self.local(), self.watched(), self.settings.zone)

    @contextlib.contextmanager
    def writing(self) -> Iterator[Recording]:
        """Write to the store, also beside a running sidecar: only the sources belong to whoever holds the lock."""
        from limpet.recording import Recording

        self.settings.check_local()
        self.close()
        recording = Recording.open(self.settings)
        try:
            yield recording
        finally:
            recording.close()

    @contextlib.contextmanager
    def _recording(self) -> Iterator[Recording | None]:
        self.close()
        lock = Lock(self.settings.lock)
        if not _is_taken(lock, self._drain_s):
            yield None
            return
        try:
            from limpet import rescue
            from limpet.recording import Recording

            rescue.settle(self.settings)
            recording = Recording.open(self.settings)
            try:
                yield recording
            finally:
                recording.close()
        finally:
            lock.release()


def _is_taken(lock: Lock, seconds: float) -> bool:
    """Take the lock: another command that is taking things in will soon be done, a sidecar will not."""
    end = clock.monotonic_s() + seconds
    while not lock.take():
        if clock.monotonic_s() >= end:
            return False
        clock.sleep(0.02)
    return True


def parse_id(text: str) -> int:
    """Return an event's number; raises BadInput for anything that is none."""
    if text.isascii() and text.isdigit() and len(text) <= LONGEST_ID:
        return int(text)
    raise BadInput(f"{text[:80]!r} is no event number.", "limpet recent  lists events with their numbers.")
