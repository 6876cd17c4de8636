"""The six functions as users of the 150-line script know them, with a sidecar and without, beside old connections."""

from __future__ import annotations

import inspect
import json

import pytest

import limpet
from lab import Lab, ended, kill, until

BEGIN = """
import json, sys
from limpet import init_db, log_event, log_tool_call, log_error, get_recent_events, get_session_timeline
conn = init_db()
def show(value): print(json.dumps(value))
"""
"""What every script begins with."""


@pytest.fixture(params=["alone", "with a sidecar"])
def running(request: pytest.FixtureRequest, lab: Lab):
    """Return an installation, once without and once with a sidecar at work in it."""
    if request.param == "alone":
        yield lab
        return
    with lab.sidecar():
        yield lab


def said(lab: Lab, text: str, **environment: str) -> list:
    """Run a script and return what it showed, one value a line; it must end well."""
    done = lab.code(BEGIN + text, **environment)
    assert done.status == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


def test_the_signatures_are_those_of_the_script():
    """Names, order and defaults of the arguments."""
    found = {
        name: [(p.name, p.default) for p in inspect.signature(getattr(limpet, name)).parameters.values()]
        for name in ("init_db", "log_event", "log_tool_call", "log_error", "get_recent_events", "get_session_timeline")
    }
    none = inspect.Parameter.empty
    assert found == {
        "init_db": [],
        "log_event": [("conn", none), ("event_type", none), ("summary", none), ("details", None), ("tags", None), ("session_id", None)],
        "log_tool_call": [("conn", none), ("tool_name", none), ("args", none), ("result", none), ("session_id", None)],
        "log_error": [("conn", none), ("error_type", none), ("message", none), ("session_id", None)],
        "get_recent_events": [("conn", none), ("hours", 24), ("event_type", None), ("limit", 50)],
        "get_session_timeline": [("conn", none), ("session_id", none)],
    }  # fmt: skip


def test_what_was_logged_is_read_at_once(running: Lab):
    """Newest first, as tuples of the seven columns; details and tags come back in full."""
    (rows,) = said(
        running,
        "log_event(conn, 'deploy', 'shop 2.4 is out', {'host': 'a7', 'steps': [1, {'x': None}]}, ['release', 'shop'], 's-1')\n"
        "log_event(conn, 'note', 'second')\nlog_event(conn, 'deploy', 'third', session_id='s-1')\n"
        "show([list(r) for r in get_recent_events(conn)])",
    )
    assert [len(row) for row in rows] == [7, 7, 7]
    assert [(row[3], row[4]) for row in rows] == [
        ("deploy", "third"),
        ("note", "second"),
        ("deploy", "shop 2.4 is out"),
    ]
    assert [row[2] for row in rows] == ["s-1", None, "s-1"]
    assert json.loads(rows[2][5]) == {"host": "a7", "steps": [1, {"x": None}]}
    assert json.loads(rows[2][6]) == ["release", "shop"]
    assert all(row[1].endswith("Z") and row[1][10] == "T" for row in rows)


def test_rows_are_tuples_with_rising_ids(lab: Lab):
    """Each row is a tuple; ids are numbers, larger for what came later."""
    kinds, ids = said(
        lab,
        "for n in range(5): log_event(conn, 'n', str(n))\nrows = get_recent_events(conn)\nshow([type(r).__name__ for r in rows])\nshow([r[0] for r in rows])",
    )
    assert kinds == ["tuple"] * 5
    assert ids == sorted(ids, reverse=True)


def test_type_limit_and_hours_narrow_it(running: Lab):
    """Each alone and all together."""
    typed, limited, none, both, far = said(
        running,
        "for n in range(9): log_event(conn, 'ab'[n % 2], str(n))\n"
        "show([r[4] for r in get_recent_events(conn, event_type='a')])\nshow([r[4] for r in get_recent_events(conn, limit=3)])\n"
        "show(get_recent_events(conn, hours=0.0))\nshow([r[4] for r in get_recent_events(conn, 1, 'b', 2)])\n"
        "show(len(get_recent_events(conn, hours=10**9)))",
    )
    assert (typed, limited, none, both, far) == (["8", "6", "4", "2", "0"], ["8", "7", "6"], [], ["7", "5"], 9)


def test_fifty_are_shown_unless_more_are_asked_for(lab: Lab):
    """The default limit is the script's."""
    assert said(
        lab,
        "for n in range(60): log_event(conn, 'n', str(n))\nshow(len(get_recent_events(conn)))\nshow(len(get_recent_events(conn, limit=1000)))",
    ) == [50, 60]


def test_a_timeline_is_oldest_first(lab: Lab):
    """(timestamp, event_type, summary) of one session, in the order in which it was logged."""
    rows, unknown = said(
        lab,
        "for n in range(4):\n    log_event(conn, 'step', f'a{n}', session_id='s-a')\n    log_tool_call(conn, f't{n}', {}, {'ok': True}, 's-b')\n"
        "show([list(r) for r in get_session_timeline(conn, 's-a')])\nshow(get_session_timeline(conn, 's-none'))",
    )
    assert [row[1:] for row in rows] == [["step", f"a{n}"] for n in range(4)]
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert unknown == []


def test_a_tool_call_is_a_success_where_its_result_says_so(lab: Lab):
    """Type, summary, details and tags as the script wrote them."""
    (rows,) = said(
        lab,
        "log_tool_call(conn, 'mail', {'to': 'bo'}, {'ok': True, 'id': 7}, 's-1')\nlog_tool_call(conn, 'mail', {'to': 'bo'}, {'ok': False, 'error': 'bounced'})\n"
        "log_tool_call(conn, 'mail', {}, {})\nshow([list(r) for r in get_recent_events(conn, event_type='tool_call')])",
    )
    assert [row[4] for row in rows] == ["mail executed"] * 3
    details = [json.loads(row[5]) for row in rows]
    assert [(d["tool"], d["success"]) for d in details] == [("mail", False), ("mail", False), ("mail", True)]
    assert [json.loads(row[6]) for row in rows] == [["tool", "mail"]] * 3
    assert [event.status for event in lab.events("tool_call")] == ["succeeded", "failed", "failed"]
    assert [event.error for event in lab.events("tool_call")] == ["", "bounced", ""]


def test_an_error_reads_as_the_script_wrote_it(lab: Lab):
    """Type `error`, summary `<error_type>: <message>`, details with both, tags `error`."""
    (rows,) = said(
        lab,
        "log_error(conn, 'Timeout', 'no answer in 30 s', 's-1')\nshow([list(r) for r in get_recent_events(conn)])",
    )
    ((_, _, session, kind, summary, details, tags),) = rows
    assert (session, kind, summary) == ("s-1", "error", "Timeout: no answer in 30 s")
    assert (json.loads(details), json.loads(tags)) == (
        {"error_type": "Timeout", "message": "no answer in 30 s"},
        ["error"],
    )
    assert [event.summary for event in lab.events(**{"is": "error"})] == ["Timeout: no answer in 30 s"]


@pytest.mark.parametrize(
    "summary",
    ["two\nlines", "  led by blanks", "tabs\tand more", "ünï 😀", "x" * 1999, "", "a\n\n  Traceback:\n    File"],
)
def test_a_summary_comes_back_as_it_was_given(lab: Lab, summary: str):
    """Its lines and blanks included."""
    ((row,),) = said(lab, f"log_event(conn, 'note', {summary!r})\nshow([list(r) for r in get_recent_events(conn)])")
    assert row[4] == summary


DETAILS = [
    {"a": {"b": [1, 2.5, True, None, "x"]}}, [1, 2], "text", 7, 0, 1.5, True, False, {}, [], "", '{"json": "in text"}', {"big": 2**70}, {"k" * 500: "v" * 5000},
]  # fmt: skip


def test_any_json_comes_back_as_details_and_as_tags(lab: Lab):
    """Objects, lists, texts, numbers, booleans and empty things."""
    text = f"values = {DETAILS!r}\nfor v in values: log_event(conn, 'n', 's', v, v)\nshow([[json.loads(r[5]), json.loads(r[6])] for r in get_recent_events(conn)])"
    (rows,) = said(lab, text)
    assert rows[::-1] == [[value, value] for value in DETAILS]


def test_arguments_and_results_that_json_has_no_word_for_are_logged_all_the_same(lab: Lab):
    """The script never wrote them down, so they may be anything: paths, dates, bytes, sets, objects, cycles."""
    (count,) = said(
        lab,
        "import datetime, pathlib, decimal\nclass Odd:\n    def __repr__(self): return 'ODD7'\n"
        "cycle = []; cycle.append(cycle)\n"
        "for value in (pathlib.Path('/x'), datetime.datetime(2026, 6, 1), b'bytes', {1, 2}, Odd(), (1, 2), decimal.Decimal('1.5'), {3: 'int key'}, {(1, 2): 'tuple key'}, float('nan'), cycle):\n"
        "    log_tool_call(conn, 't', {'v': value}, {'ok': True, 'v': value})\n"
        "for value in (None, 'text', [1], 7): log_tool_call(conn, 'u', value, value)\n"
        "show(len(get_recent_events(conn)))",
    )
    assert count == 15
    assert len(lab.found("ODD7")) == 1
    assert {event.status for event in lab.events("tool_call", tool="u")} == {"failed"}


def test_a_number_as_a_session_id_is_that_session(lab: Lab):
    """SQLite let the script's users give numbers."""
    assert said(
        lab,
        "log_event(conn, 'n', 'x', session_id=5)\nshow(len(get_session_timeline(conn, 5)))\nshow(len(get_session_timeline(conn, '5')))",
    ) == [1, 1]


def test_no_second_sqlite_library_is_loaded(running: Lab):
    """A process that uses the six functions never loads APSW, nor anything else that is heavy."""
    text = "log_event(conn, 'n', 'x')\nget_recent_events(conn)\nget_session_timeline(conn, 's')\nshow([m for m in ('apsw', 'zstandard', 're2', 'limpet.memory', 'limpet.store.sqlite') if m in sys.modules])"
    assert said(running, text) == [[]]


def test_the_connection_is_a_standard_one_for_reading(running: Lab):
    """People run their own SQL on it; it cannot write."""
    name, count, refused = said(
        running,
        "import sqlite3\nlog_event(conn, 'n', 'x')\nget_recent_events(conn)\nshow(isinstance(conn, sqlite3.Connection))\n"
        "show(conn.execute(\"SELECT count(*) FROM events WHERE summary LIKE '%x%' AND event_type = 'n'\").fetchone()[0])\n"
        "try:\n    conn.execute('DELETE FROM record')\nexcept sqlite3.Error as error:\n    show(str(error))",
    )
    assert (name, count) == (True, 1)
    assert "readonly" in refused


def test_an_old_connection_beside_it_costs_no_row(running: Lab):
    """A script's own connection, opened before and closed in the middle, takes no lock away and no row with it."""
    text = (
        "import sqlite3\nfrom limpet import settings\nold = sqlite3.connect(settings.load().db)\nold.execute('SELECT count(*) FROM events').fetchone()\n"
        "for n in range(40):\n    log_event(conn, 'n', str(n))\n    if n % 10 == 0: get_recent_events(conn)\n    if n == 20: old.close()\n"
        "    if n == 30: old = sqlite3.connect(settings.load().db); old.execute('SELECT * FROM events').fetchall()\n"
        "show(len(get_recent_events(conn)))\nshow('apsw' in sys.modules)"
    )
    assert said(running, text) == [40, False]
    running.drain() if not running.answers() else None
    assert (len(running.events("n")), running.verdict().faults) == (40, ())


def test_threads_and_forks_log_side_by_side(lab: Lab):
    """Four threads and a forked child lose nothing and double nothing."""
    (count,) = said(
        lab,
        "import os, threading\nlog_event(conn, 'n', 'first')\n"
        "ts = [threading.Thread(target=lambda k=k: [log_event(conn, 'n', f'{k} {n}') for n in range(25)]) for k in range(4)]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]\n"
        "pid = os.fork()\nif pid == 0:\n    [log_event(conn, 'n', f'child {n}') for n in range(10)]\n    os._exit(0)\n"
        "os.waitpid(pid, 0)\nlog_event(conn, 'n', 'last')\nshow(len(get_recent_events(conn, limit=1000)))",
    )
    assert count == 112
    assert len({event.summary for event in lab.events("n")}) == 112
    numbered = {(record.stream, record.seq) for record in lab.records()}
    assert len(numbered) == 112


def test_scripts_that_read_at_the_same_time_all_see_what_they_logged(lab: Lab):
    """Whoever finds another one at work waits for it: each sees all of its own events, and at the end all of all."""
    text = BEGIN + (
        "for n in range(20): log_event(conn, sys.argv[1], str(n))\n"
        "show(len(get_recent_events(conn, event_type=sys.argv[1])))"
    )
    scripts = [lab.python("-c", text, f"script {n}") for n in range(4)]
    assert [done.out for done in map(ended, scripts)] == ["20\n"] * 4
    assert said(lab, "show(len(get_recent_events(conn, limit=1000)))") == [80]


def test_the_path_may_be_named_by_the_environment(lab: Lab):
    """LIMPET_DB says where, for logging and for reading."""
    other = lab.folder / "else where" / "m.db"
    assert said(lab, "log_event(conn, 'n', 'x')\nshow(len(get_recent_events(conn)))", LIMPET_DB=str(other)) == [1]
    assert (other.exists(), lab.db.exists()) == (True, False)


def test_a_connection_of_ones_own_is_refused_with_a_sentence(lab: Lab):
    """What init_db() did not give cannot be logged to."""
    (message,) = said(
        lab,
        "import sqlite3\ntry:\n    log_event(sqlite3.connect(':memory:'), 'n', 'x')\nexcept Exception as error:\n    show([type(error).__name__, str(error), error.hint])",
    )
    assert message == ["Unavailable", "This connection is not one of Limpet's.", "Use the one that init_db() returns."]


def test_a_sidecar_that_is_killed_between_two_calls_changes_nothing(lab: Lab):
    """Logging goes on, and reading takes in what is pending by itself."""
    script = lab.start("run")
    until(lab.answers, "the sidecar answers")
    client = lab.python(
        "-c",
        BEGIN
        + "import time\nfrom pathlib import Path\nlog_event(conn, 'n', 'before')\nprint(len(get_recent_events(conn)), flush=True)\nwhile not Path(sys.argv[1]).exists(): time.sleep(0.01)\nlog_event(conn, 'n', 'after')\nprint(len(get_recent_events(conn)))",
        str(lab.folder / "go"),
    )
    assert client.stdout.readline() == "1\n"
    kill(script)
    (lab.folder / "go").write_text("")
    assert ended(client).out.splitlines()[-1] == "2"
