"""Field cases of JSON: whatever shape results, arguments, ids and numbers have, each record is kept and understood."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab import NOON, Done, Lab, call, hook, iso, message, text_result
from limpet import jsonline
from limpet.interpreter import making
from limpet.model import Batch
from limpet.runtimes.meaning import READINGS
from limpet.spool.line import record_of

NESTING = (100, 198, 199, 992, 1000, 5000, 100_000)

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=20)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec=None), max_size=12), inner, max_size=4)
    ),
    max_leaves=15,
)

NAMES = st.sampled_from(
    [
        "action",
        "agentId",
        "arguments",
        "call_id",
        "callId",
        "childSessionKey",
        "content",
        "customType",
        "details",
        "dropped",
        "durationMs",
        "ended_at",
        "error",
        "errorCategory",
        "errorMessage",
        "event_type",
        "exitCode",
        "id",
        "idempotencyKey",
        "input",
        "isError",
        "job",
        "jobId",
        "label",
        "lastMessage",
        "level",
        "message",
        "messageId",
        "messages",
        "metadata",
        "name",
        "ok",
        "outcome",
        "output",
        "params",
        "payload",
        "provider",
        "reason",
        "result",
        "role",
        "runAtMs",
        "runId",
        "session_id",
        "sessionId",
        "sessionKey",
        "since_ms",
        "started_at",
        "status",
        "stopReason",
        "success",
        "summary",
        "tags",
        "targetKind",
        "text",
        "timestamp",
        "tool",
        "tool_use_id",
        "toolCallId",
        "toolName",
        "trigger",
        "type",
        "until_ms",
        "usage",
        "zone",
        "__openclaw",
    ]
)
WORDS = st.sampled_from(
    [
        "assistant",
        "user",
        "toolResult",
        "custom",
        "toolCall",
        "tool_use",
        "tool_result",
        "function_call",
        "function_call_output",
        "response_item",
        "message",
        "compaction",
        "reset",
        "started",
        "finished",
        "failed",
        "running",
        "timeout",
        "blocked",
        "openclaw.nested-tool.v1",
        "HEARTBEAT_OK",
    ]
)
KNOWN = st.recursive(
    SCALARS | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=25,
)


# Field case F35: results and arguments of any shape


SHAPES = {
    "text": "PART00 as plain text",
    "blocks": [{"type": "text", "text": "PART01"}],
    "several blocks": [{"type": "text", "text": "first"}, {"type": "text", "text": "PART02 second"}],
    "texts": ["PART03", "more"],
    "null in a list": [None, {"type": "text", "text": "PART04"}],
    "object": {"rows": [{"name": "PART05"}]},
    "JSON in a text": '[{"type":"text","text":"PART06"}]',
    "content in content": {"content": [{"type": "tool_result", "content": [{"type": "text", "text": "PART07"}]}]},
    "a block that nobody knows": [{"type": "hologram_v3", "payload": "PART08"}],
    "text instead of content": {"content": "PART09"},
    "output": {"output": "PART10", "metadata": {"exit_code": 0}},
    "structured": {"content": [], "structuredContent": {"answer": "PART11"}},
    "deep": {"a": {"b": {"c": [[["PART12"]]]}}},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_words_of_a_result_are_found_in_any_shape(lab: Lab, shape: str):
    """A result is stored, understood as a success, and its words are found (field case F35)."""
    lab.take([call("c-1", tool="probe", params={}, result=SHAPES[shape])])
    marker = f"PART{list(SHAPES).index(shape):02}"
    assert [(event.call, event.status) for event in lab.found(marker)] == [("c-1", "succeeded")]


@pytest.mark.parametrize("result", [None, 42, 0, True, False, "", [], {}, [{"type": "text"}], [None], [[]]])
def test_a_result_without_words_is_stored_as_it_is(lab: Lab, result: object):
    """Null, numbers, booleans and empty things make one event, and come back from the ledger unchanged."""
    (event,) = lab.take([call("c-1", result=result)])
    assert (event.type, event.status, event.call) == ("tool_call", "succeeded", "c-1")
    assert result == lab.records()[0].body["event"]["result"]


@pytest.mark.parametrize(
    ("params", "summary"),
    [
        (None, "probe"),
        ("words", "probe words"),
        (["a", 2], 'probe ["a",2]'),
        (7, "probe 7"),
        (False, "probe false"),
        ({}, "probe"),
        ('{"path":"/srv/x"}', "probe /srv/x"),
        ({"command": "ls", "other": 1}, "probe ls"),
    ],
)
def test_arguments_of_any_shape_make_a_call_readable(lab: Lab, params: object, summary: str):
    """Arguments may be an object, JSON in a text, a plain text, a list, a number or nothing."""
    first = call("c-1", tool="probe", begins=True, params=params)
    lab.take([first, call("c-1", 5, tool="probe", params=params)])
    said = [event.summary for event in lab.events()]
    assert params == lab.records()[0].body["event"]["params"]
    if isinstance(params, str) and params.startswith("{"):
        return  # a hook hands over objects; JSON in a text is what transcripts of some providers hold, see F36
    assert [summary] == said


# Field case F36: three dialects in one transcript


def test_three_dialects_of_tool_calls_are_one_kind_of_event(lab: Lab):
    """OpenClaw's, Anthropic's and codex's names give one call each, with its own result (field case F36)."""
    asked = {"type": "function_call", "call_id": "q-3", "name": "shell", "arguments": '{"command":["who"]}'}
    told = {"type": "function_call_output", "call_id": "q-3", "output": '{"output":"x","metadata":{"exit_code":0}}'}
    result = {"type": "tool_result", "tool_use_id": "q-2", "content": "no", "is_error": True}
    path = lab.file(
        "s-36.jsonl",
        [
            {"type": "session", "id": "s-36", "timestamp": iso()},
            message(
                1, "assistant", [{"type": "toolCall", "id": "q-1", "name": "exec", "arguments": {"command": "w"}}], 1
            ),
            message(2, "toolResult", text_result("x")["content"], 2, toolCallId="q-1", toolName="exec", isError=False),
            message(3, "assistant", [{"type": "tool_use", "id": "q-2", "name": "Bash", "input": {"command": "w"}}], 3),
            message(4, "user", [result], 4),
            {"type": "response_item", "timestamp": iso(5), "payload": asked},
            {"type": "response_item", "timestamp": iso(6), "payload": told},
            {"type": "kind_of_tomorrow", "id": "e7", "timestamp": iso(7), "x": 1},
        ],
    )
    assert lab.imported(path)["added"] == 8
    calls = [(e.call, e.tool, e.status, e.summary) for e in lab.events("tool_call")]
    assert calls == [
        ("q-1", "exec", "succeeded", "exec w"),
        ("q-2", "Bash", "failed", "Bash w"),
        ("q-3", "shell", "succeeded", 'shell {"command":["who"]}'),
    ]
    assert [e.summary for e in lab.events("unknown")] == ["transcript entry kind_of_tomorrow (not known to Limpet)"]
    assert lab.events("message") == []


def test_several_calls_in_one_message_each_get_their_own_result(lab: Lab):
    """Three calls asked for at once, answered in another order, in one message of results and in single ones."""
    blocks = [{"type": "tool_use", "id": f"m-{n}", "name": "Read", "input": {"path": f"/{n}"}} for n in range(3)]
    two = [
        {"type": "tool_result", "tool_use_id": "m-2", "content": [{"type": "text", "text": "two"}]},
        {"type": "tool_result", "tool_use_id": "m-0", "content": "zero", "is_error": True},
    ]
    path = lab.file(
        "s-1.jsonl",
        [
            message(1, "assistant", [{"type": "text", "text": "Reading three files."}, *blocks], 1),
            message(2, "user", two, 2),
            message(3, "toolResult", "one", 3, toolCallId="m-1", toolName="Read"),
        ],
    )
    lab.imported(path)
    assert {e.call: e.status for e in lab.events("tool_call")} == {
        "m-0": "failed",
        "m-1": "succeeded",
        "m-2": "succeeded",
    }
    assert [e.summary for e in lab.events("message")] == ["Reading three files."]


def test_a_result_whose_call_was_never_seen_is_an_event_that_names_its_tool(lab: Lab):
    """A transcript that begins with a result (its head was cut off) still tells of a call."""
    path = lab.file("s-1.jsonl", [message(1, "toolResult", "done", 1, toolCallId="t-1", toolName="deploy")])
    lab.imported(path)
    assert [(e.tool, e.call, e.status, e.summary) for e in lab.events("tool_call")] == [
        ("deploy", "t-1", "succeeded", "deploy")
    ]


# Field case F38: what is a failure


OUTCOMES = [
    ("an error text", {"result": None, "error": "EACCES: permission denied"}, "failed", ()),
    ("an error object", {"result": {"error": {"code": 503, "message": "try later"}}}, "failed", ()),
    ("isError", {"result": {**text_result("no"), "isError": True}}, "failed", ()),
    ("is_error", {"result": {**text_result("no"), "is_error": True}}, "failed", ()),
    ("the word failed", {"result": {**text_result("no"), "details": {"status": "failed", "exitCode": 4}}}, "failed", ()),
    ("the word error", {"result": {"status": "error", "message": "no"}}, "failed", ()),
    ("an exit code", {"result": {**text_result("usage:"), "details": {"exitCode": 2}}}, "failed", ()),
    ("an exit code in snake case", {"result": {**text_result("usage:"), "exit_code": 3}}, "failed", ()),
    ("ok false", {"result": {**text_result("x"), "ok": False}}, "failed", ()),
    ("success false", {"result": {"success": False, "message": "quota"}}, "failed", ()),
    ("ok false, and completed", {"result": {"ok": False, "details": {"status": "completed"}}}, "failed", ()),
    ("a time-out", {"result": {**text_result(""), "details": {"timedOut": True}}}, "timed_out", ()),
    ("the word timeout", {"result": {"details": {"status": "timeout"}}}, "timed_out", ()),
    ("a build that failed silently", {"params": {"command": "make all"}, "result": {**text_result(""), "details": {"status": "completed", "exitCode": 1}}}, "failed", ()),
    ("a search without a hit", {"params": {"command": "dmesg | grep -i oom"}, "result": {**text_result(""), "details": {"status": "completed", "exitCode": 1}}}, "succeeded", ()),
    ("a question of another tool", {"params": {"case": "no hit"}, "result": {**text_result(""), "details": {"status": "completed", "exitCode": 1}}}, "succeeded", ()),
    ("ok true, error null", {"result": {"ok": True, "error": None, "exitCode": 0}}, "succeeded", ()),
    ("an empty error", {"result": text_result("fine"), "error": ""}, "succeeded", ()),
    ("a file about errors", {"tool": "read", "result": text_result("Error: line 1 of a log")}, "succeeded", ()),
    ("words about failures", {"result": text_result("0 errors, 0 failed, isError: true")}, "succeeded", ()),
    ("a number as status", {"result": {"status": 200, "body": "x"}}, "succeeded", ()),
    ("exit code 0 as text", {"result": {**text_result("x"), "details": {"exitCode": "0"}}}, "succeeded", ()),
    ("nothing at all", {"result": None}, "succeeded", ("empty",)),
    ("isError after exit code 0", {"result": {"isError": True, "details": {"status": "completed", "exitCode": 0}}}, "succeeded", ("conflict",)),
    ("still running", {"result": {**text_result("pid 9"), "details": {"status": "running", "exitCode": None}}}, "started", ()),
    ("stopped by a key", {"result": {**text_result("^C"), "details": {"status": "completed", "exitCode": 130}}}, "interrupted", ()),
    ("blocked", {"result": None, "blocked": True, "blockReason": "policy"}, "blocked", ()),
    ("denied", {"result": {"details": {"status": "denied"}}}, "blocked", ()),
    ("cancelled", {"result": {"details": {"status": "cancelled"}}}, "cancelled", ()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "status", "flags"), [case[1:] for case in OUTCOMES], ids=[case[0] for case in OUTCOMES]
)
def test_an_outcome_is_read_from_every_field_that_tells_of_it(lab: Lab, said: dict, status: str, flags: tuple):
    """Failures are told in many fields, and each is read for what it says (field case F38)."""
    (event,) = lab.take([call("c-1", **said)])
    assert (status, flags) == (event.status, event.flags)


def test_failed_calls_are_those_that_failed_or_timed_out_and_no_others(lab: Lab):
    """A question for failures finds exactly them: pending, interrupted and blocked calls are none (field case F38)."""
    lab.take([call(name, at, **dict(said)) for at, (name, said, _, _) in enumerate(OUTCOMES)])
    failed = {name for name, _, status, _ in OUTCOMES if status in ("failed", "timed_out")}
    assert failed == {e.call for e in lab.events("tool_call", **{"is": "error"})}
    assert {name: status for name, _, status, _ in OUTCOMES} == {e.call: e.status for e in lab.events("tool_call")}


@pytest.mark.parametrize("name", ["EACCES: permission denied", "try later", "quota", "policy"])
def test_a_failure_says_why(lab: Lab, name: str):
    """The error's own words stand in the event."""
    lab.take([call(case, at, **dict(said)) for at, (case, said, _, _) in enumerate(OUTCOMES)])
    assert name in {event.error for event in lab.events("tool_call")}


# Field case F39: numbers that JSON does not have


NUMBERS = {
    "NaN": "NaN",
    "Infinity": "Infinity",
    "-Infinity": "-Infinity",
    "1e999": "1e999",
    "-1E400": "-1E400",
    "0.1": 0.1,
}


def test_a_number_that_json_does_not_have_stays_as_it_was_written(lab: Lab):
    """A bare NaN costs no record, and everything that Limpet writes is strict JSON (field case F39)."""
    event = {"toolName": "score", "params": {"x": "@"}, "result": {"v": [1, "@"]}}
    line = json.dumps(hook("after_tool_call", event)).encode() + b"\n"
    events = lab.take([line.replace(b'"@"', word.encode()) for word in NUMBERS])
    assert [(x, [1, x]) for x in NUMBERS.values()] == [
        (record.body["event"]["params"]["x"], record.body["event"]["result"]["v"]) for record in lab.records()
    ]
    told = [lab.limpet("recent", "--json", "--now", iso(99)), lab.limpet("show", str(events[0].id), "--json")]
    told += [Done(0, line, "") for line in lab.limpet("export").out.splitlines()]
    assert 2 + len(NUMBERS) == len([done.json for done in told])


def test_every_json_column_is_json_for_sqlite(lab: Lab):
    """SQLite's own json_valid agrees for details, tags and flags, whatever numbers and texts were given."""
    odd = {"x": float("nan"), "y": [float("inf")], "z": "\ud83d", "big": 10**40, "nul": "a\0b"}
    lab.take(
        [
            hook("limpet_add", {"type": "note", "summary": "odd", "details": odd, "tags": odd}),
            hook("limpet_add", {"type": "note", "summary": "odd", "details": float("nan"), "tags": [float("inf")]}),
            call("c-1", result=odd, ts=0),
        ]
    )
    look = (
        "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute("
        "'SELECT count(*), sum(json_valid(details)), sum(json_valid(tags)), sum(json_valid(coalesce(flags, 1))) FROM events'"
        ").fetchone())"
    )
    done = lab.code(look, str(lab.db))
    assert done.out == "(3, 3, 3, 3)\n", done.err


# Field case F40: numbers larger than what others can hold


BIG = [2**53 + 1, 1497549923779084388, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**40]


def test_every_digit_of_a_large_number_comes_back(lab: Lab):
    """As an id, as an argument and as a detail: from `show`, from `export` and from the view (field case F40)."""
    sent = [hook("message_sent", {"messageId": n, "params": {"channel": n}}, at) for at, n in enumerate(BIG)]
    notes = [hook("limpet_add", {"type": "note", "summary": "n", "details": {"n": n}}, 99) for n in BIG]
    lab.take([*sent, *notes])
    exported = [json.loads(line)["event"] for line in lab.limpet("export", "--records").out.splitlines()]
    assert [(n, n) for n in BIG] == [(e["messageId"], e["params"]["channel"]) for e in exported[: len(BIG)]]
    assert [e["details"]["n"] for e in exported[len(BIG) :]] == BIG
    assert [e.details["n"] for e in lab.events("note")] == BIG
    shown = lab.limpet("show", str(lab.events("delivery")[-1].id), "--json").json
    assert BIG[-1] == shown["records"][0]["body"]["event"]["messageId"]


@pytest.mark.parametrize("number", [0, 7, *BIG])
def test_a_number_as_a_call_id_joins_begin_and_end(lab: Lab, number: int):
    """An id may be a number of any size: begin and end of the call find each other, and it is shown with every digit."""
    event = {"toolName": "exec", "params": {}, "toolCallId": number}
    lab.take([hook("before_tool_call", event), hook("after_tool_call", {**event, "result": "x"}, 9)])
    assert [(str(number), "succeeded")] == [(e.call, e.status) for e in lab.events()]


@pytest.mark.parametrize("field", ["messageId", "toolCallId", "runId", "sessionId", "jobId"])
def test_two_large_ids_that_differ_in_the_last_digit_stay_two(lab: Lab, field: str):
    """What would be one number as a float is two things."""
    kind = {"messageId": "message_received", "jobId": "cron_changed"}.get(field, "after_tool_call")
    lines = [
        hook(kind, {field: 2**60 + n, "content": "x", "toolName": "t", "action": "started", "runAtMs": 5}, n)
        for n in range(2)
    ]
    assert len(lab.take(lines)) == 2


# Field case F41: nesting


@pytest.mark.parametrize("depth", NESTING)
def test_deep_nesting_never_stops_the_recorder(lab: Lab, depth: int):
    """Within the stated depth stored whole, deeper cut with a mark; the next line arrives, no secret stays (field case F41)."""
    secret = "sk_" + "live_" + "9aF3kQ7xW2mZ8bT1cV6nY4rL0pD5hJsG"
    line = hook(
        "after_tool_call", {"toolName": "t", "toolCallId": "d-1", "params": {"apiKey": secret, "a": "@", "z": "kept"}}
    )
    deep = json.dumps(line).replace('"@"', '{"a":' * depth + "1" + "}" * depth).encode() + b"\n"
    lab.take([deep, hook("gateway_start", {"marker": "AFTER"}, 1)])
    first, second = lab.records()
    assert (first.body["event"]["params"]["z"], second.body["event"]["marker"]) == ("kept", "AFTER")
    stored = jsonline.dump(first.body).decode()
    assert secret not in stored
    assert (depth > jsonline.MAX_DEPTH - 4) == (jsonline.CUT in stored)
    assert secret.encode() not in b"".join(path.read_bytes() for path in lab.state.rglob("*") if path.is_file())
    assert lab.quarantined() == []


@pytest.mark.parametrize("depth", NESTING)
def test_deep_lists_in_a_transcript_never_stop_the_import(lab: Lab, depth: int):
    """The same for lists, in a file that is imported."""
    line = json.dumps(message(1, "user", "@", 1)).replace('"@"', "[" * depth + "]" * depth).encode() + b"\n"
    path = lab.file("s-1.jsonl", [line, message(2, "user", "AFTER", 2)])
    assert (lab.imported(path)["added"], len(lab.quarantined())) == (2, 0)
    assert "AFTER" in [event.summary for event in lab.events("message")]


# Field case F42: missing context


def test_a_missing_agent_is_unknown_and_never_main(lab: Lab):
    """No agent is made up, no session borrowed; an unknown hook is kept as it came (field case F42)."""
    lines = [
        {"hook": "after_tool_call", "ts": NOON, "ctx": {"toolName": "exec"}, "event": {"toolName": "exec", "result": "x"}},
        {"hook": "after_tool_call", "ts": NOON + 1, "ctx": {"agentId": "night", "sessionId": "s-9"}, "event": {"toolName": "exec", "toolCallId": "k-1"}},
        {"hook": "session_end", "ts": NOON + 2, "event": {}},
        {"hook": "hook_of_2031", "ts": NOON + 3, "ctx": {"agentId": "main"}, "event": {"anything": [1]}},
    ]  # fmt: skip
    lab.take(lines)
    told = lab.limpet("recent", "--json", "--now", iso(1000)).json["events"]
    assert [(e["type"], e["agent"]) for e in told] == [
        ("unknown", "main"),
        ("session", "unknown"),
        ("tool_call", "night"),
        ("tool_call", "unknown"),
    ]
    assert [e["session"] for e in told] == [None, None, "s-9", None]
    assert lab.records()[3].body["event"] == {"anything": [1]}


@pytest.mark.parametrize(
    "ctx", [None, {}, {"agentId": None}, {"agentId": ""}, {"agentId": {"id": "main"}}, {"agentId": ["main"]}]
)
def test_an_agent_that_is_no_name_is_unknown(lab: Lab, ctx: object):
    """Null, empty and wrongly typed agents are unknown."""
    lab.take([{"hook": "gateway_start", "ts": NOON, "ctx": ctx, "event": {}}, {**hook("agent_end"), "ctx": ctx}])
    assert [e["agent"] for e in lab.limpet("recent", "--json", "--now", iso(99)).json["events"]] == [
        "unknown",
        "unknown",
    ]


def test_a_later_event_of_the_same_call_fills_in_what_was_missing(lab: Lab):
    """The begin knows neither agent nor session; the end does, and the call has both."""
    bare = {"hook": "before_tool_call", "ts": NOON, "ctx": {}, "event": {"toolName": "exec", "toolCallId": "k-1"}}
    lab.take([bare, call("k-1", 5, ctx={"agentId": "night", "sessionId": "s-9", "sessionKey": "agent:night:main"})])
    assert [(e.agent, e.session, e.status) for e in lab.events("tool_call")] == [("night", "s-9", "succeeded")]


def test_calls_without_an_id_are_never_joined(lab: Lab):
    """Two begins and one end that name no call are three things: a missing id matches nothing."""
    event = {"toolName": "exec", "params": {"command": "date"}}
    lab.take([hook("before_tool_call", event), hook("before_tool_call", event, 1), hook("after_tool_call", event, 2)])
    assert len(lab.events("tool_call")) == 3


@pytest.mark.parametrize(
    "kind", ["before_compaction", "before_reset", "subagent_ended", "session_start", "agent_end", "cron_changed"]
)
def test_things_that_name_nothing_are_never_joined(lab: Lab, kind: str):
    """The same for compactions, resets, subagents, sessions, runs and cron jobs."""
    event = {"action": "finished"}
    lab.take([{"hook": kind, "ts": NOON + n * 1000, "ctx": {}, "event": event} for n in range(3)])
    assert len(lab.events()) == 3


# Any JSON at all


@given(st.sampled_from([*READINGS, "never_heard_of"]), st.dictionaries(NAMES, KNOWN, max_size=8), KNOWN)
@settings(max_examples=200)
def test_no_reader_stumbles_over_any_value(kind: str, event: dict, ctx: object):
    """Known names with values of any type are read; no record is `misread`."""
    body = {"hook": kind, "ts": NOON, "ctx": ctx if isinstance(ctx, dict) else {}, "event": event}
    record = record_of(jsonline.dump(body), "p", 1, NOON)
    flags = {flag for fact in making.facts_of(record) for flag in fact.flags}
    assert "misread" not in flags


@given(
    st.lists(st.tuples(st.sampled_from([*READINGS, "never_heard_of"]), VALUES, VALUES, KNOWN), min_size=1, max_size=8)
)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_json_is_stored_and_comes_back(tmp_path_factory: pytest.TempPathFactory, given_lines: list):
    """Whatever stands in a line, the ledger gives it back as it was parsed, and the chain and the events verify."""
    lab = Lab(tmp_path_factory.mktemp("any"))
    bodies = [
        {"hook": kind, "ts": ts if isinstance(ts, int | float | str) else None, "ctx": {"x": ctx}, "event": {"message": event, "x": ctx}, "n": n}
        for n, (kind, ts, ctx, event) in enumerate(given_lines)
    ]  # fmt: skip
    records = [record_of(jsonline.dump(body), "p", n + 1, NOON) for n, body in enumerate(bodies)]
    with lab.recording() as recording:
        assert len(records) == recording.recorder.commit("any", Batch(tuple(records)), NOON)
        while recording.recorder.index():
            pass
    verdict = lab.verdict()
    assert ((), len(records)) == (verdict.faults, verdict.records)
    kept = [record.body["event"]["x"] for record in lab.records()]
    assert [jsonline.parse(jsonline.dump(body))["event"]["x"] for body in bodies] == kept
