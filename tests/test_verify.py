"""`verify` believes nothing: each changed, removed, added or moved byte of what matters is found, and told."""

from __future__ import annotations

import hashlib
import shutil
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest

from lab import Lab, call, entry, hook, message, numbered, text_result
from limpet.lock import Lock
from limpet.memory import Memory
from limpet.store.search import path_of
from limpet.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONG = "a long text " * 400
EVENT_COLUMNS = {
    "id": "id + 4096000", "pos": "pos + (1 << 21)", "arrived_ms": "arrived_ms + 1", "summary": "summary || '.'", "call": "'x'",
    "error": "coalesce(error, '') || 'x'", "duration_ms": "coalesce(duration_ms, 0) + 1", "flags": "'[\"x\"]'",
    "details": "'{}'", "tags": "'[]'", "open": "1 - open",
    **dict.fromkeys(("status", "agent", "session", "session_key"), "(SELECT id FROM name WHERE value = 'gateway')"),
    **dict.fromkeys(("run", "tool", "actor", "trust", "label", "sources"), "(SELECT id FROM name WHERE value = 'gateway')"),
    "type": "(SELECT id FROM name WHERE value = 'main')",
}  # fmt: skip
RECORD_COLUMNS = {
    "no": "no + 1000", "id": "randomblob(16)", "seq": "seq + 1", "arrived_ms": "arrived_ms + 1", "nonce": "randomblob(16)",
    "leaf": "randomblob(32)", "hash": "randomblob(32)",
    **dict.fromkeys(("source", "stream", "kind"), "(SELECT id FROM name WHERE value = 'main')"),
}  # fmt: skip
AUDIT_COLUMNS = {
    "at_ms": "at_ms + 1", "action": "'x'", "call": "'x'", "status": "'x'",
    **dict.fromkeys(("run", "session", "tool"), "(SELECT id FROM name WHERE value = 'gateway')"),
}  # fmt: skip
STREAM_COLUMNS = {
    **{name: f"{name} + 1" for name in ("records", "low", "high", "first_ms", "last_ms")},
    "ended": "1 - ended",
    "source": "(SELECT id FROM name WHERE value = 'main')",
}
CHANGES = {
    **{f"stream.{name}": f"UPDATE stream SET {name} = {to}" for name, to in STREAM_COLUMNS.items()},
    "a stream less": "DELETE FROM stream",
    "a stream more": "INSERT INTO stream SELECT id, id, 1, 1, 1, 1, 1, 0 FROM name WHERE value = 'main'",
    "a stream that says of itself that nothing is missing": "UPDATE stream SET records = high - low + 1, high = high + 5",
    "a day's count": "UPDATE rollup SET n = n + 1 WHERE tool != 0",
    "a day's count elsewhere": "UPDATE rollup SET day = day + 100000 WHERE tool != 0",
    "a day's count less": "DELETE FROM rollup",
    "a day's count more": "INSERT INTO rollup VALUES (1, 1, 1, 1, 1, 1, 1)",
    "a rejected line more": "INSERT INTO tally VALUES ('rejected', 1) ON CONFLICT DO UPDATE SET n = n + 1",
    "the audit's cursor further on": "INSERT OR REPLACE INTO cursor VALUES ('openclaw.audit', 'ledger', '{\"sequence\": 99, \"event_id\": \"a99\"}')",
    "the audit's cursor of no shape": "INSERT OR REPLACE INTO cursor VALUES ('openclaw.audit', 'ledger', '7')",
    **{f"event.{name}": f"UPDATE event SET {name} = {to} WHERE call = 'c-3'" for name, to in EVENT_COLUMNS.items()},
    **{f"record.{name}": f"UPDATE record SET {name} = {to} WHERE no = 3" for name, to in RECORD_COLUMNS.items()},
    **{f"audit.{name}": f"UPDATE audit SET {name} = {to}" for name, to in AUDIT_COLUMNS.items()},
    "an event more": "INSERT INTO event SELECT pos + (1 << 22), id + 1, arrived_ms, type, status, agent, session, session_key, run, 'c-9', tool, actor, trust, label, duration_ms, summary, error, flags, sources, details, tags, open FROM event WHERE call = 'c-3'",
    "an event less": "DELETE FROM event WHERE call = 'c-3'",
    "two events in each other's place": "UPDATE event SET pos = -pos WHERE call IN ('c-3', 'c-5'); UPDATE event SET pos = (SELECT -e.pos FROM event e WHERE e.call = 'c-5' AND e.pos < 0) WHERE call = 'c-3'; UPDATE event SET pos = -pos - 1 WHERE call = 'c-5'",
    "a name": "UPDATE name SET value = 'exe' WHERE value = 'exec'",
    "a sighting less": "DELETE FROM sighting",
    "a sighting elsewhere": "UPDATE sighting SET event = (SELECT id FROM event WHERE call = 'c-3')",
    "a sighting more": "INSERT INTO sighting SELECT 4096 * 77, id FROM event WHERE call = 'c-3'",
    "a key less": "DELETE FROM event_key WHERE event = (SELECT id FROM event WHERE call = 'c-3')",
    "an audited thing less": "DELETE FROM audit",
    "a record's bytes": "UPDATE content SET codec = 0, bytes = cast('{}' AS BLOB) WHERE no = 3",
    "a record's bytes, and those that stand for them": "UPDATE content SET codec = 0, bytes = cast('{}' AS BLOB) WHERE no = 3; UPDATE record SET leaf = randomblob(32) WHERE no = 3",
    "one bit": "UPDATE content SET bytes = cast(substr(bytes, 1, length(bytes) - 1) || x'00' AS BLOB) WHERE no = 3",
    "a packing": "UPDATE content SET codec = 1 - codec WHERE no = 3",
    "a content elsewhere": "UPDATE content SET no = 99 WHERE no = 3",
    "a record less": "DELETE FROM content WHERE no = 3; DELETE FROM record WHERE no = 3",
    "a record forgotten by somebody else": "UPDATE record SET nonce = NULL, leaf = (SELECT leaf FROM record WHERE no = 4) WHERE no = 3; DELETE FROM content WHERE no = 3",
    "a large text": "UPDATE body SET codec = 0, bytes = cast('another' AS BLOB)",
    "a large text under another hash": "UPDATE body SET hash = randomblob(32)",
    "a large text's count": "UPDATE body SET refs = refs + 1",
    "a large text more": "INSERT INTO body (hash, refs, codec, bytes) VALUES (randomblob(32), 1, 0, x'00')",
    "where the last commit ended": "UPDATE meta SET value = '7 00' WHERE name = 'head'",
    "the beginning": "INSERT INTO seal VALUES (2, (SELECT hash FROM record WHERE no = 2), 0, 'pruned', ''); DELETE FROM content WHERE no <= 2; DELETE FROM record WHERE no <= 2",
    "something that may not come any more": "INSERT INTO tombstone VALUES (1, 0, 99999999999999)",
}  # fmt: skip
SCHEMA_CHANGES = {
    "a view that says something else": "DROP VIEW events; CREATE VIEW events AS SELECT 1 AS id, 'nothing happened' AS summary",
    "a view less": "DROP VIEW events",
    "a trigger less": "DROP TRIGGER event_counted",
    "a trigger more": "CREATE TRIGGER odd AFTER INSERT ON record BEGIN DELETE FROM content WHERE no = new.no; END",
    "an index less": "DROP INDEX event_agent",
    "a table more": "CREATE TABLE odd (x)",
}  # fmt: skip
INDEX_CHANGES = {
    "words less": "DELETE FROM text WHERE rowid = (SELECT max(rowid) FROM text)",
    "words more": "INSERT INTO text (rowid, body) VALUES (77, 'never said')",
    "other words": "UPDATE text SET body = 'never said' WHERE rowid = (SELECT max(rowid) FROM text)",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Make a memory with every sort of row: calls by two records, a large text, things counted, one without an end."""
    lab = Lab(tmp_path_factory.mktemp("whole"))
    counted = {
        "event_id": "a1",
        "action": "tool.action.started",
        "status": "ok",
        "kind": "tool",
        "tool_name": "exec",
        "tool_call_id": hashlib.sha256(b"c-3").hexdigest(),
    }
    lab.take(
        numbered(
            [
                hook("gateway_start", {"port": 1}),
                call("c-2", 5, begins=True),
                call("c-3", 20, error="it broke"),
                call("c-2", 10),
                call("c-4", 30, result=text_result(LONG)),
                call("c-5", 40),
                {**hook("audit_event", counted, 21), "source": "openclaw.audit"},
                call("c-6", 60, begins=True),
            ]
        )
    )
    lab.file("t.jsonl", [entry("session", 0, id="s-1"), message(1, "user", "please list the files", 70)])
    lab.imported(lab.folder / "t.jsonl")
    return lab


@pytest.fixture
def copy(whole: Lab, tmp_path: Path) -> Iterator[Lab]:
    """Return a copy of that memory, to be spoilt."""
    lab = Lab(tmp_path)
    lab.db.parent.mkdir(parents=True)
    for path in whole.db.parent.iterdir():
        shutil.copy(path, lab.db.parent / path.name)
    return lab


def change(path: Path, statements: str) -> int:
    """Change a database behind Limpet's back; return how many rows were changed."""
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(statements)
        return connection.total_changes()


def test_what_nobody_changed_has_no_fault(whole: Lab) -> None:
    """Also after a rebuild; the verdict names the head, and how much was read."""
    found = whole.verdict()
    assert (found.faults, found.records, found.begins, found.forgotten) == ((), 10, 0, 0)
    assert whole.limpet("rebuild").status == 0
    assert whole.verdict() == found


@pytest.mark.parametrize("what", CHANGES)
def test_each_change_of_the_database_is_found(copy: Lab, what: str) -> None:
    """Every column of every table that an answer, or the proof of it, is made from."""
    assert change(copy.db, CHANGES[what]) > 0
    assert copy.verdict().faults != ()


def test_any_byte_of_a_record_that_is_another_is_found(copy: Lab) -> None:
    """Each third byte of what a record holds, one after the other."""
    with closing(apsw.Connection(str(copy.db))) as connection:
        codec, content = connection.execute("SELECT codec, bytes FROM content WHERE no = 3").fetchone()
        unseen = []
        for at in range(0, len(content), 3):
            other = bytearray(content)
            other[at] ^= 1
            connection.execute("UPDATE content SET bytes = ? WHERE no = 3", (bytes(other),))
            unseen += [at] if not copy.verdict().faults else []
    assert (codec, unseen) == (2, [])


@pytest.mark.parametrize("what", SCHEMA_CHANGES)
def test_each_change_of_the_schema_is_found(copy: Lab, what: str) -> None:
    """What people read first, and what counts by day, is made of views and triggers; a rebuild makes them again."""
    change(copy.db, SCHEMA_CHANGES[what])
    assert len(copy.verdict().faults) == 1
    assert copy.limpet("rebuild").status == 0
    assert len(copy.verdict().faults) == (1 if "table" in what else 0)


@pytest.mark.parametrize("what", INDEX_CHANGES)
def test_each_change_of_the_index_is_found(copy: Lab, what: str) -> None:
    """Words that are gone, that were added, and that are other ones; `rebuild` mends it."""
    assert change(copy.db.with_name("agent_memory.search.db"), INDEX_CHANGES[what]) > 0
    (fault,) = copy.verdict().faults
    assert "text index" in fault
    assert copy.limpet("rebuild").status == 0
    assert copy.verdict().faults == ()


@pytest.mark.parametrize(
    "what",
    [name for name in CHANGES if name.startswith(("event.", "audit.", "an event", "a day's", "a sighting", "a key"))],
)
def test_a_rebuild_mends_what_is_made_from_the_ledger(copy: Lab, what: str) -> None:
    """Events, sightings, keys and what was counted are as before."""
    before = copy.events()
    change(copy.db, CHANGES[what])
    with copy.recording() as recording:
        recording.recorder.rebuild(lambda _: None)
        while recording.recorder.index():
            pass
    assert copy.events() == before
    assert copy.verdict().faults == ()


def test_a_cursor_that_stands_past_the_ledger_is_found(lab: Lab) -> None:
    """Somebody put it on: what stands before it in the spool's file would never be taken in, and no event is missing."""
    lab.take([call("c-1")])
    path = lab.spool([call("c-2", 2), b"{torn\n", call("c-3", 3)], segment=7)
    assert lab.limpet("verify").status == 0
    lab.spool([call("c-4", 4), call("c-5", 5)], segment=7)
    (path.parent / "producer.json").write_text("{}")  # it may still live, and so its file stays
    end = path.stat().st_size if path.exists() else 0
    for offset, said in ((end, "are not in the ledger"), (end - 3, "the middle of a line")):
        change(lab.db, f"INSERT OR REPLACE INTO cursor VALUES ('spool', 'plugin/7', '{offset}')")
        with Memory(lab.settings, 0.0) as memory:
            assert [said in fault for fault in memory.verify(lambda _: None).faults].count(True) == 1
    assert lab.limpet("verify").status == 5


def test_what_was_forgotten_dropped_or_came_twice_is_no_fault_of_the_books(lab: Lab) -> None:
    """Streams tell of more than the ledger has then, and by no more than went."""
    lines = numbered([hook("gateway_start", {"port": 1}), *(call(f"c-{n}", n) for n in range(9)), hook("limpet_stop")])
    lab.take([*lines, b"{torn\n"])
    lab.take(lines, segment=2)
    assert lab.verdict().faults == ()
    assert lab.limpet("forget", "--yes", "call:c-3").status == 0
    lab.take(lines[3:5], segment=3)
    assert (lab.verdict().faults, lab.limpet("verify").status) == ((), 0)
    assert lab.limpet("prune", "--yes", "--older-than", "1", "--less").status == 0
    lab.take(lines, segment=4)
    assert (lab.verdict().faults, lab.limpet("verify").status) == ((), 0)
    change(lab.db, "UPDATE stream SET records = records + 50")
    assert len(lab.verdict().faults) == 1


def test_a_changed_event_is_named_with_what_of_it_is_wrong(copy: Lab) -> None:
    """One sentence says which event, which column and what to do; the exit status is 5, and the head is printed."""
    change(copy.db, CHANGES["event.summary"])
    done = copy.limpet("verify")
    assert done.status == 5
    assert "does not say what its records give: summary (limpet rebuild makes the events again)" in done.out
    assert copy.verdict().head in done.out


def test_what_openclaw_counted_and_nobody_tells_of_is_a_fault(copy: Lab) -> None:
    """A call that stands in OpenClaw's audit ledger and in no event: somebody lost it."""
    counted = {
        "event_id": "a2",
        "action": "tool.action.started",
        "status": "ok",
        "kind": "tool",
        "tool_call_id": "f" * 64,
    }
    copy.take([{**hook("audit_event", counted, 50), "source": "openclaw.audit", "id": "another"}], producer="later")
    assert copy.verdict().faults == ("OpenClaw's audit ledger counted 1 tool action that no event tells of",)


def test_verifying_beside_a_recorder_that_works_finds_nothing(lab: Lab) -> None:
    """What is committed while it reads is none of its business."""
    with lab.sidecar():
        for number in range(8):
            lab.spool([call(f"c-{number}-{n}", number * 100 + n) for n in range(50)], segment=number + 1)
            assert lab.limpet("verify", "--json").json["faults"] == []


def test_a_damaged_or_missing_index_hides_no_fault_of_the_ledger(copy: Lab) -> None:
    """It is made anew before anything is read; the event that was changed is found all the same."""
    index = copy.db.with_name("agent_memory.search.db")
    change(copy.db, CHANGES["event.summary"])
    for spoil in (lambda: index.write_bytes(b"SQLite format 3\0" + b"\x5a" * 8000), index.unlink):
        spoil()
        said = copy.limpet("verify", "--json")
        assert (said.status, len(said.json["faults"])) == (5, 1)
        assert "summary" in said.json["faults"][0]


def test_where_no_index_can_be_made_that_is_a_fault_of_its_own(copy: Lab) -> None:
    """The rest is verified without it."""
    copy.db.with_name("agent_memory.search.db").unlink()
    with Memory(copy.settings) as memory:
        memory._store = SqliteStore(copy.db, writing=False)
        (fault,) = memory.verify(lambda _: None).faults
    assert "there is no full-text index" in fault


def test_an_index_that_a_recorder_is_about_to_make_is_no_fault(copy: Lab) -> None:
    """As after a rescue: it is a remark as long as somebody records, and a fault when nobody does."""
    path_of(copy.db).unlink()
    lock = Lock(copy.settings.lock)
    assert lock.take()
    found = copy.limpet("verify", "--json")
    lock.release()
    assert (found.status, found.json["faults"]) == (0, [])
    assert "being made" in " ".join(found.json["remarks"])
