"""Field cases of lost events: restarts, kills, stuck claims, half lines, short processes, failed deliveries, backlogs."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab import NOON, Lab, call, ended, hook, iso, kill, message, numbered, raw, text_result, until
from limpet import clock
from limpet.spool.reader import SpoolSource

PRODUCE = """
import sys
from pathlib import Path
from limpet.spool.writer import Writer
pen = Writer(Path(sys.argv[1]), "openclaw.hooks")
for n in range(int(sys.argv[2])):
    event = {"toolName": "exec", "toolCallId": f"{sys.argv[3]}-{n}", "params": {"n": n}, "result": "ok"}
    pen.append("after_tool_call", event, {"agentId": "main", "sessionId": "s-1", "runId": "r-1"})
    print(event["toolCallId"], flush=True)
"""
"""A producer: each id that it prints was handed over."""

DRAIN_AND_DIE = """
import os, signal, sys
from limpet import settings
from limpet.recording import Recording
recording = Recording.open(settings.load())
left = int(sys.argv[2])
def die(*_):
    global left
    left -= 1
    if left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return False
db = recording.store.connection
{"row": db.set_update_hook, "commit": db.set_commit_hook, "committed": db.set_wal_hook}[sys.argv[1]](die)
while recording.round():
    pass
"""
"""A recorder that is killed at the n-th row, just before the n-th commit, or just after it."""


def ids(lab: Lab) -> list[str]:
    """Return the call ids of every tool call, sorted."""
    return sorted(event.call for event in lab.events("tool_call"))


# Field case F02: events in a process that goes


def test_a_sidecar_that_is_killed_again_and_again_loses_nothing(lab: Lab):
    """What a producer handed over while the sidecar was killed eight times is in the store once (field case F02)."""
    chance = random.Random(2)
    given_over: list[str] = []
    for turn in range(8):
        sidecar = lab.start("run")
        producer = lab.python("-c", PRODUCE, str(lab.home / "spool"), "60", f"t{turn}")
        given_over += [producer.stdout.readline().strip() for _ in range(chance.randrange(5, 60))]
        kill(sidecar)
        given_over += producer.stdout.read().split()
        ended(producer)
    lab.drain()
    assert len(given_over) == 480
    assert ids(lab) == sorted(given_over)
    assert lab.verdict().faults == ()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_sidecar_that_is_told_to_end_takes_in_what_is_there(lab: Lab, number: int):
    """At a polite end it ends with status 0, and what it left is taken in by the next command."""
    with lab.sidecar() as sidecar:
        done = lab.code(PRODUCE, str(lab.home / "spool"), "300", "x")
        sidecar.send_signal(number)
        assert ended(sidecar).status == 0
    assert lab.limpet("recent", "--limit", "1", "--json").json["count"] == 300
    assert ids(lab) == sorted(done.out.split())
    assert lab.settings.socket.exists() is False


def test_an_update_while_events_come_in_loses_nothing(lab: Lab):
    """An old and a new sidecar at once: one records, the other says so and ends, and nothing is doubled."""
    with lab.sidecar() as old:
        producer = lab.python("-c", PRODUCE, str(lab.home / "spool"), "400", "x")
        second = lab.limpet("run")
        assert (second.status, second.err.strip()) == (0, "A sidecar is already running here.")
        old.terminate()
        ended(old)
        with lab.sidecar():
            given_over = ended(producer).out.split()
            until(lambda: len(lab.left_in_spool()) == 0, "the new sidecar has taken in everything")
    assert ids(lab) == sorted(given_over)


def test_a_producer_that_is_killed_loses_nothing_that_it_handed_over(lab: Lab):
    """Each event is in a file before `append` returns: SIGKILL takes none of them."""
    with lab.sidecar():
        producer = lab.python("-c", PRODUCE, str(lab.home / "spool"), "100000", "x")
        given_over = [producer.stdout.readline().strip() for _ in range(200)]
        producer.send_signal(signal.SIGKILL)
        given_over += producer.stdout.read().split()
        ended(producer)
    lab.drain()
    assert set(given_over) <= set(ids(lab))
    assert len(ids(lab)) - len(given_over) in (0, 1)  # at most the one that was written and not yet told


# Field case F03: a batch that was begun and not ended


@pytest.mark.parametrize(("where", "when"), [("row", 1), ("row", 100), ("row", 400), ("commit", 1), ("committed", 1)])
def test_a_batch_that_was_interrupted_is_taken_in_again_once(lab: Lab, where: str, when: int):
    """Killed inside the transaction, before or after its commit: 120 events once, none stuck (field case F03)."""
    lab.spool([call(f"b-{n:03}", n, tool="read") for n in range(120)])
    assert lab.code(DRAIN_AND_DIE, where, str(when)).status == -signal.SIGKILL
    told = lab.limpet("status", "--json").json
    assert told["pending_bytes"] == 0
    assert ids(lab) == [f"b-{n:03}" for n in range(120)]
    assert (len(lab.records()), lab.verdict().faults, lab.left_in_spool()) == (120, (), [])


def test_a_lock_of_a_dead_recorder_holds_nobody_up(lab: Lab):
    """The lock goes with the process, its file may stay."""
    with lab.sidecar() as sidecar:
        kill(sidecar)
    assert lab.settings.lock.exists()
    lab.spool([call("c-1")])
    assert lab.limpet("recent", "--json", "--now", iso(99)).json["count"] == 1
    with lab.sidecar():
        assert lab.answers()


# Field case F04: a sidecar that is slow, stopped or broken


LOG_FIFTY = """
import sys, time
from limpet import init_db, log_event
conn = init_db()
print("ready", flush=True); sys.stdin.readline()
longest = 0.0
for n in range(50):
    began = time.monotonic()
    log_event(conn, "note", f"n{n}")
    longest = max(longest, time.monotonic() - began)
print(longest)
"""


def test_logging_never_waits_for_a_sidecar_that_hangs(lab: Lab):
    """With the sidecar stopped in its tracks 50 events are handed over at once, and taken in when it goes on (F04)."""
    with lab.sidecar() as sidecar:
        client = subprocess.Popen(
            [sys.executable, "-c", LOG_FIFTY],
            env=lab.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=lab.folder,
        )  # fmt: skip
        assert client.stdout.readline() == "ready\n"
        sidecar.send_signal(signal.SIGSTOP)
        out, _ = client.communicate("go\n", timeout=30)
        assert float(out) < 5.0
        sidecar.send_signal(signal.SIGCONT)
        until(lambda: len(lab.events("note")) == 50, "the sidecar has taken in what was logged")


def test_a_question_to_a_sidecar_that_hangs_is_answered_with_what_is_there(lab: Lab):
    """It waits a bounded time, says what is missing, and exits 0."""
    lab.take([call("c-1")])
    with lab.sidecar() as sidecar:
        sidecar.send_signal(signal.SIGSTOP)
        lab.spool([call("c-2", 1)], producer="late")
        told = lab.limpet("recent", "--json", "--now", iso(99)).json
        sidecar.send_signal(signal.SIGCONT)
    assert [event["call"] for event in told["events"]] == ["c-1"]
    assert (told["coverage"]["state"], told["coverage"]["pending_bytes"] > 0) == ("partial", True)


@pytest.mark.parametrize(
    "answer", [b"", b"not json\n", b'{"error": {"code": "x"}}\n', b"[]\n", b'"ok"\n', b"\xff\xfe\n"]
)
def test_a_socket_that_talks_nonsense_breaks_nothing(lab: Lab, answer: bytes):
    """Whatever answers there, an event is added and found."""
    serve = (
        "import socket, sys\n"
        "s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(5); print('up', flush=True)\n"
        "while True:\n    c, _ = s.accept(); c.recv(9999); c.sendall(bytes.fromhex(sys.argv[2])); c.close()\n"
    )
    lab.home.mkdir(parents=True)
    path = lab.home / "limpet.sock"
    server = lab.python("-c", serve, str(path), answer.hex())
    assert server.stdout.readline() == "up\n"
    done = lab.limpet("add", "note", "still here", LIMPET_HOME=str(lab.home))
    kill(server)
    assert done.status == 0, done.err
    path.unlink()
    lab.drain()
    assert [event.summary for event in lab.events()] == ["still here"]


def test_a_dead_socket_is_replaced(lab: Lab):
    """The socket file of a killed sidecar neither blocks the next one nor a command."""
    with lab.sidecar() as sidecar:
        kill(sidecar)
    assert lab.settings.socket.exists()
    assert lab.limpet("add", "note", "x").status == 0
    with lab.sidecar():
        assert lab.answers()


# Field case F06: a restart in the middle of a call


REPAIRED = message(
    7, "toolResult", text_result("[runtime] no result after the restart; placeholder by transcript repair")["content"],
    15_000, toolCallId="f-1", toolName="exec", isError=True, synthetic=True,
)  # fmt: skip


def interrupted() -> list[dict]:
    """Return a call's begin, the gateway's next start, and the result that the runtime made up."""
    repaired = {**hook("transcript_line", REPAIRED, 15_000), "source": "openclaw.transcripts"}
    return [call("f-1", 0, begins=True), hook("gateway_start", {"port": 18789}, 14_000), repaired]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1)])
def test_a_call_that_a_restart_interrupted_is_one_call_and_no_failure(lab: Lab, order: tuple[int, ...]):
    """Interrupted, marked synthetic, no second row, not among the failures, whatever comes first (field case F06)."""
    for n in order:
        lab.take([interrupted()[n]], segment=n + 1)
    (event,) = lab.events("tool_call")
    assert (event.call, event.status, event.flags, event.error) == ("f-1", "interrupted", ("synthetic",), "")
    assert lab.events("tool_call", **{"is": "error"}) == []


def test_a_made_up_result_alone_tells_that_there_was_none(lab: Lab):
    """Without hooks and without a word of a restart the call is still no failure and not left open."""
    block = {"type": "toolCall", "id": "f-1", "name": "exec", "arguments": {"command": "reboot"}}
    lab.imported(lab.file("s-1.jsonl", [message(1, "assistant", [block], 0), REPAIRED]))
    assert [(event.status, event.flags) for event in lab.events("tool_call")] == [("interrupted", ("synthetic",))]


def test_a_call_that_ended_before_the_restart_stays_as_it_ended(lab: Lab):
    """Only what was open is interrupted."""
    lab.take([call("c-1", 0, begins=True), call("c-1", 9), call("c-2", 20, begins=True), hook("gateway_start", {}, 50)])
    assert [(event.call, event.status) for event in lab.events("tool_call")] == [
        ("c-1", "succeeded"),
        ("c-2", "interrupted"),
    ]


def test_a_call_that_began_after_the_restart_is_still_running(lab: Lab):
    """A restart says nothing about what began later."""
    lab.take([hook("gateway_start", {}, 50), call("c-2", 60, begins=True)])
    assert [event.status for event in lab.events("tool_call")] == ["started"]


def test_a_result_that_comes_after_all_counts(lab: Lab):
    """A call that was taken for interrupted and has a real result after all is what the result says."""
    lab.take([call("c-1", 0, begins=True), hook("gateway_start", {}, 50)])
    assert [event.status for event in lab.events("tool_call")] == ["interrupted"]
    lab.take([call("c-1", 30)], producer="late")
    assert [(event.status, event.duration_ms) for event in lab.events("tool_call")] == [("succeeded", 20)]


def test_a_call_of_a_run_that_ended_is_unknown(lab: Lab):
    """The run is over and nobody told the call's end: that is neither failure nor success, and no restart."""
    lab.take([call("c-1", 0, begins=True), hook("agent_end", {"success": True}, 50), hook("gateway_start", {}, 90)])
    assert [event.status for event in lab.events("tool_call")] == ["unknown"]


# Field case F07: half a line


def transcript() -> bytes:
    """Return a transcript of five messages with a broken line in the middle."""
    lines = [
        {"type": "session", "id": "s-7", "timestamp": iso()},
        *(message(n, "user", f"line {n} ✓ naïve", n) for n in range(1, 6)),
    ]
    whole = [json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines]
    return b"".join([*whole[:3], b'{"type":"message","id":"bad","timestamp":\n', *whole[3:]])


@pytest.mark.parametrize("cut", [-1, -30, -60, -140])
def test_a_half_written_last_line_is_read_when_it_is_whole(lab: Lab, cut: int):
    """Imported with half of its last line, then whole: all good lines, the broken one counted and in nobody's way (F07)."""
    path = lab.file("s-7.jsonl", [transcript()[:cut]])
    lab.imported(path)
    path.write_bytes(transcript())
    lab.imported(path)
    assert [event.summary for event in lab.events("message")] == [f"line {n} ✓ naïve" for n in range(1, 6)]
    assert "bad" in "".join(str(kept["content"]) for kept in lab.quarantined())


def test_a_broken_line_is_counted_once_however_often_its_file_is_read(lab: Lab):
    """`status` counts what lies in quarantine."""
    path = lab.file("s-7.jsonl", [transcript()])
    for _ in range(3):
        lab.imported(path)
    assert len(lab.quarantined()) == 1
    assert lab.limpet("status", "--json").json["counts"]["rejected"] == 1


def test_a_half_written_line_in_the_spool_is_waited_for(lab: Lab):
    """While its producer lives no position moves past it; then it is read whole."""
    path = lab.spool([call("c-1")])
    (path.parent / "producer.json").write_text("{}")
    line = raw(call("c-2", 1))
    with path.open("ab", buffering=0) as file:
        file.write(line[:90])
        lab.drain()
        assert ids(lab) == ["c-1"]
        file.write(line[90:])
        lab.drain()
    assert (ids(lab), lab.quarantined()) == (["c-1", "c-2"], [])


def test_a_torn_line_of_a_dead_producer_is_kept_aside(lab: Lab):
    """Its tail goes to quarantine with the reason, the lines before it are in, the file goes."""
    lab.take([call("c-1"), raw(call("c-2"))[:50]])
    assert (ids(lab), lab.left_in_spool()) == (["c-1"], [])
    assert [kept["reason"] for kept in lab.quarantined()] == ["the producer ended in the middle of this line"]


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_any_cut_of_the_bytes_gives_the_same_records(data: st.DataObject):
    """A segment that grows by any pieces, read after each, gives each line once."""
    lines = [raw(call(f"c-{n}", n, result="é😀" * n)) for n in range(6)]
    whole = b"".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "spool" / "p" / "1.jsonl"
        path.parent.mkdir(parents=True)
        cursor: dict[str, object] = {}
        seen = []
        for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
            with path.open("ab") as file:
                file.write(whole[start:end])
            batch = SpoolSource(folder / "spool").read(cursor, clock.now_ms())
            seen += batch.records
            cursor |= batch.cursor
        assert [record.body["event"]["toolCallId"] for record in seen] == [f"c-{n}" for n in range(6)]
        assert len({record.id for record in seen}) == 6


# Field case F08: a process that ends at once


@pytest.mark.parametrize("end", ["pass", "os._exit(0)", "os.kill(os.getpid(), 9)", "sys.exit(3)", "raise SystemError"])
def test_a_process_that_ends_at_once_leaves_its_events(lab: Lab, end: str):
    """Three events and an end of any kind: three events stored (field case F08)."""
    text = (
        "import os, sys\nfrom limpet import init_db, log_event, log_tool_call\nconn = init_db()\n"
        "log_event(conn, 'session', 'began', session_id='s-ci')\n"
        "log_tool_call(conn, 'make', {'target': 'test'}, {'ok': True, 'out': '12 passed'}, 's-ci')\n"
        f"log_event(conn, 'session', 'over', session_id='s-ci')\n{end}\n"
    )
    lab.code(text)
    lab.drain()
    assert [event.summary for event in lab.events()] == ["began", "make executed", "over"]


# Field case F10: a delivery that fails


def test_the_spool_is_kept_until_the_database_has_it(lab: Lab):
    """While nothing can be written no segment goes; then everything is stored once (field case F10)."""
    lab.spool([call(f"c-{n:02}", n) for n in range(20)])
    full = (
        "import resource, signal, sys\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))\n"
        "from limpet.cli.main import main\nsys.exit(main(['recent', '--json']))\n"
    )
    for limit in (1, 4096, 40_000, 70_000, 100_000, 116_000):
        lab.code(full, str(limit))
        assert lab.left_in_spool() == ["plugin/1.jsonl"] or ids(lab) == [f"c-{n:02}" for n in range(20)]
    lab.drain()
    assert ids(lab) == [f"c-{n:02}" for n in range(20)]
    assert (lab.left_in_spool(), lab.verdict().faults) == ([], ())


def test_a_database_that_cannot_be_opened_costs_nothing(lab: Lab):
    """A file stands where its folder should be: a clear error, exit status 4, the spool as it was; then all is stored."""
    lab.spool([call("c-1")])
    (lab.state / "memory").write_text("in the way")
    done = lab.limpet("recent", "--json")
    assert (done.status, lab.left_in_spool()) == (4, ["plugin/1.jsonl"])
    (lab.state / "memory").unlink()
    lab.drain()
    assert ids(lab) == ["c-1"]


def test_a_sidecar_goes_on_by_itself_when_the_database_can_be_written_again(lab: Lab):
    """It says once what is wrong, and once that it records again."""
    (lab.state / "memory").parent.mkdir(parents=True)
    (lab.state / "memory").write_text("in the way")
    sidecar = lab.start("run")
    until(lambda: lab.asked(op="hello").get("complaint"), "the sidecar has met it")
    lab.spool([call("c-1")])
    (lab.state / "memory").unlink()
    until(lambda: lab.db.exists() and lab.left_in_spool() == [], "the sidecar has taken it in")
    sidecar.terminate()
    said = ended(sidecar).err
    assert (said.count("cannot record"), said.count("recording again")) == (1, 1)
    assert ids(lab) == ["c-1"]


# Field case F11: a transcript that is rewritten


def before_compaction() -> list[dict]:
    """Return a session of ten turns."""
    return [
        {"type": "session", "id": "s-11", "timestamp": iso()},
        *(message(n, "user", f"turn {n}", n * 1000) for n in range(1, 11)),
    ]


def after_compaction() -> list[dict]:
    """Return the same file after a compaction: a summary, two kept turns, three new ones."""
    summary = {
        "type": "compaction",
        "id": "k1",
        "timestamp": iso(20_000),
        "summary": "turns 1 to 8",
        "firstKeptEntryId": "e9",
    }
    return [
        before_compaction()[0],
        summary,
        *before_compaction()[9:],
        *(message(n, "user", f"turn {n}", n * 3000) for n in range(11, 14)),
    ]


def test_a_transcript_that_shrinks_loses_nothing(lab: Lab):
    """Thirteen turns, none twice, and the compaction; a file that is deleted deletes nothing (field case F11)."""
    path = lab.file("s-11.jsonl", before_compaction())
    lab.imported(path)
    lab.file("s-11.jsonl", after_compaction())
    lab.imported(path)
    path.unlink()
    assert lab.limpet("import", str(path)).status == 3
    assert [event.summary for event in lab.events("message")] == [f"turn {n}" for n in range(1, 14)]
    assert [event.summary for event in lab.events("compaction")] == ["prompt compacted: turns 1 to 8"]


def test_a_live_transcript_that_shrinks_loses_nothing(lab: Lab):
    """The same in OpenClaw's own folder, read as it changes."""
    name = "state/agents/main/sessions/s-11.jsonl"
    path = lab.file(name, before_compaction())
    lab.drain()
    lab.file(name, after_compaction())
    lab.drain()
    path.unlink()
    lab.drain()
    assert [event.summary for event in lab.events("message")] == [f"turn {n}" for n in range(1, 14)]
    assert len(lab.events("compaction")) == 1


@pytest.mark.parametrize(
    "lines", [[], [{"type": "session", "id": "s-other", "timestamp": iso(9)}, message(1, "user", "another", 9)]]
)
def test_a_transcript_that_is_emptied_or_replaced_loses_nothing(lab: Lab, lines: list[dict]):
    """A file that begins anew, or holds another session now, adds what it holds and takes nothing away."""
    name = "state/agents/main/sessions/s-11.jsonl"
    lab.file(name, before_compaction())
    lab.drain()
    lab.file(name, lines)
    lab.drain()
    assert len(lab.events("message")) == 10 + (1 if lines else 0)


# Field case F12: large payloads


def test_a_large_payload_is_never_on_a_command_line(lab: Lab):
    """300 KB through log_event: stored whole, and in no argument and no environment of any process (field case F12)."""
    text = (
        "import sys\nseen = []\n"
        "sys.addaudithook(lambda name, args: seen.append(repr(args)) if 'subprocess' in name or 'exec' in name or 'spawn' in name else None)\n"
        "from limpet import init_db, log_event, log_tool_call, get_recent_events\nconn = init_db()\n"
        "big = 'MARKED line\\n' * 27_000\n"
        "log_event(conn, 'note', 'big', {'text': big}, ['t'])\nlog_tool_call(conn, 'grep', {'q': big}, {'ok': True, 'out': big})\n"
        "rows = get_recent_events(conn)\nimport json\n"
        "print(len(rows), json.loads(rows[1][5])['text'] == big, any('subprocess' in s or 'limpet' in s for s in seen), any('MARKED' in s for s in seen))"
    )
    assert lab.code(text).out == "2 True True False\n"
    (_, logged) = lab.records()
    assert logged.body["event"]["args"]["q"] == logged.body["event"]["result"]["out"] == "MARKED line\n" * 27_000


@pytest.mark.parametrize("size", [131_072, 300_000, 5_000_000])
def test_a_large_payload_through_the_spool_is_stored_whole(lab: Lab, size: int):
    """Every byte of it, and the words at its end are found."""
    text = "a line of output\n" * (size // 17) + "TAPIR"
    lab.take([call("c-1", result=text_result(text))])
    assert lab.records()[0].body["event"]["result"]["content"][0]["text"] == text
    assert [event.call for event in lab.found("TAPIR")] == ["c-1"]


def test_what_is_too_large_to_be_read_again_is_refused_when_it_is_logged(lab: Lab):
    """Over the stated maximum `log_event` says so, and what follows is logged."""
    text = (
        "from limpet import init_db, log_event\nconn = init_db()\n"
        "try:\n    log_event(conn, 'note', 'huge', 'x' * 17_000_000)\nexcept Exception as error:\n    print(type(error).__name__, error)\n"
        "log_event(conn, 'note', 'small')\n"
    )
    done = lab.code(text)
    assert (done.out.split()[0], "16,777,216" in done.out) == ("BadInput", True), done
    lab.drain()
    assert ([event.summary for event in lab.events()], lab.quarantined()) == (["small"], [])


# Field case F102: a backlog


def backlog(first: int, count: int) -> list[dict]:
    """Return that many calls."""
    return [
        call(f"b-{n:05}", n, ctx={"sessionId": "s-b"}, result=text_result("r" * 100))
        for n in range(first, first + count)
    ]


def test_what_happens_now_does_not_wait_behind_a_backlog(lab: Lab):
    """With 12,000 events waiting, a new one is in after one round; an interrupted replay goes on (field case F102)."""
    for part in range(12):
        path = lab.spool(backlog(part * 1000, 1000), segment=part + 1)
        os.utime(path, (NOON / 1000, NOON / 1000 + part))
    lab.spool([call("live", 99_999)], producer="now")
    with lab.recording() as recording:
        recording.round()
        assert [event.call for event in lab.events(call="live")] == ["live"]
    assert 0 < len(lab.events()) < 12_001
    lab.spool([call("live-2", 100_000)], producer="now", segment=2)
    with lab.recording() as recording:
        recording.round()
        assert len(lab.events(call="live-2")) == 1
    lab.drain()
    assert ids(lab) == sorted([*(f"b-{n:05}" for n in range(12_000)), "live", "live-2"])
    assert lab.left_in_spool() == []


def test_a_command_does_not_wait_for_a_whole_backlog(lab: Lab):
    """It drains a bounded time, answers, and says how much still waits; the rest is in after a few more."""
    for part in range(16):
        lab.spool(numbered(backlog(part * 1000, 1000), part * 1000), segment=part + 1)
    done = lab.limpet("recent", "--json", "--limit", "1", "--now", iso(100_000))
    told = done.json
    waiting = told["coverage"].get("pending_bytes", 0)
    assert (told["count"] == 16_000) == (waiting == 0)
    assert waiting == 0 or told["coverage"]["state"] == "partial"
    for _ in range(20):
        if not lab.limpet("drain", "--json").json["pending_bytes"]:
            break
    assert len(lab.events()) == 16_000


def test_events_that_had_no_room_are_counted_as_a_gap(lab: Lab):
    """What a producer had to drop at its limit is told as a gap: how many, since when, why; answers are partial then."""
    dropped = {"dropped": 41, "since_ms": NOON, "until_ms": NOON + 60_000, "reason": "limit"}
    lab.take(numbered([call("c-1"), hook("limpet_dropped", dropped, 60_000), call("c-2", 60_001)]))
    (gap,) = lab.events("gap")
    assert (gap.at_ms, gap.duration_ms, gap.summary) == (NOON, 60_000, "41 events could not be recorded: limit")
    told = lab.limpet("recent", "--json", "--now", iso(70_000)).json["coverage"]
    assert told["state"] == "partial"
    assert "41 events could not be recorded: limit" in [gap["why"] for gap in told["gaps"]]


@pytest.mark.soak
def test_fifty_thousand_waiting_events_need_little_memory(lab: Lab):
    """The sidecar drains them with bounded memory while new events are answered."""
    for part in range(50):
        lab.spool(backlog(part * 1000, 1000), segment=part + 1)
    with lab.sidecar() as sidecar:
        most = 0
        while lab.left_in_spool():
            status = Path(f"/proc/{sidecar.pid}/status").read_text()
            most = max(most, int(status.split("VmRSS:")[1].split()[0]))
        assert most < 200_000
    assert len(lab.events()) == 50_000


# Field case F104: a poisoned batch


POISON: list[object] = [
    {"hook": "after_tool_call", "ts": {"bad": "type"}, "ctx": "no object", "event": ["no", "object"]},
    {"hook": "after_tool_call", "ts": [1], "ctx": {}, "event": {}},
    {"hook": 5, "event": {}},
    {"hook": "", "event": {}},
    {"event": {}},
    ["hook", "x"],
    "hook",
    7,
    None,
]


@pytest.mark.parametrize("at", [0, 10, 20])
@pytest.mark.parametrize("poison", [*range(len(POISON)), "bytes", "half"])
def test_a_poisoned_line_costs_itself_only(lab: Lab, poison: int | str, at: int):
    """Twenty of twenty-one are stored in their order, the bad one is kept with its reason and shown (field case F104)."""
    lines: list[object] = [call(f"p-{n:02}", n) for n in range(20)]
    bad = {"bytes": b"\x00\xff\xfe{{{\n", "half": b'{"hook":"x","event":{\n'}.get(poison) or raw(POISON[poison])
    lab.take([*lines[:at], bad, *lines[at:]])
    assert [event.call for event in lab.events()] == [f"p-{n:02}" for n in range(20)]
    (kept,) = lab.quarantined()
    assert kept["content"] == bad.decode("utf-8", "backslashreplace")
    assert kept["reason"]


def test_poisoned_lines_are_counted_in_status(lab: Lab):
    """How many could not be read, and that they are kept."""
    lab.take([call("c-1"), *(raw(bad) for bad in POISON), call("c-2", 1)])
    assert f"{len(POISON)} rejected (kept in quarantine)" in lab.limpet("status").out


# The plugin's own spool, written by Node


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
def test_what_the_plugin_wrote_is_read_after_node_was_killed(lab: Lab):
    """Lines that the plugin's spool took are in the store once, though Node was killed right after the last."""
    spool = Path(__file__).parents[2] / "integrations" / "openclaw" / "spool.js"
    write = (
        f"import {{ openSpool }} from {json.dumps(spool.as_uri())};\n"
        "const spool = openSpool(process.argv[1]);\n"
        "for (let n = 0; n < 300; n++) spool.append({hook: 'after_tool_call', ctx: {agentId: 'main', sessionId: 's-1'},"
        " event: {toolName: 'exec', toolCallId: `n-${n}`, result: 'é'.repeat(n * 10)}});\n"
        "process.kill(process.pid, 'SIGKILL');\n"
    )
    node = subprocess.run(
        ["node", "--input-type=module", "-e", write, "--", str(lab.home)],
        env=lab.environment, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert node.returncode == -signal.SIGKILL, node.stderr
    lab.drain()
    assert ids(lab) == sorted(f"n-{n}" for n in range(300))
    (stream,) = {record.stream for record in lab.records()}
    assert (stream != "", [record.seq for record in lab.records()]) == (True, list(range(1, 301)))
    assert (lab.left_in_spool(), lab.quarantined()) == ([], [])
