"""Forgetting what a question asks for: first the plan, which changes nothing, then for good."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from limpet import amendment, burial, clock, days, recall
from limpet.erasing import Eraser, Job
from limpet.errors import BadInput
from limpet.interpretation import Interpretation
from limpet.interpreter import making
from limpet.quarantine import Quarantine
from limpet.store.paging import pages
from limpet.upkeep import finishing
from limpet.upkeep.copies import known_copies
from limpet.upkeep.needles import Needles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from limpet.memory import Memory
    from limpet.model import Event, Query
    from limpet.store.custody import Tombstone
    from limpet.upkeep.finishing import Finished

AUDIT_SLACK_MS = 60_000
HOLDERS = ("openclaw.transcripts", "openclaw.archives", "openclaw.audit", "openclaw.log")
"""Sources that OpenClaw itself keeps."""

FACTS = 500


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be erased: the events asked for, those that share a record with them, and all that holds them.

    `notes` are (ISO day, agent), `quarantine` file names, `copies` files that Limpet cannot reach into, `held` how many
    records of each source OpenClaw itself keeps. `understood` is the question as it was understood.
    """

    understood: str
    events: tuple[int, ...]
    shared: tuple[int, ...]
    ranges: amendment.Ranges
    first_ms: int | None
    last_ms: int | None
    unsearched: int
    notes: tuple[tuple[str, str], ...]
    quarantine: tuple[str, ...]
    copies: tuple[Path, ...]
    held: Mapping[str, int]
    tombstones: tuple[Tombstone, ...]
    needles: Needles

    @property
    def records(self) -> int:
        """How many records would lose their content."""
        return sum(last - first + 1 for first, last in self.ranges)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to forget."""
        return not self.ranges and not self.quarantine


def plan(memory: Memory, question: str, now_ms: int, progress: Callable[[int], None] = lambda _: None) -> Plan:
    """Return what forgetting the answer of a question would erase. Raises NotUnderstood, and BadInput for no filter."""
    query = memory.understood(question, now_ms)
    if query.by or query.count:
        raise BadInput("That question counts; to forget, name the events themselves.", "limpet forget session:s-1")
    if query.until_ms is not None and 0 <= query.until_ms - now_ms <= 1:
        query = replace(query, until_ms=None)  # "until now" goes for what has a time to come, too
    with memory.local().snapshot():
        return _Planning(memory, replace(query, noise=True), now_ms).plan(progress)


def forget(memory: Memory, chosen: Plan, now_ms: int, progress: Callable[[int], None] = lambda _: None) -> Finished:
    """Erase what a plan says. Once it has begun, a run that is killed is finished by the next one."""
    for log in sorted(memory.settings.home.glob("*.log")):
        chosen.needles.blank(log)
    noun = "event" if len(chosen.events) == 1 else "events"
    job = Job(
        id=clock.uuid7(),
        left=chosen.ranges,
        summary=f"forgot {len(chosen.events):,} {noun} ({chosen.records:,} records)",
        at_ms=now_ms,
        notes=chosen.notes,
        quarantine=chosen.quarantine,
    )
    with memory.writing() as recording:
        Eraser(recording.store).begin(job, chosen.tombstones)
    return finishing.finish(memory, progress)


class _Planning:
    """The plan of one question, as of one moment."""

    def __init__(self, memory: Memory, query: Query, now_ms: int) -> None:
        self._memory = memory
        self._store = memory.local()
        self._query = query
        self._now_ms = now_ms
        self._made = Interpretation(self._store)
        self._needles = Needles(query.words)
        self._chosen: dict[int, Event] = {}
        self._numbers: set[int] = set()
        self._unsearched = 0

    def plan(self, progress: Callable[[int], None]) -> Plan:
        self._chosen = {event.id: event for event in recall.every(self._store, self._query)}
        if self._query.words:
            self._scan(progress)
        tombstones = {stone for ids in _chunks([*self._chosen]) for stone in self._buried(ids)}
        self._count_in()
        touched = self._store.events.of_records(self._numbers)
        shared = {number: event for number in touched - self._chosen.keys() if (event := self._event(number))}
        times = [event.at_ms for event in self._chosen.values()]
        return Plan(
            understood=self._query.understood,
            events=tuple(sorted(self._chosen)),
            shared=tuple(sorted(shared)),
            ranges=amendment.ranges_of(self._numbers),
            first_ms=min(times, default=None),
            last_ms=max(times, default=None),
            unsearched=self._unsearched,
            notes=tuple(sorted(self._notes([*self._chosen.values(), *shared.values()]))),
            quarantine=tuple(self._quarantined()),
            copies=tuple(known_copies(self._memory)),
            held=self._held(),
            tombstones=tuple(sorted(tombstones)),
            needles=self._needles,
        )

    def _scan(self, progress: Callable[[int], None]) -> None:
        """Look through every record for the words: the index has only the beginning and the end of long texts."""
        found: set[int] = set()
        for page in pages(self._store.records):
            for stored in page:
                if stored.content is not None and self._needles.are_said_in(stored.record.body):
                    found.add(stored.record.no)
            progress(page[-1].record.no)
        for number in self._store.events.of_records(found) - self._chosen.keys():
            event = self._event(number)
            if event is not None and self._is_asked_for(event):
                self._chosen[number] = event
                self._unsearched += 1
        if self._asks_for_all():
            self._numbers |= found

    def _asks_for_all(self) -> bool:
        query = self._query
        return not query.filters and not query.without and query.since_ms is None and query.until_ms is None

    def _is_asked_for(self, event: Event) -> bool:
        """Whether an event is one that the question means, its words aside."""
        if self._asks_for_all():
            return True
        query = self._query
        if not (query.since_ms or event.at_ms) <= event.at_ms < (query.until_ms or event.at_ms + 1):
            return False
        near = replace(query, words=(), since_ms=event.at_ms, until_ms=event.at_ms + 1)
        return any(one.id == event.id for one in recall.every(self._store, near))

    def _event(self, number: int) -> Event | None:
        return self._store.find.by_id(number)

    def _buried(self, ids: Sequence[int]) -> Iterator[Tombstone]:
        """Yield the tombstones of these events, and note which records they were made from and what these say."""
        facts = {fact.place: fact for fact in self._made.facts_of_events(ids)}
        for event in making.events_of(facts.values()):
            own = [facts[place] for place in event.places]
            if any(fact.kind in amendment.KINDS for fact in own):
                self._chosen.pop(event.id, None)  # what was done to the ledger stays told
                continue
            self._numbers |= {number for number, _ in event.places}
            for fact in own:
                self._needles.learn(f"{fact.text}\n{fact.error}")
            yield from burial.tombstones_of(own, self._now_ms)
        self._made.shrink()

    def _count_in(self) -> None:
        """Add the records by which OpenClaw's audit ledger counted these calls and runs."""
        for event in self._chosen.values():
            if event.type == "tool_call" and event.call:
                digest = burial.call_digest(event.call)
                until = event.at_ms + (event.duration_ms or 0) + AUDIT_SLACK_MS
                self._numbers.update(self._store.find.counted_call(digest, event.at_ms - AUDIT_SLACK_MS, until))
            if event.type == "run" and event.run:
                self._numbers.update(self._store.find.counted_run(event.run))

    def _notes(self, events: Iterable[Event]) -> Iterator[tuple[str, str]]:
        nightly = self._memory.notes()
        zone = self._memory.settings.zone
        told = {(days.day_of(event.at_ms, zone), event.agent) for event in events}
        for day, agent in sorted(told):
            yield from ((one.isoformat(), whose) for one, whose in nightly.notes_of(day, agent))

    def _quarantined(self) -> Iterator[str]:
        for name, said in Quarantine(self._memory.settings.quarantine).named():
            if self._needles.are_in(str(said.get("content", ""))) or self._needles.are_said_in(said):
                yield name

    def _held(self) -> Mapping[str, int]:
        held: Counter[str] = Counter()
        for numbers in _chunks(sorted(self._numbers)):
            held.update(one.record.source for one in self._store.records.stored(numbers))
        return {source: n for source, n in sorted(held.items()) if source.startswith(HOLDERS)}


def _chunks(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    yield from (numbers[at : at + FACTS] for at in range(0, len(numbers), FACTS))
