"""The live transcripts of one agent: OpenClaw's database as a source of records. Not for what they mean."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import zstandard

from limpet import jsonline
from limpet.model import Batch, Record, Reject
from limpet.runtimes.foreign import ForeignDatabase
from limpet.runtimes.lines import HEAD
from limpet.runtimes.openclaw.records import SOURCE, Place, Repeats, has_own_id, line_record
from limpet.runtimes.openclaw.windows import NEEDS, Sketch, sketches, window

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import apsw

    from limpet.model import Json

BATCH_ROWS = 500
BATCH_BYTES = 4 << 20

KNOWN_SCHEMA = 23
"""The version that was seen; any other is read as long as it has what is needed."""

ROWS = """
SELECT seq, CAST(created_at AS INTEGER), event_zstd IS NOT NULL, octet_length(coalesce(event_zstd, event_json)),
       CASE WHEN event_zstd IS NOT NULL THEN CAST(event_zstd AS BLOB)
            WHEN octet_length(event_json) <= :most THEN CAST(event_json AS BLOB)
            ELSE substr(CAST(event_json AS BLOB), 1, :head) END
FROM transcript_events WHERE session_id = :session AND seq > :after AND typeof(seq) = 'integer' ORDER BY seq
"""


class TranscriptSource:
    """The sessions and transcripts in one agent's database.

    The cursor has an item for each session: see Position. `left` is how many rows the last look found unread.
    """

    def __init__(self, agent: str, path: Path) -> None:
        """Name the agent and its database, which need not be there yet."""
        self.key = f"{SOURCE}:{agent}"
        self.agent = agent
        self.left = 0
        self._database = ForeignDatabase(path, NEEDS)
        self._after: dict[str, Json] | None = None
        self._done: dict[str, Sketch] = {}
        self._more = False

    @property
    def schema(self) -> int:
        """The version that the database says of itself; 0 before the first look."""
        return self._database.version

    @property
    def knows_schema(self) -> bool:
        """Whether that version was ever tried: another may hold things that are not understood."""
        return self.schema in {0, KNOWN_SCHEMA}

    def read(self, cursor: Mapping[str, Json], now_ms: int) -> Batch:
        """Return the next rows: newest session first, each oldest first; live sessions before all others.

        Rows that go away delete nothing; a transcript that was rewritten is read again from its start. Raises
        Unavailable as `ForeignDatabase.look` does.
        """
        if self._after != cursor:
            self._done.clear()  # what was given was not committed, or by someone else
        elif not self._more and self._database.quiet():
            return Batch()
        if not cursor and not self._database.exists():
            return Batch()  # an older OpenClaw has none, a new one not yet
        batch = self._database.look(lambda database: self._take(database, cursor, now_ms), now_ms)
        if batch is None:
            return Batch()
        self._after = {item: at for item, at in {**cursor, **batch.cursor}.items() if at is not None}
        self._more = batch.more
        return batch

    def _take(self, database: apsw.Connection, cursor: Mapping[str, Json], now_ms: int) -> Batch:
        found = {sketch.session: sketch for sketch in sketches(database)}
        waiting = [(sketch, Position.of(cursor.get(sketch.session), sketch)) for sketch in self._waiting(found)]
        self.left = sum(position.left(sketch) for sketch, position in waiting)
        reading = _Reading(database, self.agent, now_ms)
        for sketch, position in sorted(waiting, key=_urgency):
            if reading.is_full:
                break
            if reading.take(sketch, position):
                self._done[sketch.session] = sketch
        self.left -= reading.rows
        moved = {session: item for session, item in reading.moved.items() if item != cursor.get(session)}
        gone = dict.fromkeys(cursor.keys() - found.keys())
        return Batch(tuple(reading.records), {**moved, **gone}, reading.is_full, tuple(reading.rejects))

    def _waiting(self, found: Mapping[str, Sketch]) -> Sequence[Sketch]:
        """Return the sessions that are not as they were when they were read, and those that these ended."""
        changed = [sketch for sketch in found.values() if self._done.get(sketch.session) != sketch]
        names = {sketch.session for sketch in changed}
        ended = {sketch.previous for sketch in changed if sketch.previous} - names
        return [*changed, *(found[session] for session in ended if session in found)]


@dataclass(frozen=True, slots=True)
class Position:
    """How far a session was read: a cursor item.

    `seq` is the last row taken and `generation` stands for the rows as they then were; `state` for what was
    last told of the session; `whole` that its transcript was once read to the end, so that new rows are news.
    """

    seq: int = -1
    generation: str = ""
    state: str = ""
    whole: bool = False

    @classmethod
    def of(cls, item: Json, sketch: Sketch) -> Position:
        """Return where to go on: from the start where the rows are not those that were read."""
        at = cls(**item) if item else cls()
        generation = sketch.generation or ""
        shrunk = sketch.last_seq is not None and sketch.last_seq < at.seq
        return replace(at, seq=-1, generation=generation) if shrunk or generation != at.generation else at

    def left(self, sketch: Sketch) -> int:
        """Return about how many rows are still to be read."""
        return 0 if sketch.last_seq is None else max(0, sketch.last_seq - self.seq)


def _urgency(waiting: tuple[Sketch, Position]) -> tuple[bool, int, str]:
    sketch, position = waiting
    return not position.whole, -sketch.changed_ms, sketch.session


class _Reading:
    """What one look takes, at most a batch."""

    def __init__(self, database: apsw.Connection, agent: str, now_ms: int) -> None:
        self.records: list[Record] = []
        self.rejects: list[Reject] = []
        self.moved: dict[str, Json] = {}
        self.rows = 0
        self._bytes = 0
        self._database = database
        self._agent = agent
        self._now_ms = now_ms

    @property
    def is_full(self) -> bool:
        return len(self.records) + len(self.rejects) >= BATCH_ROWS or self._bytes >= BATCH_BYTES

    def take(self, sketch: Sketch, position: Position) -> bool:
        """Take the session's state, when it is news, and its next rows; return whether that is all of it."""
        session = window(self._database, self._agent, sketch)
        told = session.record(self._now_ms)
        if not told.id.startswith(position.state or "-"):
            self.records.append(told)
        after = self._take_rows(session.place, sketch, replace(position, state=told.id[:16]))
        self.moved[sketch.session] = asdict(after)
        return after.whole and not after.left(sketch)

    def _take_rows(self, place: Place, sketch: Sketch, position: Position) -> Position:
        if not position.left(sketch):
            return replace(position, whole=True)
        repeats = _RowRepeats(self._database, place.session, position.seq)
        seq = position.seq
        for row in rows_of(self._database, place.session, position.seq):
            if self.is_full:
                return replace(position, seq=seq)
            self._add(place, row, repeats)
            seq = row.seq
        return replace(position, seq=seq, whole=True)

    def _add(self, place: Place, row: Row, repeats: _RowRepeats) -> None:
        self.rows += 1
        self._bytes += row.size
        try:
            content = row.json()
            entry = jsonline.parse(content)
        except ValueError as error:
            self.rejects.append(Reject(SOURCE, f"{place.stream} row {row.seq}", str(error), row.content[:HEAD]))
            return
        invalid = jsonline.has_bad_utf8(content)
        repeat = repeats.count(entry)
        self.records.append(
            line_record(place, entry, row.seq, repeat, self._now_ms, invalid=invalid, made_ms=row.made_ms)
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a transcript; `content` is its entry, packed or not, cut to HEAD bytes if it is too long."""

    seq: int
    made_ms: int
    packed: bool
    size: int
    content: bytes

    def json(self) -> bytes:
        """Return the entry's JSON. Raises ValueError with a sentence when it cannot be had."""
        if self.packed:
            return _unpacked(self.content)
        if self.size > jsonline.MAX_LINE:
            raise ValueError(f"The row has {self.size:,} bytes; at most {jsonline.MAX_LINE:,} are read.")
        return self.content


def rows_of(database: apsw.Connection, session: str, after: int) -> Iterator[Row]:
    """Give the rows of a transcript behind `after`, in order."""
    bounds = {"session": session, "after": after, "most": jsonline.MAX_LINE, "head": HEAD}
    for seq, made_ms, packed, size, content in database.execute(ROWS, bounds):
        yield Row(seq, made_ms, bool(packed), size or 0, content or b"")


def _unpacked(content: bytes) -> bytes:
    try:
        if zstandard.frame_content_size(content) > jsonline.MAX_LINE:
            raise ValueError(f"The row is longer than {jsonline.MAX_LINE:,} bytes when it is unpacked.")
        return zstandard.ZstdDecompressor().decompress(content, max_output_size=jsonline.MAX_LINE)
    except zstandard.ZstdError as error:
        raise ValueError(f"The row cannot be unpacked: {error}.") from error


class _RowRepeats:
    """Repeats of entries without an id, from the start of the session; its rows are read only for those."""

    def __init__(self, database: apsw.Connection, session: str, before: int) -> None:
        self._database = database
        self._session = session
        self._before = before
        self._repeats: Repeats | None = None

    def count(self, entry: Json) -> int:
        if has_own_id(entry):
            return 0
        if self._repeats is None:
            self._repeats = Repeats()
            for earlier in self._earlier():
                self._repeats.count(self._session, earlier)
        return self._repeats.count(self._session, entry)

    def _earlier(self) -> Iterator[Json]:
        for row in rows_of(self._database, self._session, -1):
            if row.seq > self._before:
                return
            try:
                yield jsonline.parse(row.json())
            except ValueError:
                continue  # it went to quarantine when it was read
