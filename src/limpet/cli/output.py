"""What people and programs see: tables, JSON, CSV, errors. Data goes to stdout, talk to stderr."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

from limpet import days, faults, settings, text, wire
from limpet.cli import columns
from limpet.headline import headline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from limpet.errors import LimpetError
    from limpet.model import Answer, Event, Record

COLOURS = {
    "failed": "31",
    "timed_out": "31",
    "interrupted": "33",
    "blocked": "33",
    "unknown": "33",
    "started": "36",
    "cancelled": "33",
}
LABELS = {"timed_out": "timed out"}
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""

WIDE = 110
"""Columns from which an event has room on one line."""


def say(line: str) -> None:
    """Talk to the person: one line on stderr."""
    print(line, file=sys.stderr, flush=True)


def data(line: str = "") -> None:
    """Write a line of data."""
    print(line)


def flush() -> None:
    """Let whoever reads along have what was written."""
    sys.stdout.flush()


def as_json(value: Any) -> None:
    """Write a value as JSON."""
    print(json.dumps(value, ensure_ascii=False, allow_nan=False))


def error(problem: LimpetError, *, machine: bool) -> None:
    """Tell what went wrong, in one sentence and one hint; with `machine` as JSON on stdout."""
    if machine:
        as_json({"error": {"code": problem.code, "message": problem.message, "hint": problem.hint}})
        return
    say(f"error: {text.clean(problem.message)}")
    if problem.hint:
        say(f"hint:  {text.clean(problem.hint)}")


def fault(problem: Exception, *, machine: bool) -> None:
    """Tell of a fault of ours in one sentence; how it came about goes to a log, for whoever mends it."""
    error(faults.kept(settings.load().home, problem), machine=machine)


class Progress:
    """A line that is overwritten while something takes long; silent where stderr is no terminal."""

    def __init__(self, what: str) -> None:
        """Name what is going on."""
        self._what = what
        self._shown = False

    def __call__(self, done: object) -> None:
        """Show how far it is."""
        if sys.stderr.isatty():
            print(f"\r{self._what}: {done}\x1b[K", end="", file=sys.stderr, flush=True)
            self._shown = True

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def answer(
    found: Answer, question: str = "", *, form: str = "table", now_ms: int | None = None, next_: str = ""
) -> None:
    """Write an answer as a table, as JSON or as CSV; `next_` is the command that shows what comes after it."""
    if form == "json":
        as_json(wire.answer(found, question))
    elif form == "csv":
        rows(found)
        sys.stdout.flush()
        bounds(found)
    else:
        data(headline(found, now_ms))
        data(f"understood: {text.clean(found.query.understood, newlines=False) or 'everything'}")
        if found.query.note:
            say(text.clean(found.query.note))
        if found.groups:
            groups(found.groups)
        table(found.events, found.query.zone, snippets=found.snippets)
        if found.events and (more := found.count - found.query.offset - len(found.events)) > 0:
            data(f"... {more:,} more{f': {next_}' if next_ else ''}")
        bounds(found)


def bounds(found: Answer) -> None:
    """Say how complete the answer is, and where it is not."""
    coverage = found.coverage
    words = {
        "complete": "complete: this time was watched, and nothing is known to be missing",
        "partial": "not complete",
        "blind": "BLIND: nothing was watching then; this says nothing about what happened",
        "unknown": "completeness unknown: nobody watched this time, or not all of it",
    }[coverage.state]
    say(f"{words} ({found.query.zone})")
    for gap in coverage.gaps[:5]:
        until = "now" if gap.to_ms is None else moment(gap.to_ms, found.query.zone)
        say(f"  {gap.source}, {moment(gap.from_ms, found.query.zone)} to {until}: {text.one_line(gap.why, 200)}")
    if coverage.pending:
        say(f"  {coverage.pending:,} bytes still wait in the spool")
    if coverage.warning:
        say(f"  NOW: {text.one_line(coverage.warning, 400)}")


def rows(found: Answer) -> None:
    """Write the events, or the groups, as CSV that a spreadsheet takes for text."""
    out = csv.writer(sys.stdout)
    if found.groups:
        out.writerow(["key", "count"])
        out.writerows([_cell(name), n] for name, n in found.groups)
        return
    out.writerow(["id", "time", "type", "agent", "session", "tool", "status", "duration_ms", "summary", "error"])
    for e in found.events:
        shown = days.show(e.at_ms, found.query.zone)
        cells = [e.id, shown, e.type, e.agent, e.session, e.tool, e.status, e.duration_ms, e.summary, e.error]
        out.writerow([_cell(cell) for cell in cells])


def _cell(value: object) -> object:
    """Return a value on one line, with a `'` before what a spreadsheet would take for a formula."""
    if not isinstance(value, str):
        return value
    line = text.one_line(value, 10_000)
    return f"'{line}" if line.startswith(FORMULAS) else line


def groups(counts: Sequence[tuple[str, int]]) -> None:
    """Write how many there are of each."""
    room = min(60, _columns() - 15)
    shown = [(columns.fit(name, room) or "(none)", n) for name, n in counts]
    wide = max((columns.width(name) for name, _ in shown), default=0)
    for name, n in shown:
        data(f"  {columns.pad(name, wide)}  {n:>9,}")


def table(events: Sequence[Event], zone: str, *, agent: bool = True, snippets: Mapping[int, str] | None = None) -> None:
    """Write events as lines that fit the terminal, each with the passage in which a text was found."""
    room = _columns()
    for event in events:
        data(line(event, zone, room, agent=agent))
        if passage := (snippets or {}).get(event.id, ""):
            data(f"  > {columns.fit(passage, room - 4)}")


def _columns() -> int:
    return shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else 200


def line(event: Event, zone: str, room: int, *, agent: bool = True) -> str:
    """Return one event: number, time, who, what, how it ended; on two lines where there is little room."""
    took = f" [{event.duration_ms / 1000:.1f} s]" if event.duration_ms is not None and event.duration_ms >= 1000 else ""
    said = event.summary + (f" -- {event.error}" if event.error and event.error not in event.summary else "")
    if room < WIDE:
        short = f"{event.id} {_brief(event.at_ms, zone)} {_kind(event)} {_ended(event)}"
        who = f" {_whose(event)}" if agent else ""
        head = columns.fit(f"{short.rstrip()}{who}{took}", room)
        return f"{_coloured(head, event.status)}\n  {columns.fit(said, room - 2)}"
    who = f"{columns.pad(_whose(event), 24 if event.machine else 10)} " if agent else ""
    head = f"{event.id:>10}  {moment(event.at_ms, zone)}  {who}{columns.pad(_kind(event), 12)} {_ended(event):<11} "
    return _coloured(head, event.status) + columns.fit(said, room - columns.width(head) - len(took)) + took


def _whose(event: Event) -> str:
    """Return the agent, in a fleet with its machine."""
    name = event.agent or "unknown"
    return f"{event.machine}/{name}" if event.machine else name


def _ended(event: Event) -> str:
    ends = event.type in ("tool_call", "model_call", "run", "cron", "subagent", "delivery")
    return LABELS.get(event.status, event.status) if ends else ""


def _brief(at_ms: int, zone: str) -> str:
    """Return a time in few columns, with its offset where clocks show it twice."""
    shown = days.show(at_ms, zone)
    return f"{shown[5:10]} {shown[11:19]}{shown[23:] if days.is_shown_twice(at_ms, zone) else ''}"


def moment(at_ms: int, zone: str) -> str:
    """Return a time for people: local, with its offset."""
    return days.said(days.show(at_ms, zone))


def details(event: Event, records: Sequence[Record], zone: str) -> None:
    """Write everything known of one event, and every record behind it."""
    for name, value in wire.event(event, zone).items():
        if value not in (None, [], ""):
            said = json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value)
            data(f"{name:<12} {text.clean(said)}")
    for record in records:
        data()
        data(f"record {record.no}  {record.source}  {record.kind}  arrived {moment(record.arrived_ms, zone)}")
        data(text.clean(json.dumps(record.body, ensure_ascii=False, indent=2)))


def facts(pairs: Mapping[str, object] | Iterable[tuple[str, object]]) -> None:
    """Write names and values, one a line."""
    for name, value in dict(pairs).items():
        data(f"{name:<22} {text.clean(str(value))}")


def _kind(event: Event) -> str:
    return f"{event.actor}:" if event.type == "message" and event.actor else event.type


def _coloured(head: str, status: str) -> str:
    colour = COLOURS.get(status)
    if not colour or not sys.stdout.isatty() or not settings.wants_colour():
        return head
    return f"\x1b[{colour}m{head}\x1b[0m"
