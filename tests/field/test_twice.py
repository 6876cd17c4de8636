"""Field cases of doubles: the same thing said again, by the same witness or another, is one event; real repeats stay."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from lab import NOON, Lab, call, hook, iso, message, text_result

AIRLINE = Path(__file__).parents[3] / "shared" / "data" / "questions" / "airline.ndjson"


def calls_of(lab: Lab) -> list[tuple[str, str, int | None]]:
    """Return id, status and duration of every tool call."""
    return [(event.call, event.status, event.duration_ms) for event in lab.events("tool_call")]


# Field case F13: one call told three times


def told_thrice() -> list[dict]:
    """Return two begins and three ends of one call, some without result and duration."""
    full = {
        "tool": "web_fetch",
        "params": {"url": "https://shop.example/a"},
        "durationMs": 310,
        "result": text_result("hello"),
    }
    bare = {**full, "durationMs": None, "result": None}
    return [
        call("d-1", 0, begins=True, tool="web_fetch", params={"url": "https://shop.example/a"}),
        call("d-1", 29, begins=True, tool="web_fetch", params={"url": "https://shop.example/a"}),
        call("d-1", 329, **bare),
        call("d-1", 300, **full),
        call("d-1", 336, **full),
    ]


def test_a_call_told_three_times_is_one_call_with_the_fullest_data(lab: Lab):
    """One call, 310 ms, its result found; every copy is in the ledger (field case F13)."""
    lab.take(told_thrice())
    assert calls_of(lab) == [("d-1", "succeeded", 310)]
    assert [event.call for event in lab.found("hello")] == ["d-1"]
    assert len(lab.records()) == 5
    assert lab.limpet("recent", "--json", "--now", iso(1000)).json["count"] == 1


@pytest.mark.parametrize("order", [p for n, p in enumerate(permutations(range(5))) if n % 8 == 0])
def test_the_copies_may_come_in_any_order(lab: Lab, order: tuple[int, ...]):
    """Whichever copy comes first, the call is the same: time of the first begin, the fullest end."""
    lines = [{**line, "producer": "p", "seq": n + 1} for n, line in enumerate(told_thrice())]
    with lab.recording() as recording:
        for n in order:
            lab.spool([lines[n]], segment=n + 1)
            recording.round()
    (event,) = lab.events()
    assert (event.status, event.duration_ms, event.at_ms) == ("succeeded", 310, NOON)


def test_a_copy_that_says_less_takes_nothing_away(lab: Lab):
    """An end without an outcome, told last, leaves error, duration and status as they were."""
    lab.take([call("d-1", 5, error="no such host", durationMs=7), call("d-1", 9, durationMs=None, result=None)])
    (event,) = lab.events()
    assert (event.status, event.error, event.duration_ms) == ("failed", "no such host", 7)


def test_the_same_line_twice_is_one_record(lab: Lab):
    """A line that a producer sent again, with its id, counts once, in one segment or in two."""
    line = {**call("d-1"), "id": "01970000-0000-7000-8000-000000000001", "producer": "p", "seq": 1}
    lab.spool([line, line], segment=1)
    lab.spool([line], segment=2)
    lab.drain()
    assert (len(lab.events()), len(lab.records()), lab.counts()["duplicate"]) == (1, 1, 2)


def test_equal_content_alone_never_merges(lab: Lab):
    """The same command run three times, under three ids and under none, is six calls."""
    event = {"toolName": "exec", "params": {"command": "date"}, "result": text_result("Mon")}
    lab.take([call(f"c-{n}", params={"command": "date"}, result=text_result("Mon")) for n in range(3)])
    lab.take([{**hook("after_tool_call", event), "id": f"line {n}"} for n in range(3)], producer="other")
    assert len(lab.events("tool_call")) == 6


def test_the_same_words_said_twice_are_two_messages(lab: Lab):
    """A user who writes "yes" twice has written twice, in hooks and in a transcript."""
    lab.take([hook("message_received", {"content": "yes", "messageId": f"m{n}"}, n) for n in range(2)])
    lab.imported(lab.file("s-2.jsonl", [message(n, "user", "yes", n) for n in range(2)]))
    assert len(lab.events("message")) == 4


# An id that recurs within a run (providers count from one again)


def rounds_of(lab: Lab) -> list[tuple[str, str]]:
    """Return the summary and the status of every call, oldest first."""
    return [(event.summary, event.status) for event in lab.events("tool_call")]


def test_an_id_that_recurs_is_a_new_call(lab: Lab):
    """A begin after an end of the same id begins a new call; each has its own outcome."""
    lab.take(
        [
            call("call_1", 0, begins=True, params={"command": "one"}),
            call("call_1", 5, params={"command": "one"}),
            call("call_1", 100, begins=True, params={"command": "two"}),
            call("call_1", 105, params={"command": "two"}, error="broken"),
        ]
    )
    assert rounds_of(lab) == [("exec one", "succeeded"), ("exec two", "failed")]


def test_an_id_that_recurs_in_another_run_is_a_new_call(lab: Lab):
    """Another run that uses the id makes another call, also when only ends are told."""
    lab.take([call("call_1", n, params={"command": str(n)}, ctx={"runId": f"r-{n}"}) for n in range(3)])
    assert rounds_of(lab) == [("exec 0", "succeeded"), ("exec 1", "succeeded"), ("exec 2", "succeeded")]


def test_an_id_that_recurs_in_another_session_is_a_new_call(lab: Lab):
    """Two conversations, of one agent or of two, share no calls."""
    places = [("main", "s-1"), ("main", "s-2"), ("night", "s-3")]
    lab.take(
        [
            call("call_1", n, ctx={"agentId": agent, "sessionId": session, "sessionKey": f"agent:{agent}:{session}", "runId": ""})
            for n, (agent, session) in enumerate(places)
        ]
    )  # fmt: skip
    assert [(event.agent, event.session) for event in lab.events("tool_call")] == places


def test_a_transcript_pairs_each_call_with_the_next_result_of_its_id(lab: Lab):
    """An id that recurs in a transcript: each block goes with the result that follows it."""
    lines = [{"type": "session", "id": "s-1", "timestamp": iso()}]
    for n, word in enumerate(("one", "two", "three")):
        block = {"type": "toolCall", "id": "call_1", "name": "exec", "arguments": {"command": word}}
        lines.append(message(10 * n, "assistant", [block], 10 * n))
        lines.append(message(10 * n + 1, "toolResult", word, 10 * n + 1, toolCallId="call_1", isError=word == "two"))
    lab.imported(lab.file("s-1.jsonl", lines))
    assert rounds_of(lab) == [("exec one", "succeeded"), ("exec two", "failed"), ("exec three", "succeeded")]


def two_witnesses(n: int, word: str) -> tuple[list[dict], list[dict]]:
    """Return what hook and transcript say of one call whose id recurs."""
    block = {"type": "toolCall", "id": "call_1", "name": "exec", "arguments": {"command": word}}
    hooks = [
        call("call_1", 100 * n, begins=True, params={"command": word}),
        call("call_1", 100 * n + 40, params={"command": word}, durationMs=n),
    ]
    rows = [
        message(10 * n, "assistant", [block], 100 * n + 1),
        message(10 * n + 1, "toolResult", word, 100 * n + 50, toolCallId="call_1"),
    ]
    return hooks, rows


@pytest.mark.parametrize("hooks_first", [True, False])
def test_two_witnesses_of_a_recurring_id_agree(lab: Lab, hooks_first: bool):
    """Hooks and transcript tell of three calls of one id: three events, each seen by both."""
    told = [two_witnesses(n, word) for n, word in enumerate(("one", "two", "three"))]
    path = lab.file(
        "s-1.jsonl", [{"type": "session", "id": "s-1", "timestamp": iso()}, *(row for _, rows in told for row in rows)]
    )
    hooks = [line for lines, _ in told for line in lines]
    steps = [lambda: lab.take(hooks), lambda: lab.imported(path)]
    for step in steps if hooks_first else steps[::-1]:
        step()
    assert rounds_of(lab) == [("exec one", "succeeded"), ("exec two", "succeeded"), ("exec three", "succeeded")]
    both = ("openclaw.hooks", "openclaw.transcripts")
    assert [(event.duration_ms, event.sources) for event in lab.events("tool_call")] == [
        (0, both),
        (1, both),
        (2, both),
    ]


def test_a_witness_that_missed_one_of_a_recurring_id_matches_the_others(lab: Lab):
    """The hook missed the middle one: it is known from the transcript alone, and the other two are not shifted."""
    told = [two_witnesses(n, word) for n, word in enumerate(("one", "two", "three"))]
    lab.take([*told[0][0], *told[2][0]])
    lab.imported(
        lab.file(
            "s-1.jsonl",
            [{"type": "session", "id": "s-1", "timestamp": iso()}, *(row for _, rows in told for row in rows)],
        )
    )
    assert [(event.summary, len(event.sources)) for event in lab.events("tool_call")] == [
        ("exec one", 2),
        ("exec two", 1),
        ("exec three", 2),
    ]


# Field case F14: snapshots of a streamed message


def snapshots(
    words: tuple[str, ...] = ("I will", "I will look at", "I will look at the backup now."), **fields: object
) -> list[dict]:
    """Return three snapshots of one message, the tool call only in the last."""
    block = {"type": "toolCall", "id": "st-1", "name": "exec", "arguments": {"command": "systemctl status backup"}}
    lines = [{"type": "session", "id": "s-14", "timestamp": iso(-1)}]
    for n, text in enumerate(words):
        content = [{"type": "text", "text": text}, *([block] if n == len(words) - 1 else [])]
        usage = {"input": 10, "output": (3, 41, 212)[n]}
        said = {"id": "msg-1", "responseId": None, "stopReason": "toolUse" if n == 2 else None, "usage": usage}
        lines.append({**message(n, "assistant", content, (-600, 300, 1700)[n], **said), **fields})
    return lines


def test_a_streamed_message_is_one_message(lab: Lab):
    """Text, call and usage of the last snapshot, time (and so the day) of the first (field case F14)."""
    lab.imported(lab.file("s-14.jsonl", snapshots()))
    (said,) = lab.events("message")
    assert (said.summary, said.at_ms) == ("I will look at the backup now.", NOON - 600)
    assert said.details == {"input": 10, "output": 212}
    assert [(event.call, event.summary) for event in lab.events("tool_call")] == [
        ("st-1", "exec systemctl status backup")
    ]


def test_a_streamed_message_may_arrive_piece_by_piece(lab: Lab):
    """Imported after each snapshot, it is one message all the while, and at last the whole one."""
    lines = snapshots()
    seen = []
    for n in range(2, 5):
        lab.imported(lab.file("s-14.jsonl", lines[:n]))
        seen.append([event.summary for event in lab.events("message")])
    assert seen == [["I will"], ["I will look at"], ["I will look at the backup now."]]


def test_the_last_snapshot_counts_even_if_it_is_shorter(lab: Lab):
    """A final text that is shorter than what was streamed (a retry, an edit) is what was said."""
    lab.imported(lab.file("s-14.jsonl", snapshots(("Let me think about that for a while ...", "Let me think", "No."))))
    assert [event.summary for event in lab.events("message")] == ["No."]


# Field case F16: keys of which one part is missing


@pytest.mark.parametrize("order", list(permutations(range(3)))[::2])
def test_a_missing_request_id_makes_no_second_message(lab: Lab, order: tuple[int, ...]):
    """The same message with, without, and with an empty request id is one (field case F16)."""
    said = message(1, "assistant", [{"type": "text", "text": "answer"}])
    copies = [{**said, "requestId": "req-9"}, said, {**said, "requestId": ""}]
    lab.imported(
        lab.file("s-16.jsonl", [{"type": "session", "id": "s-16", "timestamp": iso()}, *(copies[n] for n in order)])
    )
    assert [event.summary for event in lab.events("message")] == ["answer"]


@pytest.mark.parametrize("lacking", ["responseId", "usage", "stopReason", "model", "provider"])
def test_a_field_that_only_one_copy_has_makes_no_second_message(lab: Lab, lacking: str):
    """Two copies of an entry that differ in what one of them lacks are one message."""
    fields = {
        "responseId": "rs-1",
        "usage": {"output": 5},
        "stopReason": "stop",
        "model": "m",
        "provider": "p",
        "timestamp": NOON,
    }
    whole = message(1, "assistant", "answer", **fields)
    poorer = message(1, "assistant", "answer", **{k: v for k, v in fields.items() if k != lacking})
    lab.imported(lab.file("s-16.jsonl", [whole, poorer]))
    assert len(lab.events("message")) == 1


def test_a_hook_and_a_transcript_tell_of_one_message(lab: Lab):
    """A user's words by their key, an answer by its time and response id, whichever witness comes first."""
    asked = {"role": "user", "content": "where is my bike?", "timestamp": NOON, "idempotencyKey": "run-1:user"}
    answered = {
        "role": "assistant",
        "content": [{"type": "text", "text": "In the shed."}],
        "timestamp": NOON + 9,
        "responseId": "rs-1",
    }
    lab.take([hook("before_message_write", {"message": asked}), hook("before_message_write", {"message": answered}, 9)])
    rows = [entry_of(n, said) for n, said in enumerate((asked, answered))]
    lab.imported(
        lab.file("agents/main/sessions/s-1.jsonl", [{"type": "session", "id": "s-1", "timestamp": iso()}, *rows])
    )
    assert [event.summary for event in lab.events("message")] == ["where is my bike?", "In the shed."]


def entry_of(number: int, said: dict) -> dict:
    """Return the transcript's entry of a message."""
    return {"type": "message", "id": f"e{number}", "timestamp": iso(number * 9 + 2), "message": said}


# Field case F17: copies of a transcript


def files_of_a_resumed_session(lab: Lab, first: str = "s-A", second: str = "s-B") -> list[Path]:
    """Return a transcript, one that repeats it and goes on, and the first under the name that a reset gave it."""
    old = [
        {"type": "session", "id": first, "timestamp": iso()},
        *(message(n, "user", f"A{n}", n * 1000) for n in range(6)),
    ]
    new = [
        {"type": "session", "id": second, "timestamp": iso(60_000)},
        *old[1:],
        *(message(n, "user", f"B{n}", 60_000 + n * 1000) for n in range(6, 9)),
    ]
    return [
        lab.file(f"{first}.jsonl", old),
        lab.file(f"{second}.jsonl", new),
        lab.file(f"{first}.jsonl.reset.2026-06-01T13-00-00.000Z", old),
    ]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_session_that_was_copied_counts_once(lab: Lab, order: tuple[int, ...]):
    """A session, its resumed copy and its renamed file are nine messages, and importing them again adds nothing (F17)."""
    files = files_of_a_resumed_session(lab)
    lab.imported(*(files[n] for n in order))
    expected = [*(f"A{n}" for n in range(6)), *(f"B{n}" for n in range(6, 9))]
    assert [event.summary for event in lab.events("message")] == expected
    before = lab.events()
    assert lab.imported(*(files[n] for n in order))["added"] == 0
    assert lab.events() == before


@pytest.mark.parametrize("names", [("s-A", "s-B"), ("s-Y", "s-X")])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_copied_message_belongs_to_the_session_in_which_it_was_said(
    lab: Lab, names: tuple[str, str], order: tuple[int, int]
):
    """Whatever the sessions are called and whichever file comes first."""
    files = files_of_a_resumed_session(lab, *names)
    lab.imported(*(files[n] for n in order))
    first, second = names
    assert [event.session for event in lab.events("message")] == [first] * 6 + [second] * 3


def test_a_session_that_goes_on_from_another_says_so(lab: Lab):
    """The copy is linked to the session that it continues."""
    lab.imported(*files_of_a_resumed_session(lab))
    assert lab.limpet("session", "s-B", "--json").json["continues"] == "s-A"
    assert lab.limpet("session", "s-A", "--json").json["continues"] is None


def test_a_resumed_session_does_not_repeat_its_calls(lab: Lab):
    """Calls that the copy repeats are counted once, those that it adds are new, also with ids that recur."""

    def turn(n: int, at: int) -> list[dict]:
        block = {"type": "toolCall", "id": "call_1", "name": "exec", "arguments": {"command": f"step {n}"}}
        return [
            message(10 * n, "assistant", [block], at),
            message(10 * n + 1, "toolResult", "ok", at + 5, toolCallId="call_1"),
        ]

    old = [{"type": "session", "id": "s-A", "timestamp": iso()}, *turn(1, 100), *turn(2, 200)]
    new = [{"type": "session", "id": "s-B", "timestamp": iso(900)}, *old[1:], *turn(3, 1000)]
    lab.imported(lab.file("s-B.jsonl", new), lab.file("s-A.jsonl", old))
    assert [event.summary for event in lab.events("tool_call")] == ["exec step 1", "exec step 2", "exec step 3"]


# Real runs


@pytest.mark.skipif(not AIRLINE.exists(), reason="the airline runs are not beside the repository")
def test_the_airline_runs_give_661_calls_of_which_31_failed(lab: Lab):
    """Real runs, with ids that recur within a run; imported a second time they add nothing."""
    first = lab.imported(AIRLINE)
    events = lab.events()
    calls = [event for event in events if event.type == "tool_call"]
    assert (len(calls), sum(event.status == "failed" for event in calls)) == (661, 31)
    again = lab.imported(AIRLINE)
    assert (again["added"], again["known"]) == (0, first["read"])
    assert lab.events() == events
    assert lab.verdict().faults == ()
