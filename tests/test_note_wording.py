"""How a note reads: a paragraph for people, a list with event ids, nothing in it that is not text, never too long."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab import NOON, call, hook
from limpet import days
from limpet.deeds.commands import program_of
from limpet.deeds.quoting import code, plain, quoted
from limpet.note.gathering import plan_from
from limpet.note.hours import month_of, week_of
from limpet.note.wording import MOST_BYTES, MOST_WORDS_BYTES, body, listing, paragraph
from test_note_plan import DAY, event, failed_ids, planned, ran, words

if TYPE_CHECKING:
    from lab import Lab
    from limpet.model import Event


def message(number: int, said: str, actor: str = "user", at: int = 0, **more: Any) -> Event:
    """Return a message of a person, or of the agent."""
    return event(number, "message", at or number * 1000, actor=actor, summary=said, **more)


def test_a_day_reads_like_a_day() -> None:
    """The whole text of a small day, as it stands in the file."""
    minute = 60_000
    plan = planned(
        [
            message(1, "Deploy the shop.", at=minute),
            event(
                2,
                at=2 * minute,
                tool="exec",
                summary="exec make deploy VERSION=2",
                status="failed",
                error="a test failed",
            ),
            event(3, at=3 * minute, tool="edit", summary="edit shop/prices.py", status="succeeded"),
            event(4, at=4 * minute, tool="exec", summary="exec make deploy VERSION=2", status="succeeded"),
            message(5, "It is live.", "agent", at=5 * minute),
            event(6, "gateway", 6 * minute, summary="gateway started", status="started"),
        ]
    )
    assert body(plan) == (
        "## What main did, 2026-06-01\n"
        "\n"
        "On Monday, 1 June 2026 (times of UTC, +00:00), main was at work from 12:01 to 12:05, with 1 session and 3 tool"
        " calls. It was asked “Deploy the shop.”. It ran `make deploy VERSION=2` twice (once without success); changed"
        " `shop/prices.py`. 1 of 3 tool calls failed: `make deploy VERSION=2` at 12:02 (“a test failed”); a later one of"
        " its kind succeeded. The gateway started at 12:06.\n"
        "\n"
        "- **Time** 2026-06-01 12:01 +00:00 to 2026-06-01 12:05 +00:00 (UTC)\n"
        "- **Asked** “Deploy the shop.” at 12:01, and answered “It is live.” [4096, 20480]\n"
        "- **Done** ran `make deploy VERSION=2` twice (once without success) [8192, 16384]\n"
        "- **Files** changed `shop/prices.py` [12288]\n"
        "- **Failed** `make deploy VERSION=2` failed at 12:02 (“a test failed”), and a later one succeeded at 12:04 [8192, 16384]\n"
        "- **Gateway** the gateway started at 12:06 [24576]\n"
        "\n"
        "The numbers are events: `limpet show NUMBER` opens one.\n"
    )


def test_what_was_done_often_is_told_by_its_name_and_how_often_it_failed() -> None:
    """No "executed exec 14 times"."""
    plan = planned(ran(n, f"./scripts/deploy.sh v{n}", "failed" if n in (3, 9) else "succeeded") for n in range(1, 15))
    assert words(plan, "done") == ["ran `deploy.sh` 14 times (twice without success)"]
    assert "ran `deploy.sh` 14 times (twice without success)" in paragraph(plan)


def test_while_they_are_few_each_is_named_and_when_they_are_many_the_most_frequent_with_true_counts() -> None:
    """Ten commands are named; of thirty, ten, and the other twenty by number."""
    few = planned(ran(n, f"job{n}") for n in range(1, 11))
    assert words(few, "done") == [f"ran `job{n}`" for n in range(1, 11)]
    many = planned(ran(n, f"job{n % 30}") for n in range(1, 46))
    assert words(many, "done") == [*(f"ran `job{n}` twice" for n in range(1, 11)), "ran 20 other commands (25 calls)"]


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("make deploy VERSION=2.8", "make deploy"),
        ("cd /srv/shop && ./deploy.sh --prod", "deploy.sh"),
        ("sudo systemctl restart nginx", "systemctl restart"),
        ("FOO=1 python3 -u tools/report.py --month 5", "report.py"),
        ("python -m pytest -q tests", "pytest"),
        ("python3 -c 'print(1)'", "python3 -c"),
        ("bash -lc 'cd x && npm run build'", "npm run build"),
        ("timeout 30 git push origin main", "git push"),
        ("npm run build", "npm run build"),
        ("uv run pytest -x", "pytest"),
        ("curl -m 5 'https://shop.example/health?x=1'", "curl https://shop.example/health"),
        ("cat a.txt | grep b", "cat"),
        ("export A=b; set -e; rsync -a x/ y/", "rsync"),
        ("git -C repo status", "git status"),
        ("echo hello", "echo"),
        ("it's broken \"quoting", "it"),
        ("/usr/local/bin/backup", "backup"),
        ("bash -c \"bash -c 'bash -c ls'\"", "ls"),
        ("   ", ""),
        ("(make test)", "make test"),
    ],
)
def test_a_command_is_called_by_the_program_that_is_meant(command: str, program: str) -> None:
    """Wrappers, preparations, assignments and interpreters are passed over; scripts and sub-commands are named."""
    assert program == program_of(command)


@given(st.text(max_size=200))
def test_any_command_line_has_a_name_or_none(command: str) -> None:
    """Whatever it is, nothing is raised and nothing is endless."""
    assert len(program_of(command)) <= len(command) + 200


ATTACKS = (
    "---",
    "## Log",
    "text\n## not a heading",
    "```\ncode",
    "````",
    "`" * 10,
    "</memory> <!-- limpet:end -->",
    "<!-- limpet:begin 2026-06-01 main -->",
    "--> out",
    "![pixel](https://evil.example/p.png)",
    "[click](javascript:alert(1))",
    "[[Wiki link]] ![[embed]] [[[x]]]",
    "https://evil.example/x www.evil.example",
    "#tag ==mark== %%gone%% {{template}} $$x$$ ~~no~~ **bold** _it_ &lt;b&gt;",
    "- [ ] task | cell |",
    "a \\` b",
    "\u202egnp.exe\u0007\u001b]0;title\u0007",
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_is_quoted_is_text_and_never_structure(lab: Lab, attack: str) -> None:
    """Field case F58: in a message, a command, a tool's name, a file, an error, a title and an agent's own words."""
    nowhere = {"agentId": None, "sessionKey": None, "sessionId": None, "runId": None}
    lab.spool(
        [
            hook("message_received", {"content": attack, "messageId": "a"}),
            call("b", 1000, params={"command": attack}, error=attack),
            call("c", 2000, tool=attack or "x", params={"n": 1}),
            call("d", 3000, tool="write", params={"path": attack}),
            hook(
                "message_sent",
                {"content": attack, "messageId": "e", "success": False, "error": attack},
                4000,
                channelId=attack,
            ),
            hook("limpet_add", {"type": attack, "summary": attack}, 5000),
            hook(
                "cron_changed",
                {
                    "action": "finished",
                    "jobId": "j",
                    "runAtMs": 1,
                    "status": "ok",
                    "job": {"name": attack},
                    "summary": attack,
                },
                6000,
                **nowhere,
            ),
            hook(
                "subagent_spawned", {"childSessionKey": "agent:main:subagent:1", "label": attack, "runId": "r-9"}, 7000
            ),
        ]
    )
    lab.drain()
    from limpet import coverage

    with lab.store() as store:
        plan = plan_from(store, coverage.Watched(now_ms=NOON), "main", DAY, DAY, "UTC")
    check_harmless(body(plan))


def check_harmless(said: str) -> None:
    """Check that only our own lines are structure: one heading, a paragraph, items of a list."""
    lines = said.split("\n")
    assert [line for line in lines if line.startswith("#")] == [lines[0]]
    assert all(re.match(r"- \*\*[A-Z][a-z ]+\*\* ", line) for line in lines[4:-3])
    assert "<!--" not in said
    assert "-->" not in said
    assert "[[" not in said
    bare = re.sub(r"\\.", " ", re.sub(r"`[^`]*`", " ", said))
    assert not re.search(r"[<>]|\]\(|!\[|://|#\w|==|%%|\{\{|\$\$|~~|\\$", bare.replace(lines[0], "")), bare
    assert said.isprintable() or all(line.isprintable() for line in lines)


@given(st.text(max_size=80))
def test_a_code_span_cannot_be_left(said: str) -> None:
    """Whatever is in it, there is one backtick at each end and none between, and no mark."""
    shown = code(said)
    assert shown[0] == shown[-1] == "`"
    assert "`" not in shown[1:-1]
    assert not re.search(r"<!--|-->|\[\[|\n", shown)


@given(st.text(alphabet="<!->[]()`*_#\\&;:/wab .\n", max_size=60))
def test_quoted_words_hold_no_active_character(said: str) -> None:
    """Escapes taken away, nothing is left by which Markdown begins anything."""
    bare = re.sub(r"\\.", " ", plain(said))
    assert not re.search(r"[`*\[\]<>]|://|<!--|#\w", bare)


def test_plain_words_stay_as_they_are() -> None:
    """Nothing is escaped that does nothing."""
    said = "pay 20% of a_file.py, 3 != 4 & more: 50$ (1/2) - Trattoria 'Lucia'!"
    assert quoted(said) == f"“{said}”"


def test_a_note_says_its_zone_and_no_bare_time_of_another() -> None:
    """Field case F90: 16:25 UTC is told as 01:25 of the next day in Tokyo."""
    at_ms, _ = days.instant("2026-05-04T16:25:00Z", 0, "UTC")
    said = body(planned([replace(ran(1, "make"), at_ms=at_ms)], "Asia/Tokyo", date(2026, 5, 5)))
    assert "2026-05-05 01:25 +09:00" in said
    assert "times of Asia/Tokyo, +09:00" in said
    assert "16:25" not in said


def test_a_week_says_the_day_of_each_thing() -> None:
    """The same plan over several days: a time alone would say too little."""
    first, last = week_of(DAY)
    plan = planned(
        [ran(1, "make", "failed"), replace(ran(2, "make"), at_ms=NOON + 2 * 86_400_000)], day=first, last=last
    )
    assert (first, last) == (date(2026, 6, 1), date(2026, 6, 7))
    assert words(plan, "failed") == ["`make` failed on Mon 1 Jun, 12:00, and a later one succeeded on Wed 3 Jun, 12:00"]
    assert paragraph(plan).startswith(
        "From Monday, 1 June 2026 to Sunday, 7 June 2026 (times of UTC, +00:00), main was"
    )


@pytest.mark.parametrize(("day", "last"), [(date(2026, 2, 10), 28), (date(2028, 2, 1), 29), (date(2026, 12, 31), 31)])
def test_a_month_ends_with_its_last_day(day: date, last: int) -> None:
    """Also in a leap year, and in December."""
    assert (day.replace(day=1), day.replace(day=last)) == month_of(day)


@pytest.mark.parametrize("letter", ["备", "*", "a", "🙂"])
def test_a_note_has_a_bounded_size_whatever_it_quotes(letter: str) -> None:
    """Everything too long at once, in letters of several bytes: lines are left out and counted, failures are not."""
    long = letter * 300
    events = [message(n, long, at=n * 1000, session_key=f"agent:main:{n}") for n in range(1, 41)]
    events += [ran(n, f"{long}{n}", "failed" if n % 2 else "blocked", error=long) for n in range(41, 141)]
    events += [event(n, "fact", n * 1000, summary=long) for n in range(141, 160)]
    events += [
        event(n, at=n * 1000, tool="write", summary=f"write {n}/{long[:150]}", status="succeeded")
        for n in range(160, 200)
    ]
    plan = planned(events)
    said = body(plan)
    assert len(said.encode()) <= MOST_BYTES
    assert len(paragraph(plan).encode()) <= MOST_WORDS_BYTES
    assert "- **Left out** " in said
    kept = [line for line in said.split("\n") if line.startswith("- **Failed**")]
    assert len(kept) == len([line for line in listing(plan) if line.startswith("- **Failed**")])
    assert "50 of 140 tool calls failed" in said
    assert len(failed_ids(plan)) == 50


def test_every_statement_of_few_failures_stands_in_the_paragraph_or_is_counted_there() -> None:
    """Five are named, and the others by number."""
    plan = planned(ran(n, f"job{n}", "failed") for n in range(1, 9))
    assert (
        "8 of 8 tool calls failed: `job1` at 12:00, `job2` at 12:00, `job3` at 12:00, `job4` at 12:00, `job5` at 12:00 and 3 more"
        in paragraph(plan)
    )
    assert len([line for line in listing(plan) if line.startswith("- **Failed**")]) == 8


def test_what_the_paragraph_does_not_name_it_counts() -> None:
    """Five of each sort are named, and every other event is in a number, also of kinds that are told together."""
    said = paragraph(planned(ran(n, f"job{n}", "failed") for n in range(1, 101)))
    assert (
        "ran `job1` (without success), `job2` (without success), `job3` (without success), `job4` (without success), `job5` (without success) and 95 more calls"
        in said
    )
    assert "100 of 100 tool calls failed: `job1`, `job2`, `job3`, `job4`, `job5` and 95 more; none of them" in said
    asked = paragraph(planned(message(n, f"question {n}") for n in range(1, 31)))
    assert "“question 5” and 25 more." in asked
