"""Cleaning the past again: with better rules for secrets, or the user's own, in records that were kept before."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from limpet import amendment, clock, days
from limpet.erasing import Eraser, Job
from limpet.quarantine import Quarantine
from limpet.store.paging import pages
from limpet.upkeep import finishing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from limpet.memory import Memory
    from limpet.model import Record
    from limpet.recording import Recording
    from limpet.store.records import Stored
    from limpet.upkeep.finishing import Finished

STEP = 500


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in the past: how many records and lines of quarantine hold secrets, and how many of each kind."""

    records: int
    quarantined: int
    kinds: Mapping[str, int]
    done: Finished | None = None


def redact(memory: Memory, now_ms: int, progress: Callable[[int], None], *, dry_run: bool = False) -> Found:
    """Take out of the past what the rules of today find; nothing is changed with `dry_run`.

    Each step is a transaction, and a run that is killed leaves the rest for the next one.
    """
    kinds: Counter[str] = Counter()
    with memory.writing() as recording:
        numbers = [stored.record.no for stored, _ in _unclean(recording, progress, kinds)]
        quarantine = Quarantine(memory.settings.quarantine)
        lines = sum(1 for _ in quarantine.unclean(recording.redactor))
        found = Counter({name.removeprefix("secret: "): n for name, n in kinds.items() if n})
        if dry_run or not (numbers or lines):
            return Found(len(numbers), lines, dict(found))
        notes = tuple(sorted(_notes(memory, recording, numbers)))
        job = Job(clock.uuid7(), (), f"took secrets out of {len(numbers):,} records again", now_ms, notes)
        eraser = Eraser(recording.store)
        eraser.open_job(job)
        quarantine.clean(recording.redactor)
        for chunk in _chunks(numbers):
            eraser.clean(job, [*_cleaned(recording, chunk)])
            progress(chunk[-1])
        with recording.store.transaction():
            recording.store.state.count({f"secret: {kind}": n for kind, n in found.items()})
    return Found(len(numbers), lines, dict(found), finishing.finish(memory))


def _unclean(
    recording: Recording, progress: Callable[[int], None], kinds: Counter[str]
) -> Iterator[tuple[Stored, Record]]:
    """Yield the records in which something is found, each with what it should be."""
    for page in pages(recording.store.records):
        for stored in page:
            if (pair := _pair(recording, stored, kinds)) is not None:
                yield pair
        progress(page[-1].record.no)


def _cleaned(recording: Recording, numbers: Sequence[int]) -> Iterator[tuple[Stored, Record]]:
    for stored in recording.store.records.stored(numbers):
        if (pair := _pair(recording, stored, Counter())) is not None:
            yield pair


def _pair(recording: Recording, stored: Stored, kinds: Counter[str]) -> tuple[Stored, Record] | None:
    if stored.content is None or stored.damage or stored.record.kind in amendment.KINDS:
        return None
    seen: Counter[str] = Counter()
    new = recording.recorder.cleaned(stored.record, seen)
    if new == stored.record:
        return None
    kinds.update(seen)
    return stored, new


def _notes(memory: Memory, recording: Recording, numbers: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Yield the (day, agent) of the notes that may quote these records."""
    zone = memory.settings.zone
    told = set()
    for chunk in _chunks(numbers):
        for number in recording.store.events.of_records(chunk):
            event = recording.store.find.by_id(number)
            if event is not None:
                told.add((days.day_of(event.at_ms, zone), event.agent))
    nightly = memory.notes_of(recording.store)
    for day, agent in sorted(told):
        yield from ((one.isoformat(), whose) for one, whose in nightly.notes_of(day, agent))


def _chunks(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    yield from (numbers[at : at + STEP] for at in range(0, len(numbers), STEP))
