"""Makes the notes: one agent's day from the events into its file, or all that is due. Not for printing."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from limpet import clock, coverage, days
from limpet.belonging import NOBODY
from limpet.burial import KEPT_FROM
from limpet.errors import LimpetError, Unavailable
from limpet.interpreter.places import event_id, place_of
from limpet.lock import Lock
from limpet.model import Query
from limpet.note import files, gathering, nights, seals, wording
from limpet.note.block import Block, merged, stamp_of
from limpet.note.diary import Diary
from limpet.note.drafting import Drafter
from limpet.runtimes.openclaw.workspaces import Workspaces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date
    from pathlib import Path

    from limpet.note.diary import Key
    from limpet.note.plan import Plan
    from limpet.settings import Settings
    from limpet.store.sqlite import SqliteStore

LOCK = "notes.lock"
RETRY_MS = 600_000
"""How long after a failure a note is tried again."""

PATIENCE_S = 120.0
PAUSE_S = 0.05


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one note: `written`, `unchanged`, `empty` (nothing to say) or `failed`, with the reason."""

    agent: str
    day: date
    path: Path | None
    result: str
    why: str = ""
    warning: str = ""


class Nightly:
    """The notes of one memory. Of two at once, one waits for the other, or leaves it the work."""

    def __init__(
        self, settings: Settings, store: SqliteStore, watched: coverage.Watched, drafter: Drafter | None = None
    ) -> None:
        """Write from this store, opened for reading; `drafter` words the plans, by the settings if none is given."""
        self._settings = settings
        self._store = store
        # What waits in the spool now says nothing of a day that is over; and a note must not depend on the moment.
        self._watched = replace(watched, pending=0, pending_ms=None)
        self._drafter = drafter or Drafter(settings)
        self._workspaces = Workspaces(settings)
        self._default = self._workspaces.agents()[0]

    def agents(self, first: date, last: date) -> Sequence[str]:
        """Return the agents that may have a note of these local days."""
        return gathering.agents_of(self._store, first, last, self._settings.zone, self._default)

    def plan(self, agent: str, first: date, last: date) -> Plan:
        """Return what the note of this agent and these local days says."""
        return gathering.plan_from(self._store, self._watched, agent, first, last, self._settings.zone, self._default)

    def body(self, plan: Plan, now_ms: int) -> str:
        """Return the note's text: worded by a model where one is wanted and its words hold."""
        said = wording.paragraph(plan)
        if plan.is_empty:
            return wording.nothing(plan)
        done = self._drafter.worded(plan, said, days.day_of(now_ms, self._settings.zone).isoformat())
        return wording.body(plan, done.in_a_note(plan))

    def write(self, agent: str, day: date, now_ms: int) -> Outcome:
        """Write one note now, whether it is due or not; a failure is kept for `status` and comes back as an Outcome."""
        with self._alone(PATIENCE_S) as alone:
            if not alone:
                raise Unavailable("Another Limpet is writing notes.", "Try again in a minute.")
            diary = Diary.read(self._settings.home)
            outcome = self._kept(diary, (day, agent), now_ms)
            diary.write(self._settings.home)
            return outcome

    def again(self, keys: Iterable[Key], now_ms: int) -> Sequence[Outcome]:
        """Write these notes again, as far as they stand: something in them was forgotten. Raises Unavailable."""
        with self._alone(PATIENCE_S) as alone:
            if not alone:
                raise Unavailable("Another Limpet is writing notes.", "Try again in a minute.")
            diary = Diary.read(self._settings.home)
            standing = [key for key in sorted(set(keys)) if self._stands(key)]
            outcomes = [self._kept(diary, key, now_ms, dropped=True) for key in standing]
            diary.write(self._settings.home)
            return outcomes

    def notes_of(self, day: date, agent: str) -> Iterator[Key]:
        """Yield which notes tell of an agent's event of this day, as far as they stand."""
        yield from (key for key in self._notes_of(day, agent) if self._stands(key))

    def look(self, now_ms: int, *, patient: bool = False) -> Sequence[Outcome]:
        """Write every note that is due: of nights that were missed, oldest first, and of days that have changed since.

        Of a day before Limpet was set up, only a note that stands already is due, when the day has changed. With
        `patient`, one that could not be written a moment ago is left for later. Returns () where another is at it.
        """
        with self._alone(0.0) as alone:
            first = self._first_day()
            if not alone or first is None:
                return ()
            diary = Diary.read(self._settings.home)
            if self._look_at_events(diary, first) | self._look_at_days(diary, first, now_ms):
                diary.write(self._settings.home)
            return self._written(diary, now_ms, patient=patient)

    def _written(self, diary: Diary, now_ms: int, *, patient: bool) -> Sequence[Outcome]:
        """Write what is due; what is done stays done if we are stopped in between."""
        again = set(self._to_word_again(now_ms))
        due = set(nights.due({day for day, _ in diary.pending | again}, now_ms, *self._clock))
        outcomes = []
        for key in sorted(diary.pending | again):
            if key[0] in due and not (patient and self._was_tried(diary, key, now_ms)):
                outcomes.append(self._kept(diary, key, now_ms))
                diary.write(self._settings.home)
        return outcomes

    @property
    def _clock(self) -> tuple[str, str]:
        return self._settings.zone, self._settings.note_at

    def _was_tried(self, diary: Diary, key: Key, now_ms: int) -> bool:
        known = diary.troubles.get(key)
        return known is not None and known.failed and 0 <= now_ms - known.last_ms < RETRY_MS

    def _to_word_again(self, now_ms: int) -> Iterator[Key]:
        night = days.day_of(now_ms, self._settings.zone)
        for said, agent in self._drafter.to_try_again(night.isoformat()):
            if len(said) == len("2026-05-04"):
                yield type(night).fromisoformat(said), agent

    def _first_day(self) -> date | None:
        """Return the local day on which Limpet began to watch, None where it does not."""
        watches = [watch.since_ms for watch in self._store.state.watches()]
        streams = [stream.first_ms for stream in self._store.state.streams() if stream.source == coverage.HOOKS]
        began = min(watches + streams, default=None)
        return None if began is None else days.day_of(began, self._settings.zone)

    def _look_at_events(self, diary: Diary, first: date) -> bool:
        """Want a note for each day of which something new is known; return whether there was anything."""
        head, _ = self._store.records.head()
        if diary.seen > head or (diary.seen and self._mark(diary.seen) != diary.mark):
            diary.seen = 0  # another ledger: all of it is new
        if diary.seen == head:
            return False
        found = {
            (days.day_of(at_ms, self._settings.zone), agent)
            for at_ms, agent in self._store.find.touched(event_id((diary.seen + 1, 0)))
        }
        touched = {key for day, agent in found for key in self._notes_of(day, agent)}
        diary.pending |= {key for key in touched if key[0] >= first or self._stands(key)}
        diary.pending |= {key for key, open_ in diary.unsettled.items() if self._unsettled(key) != open_}
        diary.seen, diary.mark = head, self._mark(head)
        return True

    def _notes_of(self, day: date, agent: str) -> Iterator[Key]:
        """Yield whose notes tell of an agent's event; one that names no agent may be in everybody's."""
        known = [agent] if agent not in NOBODY else self.agents(day, day)
        yield from ((day, one) for one in known)

    def _stands(self, key: Key) -> bool:
        """Whether there is a note of ours of that day."""
        try:
            existing = files.read(self._workspaces.of(key[1]).path, f"{key[0].isoformat()}.md")
        except LimpetError:
            return False
        return stamp_of(existing, key[0].isoformat(), key[1]) is not None

    def _look_at_days(self, diary: Diary, first: date, now_ms: int) -> bool:
        """Want to know of each day that is over, once, whether anybody was watching; return whether there was one."""
        newest = nights.latest(now_ms, *self._clock)
        if diary.through == newest:
            return False
        through = min(diary.through or newest, newest)
        over = [newest] if diary.through is None else nights.since(through, newest)
        diary.pending |= {(day, self._default) for day in over if day >= first}
        diary.through = newest
        return True

    def _kept(self, diary: Diary, key: Key, now_ms: int, *, dropped: bool = False) -> Outcome:
        day, agent = key
        try:
            if not dropped and self._is_dropped(day):
                return self._left(diary, key, now_ms)
            outcome = self._made(agent, day, now_ms)
        except LimpetError as error:
            diary.failed(key, f"{error.message} {error.hint}".strip(), now_ms)
            return Outcome(agent, day, None, "failed", error.message)
        diary.done(key, outcome.path, now_ms, outcome.warning)
        diary.unsettled.pop(key, None)
        if outcome.path and (open_ := self._unsettled(key)):
            diary.unsettled[key] = open_
        return outcome

    def _is_dropped(self, day: date) -> bool:
        """Whether events of that day were dropped by age: its note tells more than they do now."""
        kept_from = int(self._store.state.meta(KEPT_FROM) or 0)
        return days.window_of(day, self._settings.zone)[0] < kept_from

    def _left(self, diary: Diary, key: Key, now_ms: int) -> Outcome:
        diary.done(key, None, now_ms)
        diary.unsettled.pop(key, None)
        return Outcome(key[1], key[0], None, "unchanged", "Events of that day were dropped; its note stays as it is.")

    def _made(self, agent: str, day: date, now_ms: int) -> Outcome:
        if not nights.exists(day, self._settings.zone):
            return Outcome(agent, day, None, "empty", f"There was no {day} in {self._settings.zone}.")
        plan = self.plan(agent, day, day)
        if plan.is_empty and not self._stands((day, agent)):
            return Outcome(agent, day, None, "empty", "Nothing happened.")
        workspace = self._workspaces.of(agent).path
        if not workspace.exists() and agent not in self._workspaces.agents():
            return Outcome(agent, day, None, "empty", f"The agent {agent} has no workspace.")
        block = Block(day.isoformat(), agent, self.body(plan, now_ms), self._stamp(plan))
        name = f"{day.isoformat()}.md"
        done = files.write(workspace, name, lambda existing: merged(existing, block))
        result = "written" if done.changed else "unchanged"
        return Outcome(agent, day, workspace / files.FOLDER / name, result, warning=done.warning)

    def _stamp(self, plan: Plan) -> str:
        """Return how many events a note is made of, and the seal at the last record that it cites."""
        cited = {number for one in plan.statements for number in (*one.events, *one.also)}
        last = max((place_of(place)[0] for place in self._store.events.places(cited)), default=0)
        digest = self._store.records.hash_at(last)
        return seals.stamp(plan.counts.events, last, digest) if digest else str(plan.counts.events)

    def _unsettled(self, key: Key) -> int:
        """Return how many things of a note have no end yet."""
        since, until = days.window_of(key[0], self._settings.zone)
        filters = (("status", ("started",), False), ("agent", (key[1],), False))
        return self._store.find.count(Query(since_ms=since, until_ms=until, filters=filters))

    def _mark(self, number: int) -> str:
        return next((record.id for record in self._store.records.fetch([number])), "")

    @contextmanager
    def _alone(self, seconds: float) -> Iterator[bool]:
        """Hold the notes' lock, waiting for at most that long; yield whether we have it."""
        lock = Lock(self._settings.home / LOCK)
        end = clock.monotonic_s() + seconds
        while not (taken := lock.take()) and clock.monotonic_s() < end:
            clock.sleep(PAUSE_S)
        try:
            yield taken
        finally:
            lock.release()
