"""Dropping what is old: the chain goes on from a seal, what a note cites is kept, and nothing old comes back."""

from __future__ import annotations

import re
from contextlib import closing

import apsw
import pytest

from lab import NOON, Lab, call, hook, numbered, text_result

DAY = 86_400_000
LATER = NOON + 400 * DAY
NOW = ["--now", str(LATER)]
OLD = [
    hook("gateway_start", {"port": 1}),
    *(call(f"old-{n}", n, result=text_result("old words " * 300)) for n in range(8)),
]
NEW = [call(f"new-{n}", 399 * DAY + n) for n in range(3)]


@pytest.fixture
def aged(lab: Lab) -> Lab:
    """Return a memory of eight old calls and three new ones."""
    lab.take(numbered([*OLD, *NEW]))
    return lab


def pruned(lab: Lab, *arguments: str) -> dict:
    """Drop what is older than a year and return what the command says of it."""
    done = lab.limpet("prune", "--older-than", "365", "--yes", "--json", *NOW, *arguments)
    assert done.status == 0, done.out + done.err
    return done.json


def calls(lab: Lab) -> list[str]:
    """Return the calls that are left, oldest first."""
    return [event.call for event in lab.events("tool_call")]


def test_what_is_old_goes_and_a_seal_stands_in_its_place(aged: Lab) -> None:
    """The ledger begins after it, verifies, and the file holds none of its bytes."""
    said = pruned(aged)
    assert (said["records"], said["erased"], calls(aged)) == (9, 9, ["new-0", "new-1", "new-2"])
    found = aged.verdict()
    assert (found.faults, found.begins, found.forgotten) == ((), 9, 0)
    assert not any(b"old-3" in path.read_bytes() for path in aged.db.parent.iterdir())
    assert aged.limpet("rebuild").status == 0
    assert aged.verdict() == found
    assert found.seal == f"{found.begins + found.records}:{found.head}"
    assert aged.limpet("verify", "--against", found.seal).status == 0


def test_the_dry_run_changes_nothing(aged: Lab) -> None:
    """It says how many records would go."""
    done = aged.limpet("prune", "--older-than", "365", "--dry-run", *NOW)
    assert (done.status, len(calls(aged))) == (0, 11)
    assert done.out.startswith("9 records from before 2026-07-06")


def test_less_than_half_a_year_is_kept_only_where_that_is_meant(aged: Lab) -> None:
    """A slip of the finger drops nothing."""
    done = aged.limpet("prune", "--older-than", "18", "--yes", *NOW)
    assert (done.status, len(calls(aged))) == (2, 11)
    assert aged.limpet("prune", "--older-than", "18", "--less", "--yes", *NOW).status == 0
    assert len(calls(aged)) == 3


def test_what_a_note_cites_is_kept_and_the_note_stays(aged: Lab) -> None:
    """`limpet show` still opens each number of an old note."""
    (aged.state / "workspace").mkdir()
    assert aged.limpet("note", "--date", "2026-06-01", "--now", "2026-06-02T09:00:00+00:00").status == 0
    note = (aged.state / "workspace" / "memory" / "2026-06-01.md").read_text("utf-8")
    cited = {int(n) for said in re.findall(r"\[([\d, ]+)\]", note) for n in said.split(", ")}
    assert cited
    aged.take([call(f"uncited-{n}", 3 * DAY + n) for n in range(4)], producer="later")
    assert pruned(aged)["records"] == 4
    assert cited <= {event.id for event in aged.events()}
    assert "uncited-0" not in calls(aged)
    assert aged.limpet("note", "--date", "2026-06-01", *NOW).status == 0
    assert (aged.state / "workspace" / "memory" / "2026-06-01.md").read_text("utf-8") == note
    assert aged.limpet("verify").status == 0


def test_what_is_old_does_not_come_back(aged: Lab) -> None:
    """However often it is read; what is new is taken in."""
    pruned(aged)
    aged.imported(aged.file("again.jsonl", [*numbered(OLD), call("new-9", 399 * DAY + 9)]))
    assert calls(aged) == ["new-0", "new-1", "new-2", "new-9"]


def test_answers_about_that_time_say_that_it_was_dropped(aged: Lab) -> None:
    """A zero must not look like a quiet day."""
    pruned(aged)
    answer = aged.limpet("ask", "--json", *NOW, "on:2026-06-01").json
    assert (answer["count"], answer["coverage"]["state"] != "complete") == (0, True)
    assert any("dropped by age" in gap["why"] for gap in answer["coverage"]["gaps"])


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE seal SET no = 5",
        "UPDATE seal SET hash = randomblob(32)",
        "DELETE FROM seal",
        "DELETE FROM record WHERE no < 11",
    ],
)
def test_the_seal_at_the_beginning_cannot_be_changed_unseen(aged: Lab, change: str) -> None:
    """A record of the ledger vouches for it."""
    pruned(aged)
    with closing(apsw.Connection(str(aged.db))) as connection:
        connection.execute(change)
    assert aged.verdict().faults != ()


def test_pruning_again_and_forgetting_in_between_leaves_a_whole_chain(aged: Lab) -> None:
    """What was forgotten and what it left go with the rest when they are old enough."""
    assert aged.limpet("forget", "--yes", "--now", str(NOON + DAY), "call:old-3").status == 0
    pruned(aged)
    assert aged.verdict().faults == ()
    done = aged.limpet("prune", "--older-than", "200", "--yes", "--now", str(LATER + 400 * DAY))
    assert done.status == 0
    assert (calls(aged), aged.verdict().faults) == ([], ())


def retained(lab: Lab, now_ms: int) -> str:
    """Do what the settings say, as the sidecar does at that time; return what it says."""
    from limpet.memory import Memory
    from limpet.upkeep import pruning

    with Memory(lab.settings) as memory:
        return pruning.retain(memory, now_ms)


def test_the_settings_announce_before_they_act(aged: Lab) -> None:
    """A week before, in words; nothing is dropped until then, and too few days are refused."""
    from limpet.memory import Memory
    from limpet.upkeep import pruning

    (aged.home / "config.toml").write_text("keep_days = 365\n")
    with Memory(aged.settings) as memory:
        assert pruning.retain(memory, LATER).startswith(
            "From 2027-07-13 on, what is older than 365 days will be dropped"
        )
    with Memory(aged.settings) as memory:
        assert pruning.retain(memory, LATER + DAY) == ""
        assert len(calls(aged)) == 11
    assert "what is old will be dropped" in "".join(aged.limpet("status", "--json").json["upkeep"])
    with Memory(aged.settings) as memory:
        assert pruning.retain(memory, LATER + 8 * DAY) == "9 records older than 365 days were dropped."
    assert calls(aged) == ["new-0", "new-1", "new-2"]
    (aged.home / "config.toml").write_text("keep_days = 36\n")
    assert aged.limpet("status").status == 2


def test_a_clock_that_jumps_drops_nothing(aged: Lab) -> None:
    """Ten years ahead all would be old: that is announced anew, and so it is when the clock is right again."""
    (aged.home / "config.toml").write_text("keep_days = 365\n")
    retained(aged, LATER)
    assert retained(aged, LATER + 8 * DAY) == "9 records older than 365 days were dropped."
    aged.take([call(f"late-{n}", 30 * DAY + n) for n in range(2)], "late")
    ahead = LATER + 3650 * DAY
    assert [retained(aged, ahead + hours * DAY // 4)[:5] for hours in range(3)] == ["From ", "", ""]
    assert calls(aged) == ["new-0", "new-1", "new-2"]
    aged.take([call("after", 400 * DAY)], "after")
    assert calls(aged) == ["new-0", "new-1", "new-2", "after"]
    assert [retained(aged, LATER + days * DAY)[:5] for days in (365, 366)] == ["From ", ""]


def test_other_settings_are_announced_like_the_first(aged: Lab) -> None:
    """Whoever keeps less from now on has a week to think of it."""
    (aged.home / "config.toml").write_text("keep_days = 399\n")
    retained(aged, LATER)
    (aged.home / "config.toml").write_text("keep_days = 365\n")
    assert retained(aged, LATER + 8 * DAY).startswith("From 2027-07-21 on, what is older than 365 days")
    assert len(calls(aged)) == 11
    assert retained(aged, LATER + 15 * DAY) == "9 records older than 365 days were dropped."


def test_a_limit_in_megabytes_drops_the_oldest(aged: Lab) -> None:
    """As much as it takes, the disk really gets it back, and never of the last half year (field case F61)."""
    from limpet.memory import Memory
    from limpet.upkeep import pruning

    (aged.home / "config.toml").write_text("keep_mb = 1\n")
    with aged.store() as store:
        assert store.find.bounds()[2] > 0
    aged.take(
        [call(f"bulk-{n}", 100 * DAY + n, result=text_result(f"{n} {'%x' % n**99 * 60}")) for n in range(700)], "bulk"
    )
    with Memory(aged.settings) as memory:
        assert pruning.size_mb(memory) > 1
        pruning.retain(memory, LATER)
    with Memory(aged.settings) as memory:
        pruning.retain(memory, LATER + 8 * DAY)
    with Memory(aged.settings) as memory:
        assert pruning.size_mb(memory) < 1
    assert calls(aged) == ["new-0", "new-1", "new-2"]
