import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from agentdb import AgentDatabase, Follower, lines_of, message, messages
from limpet.errors import Unavailable
from limpet.runtimes.openclaw.archives import BATCH_LINES, ArchiveSource
from limpet.runtimes.openclaw.transcripts import TranscriptSource


def header(session: str) -> dict[str, object]:
    """Return the first line of a transcript."""
    return {"type": "session", "id": session, "timestamp": "2026-05-04T09:00:00.000Z", "cwd": "/home/sam/work"}


def text_of(*entries: object) -> bytes:
    """Return entries as the lines of a file."""
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


@pytest.fixture
def folder(tmp_path) -> Path:
    """Give an agent's empty sessions folder."""
    path = tmp_path / "agents" / "main" / "sessions"
    path.mkdir(parents=True)
    return path


def follower(folder: Path, database: Path | None = None) -> Follower:
    """Return a recorder of that folder that has read nothing yet."""
    return Follower(ArchiveSource("main", folder, database))


def test_a_transcript_file_is_read_line_by_line(folder):
    """The session is the one that the header names; the line's number is its place."""
    (folder / "s-77.jsonl").write_bytes(text_of(header("s-77"), *messages(2)))
    records = follower(folder).follow()
    assert lines_of(records) == ["s-77", "m0", "m1"]
    assert [("openclaw.transcripts", "main/s-77", n) for n in range(3)] == [
        (r.source, r.stream, r.seq) for r in records
    ]


def test_a_half_written_last_line_waits_until_it_is_whole(folder):
    """Nothing moves past it, and a complete broken line blocks nothing (field case F07)."""
    path = folder / "s-77.jsonl"
    whole = text_of(header("s-77"), message(1), message(2)) + b'{"type":"message","id":"e_bad","timestamp":\n'
    last = text_of(message(5))
    path.write_bytes(whole + text_of(message(3), message(4)) + last[:59])
    reader = follower(folder)
    assert lines_of(reader.follow()) == ["s-77", "m1", "m2", "m3", "m4"]
    assert [(r.where, r.content) for r in reader.rejects] == [
        ("s-77.jsonl line 4", b'{"type":"message","id":"e_bad","timestamp":')
    ]
    assert reader.follow() == []
    with path.open("ab") as file:
        file.write(last[59:])
    assert lines_of(reader.follow()) == ["m5"]
    assert len(reader.rejects) == 1


def test_a_file_that_was_rewritten_shorter_is_read_from_its_start(folder):
    """A compaction leaves a summary and the last entries; nothing is told twice, nothing is forgotten (field case F11)."""
    path = folder / "s-90.jsonl"
    path.write_bytes(text_of(header("s-90"), *messages(10, 1)))
    reader = follower(folder)
    assert len(reader.follow()) == 11
    compaction = {"type": "compaction", "id": "c1", "timestamp": "2026-05-04T09:00:20.000Z", "summary": "turns 1-8"}
    path.write_bytes(text_of(header("s-90"), compaction, *messages(5, 9)))
    after = reader.follow()
    assert lines_of(after) == ["c1", "m11", "m12", "m13"]
    assert min(record.seq for record in after) > 10
    path.unlink()
    assert reader.follow() == []
    assert reader.cursor == {}
    assert len(reader.records) == 15


def test_a_file_that_was_replaced_by_a_longer_one_is_read_from_its_start(folder):
    """It is known by what stands before the place where reading would go on."""
    path = folder / "s.jsonl"
    path.write_bytes(text_of(header("s"), message(1)))
    reader = follower(folder)
    reader.follow()
    path.write_bytes(text_of(header("s"), {**message(1), "id": "a1"}, *messages(3, 20)))
    assert lines_of(reader.follow()) == ["a1", "m20", "m21", "m22"]


def test_a_renamed_or_copied_file_adds_nothing(folder):
    """A reset renames the file; a resumed session copies it and is another one (field case F17)."""
    first = text_of(header("s-A"), *messages(6))
    (folder / "s-A.jsonl").write_bytes(first)
    reader = follower(folder)
    reader.follow()
    (folder / "s-A.jsonl").rename(folder / "s-A.jsonl.reset.2026-05-04T10-00-00.000Z")
    assert reader.follow() == []
    (folder / "s-A.jsonl").write_bytes(first)
    assert reader.follow() == []
    (folder / "s-B.jsonl").write_bytes(text_of(header("s-B"), *messages(9)))
    assert {"main/s-B"} == {record.stream for record in reader.follow()}
    assert reader.follow() == []


def test_packed_archives_are_read_as_plain_ones(folder):
    """What OpenClaw leaves of a deleted session."""
    name = "s1.jsonl.deleted.2026-11-30T08-46-15.098Z.bc9ef42347c54cb6b705603c0c139a34.zst"
    (folder / name).write_bytes(zstandard.ZstdCompressor().compress(text_of(header("s1"), *messages(1200))))
    reader = follower(folder)
    first = reader.read()
    assert (len(first.records), first.more) == (BATCH_LINES, True)
    assert ["s1", *(f"m{n}" for n in range(1200))] == lines_of([*first.records, *reader.follow()])


def test_a_row_of_the_database_and_its_archive_are_one_record(tmp_path):
    """The same entry has the same id, wherever it stands and however its keys are ordered."""
    gateway = AgentDatabase(tmp_path / "agents" / "main" / "agent" / "openclaw-agent.sqlite")
    gateway.session("s1")
    entries = [header("s1"), *messages(3), {"type": "note", "x": 1}, {"type": "note", "x": 1}]
    gateway.append("s1", *entries, packed=True)
    live = Follower(TranscriptSource("main", gateway.path)).follow()
    sessions = tmp_path / "agents" / "main" / "sessions"
    sessions.mkdir()
    turned = [dict(reversed(entry.items())) for entry in entries]
    (sessions / "s1.jsonl.deleted.2026-05-04T10-00-00.000Z").write_bytes(text_of(*turned))
    archived = follower(sessions).follow()
    assert {r.id for r in live if r.kind == "transcript_line"} == {r.id for r in archived}
    assert [r.seq for r in live if r.kind == "transcript_line"] == [r.seq for r in archived]
    gateway.stop()


def test_the_session_key_of_an_archived_session_is_known(tmp_path):
    """From the database's list of archives, and from the older sessions.json."""
    gateway = AgentDatabase(tmp_path / "agents" / "main" / "agent" / "openclaw-agent.sqlite")
    gateway.db.execute(
        "INSERT INTO session_transcript_archives VALUES ('gone', 'g', 'agent:main:lab1', 'deleted', 'identity', X'', 'n', 0)"
    )
    sessions = tmp_path / "agents" / "main" / "sessions"
    sessions.mkdir()
    store = {"agent:main:sub": {"sessionId": "old", "spawnedBy": "agent:main:main"}, "agent:main:odd": None}
    (sessions / "sessions.json").write_text(json.dumps(store))
    for session in ("gone", "old", "other"):
        (sessions / f"{session}.jsonl").write_bytes(text_of(header(session)))
    found = {r.body["ctx"]["sessionId"]: r.body["ctx"] for r in follower(sessions, gateway.path).follow()}
    assert found == {
        "gone": {"agentId": "main", "sessionId": "gone", "sessionKey": "agent:main:lab1"},
        "old": {"agentId": "main", "sessionId": "old", "sessionKey": "agent:main:sub", "spawnedBy": "agent:main:main"},
        "other": {"agentId": "main", "sessionId": "other"},
    }
    gateway.stop()


def test_cold_storage_is_read(folder):
    """A transcript that OpenClaw moved out of its database keeps its rows and their numbers."""
    (folder / "cold").mkdir()
    lines = [
        {"kind": "header", "version": 1, "sessionId": "s1", "generation": "g"},
        *(
            {"kind": "event", "row": {"seq": n, "event_json": json.dumps(message(n)), "created_at": 1}}
            for n in (0, 1, 7)
        ),
        {"kind": "identity", "row": {"event_id": "m0", "seq": 0, "created_at": 1}},
    ]
    packed = zstandard.ZstdCompressor().compress(text_of(*lines))
    (folder / "cold" / f"{'a' * 64}.jsonl.zst").write_bytes(packed)
    reader = follower(folder)
    records = reader.follow()
    assert [(r.body["event"]["id"], r.seq) for r in records] == [("m0", 0), ("m1", 1), ("m7", 7)]
    assert {"main/s1"} == {r.stream for r in records}
    assert reader.rejects == []


def test_what_is_no_transcript_is_left_alone(folder):
    """Trajectories, the store itself and migrated originals."""
    for name in ("s1.trajectory.jsonl", "sessions.json", "s1.jsonl.migrated", "s1.trajectory-path.json", "notes.txt"):
        (folder / name).write_bytes(text_of(message(1)))
    assert follower(folder).follow() == []


def test_a_snapshot_of_a_compaction_belongs_to_its_session(folder):
    """An older OpenClaw copied the transcript before it compacted it."""
    entries = text_of(header("s1"), *messages(3))
    (folder / "s1.jsonl").write_bytes(entries)
    (folder / "s1.checkpoint.123e4567-e89b-42d3-a456-426614174000.jsonl").write_bytes(entries)
    assert lines_of(follower(folder).follow()) == ["s1", "m0", "m1", "m2"]


def test_dialects_and_unknown_entries_are_kept_as_they_are(folder):
    """Codex's items, Claude's blocks and what nobody knows yet (field case F36)."""
    entries = [
        {
            "type": "message",
            "id": "n3",
            "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "b2"}]},
        },
        {"type": "response_item", "timestamp": "t", "payload": {"type": "function_call", "call_id": "b3"}},
        {"type": "future_kind", "id": "n7", "x": 1},
    ]
    (folder / "s-94.jsonl").write_bytes(text_of(*entries))
    assert entries == [record.body["event"] for record in follower(folder).follow()]


def test_an_entry_that_has_a_row_of_its_own_is_no_cold_storage(folder):
    """Only lines without a type can be."""
    entry = {"type": "custom", "id": "c1", "kind": "event", "row": {"a": 1}}
    (folder / "s.jsonl").write_bytes(text_of(entry))
    assert [entry] == [record.body["event"] for record in follower(folder).follow()]


def test_any_bytes_are_taken_in_any_locale(folder):
    """Bad bytes are replaced and flagged; CRLF and a BOM in mid-file do no harm (field case F30)."""
    (folder / "s-93.jsonl").write_bytes(
        b'{"type":"session","id":"s-93"}\r\n'
        b'{"type":"message","id":"b1","message":{"content":"caf\xe9 GAMMA77"}}\r\n'
        b'{"type":"message","id":"b2","message":{"content":"\xe2\x80\x9cquotes\xe2\x80\x9d \xf0\x9f\x98\x80"}}\n'
        b'\xef\xbb\xbf{"type":"message","id":"b3","message":{"content":"BOM"}}\n'
    )
    program = (
        "import sys, json, pathlib, agentdb\n"
        "from limpet.runtimes.openclaw.archives import ArchiveSource\n"
        "records = agentdb.Follower(ArchiveSource('main', pathlib.Path(sys.argv[1]))).follow()\n"
        "print(json.dumps([r.body for r in records]))\n"
    )
    environment = {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "LANG": "C",
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }
    said = subprocess.run(
        [sys.executable, "-c", program, str(folder)], env=environment, check=True, capture_output=True
    )
    bodies = json.loads(said.stdout)
    assert [b["event"].get("message", {}).get("content") for b in bodies] == [
        None,
        "caf\ufffd GAMMA77",
        "“quotes” 😀",
        "BOM",
    ]
    assert [b.get("flags") for b in bodies] == [None, ["invalid_utf8"], None, None]


def test_equal_lines_without_an_id_are_told_apart_however_reading_is_cut(folder):
    """Their how-many-th repeat is counted from the start of the file, also after a restart."""
    path = folder / "s.jsonl"
    same = text_of({"type": "note", "timestamp": "t"})
    path.write_bytes(same * 2)
    reader = follower(folder)
    reader.follow()
    path.write_bytes(same * 5)
    reader.source = ArchiveSource("main", folder)
    assert len(reader.follow()) == 3
    assert reader.records.keys() == {record.id for record in follower(folder).follow()}


def test_a_line_over_the_limit_is_kept_by_its_head_and_the_next_one_arrives(folder):
    """17 MB on one line (field case F34)."""
    (folder / "s.jsonl").write_bytes(text_of(message(1, "x" * (17 << 20)), message(2, "AFTER_LONG_LINE")))
    reader = follower(folder)
    assert lines_of(reader.follow()) == ["m2"]
    assert [len(reject.content) for reject in reader.rejects] == [1 << 16]


def test_a_damaged_archive_is_told_once_and_stops_nothing(folder):
    """What can be unpacked of it is kept."""
    packed = zstandard.ZstdCompressor().compress(os.urandom(200_000).hex().encode())
    (folder / "bad.jsonl.reset.2026-05-04T10-00-00.000Z.zst").write_bytes(
        packed[:50_000] + b"\0" * 999 + packed[60_000:]
    )
    (folder / "good.jsonl").write_bytes(text_of(header("good")))
    reader = follower(folder)
    assert lines_of(reader.follow()) == ["good"]
    assert [reject.where for reject in reader.rejects] == ["bad.jsonl.reset.2026-05-04T10-00-00.000Z.zst"]
    reader.follow()
    assert len(reader.rejects) == 1


def test_a_folder_that_cannot_be_read_is_said(folder):
    """A file that stands in its place, say."""
    folder.rmdir()
    folder.write_bytes(b"")
    with pytest.raises(Unavailable, match="cannot be read"):
        follower(folder).read()


def test_a_folder_that_is_not_there_is_no_fault(tmp_path):
    """A new installation has no older transcripts."""
    assert follower(tmp_path / "sessions").follow() == []


def test_the_newest_file_comes_first(folder):
    """So that what is of interest now is answerable first."""
    for age, session in enumerate(("new", "old")):
        path = folder / f"{session}.jsonl"
        path.write_bytes(text_of(header(session)))
        os.utime(path, (1_790_000_000 - age, 1_790_000_000 - age))
    assert lines_of(follower(folder).follow()) == ["new", "old"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 400), max_size=6), st.booleans())
def test_any_cut_of_the_bytes_gives_the_same_records(tmp_path_factory, cuts, restart):
    """A file that grows in any steps is read as one that was whole from the start."""
    folder = tmp_path_factory.mktemp("any")
    content = (
        text_of(header("s"), message(1), {"type": "note"}, {"type": "note"}) + b'{"broken\r\n\n' + text_of(message(2))
    )
    reader = follower(folder)
    for end in [*sorted(min(cut, len(content)) for cut in cuts), len(content)]:
        (folder / "s.jsonl").write_bytes(content[:end])
        if restart:
            reader.source = ArchiveSource("main", folder)
        reader.follow()
    (folder / "other").mkdir()
    (folder / "other" / "s.jsonl").write_bytes(content)
    at_once = follower(folder / "other")
    at_once.follow()
    assert list(at_once.records) == list(reader.records)
    assert at_once.rejects == reader.rejects
    assert len(at_once.records) == 5
