"""Properties: the same records in any order of arrival, in any split, any of them repeated, give the same events."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab import NOON, Lab, call, hook, iso, message, raw, text_result
from limpet.model import Batch
from limpet.spool.line import record_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from limpet.model import Event, Record

Told = tuple[list[dict], list[dict]]
"""What the hooks and what the transcript say of one act, each in its own order."""


def turn(n: int, at: int, call_id: str, failed: bool = False) -> Told:
    """Return a tool call as both witnesses tell it."""
    params = {"command": f"step {n}"}
    block = {"type": "toolCall", "id": call_id, "name": "exec", "arguments": params}
    hooks = [
        call(call_id, at, begins=True, params=params),
        call(call_id, at + 50, params=params, error="no" if failed else None),
    ]
    rows = [
        message(10 * n, "assistant", [block], at + 1),
        message(10 * n + 1, "toolResult", "ok", at + 60, toolCallId=call_id, isError=failed),
    ]
    return hooks, rows


def plain_call(n: int, at: int) -> Told:
    """Return a call with an id of its own."""
    return turn(n, at, f"c-{n}", n % 3 == 0)


def recurring_call(n: int, at: int) -> Told:
    """Return a call whose id the provider gives again and again."""
    return turn(n, at, "call_1", n % 3 == 0)


def call_in_hooks(n: int, at: int) -> Told:
    """Return a call that the transcript does not hold."""
    return turn(n, at, f"h-{n}")[0], []


def call_in_transcript(n: int, at: int) -> Told:
    """Return a call that the hooks missed."""
    return [], turn(n, at, f"t-{n}")[1]


def open_call(n: int, at: int) -> Told:
    """Return a call that nobody sees the end of."""
    return turn(n, at, f"o-{n}")[0][:1], turn(n, at, f"o-{n}")[1][:1]


def question(n: int, at: int) -> Told:
    """Return a user's message by both, joined by its key."""
    said = {"role": "user", "content": f"question {n}", "timestamp": NOON + at, "idempotencyKey": f"run-{n}:user"}
    received = hook("message_received", {"content": f"question {n}", "messageId": f"run-{n}"}, at)
    return [received, hook("before_message_write", {"message": said}, at + 1)], [row(n, at + 2, said)]


def answer(n: int, at: int) -> Told:
    """Return an agent's message by both, joined by time and response id, and the end of its run."""
    content = [{"type": "text", "text": f"answer {n}"}]
    said = {
        "role": "assistant",
        "content": content,
        "timestamp": NOON + at,
        "responseId": f"rs-{n}",
        "stopReason": "stop",
    }
    end = hook("agent_end", {"success": n % 2 == 0, "durationMs": 7}, at + 9, runId=f"run-{n}")
    return [hook("before_message_write", {"message": said}, at), end], [row(n, at + 2, said)]


def streamed(n: int, at: int) -> Told:
    """Return three snapshots of one message."""
    texts = ("I", f"I will {n}", f"No {n}.")
    return [], [message(100 * n + k, "assistant", text, at + k, id=f"msg-{n}") for k, text in enumerate(texts)]


def restart(n: int, at: int) -> Told:
    """Return a start of the gateway and the message that the next turn begins with."""
    words = "[System] Your previous turn was interrupted by a gateway restart; go on."
    return [hook("gateway_start", {"port": 1}, at)], [message(10 * n, "user", words, at + 5)]


def made_up(n: int, at: int) -> Told:
    """Return a call of which the transcript holds a made-up result."""
    hooks, rows = turn(n, at, f"s-{n}")
    return hooks[:1], [rows[0], {**rows[1], "message": {**rows[1]["message"], "isError": True, "synthetic": True}}]


def lives(n: int, at: int) -> Told:
    """Return a session, a compaction, a reset, a subagent, a cron job and a model call, from begin to end."""
    child = {"childSessionKey": f"agent:main:subagent:{n}", "runId": f"r-sub-{n}", "outcome": "ok"}
    job = {"jobId": "j", "runAtMs": at, "status": "ok", "job": {"name": "tidy"}}
    model = {"callId": f"r:model:{n}", "provider": "p", "model": "m", "outcome": "completed"}
    here = {"sessionId": f"s-{n}", "sessionKey": f"agent:main:x{n}"}
    begun = [("session_start", {}), ("before_compaction", {}), ("subagent_spawned", child), ("cron_changed", {**job, "action": "started"}), ("model_call_started", model)]  # fmt: skip
    over = [("after_compaction", {}), ("subagent_ended", child), ("cron_changed", {**job, "action": "finished"}), ("model_call_ended", model), ("before_reset", {}), ("session_end", {"reason": "idle"})]  # fmt: skip
    hooks = [hook(kind, event, at + k, **here) for k, (kind, event) in enumerate([*begun, *over])]
    summary = {"type": "compaction", "id": f"k{n}", "timestamp": iso(at + 6), "summary": f"shrunk {n}"}
    return hooks, [summary, {"type": "reset", "id": f"z{n}", "timestamp": iso(at + 10), "reason": "idle"}]


def row(n: int, at: int, said: dict) -> dict:
    """Return the transcript's row of a message."""
    return {"type": "message", "id": f"m{n}-{said['role']}", "timestamp": iso(at), "message": said}


ACTS: Sequence[Callable[[int, int], Told]] = (
    plain_call, recurring_call, call_in_hooks, call_in_transcript, open_call, question, answer, streamed, restart, made_up, lives,
)  # fmt: skip


def story(acts: Sequence[Callable[[int, int], Told]], step_ms: int) -> list[Record]:
    """Return the records of these acts, one after the other; each restart begins a new producer."""
    hooks: list[dict] = []
    rows: list[dict] = []
    life, seq = 0, 0
    for n, act in enumerate(acts):
        if act is restart:
            life, seq = life + 1, 0
        said, written = act(n, n * step_ms)
        for line in said:
            seq += 1
            hooks.append({"id": f"hook {life} {seq}", "producer": f"life-{life}", "seq": seq, **line})
        rows += written
    transcript = [
        {**hook("transcript_line", entry, runId=""), "ts": entry["timestamp"], "id": f"row {n}", "producer": "main/s-1", "seq": n + 1, "source": "openclaw.transcripts"}
        for n, entry in enumerate(rows)
    ]  # fmt: skip
    return [record_of(raw(line), "", 0, NOON) for line in (*hooks, *transcript)]


def taken_in(lab: Lab, batches: Sequence[Sequence[Record]]) -> list[Event]:
    """Commit these batches one after the other and return the events."""
    with lab.recording() as recording:
        for batch in batches:
            recording.recorder.commit("story", Batch(tuple(batch)), NOON)
        while recording.recorder.index():
            pass
    return lab.events()


def meaning(events: Sequence[Event]) -> list[str]:
    """Return what events say, without what depends on the order in which their records came."""
    return sorted(repr(replace(event, id=0, arrived_ms=0, places=(), keys=())) for event in events)


STORIES = st.lists(st.sampled_from(ACTS), min_size=1, max_size=9)


@given(STORIES, st.sampled_from([2, 60, 700, 90_000]), st.integers(0, 1 << 32), st.integers(1, 12))
@settings(max_examples=30, deadline=None)
def test_any_order_any_split_any_repeats_give_the_same_events(acts: list, step_ms: int, seed: int, parts: int):
    """The events, all they say, and the chain; made anew they are the same with the same ids."""
    records = story(acts, step_ms)
    chance = random.Random(seed)
    shuffled = [*records, *chance.choices(records, k=len(records) // 2)]
    chance.shuffle(shuffled)
    size = -(-len(shuffled) // parts)
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        expected = meaning(taken_in(Lab(Path(one)), [records]))
        lab = Lab(Path(other))
        events = taken_in(lab, [shuffled[n : n + size] for n in range(0, len(shuffled), size)])
        assert meaning(events) == expected
        assert len(lab.records()) == len(records)
        assert lab.verdict().faults == ()
        with lab.recording() as recording:
            recording.recorder.rebuild(lambda _: None)
        assert lab.events() == events


@given(STORIES, st.integers(0, 1 << 32))
@settings(max_examples=10, deadline=None)
def test_records_that_come_one_by_one_give_the_same_events(acts: list, seed: int):
    """Each record in a transaction of its own, backwards and at random."""
    records = story(acts, 300)
    with TemporaryDirectory() as one, TemporaryDirectory() as two, TemporaryDirectory() as three:
        expected = meaning(taken_in(Lab(Path(one)), [records]))
        assert meaning(taken_in(Lab(Path(two)), [[record] for record in records[::-1]])) == expected
        random.Random(seed).shuffle(records)
        assert meaning(taken_in(Lab(Path(three)), [[record] for record in records])) == expected


@pytest.mark.parametrize("witness", ["hooks", "transcripts"])
def test_one_witness_alone_tells_of_every_call(lab: Lab, witness: str):
    """With the plugin off, or the transcripts unreadable, each call that the witness saw is there once."""
    records = story([plain_call, recurring_call, question, answer, recurring_call, plain_call], 1000)
    mine = [record for record in records if record.source == f"openclaw.{witness}"]
    calls = [event for event in taken_in(lab, [mine]) if event.type == "tool_call"]
    assert [(event.summary, event.status) for event in calls] == [
        ("exec step 0", "failed"), ("exec step 1", "succeeded"), ("exec step 4", "succeeded"), ("exec step 5", "succeeded"),
    ]  # fmt: skip


def test_ids_that_were_given_out_stay_good(lab: Lab):
    """An event that merges with another keeps the older id, and the younger one still leads to it."""
    hooks, rows = story([call_in_hooks], 0), story([call_in_transcript], 0)
    first = [replace(record, body={**record.body, "event": renamed(record.body["event"])}) for record in rows]
    (early,) = taken_in(lab, [first[:1]])
    events = taken_in(lab, [hooks])
    assert [event.id for event in events] == [early.id]
    for number in (early.id, 2 << 12, 3 << 12):
        assert lab.limpet("show", str(number), "--json").json["id"] == str(early.id)


def renamed(event: dict) -> dict:
    """Return the transcript's entry under the call id that the hooks use."""
    blocks = [{**block, "id": "h-0"} for block in event["message"]["content"] if isinstance(block, dict)]
    return {**event, "message": {**event["message"], "content": blocks, "toolCallId": "h-0"}}


@given(st.permutations(range(6)), st.lists(st.integers(1, 5), max_size=3, unique=True))
@settings(max_examples=10, deadline=None)
def test_any_split_over_segments_gives_the_same_records(order: list[int], cuts: list[int]):
    """Lines of one producer spread over segments in any way, read whenever, are the same records and events."""
    lines = [
        {"id": f"l{n}", "producer": "p", "seq": n + 1, **call(f"c-{n}", n, result=text_result(str(n)))}
        for n in range(6)
    ]
    with TemporaryDirectory() as folder:
        lab = Lab(Path(folder))
        bounds = [0, *sorted(cuts), 6]
        for segment, (start, end) in enumerate(pairwise(bounds), start=1):
            lab.spool([lines[order[n]] for n in range(start, end)], segment=segment)
            if segment % 2:
                lab.drain()
        lab.drain()
        assert {record.id for record in lab.records()} == {record_of(raw(line), "p", 0, NOON).id for line in lines}
        assert [event.call for event in lab.events()] == [f"c-{n}" for n in range(6)]
