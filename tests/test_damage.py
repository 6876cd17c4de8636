"""Files that were cut, replaced, deleted or damaged under Limpet's hands: nothing is lost silently, nothing stops."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from lab import NOON, Lab, until
from limpet.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path

LONG = "a long text " * 400
CALL = {"runId": "r", "sessionId": "s", "agentId": "main"}


def note(number: int, text: str = "something") -> dict:
    """Return the line of a note."""
    event = {"type": "note", "summary": f"{text} {number}"}
    return {
        "id": f"{number:032x}",
        "ts": NOON + number,
        "hook": "limpet_add",
        "ctx": {"sessionId": "s"},
        "event": event,
    }


def call(name: str) -> list[dict]:
    """Return the two lines of a tool call."""
    said = {"toolName": "exec", "toolCallId": name, "params": {"command": LONG + name}}
    return [
        {"id": f"{name}-1", "ts": NOON, "hook": "before_tool_call", "ctx": CALL, "event": said},
        {"id": f"{name}-2", "ts": NOON + 9, "hook": "after_tool_call", "ctx": CALL, "event": {**said, "result": "ok"}},
    ]


def change(lab: Lab, *statements: str) -> None:
    """Change the database as somebody else would."""
    with closing(sqlite3.connect(lab.db)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def spoil(path: Path) -> None:
    """Overwrite everything after the first page with what means nothing."""
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\x5a" * (path.stat().st_size - 4096))


def test_a_segment_that_was_cut_and_written_anew_is_read_from_its_start(lab: Lab):
    """A file shorter than what was read of it is another file; its records are not skipped, and none counts twice."""
    path = lab.spool([note(1), note(2), note(3)])
    (path.parent / "producer.json").unlink()
    lab.drain()
    path.write_bytes(b"")
    lab.spool([note(2), note(4)])
    lab.drain()
    assert [e.summary for e in lab.events()] == ["something 1", "something 2", "something 3", "something 4"]


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: path.symlink_to("/etc/hostname")])
def test_what_is_no_plain_file_in_the_spool_stops_nothing(lab: Lab, make):
    """A folder, pipe or link where a segment should be: what others wrote is taken in all the same."""
    odd = lab.home / "spool" / "odd"
    odd.mkdir(parents=True)
    make(odd / "1.jsonl")
    assert [e.summary for e in lab.take([note(1)])] == ["something 1"]


def test_a_database_replaced_under_the_sidecar_loses_nothing_that_waits(lab: Lab):
    """An older copy put back while the sidecar runs gets what comes after, and the deleted file gets no more."""
    lab.take([note(1)])
    copy = lab.folder / "copy.db"
    copy.write_bytes(lab.db.read_bytes())
    with lab.sidecar():
        lab.spool([note(2)], segment=2)
        until(lambda: len(lab.events()) == 2, "the sidecar records")
        lab.db.with_name(f"{lab.db.name}-wal").unlink()
        lab.db.with_name(f"{lab.db.name}-shm").unlink()
        copy.rename(lab.db)
        lab.spool([note(3)], segment=3)
        until(lambda: "something 3" in [e.summary for e in lab.events()], "the new line is in the copy")


def test_a_database_deleted_under_the_recorder_keeps_the_spool(lab: Lab):
    """What was committed to a file that is gone stays in the spool, for the next one."""
    lab.spool([note(1)])
    with lab.recording() as recording:
        lab.db.unlink()
        with pytest.raises(Exception, match="replaced or deleted"):
            recording.round()
    assert lab.left_in_spool() == ["plugin/1.jsonl"]


def test_a_damaged_index_is_named_and_rebuilt(lab: Lab):
    """A text search says which file is damaged, and `rebuild`, which it names, mends it."""
    lab.take([note(1, "apple")])
    index = lab.db.with_name("agent_memory.search.db")
    spoil(index)
    asked = lab.limpet("ask", '"apple"')
    assert asked.status == 4
    assert f"index {index} is damaged" in asked.err
    assert lab.limpet("rebuild").status == 0
    assert [e.summary for e in lab.found("apple")] == ["apple 1"]


def test_a_damaged_index_mends_itself_with_the_next_event(lab: Lab):
    """The recorder throws a damaged index away and makes it anew."""
    lab.take([note(1, "apple")])
    spoil(lab.db.with_name("agent_memory.search.db"))
    lab.take([note(2, "apple")], segment=2)
    assert [e.summary for e in lab.found("apple")] == ["apple 2", "apple 1"]


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("UPDATE content SET bytes = x'28b52ffd00', codec = 1 WHERE no = 1", "record 1 cannot be read"),
        ("UPDATE content SET codec = 9 WHERE no = 1", "record 1 cannot be read"),
        ("DELETE FROM body", "record 1 has lost the text"),
        ("UPDATE body SET bytes = x'00'", "record 1 has lost the text"),
        ("DELETE FROM meta WHERE name = 'head'", "where the last commit ended is not known any more"),
    ],
)
def test_damage_is_a_fault_that_is_found_and_not_one_of_ours(lab: Lab, damage: str, found: str):
    """`verify` reads on past what is damaged or missing, says what it is, and ends with status 5."""
    lab.take(call("c1"))
    change(lab, damage)
    done = lab.limpet("verify")
    assert (done.status, done.err) == (5, "")
    assert found in done.out


def test_a_script_database_that_cannot_be_taken_over_is_not_copied_again_and_again(lab: Lab):
    """Where another table is in the way nothing is changed, and no attempt leaves a copy behind."""
    lab.db.parent.mkdir(parents=True)
    columns = "id INTEGER PRIMARY KEY, timestamp TEXT, session_id TEXT, event_type TEXT, summary TEXT, details TEXT, tags TEXT"
    change(lab, f"CREATE TABLE events ({columns})", "CREATE TABLE record (a)")
    assert lab.limpet("rebuild").status == 4
    assert [path.name for path in lab.db.parent.glob("*.before-limpet-*")] == []


def test_a_database_that_is_taken_over_is_for_its_owner_alone(lab: Lab):
    """The script's file may be readable by all; what Limpet adds to it is not."""
    lab.db.parent.mkdir(parents=True)
    columns = "id INTEGER PRIMARY KEY, timestamp TEXT, session_id TEXT, event_type TEXT, summary TEXT, details TEXT, tags TEXT"
    change(lab, f"CREATE TABLE events ({columns})")
    lab.db.chmod(0o644)
    lab.limpet("rebuild")
    assert {path.stat().st_mode & 0o777 for path in lab.db.parent.iterdir()} == {0o600}


def test_the_index_of_another_database_is_never_asked_in_its_place(tmp_path: Path):
    """It is said, not answered with a zero; and the next recording makes it anew."""
    lab, other = Lab(tmp_path / "one"), Lab(tmp_path / "two")
    lab.take([note(1, "zebra")])
    other.take([note(2, "walrus")])
    index, foreign = (one.db.with_name("agent_memory.search.db") for one in (lab, other))
    index.write_bytes(foreign.read_bytes())
    for end in ("-wal", "-shm"):
        index.with_name(index.name + end).unlink(missing_ok=True)
    with pytest.raises(Unavailable, match="belongs to another database"):
        lab.found("zebra")
    assert lab.limpet("ask", "--json", '"zebra"').json["count"] == 1
    assert [event.summary for event in lab.found("zebra")] == ["zebra 1"]
    assert lab.found("walrus") == []
    assert lab.verdict().faults == ()
