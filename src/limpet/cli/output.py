"""What people and programs see: tables, JSON, CSV, errors. Data goes to stdout, talk to stderr."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

from limpet import days, faults, settings, text, wire

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


def say(line: str) -> None:
    """Talk to the person: one line on stderr."""
    print(line, file=sys.stderr, flush=True)


def data(line: str = "") -> None:
    """Write a line of data."""
    print(line)


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return how many there are of something, in words: `1 note`, `2 notes`."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


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


def answer(found: Answer, question: str = "", *, form: str = "table") -> None:
    """Write an answer as a table, as JSON or as CSV."""
    if form == "json":
        as_json(wire.answer(found, question))
    elif form == "csv":
        rows(found)
        sys.stdout.flush()
        bounds(found)
    else:
        data(headline(found))
        if found.query.note:
            say(text.clean(found.query.note))
        if found.groups:
            groups(found.groups)
        table(found.events, found.query.zone)
        if found.events and found.count > len(found.events):
            data(f"... {found.count - len(found.events):,} more; --limit N shows more of them")
        bounds(found)


def headline(found: Answer) -> str:
    """Return the count and what was understood, in one line."""
    noun = "event" if found.count == 1 else "events"
    return f"{found.count:,} {noun}  [{found.query.understood or 'everything'}]"


def bounds(found: Answer) -> None:
    """Say how complete the answer is."""
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
    """Write the events, or the groups, as CSV."""
    out = csv.writer(sys.stdout)
    if found.groups:
        out.writerow(["key", "count"])
        out.writerows(found.groups)
        return
    out.writerow(["id", "time", "type", "agent", "session", "tool", "status", "duration_ms", "summary", "error"])
    for e in found.events:
        shown = days.show(e.at_ms, found.query.zone)
        cells = [e.id, shown, e.type, e.agent, e.session, e.tool, e.status, e.duration_ms, e.summary, e.error]
        out.writerow([text.one_line(c, 10_000) if isinstance(c, str) else c for c in cells])


def groups(counts: Sequence[tuple[str, int]]) -> None:
    """Write how many there are of each."""
    width = max((len(name) for name, _ in counts), default=0)
    for name, n in counts:
        data(f"  {text.one_line(name, 60) or '(none)':<{min(width, 60)}}  {n:>9,}")


def table(events: Sequence[Event], zone: str, *, agent: bool = True) -> None:
    """Write events as lines that fit the terminal."""
    width = shutil.get_terminal_size((120, 24)).columns if sys.stdout.isatty() else 200
    for event in events:
        data(line(event, zone, width, agent=agent))


def line(event: Event, zone: str, width: int, *, agent: bool = True) -> str:
    """Return one event as one line: number, time, who, what, how it ended."""
    what = (
        LABELS.get(event.status, event.status)
        if event.type in ("tool_call", "model_call", "run", "cron", "subagent", "delivery")
        else ""
    )
    who = f"{text.one_line(event.agent or 'unknown', 12):<10} " if agent else ""
    head = f"{event.id:>10}  {moment(event.at_ms, zone)}  {who}{_kind(event):<12} {what:<11} "
    took = f" [{event.duration_ms / 1000:.1f} s]" if event.duration_ms is not None and event.duration_ms >= 1000 else ""
    rest = event.summary + (f" -- {event.error}" if event.error and event.error not in event.summary else "")
    said = text.one_line(rest, max(20, width - len(head) - len(took)))
    return _coloured(head, event.status) + said + took


def moment(at_ms: int, zone: str) -> str:
    """Return a time for people: local, with its offset."""
    return moment_said(days.show(at_ms, zone))


def moment_said(shown: str) -> str:
    """Return for people what JSON says of a time."""
    return f"{shown[:10]} {shown[11:19]}{shown[23:]}"


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
