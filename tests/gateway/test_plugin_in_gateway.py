"""The plugin in a real gateway, judged by what it left in the spool and by what the model really asked for."""

from __future__ import annotations

import json
import os
from collections import Counter

import pytest

from gateway import driving, spooled
from limpet.runtimes.openclaw import setup

pytestmark = pytest.mark.gateway


@pytest.fixture
def day(silent_day: driving.Day) -> driving.Day:
    """Take the day that the plugin recorded and nobody drained."""
    return silent_day


def finished_jobs(day: driving.Day) -> dict[str, str]:
    """Return the state of each finished job of the day by its name; on a slow day the gateway's heartbeat runs, too."""
    told = [r["event"] for r in day.hooks("cron_changed") if r["event"]["action"] == "finished"]
    return {event["job"]["name"]: event["status"] for event in told if not event["job"]["name"].startswith("heartbeat")}


def calls(day: driving.Day, hook: str) -> Counter[str]:
    """Count a tool hook's records by tool call id."""
    return Counter(record["event"]["toolCallId"] for record in day.hooks(hook))


def test_every_tool_call_is_told_before_and_after(day: driving.Day) -> None:
    """What the model asked for, and nothing else, began and ended, each as often as asked: also an id used twice."""
    asked = Counter(call["id"] for call in day.provider.issued)
    unknown = Counter(call["id"] for call in day.provider.issued if call["name"] == "no_such_tool")
    killed = Counter(call["id"] for call in day.provider.issued if call["directive"].startswith("sleep"))
    outer = {id_: n for id_, n in calls(day, "before_tool_call").items() if ":" not in id_}
    assert asked - unknown == outer
    assert asked - killed == {id_: n for id_, n in calls(day, "after_tool_call").items() if ":" not in id_}
    assert asked["call_same"] == 2


def test_results_and_failures_are_told(day: driving.Day) -> None:
    """An exit status, an error text and a whole large output are in the records."""
    ended = {r["event"]["toolCallId"]: r["event"] for r in day.hooks("after_tool_call")}
    by_script = {c["directive"].partition("@")[0]: ended[c["id"]] for c in day.provider.issued if c["id"] in ended}
    assert by_script["fail"]["result"]["details"]["exitCode"] == 3
    assert by_script["unknown_tool"]["error"] == "Tool no_such_tool not found"
    assert "File not found" in json.dumps(by_script["missing_file"])
    assert len(by_script["big"]["result"]["details"]["aggregated"]) > 60_000


def test_numbers_have_no_hole_and_every_line_is_whole(day: driving.Day) -> None:
    """Each producer counts from one; every line is JSON of the shape that the spool promises."""
    producers = spooled.by_producer(day.home)
    assert len(producers) == 2
    for name, records in producers.items():
        assert [r["seq"] for r in records] == list(range(1, len(records) + 1)), name
        assert {tuple(r) for r in records} == {("v", "id", "producer", "seq", "ts", "hook", "ctx", "event")}
    ids = [r["id"] for r in spooled.records(day.home)]
    assert len(set(ids)) == len(ids)


def test_every_message_is_told(day: driving.Day) -> None:
    """Each text of the user and each answer of the model went through the spool on its way into the transcript."""
    written = [r["event"]["message"] for r in day.hooks("before_message_write")]
    users = [json.dumps(m["content"]) for m in written if m["role"] == "user"]
    assert [t for t in day.texts if not any(t in content for content in users)] == []
    answered = Counter(m["responseId"] for m in written if m["role"] == "assistant" and "responseId" in m)
    told = Counter(said["id"] for said in day.provider.said if said["directive"])
    assert told - answered == {}
    assert set(answered.values()) == {1}


def test_messages_know_their_session_and_run(day: driving.Day) -> None:
    """What the host leaves out, other hooks of the same session have told."""
    answers = [r for r in day.hooks("before_message_write") if r["event"]["message"]["role"] == "toolResult"]
    runs = {r["event"]["toolCallId"]: (r["ctx"]["sessionId"], r["ctx"]["runId"]) for r in day.hooks("after_tool_call")}
    for r in answers:
        call = r["event"]["message"]["toolCallId"]
        assert (r["ctx"]["sessionIdSeen"], r["ctx"]["runIdSeen"]) == runs[call]


@pytest.mark.parametrize(
    "hook",
    [
        *("gateway_start", "gateway_stop", "session_start", "session_end", "before_reset", "before_compaction"),
        *("after_compaction", "message_received", "model_call_started", "model_call_ended", "agent_end"),
        *("subagent_spawned", "subagent_ended", "cron_changed", "limpet_start", "limpet_stop"),
    ],
)
def test_every_kind_of_event_is_told(day: driving.Day, hook: str) -> None:
    """Each hook that this day should have fired did."""
    assert day.hooks(hook)


def test_cron_jobs_are_told_with_their_outcome(day: driving.Day) -> None:
    """A job that works and one that fails."""
    assert finished_jobs(day) == {"nightly": "ok", "broken": "error"}


def test_histories_and_prompts_are_left_out(day: driving.Day) -> None:
    """A run's end says how the last message ended, and carries no history; nothing carries a system prompt."""
    for record in day.hooks("agent_end"):
        assert "messages" not in record["event"]
        assert record["event"]["lastMessage"]["role"]
    assert not any("systemPrompt" in record["event"] for record in spooled.records(day.home))


def test_errors_of_the_provider_are_told_though_the_run_says_success(day: driving.Day) -> None:
    """After HTTP 400 the gateway's own word is success; the last message tells the truth."""
    failed = [r["event"] for r in day.hooks("agent_end") if r["event"]["lastMessage"].get("stopReason") == "error"]
    assert {True} == {event["success"] for event in failed}
    assert {event["lastMessage"]["errorMessage"][:3] for event in failed} == {"400", "503"}


def test_files_are_for_their_owner_alone(day: driving.Day) -> None:
    """Folders 0700, files 0600."""
    modes = {
        (p.is_dir(), p.stat().st_mode & 0o777) for p in [day.home, *day.home.rglob("*")] if p.name != "sidecar.pids"
    }
    assert modes == {(True, 0o700), (False, 0o600)}


def test_the_sidecar_runs_as_long_as_the_gateway(day: driving.Day) -> None:
    """One for each start of the gateway; none outlives it, not even when it is killed."""
    pids = [int(line) for line in (day.home / "sidecar.pids").read_text().split()]
    assert len(pids) == 2
    day.gateway.wait_for(lambda: not any(map(is_alive, pids)), "the sidecars are gone", 10)
    assert not any(map(is_alive, pids))


def is_alive(pid: int) -> bool:
    """Whether a process of that id exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_openclaw_left_our_configuration_alone(day: driving.Day) -> None:
    """The gateway lived with what set-up wrote: it neither changed nor refused it."""
    assert day.configured == day.gateway.config.read_bytes()


def test_removal_restores_the_configuration(day: driving.Day) -> None:
    """After the day every byte of the configuration is as it was before."""
    setup.apply(setup.plan_removal(day.gateway.state))
    assert day.former == day.gateway.config.read_bytes()
