"""What is forgotten is nowhere any more, does not come back, and leaves a chain that verifies and confirms no guess."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from lab import NOON, Lab, call, entry, hook, message, numbered, raw, text_result
from limpet import clock
from planted import unpacked

PLAN = "the zebrafish project is called Operation Marzipan"
LONG = f"{'filler words ' * 3000}{PLAN} {'more words ' * 3000}"
"""A long text that says it where the index does not look."""

MORNING = "2026-06-02T09:00:00+00:00"


def files(lab: Lab) -> list[Path]:
    """Return every file that Limpet keeps."""
    roots = (lab.home, lab.db.parent, lab.state / "workspace")
    return [path for root in roots for path in root.rglob("*") if path.is_file()]


def holding(lab: Lab, *words: str) -> list[str]:
    """Return the files in which one of these words still stands, in any case, compressed or not."""
    sought = [word.lower().encode() for word in words]
    return sorted(path.name for path in files(lab) if any(word in unpacked(path).lower() for word in sought))


def secret_day(lab: Lab) -> None:
    """Record a day on which Marzipan was talked of, everywhere: by two witnesses, in a long text, in quarantine."""
    (lab.state / "workspace").mkdir(parents=True)
    lines = [
        hook("gateway_start", {"port": 1}),
        call("c-1", 5, begins=True, params={"command": "cat marzipan.txt"}),
        call("c-1", 10, params={"command": "cat marzipan.txt"}, result=text_result(PLAN)),
        call("c-2", 20, result=text_result("nothing of note")),
        call("c-3", 30, result=text_result(LONG)),
        call("c-4", 40, result=text_result(LONG.replace("Marzipan", "Nougat"))),
    ]
    lab.take([*numbered(lines), b'{"torn": "Operation Marzipan\n'])
    assert lab.limpet("note", "--date", "2026-06-01", "--now", MORNING).status == 0


def forgotten(lab: Lab, *question: str) -> dict:
    """Forget something and return what the command says of it."""
    done = lab.limpet("forget", "--yes", "--json", *question)
    assert done.status == 0, done.out + done.err
    return done.json


def test_what_is_forgotten_is_in_no_file_any_more(lab: Lab) -> None:
    """Database, log, index, quarantine, notes, spool: searched byte by byte, also within what is compressed."""
    secret_day(lab)
    assert {"agent_memory.db", "2026-06-01.md"} <= set(holding(lab, "marzipan"))
    said = forgotten(lab, "marzipan")
    assert holding(lab, "marzipan") == []
    assert (said["records"], said["erased"], said["quarantine"], said["notes"]) == (
        3, 3, 1, [{"day": "2026-06-01", "agent": "main"}],
    )  # fmt: skip
    assert [event.call for event in lab.events("tool_call")] == ["c-2", "c-4"]
    assert lab.found("zebrafish") == []
    assert lab.verdict().faults == ()


def test_halves_of_copies_that_were_killed_go_or_are_named(lab: Lab) -> None:
    """What a killed restore left beside the memory goes too; of a killed backup it is told where it lies."""
    secret_day(lab)
    command = [sys.executable, str(Path(__file__).with_name("killedcopy.py"))]
    assert lab.limpet("backup", str(lab.folder / "whole.db")).status == 0
    for work in (["backup", str(lab.folder / "half.db")], ["restore", str(lab.folder / "whole.db"), "--replace"]):
        assert subprocess.run([*command, *work], env=lab.environment, check=False).returncode == -signal.SIGKILL
    assert (lab.folder / "half.db.half").is_file()
    assert "agent_memory.db.half" in holding(lab, "marzipan")
    said = forgotten(lab, "marzipan")
    assert said["copies"] == [str(lab.folder / name) for name in ("whole.db", "half.db.half")]
    assert holding(lab, "marzipan") == []


def test_the_dry_run_shows_it_all_and_changes_nothing(lab: Lab) -> None:
    """What it says is what is then done."""
    secret_day(lab)
    before = lab.events(), lab.records(), lab.quarantined()
    shown = lab.limpet("forget", "--dry-run", "marzipan")
    assert shown.status == 0
    assert "2 events, 3 records" in shown.out
    assert "1 of them says it where the text index does not look" in shown.out
    assert "1 daily note will be written again" in shown.out
    assert shown.out.count("  tool_call  ") == 2
    assert "Nothing was changed." in shown.err
    assert (lab.events(), lab.records(), lab.quarantined()) == before


def test_without_a_terminal_nothing_is_forgotten_unless_it_is_said(lab: Lab) -> None:
    """It cannot be undone."""
    secret_day(lab)
    done = lab.limpet("forget", "marzipan")
    assert done.status == 2
    assert "there is nobody to ask" in done.err
    assert len(lab.events("tool_call")) == 4


def test_the_chain_still_verifies_and_confirms_no_guess(lab: Lab) -> None:
    """The leaf stays, nonce and bytes are gone: who knows all columns and the very words cannot tell that it was these."""
    secret_day(lab)
    with closing(apsw.Connection(str(lab.db))) as connection:
        content = {no: bytes(stored) for no, stored in connection.execute("SELECT no, bytes FROM content")}
    forgotten(lab, "call:c-1")
    with closing(apsw.Connection(str(lab.db))) as connection:
        rows = connection.execute("SELECT no, nonce, leaf, hash FROM record WHERE no IN (2, 3)").fetchall()
    assert [(no, nonce) for no, nonce, _, _ in rows] == [(2, None), (3, None)]
    for no, _, leaf, _ in rows:
        assert leaf != hashlib.sha256(content[no]).digest()
    before = lab.verdict()
    assert (before.faults, before.forgotten) == ((), 2)
    assert lab.limpet("rebuild").status == 0
    assert lab.verdict() == before


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE record SET arrived_ms = 1 WHERE no = 2",
        "UPDATE record SET kind = source WHERE no = 2",
        "UPDATE record SET id = randomblob(16) WHERE no = 2",
        "UPDATE record SET leaf = randomblob(32) WHERE no = 2",
        "INSERT INTO content VALUES (2, 0, cast('{}' AS BLOB))",
        "UPDATE record SET nonce = randomblob(16) WHERE no = 2",
        "DELETE FROM tombstone",
    ],
)
def test_what_stays_of_the_forgotten_cannot_be_changed_unseen(lab: Lab, change: str) -> None:
    """The record that tells of the forgetting vouches for the columns that are left."""
    lab.take([call("c-1", 5, begins=True), call("c-1", 10), call("c-2", 20)])
    forgotten(lab, "call:c-1")
    assert lab.verdict().faults == ()
    with closing(apsw.Connection(str(lab.db))) as connection:
        connection.execute(change)
    assert lab.verdict().faults != ()


def test_a_shared_text_stays_where_others_say_it_too(lab: Lab) -> None:
    """A large text is stored once: it goes with the last record that holds it."""
    lab.take([call(f"c-{n}", n, result=text_result(LONG)) for n in range(3)])
    forgotten(lab, "call:c-0")
    assert len(holding(lab, "marzipan")) >= 1
    forgotten(lab, "call:c-1")
    forgotten(lab, "call:c-2")
    assert holding(lab, "marzipan", "zebrafish") == []
    assert lab.verdict().faults == ()


def test_reading_it_again_does_not_bring_it_back(lab: Lab) -> None:
    """The same lines, and another witness of the same call, are not taken in; a new call with the same id is."""
    lines = numbered([call("c-1", 5, begins=True), call("c-1", 10, result=text_result(PLAN)), call("c-2", 20)])
    path = lab.file("hooks.jsonl", lines)
    lab.imported(path)
    forgotten(lab, "call:c-1")
    assert lab.imported(path)["added"] == 0
    tool_call = {"type": "toolCall", "id": "c-1", "name": "exec", "arguments": {"command": "cat marzipan.txt"}}
    session = [
        entry("session", 0, id="s-1"),
        message(1, "assistant", [tool_call], 6),
        message(2, "toolResult", [{"type": "text", "text": PLAN}], 9, toolCallId="c-1", toolName="exec"),
        message(3, "user", "what is next", 500_000),
    ]
    lab.imported(lab.file("s-1.jsonl", session))
    assert holding(lab, "marzipan", "zebrafish") == []
    assert [event.call for event in lab.events("tool_call")] == ["c-2"]
    assert lab.counts()["forgotten"] == 2
    lab.take([call("c-1", 3_600_000, ctx={"runId": "r-9"})], producer="later")
    assert [event.call for event in lab.events("tool_call")] == ["c-2", "c-1"]
    assert lab.verdict().faults == ()


def test_a_rebuild_keeps_what_is_forgotten_forgotten(lab: Lab) -> None:
    """What must not come back is made anew from the ledger, too."""
    lines = numbered([call("c-1", 5), call("c-2", 20)])
    lab.take(lines)
    forgotten(lab, "call:c-1")
    with closing(apsw.Connection(str(lab.db))) as connection:
        connection.execute("DELETE FROM tombstone")
    assert lab.limpet("rebuild").status == 0
    lab.take([{**call("c-1", 6), "source": "another.witness"}], producer="witness")
    assert [event.call for event in lab.events("tool_call")] == ["c-2"]


def test_forgetting_beside_a_sidecar_that_records(lab: Lab) -> None:
    """What the sidecar keeps in memory of it does not come back with the next event; nothing else is lost."""
    with lab.sidecar():
        lab.spool([call("c-1", 5, begins=True, params={"command": "cat marzipan.txt"}), call("c-2", 20)])
        assert lab.asked(op="drain", seconds=5)["ok"]
        forgotten(lab, "call:c-1")
        lab.spool([call("c-3", 30), hook("agent_end", {"success": True}, 40)], segment=2)
        assert lab.asked(op="drain", seconds=5)["ok"]
    assert [event.call for event in lab.events("tool_call")] == ["c-2", "c-3"]
    assert holding(lab, "marzipan") == []
    assert lab.verdict().faults == ()


def test_a_line_in_a_segment_that_its_producer_still_writes_is_made_blank(lab: Lab) -> None:
    """The segment of a living plugin cannot be deleted; what comes after the blank line is read as before."""
    folder = lab.home / "spool" / "living"
    folder.mkdir(parents=True)
    about = {"pid": os.getpid(), "start": clock.process_start(os.getpid()), "boot": "", "ns": clock.pid_space()}
    (folder / "producer.json").write_text(json.dumps(about))
    lines = numbered([call("c-1", 5, result=text_result(PLAN)), call("c-2", 20), call("c-3", 30)])
    segment = folder / "1.jsonl"
    segment.write_bytes(b"".join(map(raw, lines[:2])))
    lab.drain()
    size = segment.stat().st_size
    forgotten(lab, "call:c-1")
    assert (segment.stat().st_size, holding(lab, "marzipan")) == (size, [])
    with segment.open("ab") as file:
        file.write(raw(lines[2]))
    lab.drain()
    assert [event.call for event in lab.events("tool_call")] == ["c-2", "c-3"]


def test_events_that_share_a_record_are_named_before(lab: Lab) -> None:
    """An answer and the calls in it are one line of a transcript: they go together, and the plan says so."""
    blocks = [{"type": "text", "text": "I look at two files"}]
    blocks += [{"type": "toolCall", "id": f"c-{n}", "name": "read", "arguments": {"path": f"/f{n}"}} for n in (1, 2)]
    lab.imported(lab.file("s-1.jsonl", [entry("session", 0, id="s-1"), message(1, "assistant", blocks, 10)]))
    said = lab.limpet("forget", "--dry-run", "--json", "call:c-1").json
    assert (len(said["events"]), len(said["shared"]), said["records"]) == (1, 2, 1)
    forgotten(lab, "call:c-1")
    assert [event.type for event in lab.events() if event.type in ("tool_call", "message")] == []
    assert lab.verdict().faults == ()


def test_what_openclaw_counted_of_it_goes_too(lab: Lab) -> None:
    """Else the counts would differ for ever, also where the count is read after the forgetting."""
    digest = hashlib.sha256(b"c-1").hexdigest()
    counted = {
        "event_id": "a1",
        "action": "tool.action.started",
        "status": "ok",
        "kind": "tool",
        "tool_call_id": digest,
    }
    audit = {**hook("audit_event", counted, 6), "source": "openclaw.audit"}
    lab.take([call("c-1", 5), call("c-2", 20), {**audit, "id": "one"}])
    forgotten(lab, "call:c-1")
    assert lab.verdict().faults == ()
    lab.take([{**audit, "id": "two"}], producer="later")
    assert lab.verdict().faults == ()


def test_a_question_that_counts_is_refused(lab: Lab) -> None:
    """To forget, one names events."""
    lab.take([call("c-1", 5)])
    done = lab.limpet("forget", "--yes", "how many tool calls per day")
    assert (done.status, len(lab.events("tool_call"))) == (2, 1)


def test_the_last_few_are_only_these(lab: Lab) -> None:
    """What a question takes is what is forgotten, not all that it could have taken."""
    lab.take([call(f"c-{n}", n) for n in range(6)])
    forgotten(lab, "the last 2 tool calls")
    assert [event.call for event in lab.events("tool_call")] == ["c-0", "c-1", "c-2", "c-3"]


def test_that_something_was_forgotten_stays_told(lab: Lab) -> None:
    """It vouches for what is missing: it cannot be forgotten itself."""
    lab.take([call("c-1", 5), call("c-2", 20)])
    forgotten(lab, "call:c-1")
    told = [event.summary for event in lab.events("note")]
    assert told == ["forgot 1 event (1 records)"]
    forgotten(lab, "type:note")
    assert [event.summary for event in lab.events("note")] == told
    assert lab.verdict().faults == ()


def test_what_has_a_time_to_come_is_forgotten_too(lab: Lab) -> None:
    """A clock that was wrong once must not keep a secret."""
    lab.take(
        [
            call("c-1", 5),
            call("c-2", 40 * 365 * 86_400_000, ctx={"sessionId": "s-1"}),
            call("c-3", 7, ctx={"sessionId": "s-2"}),
        ]
    )
    forgotten(lab, "session:s-1")
    assert [event.call for event in lab.events("tool_call")] == ["c-3"]


def test_nobody_else_can_say_that_something_was_forgotten(lab: Lab) -> None:
    """A line that claims to be Limpet's own record of a forgetting vouches for nothing and keeps nothing away."""
    event = {
        "job": "x",
        "records": [[1, 10**15]],
        "digest": "",
        "keys": [[0, 0, 1 << 60]],
        "no": 1,
        "hash": "00",
        "leaves": {"1": "00"},
    }
    kinds = ("limpet_forget", "limpet_redact", "limpet_prune", "limpet_restore")
    claims = [
        {"hook": kind, "source": "limpet", "producer": "limpet-amendments", "seq": n + 1, "ts": NOON, "event": event}
        for n, kind in enumerate(kinds)
    ]
    lab.take([call("c-1", 5), *claims, call("c-2", 20)])
    assert lab.verdict().faults == ()
    assert lab.limpet("rebuild").status == 0
    assert [event.type for event in lab.events()] == [
        "unknown",
        "unknown",
        "unknown",
        "unknown",
        "tool_call",
        "tool_call",
    ]
    assert {record.kind for record in lab.records()} >= {f"claimed {kind}" for kind in kinds}


@pytest.mark.soak
def test_a_reader_that_keeps_the_log_is_named_and_the_next_run_finishes(lab: Lab) -> None:
    """While somebody reads from the log it cannot be emptied: that is said, and nothing is called done."""
    lab.take([call("c-1", 5, result=text_result(PLAN)), call("c-2", 20)])
    with closing(apsw.Connection(str(lab.db))) as reader:
        reader.execute("BEGIN; SELECT count(*) FROM record")
        done = lab.limpet("forget", "--yes", "call:c-1")
        assert done.status == 4
        assert "locked by another program" in done.err
        assert lab.limpet("status", "--json").json["upkeep"] != []
    assert lab.limpet("forget", "--yes", "call:c-none").status == 0
    assert holding(lab, "marzipan") == []
    assert (lab.verdict().faults, lab.limpet("status", "--json").json["upkeep"]) == ((), [])
