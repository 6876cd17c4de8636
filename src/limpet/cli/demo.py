"""`limpet demo`: a recorded day, written into a spool as OpenClaw's plugin writes it and taken in by the real recorder.

The day stands in `demo_day.jsonl`, with times since midnight; here it becomes yesterday. The plugin's beats, which tell
of nothing that happened, are left out.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import shutil
import sys
import tempfile
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limpet import clock, coverage, days, settings, wire
from limpet.cli import output, record
from limpet.cli.ask import now_of
from limpet.errors import BadInput
from limpet.headline import headline
from limpet.memory import Memory
from limpet.model import Query
from limpet.runtimes.openclaw.workspaces import Workspaces

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from limpet.model import Answer

DAY = Path(__file__).with_name("demo_day.jsonl")
BLANK = "{{github token}}"
SEGMENT_MS, SEGMENT_BYTES = 60_000, 1 << 20
"""When the plugin begins a new file."""

AGENTS = ("main", "press")
"""Whose day it is: each has a workspace, so that notes can be written."""

SHOWN = 12
NOON_MS = 12 * 3_600_000


@dataclass(frozen=True, slots=True)
class Seen:
    """What Limpet made of the day."""

    day: date
    lines: int
    files: int
    records: int
    removed: Mapping[str, int]
    types: Answer
    calls: Answer
    recent: Answer
    failures: Answer
    interrupted: Answer


def demo(args: argparse.Namespace) -> int:
    """Play a recorded day as yesterday's and show what Limpet makes of it; `--keep` leaves its folder."""
    now_ms = now_of(args, args.tz or "UTC")
    zone = args.tz or settings.load().zone
    day = days.day_of(now_ms, zone) - timedelta(days=1)
    with _folder(args.keep) as state:
        seen = _played(state, day, zone)
        _tell_json(seen, zone, args.keep and state) if args.json else _tell(seen, zone, args.keep and state)
    return 0


@contextlib.contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    """Give a state folder like OpenClaw's: a throw-away one, or a new one of the user's; BadInput for one in use."""
    if not keep:
        with tempfile.TemporaryDirectory(prefix="limpet-demo-") as folder:
            yield Path(folder)
        return
    state = settings.user_path(keep).absolute()
    if state.exists() and (not state.is_dir() or any(state.iterdir())):
        raise BadInput(f"{state} is in use; the demo wants a folder of its own.", "Name one that does not exist.")
    yield state


def _played(state: Path, day: date, zone: str) -> Seen:
    chosen = settings.load(zone=zone, environment={"OPENCLAW_STATE_DIR": str(state)})
    # Counted from noon: on a day on which the clocks change, its times of day are the right ones nevertheless.
    lines = list(_lines(days.at_local(day, 12, 0, zone) - NOON_MS))
    old = os.umask(0o077)
    try:
        files = _write(chosen.spool, lines)
        chosen.home.joinpath("config.toml").write_text(f'zone = "{zone}"\n', "utf-8")
        for agent in AGENTS:
            Workspaces(chosen).of(agent).path.mkdir(parents=True, exist_ok=True)
    finally:
        os.umask(old)
    output.say(f"{len(lines):,} lines written into a spool ({files:,} files); the recorder takes them in ...")
    with Memory(chosen) as memory:
        while memory.watched().pending:
            memory.refresh()
        with memory.writing() as recording, recording.store.transaction():
            recording.store.state.put_meta(coverage.DEMO, str(day))
        return _seen(memory, day, len(lines), files)


def _lines(midnight_ms: int) -> Iterator[dict[str, Any]]:
    """Yield the day's lines, with times of that day."""
    # Put together here, so that no scanner takes it for a real one.
    token = "_".join(("ghp", hashlib.sha256(BLANK.encode()).hexdigest()[:36]))
    for line in DAY.read_text("utf-8").replace(BLANK, token).splitlines():
        yield _shifted(json.loads(line), midnight_ms)


def _shifted(value: Any, by_ms: int, key: str = "") -> Any:
    """Return the value with every time in it (`at`, `timestamp`, `endedAt`, `runAtMs` ...) moved."""
    if isinstance(value, dict):
        return {k: _shifted(v, by_ms, k) for k, v in value.items()}
    if isinstance(value, list):
        return [_shifted(item, by_ms) for item in value]
    is_time = key in ("at", "timestamp") or key.endswith(("At", "AtMs"))
    return value + by_ms if is_time and isinstance(value, int) else value


def _write(spool: Path, lines: Iterable[Mapping[str, Any]]) -> int:
    """Write the lines as the plugin does, a folder for each life of the gateway; return how many files that made."""
    lives = [list(life) for _, life in groupby(lines, key=itemgetter("life"))]
    pens = [_Pen(spool) for _ in lives]
    for pen, life in zip(pens, lives, strict=True):
        for line in life:
            pen.write(line)
    return sum(pen.segment for pen in pens)


class _Pen:
    """The plugin in one life of the gateway. It is long gone: its folder names another boot of the machine."""

    def __init__(self, spool: Path) -> None:
        self._producer = clock.uuid7()
        self._folder = spool / self._producer
        self._folder.mkdir(parents=True)
        about = {"v": 1, "producer": self._producer, "pid": 1, "start": "1", "boot": "another", "ns": ""}
        (self._folder / "producer.json").write_text(json.dumps(about), "utf-8")
        self.segment = 0
        self._opened_ms = self._size = self._seq = 0

    def write(self, said: Mapping[str, Any]) -> None:
        at = said["at"]
        if not self.segment or at - self._opened_ms >= SEGMENT_MS or self._size >= SEGMENT_BYTES:
            self.segment, self._opened_ms, self._size = self.segment + 1, at, 0
        self._seq += 1
        head = {"v": 1, "id": clock.uuid7(at), "producer": self._producer, "seq": self._seq, "ts": at}
        body = {name: said[name] for name in ("hook", "ctx", "event")}
        path = self._folder / f"{self.segment}.jsonl"
        with path.open("a", encoding="utf-8") as file:
            self._size += file.write(json.dumps({**head, **body}, ensure_ascii=False, separators=(",", ":")) + "\n")
        os.utime(path, (at / 1000, at / 1000))


def _seen(memory: Memory, day: date, lines: int, files: int) -> Seen:
    since, until = days.window_of(day, memory.settings.zone)
    whole = Query(since_ms=since, until_ms=until, zone=memory.settings.zone, sort="oldest")

    def ask(understood: str, *filters: tuple[str, tuple[str, ...], bool], by: str = "") -> Answer:
        return memory.answer(replace(whole, filters=filters, by=by, understood=f"{understood} on:{day}"))

    counts = memory.store.state.counts()
    return Seen(
        day=day,
        lines=lines,
        files=files,
        records=memory.store.find.last_record()[1],
        removed={name.removeprefix("secret: "): n for name, n in counts.items() if name.startswith("secret: ")},
        types=ask("by:type", by="type"),
        calls=ask("type:tool_call by:status", ("type", ("tool_call",), False), by="status"),
        recent=memory.recent(24, "", SHOWN, until),
        failures=ask("is:error", ("is", ("error",), False)),
        interrupted=ask("status:interrupted", ("status", ("interrupted",), False)),
    )


def _tell(seen: Seen, zone: str, kept: Path | None) -> None:
    output.data(f"A day of an OpenClaw with two agents: {seen.day:%A, %d %B %Y} ({zone})\n")
    output.data(f"{seen.lines:,} lines of its plugin became {seen.records:,} records and {seen.types.count:,} events:")
    output.groups(seen.types.groups)
    output.data("\nIts tool calls, by how they ended:")
    output.groups(seen.calls.groups)
    for kind, n in seen.removed.items():
        output.data(f"\nTaken out before anything was stored: a {kind}, in {n:,} places")
    for title, found in (
        (f"The newest {SHOWN}", seen.recent),
        ("What went wrong", seen.failures),
        ("What the restart at 15:31 interrupted", seen.interrupted),
    ):
        output.data(f"\n{title}: {headline(found)}")
        output.table(found.events, zone)
    output.data()
    sys.stdout.flush()
    output.bounds(seen.failures)
    for line in _hints(seen, kept):
        output.say(line)


def _hints(seen: Seen, kept: Path | None) -> Sequence[str]:
    limpet = "limpet" if shutil.which("limpet") else shlex.join(record.limpet_command())
    if kept is None:
        return ("", "Nothing of this stays here. To keep it and go on asking:", f"  {limpet} demo --keep limpet-demo")
    call = seen.interrupted.events[0].id if seen.interrupted.events else 0
    return (
        "",
        f"It stays in {kept}. Go on asking:",
        f"  export OPENCLAW_STATE_DIR={shlex.quote(str(kept))}",
        f"  {limpet} ask failed tool calls on {seen.day}",
        f"  {limpet} ask how many tool calls per agent on {seen.day}",
        f"  {limpet} session agent:press:main",
        f"  {limpet} show {call}",
        f"  {limpet} note --date {seen.day} --dry-run",
        f"  {limpet} verify",
        f"  {limpet} open    (all of it in the browser, until Ctrl-C)",
        "  unset OPENCLAW_STATE_DIR    (back to your own OpenClaw)",
    )


def _tell_json(seen: Seen, zone: str, kept: Path | None) -> None:
    def pairs(found: Answer) -> list[dict[str, Any]]:
        return [{"key": name or None, "count": n} for name, n in found.groups]

    output.as_json(
        {
            "day": str(seen.day),
            "zone": zone,
            "folder": str(kept) if kept else None,
            "lines": seen.lines,
            "records": seen.records,
            "events": seen.types.count,
            "types": pairs(seen.types),
            "calls": pairs(seen.calls),
            "secrets_removed": dict(seen.removed),
            "recent": wire.answer(seen.recent),
            "failures": wire.answer(seen.failures),
            "interrupted": wire.answer(seen.interrupted),
        }
    )
