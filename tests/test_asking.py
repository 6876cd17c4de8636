"""`limpet ask` for people: a table that fits the terminal, colour only there, pages that go on, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import unicodedata
from typing import TYPE_CHECKING

import pytest

from lab import NOON, Lab, call, hook, numbered, text_result

if TYPE_CHECKING:
    from pathlib import Path

    from lab import Done

WIDE = "数据库备份失败请检查磁盘空间是否足够然后再试一次 🚀🚀🚀 " * 4
NOW = ("--now", "2026-06-01T15:00:00+02:00", "--tz", "Europe/Berlin")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Make a memory of calls and messages, some of them wide, long or sly."""
    lab = Lab(tmp_path_factory.mktemp("asking"))
    sly = ["=HYPERLINK(1)", "+1", "-2", "@SUM(A1)", "\tcmd", "plain", "1-2", "a=b"]
    lines = [
        hook("limpet_start", {}, -200_000_000),
        *(call(f"c{n}", n * 1000, params={"command": f"make {n} {WIDE}"}, durationMs=n * 500) for n in range(6)),
        *(call(f"f{n}", n * 1000 + 500, result=None, error=f"exit {n}: {WIDE}") for n in range(3)),
        *(
            hook("message_received", {"content": said, "messageId": f"m{n}"}, n * 1000 + 700)
            for n, said in enumerate(sly)
        ),
        call("deep", 60_000, tool="read", result=text_result("x " * 4000 + "the needle in the hay" + " y" * 4000)),
        hook("limpet_beat", {}, 7_200_000),
    ]
    lab.spool(numbered(lines))
    lab.drain()
    return lab


def ask(lab: Lab, *words: str, **environment: str) -> Done:
    """Ask, with the answer in a pipe."""
    done = lab.limpet("ask", *NOW, *words, **environment)
    assert done.status == 0, done.err
    return done


def on_terminal(lab: Lab, columns: int, *words: str, **environment: str) -> list[str]:
    """Ask on a terminal of so many columns and return the lines that stand there."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "limpet", "ask", *NOW, *words],
        env={**lab.environment, "COLUMNS": str(columns), "TERM": "xterm", **environment},
        stdout=slave, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=lab.folder,
    )  # fmt: skip
    os.close(slave)
    seen = b""
    while True:
        try:
            piece = os.read(master, 65_536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    process.communicate()
    os.close(master)
    return seen.decode("utf-8").replace("\r\n", "\n").splitlines()


def cells(line: str) -> int:
    """Return how many columns a line takes, by the table of Unicode."""
    plain = COLOUR.sub("", line)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in plain)


@pytest.mark.parametrize("columns", [40, 80, 100, 120, 200])
def test_the_table_fits_the_terminal(lab: Lab, columns: int) -> None:
    """Also with Chinese and emoji, which take two columns; no row is lost for want of room."""
    rows = on_terminal(lab, columns, "tool calls today", "--limit", "100")[2:]
    assert max(map(cells, rows)) <= columns
    assert max(map(cells, rows)) > columns - 12
    assert sum("failed" in row for row in rows) == 3


def test_columns_stand_below_each_other_also_beside_wide_letters(tmp_path: Path) -> None:
    """An agent's name in Chinese takes the room of ten columns, not of ten letters."""
    lab = Lab(tmp_path)
    lab.take([call("a", 1, ctx={"agentId": "数据库"}), call("b", 2, ctx={"agentId": "press"})])
    rows = on_terminal(lab, 120, "tool calls today")[2:]
    assert len({cells(row.partition("tool_call")[0]) for row in rows}) == 1


def test_colour_is_for_terminals_that_want_it(lab: Lab) -> None:
    """Not in a pipe, not with NO_COLOR."""
    assert any(COLOUR.search(line) for line in on_terminal(lab, 120, "failed tool calls today"))
    assert not any(COLOUR.search(line) for line in on_terminal(lab, 120, "failed tool calls today", NO_COLOR="1"))
    assert not COLOUR.search(ask(lab, "failed tool calls today").out)


def test_the_answer_begins_with_the_count_and_what_was_understood(lab: Lab) -> None:
    """Two lines that can be checked and typed again."""
    lines = ask(lab, "failed tool calls today").out.splitlines()
    assert lines[0].startswith("3 failed tool calls, 1 Jun 00:00-15:00 Europe/Berlin, ")
    assert (
        lines[1]
        == "understood: type:tool_call status:failed,timed_out since:2026-06-01 until:2026-06-01T15:00:00+02:00"
    )
    again = ask(lab, lines[1].partition(": ")[2]).out.splitlines()
    assert again == lines


@pytest.mark.parametrize("question", ["tool calls today", '"make"', "last 4 tool calls"])
def test_the_count_is_exact_however_many_are_shown(lab: Lab, question: str) -> None:
    """Nothing shown is not nothing found: a limit of 0 counts as any other."""
    counted = ask(lab, question).out.partition(",")[0]
    assert [counted] * 3 == [ask(lab, f"{question} limit:{n}").out.partition(",")[0] for n in (0, 1, 3)]


def test_a_window_that_was_watched_is_complete_and_one_before_is_not(lab: Lab) -> None:
    """A zero says in its headline whether anybody looked."""
    assert (
        ask(lab, "blocked calls", "on:2026-05-31")
        .out.splitlines()[0]
        .endswith("Europe/Berlin, clean: all of it was watched")
    )
    assert not ask(lab, "blocked calls", "on:2026-05-01").out.splitlines()[0].endswith("watched")


@pytest.mark.parametrize("question", ["tool calls today", "messages today", "last 7 events"])
def test_the_command_for_what_comes_next_is_one_that_works(lab: Lab, question: str) -> None:
    """Page by page, by the commands as they are printed, everything once."""
    whole = [event["id"] for event in ask(lab, question, "--json", "--limit", "100").json["events"]]
    seen: list[str] = []
    command = ["limpet", "ask", *NOW, "--limit", "3", question]
    while command:
        lines = lab.limpet(*command[1:]).out.splitlines()[2:]
        seen += [line.split()[0] for line in lines if line.split()[0].isdigit()]
        command = shlex.split(lines[-1].partition(" more: ")[2]) if " more: " in lines[-1] else []
    assert whole == seen


def test_csv_is_nothing_that_a_spreadsheet_would_run(lab: Lab) -> None:
    """A cell that begins like a formula begins with an apostrophe instead; the rest is as it was said."""
    rows = list(csv.DictReader(io.StringIO(ask(lab, "messages today", "--csv").out)))
    assert {row["summary"] for row in rows} == {
        "'=HYPERLINK(1)",
        "'+1",
        "'-2",
        "'@SUM(A1)",
        "cmd",
        "plain",
        "1-2",
        "a=b",
    }


def test_groups_are_csv_too(lab: Lab) -> None:
    """A key and a count."""
    assert ask(lab, "messages by actor", "--csv").out.splitlines() == ["key,count", "user,8"]


def test_a_hit_deep_in_a_text_is_shown(lab: Lab) -> None:
    """Under its row, and in JSON as `snippet`."""
    assert "  > …x x x" in ask(lab, '"needle in the hay"').out
    found = ask(lab, '"needle in the hay"', "--json").json
    assert "the needle in the hay y y" in found["events"][0]["snippet"]
    assert "snippet" not in ask(lab, "tool calls today", "--json").json["events"][0]


@pytest.mark.parametrize(
    ("words", "looked_for"),
    [
        (("rm -rf",), '"rm -rf"'),
        (("--", "--force"), '"--force"'),
        (("--", "git", "push", "--force"), '"git push --force"'),
    ],
)
def test_a_command_with_options_is_looked_for_as_it_stands(lab: Lab, words: tuple[str, ...], looked_for: str) -> None:
    """And the answer says what was understood."""
    done = ask(lab, *words)
    assert done.out.splitlines()[1].startswith(f"understood: {looked_for} ")
    assert f"Taken as a search for the text {looked_for}." in done.err


@pytest.mark.parametrize(
    ("question", "part", "works"),
    [
        ("failed tool calls on 31 feb", "'31 feb'", "failed tool calls yesterday"),
        ("errors at 25:00", "'25:00'", "tool calls before 9:40"),
        ("colour:red", "colour:", '"colour:red"'),
        ("status:faild", "'faild'", "status:failed"),
        ("errors yesterday today", "'yesterday' and 'today'", "failed tool calls yesterday"),
        ("", "empty", "failed tool calls yesterday"),
        ("x" * 100_000, "too long", "failed tool calls yesterday"),
        ("welche werkzeugaufrufe sind gestern fehlgeschlagen", "German", "failed tool calls yesterday"),
        ("昨天哪些工具调用失败了", "Chinese", "failed tool calls yesterday"),
        ("какие вызовы инструментов вчера завершились ошибкой", "Russian", "failed tool calls yesterday"),
        ("what did the agent find yesterday", '"find"', "failed tool calls yesterday"),
        ("rm -rf yesterday", '"rm -rf"', '"rm -rf" yesterday'),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_refusal_names_the_part_and_a_question_that_works(lab: Lab, question: str, part: str, works: str) -> None:
    """Exit status 2, one sentence, one hint, and the hint is answered."""
    done = lab.limpet("ask", *NOW, question)
    assert (done.status, done.out) == (2, "")
    assert part in done.err.splitlines()[0]
    assert done.err.splitlines()[1].endswith(f"Try: {works}")
    assert ask(lab, works).status == 0
    machine = lab.limpet("ask", *NOW, "--json", question).json["error"]
    assert set(machine) == {"code", "message", "hint"}


def test_a_megabyte_is_refused_in_a_sentence(lab: Lab) -> None:
    """It comes through Python, since no shell takes so long an argument."""
    code = "from limpet.memory import Memory\nwith Memory.open() as m: m.ask('errors ' * 150_000)"
    assert (
        "NotUnderstood: The question is too long: 1,050,000 characters, at most 4,000 are read." in lab.code(code).err
    )


def test_what_the_program_takes_for_an_option_is_told_how_to_ask(lab: Lab) -> None:
    """`limpet ask rm -rf` never reaches the question."""
    done = lab.limpet("ask", "rm", "-rf")
    assert done.status == 2
    assert "limpet ask -- " in done.err


def test_json_is_one_object_whatever_was_asked(lab: Lab) -> None:
    """Count, events, groups, window and coverage stand in every answer."""
    for question in ("errors", "tool calls per hour", "number of sessions", "did exec fail today", '"needle"'):
        answer = json.loads(ask(lab, question, "--json").out)
        assert {"question", "understood", "window", "count", "events", "groups", "coverage"} <= answer.keys()
    assert NOON
