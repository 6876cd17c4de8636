"""Siblings of the field cases where several things happen at once, or a file is not what it should be."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from lab import Lab, call, ended, hook, iso, message, numbered, raw, text_result, until


def both_tell(count: int) -> tuple[list[dict], list[dict]]:
    """Return hook lines and transcript lines of the same calls."""
    hooks, rows = [], [{"type": "session", "id": "s-1", "timestamp": iso()}]
    for n in range(count):
        block = {"type": "toolCall", "id": f"c-{n}", "name": "exec", "arguments": {"command": f"step {n}"}}
        hooks += [call(f"c-{n}", n * 10, begins=True), call(f"c-{n}", n * 10 + 4)]
        rows += [
            message(2 * n, "assistant", [block], n * 10 + 1),
            message(2 * n + 1, "toolResult", "ok", n * 10 + 5, toolCallId=f"c-{n}"),
        ]
    return numbered(hooks), rows


def test_an_import_beside_a_running_sidecar_joins_what_both_tell(lab: Lab):
    """One witness comes in through the sidecar, the other through an import, at the same time: one event for each call."""
    hooks, rows = both_tell(700)
    path = lab.file("s-1.jsonl", rows)
    with lab.sidecar():
        importing = lab.start("import", str(path))
        for part in range(7):
            lab.spool(hooks[part * 200 : part * 200 + 200], segment=part + 1)
        done = ended(importing)
        assert done.status == 0, done.err
        until(lambda: not lab.left_in_spool(), "the sidecar has taken in everything")
    calls = lab.events("tool_call")
    assert len(calls) == 700
    assert {event.sources for event in calls} == {("openclaw.hooks", "openclaw.transcripts")}
    assert {event.status for event in calls} == {"succeeded"}
    assert lab.verdict().faults == ()
    with lab.recording() as recording:
        while recording.recorder.index():
            pass
        recording.store.index.check()
    assert len(lab.found("exec")) == 700


def test_a_rebuild_beside_a_running_sidecar_loses_nothing(lab: Lab):
    """What comes in meanwhile waits and is there afterwards."""
    hooks, _ = both_tell(400)
    lab.spool(hooks[:600])
    with lab.sidecar():
        rebuilding = lab.start("rebuild")
        lab.spool(hooks[600:], segment=2)
        done = ended(rebuilding)
        assert done.status == 0, done.err
        until(lambda: not lab.left_in_spool(), "the sidecar has taken in everything")
    assert len(lab.events("tool_call")) == 400
    assert lab.verdict().faults == ()


def test_questions_are_answered_while_events_pour_in(lab: Lab):
    """Every answer is of one moment: the number of begun calls never falls."""
    hooks, _ = both_tell(1000)
    for part in range(10):
        lab.spool(hooks[part * 200 : part * 200 + 200], segment=part + 1)
    seen = []
    with lab.sidecar():
        while lab.left_in_spool() or not seen:
            seen.append(lab.limpet("recent", "--json", "--limit", "1", "--now", iso(10**6)).json["count"])
        seen.append(lab.limpet("recent", "--json", "--limit", "1", "--now", iso(10**6)).json["count"])
    assert seen == sorted(seen)
    assert seen[-1] == 1000


@pytest.mark.parametrize("how", ["moved", "deleted", "replaced"])
def test_a_database_that_is_taken_away_from_a_running_sidecar_costs_nothing_new(lab: Lab, how: str):
    """The sidecar notices, says so, makes or opens what lies there now, and loses nothing that comes after."""
    lab.take([call("old")])
    with lab.sidecar() as sidecar:
        until(lambda: lab.asked(op="drain", seconds=1), "the sidecar has drained once")
        aside = lab.folder / "aside.db"
        if how == "replaced":
            aside.write_bytes(lab.db.read_bytes())
        for end in ("-wal", "-shm"):
            lab.db.with_name(lab.db.name + end).unlink(missing_ok=True)
        lab.db.unlink() if how == "deleted" else lab.db.rename(lab.folder / "moved.db")
        if how == "replaced":
            aside.rename(lab.db)
        lab.spool([call(f"new-{n}", n) for n in range(50)], producer="later")
        until(lambda: not lab.left_in_spool() and lab.db.exists(), "the sidecar has taken it in")
        sidecar.terminate()
        said = ended(sidecar).err
    assert {f"new-{n}" for n in range(50)} <= {event.call for event in lab.events()}
    assert "cannot record" in said


def test_an_index_that_is_deleted_is_made_again(lab: Lab):
    """Beside a running sidecar and without one; the words are found again."""
    index = lab.db.with_name("agent_memory.search.db")
    lab.take([call("c-1", result=text_result("WALRUS"))])
    index.unlink()
    lab.drain()
    assert len(lab.found("WALRUS")) == 1
    with lab.sidecar():
        index.unlink()
        lab.spool([call("c-2", 1, result=text_result("WALRUS"))], producer="later")
        until(index.exists, "the index is there again")
        lab.asked(op="drain", seconds=5)
    assert len(lab.found("WALRUS")) == 2


@pytest.mark.parametrize("damage", ["garbage", "emptied", "torn"])
def test_an_index_that_is_damaged_is_made_again(lab: Lab, damage: str):
    """It is never the truth: what it lost is taken in again."""
    index = lab.db.with_name("agent_memory.search.db")
    lab.take([call(f"c-{n}", n, result=text_result(f"WALRUS {n}" * 50)) for n in range(50)])
    content = index.read_bytes()
    index.write_bytes({"garbage": b"garbage" * 3000, "emptied": b"", "torn": content[: len(content) // 2]}[damage])
    for end in ("-wal", "-shm"):
        index.with_name(index.name + end).unlink(missing_ok=True)
    lab.take([call("new", 99, result=text_result("WALRUS"))], producer="later")
    lab.limpet("rebuild")
    assert len(lab.found("WALRUS")) == 51


@pytest.mark.parametrize("odd", ["link", "folder", "dangling", "pipe"])
def test_something_odd_in_the_spool_stops_nothing(lab: Lab, odd: str):
    """A link, a folder or a pipe where a segment should be is counted and passed by (sibling of field case F104)."""
    lab.spool([call("c-1")], producer="a")
    place = lab.spool([call("c-2", 1)], producer="b").with_name("9.jsonl")
    secret = lab.file("secret.txt", [raw(call("stolen"))])
    {
        "link": lambda: place.symlink_to(secret),
        "folder": place.mkdir,
        "dangling": lambda: place.symlink_to("/nowhere"),
        "pipe": lambda: os.mkfifo(place),
    }[odd]()
    lab.spool([call("c-3", 2)], producer="c")
    with lab.sidecar():
        until(lambda: lab.asked(op="drain", seconds=5).get("ok"), "the others are in")
    assert [event.call for event in lab.events()] == ["c-1", "c-2", "c-3"]
    assert secret.exists()
    assert lab.limpet("recent", "--json", "--now", iso(99)).json["count"] == 3


def test_a_producers_folder_with_a_name_that_is_no_text_stops_nothing(lab: Lab):
    """Bytes that are no UTF-8 as a folder's name."""
    lab.spool([call("c-1")])
    odd = os.fsencode(lab.home / "spool") + b"/\xff\xfe"
    Path(os.fsdecode(odd)).mkdir()
    Path(os.fsdecode(odd), "1.jsonl").write_bytes(raw(call("c-2", 1)))
    lab.drain()
    assert [event.call for event in lab.events()] == ["c-1"]


def test_a_quarantine_that_cannot_be_written_loses_no_event(lab: Lab):
    """A file stands where its folder should be: nothing moves on, nothing crashes, and it goes on when that is mended."""
    lab.spool([call("c-1"), b"{broken\n", call("c-2", 1)])
    (lab.home / "quarantine").write_text("in the way")
    with lab.sidecar() as sidecar:
        until(lambda: lab.asked(op="hello").get("complaint"), "the sidecar has met it")
        assert sidecar.poll() is None
        (lab.home / "quarantine").unlink()
        until(lambda: not lab.left_in_spool(), "the sidecar has taken it in")
    assert [event.call for event in lab.events()] == ["c-1", "c-2"]
    assert len(lab.quarantined()) == 1


def test_a_clock_that_runs_backwards_loses_nothing(lab: Lab):
    """Segments dated in the future and in 1970, and lines whose times fall."""
    for n, when in enumerate((2_000_000_000, 0, 1_500_000_000, 4_000_000_000), start=1):
        path = lab.spool([call(f"c-{n}", -n * 1000)], segment=n)
        os.utime(path, (when, when))
    lab.drain()
    assert [event.call for event in lab.events()] == ["c-4", "c-3", "c-2", "c-1"]
    assert lab.left_in_spool() == []


def test_a_segment_that_grows_while_it_is_forgotten_is_read_on(lab: Lab):
    """A producer that was taken for gone (asleep for hours) writes on: its line is taken in."""
    path = lab.spool([call("c-1")])
    (path.parent / "producer.json").write_text("{}")
    old = time.time() - 7200
    os.utime(path, (old, old))
    with path.open("ab") as sleeper:
        lab.drain()
        sleeper.write(raw(call("c-2", 1)))
        sleeper.flush()
        gone = not path.exists()
        lab.drain()
    assert [event.call for event in lab.events()] == (["c-1"] if gone else ["c-1", "c-2"])


def test_what_a_hook_says_of_a_session_it_never_names_is_kept(lab: Lab):
    """Messages, runs and model calls without session, run or key are events of their own."""
    kinds = [
        "message_received",
        "before_message_write",
        "model_call_ended",
        "agent_end",
        "message_sent",
        "gateway_stop",
    ]
    event = {"content": "hello", "message": {"role": "user", "content": "hello"}, "success": True}
    lab.take([{"hook": kind, "ts": None, "n": n, "event": event} for kind in kinds for n in range(2)])
    assert len(lab.events()) == 12
    assert hook("x")["ctx"]["agentId"] not in {event.agent for event in lab.events()}
