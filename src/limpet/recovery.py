"""What is read of a damaged database, brought into a new one: records under their numbers, and what was promised.

What was promised: that what was forgotten or dropped stays away, that a job which was begun is finished, which copies
there are, since when each source is watched. Not for files, nor for putting one in the other's place (rescue.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import amendment, clock, erasing
from limpet.burial import KEPT_FROM
from limpet.interpretation import Interpretation
from limpet.model import Record
from limpet.store import graveyard
from limpet.store.custody import PRUNED, Tombstone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from limpet.model import Json
    from limpet.recording import Recording
    from limpet.store.salvage import Piece, Salvage

SOURCE = "limpet"
BATCH = 1000
KEPT = (erasing.META, "push_name")
"""Names under which the store keeps what goes on: a job of erasing, this machine's name in a fleet."""


class Recovery:
    """One damaged database on its way into a new, empty one."""

    def __init__(self, db: Path, salvage: Salvage | None, recording: Recording) -> None:
        """Bring into this recording what is read of the database; None where not even that can be opened."""
        self._db = db
        self._salvage = salvage
        self._recording = recording
        self._store = recording.store
        self._now_ms = clock.now_ms()
        self._changed_ms = _changed_ms(db)
        self._records = self._lost = self._forgotten = 0
        self._newest_ms = self._kept_from_ms = 0
        self._stones: set[Tombstone] = set()
        self._cut: tuple[int, bytes] | None = None

    def run(self, progress: Callable[[int], None], why: str = "") -> None:
        """Bring back all there is, then say so in a last record; `progress` is told how many records were looked at."""
        if self._salvage is not None:
            self._bring_records(self._salvage, progress)
            self._bring_state(self._salvage)
        self._bury()
        self._tell(why)

    def _bring_records(self, salvage: Salvage, progress: Callable[[int], None]) -> None:
        no, digest = salvage.beginning()
        if no:
            with self._store.transaction():
                self._store.custody.begin_after(no, digest, self._now_ms)
        for batch in _batches(self._stood_in(salvage.pieces(no, digest))):
            self._recording.recorder.bring_back(batch)
            for one in batch:
                self._note(one)
            progress(self._records + self._lost)
        if no:
            self._cut_off(no, digest)

    def _note(self, one: Record) -> None:
        """Count a record, and remember what it promises."""
        if one.kind == amendment.LOST and one.stream == "rescue":
            return
        self._records += 1
        said = amendment.forgotten_in(one)
        self._stones |= {Tombstone(*key) for key in said.keys} if said else set()
        self._cut = amendment.place_in(one, amendment.PRUNE) or self._cut
        before_ms = one.body["event"].get("before_ms") if one.kind == amendment.PRUNE else None
        self._kept_from_ms = max(self._kept_from_ms, before_ms if isinstance(before_ms, int) else 0)

    def _cut_off(self, no: int, digest: bytes) -> None:
        """Let the new ledger begin where the old one did; the record that says so may have been lost."""
        with self._store.transaction():
            self._store.custody.cut(no)
        if self._cut != (no, digest):
            said: dict[str, Json] = {
                "job": clock.token(8),
                "summary": "what was dropped before the database was damaged",
            }
            self._append(amendment.PRUNE, amendment.sealed(no, digest, said))

    def _bring_state(self, salvage: Salvage) -> None:
        with self._store.transaction():
            state = self._store.state
            state.count(salvage.counts())
            state.move("rejected", salvage.rejected())
            for watch in salvage.watches():
                state.watched(watch.source, watch.since_ms)
            for name in KEPT:
                state.put_meta(name, salvage.meta(name))
            for seal in salvage.seals():
                if seal.what != PRUNED:
                    self._store.custody.put_seal(seal)
            seen = {one.name: one.records for one in state.streams()}
            streams = salvage.streams()
            state.put_streams(one._replace(records=max(0, one.records - seen.get(one.name, 0))) for one in streams)

    def _bury(self) -> None:
        """Let nothing come back that was forgotten; where that is not known whole, nothing from before the damage."""
        vouched = set(self._stones)
        graves = graveyard.read(self._db)
        stones, whole = self._salvage.tombstones() if self._salvage is not None else (set(), False)
        self._stones |= stones | (graves.tombstones if graves else set())
        said = self._salvage.meta(KEPT_FROM) if self._salvage is not None else ""
        self._kept_from_ms = max(
            self._kept_from_ms, int(said) if said.isdigit() else 0, graves.kept_from_ms if graves else 0
        )
        was_any = graves is not None or bool(vouched) or self._forgotten > 0
        if was_any and not whole and not (graves is not None and graves.whole):
            self._kept_from_ms = max(self._kept_from_ms, self._last_ms())
        self._promise(sorted(self._stones - vouched))

    def _promise(self, stones: list[Tombstone]) -> None:
        job = clock.token(8)
        for at in range(0, len(stones), erasing.KEYS):
            said: dict[str, Json] = {"summary": "what was forgotten before the database was damaged"}
            keys = stones[at : at + erasing.KEYS]
            self._append(amendment.FORGET, amendment.forgot(job, (), amendment.digest_of(()), keys, said))
        with self._store.transaction():
            self._store.custody.put_tombstones(self._stones)
            if self._kept_from_ms:
                self._store.state.put_meta(KEPT_FROM, str(self._kept_from_ms))
        if self._stones or self._kept_from_ms:
            graveyard.bury(self._db, self._stones, self._kept_from_ms)

    def _last_ms(self) -> int:
        """Return up to when the old ledger had recorded, as far as that can be told."""
        return self._newest_ms or self._changed_ms

    def _tell(self, why: str) -> None:
        no, digest = self._salvage.head() if self._salvage is not None else (0, b"")
        said: dict[str, Json] = {"database": str(self._db), "records": self._records, "lost": self._lost}
        said |= {"error": why} if why else {}
        said |= {"no": no, "hash": digest.hex()} if digest else {}
        said |= {"kept_from_ms": self._kept_from_ms} if self._kept_from_ms else {}
        self._append(amendment.RESCUE, said)

    def _append(self, kind: str, event: dict[str, Json]) -> None:
        with self._store.transaction():
            erasing.append(self._store, Interpretation(self._store), kind, event, self._now_ms)

    def _stood_in(self, pieces: Iterable[Piece]) -> Iterator[Record]:
        """Yield a record for each number: the one that was read, or one that says that it cannot be."""
        before_ms = self._now_ms
        missing: list[Piece] = []
        for piece in pieces:
            missing += [piece] if piece.record is None else []
            if piece.record is not None:
                yield from self._placeholders(missing, before_ms, piece.record.arrived_ms)
                yield amendment.carried(piece.record)
                before_ms, missing = piece.record.arrived_ms, []
                self._newest_ms = max(self._newest_ms, before_ms)
        if any(not piece.forgotten for piece in missing):
            self._newest_ms = 0  # there was something newer
        yield from self._placeholders(missing, before_ms, self._now_ms)

    def _placeholders(self, missing: Iterable[Piece], since_ms: int, until_ms: int) -> Iterator[Record]:
        """Yield a record for each that is missing; the first that was lost says how many and between which times."""
        pieces = list(missing)
        lost = sum(not piece.forgotten for piece in pieces)
        self._lost += lost
        self._forgotten += len(pieces) - lost
        for piece in pieces:
            said: dict[str, Json] = {"forgotten": True} if piece.forgotten else {}
            if lost and not piece.forgotten:
                said, lost = {"lost": lost, "since_ms": min(since_ms, until_ms), "until_ms": until_ms}, 0
            body = {"hook": amendment.LOST, "ts": self._now_ms, "source": SOURCE, "ctx": {}, "event": said}
            yield Record(clock.uuid7().replace("-", ""), SOURCE, "rescue", 0, amendment.LOST, body, self._now_ms)


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    batch: list[Record] = []
    for record in records:
        batch.append(record)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _changed_ms(db: Path) -> int:
    """Return when the database was last written."""
    files = [db, db.with_name(f"{db.name}-wal")]
    return max((path.stat().st_mtime_ns // 1_000_000 for path in files if path.exists()), default=0)
