import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentdb import AgentDatabase, Follower, lines_of, message, messages, real_database
from limpet.errors import Unavailable
from limpet.runtimes.openclaw.transcripts import BATCH_ROWS, TranscriptSource


@pytest.fixture
def gateway(tmp_path):
    """Give a gateway's agent database, with no session yet."""
    database = AgentDatabase(tmp_path / "agents" / "main" / "agent" / "openclaw-agent.sqlite")
    yield database
    database.stop()


def follower(gateway) -> Follower:
    """Return a recorder of that database that has read nothing yet."""
    return Follower(TranscriptSource("main", gateway.path))


def listing(folder: Path) -> list[tuple[str, int, int]]:
    """Return what stands in a folder: names, sizes and times of change."""
    return sorted((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in folder.iterdir())


def test_every_row_of_a_real_database_becomes_one_record(tmp_path):
    """134 rows and 3 sessions of a database that OpenClaw 2026.9.6 wrote."""
    records = Follower(TranscriptSource("main", real_database(tmp_path))).follow()
    assert {kind: sum(record.kind == kind for record in records) for kind in ("transcript_line", "session_window")} == {
        "transcript_line": 134,
        "session_window": 3,
    }


def test_a_record_says_what_the_row_said(gateway):
    """The entry is the event, its time the record's, and the session's names are the context."""
    gateway.session("s1", "agent:main:sub", spawned_by="agent:main:main", parent_session_key="agent:main:main")
    gateway.append("s1", message(0, "hello"))
    _, record = follower(gateway).follow()
    assert (record.source, record.stream, record.seq) == ("openclaw.transcripts", "main/s1", 0)
    assert record.body == {
        "hook": "transcript_line",
        "ts": "2026-09-21T10:00:00.000Z",
        "ctx": {
            "agentId": "main",
            "sessionId": "s1",
            "sessionKey": "agent:main:sub",
            "spawnedBy": "agent:main:main",
            "parentSessionKey": "agent:main:main",
        },
        "event": message(0, "hello"),
    }


def test_the_newest_session_comes_first_and_each_from_its_start(gateway):
    """On first contact what is of interest now is answerable first."""
    for session in ("old", "new"):
        gateway.session(session, f"agent:main:{session}")
        gateway.append(session, *({**entry, "id": f"{session}{n}"} for n, entry in enumerate(messages(3))))
    assert lines_of(follower(gateway).follow()) == ["new0", "new1", "new2", "old0", "old1", "old2"]


def test_a_batch_is_bounded_and_says_that_there_is_more(gateway):
    """1,200 rows come in three batches, and the source knows how many are left."""
    gateway.session("s1")
    gateway.append("s1", *messages(1200))
    reader = follower(gateway)
    first = reader.read()
    assert (len(first.records), first.more, reader.source.left) == (BATCH_ROWS, True, 1200 - BATCH_ROWS + 1)
    assert [f"m{n}" for n in range(1200)] == lines_of([*first.records, *reader.follow()])
    assert reader.source.left == 0


def test_a_large_row_closes_the_batch(gateway):
    """A batch ends after about 4 MB, however few rows that are."""
    gateway.session("s1")
    gateway.append("s1", *(message(n, "x" * 3_000_000) for n in range(4)))
    reader = follower(gateway)
    assert lines_of(reader.read().records) == ["m0", "m1"]
    assert lines_of(reader.follow()) == ["m2", "m3"]


def test_new_rows_of_a_live_session_come_before_the_rest_of_the_backlog(gateway):
    """A session that was read to its end goes first, even when another one claims to be newer."""
    gateway.session("backlog", "agent:main:backlog")
    gateway.append("backlog", *messages(1500))
    gateway.session("live", "agent:main:live")
    gateway.append("live", {**message(0), "id": "live0"})
    reader = follower(gateway)
    assert lines_of(reader.read().records)[0] == "live0"
    gateway.append("live", {**message(1), "id": "live1"})
    gateway.db.execute("UPDATE session_windows SET updated_at = 4102444800000 WHERE session_id = 'backlog'")
    assert lines_of(reader.read().records)[0] == "live1"


def test_reading_again_gives_nothing(gateway):
    """Twice is once."""
    gateway.session("s1")
    gateway.append("s1", *messages(3))
    reader = follower(gateway)
    reader.follow()
    assert ((batch := reader.read()).records, batch.cursor) == ((), {})


def test_another_process_that_starts_from_nothing_makes_the_same_records(gateway):
    """Ids come from the content, so a lost cursor doubles nothing."""
    gateway.session("s1")
    gateway.append("s1", *messages(5), packed=True)
    assert follower(gateway).follow() == follower(gateway).follow()


def test_packed_rows_are_read_as_plain_ones(gateway):
    """Whether OpenClaw compressed a row makes no other record of it."""
    gateway.session("s1")
    gateway.append("s1", message(0))
    gateway.append("s1", message(1), packed=True)
    assert lines_of(follower(gateway).follow()) == ["m0", "m1"]


def test_new_rows_are_seen_by_the_next_read(gateway):
    """Also when they come in the same millisecond as the last look."""
    gateway.session("s1")
    reader = follower(gateway)
    reader.follow()
    for number in range(20):
        gateway.append("s1", message(number))
        assert lines_of(reader.follow()) == [f"m{number}"]


def test_a_rewritten_transcript_is_read_again_and_doubles_nothing(gateway):
    """The generation says that rows changed; what stayed the same has the same id."""
    gateway.session("s1")
    gateway.append("s1", *messages(4))
    reader = follower(gateway)
    reader.follow()
    gateway.db.execute("DELETE FROM transcript_events WHERE seq >= 2")
    gateway.append("s1", message(2), message(9, "rewritten"), message(10))
    gateway.generation("s1", "g2")
    assert lines_of(reader.follow()) == ["m9", "m10"]


def test_a_transcript_that_became_shorter_is_read_again(gateway):
    """Even without another generation."""
    gateway.session("s1")
    gateway.append("s1", *messages(6))
    reader = follower(gateway)
    reader.follow()
    gateway.db.execute("DELETE FROM transcript_events WHERE seq >= 1")
    gateway.append("s1", {**message(1), "id": "other"})
    assert lines_of(reader.follow()) == ["other"]


def test_a_session_that_is_deleted_deletes_nothing(gateway):
    """Its place in the cursor goes, its records stay, and the others go on."""
    gateway.session("s1", "agent:main:one")
    gateway.session("s2", "agent:main:two")
    gateway.append("s1", *messages(3))
    reader = follower(gateway)
    reader.follow()
    gateway.db.execute("DELETE FROM session_nodes WHERE session_key = 'agent:main:one'")
    assert dict(reader.read().cursor) == {"s1": None}
    assert len(reader.records) == 5
    gateway.append("s2", {**message(0), "id": "x0"})
    assert lines_of(reader.follow()) == ["x0"]


def test_rows_that_were_moved_to_cold_storage_delete_nothing(gateway):
    """The session stays without its rows, and is not read again when they come back."""
    gateway.session("s1")
    gateway.append("s1", *messages(3))
    reader = follower(gateway)
    reader.follow()
    gateway.db.execute("CREATE TEMP TABLE away AS SELECT * FROM transcript_events; DELETE FROM transcript_events")
    assert reader.follow() == []
    gateway.db.execute("INSERT INTO transcript_events SELECT * FROM away")
    assert reader.follow() == []


def test_a_replaced_file_is_read_from_its_start(gateway):
    """Another file under the same name is another transcript."""
    gateway.session("s1")
    gateway.append("s1", *messages(5))
    reader = follower(gateway)
    reader.follow()
    gateway.stop()
    other = AgentDatabase(gateway.path.with_name("other.sqlite"))
    other.session("s1")
    other.append("s1", *messages(2), {**message(2), "id": "restored"})
    other.stop()
    other.path.replace(gateway.path)
    assert lines_of(reader.follow()) == ["restored"]


def test_reading_writes_nothing_and_hinders_no_clean_stop(gateway):
    """While the gateway lives nothing in its folder changes, and its last close takes the log away as ever."""
    gateway.session("s1")
    gateway.append("s1", *messages(3))
    before = listing(gateway.path.parent)
    reader = follower(gateway)
    assert len(reader.follow()) == 4
    assert before == listing(gateway.path.parent)
    gateway.stop()
    assert [path.name for path in gateway.path.parent.iterdir()] == ["openclaw-agent.sqlite"]


def test_a_stopped_gateway_can_be_read(gateway):
    """With no log beside it, and none made."""
    gateway.session("s1")
    gateway.append("s1", *messages(3))
    gateway.stop()
    assert lines_of(follower(gateway).follow()) == ["m0", "m1", "m2"]
    assert [path.name for path in gateway.path.parent.iterdir()] == ["openclaw-agent.sqlite"]


def killed_gateway(tmp_path: Path) -> Path:
    """Leave what a gateway leaves that was killed: rows in the log that never came into the file."""
    path = tmp_path / "killed" / "openclaw-agent.sqlite"
    program = (
        "import os, pathlib, signal, sys, agentdb\n"
        "g = agentdb.AgentDatabase(pathlib.Path(sys.argv[1]))\n"
        "g.db.execute('PRAGMA wal_autocheckpoint=0')\n"
        "g.session('s1')\n"
        "g.append('s1', *agentdb.messages(3))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", program, str(path)], env=environment, check=False)
    assert ended.returncode == -signal.SIGKILL
    return path


@pytest.mark.parametrize("index", [True, False])
def test_a_killed_gateway_can_be_read_and_nothing_is_written(tmp_path, index):
    """The rows are in the log only; the log's index may be there or gone."""
    path = killed_gateway(tmp_path)
    if not index:
        path.with_name("openclaw-agent.sqlite-shm").unlink()
    before = listing(path.parent)
    assert lines_of(Follower(TranscriptSource("main", path)).follow()) == ["m0", "m1", "m2"]
    assert before == listing(path.parent)


def test_the_gateway_starts_again_after_we_read_what_it_left(tmp_path):
    """What comes after the restart is followed from where we were."""
    path = killed_gateway(tmp_path)
    reader = Follower(TranscriptSource("main", path))
    reader.follow()
    with apsw.Connection(str(path)) as again:
        again.execute(
            "INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES ('s1', 3, '{\"id\":\"m3\"}', 0)"
        )
    assert lines_of(reader.follow()) == ["m3"]
    again.close()


def test_an_unknown_version_with_all_that_is_needed_is_read_and_said(gateway):
    """A newer OpenClaw is followed as long as it can be understood."""
    gateway.session("s1")
    gateway.append("s1", message(0))
    gateway.db.pragma("user_version", 99)
    reader = follower(gateway)
    assert lines_of(reader.follow()) == ["m0"]
    assert (reader.source.schema, reader.source.knows_schema) == (99, False)


def test_an_unknown_schema_is_refused_with_a_plain_sentence(gateway):
    """It names the version and what is missing."""
    gateway.db.execute("ALTER TABLE transcript_events RENAME COLUMN event_json TO content")
    gateway.db.pragma("user_version", 24)
    with pytest.raises(Unavailable, match=r"version 24, without transcript_events\.event_json") as caught:
        follower(gateway).read()
    assert caught.value.code == "schema_unknown"


@pytest.mark.parametrize(
    ("content", "code"),
    [(b"no database" * 1000, "damaged"), (b"SQLite format 3\0" + b"x" * 5000, "damaged")],
)
def test_what_is_no_database_is_said(tmp_path, content, code):
    """With a code that programs can go by."""
    path = tmp_path / "openclaw-agent.sqlite"
    path.write_bytes(content)
    with pytest.raises(Unavailable) as caught:
        Follower(TranscriptSource("main", path)).read()
    assert caught.value.code == code


def test_a_database_that_went_away_is_said_and_one_that_never_was_is_not(gateway, tmp_path):
    """An older OpenClaw has none, which is no fault."""
    assert Follower(TranscriptSource("main", tmp_path / "none.sqlite")).follow() == []
    gateway.session("s1")
    reader = follower(gateway)
    reader.follow()
    gateway.stop()
    gateway.path.unlink()
    with pytest.raises(Unavailable) as caught:
        reader.read()
    assert caught.value.code == "missing"


def test_an_empty_file_has_an_unknown_schema(tmp_path):
    """A database that is just being made is not there yet, but it is no damage."""
    path = tmp_path / "openclaw-agent.sqlite"
    path.touch()
    with pytest.raises(Unavailable) as caught:
        Follower(TranscriptSource("main", path)).read()
    assert caught.value.code == "schema_unknown"


def test_a_broken_row_is_kept_with_its_reason_and_stops_nothing(gateway):
    """Three rows that cannot be read among three that can."""
    gateway.session("s1")
    gateway.append("s1", message(0), '{"type":"message","id":', message(1))
    gateway.append("s1", message(2), packed=True)
    gateway.append("s1", message(3))
    gateway.db.execute("UPDATE transcript_events SET event_zstd = X'28B52FFD00112233' WHERE seq = 3")
    gateway.db.execute("UPDATE transcript_events SET event_zstd = X'00' WHERE seq = 3 AND 0")
    reader = follower(gateway)
    assert lines_of(reader.follow()) == ["m0", "m1", "m3"]
    assert [reject.where for reject in reader.rejects] == ["main/s1 row 1", "main/s1 row 3"]
    assert reader.rejects[0].content == b'{"type":"message","id":'


def test_a_row_longer_than_the_longest_line_is_kept_by_its_head(gateway):
    """Over 16 MiB a row is counted and its beginning kept (field case F34)."""
    gateway.session("s1")
    gateway.append("s1", message(0, "x" * (17 << 20)), message(1))
    reader = follower(gateway)
    assert lines_of(reader.follow()) == ["m1"]
    assert [(len(r.content), r.content.startswith(b'{"type"')) for r in reader.rejects] == [(1 << 16, True)]


def test_strange_text_is_taken(gateway):
    """Half a surrogate pair, NaN, a huge number and bytes that are no UTF-8 (field cases F26, F30, F39, F40)."""
    gateway.session("s1")
    gateway.append(
        "s1",
        r'{"id":"a","x":"\ud83d"}',
        '{"id":"b","x":NaN}',
        '{"id":"c","x":' + "9" * 5000 + "}",
        '{"id":"d","x":"?"}',
    )
    gateway.db.execute(
        "UPDATE transcript_events SET event_json = CAST(X'7B226964223A2264222C2278223A22FF227D' AS TEXT) WHERE seq = 3"
    )
    reader = follower(gateway)
    records = reader.follow()
    assert lines_of(records) == ["a", "b", "c", "d"]
    assert [record.body.get("flags") for record in records[1:]] == [None, None, None, ["invalid_utf8"]]
    assert reader.rejects == []


def test_equal_entries_without_an_id_are_told_apart_by_their_order(gateway):
    """Real repeats stay, however the reading is cut."""
    gateway.session("s1")
    same = {"type": "note", "timestamp": "2026-09-21T10:00:00.000Z"}
    gateway.append("s1", same, same)
    reader = follower(gateway)
    reader.follow()
    gateway.append("s1", same)
    reader.follow()
    at_once = follower(gateway).follow()
    assert 4 == len(at_once) == len(reader.records)
    assert {record.id for record in at_once} == reader.records.keys()


def test_a_session_is_told_when_it_begins_and_when_the_next_one_ends_it(gateway):
    """A run that ended well is no news of the session."""
    gateway.session("s1")
    reader = follower(gateway)
    assert {"session_id": "s1", "session_key": "agent:main:main", "session_scope": "conversation"}.items() <= (
        reader.follow()[0].body["event"].items()
    )
    gateway.db.execute("UPDATE session_windows SET status = 'done', started_at = 5, ended_at = 6, updated_at = 7")
    assert reader.follow() == []
    gateway.session("s2", previous_session_id="s1", reason="rollover")
    ended, began = reader.follow()
    assert (began.body["event"]["session_id"], began.body["event"]["previous_session_id"]) == ("s2", "s1")
    assert ("s1", gateway.clock_ms, "s2", "rollover") == tuple(
        ended.body["event"][name] for name in ("session_id", "ended_at", "next_session_id", "reason")
    )


def test_a_run_that_failed_is_told_with_its_times_and_its_id(gateway):
    """For the days on which nobody else was watching."""
    gateway.session("s1")
    gateway.append("s1", message(0))
    reader = follower(gateway)
    reader.follow()
    gateway.db.execute("UPDATE session_windows SET status = 'timeout', started_at = 5, ended_at = 6")
    gateway.db.execute("""UPDATE session_nodes SET entry_json = '{"lastRunId":"r-1"}'""")
    (record,) = reader.follow()
    assert {"run_status": "timeout", "run_started_at": 5, "run_ended_at": 6, "run_id": "r-1"}.items() <= record.body[
        "event"
    ].items()
    assert record.stream == "main/s1#window"


def test_an_odd_path_is_a_path(tmp_path):
    """Spaces, signs of a URI and other scripts (field case F71)."""
    database = AgentDatabase(tmp_path / "a b?c#d%41 ünï 文" / "openclaw-agent.sqlite")
    database.session("s1")
    database.append("s1", message(0))
    assert lines_of(follower(database).follow()) == ["m0"]
    database.stop()


def test_a_cursor_that_was_not_committed_is_read_again(gateway):
    """When the recorder could not commit, the same cursor gives the same rows."""
    gateway.session("s1")
    gateway.append("s1", *messages(2))
    source = TranscriptSource("main", gateway.path)
    assert source.read({}, 1_795_000_000_000).records == source.read({}, 1_795_000_000_000).records


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(1, 40), st.booleans(), st.booleans()), min_size=1, max_size=12
    )
)
def test_any_cut_of_the_writing_gives_the_same_records(tmp_path_factory, steps):
    """However writes and reads interleave: everything once, in each session's own order."""
    database = AgentDatabase(tmp_path_factory.mktemp("any") / "openclaw-agent.sqlite")
    for session in "abc":
        database.session(session, f"agent:main:{session}")
    reader, written = follower(database), 0
    for session, count, packed, reads in steps:
        database.append(session, *messages(count, written), packed=packed)
        written += count
        if reads:
            reader.follow()
    reader.follow()
    at_once = follower(database).follow()
    assert {record.id for record in at_once} == reader.records.keys()
    assert sorted(f"m{number}" for number in range(written)) == sorted(lines_of(at_once))
    by_session = [[r.seq for r in reader.records.values() if r.stream == f"main/{s}"] for s in "abc"]
    assert all(numbers == list(range(len(numbers))) for numbers in by_session)
    database.stop()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 380_000), st.integers(0, 255)), min_size=1, max_size=80))
def test_a_damaged_database_is_read_as_far_as_it_goes_or_refused(tmp_path_factory, changes):
    """Whatever bytes stand in it, nothing but Unavailable comes out."""
    path = real_database(tmp_path_factory.mktemp("damaged"))
    content = bytearray(path.read_bytes())
    for place, byte in changes:
        content[place] = byte
    path.write_bytes(content)
    reader = Follower(TranscriptSource("main", path))
    with suppress(Unavailable):
        reader.follow()
    assert len(reader.records) <= 137 + len(changes)
