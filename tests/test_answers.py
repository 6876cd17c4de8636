"""Answers: what questions find in a store that was made from lines is what a count over the events says."""

from __future__ import annotations

import contextlib
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import apsw
import pytest

from lab import Lab
from limpet.errors import BadInput, NotUnderstood
from limpet.memory import Memory
from limpet.store import finding
from limpet.store.search import path_of
from question_forms import NOW, Form, at, expected, forms
from question_lines import lines_of, said_events
from question_noise import fuzzed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from limpet.model import Answer
    from question_forms import Raw

NUMBER = 2_500
FORMS = list(forms())


@pytest.fixture(scope="module")
def events() -> list[Raw]:
    """Return the events that all is asked about."""
    return said_events(NUMBER, 7)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory, events: list[Raw]) -> Iterator[Memory]:
    """Make a memory of them, by the real recorder, from the lines in their order of time."""
    lab = Lab(tmp_path_factory.mktemp("answers"))
    lab.environment["TZ"] = "Europe/Berlin"
    lines = sorted((line for raw in events for line in lines_of(raw)), key=lambda line: line["ts"])
    lab.spool(lines)
    lab.drain()
    with Memory(lab.settings) as made:
        yield made


def ask(memory: Memory, question: str) -> Answer:
    """Return the answer, with everything that matched."""
    return memory.ask(question, at(NOW), 100_000)


def test_the_store_holds_each_event_once(memory: Memory, events: list[Raw]) -> None:
    """As many of each type as the lines tell of."""
    told = Counter(raw["type"] for raw in events)
    found = memory.ask("by:type noise:yes until:2100-01-01", at("2100-01-01T00:00:00+00:00"))
    assert dict(found.groups) == told


@pytest.mark.parametrize("form", FORMS, ids=[form.question for form in FORMS])
def test_the_answer_is_the_count_over_the_raw_lines(memory: Memory, events: list[Raw], form: Form) -> None:
    """Through parser, store and index: the count, the events in their order, the groups."""
    right, found = expected(form, events), ask(memory, form.question)
    assert right.count == found.count
    if form.by and not form.count:
        assert dict(right.groups) == {
            name[: 13 if form.by == "hour" else None]: 0 for name, _ in found.groups
        } | _merged(found)
    elif not form.count and not form.by:
        times = {raw["no"]: raw["at"] for raw in events}
        assert [times[no] for no in right.events] == [event.at_ms for event in found.events]


def _merged(found: Answer) -> dict[str, int]:
    """Return the groups; the two hours that one clock time names count as one, as the brute force has them."""
    counts: Counter[str] = Counter()
    for name, n in found.groups:
        counts[name[:13] if found.query.by == "hour" else name] += n
    return dict(counts)


LATER = "2026-10-26T11:00:00+01:00"
"""Monday, later than 9:40."""

SUNDAY = ("2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00")
NIGHT = ("2026-10-25T18:00:00+01:00", "2026-10-26T06:00:00+01:00")
TODAY = ("2026-10-26T00:00:00+01:00", LATER)
EVER = ("1970-01-01T00:00:00+01:00", LATER)


def failed(raw: Raw) -> bool:
    """Tell whether it failed or timed out."""
    return raw["status"] in ("failed", "timed_out")


def call(raw: Raw) -> bool:
    """Tell whether it is a tool call."""
    return raw["type"] == "tool_call"


def deed(raw: Raw) -> bool:
    """Tell whether the agent did it: all but what the user said, and the starts of sessions."""
    return raw["type"] != "session" and (raw["type"], raw["actor"]) != ("message", "user")


EXAMPLES = [
    ("failed tool calls yesterday", SUNDAY, lambda raw: call(raw) and failed(raw)),
    ("Show me all failed tool calls from yesterday.", SUNDAY, lambda raw: call(raw) and failed(raw)),
    ("errors this week", TODAY, lambda raw: raw["type"] == "error" or failed(raw)),
    ("What errors happened this week?", TODAY, lambda raw: raw["type"] == "error" or failed(raw)),
    ("what did the agent do last night", NIGHT, deed),
    ("what was done last night", NIGHT, deed),
    ("what did agent desk do last night", NIGHT, lambda raw: deed(raw) and raw["agent"] == "desk"),
    ("did the backup run on sunday", SUNDAY, lambda raw: "backup" in raw["text"] and raw["type"] != "message"),
    ("slowest tool calls today", TODAY, call),
    ("what happened in session s-3 before 9:40", ("1970-01-01T00:00:00+01:00", "2026-10-26T09:40:00+01:00"), lambda raw: raw["session"] == "s-3"),
    ("tool calls between monday and wednesday 14:00", ("2026-10-19T00:00:00+02:00", "2026-10-21T14:00:00+02:00"), call),
    ("tool calls on the day before yesterday", ("2026-10-24T00:00:00+02:00", "2026-10-25T00:00:00+02:00"), call),
    ("what happened in the last 36 hours", ("2026-10-25T00:00:00+02:00", LATER), lambda _raw: True),
    ("tool calls on 2026-10-22", ("2026-10-22T00:00:00+02:00", "2026-10-23T00:00:00+02:00"), call),
    ("tool calls on 22.10.2026", ("2026-10-22T00:00:00+02:00", "2026-10-23T00:00:00+02:00"), call),
    ("tool calls on 22 october", ("2026-10-22T00:00:00+02:00", "2026-10-23T00:00:00+02:00"), call),
    ("what was sent yesterday", SUNDAY, lambda raw: raw["type"] == "message"),
    ("what ran yesterday", SUNDAY, lambda raw: raw["type"] in ("tool_call", "run", "cron")),
    ("what went wrong yesterday", SUNDAY, lambda raw: raw["type"] == "error" or failed(raw)),
    ('"travel insurance" yesterday', SUNDAY, lambda raw: "travel insurance" in raw["text"]),
    ('messages with "travel insurance" but not from me yesterday', SUNDAY,
     lambda raw: raw["type"] == "message" and "travel insurance" in raw["text"] and raw["actor"] != "user"),
    ("exec calls that did not succeed yesterday", SUNDAY, lambda raw: raw["tool"] == "exec" and raw["status"] != "succeeded"),
    ("tool calls yesterday between 2:00 and 4:00", ("2026-10-25T02:00:00+02:00", "2026-10-25T04:00:00+01:00"), call),
    ("type:tool_call status:failed,blocked agent:desk -tool:exec on:2026-10-25", SUNDAY,
     lambda raw: call(raw) and raw["status"] in ("failed", "blocked") and raw["agent"] == "desk" and raw["tool"] != "exec"),
    ("everything yesterday", SUNDAY, lambda _raw: True),
    ("tool calls by agent night or desk yesterday", SUNDAY, call),
    ("tool calls tomorrow", (LATER, LATER), call),
]  # fmt: skip


@pytest.mark.parametrize(("question", "window", "wanted"), EXAMPLES, ids=[example[0] for example in EXAMPLES])
def test_what_people_ask_gets_what_they_expect(
    memory: Memory, events: list[Raw], question: str, window: tuple[str, str], wanted: Callable[[Raw], bool]
) -> None:
    """The count and each event, against the raw events within the window that the words say."""
    since, until = map(at, window)
    right = [raw["at"] for raw in events if since <= raw["at"] < until and not raw["label"] and wanted(raw)]
    found = memory.ask(question, at(LATER), 100_000)
    assert len(right) == found.count
    assert sorted(right) == sorted(event.at_ms for event in found.events)


def test_calls_per_day_in_october(memory: Memory, events: list[Raw]) -> None:
    """Days are local ones, and none reaches past now."""
    mine = [raw for raw in events if raw["tool"] == "exec" and not raw["label"] and raw["at"] < at(LATER)]
    days = Counter(
        datetime.fromtimestamp(raw["at"] / 1000, ZoneInfo("Europe/Berlin")).date().isoformat() for raw in mine
    )
    right = {day: n for day, n in days.items() if day.startswith("2026-10")}
    found = memory.ask("how many exec calls per day in october", at(LATER))
    assert list(right.items()) == list(found.groups)
    assert sum(right.values()) == found.count


def test_the_last_five_are_five(memory: Memory, events: list[Raw]) -> None:
    """Asked for the last five, five are counted: the newest."""
    mine = [raw["at"] for raw in events if (raw["type"], raw["actor"]) == ("message", "user") and not raw["label"]]
    found = memory.ask("last 5 messages from me", at(LATER))
    assert (5, sorted(at_ms for at_ms in mine if at_ms < at(LATER))[:-6:-1]) == (
        found.count,
        [e.at_ms for e in found.events],
    )


def test_the_slowest_come_first(memory: Memory, events: list[Raw]) -> None:
    """By how long they took."""
    since = at(TODAY[0])
    mine = [
        raw["ms"] for raw in events if call(raw) and since <= raw["at"] < at(LATER) and not raw["label"] and raw["ms"]
    ]
    found = memory.ask("slowest tool calls today", at(LATER), 100_000)
    assert sorted(mine, reverse=True) == [event.duration_ms for event in found.events if event.duration_ms]


def test_a_day_has_as_many_hours_as_its_clocks_show(tmp_path: Path) -> None:
    """An event in each hour of both days on which clocks change: 25 and 23 groups, two of them 02:00 in October."""
    lab = Lab(tmp_path)
    lab.environment["TZ"] = "Europe/Berlin"
    spans = [(at(SUNDAY[0]), 25), (at("2026-03-29T00:00:00+01:00"), 23)]
    lab.spool(
        {
            "hook": "limpet_add",
            "ts": start + hour * 3_600_000 + 1,
            "ctx": {},
            "event": {"type": "note", "summary": f"{hour}"},
        }
        for start, hours in spans
        for hour in range(-1, hours + 1)
    )
    lab.drain()
    with Memory(lab.settings) as memory:
        october = memory.ask("notes on 2026-10-25 per hour", at(LATER))
        march = memory.ask("notes on 2026-03-29 per hour", at(LATER))
        days = memory.ask("notes per day", at(LATER))
    assert (october.count, march.count) == (25, 23)
    assert {n for _, n in october.groups} == {1}
    twice = [name for name, _ in october.groups if "T02" in name]
    assert [name[16:] for name in twice] == ["+02:00", "+01:00"]
    assert not [name for name, _ in march.groups if "T02" in name]
    assert {"2026-10-25": 25, "2026-03-29": 23}.items() <= dict(days.groups).items()


def plans(memory: Memory, question: str) -> list[tuple[str, list[str]]]:
    """Return each statement that a question leads to, with what SQLite says it will do for it."""
    ran: list[tuple[str, Any]] = []

    def note(_cursor: object, sql: str, given: Any) -> bool:
        ran.append((sql, given))
        return True

    connection = memory.store.connection
    connection.exec_trace = note
    try:
        memory.ask(question, at(LATER))
    finally:
        connection.exec_trace = None
    selects = [(sql, given) for sql, given in ran if sql.startswith(("SELECT", "WITH"))]
    return [(sql, [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", given)]) for sql, given in selects]


WINDOWED = [
    "failed tool calls yesterday",
    "errors this week",
    "what did the agent do last night",
    "how many exec calls per day in october",
    "number of sessions last week",
    "slowest tool calls today",
    "messages from me in the last 36 hours",
    "what happened in session s-3 yesterday",
    "tool calls by tool last week",
    '"travel insurance" yesterday',
    "exec calls except from agent desk on saturday",
]


@pytest.mark.parametrize("question", WINDOWED)
def test_a_question_about_a_window_reads_that_window_alone(memory: Memory, question: str) -> None:
    """No statement goes through all events, and each reads events by their time or by their places."""
    asked = [(sql, plan) for sql, plan in plans(memory, question) if "FROM event e" in sql]
    steps = [(":until" in sql, step) for sql, plan in asked for step in plan if step.split()[1] == "e"]
    assert steps
    fit = {True: ("rowid>? AND rowid<?", "(rowid=?)"), False: ("rowid>?", "(rowid=?)")}
    assert [step for ends, step in steps if not any(one in step for one in fit[ends])] == []


@pytest.mark.parametrize("question", ["last 5 messages from me", "last error", "last 10", "first 3 tool calls"])
def test_the_last_few_are_read_from_the_end(memory: Memory, question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No sorting of all that matches, where that is much: the walk ends when there are enough."""
    monkeypatch.setattr(finding, "FEW", 1)
    steps = [step for sql, plan in plans(memory, question) if "FROM event e" in sql for step in plan]
    assert steps
    assert [step for step in steps if "TEMP B-TREE FOR ORDER BY" in step] == []


@pytest.mark.parametrize("question", ["type:gap", "status:blocked", "tool:exec status:blocked", "errors"])
def test_what_is_rare_is_not_looked_for_among_all_events(memory: Memory, question: str) -> None:
    """An index says that there are few, and finds them."""
    steps = [step for sql, plan in plans(memory, question) if "FROM event e" in sql for step in plan]
    reading = [step for step in steps if step.split()[1] == "e"]
    assert reading
    assert [
        step for step in reading if "USING INDEX" not in step and "(rowid=?)" not in step and "rowid>" not in step
    ] == []


def test_a_question_changes_nothing(memory: Memory) -> None:
    """Whatever it says: the files are the same to the last byte, and the connection can write nothing."""
    files = [memory.settings.db, path_of(memory.settings.db)]
    before = [file.read_bytes() for file in files]
    commands = [
        "delete everything",
        "drop table event",
        "'; DELETE FROM event; --",
        "forget my messages",
        "update errors",
    ]
    for question in [*commands, *fuzzed(300, 3)]:
        with contextlib.suppress(NotUnderstood, BadInput):
            memory.ask(question, at(LATER))
    assert before == [file.read_bytes() for file in files]
    with pytest.raises(apsw.ReadOnlyError):
        memory.store.connection.execute("DELETE FROM event")


def test_one_event_is_of_one_day_wherever_it_is_told(tmp_path: Path) -> None:
    """The process lives in UTC, the user in Berlin: question, group, headline and row agree (field case F20)."""
    lab = Lab(tmp_path)
    said = {"y": "2026-05-04T21:59:59+00:00", "t": "2026-05-04T22:00:00+00:00"}
    lab.spool(
        {"hook": "limpet_add", "ts": at(time), "ctx": {}, "event": {"type": "note", "summary": name}}
        for name, time in said.items()
    )
    lab.drain()
    now = ("--tz", "Europe/Berlin", "--now", "2026-05-04T22:30:00Z", "--json")

    def found(question: str) -> list[str]:
        return [event["summary"] for event in lab.limpet("ask", *now, question).json["events"]]

    assert (found("notes today"), found("notes yesterday")) == (["t"], ["y"])
    assert found("notes in the last 24 hours") == ["t", "y"]
    groups = lab.limpet("ask", *now, "notes per day").json["groups"]
    assert groups == [{"key": "2026-05-04", "count": 1}, {"key": "2026-05-05", "count": 1}]
    headline = lab.limpet("ask", *now[:4], "notes today").out.splitlines()
    assert headline[0].startswith("1 note, 5 May 00:00-00:30 Europe/Berlin, ")
    assert "2026-05-05 00:00:00+02:00" in headline[2]
