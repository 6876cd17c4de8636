"""Targets 9, 10 and 11: a sidecar at rest, under a hundred events a second, and before a long backlog."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import telling
from benchmarks.building import settings_of
from benchmarks.ratio import Figure
from benchmarks.recording import recording_left, spooled
from limpet import door
from limpet.spool.writer import Writer
from limpet.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.run import Run
    from limpet.settings import Settings

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
LOOK_S = 0.002


def figures(run: Run) -> Iterator[Figure]:
    """Yield what a sidecar costs and how soon it answers."""
    yield from _at_rest(run)
    yield from _under_load(run)
    yield from _behind(run)


@contextlib.contextmanager
def sidecar(chosen: Settings) -> Iterator[int]:
    """Run a sidecar for as long as needed; give its process id."""
    environment = {"HOME": str(chosen.state.parent), "OPENCLAW_STATE_DIR": str(chosen.state), "TZ": "UTC"}
    process = subprocess.Popen(
        [sys.executable, "-m", "limpet", "run"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not door.ask(chosen.socket, {"op": "hello"}, 1.0):
            if process.poll() is not None:
                raise RuntimeError("the sidecar does not start")
            time.sleep(0.05)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def _at_rest(run: Run) -> Iterator[Figure]:
    chosen = settings_of(run.fresh("rest"))
    spooled(chosen.spool, list(telling.lines(run.traffic.events(1_000))))
    with sidecar(chosen) as pid:
        time.sleep(1 if run.quick else 20)
        began, ticks = time.monotonic(), _ticks(pid)
        time.sleep(2 if run.quick else 120)
        busy = (_ticks(pid) - ticks) / TICKS / (time.monotonic() - began)
        resident = _memory(pid, "VmRSS") / 1024
    yield Figure("9", "sidecar at rest: resident MB", [resident], at_most=60.0, detail="after 1,000 events")
    yield Figure("9", "sidecar at rest: percent of a core", [100 * busy], at_most=0.5, detail="over two minutes")


def _under_load(run: Run) -> Iterator[Figure]:
    """Yield how long, at a hundred events a second, until each is in the database, where a question finds it."""
    chosen = settings_of(run.fresh("load"))
    lines = list(telling.lines(run.traffic.events(1_000)))
    many = 100 if run.quick else 3_000
    waited: list[float] = []
    with sidecar(chosen):
        pen = Writer(chosen.spool, "plugin")
        pen.append("limpet_add", {"type": "first", "summary": "so that there is a database"}, {})
        while not chosen.db.exists():
            time.sleep(LOOK_S)
        with contextlib.closing(SqliteStore(chosen.db, writing=False)) as store:
            waited = _delays(pen, store, [lines[n % len(lines)]["event"] for n in range(many)])
    waited.sort()
    p99 = 1000 * waited[len(waited) * 99 // 100]
    yield Figure("10", "from append to answerable at 100 events/s: p99 in ms", [p99], at_most=250.0,
                 detail=f"{many} events", sides={"median_ms": 1000 * waited[len(waited) // 2]})  # fmt: skip


def _delays(pen: Writer, store: SqliteStore, events: list[object]) -> list[float]:
    """Append an event every ten milliseconds and return how long each took to be there, in seconds."""
    before = _newest(store)
    sent: list[float] = []
    waited: list[float] = []
    due = time.monotonic()
    while len(waited) < len(events):
        if len(sent) < len(events) and time.monotonic() >= due:
            due += 0.01
            pen.append("after_tool_call", events[len(sent)], {"agentId": "main", "sessionId": "s"})
            sent.append(time.monotonic())
        there = _newest(store) - before
        waited += [time.monotonic() - at for at in sent[len(waited) : there]]
        time.sleep(LOOK_S)
    return waited


def _newest(store: SqliteStore) -> int:
    return store.records.head()[0]


def _behind(run: Run) -> Iterator[Figure]:
    """Yield what memory a spool of a million events needs, and how soon a new event is there meanwhile."""
    chosen = settings_of(run.fresh("backlog"))
    many = run.sizes[1]
    print(f"  a spool of {many:,} events is written", flush=True)
    _spool_all(run, chosen, many)
    began = time.monotonic()
    with sidecar(chosen) as pid:
        slowest = _probed(chosen, many)
        took, peak = time.monotonic() - began, _memory(pid, "VmHWM") / 1024
    yield Figure("11", f"peak MB while {many:,} spooled events are drained", [peak], at_most=200.0,
                 detail="resident memory of the sidecar", sides={"events_per_s": many / took})  # fmt: skip
    yield Figure("11", "seconds until a new event is answerable meanwhile: the longest", [slowest], at_most=1.0)


def _spool_all(run: Run, chosen: Settings, many: int) -> None:
    batch = []
    number = 0
    for line in telling.lines(run.traffic.events(many)):
        batch.append(line)
        if len(batch) == 50_000:
            spooled(chosen.spool, batch, f"01970000-0000-7000-8000-{number:012x}")
            batch, number = [], number + 1
    if batch:
        spooled(chosen.spool, batch, f"01970000-0000-7000-8000-{number:012x}")


def _probed(chosen: Settings, many: int) -> float:
    """Add an event every second until the backlog is gone; return the longest that one took to be there."""
    slowest, number = 0.0, 0
    pen = Writer(chosen.spool, "limpet")
    while not chosen.db.exists():
        time.sleep(LOOK_S)
    with contextlib.closing(SqliteStore(chosen.db, writing=False)) as store:
        while recording_left(chosen.spool) and _newest(store) < many:
            number += 1
            name = pen.append("limpet_add", {"type": "probe", "summary": f"probe {number}"}, {})
            began = time.monotonic()
            while not store.records.known([name.replace("-", "")]):
                time.sleep(LOOK_S)
            slowest = max(slowest, time.monotonic() - began)
            time.sleep(max(0.0, 1 - (time.monotonic() - began)))
    return slowest


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def _memory(pid: int, name: str) -> int:
    """Return a figure of /proc/PID/status, in kB."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{name}:"))
