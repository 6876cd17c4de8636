"""Erasing for good what the ledger holds, in small steps, each a transaction; a run that was killed is taken up again.

The job stands in the database from its first step to its last: which records are left, which files outside are to be
cleaned. It never holds a word of what is erased. Not for choosing what to erase.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Self

from limpet import amendment, clock
from limpet.burial import KEPT_FROM
from limpet.interpretation import Interpretation
from limpet.store import graveyard
from limpet.store.custody import PRUNED, Seal, Tombstone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from limpet.amendment import Ranges
    from limpet.model import Json, Record
    from limpet.store.records import Stored
    from limpet.store.sqlite import SqliteStore

META = "erasing"
STEP = 500
KEYS = 5_000
"""Tombstones that one record vouches for."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be erased: `left` are the records that still have their content.

    `notes` are (day, agent) of daily notes to be written again, `quarantine` names of files to be deleted. `before_ms`
    is set for what is dropped by age: then the part of the ledger that is empty at its beginning is cut off, too.
    """

    id: str
    left: Ranges
    summary: str
    at_ms: int
    notes: tuple[tuple[str, str], ...] = ()
    quarantine: tuple[str, ...] = ()
    before_ms: int | None = None

    @classmethod
    def read(cls, store: SqliteStore) -> Self | None:
        """Return the job that is under way in this database, None where there is none."""
        said = store.state.meta(META)
        if not said:
            return None
        value = json.loads(said)
        pairs = {name: tuple((one[0], one[1]) for one in value[name]) for name in ("left", "notes")}
        return cls(**{**value, **pairs, "quarantine": tuple(value["quarantine"])})


class Eraser:
    """Carries out a job on a store that is open for writing."""

    def __init__(self, store: SqliteStore) -> None:
        """Work on this store; a recorder may go on beside it, in its own process."""
        self._store = store
        self._made = Interpretation(store)

    def begin(self, job: Job, tombstones: Sequence[Tombstone]) -> None:
        """Write down the job and what must not come back: from here on it will be finished, whatever happens.

        What must not come back is written down twice: a damaged database may not be able to say it any more.
        """
        graveyard.bury(self._store.path, tombstones, job.before_ms or 0)
        with self._store.transaction():
            self._made.forget()
            self._keep(job)
            self._store.custody.put_tombstones(tombstones)
            for chunk in _chunks(sorted(set(tombstones)), KEYS):
                self._vouch(job, (), amendment.digest_of(()), chunk)
            if job.before_ms is not None:
                self._store.state.put_meta(KEPT_FROM, str(job.before_ms))

    def run(self, job: Job, progress: Callable[[int], None]) -> Job:
        """Erase what is left, step by step; `progress` is told how many records are still to do."""
        while job.left:
            job = self._step(job)
            progress(sum(last - first + 1 for first, last in job.left))
        return job

    def tidy(self, job: Job) -> None:
        """Give what has no end its status anew, cut off what is empty, and drop names that nothing carries."""
        with self._store.transaction():
            self._made.forget()
            self._made.settle(self._store.events.opened())
            if job.before_ms is not None:
                self._cut(job)
            self._store.custody.sweep_names()

    def open_job(self, job: Job) -> None:
        """Write down a job whose steps the caller takes: what remains after them will be done, whatever happens."""
        with self._store.transaction():
            self._keep(job)

    def clean(self, job: Job, pairs: Sequence[tuple[Stored, Record]]) -> None:
        """Put cleaned records in place of those that are there, in one step, and let the ledger vouch for them."""
        with self._store.transaction():
            self._made.forget()
            self._made.unmake([stored.record for stored, _ in pairs])
            leaves = {new.no: self._store.custody.clean(stored, new, clock.nonce()) for stored, new in pairs}
            self._made.take([new for _, new in pairs])
            event = amendment.cleaned(job.id, leaves, {"summary": job.summary})
            append(self._store, self._made, amendment.REDACT, event, job.at_ms)

    def end(self) -> None:
        """Take the job off: everything is done."""
        with self._store.transaction():
            self._store.state.put_meta(META, "")

    def _step(self, job: Job) -> Job:
        numbers, left = amendment.split(job.left, STEP)
        with self._store.transaction():
            self._made.forget()
            stored = [one for one in self._store.records.stored(numbers) if one.record.kind not in amendment.KINDS]
            if stored:
                self._erase(job, stored)
            job = replace(job, left=left)
            self._keep(job)
        return job

    def _erase(self, job: Job, stored: Sequence[Stored]) -> None:
        self._made.unmake([one.record for one in stored])
        self._store.custody.forget(stored)
        ranges = amendment.ranges_of(one.record.no for one in stored)
        rows = self._store.records.stored(amendment.numbers_in(ranges))
        digest = amendment.digest_of((one.record, one.leaf, one.hash) for one in rows)
        self._vouch(job, ranges, digest, ())

    def _vouch(self, job: Job, ranges: Ranges, digest: str, keys: Iterable[Tombstone]) -> None:
        said = amendment.forgot(job.id, ranges, digest, keys, {"summary": job.summary})
        append(self._store, self._made, amendment.FORGET, said, job.at_ms)

    def _cut(self, job: Job) -> None:
        """Cut off the ledger's beginning, as far as nothing of it has content, and seal the place.

        What Limpet did to its ledger back then goes, too: it vouches only for what stood before it.
        """
        custody = self._store.custody
        through = custody.empty_through(job.before_ms or 0)
        digest = self._store.records.hash_at(through)
        if through <= custody.beginning()[0] or digest is None:
            return
        old = self._store.records.stored(custody.kept_through(through))
        self._made.unmake([one.record for one in old])
        custody.forget(old)
        custody.cut(through)
        custody.put_seal(Seal(through, digest, job.at_ms, PRUNED, ""))
        said: dict[str, Json] = {"job": job.id, "summary": job.summary, "before_ms": job.before_ms}
        append(self._store, self._made, amendment.PRUNE, amendment.sealed(through, digest, said), job.at_ms)
        bury(self._store)

    def _keep(self, job: Job) -> None:
        self._store.state.put_meta(META, json.dumps(asdict(job)))


def bury(store: SqliteStore) -> None:
    """Make anew what must not come back, from the ledger's records of what was forgotten."""
    store.custody.clear_tombstones()
    for record in store.records.fetch(store.custody.of_kind(amendment.FORGET)):
        said = amendment.forgotten_in(record)
        store.custody.put_tombstones(Tombstone(*key) for key in (said.keys if said else ()))


def append(store: SqliteStore, made: Interpretation, kind: str, event: dict[str, Json], at_ms: int) -> None:
    """Append an amendment to the ledger, within the caller's transaction, and make its event."""
    record = amendment.record(kind, event, clock.uuid7().replace("-", ""), at_ms)
    made.take(store.records.append([record], clock.nonce))
    no, digest = store.records.head()
    store.state.put_meta("head", f"{no} {digest.hex()}")


def _chunks(items: Sequence[Tombstone], size: int) -> Iterator[Sequence[Tombstone]]:
    yield from (items[at : at + size] for at in range(0, len(items), size))
