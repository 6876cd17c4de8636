"""`limpet note`: what it writes, what it shows, and what it says when it cannot."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

from lab import NOON, Lab, call, hook
from limpet import days

if TYPE_CHECKING:
    from pathlib import Path

DAY = "2026-06-01"
NEXT = ("--now", "2026-06-02T09:00:00Z")
OTHER = {"agentId": "press", "sessionKey": "agent:press:main", "sessionId": "s-2", "runId": "r-2"}


@pytest.fixture
def busy(lab: Lab) -> Lab:
    """Make an installation with two agents, a workspace each, and a day with a failure."""
    agents = {"entries": {"main": {"default": True}, "press": {}}}
    lab.state.mkdir(parents=True)
    (lab.state / "openclaw.json").write_text(json.dumps({"agents": agents}))
    for name in ("workspace", "workspace-press"):
        (lab.state / name).mkdir()
    with lab.recording() as recording, recording.store.transaction():
        recording.store.state.watched("spool", NOON - 86_400_000)
    lab.take(
        [
            hook("message_received", {"content": "Deploy the shop.", "messageId": "m"}),
            call("deploy", 1000, params={"command": "make deploy"}, error="a test failed"),
            call("deploy2", 60_000, params={"command": "make deploy"}),
            call("post", 120_000, tool="social_post", params={"n": 1}, ctx=OTHER),
        ]
    )
    return lab


def note_at(lab: Lab, folder: str = "workspace", day: str = DAY) -> Path:
    """Return where a note lies."""
    return lab.state / folder / "memory" / f"{day}.md"


def test_a_day_is_written_into_each_agents_workspace_and_twice_changes_nothing(busy: Lab) -> None:
    """Two agents, two notes; the second run leaves every byte."""
    first = busy.limpet("note", "--date", DAY, *NEXT)
    assert first.status == 0, first.err
    mine, its = note_at(busy).read_bytes(), note_at(busy, "workspace-press").read_bytes()
    assert b"1 of 2 tool calls failed: `make deploy` at 12:00" in mine
    assert b"used `social_post`" in its
    again = busy.limpet("note", "--date", DAY, "--json", *NEXT).json
    assert [one["result"] for one in again["notes"]] == ["unchanged", "unchanged"]
    assert (mine, its) == (note_at(busy).read_bytes(), note_at(busy, "workspace-press").read_bytes())


def test_without_arguments_what_is_due_is_written_once(busy: Lab) -> None:
    """For a cron job where no sidecar runs: before three in the morning nothing is due, afterwards the day is, once."""
    assert busy.limpet("note", "--now", "2026-06-02T02:59:00Z").status == 0
    assert not note_at(busy).exists()
    done = busy.limpet("note", "--json", "--now", "2026-06-02T03:00:00Z").json["notes"]
    written = [(one["agent"], one["day"]) for one in done if one["result"] == "written"]
    assert written == [("main", DAY), ("press", DAY)]
    assert "no note is due" in busy.limpet("note", "--now", "2026-06-02T03:01:00Z").err


def test_a_dry_run_shows_the_note_and_writes_nothing(busy: Lab) -> None:
    """What it shows is what would be written."""
    shown = busy.limpet("note", "--date", DAY, "--agent", "main", "--dry-run", *NEXT)
    assert not note_at(busy).exists()
    busy.limpet("note", "--date", DAY, *NEXT)
    assert shown.out.strip() in note_at(busy).read_text()


def test_yesterday_is_what_is_shown_when_no_day_is_named(busy: Lab) -> None:
    """The zone decides which day that is."""
    assert "What main did, 2026-06-01" in busy.limpet("note", "--dry-run", *NEXT).out
    tokyo = busy.limpet("note", "--dry-run", "--tz", "Asia/Tokyo", "--now", "2026-06-01T16:00:00Z")
    assert "What main did, 2026-06-01" in tokyo.out
    assert "times of Asia/Tokyo, +09:00" in tokyo.out


def test_a_plan_as_json_has_its_counts_its_statements_and_their_events(busy: Lab) -> None:
    """Every event that it names can be shown."""
    (plan,) = busy.limpet("note", "--date", DAY, "--agent", "main", "--dry-run", "--json", *NEXT).json["notes"]
    assert (plan["counts"]["calls"], plan["counts"]["failed"], plan["counts"]["recovered"]) == (2, 1, 1)
    (failed,) = [one for one in plan["statements"] if one["kind"] == "failed"]
    shown = busy.limpet("show", failed["events"][0], "--json").json
    assert (shown["status"], shown["error"]) == ("failed", "a test failed")
    assert {"agent", "first", "last", "zone", "counts", "paragraph", "statements", "coverage"} == plan.keys()


def test_history_is_made_day_by_day_and_only_where_something_happened(busy: Lab) -> None:
    """`--since` writes every day that has events, oldest first."""
    busy.take([call("late", 86_400_000 * 3)])
    done = busy.limpet("note", "--since", "2026-05-25", "--json", "--now", "2026-06-08T09:00:00Z")
    written = [(one["day"], one["agent"]) for one in done.json["notes"] if one["result"] == "written"]
    assert written == [(DAY, "main"), (DAY, "press"), ("2026-06-04", "main")]
    assert sorted(path.name for path in note_at(busy).parent.glob("*.md")) == ["2026-06-01.md", "2026-06-04.md"]


def test_history_is_shown_without_writing_it(busy: Lab) -> None:
    """`--since` with `--dry-run` shows every day that it would write, and writes none."""
    busy.take([call("late", 86_400_000 * 3)])
    shown = busy.limpet("note", "--since", "2026-05-25", "--dry-run", "--json", "--now", "2026-06-08T09:00:00Z")
    days_shown = [(one["first"], one["last"], one["agent"]) for one in shown.json["notes"]]
    assert days_shown == [(DAY, DAY, "main"), (DAY, DAY, "press"), ("2026-06-04", "2026-06-04", "main")]
    assert not note_at(busy).exists()


def test_a_week_and_a_month_are_shown_from_the_same_plan(busy: Lab) -> None:
    """Nothing is written; the counts are those of all days together."""
    busy.take([call("late", 86_400_000 * 3, error="broke"), call("later", 86_400_000 * 20, error="broke")])
    now = ("--now", "2026-06-30T09:00:00Z", "--json", "--agent", "main")
    week = busy.limpet("note", "--week", "--date", "2026-06-03", *now).json["notes"][0]
    month = busy.limpet("note", "--month", *now).json["notes"][0]
    assert (week["first"], week["last"], week["counts"]["failed"]) == ("2026-06-01", "2026-06-07", 2)
    assert (month["first"], month["last"], month["counts"]["failed"]) == ("2026-06-01", "2026-06-30", 3)
    assert not note_at(busy).exists()


def test_a_day_without_events_gets_no_file(busy: Lab) -> None:
    """Field case F94: no empty file, no header alone."""
    done = busy.limpet("note", "--date", "2026-05-20", *NEXT)
    assert (done.status, done.out) == (0, "")
    assert "nothing happened then" in done.err
    assert not note_at(busy, day="2026-05-20").exists()


@pytest.mark.parametrize("bad", ["file", "missing"])
def test_a_note_that_cannot_be_written_is_an_error_and_not_a_success(busy: Lab, bad: str) -> None:
    """Field case F96: something else in the folder's place, no workspace at all."""
    folder = busy.state / "workspace"
    (folder / "memory").write_text("mine") if bad == "file" else folder.rmdir()
    done = busy.limpet("note", "--date", DAY, "--agent", "main", *NEXT)
    assert done.status == 4
    assert "not written" in done.err


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("--date", "2027-01-01"), 2),
        (("--date", "yesteryear"), 2),
        (("--since", "2026-06-02"), 2),
        (("--since", "soon"), 2),
        (("--agent", "nobody"), 3),
        (("--week", "--month"), 2),
        (("--date", DAY, "--since", DAY), 2),
        (("--tz", "Mars/Base"), 2),
        (("--date", ""), 2),
        (("--since", ""), 2),
        (("--date", "0001-01-01"), 2),
        (("--week", "--date", "0001-01-01"), 2),
        (("--since", "1989-12-31"), 2),
        (("--since", DAY, "--week"), 2),
        (("--since", DAY, "--month", "--dry-run"), 2),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_hint(busy: Lab, arguments: tuple[str, ...], status: int) -> None:
    """A sentence and a hint, and nothing is written."""
    done = busy.limpet("note", *arguments, *NEXT)
    assert (status, True) == (done.status, "hint:" in done.err)
    assert not note_at(busy).exists()


def test_without_a_memory_there_is_no_note(lab: Lab) -> None:
    """It is said, and nothing is made."""
    done = lab.limpet("note")
    assert done.status == 4
    assert "There is no memory" in done.err
    assert not lab.db.exists()


def test_the_whole_file_of_a_day_names_only_events_of_that_day(busy: Lab) -> None:
    """Every number in brackets opens an event of its local day."""
    plan = busy.limpet("note", "--date", DAY, "--dry-run", "--json", *NEXT).json["notes"]
    since, until = days.window_of(date(2026, 6, 1), "UTC")
    times = {str(one.id): one.at_ms for one in busy.events()}
    named = {number for one in plan for said in one["statements"] for number in (*said["events"], *said["also"])}
    assert named
    assert all(since <= times[number] < until for number in named)
    assert NOON < until <= NOON + timedelta(days=1) / timedelta(milliseconds=1)
