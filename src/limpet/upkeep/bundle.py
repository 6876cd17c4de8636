"""A memory handed out: a folder that proves itself, without Limpet. JSON lines, and Parquet where that is wanted.

`manifest.json` says what it is and how the ledger begins and ends, `records.jsonl` is the ledger link by link,
`texts.jsonl` the large texts by their hashes, `events.jsonl` what it means. `docs/verify_bundle.py` checks it.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from limpet import clock, days, recall, wire
from limpet.errors import BadInput, Unavailable
from limpet.model import Query
from limpet.settings import user_path
from limpet.store.custody import Seal
from limpet.store.paging import pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from limpet.memory import Memory
    from limpet.store.records import Stored

FORMAT, VERSION = "limpet-bundle", 1
EXPORT = "export"
ROW_GROUP = 10_000
"""Rows of a Parquet file that are held in memory at a time."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """What was handed out: where it lies, how much it holds, and the seal that it ends with."""

    path: Path
    records: int
    events: int
    head: str
    seal: str


def write(memory: Memory, path: Path, progress: Callable[[int], None], *, parquet: bool = False) -> Bundle:
    """Write the bundle into a new folder, which gets its name when it is whole.

    The memory remembers the seal that was handed out. Raises BadInput where something lies there, or for Parquet
    without pyarrow; Unavailable where it cannot be written.
    """
    target = user_path(path).absolute()
    if target.exists():
        raise BadInput(f"{target} is there already.", "Name a folder that does not exist.")
    if parquet:
        _arrow()
    half = target.with_name(f".{target.name}.half")
    old = os.umask(0o077)
    try:
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(parents=True)
        with memory.local().snapshot():
            manifest = _Writing(memory, half, progress).write(parquet=parquet)
        half.rename(target)
    except OSError as error:
        raise Unavailable(
            f"{target} cannot be written: {error.strerror}.", "Check the disk and its permissions."
        ) from error
    finally:
        os.umask(old)
    head = manifest["head"]
    with memory.writing() as recording, recording.store.transaction():
        seal = Seal(head["no"], bytes.fromhex(head["hash"]), clock.now_ms(), EXPORT, str(target))
        recording.store.custody.put_seal(seal)
    return Bundle(target, manifest["records"], manifest["events"], head["hash"], f"{head['no']}:{head['hash']}")


class _Writing:
    """The files of one bundle."""

    def __init__(self, memory: Memory, folder: Path, progress: Callable[[int], None]) -> None:
        self._store = memory.local()
        self._zone = memory.settings.zone
        self._folder = folder
        self._progress = progress

    def write(self, *, parquet: bool) -> dict[str, Any]:
        no, digest = self._store.custody.beginning()
        last, head = self._store.records.head()
        counts = {
            "records": self._lines("records", self._records()),
            "texts": self._lines("texts", self._texts()),
            "events": self._lines("events", self._events()),
        }
        if parquet:
            _write_parquet(self._folder / "events.parquet", self._events())
        manifest = {
            "format": FORMAT, "version": VERSION, "made": days.show(clock.now_ms(), "UTC"), "zone": self._zone,
            "begins": {"no": no, "hash": digest.hex()}, "head": {"no": last, "hash": head.hex()}, **counts,
            "files": sorted(path.name for path in self._folder.iterdir()),
        }  # fmt: skip
        (self._folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
        return manifest

    def _lines(self, name: str, values: Iterator[dict[str, Any]]) -> int:
        count = 0
        with (self._folder / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            for value in values:
                file.write(json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n")
                count += 1
            file.flush()
            os.fsync(file.fileno())
        return count

    def _records(self) -> Iterator[dict[str, Any]]:
        for page in pages(self._store.records):
            yield from map(_record, page)
            self._progress(page[-1].record.no)

    def _texts(self) -> Iterator[dict[str, Any]]:
        for digest, _, _ in self._store.records.texts.checked():
            text = self._store.records.texts.text(digest)
            if text is not None:
                yield {"sha256": digest.hex(), "text": text}

    def _events(self) -> Iterator[dict[str, Any]]:
        for event in recall.every(self._store, Query(noise=True, zone=self._zone)):
            yield {**wire.event(event, self._zone), "details": event.details, "tags": event.tags}


def _record(stored: Stored) -> dict[str, Any]:
    one = stored.record
    content = None if stored.content is None else stored.content.decode("utf-8")
    kept = {"nonce": stored.nonce, "leaf": stored.leaf, "hash": stored.hash}
    return {
        "no": one.no, "id": one.id, "source": one.source, "stream": one.stream, "seq": one.seq, "kind": one.kind,
        "arrived_ms": one.arrived_ms, "content": content,
        **{name: None if value is None else value.hex() for name, value in kept.items()},
    }  # fmt: skip


def _write_parquet(path: Path, events: Iterator[dict[str, Any]]) -> None:
    """Write the events as Parquet: names and numbers as columns, times as timestamps, the rest as JSON text."""
    arrow, parquet = _arrow()
    schema = arrow.schema(
        [(name, arrow.string()) for name in ("id", "type", "agent", "session", "run", "call", "tool", "status")]
        + [("time", arrow.timestamp("ms", tz="UTC")), ("duration_ms", arrow.int64())]
        + [(name, arrow.string()) for name in ("summary", "error", "trust", "label", "actor")]
        + [(name, arrow.string()) for name in ("flags", "sources", "details", "tags")]
    )
    with parquet.ParquetWriter(path, schema) as writer:
        rows: list[dict[str, Any]] = []
        for event in events:
            rows.append(_row(event))
            if len(rows) >= ROW_GROUP:
                writer.write_table(arrow.Table.from_pylist(rows, schema))
                rows = []
        writer.write_table(arrow.Table.from_pylist(rows, schema))


def _row(event: dict[str, Any]) -> dict[str, Any]:
    at_ms, _ = days.instant(event["time"], 0, "UTC")
    said = {name: json.dumps(event[name], ensure_ascii=False) for name in ("flags", "sources")}
    more = {n: None if event[n] is None else json.dumps(event[n], ensure_ascii=False) for n in ("details", "tags")}
    return {**event, "time": at_ms, **said, **more}


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - large, optional, and for this alone
        from pyarrow import parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise BadInput("Parquet needs pyarrow, which is not installed.", "pip install 'limpet[parquet]'") from error
    return pa, pq
