"""A copy of a memory is whole and verified, is made while recording goes on, and comes back only where it may."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from lab import Lab, call, hook
from limpet import clock
from limpet.memory import Memory
from limpet.upkeep import copies


@pytest.fixture
def told(lab: Lab) -> Lab:
    """Return a memory of five calls."""
    lab.take([hook("gateway_start", {"port": 1}), *(call(f"c-{n}", 10 + n) for n in range(5))])
    return lab


def backed_up(lab: Lab, *arguments: str) -> dict:
    """Back up and return what the command says of it."""
    done = lab.limpet("backup", "--json", *arguments)
    assert done.status == 0, done.out + done.err
    return done.json


def modes(*paths: Path) -> list[str]:
    """Return the permissions of files."""
    return [stat.filemode(path.stat().st_mode) for path in paths]


def test_a_copy_is_whole_private_and_ends_with_the_same_seal(told: Lab) -> None:
    """It is one file, for its owner alone whatever the umask says, and `verify` and `ask` work on it."""
    said = backed_up(told, str(told.folder / "copies" / "a.db"))
    copy = Path(said["path"])
    assert (said["records"], said["events"], said["head"]) == (6, len(told.events()), told.verdict().head)
    assert said["seal"] == f"6:{said['head']}"
    assert modes(copy, copy.parent) == ["-rw-------", "drwx------"]
    assert [path.name for path in copy.parent.iterdir()] == ["a.db"]
    asked = told.limpet("ask", "--db", str(copy), "--json", "type:tool_call").json
    assert asked["count"] == 5


def test_a_folder_gets_a_copy_named_after_the_time(told: Lab) -> None:
    """So that a cron job needs no name."""
    said = backed_up(told, str(told.folder))
    assert Path(said["path"]).name.startswith("agent_memory-20")


def test_a_folder_that_is_not_there_yet_is_made(told: Lab) -> None:
    """`limpet backup ~/backups/` is no file of that name, the first time either; without the slash it is one."""
    (copy,) = [Path(backed_up(told, f"{told.folder}/later/")["path"])]
    assert (copy.parent, copy.name[:15], *modes(copy.parent)) == (
        told.folder / "later",
        "agent_memory-20",
        "drwx------",
    )
    assert Path(backed_up(told, str(told.folder / "plain"))["path"]) == told.folder / "plain"
    assert told.limpet("backup", f"{told.folder}/plain/").status == 4


def test_a_file_that_is_there_is_not_replaced_unless_it_is_said(told: Lab) -> None:
    """It may be the only copy."""
    path = told.folder / "a.db"
    path.write_text("mine")
    done = told.limpet("backup", str(path))
    assert (done.status, path.read_text()) == (2, "mine")
    assert "say --replace" in done.err.lower()
    backed_up(told, "--replace", str(path))
    assert path.read_bytes().startswith(b"SQLite format 3")


def test_a_copy_is_made_beside_a_sidecar_that_records(told: Lab) -> None:
    """Every copy is whole as of one moment, and recording loses nothing meanwhile."""
    with told.sidecar():
        for number in range(5):
            told.spool([call(f"d-{number}-{n}", 1000 + n) for n in range(40)], segment=number + 2)
            backed_up(told, "--replace", str(told.folder / "a.db"))
    assert len(told.events("tool_call")) == 205


def test_a_memory_with_a_fault_gives_no_copy(told: Lab) -> None:
    """A copy that cannot be trusted must not take the place of one that can."""
    with closing(apsw.Connection(str(told.db))) as connection:
        connection.execute("UPDATE record SET arrived_ms = 1 WHERE no = 3")
    done = told.limpet("backup", str(told.folder / "a.db"))
    assert done.status == 5
    assert "The copy has a fault: record 3 was changed" in done.err
    assert not (told.folder / "a.db").exists()


def test_a_copy_comes_back_in_a_new_place(told: Lab, tmp_path: Path) -> None:
    """Every event, the index too; the ledger says that it was put back."""
    said = backed_up(told, str(told.folder / "a.db"))
    other = Lab(tmp_path / "other")
    other.folder.mkdir()
    assert other.limpet("restore", said["path"]).status == 0
    assert [e.summary for e in other.events("tool_call")] == [e.summary for e in told.events("tool_call")]
    assert len(other.found("make")) == 5
    found = other.verdict()
    assert (found.faults, found.records) == ((), 7)
    assert modes(other.db, other.db.parent) == ["-rw-------", "drwx------"]


def test_a_memory_that_is_there_is_moved_aside_with_its_log(told: Lab) -> None:
    """Only where it is said; no log of the one lies beside the other, and nothing is deleted."""
    said = backed_up(told, str(told.folder / "a.db"))
    told.take([call("late", 100)], producer="later")
    reader = apsw.Connection(str(told.db))  # keeps the log in place
    reader.execute("SELECT count(*) FROM record").fetchall()
    refused = told.limpet("restore", said["path"])
    assert refused.status == 2
    assert "moved aside, not deleted" in refused.err
    done = told.limpet("restore", "--replace", "--json", said["path"])
    reader.close()
    assert done.status == 0
    assert len(told.events("tool_call")) == 5
    aside = Path(done.json["aside"])
    with closing(apsw.Connection(str(aside))) as connection:
        assert connection.execute("SELECT count(*) FROM event WHERE call = 'late'").get == 1
    assert told.verdict().faults == ()


def test_nothing_is_put_back_under_a_sidecar(told: Lab) -> None:
    """It would go on writing into the file that was moved away."""
    said = backed_up(told, str(told.folder / "a.db"))
    with told.sidecar():
        done = told.limpet("restore", "--replace", said["path"])
    assert (done.status, len(told.events("tool_call"))) == (4, 5)


def test_a_damaged_copy_is_not_put_back(told: Lab) -> None:
    """Nothing is changed, and nothing half done is left."""
    path = Path(backed_up(told, str(told.folder / "a.db"))["path"])
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("DELETE FROM content WHERE no = 3")
    before = sorted(p.name for p in told.db.parent.iterdir())
    done = told.limpet("restore", "--replace", str(path))
    assert done.status == 5
    assert sorted(p.name for p in told.db.parent.iterdir()) == before
    assert told.limpet("restore", str(told.folder / "nothing.db")).status == 3
    path.write_text("no database")
    assert told.limpet("restore", "--replace", str(path)).status == 2
    assert len(told.events("tool_call")) == 5


def test_what_was_recorded_after_the_copy_is_not_hushed_up(told: Lab) -> None:
    """A note's seal from behind the copy is a remark once the ledger says that it was put back, and a fault before."""
    said = backed_up(told, str(told.folder / "a.db"))
    (told.state / "workspace").mkdir()
    told.take([call("late", 100)], producer="later")
    assert told.limpet("note", "--date", "2026-06-01", "--now", "2026-06-02T09:00:00+00:00").status == 0
    restored = told.limpet("restore", "--replace", said["path"])
    assert restored.status == 0
    found = told.limpet("verify", "--json").json
    assert (found["ok"], len(found["remarks"])) == (True, 2)
    for path in told.db.parent.glob("agent_memory.*"):
        path.unlink()
    shutil.copy(said["path"], told.db)
    found = told.limpet("verify", "--json").json
    assert "the note of 2026-06-01" in "".join(found["faults"])


def test_a_backup_is_a_seal(told: Lab) -> None:
    """`verify` holds the ledger against every backup that lies where it was made."""
    backed_up(told, str(told.folder / "a.db"))
    found = told.limpet("verify", "--json").json
    assert (found["ok"], found["seals"]) == (True, 2)
    with closing(apsw.Connection(str(told.db))) as connection:
        connection.execute("DELETE FROM content WHERE no > 4; DELETE FROM record WHERE no > 4")
        connection.execute(
            "UPDATE meta SET value = '4 ' || (SELECT lower(hex(hash)) FROM record WHERE no = 4) WHERE name = 'head'"
        )
    assert told.limpet("rebuild").status == 0
    done = told.limpet("verify")
    assert done.status == 5
    assert f"the backup {told.folder / 'a.db'} has the seal of record 6" in done.out


def test_a_memory_that_cannot_be_read_is_moved_aside_and_the_copy_put_back(told: Lab) -> None:
    """That is when one needs a copy."""
    said = backed_up(told, str(told.folder / "a.db"))
    with told.db.open("r+b") as file:
        file.write(b"\x5a" * 8192)
    done = told.limpet("restore", "--replace", "--json", said["path"])
    assert done.status == 0, done.out + done.err
    assert Path(done.json["aside"]).read_bytes()[:8192] == b"\x5a" * 8192
    assert (len(told.events("tool_call")), told.verdict().faults) == (5, ())


def test_a_copy_is_made_each_day_and_a_few_are_kept(told: Lab) -> None:
    """Where the settings name a folder; another file in it is nobody's business."""
    (told.home / "config.toml").write_text(f'backups = "{told.folder}/nightly"\nbackups_kept = 2\n')
    folder = told.folder / "nightly"
    folder.mkdir()
    (folder / "mine.db").write_text("mine")
    half = folder / "agent_memory-20010101T000000Z.db.half"  # of one that was killed
    half.write_text("half")
    os.utime(half, (1, 1))
    for day in range(4):
        with Memory(told.settings) as memory:
            assert copies.nightly(memory, clock.now_ms()).startswith("6 records copied to")
            assert copies.nightly(memory, clock.now_ms()) == ""
        (made,) = [path for path in folder.glob("agent_memory-*Z.db") if "2001" not in path.name]
        made.rename(folder / f"agent_memory-2001010{day + 1}T000000Z.db")
        os.utime(folder / f"agent_memory-2001010{day + 1}T000000Z.db", (day, day))
    with Memory(told.settings) as memory:
        copies.nightly(memory, clock.now_ms())
    assert [path.name[:21] for path in sorted(folder.iterdir())][:1] == ["agent_memory-20010104"]
    assert len(list(folder.iterdir())) == 3
