"""Odd arguments: each gets a sentence and a hint, and an exit status that says whose mistake it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from lab import Lab


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "99999999999999999999999"),
        ("show", "-1"),
        ("recent", "--hours", "nan"),
        ("recent", "--hours", "inf"),
        ("recent", "--limit", "99999999999999999999"),
        ("ask", "--limit", "99999999999999999999", "notes"),
        ("ask", "--offset", "99999999999999999999", "notes"),
        ("ask", "--offset", "-1", "notes"),
        ("import", ""),
    ],
)
def test_a_value_that_cannot_be_is_bad_input(lab: Lab, arguments: tuple[str, ...]):
    """Numbers too large for the store, no numbers, and an empty path are mistakes of the caller."""
    lab.limpet("add", "note", "something")
    done = lab.limpet(*arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert "\nhint:  " in done.err


def test_a_home_that_nobody_has_is_no_file(lab: Lab):
    """`~nobody-of-that-name` is a path like any other that is not there."""
    assert lab.limpet("import", "~nobody-of-that-name/x").status == 3


def test_what_is_added_to_another_database_is_there_and_nowhere_else(lab: Lab):
    """The spool belongs to the memory of this home: what went through it came into that one, and `added` was a lie."""
    lab.limpet("add", "note", "mine")
    other = lab.folder / "other.db"
    with lab.sidecar():
        done = lab.limpet("add", "note", "theirs", "--tag", "x", "--session", "s-1", "--db", str(other))
    assert (done.status, done.out) == (0, "added note: theirs\n")
    for question in ("notes", "theirs"):
        answer = lab.limpet("ask", question, "--json", "--db", str(other)).json
        assert [event["summary"] for event in answer["events"]] == ["theirs"]
    assert lab.limpet("verify", "--db", str(other)).status == 0
    assert [event.summary for event in lab.events("note")] == ["mine"]


def test_what_cannot_be_added_there_is_said(lab: Lab):
    """A folder is no database."""
    done = lab.limpet("add", "note", "lost", "--db", str(lab.folder))
    assert (done.status, done.out) == (4, "")
    assert not lab.home.exists() or not list(lab.home.rglob("*.jsonl"))


@pytest.mark.parametrize("command", [("recent",), ("status",), ("verify",), ("ask", "notes")])
def test_a_question_to_another_database_makes_none(lab: Lab, command: tuple[str, ...]):
    """A misspelt `--db` gives no empty answer, and leaves no file behind."""
    lab.limpet("add", "note", "something")
    lab.limpet(*command, "--db", str(lab.folder / "new" / "misspelt.db"))
    assert not (lab.folder / "new").exists()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_closed_standard_stream_is_no_fault(lab: Lab, closed: str):
    """A command whose standard input, output or error is closed does its work and ends well."""
    lab.limpet("add", "note", "something")
    done = lab.code(
        "import subprocess, sys; sys.exit(subprocess.call(['sh', '-c', f'{sys.executable} -m limpet recent ' + sys.argv[1]]))",
        closed,
    )
    assert done.status == 0, done.err


def test_the_sidecar_ends_with_a_standard_input_that_is_closed_already(lab: Lab):
    """`run --until-eof` without a standard input has seen its end."""
    done = lab.code(
        "import subprocess, sys; sys.exit(subprocess.call(['sh', '-c', f'exec {sys.executable} -m limpet run --until-eof <&-'], timeout=20))"
    )
    assert done.status == 0, done.err


def test_the_root_of_all_folders_is_no_database(lab: Lab) -> None:
    """A sentence, and no fault of ours."""
    done = lab.limpet("status", "--db", "/")
    assert (done.status, "can be no database" in done.err) == (2, True)
