"""Field cases of sessions: ends that nobody tells, subagents, and the memory system's own jobs."""

from __future__ import annotations

import json

import pytest

from lab import Lab, call, hook, iso, message

DAY = 24 * 3_600_000


def timeline(lab: Lab, session: str, *arguments: str) -> dict:
    """Return what `session --json` says."""
    done = lab.limpet("session", session, "--json", *arguments)
    assert done.status == 0, done.out + done.err
    return done.json


# Field case F01: a session that ends without a word


def morning(session: str = "s-1", key: str = "agent:main:main", at: int = 0) -> list[dict]:
    """Return a session's start, four messages and a call."""
    ctx = {"sessionId": session, "sessionKey": key, "runId": f"r-{session}"}
    said = [
        hook("message_received", {"content": f"step {n}", "messageId": f"{session}-{n}"}, at + n, **ctx)
        for n in range(1, 5)
    ]
    return [hook("session_start", {"sessionId": session}, at, **ctx), *said, call(f"c-{session}", at + 6, ctx=ctx)]


def test_a_session_that_is_followed_by_another_has_ended(lab: Lab):
    """Nothing told of its end: every event of it is kept, and its end is inferred from the next session (field case F01)."""
    lab.take([*morning(), *morning("s-2", at=DAY // 3)])
    told = timeline(lab, "s-1")
    assert [event["type"] for event in told["events"]] == ["session", *["message"] * 4, "tool_call"]
    assert told["end"] == {"at": "2026-06-01T20:00:00.000+00:00", "how": "end inferred: s-2 went on in its place"}
    assert timeline(lab, "s-2")["end"] is None


def test_each_event_is_there_as_soon_as_it_is_told(lab: Lab):
    """Nothing waits for an end: after each line its event can be read."""
    for n, line in enumerate(morning()):
        lab.take([line])
        assert len(lab.events()) == n + 1


def test_an_end_that_was_told_is_not_inferred(lab: Lab):
    """The runtime's own word goes before any inference."""
    end = hook("session_end", {"sessionId": "s-1", "reason": "idle"}, 10)
    lab.take([*morning(), end, *morning("s-2", at=DAY)])
    assert timeline(lab, "s-1")["end"]["how"] == "session ended (idle)"


@pytest.mark.parametrize("follower", [("s-2", "agent:main:telegram:7"), ("s-2", "agent:night:main")])
def test_a_session_under_another_key_ends_nothing(lab: Lab, follower: tuple[str, str]):
    """Another conversation, or another agent, says nothing about this one."""
    lab.take([*morning(), *morning(*follower, at=DAY)])
    assert timeline(lab, "s-1")["end"] is None


def test_the_followers_words_may_arrive_first(lab: Lab):
    """The order of arrival changes nothing."""
    lab.take(morning("s-2", at=DAY))
    lab.take(morning(), producer="older")
    assert timeline(lab, "s-1")["end"]["how"] == "end inferred: s-2 went on in its place"


def test_a_session_is_found_by_its_key_too(lab: Lab):
    """A person knows the key: it gives all the sessions that stood under it."""
    lab.take([*morning(), *morning("s-2", at=DAY)])
    assert len(timeline(lab, "agent:main:main")["events"]) == 12


def test_a_session_that_nobody_knows_is_not_found(lab: Lab):
    """Exit status 3 and one sentence."""
    lab.take(morning())
    done = lab.limpet("session", "s-404", "--json")
    assert (done.status, done.json["error"]["code"]) == (3, "not_found")


# Field case F80: what a subagent did


def family() -> list[dict]:
    """Return a parent that starts a child: three calls under the child's session, one of each run under the parent's."""
    child = {"sessionKey": "agent:main:subagent:4", "sessionId": "s-child", "runId": "r-child"}
    spawned = {
        "childSessionKey": "agent:main:subagent:4",
        "childSessionId": "s-child",
        "runId": "r-child",
        "label": "log review",
    }
    return [
        hook("subagent_spawned", spawned),
        *(call(f"child-{n}", 10 * n, tool="read", params={"path": f"/var/log/{n}"}, ctx=child) for n in range(3)),
        call("parent-1", 100),
        call("child-3", 110, ctx={"runId": "r-child"}),
        hook("subagent_ended", {"childSessionKey": "agent:main:subagent:4", "outcome": "ok"}, 200),
    ]


def calls_in(told: dict) -> list[tuple[str, bool]]:
    """Return each call of a timeline and whether it is marked as a child's."""
    return [(e["call"], "child" in e["flags"]) for e in told["events"] if e["type"] == "tool_call"]


def test_a_parents_timeline_without_children_has_its_own_calls_only(lab: Lab):
    """The run decides: a call of the child's run that carries the parent's session is the child's (field case F80)."""
    lab.take(family())
    assert calls_in(timeline(lab, "s-1")) == [("parent-1", False)]


def test_a_parents_timeline_with_children_has_all_and_marks_the_childrens(lab: Lab):
    """Five calls, four of them marked."""
    lab.take(family())
    told = calls_in(timeline(lab, "s-1", "--children"))
    assert told == [("child-0", True), ("child-1", True), ("child-2", True), ("parent-1", False), ("child-3", True)]


def test_the_subagent_itself_is_one_event_with_its_outcome(lab: Lab):
    """Its start and its end are one, in the parent's timeline."""
    lab.take(family())
    told = [e for e in timeline(lab, "s-1")["events"] if e["type"] == "subagent"]
    assert [(e["status"], e["summary"]) for e in told] == [("succeeded", "subagent log review started")]


def test_the_childs_own_timeline_has_its_calls(lab: Lab):
    """By the child's session and by its key, the one under the parent's session included, and none of them marked."""
    lab.take(family())
    expected = [(f"child-{n}", False) for n in range(4)]
    assert calls_in(timeline(lab, "s-child")) == expected
    assert calls_in(timeline(lab, "agent:main:subagent:4", "--children")) == expected


def test_a_child_of_a_child_belongs_to_the_family(lab: Lab):
    """Two floors of subagents: the grandparent's timeline with children has every call."""
    middle = {"sessionKey": "agent:main:subagent:4", "sessionId": "s-child", "runId": "r-child"}
    lowest = {"sessionKey": "agent:main:subagent:5", "sessionId": "s-grand", "runId": "r-grand"}
    spawned = {"childSessionKey": "agent:main:subagent:5", "childSessionId": "s-grand", "runId": "r-grand"}
    lab.take([*family(), hook("subagent_spawned", spawned, 20, **middle), call("grand-1", 30, ctx=lowest)])
    assert ("grand-1", True) in calls_in(timeline(lab, "s-1", "--children"))


def test_an_order_of_arrival_makes_no_orphans(lab: Lab):
    """The child's calls may arrive before anybody says that there is a child."""
    lab.take(family()[::-1])
    assert len(calls_in(timeline(lab, "s-1", "--children"))) == 5
    assert calls_in(timeline(lab, "s-1")) == [("parent-1", False)]


def test_two_children_of_one_parent_are_told_apart(lab: Lab):
    """Each child is one event, also when both have the same label."""
    lines = []
    for n in (1, 2):
        child = {
            "childSessionKey": f"agent:main:subagent:{n}",
            "childSessionId": f"s-c{n}",
            "runId": f"r-c{n}",
            "label": "same",
        }
        lines += [
            hook("subagent_spawned", child, n),
            hook("subagent_ended", {**child, "outcome": "ok" if n == 1 else "error"}, 50 + n),
        ]
    lab.take(lines)
    assert [event.status for event in lab.events("subagent")] == ["succeeded", "failed"]


# Field case F101: the memory system's own jobs


def own_jobs(count: int = 30) -> list[dict]:
    """Return sessions of a summariser of ours, one after the other."""
    return [
        hook("session_start", {"sessionId": f"s-own-{n}"}, n * 1000, sessionId=f"s-own-{n}", sessionKey=f"agent:main:{word}-{n}", trigger="cron")
        for n in range(count)
        for word in (("sidecar-summary", "limpet-note")[n % 2],)
    ]  # fmt: skip


def test_own_jobs_are_kept_but_not_shown(lab: Lab):
    """Of thirty sessions of ours and one human message, answers show one (field case F101)."""
    lab.take([*own_jobs(), hook("message_received", {"content": "the only human today", "messageId": "m1"}, 50_000)])
    told = lab.limpet("recent", "--json", "--now", iso(60_000)).json
    assert (told["count"], [event["summary"] for event in told["events"]]) == (1, ["the only human today"])
    assert {event.label for event in lab.events("session")} == {"own"}
    assert len(lab.events("session")) == 30


@pytest.mark.parametrize("key", ["agent:main:internal-session-effects:9", "agent:main:explicit:model-run-3"])
def test_the_gateways_own_runs_are_kept_but_not_shown(lab: Lab, key: str):
    """Its internal sessions are marked and hidden, and can still be asked for by their key."""
    lab.take([hook("session_start", {"sessionId": "s-i"}, sessionId="s-i", sessionKey=key), call("c-1", 1)])
    assert [e["call"] for e in lab.limpet("recent", "--json", "--now", iso(99)).json["events"]] == ["c-1"]
    assert len(timeline(lab, key)["events"]) == 1


def test_our_own_tools_are_not_what_the_agent_did(lab: Lab):
    """A call of a memory tool of ours is marked; one that only sounds like it is not."""
    tools = ["memory_ask", "limpet__recent", "memory_search", "limpet"]
    lab.take([call(f"c-{n}", n, tool=tool) for n, tool in enumerate(tools)])
    assert [event.label for event in lab.events("tool_call")] == ["own", "own", "", ""]


def test_own_jobs_are_not_shown_by_their_transcripts_either(lab: Lab):
    """What a transcript tells of such a session carries the same mark."""
    folder = "state/agents/main/sessions"
    store = {"agent:main:limpet-note-1": {"sessionId": "s-own"}}
    (lab.folder / folder).mkdir(parents=True)
    (lab.folder / folder / "sessions.json").write_text(json.dumps(store))
    lab.file(
        f"{folder}/s-own.jsonl",
        [{"type": "session", "id": "s-own", "timestamp": iso()}, message(1, "user", "write it", 1)],
    )
    lab.drain()
    assert [(event.type, event.label) for event in lab.events("message")] == [("message", "own")]
