import gzip
import json
import os
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from agentdb import AgentDatabase, message, messages, real_database
from limpet import jsonline
from limpet.errors import BadInput, LimpetError, NotFound
from limpet.runtimes import importing
from limpet.store.takeover import script_record

NOW = 1_800_000_000_000


def hook(name="after_tool_call", **more):
    """Return a hook line as an object."""
    return {"hook": name, "ts": 1777885200000, "ctx": {"agentId": "main"}, "event": {"toolName": "exec"}, **more}


def text_of(*values):
    """Return values as the lines of a file."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def file_of(folder: Path, content: bytes, name="lines.jsonl") -> Path:
    """Write a file that is long finished."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def records_of(path, **more):
    """Return the records that importing a path gives."""
    return [record for batch in importing.read(path, now_ms=NOW, **more) for record in batch.records]


def rejects_of(path):
    """Return what importing a path could not read."""
    return [reject for batch in importing.read(path, now_ms=NOW) for reject in batch.rejects]


def script_database(path: Path, *rows) -> Path:
    """Make a database as the 150-line script does."""
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE TABLE events (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT, session_id TEXT,"
            " event_type TEXT, summary TEXT, details TEXT, tags TEXT)"
        )
        db.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    db.close()
    return path


def row(number, summary="exec executed"):
    """Return a row of that table."""
    return (
        number,
        "2026-05-04T09:00:00.123456",
        "s1",
        "tool_call",
        summary,
        '{"tool": "exec", "success": true}',
        '["tool"]',
    )


def test_hook_lines_are_known_by_one_of_them(tmp_path):
    """Whatever the file is called, and though its first line is broken."""
    path = file_of(tmp_path, b"\n{broken\n" + text_of(hook()), "odd.name")
    assert importing.detect(path) == "hooks"
    assert [(r.source, r.kind) for r in records_of(path)] == [("openclaw.hooks", "after_tool_call")]


def test_a_line_keeps_its_id_producer_and_number(tmp_path):
    """A copy of the spool gives the records that the spool gives."""
    path = file_of(tmp_path, text_of(hook(v=1, id="01a22ba6-28cc-71c6-8a1f-709f90d7d347", producer="p-1", seq=17)))
    assert [(r.id, r.stream, r.seq) for r in records_of(path)] == [("01a22ba628cc71c68a1f709f90d7d347", "p-1", 17)]


def test_lines_without_an_id_are_counted_by_their_repeats(tmp_path):
    """Importing twice adds nothing and real repeats stay (field case F13)."""
    path = file_of(tmp_path, text_of(hook(), hook(), hook("session_end"), hook()))
    first, again = records_of(path), records_of(path)
    assert len({record.id for record in first}) == 4
    assert first == again


def test_the_same_file_from_another_place_gives_the_same_records_in_the_same_order(tmp_path):
    """Neither folder nor name counts, nor what is appended later."""
    lines = text_of(hook(), hook("session_end"), hook())
    here = records_of(file_of(tmp_path / "a", lines))
    there = records_of(file_of(tmp_path / "b", lines + text_of(hook("new")), "other.ndjson"))
    assert [(r.id, r.stream, r.seq) for r in here] == [(r.id, r.stream, r.seq) for r in there[:3]]
    assert [r.seq for r in there] == [1, 2, 3, 4]


def test_transcripts_are_taken_in_every_dialect(tmp_path):
    """OpenClaw's, Claude's, codex's, and an unknown kind of entry in one of them (field case F36)."""
    entries = [
        {"type": "session", "id": "s-94"},
        message(1),
        {"type": "assistant", "uuid": "u1", "sessionId": "c-1", "message": {"content": [{"type": "tool_use"}]}},
        {"type": "session_meta", "payload": {"id": "x-1"}},
        {"type": "response_item", "payload": {"type": "function_call", "call_id": "b3"}},
        {"type": "future_kind", "x": 1},
    ]
    path = file_of(tmp_path, text_of(*entries))
    assert importing.detect(path) == "transcript"
    records = records_of(path)
    assert entries == [r.body["event"] for r in records]
    assert [r.stream for r in records] == ["/s-94", "/s-94", "/c-1", "/x-1", "/x-1", "/x-1"]
    assert {"openclaw.transcripts"} == {r.source for r in records}


def test_a_transcript_without_a_header_belongs_to_the_session_in_its_name(tmp_path):
    """As OpenClaw names its files and archives."""
    path = file_of(tmp_path, text_of(message(1)), "s-5.jsonl.reset.2026-05-04T10-00-00.000Z")
    assert [r.stream for r in records_of(path)] == ["/s-5"]


def test_a_transcript_in_an_agents_folder_belongs_to_that_agent(tmp_path):
    """A backup of OpenClaw's folder says whose it was; any other place does not, and `main` is no guess (F42)."""
    content = text_of({"type": "session", "id": "s"}, message(1))
    inside = file_of(tmp_path / "agents" / "research" / "sessions", content, "s.jsonl")
    assert [records_of(p)[0].body["ctx"].get("agentId") for p in (inside, file_of(tmp_path, content))] == [
        "research",
        None,
    ]


def test_transcript_lines_among_hook_lines_are_both(tmp_path):
    """A recording may hold both witnesses (field case F06)."""
    wrapped = hook("transcript_line", event=message(7))
    path = file_of(tmp_path, text_of(hook("before_tool_call"), wrapped, message(8)))
    assert sorted({(r.source, r.kind) for r in records_of(path)}) == [
        ("openclaw.hooks", "before_tool_call"),
        ("openclaw.transcripts", "transcript_line"),
    ]


def test_what_cannot_be_read_is_kept_and_stops_nothing(tmp_path):
    """Wrong types everywhere, and a line that is not JSON (field case F104)."""
    path = file_of(
        tmp_path, text_of(hook(), {"hook": "x", "ctx": "no object"}) + b"{broken\n[1]\n" + text_of(hook("last"))
    )
    assert [r.kind for r in records_of(path)] == ["after_tool_call", "last"]
    assert [r.where for r in rejects_of(path)] == ["lines.jsonl line 2", "lines.jsonl line 3", "lines.jsonl line 4"]
    assert rejects_of(path)[1].content == b"{broken"


def test_a_last_line_that_is_still_being_written_is_left_for_the_next_time(tmp_path):
    """It is no fault; in a file that nobody writes any more it is (field case F07)."""
    content = text_of(hook()) + b'{"hook":"session_e'
    finished = file_of(tmp_path, content)
    assert [r.where for r in rejects_of(finished)] == ["lines.jsonl line 2"]
    os.utime(finished, (NOW / 1000, NOW / 1000))
    assert rejects_of(finished) == []
    finished.write_bytes(content + b'nd"}\n')
    assert [r.kind for r in records_of(finished)] == ["after_tool_call", "session_end"]


def test_a_last_line_without_an_end_is_taken_when_it_is_whole(tmp_path):
    """Many programs write no newline at the end."""
    assert len(records_of(file_of(tmp_path, text_of(hook()).rstrip()))) == 1


def test_a_line_over_the_limit_is_kept_by_its_head(tmp_path):
    """Lines of any length are passed, and what follows arrives (field case F34)."""
    lengths = (65_535, 65_536, 65_537, 131_072, 1 << 20, jsonline.MAX_LINE + 1)
    path = file_of(tmp_path, b"".join(text_of(hook(x="x" * n), hook("AFTER_LONG_LINE", n=n)) for n in lengths))
    assert 2 * len(lengths) - 1 == len(records_of(path))
    assert [len(reject.content) for reject in rejects_of(path)] == [1 << 16]


def test_batches_are_bounded(tmp_path):
    """A large file is never held whole."""
    path = file_of(tmp_path, text_of(*(hook(n=n) for n in range(2500))))
    assert [len(batch.records) for batch in importing.read(path)] == [1000, 1000, 500]


def test_packed_files_are_read_as_plain_ones(tmp_path):
    """Gzip and zstd, lines and databases."""
    content = text_of(hook(), hook("session_end"))
    plain = records_of(file_of(tmp_path, content))
    script = script_database(tmp_path / "memory.db", row(1))
    for number, pack in enumerate((gzip.compress, zstandard.ZstdCompressor().compress)):
        assert plain == records_of(file_of(tmp_path, pack(content), f"packed{number}"))
        assert records_of(script) == records_of(file_of(tmp_path, pack(script.read_bytes()), f"db{number}"))


def test_the_scripts_database_is_taken_row_by_row(tmp_path):
    """Its times are local to the zone that is given; nothing of a row is lost."""
    path = script_database(tmp_path / "agent_memory.db", *(row(n) for n in range(1, 1203)))
    assert importing.detect(path) == "script"
    records = records_of(path, zone="Europe/Berlin")
    assert [("script", "script_row", n) for n in range(1, 1203)] == [(r.source, r.kind, r.seq) for r in records]
    assert records[0].body == {
        "hook": "script_row",
        "ts": "2026-05-04T09:00:00.123456",
        "ctx": {"zone": "Europe/Berlin"},
        "event": dict(
            zip(("id", "timestamp", "session_id", "event_type", "summary", "details", "tags"), row(1), strict=True)
        ),
    }
    assert {r.id for r in records} == {r.id for r in records_of(path)}


def test_text_in_the_scripts_database_that_is_no_utf8_is_taken(tmp_path):
    """With its bad bytes replaced."""
    path = script_database(tmp_path / "m.db", row(1), row(2))
    with sqlite3.connect(path) as db:
        db.execute("UPDATE events SET summary = CAST(X'636166E9' AS TEXT) WHERE id = 2")
    db.close()
    assert [r.body["event"]["summary"] for r in records_of(path)] == ["exec executed", "caf\ufffd"]


def test_an_agents_database_is_taken_like_the_live_one(tmp_path):
    """134 rows and 3 sessions of a database that OpenClaw 2026.9.6 wrote."""
    path = real_database(tmp_path)
    assert importing.detect(path) == "openclaw"
    records = records_of(path)
    assert 137 == len(records) == len({r.id for r in records})
    assert {"main"} == {r.body["ctx"]["agentId"] for r in records}


def test_a_folder_is_read_with_all_below_it_newest_first(tmp_path):
    """What is nothing to import is passed over; what looks like it and is not is told."""
    old = file_of(tmp_path / "in" / "deep", text_of(hook("old")))
    new = file_of(tmp_path / "in", text_of(hook("new")), "x.ndjson")
    os.utime(old, (1, 1))
    os.utime(new, (2, 2))
    file_of(tmp_path / "in", b"Read me.\n", "README.md")
    file_of(tmp_path / "in", b"no lines of ours\n", "other.jsonl")
    file_of(tmp_path / "in" / ".hidden", text_of(hook("hidden")))
    assert importing.detect(tmp_path / "in") == "folder"
    assert [r.kind for r in records_of(tmp_path / "in")] == ["new", "old"]
    assert [r.where for r in rejects_of(tmp_path / "in")] == ["other.jsonl"]


def test_a_state_folder_of_openclaw_can_be_given(tmp_path):
    """Its database, with older transcripts beside it."""
    gateway = AgentDatabase(tmp_path / "agents" / "main" / "agent" / "openclaw-agent.sqlite")
    gateway.session("s1")
    gateway.append("s1", *messages(2))
    file_of(tmp_path / "agents" / "main" / "sessions", text_of({"type": "session", "id": "s0"}, message(1)), "s0.jsonl")
    assert {"main/s1#window", "main/s1", "main/s0"} == {r.stream for r in records_of(tmp_path)}
    gateway.stop()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"\x7fELF\0\0\0\0" * 100, "is a binary file"),
        (b"Dear diary,\ntoday nothing happened.\n", "holds neither hook lines nor a transcript"),
        (b'[{"hook": "x"},\n {"hook": "y"}]\n', "is one JSON array"),
        (b"SQLite format 3\0" + b"\0" * 4080, "is damaged, or no database"),
        (b"\x1f\x8b\x08\x00damaged", "is damaged"),
        (b"\x28\xb5\x2f\xfddamaged", "is damaged"),
    ],
)
def test_what_is_something_else_is_refused_with_a_sentence(tmp_path, content, sentence):
    """A clear one, with what would work."""
    with pytest.raises(LimpetError, match=sentence) as caught:
        importing.detect(file_of(tmp_path, content, "thing"))
    assert caught.value.hint


def test_what_is_not_there_is_said(tmp_path):
    """A missing file, and a folder with nothing in it."""
    with pytest.raises(NotFound):
        importing.detect(tmp_path / "missing")
    with pytest.raises(BadInput, match="nothing that can be imported"):
        records_of(tmp_path)


def test_a_database_of_limpets_own_is_named_as_such(tmp_path):
    """It is restored, not imported."""
    with sqlite3.connect(tmp_path / "agent_memory.db") as db:
        db.execute("CREATE TABLE record (no INTEGER PRIMARY KEY)")
        db.execute("CREATE VIEW events AS SELECT no AS id FROM record")
    db.close()
    with pytest.raises(BadInput, match="is a Limpet database") as caught:
        importing.detect(tmp_path / "agent_memory.db")
    assert "limpet restore" in caught.value.hint


def test_importing_writes_nothing_beside_what_it_reads(tmp_path):
    """Not even for a script's database in WAL mode."""
    path = script_database(tmp_path / "m.db", row(1))
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode=WAL")
    db.close()
    before = {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()}
    assert len(records_of(path)) == 1
    assert before == {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([hook(), hook("a"), hook("b", id="i1"), message(1), {"type": "note"}, 7]), max_size=20),
    st.sampled_from([b"\n", b"\r\n", b"\n\n"]),
)
def test_importing_twice_is_importing_once(tmp_path_factory, values, end):
    """Whatever the lines are and however they end."""
    folder = tmp_path_factory.mktemp("any")
    content = b"".join(json.dumps(value).encode() + end for value in [hook("first"), *values])
    path = file_of(folder, content)
    first = records_of(path)
    assert first == records_of(path)
    ids = [r.id for r in first if not r.body.get("id") and r.kind != "transcript_line"]
    assert len(ids) == len(set(ids))
    assert len(first) + len(rejects_of(path)) == len(values) + 1


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.one_of(st.binary(max_size=60), st.sampled_from([b"\n", b'{"hook":"x"}', b'{"type":"message"}'])), max_size=30
    )
)
def test_any_bytes_are_read_or_refused(tmp_path_factory, pieces):
    """Nothing but an error of ours comes out, and each line is a record, a reject or blank."""
    content = b"".join(pieces)
    path = file_of(tmp_path_factory.mktemp("any"), content)
    told = 0
    with suppress(LimpetError):
        told = len(records_of(path)) + len(rejects_of(path))
    assert told <= content.count(b"\n") + 1


def test_a_script_database_that_is_imported_and_one_that_is_taken_over_give_the_same_records(tmp_path):
    """No way in counts a row twice."""
    path = script_database(tmp_path / "m.db", row(1), row(2, "zwei"))
    assert [script_record(row(1), "UTC", NOW), script_record(row(2, "zwei"), "UTC", NOW)] == records_of(path)
