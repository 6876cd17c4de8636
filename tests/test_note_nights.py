"""When a day gets its note: each local day once, across clock changes, downtime, late events and wrong clocks."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab import NOON, Lab, call, hook, until
from limpet import coverage, days
from limpet.note import nights
from limpet.note.block import stamp_of
from limpet.note.diary import Diary
from limpet.note.nightly import Nightly
from limpet.runtimes.openclaw.workspaces import Workspaces
from limpet.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limpet.note.nightly import Outcome

DAY = date(2026, 6, 1)
DAY_MS = 86_400_000
NIGHT_MS = NOON + 15 * 3_600_000
"""2026-06-02T03:00Z: the night after the lab's noon."""


def ms(iso: str) -> int:
    """Return an ISO time as epoch milliseconds."""
    return round(datetime.fromisoformat(iso).timestamp() * 1000)


def local(at_ms: int, zone: str) -> str:
    """Return what the clocks of a zone show."""
    return days.show(at_ms, zone)[:16]


@pytest.mark.parametrize(
    ("day", "zone", "shown"),
    [
        ("2026-03-28", "Europe/Berlin", "2026-03-29T03:00"),
        ("2026-10-24", "Europe/Berlin", "2026-10-25T03:00"),
        ("2026-05-04", "Asia/Kathmandu", "2026-05-05T03:00"),
        ("2026-12-31", "Pacific/Auckland", "2027-01-01T03:00"),
        ("2026-03-07", "America/New_York", "2026-03-08T03:00"),
    ],
)
def test_a_day_is_ready_at_three_of_the_next(day: str, zone: str, shown: str) -> None:
    """By the clocks of the user's zone, also in the nights in which these change (field cases F19, F21)."""
    ready = nights.ready_ms(date.fromisoformat(day), zone)
    assert (shown, []) == (local(ready, zone), nights.due([date.fromisoformat(day)], ready - 1, zone))


@pytest.mark.parametrize(("day", "skipped_or_twice"), [("2026-03-28", "03:00"), ("2026-10-24", "02:30")])
def test_a_time_that_is_skipped_or_comes_twice_is_one_night(day: str, skipped_or_twice: str) -> None:
    """02:30 in Berlin: never on 29 March, twice on 25 October; each day is due from one instant on (field case F21)."""
    ready = nights.ready_ms(date.fromisoformat(day), "Europe/Berlin", "02:30")
    assert skipped_or_twice == local(ready, "Europe/Berlin")[11:]
    minutes = [ready + n * 60_000 for n in range(-180, 180)]
    turns = [len(nights.due([date.fromisoformat(day)], at, "Europe/Berlin", "02:30")) for at in minutes]
    assert turns == sorted(turns)


def test_missed_days_are_due_oldest_first() -> None:
    """Three nights off: all three, in order, each once."""
    wanted = [DAY + timedelta(days=n) for n in (2, 0, 1, 1, 5)]
    assert [DAY, DAY + timedelta(days=1), DAY + timedelta(days=2)] == list(
        nights.due(wanted, NIGHT_MS + 2 * DAY_MS, "UTC")
    )


def test_a_long_absence_asks_for_a_bounded_number_of_days() -> None:
    """After months, only the last days are asked for whether anybody watched; after a jump of years, none."""
    autumn = nights.since(DAY, date(2026, 11, 1))
    assert (31, date(2026, 11, 1), []) == (len(autumn), autumn[-1], nights.since(DAY, date(2036, 6, 1)))


def test_a_day_that_a_zone_skipped_does_not_exist() -> None:
    """Samoa had no 30 December 2011."""
    assert [nights.exists(date(2011, 12, d), "Pacific/Apia") for d in (29, 30)] == [True, False]


class Notes:
    """The notes of a lab whose agents have workspaces."""

    def __init__(self, lab: Lab, zone: str = "UTC", since: str = "2026-03-01T00:00:00+00:00") -> None:
        """Set it up at that time, with a workspace for the agent main."""
        self.lab, self.zone = lab, zone
        (lab.state / "workspace").mkdir(parents=True)
        with lab.recording() as recording, recording.store.transaction():
            recording.store.state.watched("spool", ms(since))

    def look(self, now_ms: int = NIGHT_MS) -> Sequence[Outcome]:
        """Do what is due at an instant, as the sidecar does."""
        with closing(SqliteStore(self.lab.db, writing=False)) as store:
            chosen = replace(self.lab.settings, zone=self.zone)
            return Nightly(chosen, store, coverage.Watched(now_ms)).look(now_ms, patient=True)

    def results(self, now_ms: int = NIGHT_MS) -> list[tuple[str, str]]:
        """Return what became of each note that was due, without those that had nothing to say."""
        return [(one.day.isoformat(), one.result) for one in self.look(now_ms) if one.result != "empty"]

    def text(self, day: date = DAY) -> str:
        """Return a note's file."""
        return (self.lab.state / "workspace" / "memory" / f"{day}.md").read_text("utf-8")

    def files(self) -> list[str]:
        """Return the names of all files in the folder of notes."""
        return sorted(path.name for path in (self.lab.state / "workspace").glob("memory/*"))


@pytest.fixture
def notes(lab: Lab) -> Notes:
    """Return a lab with one event at noon, taken in."""
    made = Notes(lab)
    lab.take([call("c1", params={"command": "make deploy"})])
    return made


def test_the_night_writes_the_day_once(notes: Notes) -> None:
    """Not before three o'clock; then once; then nothing more is due."""
    assert [notes.results(at) for at in (NIGHT_MS - 1, NIGHT_MS, NIGHT_MS + 1)] == [[], [("2026-06-01", "written")], []]
    assert ("make deploy" in notes.text(), notes.files()) == (True, ["2026-06-01.md"])


def test_sixty_runs_write_one_section(notes: Notes) -> None:
    """The job runs far too often, and after the first time the file's bytes stay (field case F92)."""
    notes.look()
    first = notes.text()
    for number in range(60):
        notes.look(NIGHT_MS + number * 60_000)
        (notes.lab.home / "notes.json").unlink()
    assert first == notes.text()


def test_three_nights_off_are_made_up_oldest_first(lab: Lab) -> None:
    """The machine slept: each day that had events gets its note, in order."""
    notes = Notes(lab)
    lab.take([call(f"c{n}", at=n * DAY_MS) for n in range(3)])
    assert [(f"2026-06-0{n}", "written") for n in (1, 2, 3)] == notes.results(NIGHT_MS + 4 * DAY_MS)


def test_a_late_event_replaces_the_note(notes: Notes) -> None:
    """What is learned of a day after its night is in its note, once, and nothing around it changes."""
    notes.look()
    path = notes.lab.state / "workspace" / "memory" / "2026-06-01.md"
    path.write_bytes(b"# Mine\n" + path.read_bytes() + b"below\n")
    notes.lab.take([call("c2", at=1000, params={"command": "make late"})], segment=2)
    assert notes.results(NIGHT_MS + DAY_MS) == [("2026-06-01", "written")]
    assert (
        notes.text().count("<!-- limpet:begin"),
        "make late" in notes.text(),
        notes.text().startswith("# Mine\n<!--"),
        notes.text().endswith("below\n"),
    ) == (1, True, True, True)


def test_what_had_no_end_in_its_night_is_told_again_when_it_has(lab: Lab) -> None:
    """A call that a restart cut off two days later: the note of its own day says so."""
    notes = Notes(lab)
    lab.take([call("c1", begins=True)])
    notes.look()
    before = notes.text()
    lab.take([hook("gateway_start", {"port": 1}, at=2 * DAY_MS)], producer="next")
    notes.look(NIGHT_MS + DAY_MS)
    assert (before != notes.text(), "interrupted" in notes.text() or "cut off" in notes.text()) == (True, True)


def test_a_session_over_midnight_is_in_the_notes_of_both_days(lab: Lab) -> None:
    """Each event in the note of its own local day, though it was written at another time (field case F25)."""
    notes = Notes(lab, "Asia/Shanghai")
    last, first = ms("2026-05-04T15:59:00+00:00") - NOON, ms("2026-05-04T16:01:00+00:00") - NOON
    lab.take(
        [call("c1", last, params={"command": "echo last minute"}), call("c2", first, params={"command": "echo first"})]
    )
    notes.look(ms("2026-05-06T04:00:00+00:00"))
    told = {day: notes.text(date.fromisoformat(day)) for day in ("2026-05-04", "2026-05-05")}
    assert [("last minute" in text, "echo first" in text) for text in told.values()] == [(True, False), (False, True)]


@pytest.mark.parametrize(
    ("utc", "zone", "name"),
    [
        ("2026-04-11T19:53:00Z", "Asia/Shanghai", "2026-04-12.md"),
        ("2026-03-15T01:17:00Z", "America/Los_Angeles", "2026-03-14.md"),
        ("2026-04-09T00:44:38Z", "Asia/Jakarta", "2026-04-09.md"),
        ("2026-12-31T10:30:00Z", "Pacific/Auckland", "2026-12-31.md"),
        ("2026-12-31T11:30:00Z", "Pacific/Auckland", "2027-01-01.md"),
        ("2026-05-04T18:20:00Z", "Asia/Kathmandu", "2026-05-05.md"),
        ("2026-05-04T18:10:00Z", "Asia/Kathmandu", "2026-05-04.md"),
        ("2026-10-25T00:30:00Z", "Europe/Berlin", "2026-10-25.md"),
    ],
)
def test_the_notes_name_is_the_local_day(lab: Lab, utc: str, zone: str, name: str) -> None:
    """East and west of Greenwich and at odd offsets, by the user's zone (field cases F19, F100)."""
    notes = Notes(lab, zone)
    lab.take([call("c1", ms(utc) - NOON)])
    notes.look(ms(utc) + 3 * DAY_MS)
    assert [name] == notes.files()


@pytest.mark.parametrize(
    ("first", "last"),
    [("2026-03-28T23:30:00Z", "2026-03-29T21:30:00Z"), ("2026-10-24T22:30:00Z", "2026-10-25T22:30:00Z")],
)
def test_a_day_of_23_or_25_hours_is_one_note(lab: Lab, first: str, last: str) -> None:
    """The days on which Berlin's clocks change: their first and their last hour are in the same note (field case F21)."""
    notes = Notes(lab, "Europe/Berlin")
    lab.take(
        [
            call(name, ms(at) - NOON, params={"command": f"make {name}"})
            for name, at in (("dawn", first), ("dusk", last))
        ]
    )
    notes.look(ms(last) + 2 * DAY_MS)
    day = days.day_of(ms(last), "Europe/Berlin")
    assert ([f"{day}.md"], True) == (notes.files(), "make dawn" in notes.text(day) and "make dusk" in notes.text(day))


def test_a_clock_that_runs_ahead_does_no_harm(notes: Notes) -> None:
    """It says 2099 once: the day's note is made, no other file, and what comes later is noted in its time."""
    notes.look(ms("2099-01-01T12:00:00+00:00"))
    notes.lab.take([call("c2", DAY_MS, params={"command": "make again"})], segment=2)
    assert notes.results(NIGHT_MS + DAY_MS) == [("2026-06-02", "written")]
    assert notes.files() == ["2026-06-01.md", "2026-06-02.md"]


def test_a_clock_that_runs_behind_writes_nothing_early(notes: Notes) -> None:
    """It says 1999: nothing is due, and in the right night the note is written."""
    assert [notes.results(at) for at in (ms("1999-01-01T00:00:00+00:00"), NIGHT_MS)] == [
        [],
        [("2026-06-01", "written")],
    ]


def test_days_before_the_set_up_are_history(lab: Lab) -> None:
    """What was imported from before is noted only when it is asked for."""
    notes = Notes(lab, since="2026-06-01T11:00:00+00:00")
    lab.take([call("c1")])
    lab.imported(lab.file("old.jsonl", [call("c0", at=-10 * DAY_MS)]))
    assert notes.results(NIGHT_MS + DAY_MS) == [("2026-06-01", "written")]


def test_a_note_of_history_follows_its_day(lab: Lab) -> None:
    """Made on request for a day before the set-up, it is replaced when something more of that day is brought in."""
    notes = Notes(lab, since="2026-06-01T11:00:00+00:00")
    lab.imported(lab.file("old.jsonl", [call("c0", at=-10 * DAY_MS, params={"command": "make old"})]))
    assert notes.results() == []
    assert lab.limpet("note", "--date", "2026-05-22").status == 0
    lab.imported(lab.file("older.jsonl", [call("c9", at=1 - 10 * DAY_MS, params={"command": "make older"})]))
    assert notes.results() == [("2026-05-22", "written")]
    assert "make older" in notes.text(date(2026, 5, 22))


def test_whoever_asks_for_the_notes_does_not_wait(notes: Notes) -> None:
    """A note that failed a moment ago is tried at once by `limpet note`."""
    workspace = notes.lab.state / "workspace"
    workspace.rename(notes.lab.state / "elsewhere")
    failed = notes.lab.limpet("note")
    (notes.lab.state / "elsewhere").rename(workspace)
    assert (failed.status, notes.lab.limpet("note").status, notes.files()) == (4, 0, ["2026-06-01.md"])


def test_a_day_without_events_has_no_note(notes: Notes) -> None:
    """Quiet days after a busy one leave no file (field case F94)."""
    notes.look(NIGHT_MS + 5 * DAY_MS)
    assert notes.files() == ["2026-06-01.md"]


def test_a_day_on_which_it_was_blind_has_a_line(notes: Notes) -> None:
    """Set up, and nobody could see: the day after says so, and the human's own text stays."""
    notes.look()
    with notes.lab.recording() as recording, recording.store.transaction():
        recording.store.state.failed("openclaw.transcripts/main", NIGHT_MS + 1, "the schema is not known")
    notes.look(NIGHT_MS + 3 * DAY_MS)
    told = [name for name in notes.files() if name != "2026-06-01.md"]
    assert told == ["2026-06-02.md", "2026-06-03.md", "2026-06-04.md"][: len(told)]
    assert ("the schema is not known" in notes.text(DAY + timedelta(days=2))) is True


def test_a_failure_is_kept_and_tried_again_later(notes: Notes) -> None:
    """The workspace is gone: nothing is made, the reason is kept, and when it is back the note is written."""
    workspace = notes.lab.state / "workspace"
    workspace.rename(notes.lab.state / "elsewhere")
    assert notes.results() == [("2026-06-01", "failed")]
    trouble = Diary.read(notes.lab.home).troubles[DAY, "main"]
    assert ("no workspace" in trouble.why, workspace.exists(), notes.results(NIGHT_MS + 60_000)) == (True, False, [])
    (notes.lab.state / "elsewhere").rename(workspace)
    assert (
        notes.results(NIGHT_MS + 600_000),
        Diary.read(notes.lab.home).troubles,
    ) == ([("2026-06-01", "written")], {})


def test_one_note_that_fails_stops_no_other(lab: Lab) -> None:
    """A folder stands where one day's file should be: the next day's note is written all the same (field case F96)."""
    notes = Notes(lab)
    (lab.state / "workspace" / "memory" / "2026-06-01.md").mkdir(parents=True)
    lab.take([call("c1"), call("c2", at=DAY_MS)])
    assert notes.results(NIGHT_MS + DAY_MS) == [("2026-06-01", "failed"), ("2026-06-02", "written")]


def test_an_odd_note_is_written_with_a_warning(notes: Notes) -> None:
    """Damaged marks: the warning is kept for status, and the note counts as written (field case F81)."""
    notes.look()
    path = notes.lab.state / "workspace" / "memory" / "2026-06-01.md"
    path.write_text(path.read_text("utf-8").replace("<!-- limpet:end -->", ""), "utf-8")
    notes.lab.take([call("c2", at=1000)], segment=2)
    notes.look(NIGHT_MS + 60_000)
    trouble = Diary.read(notes.lab.home).troubles[DAY, "main"]
    assert (trouble.failed, "damaged" in trouble.why) == (False, True)


def test_each_agent_has_a_note_in_its_own_workspace(lab: Lab) -> None:
    """Two agents, two workspaces, as OpenClaw's configuration names them (field case F76)."""
    entries = {"main": {"workspace": str(lab.state / "workspace")}, "second": {}}
    notes = Notes(lab)
    (lab.state / "openclaw.json").write_text(json.dumps({"agents": {"entries": entries}}))
    (lab.state / "workspace-second").mkdir()
    theirs = {"agentId": "second", "sessionKey": "agent:second:main", "sessionId": "s-2", "runId": "r-2"}
    lab.take([call("c1", params={"command": "make mine"}), call("c2", ctx=theirs, params={"command": "make theirs"})])
    notes.look()
    theirs_text = (lab.state / "workspace-second" / "memory" / "2026-06-01.md").read_text("utf-8")
    assert [("make mine" in text, "make theirs" in text) for text in (notes.text(), theirs_text)] == [
        (True, False),
        (False, True),
    ]


def test_limpets_own_nightly_job_makes_no_note(lab: Lab) -> None:
    """OpenClaw's cron tells of the job that starts the notes: a day with nothing else has none; another job has one."""
    notes = Notes(lab)
    told = {"action": "finished", "status": "ok", "runAtMs": NOON, "durationMs": 5, "summary": "written"}
    lab.take([hook("cron_changed", {**told, "jobId": "j1", "job": {"name": "limpet-daily-note"}})])
    assert (notes.results(), notes.files()) == ([], [])
    lab.take([hook("cron_changed", {**told, "jobId": "j2", "job": {"name": "backup"}}, at=DAY_MS)], segment=2)
    assert notes.results(NIGHT_MS + DAY_MS) == [("2026-06-02", "written")]
    assert "limpet-daily-note" not in notes.text(DAY + timedelta(days=1))


def test_two_that_look_at_once_write_one_note(notes: Notes) -> None:
    """Processes that start together: one section, and the file of one run."""
    code = """
import sys
from contextlib import closing
from limpet import coverage, settings
from limpet.note.nightly import Nightly
from limpet.store.sqlite import SqliteStore
chosen = settings.load()
with closing(SqliteStore(chosen.db, writing=False)) as store:
    for _ in range(5):
        Nightly(chosen, store, coverage.Watched(int(sys.argv[1]))).look(int(sys.argv[1]))
        Nightly(chosen, store, coverage.Watched(int(sys.argv[1]))).write("main", __import__("datetime").date(2026, 6, 1), 0)
"""
    running = [notes.lab.python("-c", code, str(NIGHT_MS)) for _ in range(3)]
    ends = [process.communicate(timeout=60)[1] for process in running]
    assert (ends, notes.text().count("<!-- limpet:begin"), notes.files()) == ([""] * 3, 1, ["2026-06-01.md"])


def test_the_stamp_is_the_number_of_events_and_the_seal_at_the_last_that_is_cited(notes: Notes) -> None:
    """The begin mark says from how many events the note was made, and where the ledger stood."""
    notes.look()
    with closing(SqliteStore(notes.lab.db, writing=False)) as store:
        no, digest = store.records.head()
    assert stamp_of(notes.text().encode(), "2026-06-01", "main") == f"1:{no}:{digest.hex()}"


def test_a_diary_that_is_lost_or_damaged_harms_nothing(notes: Notes) -> None:
    """Every day since set-up is looked at again, and no note changes."""
    notes.look()
    before = notes.text()
    for damage in (b"", b"{", b'{"seen": "x"}', b"[1]", b"\xff"):
        (notes.lab.home / "notes.json").write_bytes(damage)
        assert notes.results(NIGHT_MS + DAY_MS) == [("2026-06-01", "unchanged")]
    assert before == notes.text()


def test_another_database_in_the_same_place_is_noted_from_its_beginning(notes: Notes) -> None:
    """A memory that begins anew under an old diary: its days get their notes, too."""
    notes.look()
    diary = Diary.read(notes.lab.home)
    diary.mark = "another ledger's record"
    diary.write(notes.lab.home)
    assert notes.results(NIGHT_MS + DAY_MS) == [("2026-06-01", "unchanged")]


def test_the_sidecar_writes_what_is_due(notes: Notes) -> None:
    """By itself, soon after it has caught up."""
    with notes.lab.sidecar():
        until(lambda: "2026-06-01.md" in notes.files(), "the sidecar writes the note")
    assert "make deploy" in notes.text()


def test_a_sidecar_told_not_to_writes_none(notes: Notes) -> None:
    """`note_nightly = false` in config.toml."""
    (notes.lab.home / "config.toml").write_text("note_nightly = false\n")
    with notes.lab.sidecar() as process:
        until(notes.lab.answers, "the sidecar answers")
        process.terminate()
    assert notes.files() == []


@pytest.mark.parametrize(
    ("agents", "agent", "place"),
    [
        ({}, "main", "workspace"),
        ({"defaults": {"workspace": "/w"}}, "main", "/w"),
        ({"entries": {"solo": {}}}, "solo", "workspace"),
        ({"entries": {"solo": {"workspace": "~/mine"}}}, "solo", "~/mine"),
        ({"entries": {"a": {}, "b": {}}}, "b", "workspace-b"),
        ({"entries": {"a": {}, "b": {}}, "defaults": {"workspace": "/w"}}, "b", "/w/b"),
        ({"entries": {"a": {"default": True}, "b": {}}, "defaults": {"workspace": "/w"}}, "a", "/w"),
        ({"list": [{"id": "A b"}, {"id": "c", "workspace": "/c"}]}, "c", "/c"),
        ({"list": [{"id": "A b"}, {"id": "c"}]}, "a-b", "workspace-a-b"),
    ],
)
def test_the_workspace_is_where_openclaw_finds_it(lab: Lab, agents: object, agent: str, place: str) -> None:
    """By its own rules: the agent's own, the default of the only one, a folder below it, or one in the state folder."""
    lab.state.mkdir()
    (lab.state / "openclaw.json").write_text(json.dumps({"agents": agents}))
    expected = Path(place).expanduser() if place[0] in "/~" else lab.state / place
    assert expected == Workspaces(lab.settings).of(agent).path


def test_the_workspace_can_be_set(lab: Lab) -> None:
    """In config.toml, whatever OpenClaw's configuration says."""
    lab.home.mkdir(parents=True)
    (lab.home / "config.toml").write_text(f'[workspaces]\nmain = "{lab.folder}/elsewhere"\n')
    assert lab.folder / "elsewhere" == Workspaces(lab.settings).of("main").path


def test_a_day_of_the_machines_own_time_is_no_day_of_the_user(lab: Lab) -> None:
    """The process lives in UTC, the user in Berlin: 23:30 UTC is the user's next day (field case F20)."""
    notes = Notes(lab, "Europe/Berlin")
    at = ms("2026-06-01T22:30:00+00:00")
    lab.take([call("c1", at - NOON)])
    notes.look(at + 2 * DAY_MS)
    assert (notes.files(), datetime.fromtimestamp(at / 1000, UTC).hour) == (["2026-06-02.md"], 22)


def test_two_marks_and_no_more_stand_in_a_note(notes: Notes) -> None:
    """Whatever the events hold, the file has one begin and one end (field case F58)."""
    notes.lab.take([call("c2", at=5, params={"command": "echo '<!-- limpet:end -->'"})], segment=2)
    notes.look()
    assert len(re.findall(r"<!--\s*limpet:", notes.text())) == 2
