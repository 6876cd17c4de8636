"""Finishing what was begun: a job of erasing, from wherever it stands to its end. Also for one that was killed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from limpet import clock
from limpet.erasing import Eraser, Job
from limpet.errors import LimpetError
from limpet.note.spending import Purse
from limpet.quarantine import Quarantine
from limpet.spool import scrubbing
from limpet.upkeep import copies

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from limpet.memory import Memory
    from limpet.recording import Recording

BRIEFS = "brief"


@dataclass(frozen=True, slots=True)
class Finished:
    """What was done: records erased (in this run), lines of the spool made blank, notes written again or in the way."""

    records: int = 0
    lines: int = 0
    quarantined: int = 0
    notes: int = 0
    troubles: tuple[str, ...] = ()


def finish(memory: Memory, progress: Callable[[int], None] = lambda _: None) -> Finished:
    """Finish the job that is under way, if there is one. Raises Unavailable where a reader keeps the log from going."""
    with memory.writing() as recording:
        job = Job.read(recording.store)
        if job is None:
            return Finished()
        todo = sum(last - first + 1 for first, last in job.left)
        eraser = Eraser(recording.store)
        job = eraser.run(job, progress)
        eraser.tidy(job)
        lines = _clean_files(memory, recording, job)
        while recording.recorder.index():
            pass
        recording.store.shred()
    notes, troubles = _write_notes(memory, job)
    with memory.writing() as recording:
        Eraser(recording.store).end()
    return Finished(todo, lines, len(job.quarantine), notes, tuple(troubles))


def is_unfinished(memory: Memory) -> bool:
    """Whether a job was begun and not finished."""
    return Job.read(memory.local()) is not None


def _clean_files(memory: Memory, recording: Recording, job: Job) -> int:
    """Clean the files outside of the database; return how many lines of the spool were made blank."""
    chosen = memory.settings
    Quarantine(chosen.quarantine).drop(job.quarantine)
    Purse(chosen.home).forget(set(job.notes))
    for path in sorted((chosen.home / BRIEFS).glob("**/*")):
        if path.is_file():
            path.unlink(missing_ok=True)  # it is made anew from what is left
    for path in sorted(chosen.db.parent.glob(f"{chosen.db.name}.before-schema-*")):
        path.unlink(missing_ok=True)
    copies.drop_half(chosen.db)
    if not chosen.owns_spool:
        return 0
    return scrubbing.scrub(chosen.spool, recording.store.state.cursor("spool"), recording.store.custody.forgotten)


def _write_notes(memory: Memory, job: Job) -> tuple[int, Sequence[str]]:
    """Write the notes again that told of it; return how many, and what was in the way."""
    if not job.notes:
        return 0, ()
    keys = [(date.fromisoformat(day), agent) for day, agent in job.notes]
    try:
        outcomes = memory.notes().again(keys, clock.now_ms())
    except LimpetError as error:
        return 0, (error.message,)
    why = [
        f"the note of {one.day} ({one.agent}): {one.why or one.warning}" for one in outcomes if one.why or one.warning
    ]
    return sum(one.result == "written" for one in outcomes), why
