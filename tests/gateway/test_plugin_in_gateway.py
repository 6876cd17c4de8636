"""The plugin in a real gateway, judged by what it left in the spool and by what the model really asked for."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from gateway import spooled
from limpet.runtimes.openclaw import setup

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gateway.gateway import Gateway
    from gateway.provider import Provider

pytestmark = pytest.mark.gateway

SIDECAR = ("sh", "-c", 'echo $$ >> "$LIMPET_HOME/sidecar.pids"; cat > /dev/null')
"""Stands where the sidecar would: it notes its process id and lives until its input ends."""
TURNS = ("ok", "fail", "three", "unknown_tool", "missing_file", "flaky", "http(400)", "same_id", "big(20000)", "spawn")


@dataclass
class Day:
    """What was driven, and what is left of it."""

    gateway: Gateway
    provider: Provider
    former: bytes
    configured: bytes
    texts: list[str] = field(default_factory=list)

    @property
    def home(self) -> Path:
        """Limpet's own folder."""
        return self.gateway.state / "limpet"

    def hooks(self, name: str) -> list[dict[str, Any]]:
        """Return the records of one hook."""
        return [record for record in spooled.records(self.home) if record["hook"] == name]

    def say(self, text: str, session: str | None = None) -> None:
        """Send a message and wait for the answer."""
        self.texts.append(text)
        self.gateway.turn(text, session, check=False)

    def wait_for_hook(self, name: str, count: int = 1) -> None:
        """Wait until that many records of a hook are there."""
        self.gateway.wait_for(lambda: len(self.hooks(name)) >= count, f"{count} x {name}")


@pytest.fixture(scope="module")
def day(new_gateway: Callable[..., Gateway], provider: Provider) -> Day:
    """Drive one busy day through a gateway that our set-up alone has configured."""
    gateway = new_gateway()
    former = gateway.config.read_bytes()
    setup.apply(setup.plan_setup(gateway.state, setup.plugin_folder(), SIDECAR))
    day = Day(gateway, provider, former, gateway.config.read_bytes())
    gateway.start()
    ordinary_turns(day)
    clockwork(day)
    killed_in_a_call(day)
    gateway.stop()
    return day


def ordinary_turns(day: Day) -> None:
    """Talk: plain, with tools that work and fail, in two sessions, and the way the web chat does."""
    day.say("Hello there")
    for directive in TURNS:
        day.say(f"Please DO:{directive} now")
    day.wait_for_hook("subagent_ended")
    day.say("DO:ok in another session", "agent:main:other")
    day.texts.append("DO:say(Answer to the chat.) by chat")
    day.gateway.chat_send(day.texts[-1])
    day.gateway.wait_for(
        lambda: any(s["text"] == "Answer to the chat." for s in day.provider.said), "the chat's answer"
    )


def clockwork(day: Day) -> None:
    """Run cron commands that work and fail, compact by hand, begin a new window."""
    for name, command in (("nightly", "echo cron-ran"), ("broken", "echo oops >&2; exit 4")):
        day.gateway.cron_run(day.gateway.cron_add(name, command))
    day.gateway.wait_for(lambda: len(finished_jobs(day)) == 2, "two finished jobs")
    day.gateway.compact()
    day.say("DO:ok after the compaction")
    day.gateway.turn("/new")
    day.say("DO:ok in the new window")


def killed_in_a_call(day: Day) -> None:
    """Kill the gateway while a tool runs, start it again, and go on."""
    day.texts.append("DO:sleep(600)")
    cut_short = day.gateway.openclaw_started("agent", "--agent", "main", "--message", day.texts[-1])
    day.gateway.wait_for(lambda: unanswered(day), "a tool call under way")
    day.gateway.kill()
    cut_short.kill()
    cut_short.communicate()
    day.gateway.start()
    day.say("DO:ok after the kill")


def finished_jobs(day: Day) -> dict[str, str]:
    """Return the state of each finished job by its name."""
    told = [r["event"] for r in day.hooks("cron_changed") if r["event"]["action"] == "finished"]
    return {event["job"]["name"]: event["status"] for event in told}


def unanswered(day: Day) -> list[str]:
    """Return the calls that began and have not ended."""
    begun, ended = calls(day, "before_tool_call"), calls(day, "after_tool_call")
    return list((begun - ended).elements())


def calls(day: Day, hook: str) -> Counter[str]:
    """Count a tool hook's records by tool call id."""
    return Counter(record["event"]["toolCallId"] for record in day.hooks(hook))


def test_every_tool_call_is_told_before_and_after(day: Day) -> None:
    """What the model asked for, and nothing else, began and ended, each as often as asked: also an id used twice."""
    asked = Counter(call["id"] for call in day.provider.issued)
    unknown = Counter(call["id"] for call in day.provider.issued if call["name"] == "no_such_tool")
    killed = Counter(call["id"] for call in day.provider.issued if call["directive"].startswith("sleep"))
    outer = {id_: n for id_, n in calls(day, "before_tool_call").items() if ":" not in id_}
    assert asked - unknown == outer
    assert asked - killed == {id_: n for id_, n in calls(day, "after_tool_call").items() if ":" not in id_}
    assert asked["call_same"] == 2


def test_results_and_failures_are_told(day: Day) -> None:
    """An exit status, an error text and a whole large output are in the records."""
    ended = {r["event"]["toolCallId"]: r["event"] for r in day.hooks("after_tool_call")}
    by_script = {c["directive"].partition("@")[0]: ended[c["id"]] for c in day.provider.issued if c["id"] in ended}
    assert by_script["fail"]["result"]["details"]["exitCode"] == 3
    assert by_script["unknown_tool"]["error"] == "Tool no_such_tool not found"
    assert "File not found" in json.dumps(by_script["missing_file"])
    assert len(by_script["big"]["result"]["details"]["aggregated"]) > 60_000


def test_numbers_have_no_hole_and_every_line_is_whole(day: Day) -> None:
    """Each producer counts from one; every line is JSON of the shape that the spool promises."""
    producers = spooled.by_producer(day.home)
    assert len(producers) == 2
    for name, records in producers.items():
        assert [r["seq"] for r in records] == list(range(1, len(records) + 1)), name
        assert {tuple(r) for r in records} == {("v", "id", "producer", "seq", "ts", "hook", "ctx", "event")}
    ids = [r["id"] for r in spooled.records(day.home)]
    assert len(set(ids)) == len(ids)


def test_every_message_is_told(day: Day) -> None:
    """Each text of the user and each answer of the model went through the spool on its way into the transcript."""
    written = [r["event"]["message"] for r in day.hooks("before_message_write")]
    users = [json.dumps(m["content"]) for m in written if m["role"] == "user"]
    assert [t for t in day.texts if not any(t in content for content in users)] == []
    answered = Counter(m["responseId"] for m in written if m["role"] == "assistant" and "responseId" in m)
    told = Counter(said["id"] for said in day.provider.said if said["directive"])
    assert told - answered == {}
    assert set(answered.values()) == {1}


def test_messages_know_their_session_and_run(day: Day) -> None:
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
def test_every_kind_of_event_is_told(day: Day, hook: str) -> None:
    """Each hook that this day should have fired did."""
    assert day.hooks(hook)


def test_cron_jobs_are_told_with_their_outcome(day: Day) -> None:
    """A job that works and one that fails."""
    assert finished_jobs(day) == {"nightly": "ok", "broken": "error"}


def test_histories_and_prompts_are_left_out(day: Day) -> None:
    """A run's end says how the last message ended, and carries no history; nothing carries a system prompt."""
    for record in day.hooks("agent_end"):
        assert "messages" not in record["event"]
        assert record["event"]["lastMessage"]["role"]
    assert not any("systemPrompt" in record["event"] for record in spooled.records(day.home))


def test_errors_of_the_provider_are_told_though_the_run_says_success(day: Day) -> None:
    """After HTTP 400 the gateway's own word is success; the last message tells the truth."""
    failed = [r["event"] for r in day.hooks("agent_end") if r["event"]["lastMessage"].get("stopReason") == "error"]
    assert {True} == {event["success"] for event in failed}
    assert {event["lastMessage"]["errorMessage"][:3] for event in failed} == {"400", "503"}


def test_files_are_for_their_owner_alone(day: Day) -> None:
    """Folders 0700, files 0600."""
    modes = {
        (p.is_dir(), p.stat().st_mode & 0o777) for p in [day.home, *day.home.rglob("*")] if p.name != "sidecar.pids"
    }
    assert modes == {(True, 0o700), (False, 0o600)}


def test_the_sidecar_runs_as_long_as_the_gateway(day: Day) -> None:
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


def test_openclaw_left_our_configuration_alone(day: Day) -> None:
    """The gateway lived with what set-up wrote: it neither changed nor refused it."""
    assert day.configured == day.gateway.config.read_bytes()


def test_removal_restores_the_configuration(day: Day) -> None:
    """After the day every byte of the configuration is as it was before."""
    setup.apply(setup.plan_removal(day.gateway.state))
    assert day.former == day.gateway.config.read_bytes()
