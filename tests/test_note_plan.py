"""The plan of a note: true numbers, statements that name their events, and every failure in one of them."""

from __future__ import annotations

import resource
import tracemalloc
from collections import Counter
from dataclasses import asdict, replace
from datetime import date, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import note_days
from lab import NOON, call, hook
from limpet import coverage, days
from limpet.model import Coverage, Event, Gap
from limpet.note.gathering import agents_of, plan_from
from limpet.note.plan import plan_of
from limpet.note.wording import MOST_BYTES, body, listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lab import Lab
    from limpet.note.plan import Plan

DAY = date(2026, 6, 1)
SEEN = Coverage("complete")
WATCHED = coverage.Watched(now_ms=NOON)


def event(number: int, kind: str = "tool_call", at: int = 0, **more: Any) -> Event:
    """Return an event `at` milliseconds after NOON."""
    given: dict[str, Any] = {"agent": "main", "session": "s-1", "session_key": "agent:main:main", **more}
    return Event(id=number * 4096, at_ms=NOON + at, arrived_ms=NOON + at, type=kind, **given)


def ran(number: int, command: str, status: str = "succeeded", **more: Any) -> Event:
    """Return a command that the agent ran, a second for each number after NOON."""
    return event(number, at=number * 1000, tool="exec", summary=f"exec {command}", status=status, **more)


def planned(
    events: Iterable[Event], zone: str = "UTC", day: date = DAY, known: Coverage = SEEN, last: date | None = None
) -> Plan:
    """Return the plan of these events for the agent `main`."""
    return plan_of(events, known, first=day, last=last or day, zone=zone, agent="main")


def words(plan: Plan, kind: str) -> list[str]:
    """Return what is said of a kind."""
    return [one.words for one in plan.statements if one.kind == kind]


def failed_ids(plan: Plan) -> set[int]:
    """Return the ids of all failed calls that the plan names."""
    return set(chain.from_iterable(one.events for one in plan.statements if one.kind == "failed"))


def note_of(lab: Lab, day: date, agent: str = "main", zone: str = "UTC", last: date | None = None) -> Plan:
    """Return the plan that is made from the store."""
    with lab.store() as store:
        return plan_from(store, WATCHED, agent, day, last or day, zone)


@pytest.mark.parametrize(
    ("seed", "zone", "first"),
    [
        (1, "Europe/Berlin", date(2026, 3, 1)),
        (2, "Asia/Kathmandu", date(2026, 1, 1)),
        (3, "Pacific/Chatham", date(2026, 3, 20)),
        (4, "America/New_York", date(2026, 10, 1)),
        (5, "Australia/Lord_Howe", date(2026, 9, 1)),
    ],
)
def test_every_number_of_a_hundred_days_is_what_a_count_of_the_raw_lines_gives(
    lab: Lab, seed: int, zone: str, first: date
) -> None:
    """Five hundred days in five zones, clock changes and sessions over midnight among them."""
    lines = note_days.days_from(seed, first, 100, zone)
    lab.spool(lines)
    lab.drain()
    truth = note_days.counted(lines, zone)
    with lab.store() as store:
        for day in (first + timedelta(days=n) for n in range(102)):
            for agent in note_days.AGENTS:
                plan = plan_from(store, WATCHED, agent, day, day, zone)
                found = {name: n for name, n in asdict(plan.counts).items() if n and name not in UNCOUNTED}
                wanted = Counter(truth.get((day, agent), {}))
                wanted["restarts"] = truth.get((day, "main"), Counter())["restarts"]
                assert {name: n for name, n in wanted.items() if n} == found, (day, agent)
                assert failed_total(plan) == plan.counts.failed


def test_a_month_is_the_sum_of_its_days_and_says_what_a_question_says(lab: Lab) -> None:
    """The same events by three ways: thirty plans of a day, one of the month, and the answer to a question."""
    first, last = date(2026, 10, 1), date(2026, 10, 31)
    lab.spool(note_days.days_from(7, first, 31, "Europe/Berlin"))
    lab.drain()
    month = asdict(note_of(lab, first, zone="Europe/Berlin", last=last).counts)
    total: Counter[str] = Counter()
    for number in range(31):
        total.update(asdict(note_of(lab, first + timedelta(days=number), zone="Europe/Berlin").counts))
    assert {name: total[name] for name in SUMS} == {name: month[name] for name in SUMS}
    asked = lab.limpet(
        "ask",
        "--json",
        "--tz",
        "Europe/Berlin",
        "failed tool calls of main in October 2026",
        "--now",
        "2026-11-02T09:00:00Z",
    )
    assert asked.json["count"] == month["failed"] > 0


SUMS = (
    "events",
    "runs",
    "calls",
    "failed",
    "blocked",
    "asked",
    "delivered",
    "undelivered",
    "cron",
    "added",
    "restarts",
)
"""What of a month is the sum of its days: not what is counted once however often, nor what was made good later."""

UNCOUNTED = frozenset({"events"})
"""What the pencil does not count: it is no number that a note tells."""


def failed_total(plan: Plan) -> int:
    """Return how many failed calls the statements of failures speak of."""
    return sum(one.count for one in plan.statements if one.kind == "failed")


TOOLS = (
    "exec make deploy",
    "exec ./run.sh",
    "write a.md",
    "read b.md",
    'booking {"n": 1}',
    "web_search x",
    "web_fetch http://x",
)
STATUSES = ("succeeded", "failed", "timed_out", "blocked", "cancelled", "interrupted", "started", "unknown")


@st.composite
def any_events(draw: st.DrawFn) -> list[Event]:
    """Draw events of every type, status, label and session, oldest first."""
    number = draw(st.integers(0, 60))
    found = []
    for n in range(1, number + 1):
        kind = draw(
            st.sampled_from(
                ["tool_call"] * 5
                + [
                    "message",
                    "run",
                    "cron",
                    "delivery",
                    "gateway",
                    "reset",
                    "session",
                    "decision",
                    "error",
                    "subagent",
                    "model_call",
                    "gap",
                ]
            )
        )
        said = draw(st.sampled_from(TOOLS)) if kind == "tool_call" else draw(st.text(max_size=30))
        found.append(
            event(
                n,
                kind,
                n * 1000,
                tool=said.split(" ")[0] if kind == "tool_call" else "",
                summary=said,
                status=draw(st.sampled_from(STATUSES)),
                actor=draw(st.sampled_from(["user", "agent", "system"])),
                label=draw(st.sampled_from(["", "", "", "heartbeat", "cron", "own", "internal"])),
                error=draw(st.sampled_from(["", "broke"])),
                session=draw(st.sampled_from(["s-1", "s-2", ""])),
            )
        )
    return found


@given(any_events())
def test_no_statement_is_without_events_and_no_failed_call_is_left_out(events: list[Event]) -> None:
    """Whatever happened: every id is one of the day's, and each failed call's is in a statement of failures."""
    plan = planned(events)
    told = {one.id for one in events if one.label not in ("own", "internal") and one.type != "gap"}
    failed = {
        one.id for one in events if one.id in told and one.type == "tool_call" and one.status in ("failed", "timed_out")
    }
    for one in plan.statements:
        assert one.events
        assert {*one.events, *one.also} <= told
        assert one.count >= 1
    assert failed == failed_ids(plan)
    assert failed_total(plan) == len(failed) == plan.counts.failed
    assert all(line.rstrip().endswith("]") for line in listing(plan) if not line.startswith("- **Time**"))
    assert len(body(plan).encode()) <= MOST_BYTES


@given(any_events())
def test_the_same_events_give_the_same_bytes(events: list[Event]) -> None:
    """Nothing of the moment, of memory addresses or of hashing is in a note."""
    assert body(planned(events)) == body(planned(list(events)))


def test_a_command_that_failed_and_then_worked_is_told_as_made_good() -> None:
    """The words say how often, how it ended, and that a later one succeeded."""
    plan = planned(
        [ran(1, "make deploy VERSION=2", "failed", error="a test failed"), ran(200, "make deploy VERSION=3")]
    )
    assert words(plan, "failed") == [
        "`make deploy VERSION=2` failed at 12:00 (“a test failed”), and a later one succeeded at 12:03"
    ]
    assert words(plan, "done") == ["ran `make deploy` twice (once without success)"]
    assert (plan.counts.failed, plan.counts.recovered) == (1, 1)
    assert plan.statements[1].also == (200 * 4096,)


def test_a_success_of_another_kind_makes_no_failure_good() -> None:
    """Same tool, another program; an earlier success does not help either."""
    plan = planned([ran(1, "make test"), ran(2, "make deploy", "failed"), ran(3, "git push")])
    assert words(plan, "failed") == ["`make deploy` failed at 12:00"]
    assert plan.counts.recovered == 0


def test_a_tool_that_names_no_target_is_made_good_in_the_same_session_only() -> None:
    """Somebody else's booking that worked does not make this one good."""
    booked = [
        event(n, at=n * 1000, tool="book", summary='book {"n":1}', status=status, session=session, session_key="")
        for n, status, session in ((1, "failed", "s-1"), (2, "succeeded", "s-2"))
    ]
    assert planned(booked).counts.recovered == 0
    again = event(3, at=3000, tool="book", summary='book {"n":2}', status="succeeded", session="s-1", session_key="")
    assert planned([*booked, again]).counts.recovered == 1


def test_changes_of_cron_jobs_are_told_in_one_line_and_make_no_note_alone() -> None:
    """The gateway sets up jobs of its own whenever it starts."""
    changes = [
        event(n, "cron", n, summary=f"cron job own-{n} added", label="cron", session="", session_key="")
        for n in range(1, 4)
    ]
    assert planned(changes).is_empty
    plan = planned([*changes, ran(9, "make")])
    assert words(plan, "restart") == ["cron jobs were changed at 12:00, at 12:00 and at 12:00"]
    assert "cron" not in body(plan).partition("\n- ")[0]


def test_a_call_cut_off_by_a_restart_is_an_open_end_and_no_failure() -> None:
    """Field case F06: it says when it was cut off, and that it was done again."""
    plan = planned([ran(1, "rsync -a a b", "interrupted"), ran(600, "rsync -a a b")])
    assert words(plan, "open") == ["`rsync -a a b` was cut off at 12:00, and a later one succeeded at 12:10"]
    assert (plan.counts.failed, plan.counts.interrupted) == (0, 1)


def test_a_question_stands_with_its_answer_or_as_an_open_end() -> None:
    """The last answer before the next question is the one that is told."""
    plan = planned(
        [
            event(1, "message", 1000, actor="user", summary="Deploy it."),
            event(2, "message", 2000, actor="agent", summary="I begin."),
            event(3, "message", 3000, actor="agent", summary="It is live."),
            event(4, "message", 4000, actor="user", summary="Anything left?"),
        ]
    )
    assert words(plan, "asked") == ["“Deploy it.” at 12:00, and answered “It is live.”", "“Anything left?” at 12:00"]
    assert words(plan, "open") == ["“Anything left?” at 12:00 had no answer by midnight"]


def test_a_night_of_heartbeats_is_one_line_beside_what_really_happened(lab: Lab) -> None:
    """Field case F77: 200 heartbeats in one clause, a count; the real events and both failures are there."""
    lines = [line for n in range(200) for line in heartbeat(n)]
    lines += [
        hook("message_received", {"content": "move the backup to 03:40", "messageId": "rl-1"}, 500_000),
        call("rl-2", 501_000, params={"command": "crontab -l"}, ctx={"runId": "r-1"}),
        call("rl-3", 9_000_000, params={"command": "restic check"}, error="repository is locked"),
        hook("message_sent", {"content": "Moved; the check failed.", "messageId": "rl-4"}, 9_001_000),
        call(
            "rl-5",
            9_060_000,
            params={"command": "cat HEARTBEAT.md"},
            error="disk I/O error",
            ctx={"trigger": "heartbeat", "runId": "hb-150"},
        ),
    ]
    lab.spool(sorted(lines, key=lambda line: line["ts"]))
    lab.drain()
    plan = note_of(lab, DAY)
    assert words(plan, "heartbeat") == ["200 heartbeats"]
    assert [said.partition(" failed")[0] for said in words(plan, "failed")] == ["`restic check`", "`cat HEARTBEAT.md`"]
    assert words(plan, "asked") == ["“move the backup to 03:40” at 12:08, and answered “Moved; the check failed.”"]
    assert plan.counts.asked == plan.counts.delivered == 1
    assert len(listing(plan)) < 12


def heartbeat(number: int) -> Iterator[dict[str, Any]]:
    """Yield the two lines of a heartbeat, a minute apart from the next."""
    ctx = {"runId": f"hb-{number}", "trigger": "heartbeat"}
    yield hook(
        "message_received",
        {"content": "[heartbeat poll] read HEARTBEAT.md", "messageId": f"i{number}"},
        number * 60_000,
        **ctx,
    )
    yield hook("message_sent", {"content": "HEARTBEAT_OK", "messageId": f"o{number}"}, number * 60_000 + 900, **ctx)


def test_a_day_with_nothing_but_heartbeats_is_worth_one_line(lab: Lab) -> None:
    """Field case F94: nothing is invented; the one sentence says that there was nothing else."""
    lab.spool(line for n in range(48) for line in heartbeat(n))
    lab.drain()
    plan = note_of(lab, DAY)
    assert not plan.is_empty
    assert [one.kind for one in plan.statements] == ["heartbeat"]
    assert "had 48 heartbeats and nothing else" in body(plan)


@pytest.mark.parametrize("lines", [[], [hook("session_start")], [hook("gateway_start", {"port": 1})]])
def test_a_day_on_which_nothing_was_done_has_no_note(lab: Lab, lines: list[dict[str, Any]]) -> None:
    """Field case F94: no event at all, an empty session, a start of the gateway."""
    lab.spool([*lines, hook("message_received", {"content": "hi", "messageId": "m"}, -86_400_000)])
    lab.drain()
    assert note_of(lab, DAY).is_empty
    assert not note_of(lab, DAY - timedelta(days=1)).is_empty


def test_limpets_own_events_make_no_note() -> None:
    """Its own calls, the gateway's inner runs, and gaps are no part of what the agent did."""
    plan = planned(
        [ran(1, "x", label="own"), ran(2, "y", label="internal"), event(3, "gap", summary="2 lost", status="failed")]
    )
    assert plan.is_empty
    assert plan.counts.events == 0


def test_a_day_on_which_limpet_was_blind_is_worth_a_line() -> None:
    """It was set up and saw nothing: that is told, and it is not told as a day without events."""
    since, until = days.window_of(DAY, "UTC")
    plan = planned(
        [], known=Coverage("blind", (Gap(since - 5, until + 5, "openclaw.hooks", "the plugin was not running"),))
    )
    assert not plan.is_empty
    assert plan.uncovered == ("the whole time: the plugin was not running (openclaw.hooks)",)
    assert "had no event that is known. Not everything was seen: the whole time" in body(plan)


def test_what_was_not_seen_is_told_with_its_bounds() -> None:
    """A gap inside the day, one that reaches out of it, and events that nobody watched."""
    gaps = (
        Gap(NOON, NOON + 600_000, "openclaw.hooks", "the plugin was *not* running"),
        Gap(NOON + 3_600_000, None, "openclaw.transcripts", "no access"),
    )
    plan = planned([ran(1, "make")], known=Coverage("partial", gaps))
    assert plan.uncovered == (
        "from 12:00 to 12:10: the plugin was \\*not\\* running (openclaw.hooks)",
        "from 13:00 to the end: no access (openclaw.transcripts)",
    )
    assert planned([ran(1, "make")], known=Coverage("unknown")).uncovered == (
        "Limpet did not watch all of this time; of the rest it knows what was brought in later",
    )


@pytest.mark.parametrize(
    ("utc", "zone", "day"),
    [
        ("2026-04-11T19:53:00Z", "Asia/Shanghai", date(2026, 4, 12)),
        ("2026-03-15T01:17:00Z", "America/Los_Angeles", date(2026, 3, 14)),
        ("2026-04-09T00:44:38Z", "Asia/Jakarta", date(2026, 4, 9)),
        ("2026-12-31T10:30:00Z", "Pacific/Auckland", date(2026, 12, 31)),
        ("2026-12-31T11:30:00Z", "Pacific/Auckland", date(2027, 1, 1)),
        ("2026-05-04T18:20:00Z", "Asia/Kathmandu", date(2026, 5, 5)),
        ("2026-05-04T18:10:00Z", "Asia/Kathmandu", date(2026, 5, 4)),
        ("2026-10-25T00:30:00Z", "Europe/Berlin", date(2026, 10, 25)),
    ],
)
def test_an_event_is_in_the_note_of_its_own_local_day_and_in_no_other(utc: str, zone: str, day: date) -> None:
    """Field case F19, odd offsets included."""
    at_ms, _ = days.instant(utc, 0, "UTC")
    one = replace(ran(1, "make"), at_ms=at_ms)
    wanted = [day == near for near in (day - timedelta(days=1), day, day + timedelta(days=1))]
    assert wanted == [
        planned([one], zone, near).counts.calls == 1 for near in (day - timedelta(days=1), day, day + timedelta(days=1))
    ]


def test_a_session_over_midnight_is_told_in_two_notes_each_with_its_own_events(lab: Lab) -> None:
    """Field cases F20 and F25: nothing is lost, nothing is told twice, whatever zone the machine has."""
    midnight = days.window_of(DAY, "Asia/Shanghai")[0] - NOON
    lab.spool(
        [
            hook("message_received", {"content": "last minute", "messageId": "a"}, midnight - 60_000),
            call("late", midnight - 1, begins=True),
            call("late", midnight + 50, error="broke"),
            hook("message_received", {"content": "first minute", "messageId": "b"}, midnight + 60_000),
        ]
    )
    lab.drain()
    before, after = (note_of(lab, day, zone="Asia/Shanghai") for day in (DAY - timedelta(days=1), DAY))
    assert [said.split(" at ")[0] for said in words(before, "asked")] == ["“last minute”"]
    assert [said.split(" at ")[0] for said in words(after, "asked")] == ["“first minute”"]
    assert (before.counts.failed, after.counts.failed) == (1, 0)


@pytest.mark.parametrize(
    ("day", "hours", "zoned"),
    [
        (date(2026, 3, 29), 23, "Europe/Berlin, +01:00 and from 03:00 on +02:00"),
        (date(2026, 10, 25), 25, "Europe/Berlin, +02:00 and from 02:00 on +01:00"),
    ],
)
def test_a_day_on_which_clocks_change_has_all_its_hours_and_says_both_offsets(
    day: date, hours: int, zoned: str
) -> None:
    """One event an hour: each is counted once, and the note names both offsets."""
    since, until = days.window_of(day, "Europe/Berlin")
    events = [replace(ran(n, f"job{n}"), at_ms=since - 3_600_000 + n * 3_600_000 + 1) for n in range(30)]
    plan = planned(events, "Europe/Berlin", day)
    assert hours == (until - since) // 3_600_000 == plan.counts.calls
    assert zoned in body(plan)


def test_an_hour_that_clocks_show_twice_is_told_with_its_offset() -> None:
    """02:30 comes twice that night; all other times are short."""
    day = date(2026, 10, 25)
    since, _ = days.window_of(day, "Europe/Berlin")
    events = [replace(ran(n, f"job{n}", "failed"), at_ms=since + 1_800_000 + n * 3_600_000) for n in range(5)]
    told = [said.partition(" failed ")[2] for said in words(planned(events, "Europe/Berlin", day), "failed")]
    assert told == ["at 00:30", "at 01:30", "at 02:30 (+02:00)", "at 02:30 (+01:00)", "at 03:30"]


def test_two_agents_have_notes_of_their_own(lab: Lab) -> None:
    """What names no agent is the default one's; the gateway's start is told in both."""
    other = {"agentId": "press", "sessionKey": "agent:press:main", "sessionId": "s-2", "runId": "r-2"}
    lab.spool(
        [
            hook("gateway_start", {"port": 1}, 0, agentId=None, sessionKey=None, sessionId=None, runId=None),
            call("a", 1000),
            call("b", 2000, ctx=other, error="broke"),
            hook(
                "cron_changed",
                {"action": "finished", "jobId": "j", "runAtMs": NOON, "status": "ok", "job": {"name": "digest"}},
                3000,
                agentId=None,
                sessionKey=None,
                sessionId=None,
                runId=None,
            ),
        ]
    )
    lab.drain()
    with lab.store() as store:
        assert agents_of(store, DAY, DAY, "UTC") == ["main", "press"]
    mine, its = note_of(lab, DAY), note_of(lab, DAY, "press")
    assert (mine.counts.calls, mine.counts.failed, mine.counts.cron, mine.counts.restarts) == (1, 0, 1, 1)
    assert (its.counts.calls, its.counts.failed, its.counts.cron, its.counts.restarts) == (1, 1, 0, 1)


def test_facts_that_contradict_each_other_stand_with_their_dates() -> None:
    """Field case F79: the older one is never told alone or undated; what was added stands newest first."""
    told = [
        event(1, "fact", 0, summary="staging listens on port 8080"),
        event(2, "fact", 86_400_000, summary="staging moved to port 9443"),
    ]
    assert words(planned(told, last=DAY + timedelta(days=2)), "added") == [
        "fact on Tue 2 Jun, 12:00: “staging moved to port 9443”",
        "fact on Mon 1 Jun, 12:00: “staging listens on port 8080”",
    ]


def test_a_day_too_large_to_be_read_is_told_with_exact_totals(lab: Lab) -> None:
    """Field case F91: 20,000 calls, 50 failures, 100 sessions; every failed call's id stands in the note."""
    lab.spool(huge_day(20_000))
    lab.drain()
    plan = note_of(lab, DAY)
    assert (plan.counts.calls, plan.counts.failed, plan.counts.sessions) == (20_000, 50, 100)
    with lab.store():
        failed = {one.id for one in lab.events("tool_call", status="failed")}
    assert failed == failed_ids(plan)
    said = body(plan)
    assert all(str(number) in said for number in failed)
    assert "50 of 20,000 tool calls failed" in said
    assert len(said.encode()) <= MOST_BYTES


def huge_day(count: int) -> Iterator[dict[str, Any]]:
    """Yield the calls of a huge day, each 400th a failure, 200 a session."""
    for n in range(count):
        said = (
            {"error": f"boom {n}"}
            if n % 400 == 0
            else {"result": {"content": [{"type": "text", "text": "line " * 40}]}}
        )
        event = {
            "toolName": ("exec", "read", "web_fetch")[n % 3],
            "toolCallId": f"hd-{n:05}",
            "params": {"n": n},
            **said,
        }
        yield {
            "hook": "after_tool_call",
            "ts": NOON - 43_200_000 + n * 4000,
            "ctx": {"agentId": "main", "sessionId": f"s-{n // 200}"},
            "event": event,
        }


def many(count: int) -> Iterator[Event]:
    """Yield as many events, nearly each of a kind of its own: the worst that can be."""
    for n in range(1, count + 1):
        kind = ("tool_call", "message", "message", "fact", "delivery")[n % 5]
        yield replace(
            event(
                n,
                kind,
                summary=f"exec program{n} x",
                tool="exec",
                status=STATUSES[n % 7],
                session=f"s-{n % 5000}",
                session_key=f"agent:main:{n}",
                error=f"error {n}",
                actor=("user", "agent")[n % 2],
            ),
            at_ms=NOON - 43_000_000 + n * 300,
        )


def test_a_day_on_which_nearly_all_events_differ_is_planned_in_bounded_memory() -> None:
    """Four times as many events take no more than a megabyte more, and the note is short."""
    small, large = peak_of(10_000), peak_of(40_000)
    assert large - small < 1 << 20


@pytest.mark.soak
def test_two_hundred_thousand_events_that_differ_are_planned_in_bounded_memory() -> None:
    """The plan takes less than eight megabytes, and its totals are exact."""
    assert peak_of(200_000) < 8 << 20
    plan = planned(many(200_000))
    assert plan.counts.events == 200_000
    assert len(body(plan).encode()) <= MOST_BYTES
    assert failed_total(plan) == plan.counts.failed
    assert plan.counts.failed > 5000


def peak_of(count: int) -> int:
    """Return the most bytes that the plan of so many events takes."""
    tracemalloc.start()
    planned(many(count))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.soak
def test_a_stored_day_of_two_hundred_thousand_events_is_planned_in_bounded_memory(lab: Lab) -> None:
    """From the real store: the whole process stays small, and the totals are exact."""
    lab.spool(quick_day(200_000))
    lab.drain(100_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    plan = note_of(lab, DAY)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert (plan.counts.calls, plan.counts.failed) == (200_000, 500)
    assert grown < 50_000


def quick_day(count: int) -> Iterator[dict[str, Any]]:
    """Yield the calls of a day, close together."""
    return ({**line, "ts": NOON - 43_200_000 + n * 400} for n, line in enumerate(huge_day(count)))


def test_too_many_failures_are_counted_and_the_first_ones_named() -> None:
    """More than two thousand failed calls: the ids of the first ones, the last one, and a true count."""
    plan = planned(ran(n, f"job{n % 3} x", "failed") for n in range(1, 5001))
    assert plan.counts.failed == failed_total(plan) == 5000
    assert {n * 4096 for n in range(1, 2001)} <= failed_ids(plan)
    assert len(body(plan).encode()) <= MOST_BYTES


def test_files_of_which_none_was_written_are_not_called_written() -> None:
    """Also where there are too many to name them one by one."""
    failing = [event(n, tool="write", summary=f"write /w/{n}.md", status="failed") for n in range(1, 16)]
    last = words(planned(failing), "file")[-1]
    assert last == "tried to write 5 other files (5 calls, 5 times without success)"
