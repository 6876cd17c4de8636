"""`limpet demo`: the same day each time, exact counts, nothing left behind unless it is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab import Lab

if TYPE_CHECKING:
    from lab import Done

ROOT = Path(__file__).parents[1]
DAY = ROOT / "src" / "limpet" / "cli" / "demo_day.jsonl"
ASKED = ("--tz", "Europe/Berlin", "--now", "2026-06-02T09:00:00+02:00")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Make a HOME for the demos of this file, with a folder of its own for throw-away things."""
    lab = Lab(tmp_path_factory.mktemp("demo"))
    (lab.folder / "tmp").mkdir()
    lab.environment.pop("OPENCLAW_STATE_DIR")
    lab.environment["TMPDIR"] = str(lab.folder / "tmp")
    return lab


@pytest.fixture(scope="module")
def told(place: Lab) -> Any:
    """Play the day once and return what it says as JSON."""
    return played(place, "--json").json


@pytest.fixture(scope="module")
def kept(place: Lab) -> Path:
    """Play the day once and keep its folder."""
    folder = place.folder / "kept demo"
    played(place, "--keep", str(folder))
    return folder


def played(place: Lab, *arguments: str) -> Done:
    """Play the day and return how that ended."""
    done = place.limpet("demo", *ASKED, *arguments)
    assert done.status == 0, done.err
    return done


def on(place: Lab, folder: Path, *arguments: str) -> Done:
    """Run a command on a demo that was kept."""
    done = place.limpet(*arguments, OPENCLAW_STATE_DIR=str(folder))
    assert done.status == 0, done.out + done.err
    return done


def pairs(groups: Any) -> dict[str, int]:
    """Return groups as key and count."""
    return {group["key"]: group["count"] for group in groups}


def test_every_line_becomes_one_record(told: Any) -> None:
    """As many records as the plugin wrote lines."""
    assert len(DAY.read_text("utf-8").splitlines()) == told["lines"] == told["records"]


def test_the_counts_are_exact(told: Any) -> None:
    """Each thing that happened on that day is counted once."""
    assert pairs(told["types"]) == {
        "message": 50,
        "model_call": 48,
        "run": 26,
        "tool_call": 22,
        "delivery": 11,
        "gateway": 3,
        "cron": 2,
        "session": 2,
        "compaction": 1,
        "reset": 1,
        "subagent": 1,
    }
    assert told["events"] == sum(pairs(told["types"]).values())
    assert pairs(told["calls"]) == {"succeeded": 18, "failed": 2, "timed_out": 1, "interrupted": 1}


def test_what_went_wrong_is_named(told: Any) -> None:
    """Failed and timed-out events of every kind, in order of time, with their local times and errors."""
    wrong = [(e["time"][:19], e["type"], e["tool"], e["status"]) for e in told["failures"]["events"]]
    assert wrong == [
        ("2026-06-01T09:14:05", "tool_call", "booking_create", "failed"),
        ("2026-06-01T10:32:13", "delivery", None, "failed"),
        ("2026-06-01T11:43:02", "tool_call", "exec", "failed"),
        ("2026-06-01T16:40:00", "model_call", None, "failed"),
        ("2026-06-01T16:40:11", "tool_call", "exec", "timed_out"),
        ("2026-06-01T21:00:00", "cron", None, "failed"),
    ]
    assert told["failures"]["events"][0]["error"] == "room no longer available"


def test_the_call_in_which_the_machine_died_is_interrupted(told: Any) -> None:
    """The call and its run are interrupted; the same call after the restart is another one."""
    assert [(e["type"], e["call"]) for e in told["interrupted"]["events"]] == [
        ("run", None),
        ("tool_call", "call_photos_1"),
    ]


def test_the_answer_is_complete(told: Any) -> None:
    """The plugin watched the whole day, so the answers say that they are complete."""
    assert told["failures"]["coverage"]["state"] == "complete"


def test_the_token_is_counted_and_gone(place: Lab, kept: Path, told: Any) -> None:
    """The token in a command's argument is removed, and said to be; no part of it can be got out again."""
    exported = on(place, kept, "export", "--records").out
    assert told["secrets_removed"]["github token"] >= 1
    assert "removed: github token" in exported
    assert "ghp_" not in exported
    assert not any(b"ghp_" in path.read_bytes() for path in kept.rglob("*") if path.is_file())


def test_it_can_be_repeated(place: Lab, told: Any) -> None:
    """The same --now and --tz give the same answer to the last digit."""
    assert told == played(place, "--json").json


def test_it_is_yesterday_in_the_users_zone(place: Lab) -> None:
    """Shortly after midnight in Berlin, yesterday is still another day in New York."""
    now = ("--now", "2026-06-02T00:30:00+02:00", "--json")
    assert place.limpet("demo", "--tz", "Europe/Berlin", *now).json["day"] == "2026-06-01"
    assert place.limpet("demo", "--tz", "America/New_York", *now).json["day"] == "2026-05-31"


def test_times_of_day_hold_when_the_clocks_change(place: Lab) -> None:
    """On the day on which the clocks go back, the job of 21:00 runs at 21:00."""
    now = ("--now", "2026-10-26T09:00:00+01:00", "--tz", "Europe/Berlin")
    last = place.limpet("demo", *now, "--json").json["failures"]["events"][-1]
    assert last["time"] == "2026-10-25T21:00:00.000+01:00"


def test_nothing_stays(place: Lab) -> None:
    """The throw-away folder is gone, and nothing else was made."""
    before = sorted(path.name for path in place.folder.iterdir())
    said = played(place)
    assert "Nothing of this stays here." in said.err
    assert list((place.folder / "tmp").iterdir()) == []
    assert sorted(path.name for path in place.folder.iterdir()) == before


def test_a_kept_day_can_be_asked(place: Lab, kept: Path, told: Any) -> None:
    """`recent`, `session`, `show` and `verify` work on it, in its own zone."""
    recent = on(place, kept, "recent", "--now", "2026-06-02", "--type", "tool_call", "--json").json
    assert (recent["count"], recent["window"]["zone"]) == (22, "Europe/Berlin")
    session = on(place, kept, "session", "agent:press:main", "--json").json
    assert {event["agent"] for event in session["events"]} == {"press"}
    interrupted = told["interrupted"]["events"][1]["id"]
    assert "rsync -a photos/" in on(place, kept, "show", interrupted).out
    assert on(place, kept, "verify", "--json").json["faults"] == []


def test_a_kept_day_is_well_and_says_that_it_is_a_demo(place: Lab, kept: Path) -> None:
    """Nothing is broken and nothing is to be set up there; its notes can be written."""
    assert "This is the demo, the recorded day 2026-06-01" in on(place, kept, "status").out
    assert on(place, kept, "note", "--date", "2026-06-01").out.count("written  ") == 2
    doctor = on(place, kept, "doctor", "--json").json
    assert (doctor["ok"], "this is the demo" in doctor["steps"][0]["found"]) == (True, True)
    assert "setup openclaw" not in on(place, kept, "doctor").out


def test_everything_kept_is_private(kept: Path) -> None:
    """Folders are 0700 and files 0600."""
    modes = {(path.is_dir(), path.stat().st_mode & 0o777) for path in [kept, *kept.rglob("*")]}
    assert modes == {(True, 0o700), (False, 0o600)}


def test_a_folder_in_use_is_left_alone(place: Lab) -> None:
    """A folder with something in it is refused, and nothing is written there."""
    used = place.folder / "used"
    used.mkdir()
    (used / "mine.txt").write_text("mine", "utf-8")
    done = place.limpet("demo", "--keep", str(used))
    assert (done.status, [path.name for path in used.iterdir()]) == (2, ["mine.txt"])
    assert "is in use" in done.err


def test_the_day_is_what_its_plot_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """The data file is the one that tools/demo/plot.py makes."""
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "demo"))
    import plot

    assert "".join(plot.the_day()) == DAY.read_text("utf-8")


def test_no_time_in_it_goes_backwards() -> None:
    """The lines stand in the order of their times, as one writer writes them."""
    times = [json.loads(line)["at"] for line in DAY.read_text("utf-8").splitlines()]
    assert times == sorted(times)
