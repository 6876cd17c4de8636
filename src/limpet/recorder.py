"""The recorder: from a source's batch to the ledger and the events, in one transaction with the source's cursor."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from limpet import amendment, burial, clock, days, text
from limpet.errors import LimpetError
from limpet.interpretation import Interpretation
from limpet.interpreter import making
from limpet.interpreter.order import time_of
from limpet.store.custody import Tombstone
from limpet.store.events import key_hash
from limpet.store.paging import pages
from limpet.store.state import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from limpet.model import Batch, Fact, Record
    from limpet.quarantine import Cleaner, Quarantine
    from limpet.runtimes.runtime import Source
    from limpet.store.records import Stored
    from limpet.store.sqlite import SqliteStore

SEEN_MS = 30_000
"""How often it is written down that a source was read and gave nothing."""

GOODBYES = frozenset({"limpet_stop"})


class Recorder:
    """Takes in what sources give. One at a time per database: the caller holds the lock."""

    def __init__(self, store: SqliteStore, redactor: Cleaner, quarantine: Quarantine) -> None:
        """Write to this store what the redactor has cleaned; unreadable lines go to quarantine."""
        self._store = store
        self._redactor = redactor
        self._quarantine = quarantine
        self._interpretation = Interpretation(store)
        self._cursors: dict[str, dict[str, object]] = {}
        self._seen: dict[str, int] = {}
        self._failed: dict[str, str] = {}
        self._generation = 0

    def take(self, source: Source, now_ms: int) -> tuple[int, bool]:
        """Read a source once and commit what it gave; return how many records were new and whether there is more.

        Raises Unavailable when the store cannot take it (nothing is lost: the cursor has not moved). A source that
        cannot be read is remembered as such, with its reason, and stops nothing.
        """
        cursor = self._cursors.setdefault(source.key, self._store.state.cursor(source.key))
        try:
            batch = source.read(cursor, now_ms)
        except LimpetError as error:
            self._note_failure(source.key, now_ms, error.message)
            return 0, False
        is_empty = not (batch.records or batch.cursor or batch.rejects)
        if is_empty and now_ms - self._seen.get(source.key, 0) < SEEN_MS:
            return 0, batch.more
        added = self.commit(source.key, batch, now_ms, watched=True)
        self._seen[source.key] = now_ms
        self._failed.pop(source.key, None)
        return added, batch.more

    def commit(self, key: str, batch: Batch, now_ms: int, *, watched: bool = False) -> int:
        """Commit a batch and the cursor after it; return how many of its records were new.

        `watched` says that the batch is from a source that goes on, so that its silence would mean something.
        """
        rejects = {self._quarantine.keep(reject, self._redactor) for reject in batch.rejects}
        try:
            with self._store.transaction():
                self._notice_others()
                added = self._record(batch.records)
                self._store.state.move(key, batch.cursor)
                self._store.state.count({"rejected": self._store.state.first_seen("rejected", rejects)})
                if watched:
                    self._store.state.watched(key, now_ms)
        except BaseException:
            self._forget()
            raise
        known = self._cursors.setdefault(key, {})
        for item, value in batch.cursor.items():
            known.pop(item, None) if value is None else known.update({item: value})
        return added

    def bring_back(self, records: Sequence[Record]) -> None:
        """Commit records of a ledger that was ours, under the next numbers: kinds and all, whatever was forgotten."""
        try:
            with self._store.transaction():
                self._notice_others()
                self._record(records, ours=True)
        except BaseException:
            self._forget()
            raise

    def index(self) -> int:
        """Let the full-text index take in one batch; return how many events that were."""
        done = self._store.follow(self._texts_of)
        self._interpretation.shrink()
        return done

    def _texts_of(self, positions: list[int]) -> Mapping[int, str]:
        self._notice_others()
        return self._interpretation.texts_of(positions)

    def rebuild(self, progress: Callable[[int], None]) -> int:
        """Make every event again from the ledger, in one transaction; return how many events there are.

        `progress` is told the number of the last record that was read.
        """
        with self._store.transaction():
            self._forget()
            self._store.mend_schema()
            self._store.events.clear()
            self._store.custody.clear_tombstones()
            for page in pages(self._store.records):
                self._bury(page)
                self._interpretation.take([stored.record for stored in page if stored.content is not None])
                self._interpretation.shrink()
                progress(page[-1].record.no)
            self._store.events.mark_all_stale()
        self._forget()
        return self._store.find.bounds()[2]

    def _bury(self, page: Sequence[Stored]) -> None:
        """Make anew what must not come back, from the records that say what was forgotten."""
        for said in filter(None, (amendment.forgotten_in(stored.record) for stored in page)):
            self._store.custody.put_tombstones(Tombstone(*key) for key in said.keys)

    def _forget(self) -> None:
        self._interpretation.forget()
        self._cursors.clear()
        self._seen.clear()

    def _notice_others(self) -> None:
        """Forget what is kept in memory of a store that another process has changed: records may be gone from it."""
        if self._store.generation != self._generation:
            self._interpretation.forget()
            self._generation = self._store.generation

    def _note_failure(self, key: str, now_ms: int, why: str) -> None:
        if self._failed.get(key) == why:
            return
        with self._store.transaction():
            self._store.state.failed(key, now_ms, why)
        self._failed[key] = why
        self._seen.pop(key, None)

    def _record(self, records: Sequence[Record], *, ours: bool = False) -> int:
        fresh = self._fresh(records)
        counts: Counter[str] = Counter({"duplicate": len(records) - len(fresh)})
        fresh, shunned = (fresh, []) if ours else self._living(fresh)
        counts["forgotten"] += len(shunned)
        numbered = self._store.records.append(
            [self.cleaned(record, counts, ours=ours) for record in fresh], clock.nonce
        )
        self._store.state.put_streams(streams_of([*numbered, *shunned]))
        self._interpretation.take(numbered)
        self._store.state.count(counts)
        if numbered:
            no, digest = self._store.records.head()
            self._store.state.put_meta("head", f"{no} {digest.hex()}")
        return len(numbered)

    def _fresh(self, records: Sequence[Record]) -> list[Record]:
        """Return the records that the ledger does not hold, each once."""
        by_id: dict[str, Record] = {}
        for record in records:
            by_id.setdefault(record.id, record)
        known = self._store.records.known(by_id)
        return [record for record in by_id.values() if record.id not in known]

    def _living(self, records: Sequence[Record]) -> tuple[list[Record], list[Record]]:
        """Return the records to take in, and those that tell of something forgotten or dropped, which stays away."""
        kept_from = int(self._store.state.meta(burial.KEPT_FROM) or 0)
        if not kept_from and not self._store.custody.count_tombstones():
            return list(records), []
        living: list[Record] = []
        shunned: list[Record] = []
        for record in records:
            facts = making.facts_of(record)
            is_old = bool(facts) and all(time_of(fact) < kept_from for fact in facts)
            (shunned if is_old or self._is_buried(facts) else living).append(record)
        return living, shunned

    def _is_buried(self, facts: Sequence[Fact]) -> bool:
        keys = {key_hash(key) for fact in facts for key in burial.keys_of(fact)}
        tombstones = self._store.custody.buried(keys) if keys else ()
        return any(burial.is_buried(fact, tombstones) for fact in facts) if tombstones else False

    def cleaned(self, record: Record, counts: Counter[str], *, ours: bool = False) -> Record:
        """Return the record without secrets and image bytes: nothing else of it reaches the database.

        `ours` says that it stood in our ledger before, so that its kind is what it says.
        """
        body, images = text.without_images(record.body)
        body, removed = self._redactor.redact(body)
        counts["image"] += images
        for kind, n in removed.items():
            counts[f"secret: {kind}"] += n
        kind, _ = self._redactor.redact_text(record.kind if ours else amendment.plain_kind(record))
        stream, _ = self._redactor.redact_text(record.stream)
        source, _ = self._redactor.redact_text(record.source)
        return replace(record, source=source, stream=stream, kind=kind, body=body)


def streams_of(records: Sequence[Record]) -> Iterator[Stream]:
    """Yield what a batch says of the numbered streams in it: those whose producer counts its own lines."""
    by_stream: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        if isinstance(record.body, dict) and record.body.get("seq") == record.seq:
            by_stream[record.stream, record.source].append(record)
    for (stream, source), mine in by_stream.items():
        times = [days.instant(record.body.get("ts"), record.arrived_ms, "UTC")[0] for record in mine]
        numbers = [record.seq for record in mine]
        ended = any(record.kind in GOODBYES for record in mine)
        yield Stream(stream, source, len(mine), min(numbers), max(numbers), min(times), max(times), ended)
