"""Target 6: bytes of an event, everything kept and indexed, against the script and against the lines as one stream."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

import zstandard

from benchmarks import script, telling
from benchmarks.building import page_bytes, settings_of
from benchmarks.ratio import Figure
from limpet.model import Batch
from limpet.recording import Recording
from limpet.runtimes.openclaw.records import Place, line_record
from limpet.store.search import path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from benchmarks.run import Run
    from benchmarks.traffic import Happening
    from limpet.model import Record


def figures(run: Run) -> Iterator[Figure]:
    """Yield the ratios for one witness and for two. They repeat exactly, so one round says it."""
    happenings = list(run.traffic.events(2_000 if run.quick else 100_000))
    theirs = _script_bytes(run, happenings)
    lines = list(telling.lines(happenings))
    yield from _figures(
        run, "", happenings, list(telling.records(lines)), theirs, _stream_bytes(map(telling.raw, lines))
    )
    hooks = list(telling.lines(happenings, all_hooks=True))
    entries = list(telling.entries(happenings))
    said = _stream_bytes(map(telling.raw, chain(hooks, entries)))
    yield from _figures(
        run, " with two witnesses", happenings, [*telling.records(hooks), *_told(entries)], theirs, said
    )


def _figures(
    run: Run, how: str, happenings: Sequence[Happening], records: Sequence[Record], script_bytes: int, stream: int
) -> Iterator[Figure]:
    runs = sum(one.role == "assistant" for one in happenings)  # its last words end a run, which is an event too
    parts = _bytes(run, records, len(happenings) + runs)
    ours = sum(parts.values())
    sides = {name: size / len(happenings) for name, size in {**parts, "script": script_bytes, "stream": stream}.items()}
    yield Figure("6", f"bytes per event{how}, against the script's schema", [ours / script_bytes],
                 at_most=1.0 if how else 0.75, detail="bytes per event: database and index", sides=sides)  # fmt: skip
    yield Figure("6", f"bytes per event{how}, against zstd -3 of the same lines as one stream", [ours / stream],
                 at_most=5.0 if how else 3.5, detail="bytes per event: database and index", sides=sides)  # fmt: skip


def _bytes(run: Run, records: Iterable[Record], events: int) -> dict[str, int]:
    chosen = settings_of(run.fresh("size"))
    recording = Recording.open(chosen)
    given = iter(records)
    while batch := tuple(islice(given, 2_000)):
        recording.recorder.commit("bench", Batch(batch), batch[-1].arrived_ms)
        while recording.recorder.index():
            pass
    kept = recording.store.find.bounds()[2]
    if kept != events:
        raise RuntimeError(f"{events} events became {kept}")
    recording.close()
    return {"database": page_bytes(chosen.db), "index": page_bytes(path_of(chosen.db))}


def _script_bytes(run: Run, happenings: Sequence[Happening]) -> int:
    path = run.fresh("script") / "events.db"
    connection = script.opened(path)
    script.filled(connection, happenings)
    connection.close()
    return page_bytes(path)


def _stream_bytes(lines: Iterable[bytes]) -> int:
    stream = zstandard.ZstdCompressor(level=3).compressobj()
    return sum(len(stream.compress(line)) for line in lines) + len(stream.flush())


def _told(entries: Iterable[dict[str, object]]) -> Iterator[Record]:
    """Yield transcript entries as records of the second witness."""
    numbers: dict[str, int] = {}
    for entry in entries:
        session, key = str(entry.pop("session")), str(entry.pop("key"))
        numbers[session] = seq = numbers.get(session, -1) + 1
        place = Place(key.split(":")[1], session, {"sessionKey": key})
        yield line_record(place, entry, seq, 0, int(entry["message"]["timestamp"]))  # type: ignore[index]
