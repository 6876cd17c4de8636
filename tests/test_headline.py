"""The headline of an answer: how many of what, when, in which zone, how complete; a zero is clean or blind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from limpet.errors import NotUnderstood
from limpet.headline import headline
from limpet.model import Answer, Coverage, Event, Gap
from limpet.question import parse
from question_forms import at

BERLIN = "Europe/Berlin"
NOW = "2026-10-26T09:00:00+01:00"
EVENT = Event(1, at("2026-10-25T03:00:00+01:00"), 0, "tool_call")
GAP = Gap(at("2026-10-24T18:00:00+02:00"), None, "openclaw.hooks", "the plugin is gone")
COMPLETE = Coverage("complete")


def said(question: str, count: int, coverage: Coverage = COMPLETE, now: str = NOW, zone: str = BERLIN) -> str:
    """Return the headline of a question with so many matches."""
    query = parse(question, at(now), zone, {"tool": {"exec"}, "agent": {"press"}})
    return headline(Answer(query, count, (EVENT,) * min(count, 1), (), coverage), at(now))


@pytest.mark.parametrize(
    ("question", "count", "expected"),
    [
        ("failed tool calls on saturday", 3, "3 failed tool calls, 24 Oct 00:00-24:00 Europe/Berlin, complete"),
        ("failed tool calls on saturday", 1, "1 failed tool call, 24 Oct 00:00-24:00 Europe/Berlin, complete"),
        ("errors yesterday", 2, "2 errors, 25 Oct 00:00-24:00 (25 hours) Europe/Berlin, complete"),
        ("errors today", 2, "2 errors, 26 Oct 00:00-09:00 Europe/Berlin, complete"),
        ("exec calls last week", 1200, "1,200 exec calls, 19 Oct 00:00 to 25 Oct 24:00 Europe/Berlin, complete"),
        ("last 5 messages from me", 5, "the last 5 messages from the user, up to 26 Oct 09:00 Europe/Berlin, complete"),
        ("the last error", 1, "the last error, up to 26 Oct 09:00 Europe/Berlin, complete"),
        ("how many sessions had errors on saturday", 4, "4 sessions with errors, 24 Oct 00:00-24:00 Europe/Berlin, complete"),
        ("how many sessions on saturday", 1, "1 session, 24 Oct 00:00-24:00 Europe/Berlin, complete"),
        ("exec calls per day in september 2025", 9, "9 exec calls by day, 1 Sep 2025 00:00 to 30 Sep 2025 24:00 Europe/Berlin, complete"),
        ("slowest tool calls on saturday", 9, "9 tool calls, slowest first, 24 Oct 00:00-24:00 Europe/Berlin, complete"),
        ("what did agent press do on saturday", 7, "7 events that agent press did, 24 Oct 00:00-24:00 Europe/Berlin, complete"),
        ("restarts on saturday", 1, "1 gateway start, 24 Oct 00:00-24:00 Europe/Berlin, complete"),
        ("what did the agent do last night", 7, "7 events that the agent did, 25 Oct 18:00 to 26 Oct 06:00 Europe/Berlin, complete"),
        ('messages containing "a b" on saturday', 2, '2 messages containing "a b", 24 Oct 00:00-24:00 Europe/Berlin, complete'),
        ("errors of agent press in session s-1 on saturday", 2, "2 errors of agent press in session s-1, 24 Oct 00:00-24:00 Europe/Berlin, complete"),
        ("tool calls except exec on saturday", 2, "2 tool calls except tool exec, 24 Oct 00:00-24:00 Europe/Berlin, complete"),
        ("messages and runs on saturday", 2, "2 messages and runs, 24 Oct 00:00-24:00 Europe/Berlin, complete"),
        ("timeouts on saturday", 2, "2 timed-out events, 24 Oct 00:00-24:00 Europe/Berlin, complete"),
        ("failed or blocked runs on saturday", 2, "2 blocked or failed runs, 24 Oct 00:00-24:00 Europe/Berlin, complete"),
        ("failed deliveries on saturday", 1, "1 failed delivery, 24 Oct 00:00-24:00 Europe/Berlin, complete"),
        ("did the backup run on saturday", 1, 'yes: 1 event containing "backup" except type delivery or message (at 25 Oct 03:00), 24 Oct 00:00-24:00 Europe/Berlin, complete'),
        ("did exec fail on saturday", 0, "no: 0 failed events of exec, 24 Oct 00:00-24:00 Europe/Berlin, clean: all of it was watched"),
        ("errors on 25 october between 2:00 and 2:30", 1, "1 error, 25 Oct 02:00+02:00-02:30+02:00 Europe/Berlin, complete"),
        ("errors tomorrow", 0, "0 errors, an empty window at 26 Oct 09:00 Europe/Berlin, clean: all of it was watched"),
        ("on:2026-03-29 errors", 0, "0 errors, 29 Mar 00:00-24:00 (23 hours) Europe/Berlin, clean: all of it was watched"),
    ],
)  # fmt: skip
def test_a_headline_says_how_many_of_what_when_and_how_complete(question: str, count: int, expected: str) -> None:
    """The noun fits the question, and the window is told as people say it."""
    assert expected == said(question, count)


@pytest.mark.parametrize(
    ("status", "ending"),
    [("succeeded", ""), ("", ""), ("failed", " failed"), ("timed_out", " timed out"), ("interrupted", " interrupted")],
)
def test_yes_is_not_said_of_a_failure_without_its_ending(status: str, ending: str) -> None:
    """A backup that failed did run; who asks hears at once how it ended."""
    query = parse("did the backup run on sunday", at(NOW), BERLIN)
    found = Answer(query, 1, (replace(EVENT, status=status),), (), COMPLETE)
    assert f"(at 25 Oct 03:00{ending})" in headline(found, at(NOW))


@pytest.mark.parametrize(
    ("coverage", "count", "end"),
    [
        (Coverage("complete"), 0, "clean: all of it was watched"),
        (Coverage("complete"), 3, "complete"),
        (Coverage("blind", (GAP,)), 0, "blind since 24 Oct 18:00"),
        (Coverage("blind", (replace(GAP, to_ms=at("2026-10-26T02:00:00+01:00")),)), 0, "blind since 24 Oct 18:00 until 26 Oct 02:00"),
        (Coverage("partial", (GAP,)), 0, "not complete: the plugin is gone"),
        (Coverage("partial", (GAP, GAP)), 2, "not complete: 2 gaps"),
        (Coverage("partial", (), 77), 0, "not complete: some still wait to be taken in"),
        (Coverage("unknown"), 0, "completeness unknown"),
    ],
)  # fmt: skip
def test_a_headline_says_whether_a_zero_can_be_trusted(coverage: Coverage, count: int, end: str) -> None:
    """In words, in the same line."""
    assert said("errors yesterday", count, coverage).endswith(f"Europe/Berlin, {end}")


def test_whether_is_answered_as_far_as_it_is_known() -> None:
    """Yes by what was found, no where all was watched, else not known."""
    starts = [said("did exec fail yesterday", n, coverage).partition(":")[0] for n, coverage in (
        (1, Coverage("unknown")), (0, COMPLETE), (0, Coverage("unknown")), (0, Coverage("blind", (GAP,))),
    )]  # fmt: skip
    assert starts == ["yes", "no", "not known", "not known"]


@pytest.mark.parametrize(
    "question",
    ["did exec not fail yesterday", "was the last error in exec", "did the backup finish", "failed exec calls"],
)
def test_what_no_count_can_answer_with_yes_or_no_is_only_counted(question: str) -> None:
    """How a backup ended stands beside each; a denied question and the last of something have other answers."""
    assert not said(question, 1).startswith(("yes", "no"))


def test_the_zone_of_the_reader_is_told() -> None:
    """The same instants on the other side of the world."""
    assert said("errors today", 1, now="2026-10-26T09:00:00+13:00", zone="Pacific/Auckland").startswith(
        "1 error, 26 Oct 00:00-09:00 Pacific/Auckland"
    )


def test_a_refusal_needs_no_headline() -> None:
    """It is a sentence of its own."""
    with pytest.raises(NotUnderstood):
        said("why did exec fail", 1)
