"""Targets 1 and 2: from a spool to what can be asked, against the script and against bare inserts."""

from __future__ import annotations

import json
import shutil
import sqlite3
from typing import TYPE_CHECKING

from benchmarks import script, telling
from benchmarks.building import settings_of
from benchmarks.ratio import interleaved, seconds
from limpet.model import Batch
from limpet.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from benchmarks.ratio import Figure
    from benchmarks.run import Run
    from benchmarks.traffic import Happening, Line

SEGMENT = 1 << 20
GONE = {"pid": 1, "start": "0", "boot": "an earlier boot", "ns": ""}


def figures(run: Run) -> Iterator[Figure]:
    """Yield how fast the recorder is."""
    happenings = list(run.traffic.events(1_000 if run.quick else 20_000))
    few = happenings[: 20 if run.quick else 500]
    for number, what, all_hooks in (
        ("1", "recorder, one line per event, everything on, against the script", False),
        ("1b", "the same with every line that a gateway's hooks write (two to four per event)", True),
    ):
        lines = list(telling.lines(happenings, all_hooks=all_hooks))
        yield interleaved(
            number, what, lambda lines=lines: _drained(run, lines) / len(happenings),  # type: ignore[misc]
            lambda: _logged(run, few) / len(few), run.rounds, at_least=10.0, inverted=True,
            detail="seconds per event, spool file to committed and indexed; the script commits each event by itself",
        )  # fmt: skip
    records = list(telling.records(telling.lines(happenings)))
    yield interleaved(
        "2", "recorder without full text, against bare WAL/FULL inserts of 1,000",
        lambda: _committed(run, records), lambda: _inserted(run, happenings), run.rounds, at_least=0.2, inverted=True,
        detail="seconds for the same events: redaction, ledger, interpretation against one table without an index",
    )  # fmt: skip


def spooled(folder: Path, lines: Sequence[Line], producer: str = telling.PRODUCER) -> None:
    """Write lines as segments of a producer that has ended."""
    folder = folder / producer
    folder.mkdir(parents=True)
    (folder / "producer.json").write_text(json.dumps(GONE))
    segment, room = 0, 0
    for line in lines:
        content = telling.raw(line)
        if room < len(content):
            segment, room = segment + 1, SEGMENT
            (folder / f"{segment}.jsonl").touch()
        with (folder / f"{segment}.jsonl").open("ab") as file:
            file.write(content)
        room -= len(content)


def _drained(run: Run, lines: Sequence[Line]) -> float:
    home = run.fresh("recorder")
    chosen = settings_of(home)
    spooled(chosen.spool, lines)
    recording = Recording.open(chosen)
    recording.redactor.redact_text("the patterns are read before")
    took = seconds(lambda: [None for _ in iter(recording.round, False)])
    count = recording.store.find.bounds()[2]
    recording.close()
    if not count or recording_left(chosen.spool):
        raise RuntimeError("the recorder did not take everything in")
    shutil.rmtree(home)
    return took


def recording_left(spool: Path) -> list[Path]:
    """Return the segments that were not taken in."""
    return [*spool.glob("*/*.jsonl")]


def _logged(run: Run, happenings: Sequence[Happening]) -> float:
    path = run.fresh("script") / "events.db"
    connection = script.opened(path)
    took = seconds(lambda: script.logged(connection, happenings))
    connection.close()
    return took


def _committed(run: Run, records: Sequence[object]) -> float:
    recording = Recording.open(settings_of(run.fresh("recorder")))
    recording.redactor.redact_text("the patterns are read before")

    def commit() -> None:
        for first in range(0, len(records), 1_000):
            batch = tuple(records[first : first + 1_000])
            recording.recorder.commit("bench", Batch(batch), 0)  # type: ignore[arg-type]

    took = seconds(commit)
    recording.close()
    return took


def _inserted(run: Run, happenings: Sequence[Happening]) -> float:
    connection = sqlite3.connect(run.fresh("bare") / "events.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE event (at TEXT, session TEXT, type TEXT, summary TEXT, details TEXT, tags TEXT)")
    rows = [telling.script_row(one) for one in happenings]

    def insert() -> None:
        for first in range(0, len(rows), 1_000):
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)", rows[first : first + 1_000])
            connection.execute("COMMIT")

    took = seconds(insert)
    connection.close()
    return took
