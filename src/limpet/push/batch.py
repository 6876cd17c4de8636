"""A batch: what goes to the fleet in one transaction, read from the store as of one moment. Not for sending it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from limpet import ledger
from limpet.interpretation import Interpretation
from limpet.interpreter import making
from limpet.model import Record
from limpet.store import packing
from limpet.store.events import key_hash
from limpet.store.postgres import text
from limpet.store.terms import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from limpet.model import Event
    from limpet.store.outbox import Change
    from limpet.store.sqlite import SqliteStore

RECORDS = 1000
CHANGES = 500
SLICE = 50
"""So many changed events are made again at a time: the largest texts are a megabyte."""

BYTES = 4 << 20
"""How large a batch may grow before it is sent; one record, or one event, goes whole."""

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows for the fleet's staging tables, by table; the head and the last change after them, and texts that went."""

    rows: Mapping[str, Sequence[Row]]
    head: int
    sent: int
    begins: int = 0
    dropped: Sequence[bytes] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to send."""
        return not (any(self.rows.values()) or self.dropped)

    @property
    def records(self) -> int:
        """How many records are in it."""
        return len(self.rows.get("record", ()))

    @property
    def events(self) -> int:
        """How many events are in it, those that went counted too."""
        return len(self.rows.get("event", ()))

    @property
    def times(self) -> list[int]:
        """The times in it, in ms: arrivals of records, and when events happened."""
        arrived = {row[6] for row in self.rows.get("record", ())}
        return sorted(arrived | {row[1] >> 20 for row in self.rows.get("event", ()) if row[1] is not None})


class Reader:
    """Reads batches of one store. For one thread."""

    def __init__(self, store: SqliteStore) -> None:
        """Read from this store."""
        self._store = store
        self._outbox = store.outbox
        self._made = Interpretation(store)
        self._tokenizer = Tokenizer()

    def next(self, head: int, sent: int) -> Batch:
        """Return what comes after this record and this change: records first, then what changed."""
        with self._store.snapshot():
            return self._records(head, sent) or self._changes(head, sent)

    def _records(self, head: int, sent: int) -> Batch | None:
        rows: list[Row] = []
        bodies: dict[bytes, Row] = {}
        size = 0
        for told in self._outbox.records(head, RECORDS):
            row, content = _record(told)
            found = self._bodies_of(content, bodies)
            rows.append(row)
            bodies.update(found)
            size += len(row[-1] or b"") + sum(len(body[-1]) for body in found.values())
            if size > BYTES:
                break
        if not rows:
            return None
        return Batch({"record": rows, "body": list(bodies.values())}, rows[-1][0], sent, self._outbox.begins())

    def _bodies_of(self, content: bytes | None, known: Mapping[bytes, Row]) -> dict[bytes, Row]:
        """Return the large texts that a record's bytes refer to, but for those that are known."""
        wanted = packing.references(content or b"") - known.keys()
        return {digest: (digest, *body) for digest in wanted if (body := self._outbox.body(digest)) is not None}

    def _changes(self, head: int, sent: int) -> Batch:
        changes: list[Change] = []
        events: list[Row] = []
        size = 0
        while len(changes) < CHANGES and size <= BYTES:
            some = self._outbox.waiting(changes[-1].no if changes else sent, SLICE)
            if not some:
                break
            changes += some
            events += self._events([change.key for change in some if change.kind == "event"])
            size = sum(len(value) for row in events for value in row if isinstance(value, str))
        by_kind: dict[str, list[Any]] = {kind: [] for kind in ("event", "stream", "content", "body")}
        for change in changes:
            by_kind[change.kind].append(change.key)
        amended, bodies = self._amended(by_kind["content"])
        told = {row[0] for row in events}
        erased = [row[0] for row in amended if row[-1] is None]
        events += self._events([number for number in self._outbox.events_of(erased) if number not in told])
        dropped = [bytes(digest) for digest in by_kind["body"] if self._outbox.body(bytes(digest)) is None]
        streams = [_kept((*row[:-1], row[-1] == 1)) for row in self._outbox.streams(by_kind["stream"])]
        rows = {"event": events, "stream": streams, "amended": amended, "body": bodies}
        return Batch(rows, head, changes[-1].no if changes else sent, dropped=dropped)

    def _events(self, ids: Sequence[int]) -> Iterator[Row]:
        """Yield these events as they stand now, those that went too; with their texts, made again from the ledger."""
        told = {row[0]: row for row in self._outbox.events(ids)}
        merged = self._outbox.sightings(told)
        made = {event.id: event for event in making.events_of(self._made.facts_of_events(told))}
        self._made.forget()
        for number in ids:
            row = told.get(number)
            yield _gone(number) if row is None else self._event(row, made.get(number), merged[number])

    def _event(self, told: Row, made: Event | None, merged: Sequence[int]) -> Row:
        said = self._tokenizer.text(made.text if made else "")
        keys = sorted({key_hash(key) for key in made.keys}) if made else []
        terms = sorted({*said.terms, *keys})
        children = _children(told[3], told[19])
        return _kept((*told[:5], told[5] or "", *told[6:], *children, keys, terms, said.words, list(merged)))

    def _amended(self, numbers: Iterable[int]) -> tuple[list[Row], list[Row]]:
        """Return what is left of records whose content went or was put anew, and the large texts of the latter."""
        rows: list[Row] = []
        bodies: dict[bytes, Row] = {}
        for no in numbers:
            told = self._outbox.record(no)
            if told is None:
                rows.append((no, None, None, None, None, None, None))
                continue
            row, content = _record(told)
            rows.append((no, row[2], row[3], row[5], row[7], row[10], row[11]))
            bodies.update(self._bodies_of(content, bodies))
        return rows, list(bodies.values())


def _record(told: Row) -> tuple[Row, bytes | None]:
    """Return a record as the fleet keeps it, its leaf always with it; and its bytes, None where it has none."""
    no, hexed, source, stream, seq, kind, arrived_ms, nonce, leaf, digest, codec, stored = told
    content = _content(codec, stored)
    if leaf is None and content is not None:
        named = "" if stream == "-" else stream
        record = Record(hexed.lower(), source, named, seq, kind, None, arrived_ms, no)
        leaf = ledger.leaf_of(record, content, nonce or b"")
    row = (no, bytes.fromhex(hexed), source, stream, seq, kind, arrived_ms, nonce, leaf, digest, codec, stored)
    return _kept(row), content


def _content(codec: int | None, stored: bytes | None) -> bytes | None:
    if codec is None or stored is None:
        return None
    try:
        return packing.decompress(codec, stored)
    except ValueError:
        return None  # damaged: it goes as it is, and `verify` there says so, too


def _gone(number: int) -> Row:
    return (number, *[None] * 25, [])


def _children(kind: str, details: str) -> Iterator[str | None]:
    """Yield the session key and the session of the child that a subagent's event tells of."""
    said = json.loads(details) if kind == "subagent" else {}
    for name in ("child", "child_session"):
        value = said.get(name) if isinstance(said, dict) else None
        yield None if value is None else str(value)


def _kept(row: Row) -> Row:
    return tuple(text.kept(value) if isinstance(value, str) else value for value in row)
