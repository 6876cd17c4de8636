"""SIGKILL at random moments: whatever a recorder was doing, each event is there once and the chain verifies."""

from __future__ import annotations

import random
import signal
import time

import pytest

from lab import Lab, call, hook, kill, message, numbered, text_result, until
from limpet.lock import Lock

LONGEST_LIFE_S = 0.3
"""Most seconds that a recorder is let work: enough for a batch or two."""


def mixed(count: int) -> list[dict]:
    """Return numbered lines that make `count` events of several kinds, many of two records, some large."""
    lines: list[dict] = []
    for n in range(count // 5):
        at = n * 10
        said = {
            "role": "assistant",
            "content": [{"type": "text", "text": f"answer {n}"}],
            "timestamp": at,
            "responseId": f"rs-{n}",
        }
        lines += [
            call(f"c-{n}", at, begins=True),
            call(f"c-{n}", at + 3, result=text_result("x" * (3000 if n % 50 == 0 else 40) + str(n))),
            call(f"d-{n}", at + 4, error="broken" if n % 7 == 0 else None),
            hook("message_received", {"content": f"question {n}", "messageId": f"m-{n}"}, at + 5),
            hook("before_message_write", {"message": said}, at + 6),
            hook("limpet_add", {"type": "note", "summary": f"note {n}", "details": {"n": n}}, at + 7),
        ]
    return numbered(lines)


def fill(lab: Lab, lines: list[dict], segments: int) -> None:
    """Spread lines over segments, as a producer does that has ended."""
    size = -(-len(lines) // segments)
    for part in range(segments):
        lab.spool(lines[part * size : (part + 1) * size], "01970000-0000-7000-8000-00000000000a", part + 1)


def drain_with_kills(lab: Lab, kills: int, seed: int) -> int:
    """Start a recorder again and again and kill it at a random moment; return how many were killed at work."""
    chance = random.Random(seed)
    at_work = 0
    for _ in range(kills):
        recorder = lab.start("run")
        until(Lock(lab.settings.lock).is_held, "the recorder is at work")
        time.sleep(chance.random() * LONGEST_LIFE_S)
        at_work += recorder.poll() is None and bool(lab.left_in_spool())
        kill(recorder)
    return at_work


def judge(lab: Lab, count: int, lines: list[dict]) -> None:
    """Hold the store against what was written: each record and each event once, chain and index sound."""
    lab.drain()
    assert lab.left_in_spool() == []
    assert sorted(record.seq for record in lab.records()) == list(range(1, len(lines) + 1))
    expected = {f"{kind}-{n}" for n in range(count // 5) for kind in ("c", "d")}
    calls = [event.call for event in lab.events("tool_call")]
    assert (len(calls), set(calls)) == (len(expected), expected)
    words = [event.summary for event in lab.events("message", "note")]
    assert (len(words), len(set(words))) == (count // 5 * 3, count // 5 * 3)
    assert {event.status for event in lab.events("tool_call")} == {"succeeded", "failed"}
    verdict = lab.verdict()
    assert (verdict.faults, verdict.events) == ((), count)
    with lab.recording() as recording:
        recording.store.index.check()
        assert recording.store.stale() == 0
    assert len(lab.found("answer")) == min(1000, count // 5)
    assert lab.quarantined() == []


def test_a_recorder_that_is_killed_at_random_moments_loses_and_doubles_nothing(lab: Lab):
    """3,000 events, 25 kills."""
    lines = mixed(3000)
    fill(lab, lines, 12)
    at_work = drain_with_kills(lab, 25, seed=25)
    judge(lab, 3000, lines)
    assert at_work > 0


@pytest.mark.soak
def test_two_hundred_kills_while_twenty_thousand_events_are_drained(lab: Lab):
    """20,000 events, 200 kills, most of them while there was work."""
    lines = mixed(20_000)
    size = len(lines) // 200
    at_work = 0
    for turn in range(200):
        end = len(lines) if turn == 199 else (turn + 1) * size
        lab.spool(lines[turn * size : end], "01970000-0000-7000-8000-00000000000a", turn + 1)
        if turn % 10 == 9:
            at_work += drain_with_kills(lab, 10, seed=turn)
    judge(lab, 20_000, lines)
    assert at_work > 20


@pytest.mark.parametrize("seed", range(3))
def test_a_rebuild_that_is_killed_leaves_the_events_as_they_were(lab: Lab, seed: int):
    """The events are made anew in one transaction: a kill takes all of it back."""
    lines = mixed(1500)
    fill(lab, lines, 2)
    lab.drain()
    before = lab.events()
    rebuilding = lab.start("rebuild")
    time.sleep(0.25 + random.Random(seed).random() * 0.5)
    kill(rebuilding)
    assert lab.events() == before
    assert lab.limpet("rebuild").status == 0
    assert lab.events() == before
    assert lab.verdict().faults == ()


def test_an_import_that_is_killed_goes_on_where_it_was(lab: Lab):
    """Imported again it adds what was missing, and nothing twice."""
    header = [{"type": "session", "id": "s-1", "timestamp": "2026-06-01T12:00:00.000Z"}]
    path = lab.file("s-1.jsonl", [*header, *(message(n, "user", f"line {n}", n) for n in range(6000))])
    chance = random.Random(5)
    for _ in range(4):
        importing = lab.start("import", str(path))
        time.sleep(0.3 + chance.random() * 0.5)
        kill(importing)
    lab.imported(path)
    assert [event.summary for event in lab.events("message")] == [f"line {n}" for n in range(6000)]
    assert (len(lab.records()), lab.verdict().faults) == (6001, ())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_command_that_is_ended_while_it_drains_loses_nothing(lab: Lab, number: int):
    """A question takes in what waits; ended in the middle of it, the next one goes on."""
    lines = mixed(3000)
    fill(lab, lines, 6)
    for n in range(4):
        asking = lab.start("recent", "--json")
        time.sleep(0.25 + n * 0.15)
        asking.send_signal(number)
        asking.communicate()
    judge(lab, 3000, lines)
