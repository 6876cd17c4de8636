"""The databases that questions are measured on: made once by the real recorder, kept, and counted by hand meanwhile."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from benchmarks import script, telling
from benchmarks.traffic import A_DAY, COMMON, END_MS, RARE, Happening, Traffic, holds
from limpet import settings
from limpet.model import Batch
from limpet.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from limpet.settings import Settings

BATCH = 2_000
VERSION = 1
"""Of the form of what is kept: another one is made anew."""

TOLD_S = 5.0


@dataclass(frozen=True)
class Place:
    """Where a database of so many events lies, and what was counted by hand while it was made."""

    folder: Path
    events: int

    @property
    def settings(self) -> Settings:
        """The settings of a Limpet that has this database."""
        return settings_of(self.folder)

    @property
    def counted(self) -> Mapping[str, Mapping[str, int]]:
        """What was counted from the traffic itself, by subject: not by Limpet."""
        found: Mapping[str, Mapping[str, int]] = json.loads((self.folder / "counted.json").read_text("utf-8"))
        return found


def settings_of(folder: Path) -> Settings:
    """Return the settings of an installation in this folder, whatever the environment says."""
    return settings.load(environment={"HOME": str(folder), "OPENCLAW_STATE_DIR": str(folder / "state"), "TZ": "UTC"})


def limpet_of(cache: Path, traffic: Traffic, events: int, kind: str = "limpet") -> Place:
    """Return a Limpet database with the newest `events` of the traffic, made where there is none; says how far."""
    place = Place(cache / f"v{VERSION}-{kind}-{events}", events)
    if not (place.folder / "counted.json").exists():
        shutil.rmtree(place.folder, ignore_errors=True)
        place.folder.mkdir(parents=True)
        counted = _recorded(place, traffic)
        (place.folder / "counted.json").write_text(json.dumps(counted), "utf-8")
    return place


def script_of(cache: Path, traffic: Traffic, events: int) -> Path:
    """Return the script's database with the newest `events` of the traffic, made where there is none."""
    path = cache / f"v{VERSION}-script-{events}.db"
    if not path.exists():
        half = path.with_suffix(".half")
        half.unlink(missing_ok=True)
        connection = script.opened(half)
        script.filled(connection, traffic.events(events))
        connection.close()
        half.rename(path)
    return path


def _recorded(place: Place, traffic: Traffic) -> dict[str, dict[str, int]]:
    """Record the traffic with everything on, and count it by hand on the way."""
    counted = Counted()
    records = telling.records(telling.lines(counted.seen(traffic.events(place.events))))
    recording = Recording.open(place.settings)
    began, told, done = time.monotonic(), time.monotonic(), 0
    while batch := tuple(islice(records, BATCH)):
        recording.recorder.commit("import", Batch(batch), batch[-1].arrived_ms)
        recording.recorder.index()
        recording.recorder.index()
        done += len(batch)
        if time.monotonic() - told > TOLD_S:
            told = time.monotonic()
            print(f"  {done:,} of {place.events:,} events, {done / (told - began):,.0f} a second", flush=True)
    while recording.recorder.index():
        pass
    recording.close()
    return counted.all()


class Counted:
    """What is to be known of the traffic without asking Limpet."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._by: dict[str, Counter[str]] = {}

    def seen(self, happenings: Iterable[Happening]) -> Iterator[Happening]:
        """Yield the events on, each counted."""
        for one in happenings:
            self._count(one)
            yield one

    def all(self) -> dict[str, dict[str, int]]:
        """Return what was counted, by subject."""
        return {subject: dict(counts) for subject, counts in self._by.items()}

    def _count(self, one: Happening) -> None:
        self._add("type", "message" if one.role else "tool_call")
        self._add("agent", one.agent)
        if one.role == "assistant":  # its last words end a run, which is an event of its own
            self._add("type", "run")
            self._add("agent", one.agent)
        if one.tool:
            self._add("tool", one.tool)
            self._add("status", "failed" if one.error else "succeeded")
            if one.error:
                self._add("failed tool", one.tool)
        for word in (COMMON, RARE):
            if holds(one, word):
                self._add("word", word)
        if one.number < 8 * A_DAY and one.tool:
            self._add("tool of a day", f"{telling.iso(one.at_ms)[:10]} {one.tool}")
        self._add("year", telling.iso(one.at_ms)[:4])

    def _add(self, subject: str, name: str) -> None:
        self._by.setdefault(subject, Counter())[name] += 1


def now_of_all() -> int:
    """Return the instant at which every question is asked: the end of the traffic."""
    return END_MS


def page_bytes(path: Path) -> int:
    """Return the bytes of a database file with its log taken in, packed."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path.stat().st_size
