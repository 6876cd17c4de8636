"""Field cases of answers: noise can be listed and left out, old facts keep their dates, names are not patterns."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

from lab import NOON, Lab, call, hook, text_result

if TYPE_CHECKING:
    from pathlib import Path

    from lab import Done

NOW = ("--now", "2026-06-01T13:00:00Z")


def ask(lab: Lab, *words: str, zone: str = "UTC") -> Done:
    """Ask on the command line."""
    done = lab.limpet("ask", *NOW, "--tz", zone, *words)
    assert done.status == 0, done.err
    return done


def test_heartbeats_can_be_listed_and_left_out(tmp_path: Path) -> None:
    """All 200 are there when asked for, and none stands between the real ones when denied (field case F77)."""
    lab = Lab(tmp_path)
    beat = {"sessionKey": "agent:main:heartbeat", "sessionId": "s-h", "trigger": "heartbeat"}
    lab.take(
        [
            *(call(f"h{n}", n * 1000, ctx={**beat, "runId": f"h{n}"}) for n in range(199)),
            call("h199", 199_000, ctx={**beat, "runId": "h199"}, result=None, error="no route to host"),
            *(call(f"r{n}", 300_000 + n) for n in range(3)),
            call("r3", 400_000, result=None, error="exit 1"),
        ]
    )
    assert ask(lab, "heartbeats", "--json").json["count"] == 200
    assert ask(lab, "tool calls -label:heartbeat", "--json").json["count"] == 4
    assert ask(lab, "failed tool calls", "--json").json["count"] == 2
    listed = ask(lab, "heartbeats", "--json", "--limit", "1000").json["events"]
    assert len({event["call"] for event in listed}) == 200


def test_an_older_fact_stands_behind_the_newer_one_each_with_its_date(tmp_path: Path) -> None:
    """Both are found, newest first, dated (field case F79)."""
    lab = Lab(tmp_path)
    lab.take(
        [
            hook("limpet_add", {"type": "decision", "summary": "the service listens on port 8080"}, -30 * 86_400_000),
            hook("limpet_add", {"type": "decision", "summary": "the service listens on port 9443"}, 0),
        ]
    )
    rows = [line for line in ask(lab, '"listens on port"').out.splitlines() if line.lstrip()[:1].isdigit()][1:]
    assert [(row.split()[1], row.split()[-1]) for row in rows] == [("2026-06-01", "9443"), ("2026-05-02", "8080")]


def test_every_time_has_its_zone(tmp_path: Path) -> None:
    """16:25 UTC is 01:25 of the next day in Tokyo, in the table, in JSON, in CSV, in the headline (field case F90)."""
    lab = Lab(tmp_path)
    lab.take([hook("limpet_add", {"type": "note", "summary": "hello"}, 4 * 3_600_000 + 25 * 60_000)])
    now = ("--now", "2026-06-01T20:00:00Z", "--tz", "Asia/Tokyo", "notes today")
    table = lab.limpet("ask", *now).out
    assert "2026-06-02 01:25:00+09:00" in table
    assert table.startswith("1 note, 2 Jun 00:00-05:00 Asia/Tokyo, ")
    assert lab.limpet("ask", "--json", *now).json["events"][0]["time"] == "2026-06-02T01:25:00.000+09:00"
    rows = list(csv.DictReader(io.StringIO(lab.limpet("ask", "--csv", *now).out)))
    assert rows[0]["time"] == "2026-06-02T01:25:00.000+09:00"


@pytest.mark.parametrize("form", [(), ("--csv",)])
def test_nothing_that_steers_a_terminal_comes_out_of_an_answer(tmp_path: Path, form: tuple[str, ...]) -> None:
    """Colours, titles, links and clipboard are gone from rows, snippets and headline (field case F31)."""
    lab = Lab(tmp_path)
    sly = "\x1b[31mFAI\x1b[1mLED\x1b[0m test_login\n\x1b]0;title\x07\x1b]52;c;cm0=\x07\x1b[2J\x9b31mc1\r\b\bover"
    lab.take(
        [
            call("a", 1, params={"command": f"pytest {sly}"}, result=text_result(sly)),
            hook("message_received", {"content": sly, "messageId": "m"}, 2),
        ]
    )
    for question in ("everything", '"FAILED test_login"', '"\x1b[2J FAILED"'):
        done = ask(lab, question, *form)
        said = done.out + done.err
        assert not [char for char in said if (ord(char) < 32 and char not in "\n\t\r") or 0x7F <= ord(char) < 0xA0]
    assert ask(lab, '"FAILED test_login"', "--json").json["count"] == 2


def test_names_in_filters_are_no_patterns(tmp_path: Path) -> None:
    """`_` and `%` in ids stand for themselves (field case F50)."""
    lab = Lab(tmp_path)
    names = ("app_1", "appX1", "app%", "app")
    lab.take([call(f"c-{n}", n, tool=name, ctx={"sessionId": name, "runId": name}) for n, name in enumerate(names)])
    for name in names:
        for kind in ("tool", "session", "run"):
            found = ask(lab, f'{kind}:"{name}" type:tool_call', "--json").json
            assert [event[kind] for event in found["events"]] == [name]


def test_an_agent_finds_its_own_and_nothing_of_another(tmp_path: Path) -> None:
    """By filter, in English, and in a text search (field cases F76, F89)."""
    lab = Lab(tmp_path)
    lab.take(
        [
            hook(
                "message_received",
                {"content": f"the marker of {agent}", "messageId": agent},
                n,
                agentId=agent,
                sessionKey=f"agent:{agent}:main",
                sessionId=agent,
            )
            for n, agent in enumerate(("alpha", "beta"))
        ]
    )
    for question in (
        "messages agent:beta",
        "messages of agent beta",
        'agent:beta "marker"',
        '"marker" -agent:alpha',
        "what happened in session beta",
    ):
        assert [event["agent"] for event in ask(lab, question, "--json").json["events"]] == ["beta"]
    assert NOON
