"""Taking over a database of the 150-line script, and what a file that is none of ours does at its place."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from lab import Lab, call, ended, kill

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = """
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT, session_id TEXT, event_type TEXT, summary TEXT, details TEXT, tags TEXT
);
CREATE INDEX idx_session ON events (session_id, timestamp);
"""
BERLIN = "Europe/Berlin"
INSERT = "INSERT INTO events (timestamp, session_id, event_type, summary, details, tags) VALUES (?, ?, ?, ?, ?, ?)"


def script_rows(count: int) -> list[tuple]:
    """Return rows as the script writes them: notes, tool calls, errors, with naive local times up to now."""
    now = datetime.now(ZoneInfo(BERLIN)).replace(tzinfo=None)
    rows = []
    for n in range(count):
        at = (now - timedelta(minutes=count - n)).isoformat(timespec=("microseconds", "seconds")[n % 2])
        session = f"s-{n % 97}" if n % 5 else None
        if n % 3 == 0:
            details, tags = {"tool": f"tool_{n % 11}", "success": n % 4 != 0}, ["tool", f"tool_{n % 11}"]
            rows.append((at, session, "tool_call", f"tool_{n % 11} executed", json.dumps(details), json.dumps(tags)))
        elif n % 3 == 1:
            details = {"error_type": "Timeout", "message": f"no answer {n}"}
            rows.append((at, session, "error", f"Timeout: no answer {n}", json.dumps(details), json.dumps(["error"])))
        else:
            rows.append(
                (
                    at,
                    session,
                    "note",
                    f"note {n} ünï",
                    json.dumps({"n": n, "deep": [{"x": None}]}),
                    json.dumps(["a", "b"]),
                )
            )
    return rows


def script_database(path: Path, rows: list[tuple]) -> Path:
    """Write a database as the script makes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(SCHEMA)
        db.executemany(INSERT, rows)
        db.commit()
    return path


def seen_in_view(lab: Lab, columns: str = "*", order: str = "id") -> list[list]:
    """Return the rows of the view, read by the standard library in a process of its own."""
    look = "import json, sqlite3, sys; print(json.dumps(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall()))"
    done = lab.code(look, str(lab.db), f"SELECT {columns} FROM events ORDER BY {order}")
    assert done.status == 0, done.err
    return json.loads(done.out)


def backups(lab: Lab) -> list[Path]:
    """Return the backup files beside the database."""
    return sorted(lab.db.parent.glob("agent_memory.db.before-limpet-*"))


def drained(lab: Lab, **environment: str) -> None:
    """Let the command line take in everything."""
    for _ in range(30):
        done = lab.limpet("drain", TZ=BERLIN, **environment)
        assert done.status == 0, done.err
        if not still_set_aside(lab):
            return
    raise AssertionError("the rows of the script are never all taken in")


def still_set_aside(lab: Lab) -> bool:
    """Whether rows of the script wait to be taken in."""
    with lab.store() as store:
        return store.connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'script_events'").get == 1


def utc_of(local: str) -> str:
    """Return what the view shows for a local time of the script."""
    at = datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(BERLIN)).astimezone(UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%S") + f".{at.microsecond // 1000:03d}Z"


def test_ten_thousand_rows_are_taken_over(lab: Lab):
    """Every row reads the same through the view, and a backup lies beside it."""
    rows = script_rows(10_000)
    script_database(lab.db, rows)
    drained(lab)
    seen = seen_in_view(lab, "timestamp, session_id, event_type, summary, details, tags")
    assert len(seen) == 10_000
    assert [(utc_of(at), session, kind, summary) for at, session, kind, summary, _, _ in rows] == [
        tuple(row[:4]) for row in seen
    ]
    assert [(json.loads(d), json.loads(t)) for *_, d, t in rows] == [
        (json.loads(row[4]), json.loads(row[5])) for row in seen
    ]
    (backup,) = backups(lab)
    assert backup.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(backup)) as db:
        assert (
            db.execute(
                "SELECT timestamp, session_id, event_type, summary, details, tags FROM events ORDER BY id"
            ).fetchall()
            == rows
        )
    assert lab.verdict().faults == ()


def test_the_six_functions_read_what_was_taken_over(lab: Lab):
    """Hours, type, limit, newest first; a timeline oldest first; old rows and new ones side by side."""
    rows = script_rows(300)
    script_database(lab.db, rows)
    text = (
        "import json\nfrom limpet import *\nfrom limpet import init_db, log_event, get_recent_events, get_session_timeline\nconn = init_db()\n"
        "log_event(conn, 'note', 'new', session_id='s-7')\n"
        "print(json.dumps([get_recent_events(conn, limit=1000), get_recent_events(conn, 2.5, limit=1000), get_recent_events(conn, event_type='tool_call', limit=5), get_session_timeline(conn, 's-7')]))\n"
    )
    done = lab.code(text, TZ=BERLIN)
    recent, hours, tools, timeline = json.loads(done.out)
    assert [row[4] for row in recent] == ["new", *(row[3] for row in rows[::-1])]
    assert 145 <= len(hours) <= 151
    assert [row[4] for row in tools] == [row[3] for row in rows[::-1] if row[2] == "tool_call"][:5]
    assert [row[2] for row in timeline] == [*(row[3] for row in rows if row[1] == "s-7"), "new"]


ODD_ROWS = [
    ("2026-10-25T02:30:00", "s", "note", "an hour that comes twice", None, None),
    ("2026-03-29T02:30:00", "s", "note", "an hour that never was", None, None),
    ("2026-06-01 12:00:00", None, "note", "a blank instead of a T", "", ""),
    ("2026-06-01T12:00:00+00:00", None, "note", "with a zone", "{}", "[]"),
    ("yesterday", None, "note", "no time", "not json", "a,b"),
    (None, None, None, None, None, None),
    ("2026-06-01T12:00:00", "", "", "", '"text"', "7"),
    ("2026-06-01T12:00:00", "s", "note", "same", '{"n": 1}', "[]"),
    ("2026-06-01T12:00:00", "s", "note", "same", '{"n": 1}', "[]"),
    (1780315200, 5, "note", "a number as time", 1.5, b"\x00\xff"),
    ("2026-06-01T12:00:00", "s", "two\nlines", "two\nlines", '{"nan": NaN}', "[1e999]"),
    ("2026-06-01T12:00:00", "s", "note", "half \\ud83d " + "x" * 100_000, json.dumps({"deep": "y" * 200_000}), "[]"),
]


def test_odd_rows_are_taken_over_too(lab: Lab):
    """Nulls, texts that are no JSON, times that are none, equal rows, numbers, bytes, long texts: one event each."""
    script_database(lab.db, ODD_ROWS)
    drained(lab)
    seen = seen_in_view(lab, "summary, timestamp, details, json_valid(details), json_valid(tags), session_id")
    assert [row[0] for row in seen] == [row[3] or "" for row in ODD_ROWS]
    assert {tuple(row[3:5]) for row in seen} == {(1, 1)}
    times = {row[0]: row[1] for row in seen}
    assert times["an hour that comes twice"] == "2026-10-25T00:30:00.000Z"
    assert times["an hour that never was"] == "2026-03-29T01:00:00.000Z"
    assert times["with a zone"] == "2026-06-01T12:00:00.000Z"
    assert times["same"] == "2026-06-01T10:00:00.000Z"
    assert times["a number as time"] == "2026-06-01T12:00:00.000Z"
    assert lab.verdict().faults == ()


def test_a_script_that_still_writes_loses_no_row_that_it_committed(lab: Lab):
    """While it is taken over the script goes on until its table is a view: each row it committed is there."""
    script_database(lab.db, script_rows(200))
    writing = (
        "import sqlite3, sys, time\ndb = sqlite3.connect(sys.argv[1], timeout=30)\nn = 0\n"
        "while True:\n    try:\n        db.execute(\"INSERT INTO events (timestamp, event_type, summary) VALUES ('2026-06-01T12:00:00', 'late', ?)\", (f'late {n}',))\n        db.commit()\n"
        "    except sqlite3.Error as error:\n        print('END', error); break\n    print(n, flush=True); n += 1; time.sleep(0.02)\n"
    )
    old = lab.python("-c", writing, str(lab.db))
    assert old.stdout.readline() == "0\n"
    drained(lab)
    *committed, end = old.stdout.read().splitlines()
    ended(old)
    assert ("END" in end, "view" in end) == (True, True), end
    seen = [row[0] for row in seen_in_view(lab, "summary")]
    assert len(seen) == 200 + len(committed) + 1
    assert {f"late {n}" for n in range(len(committed) + 1)} <= set(seen)


@pytest.mark.parametrize("turn", range(2))
def test_a_take_over_that_is_killed_goes_on(lab: Lab, turn: int):
    """SIGKILL at random moments of it: every row once, and a whole backup."""
    rows = script_rows(4000)
    script_database(lab.db, rows)
    chance = random.Random(turn)
    for _ in range(5):
        process = lab.start("drain", TZ=BERLIN)
        time.sleep(0.1 + chance.random() * 0.5)
        kill(process)
    drained(lab)
    assert [row[0] for row in seen_in_view(lab, "summary")] == [row[3] for row in rows]
    whole = 0
    for backup in backups(lab):
        with closing(sqlite3.connect(backup)) as db:
            whole += db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'events'").fetchone()[
                0
            ] and db.execute("SELECT count(*) FROM events").fetchone() == (4000,)
    assert whole >= 1
    assert lab.verdict().faults == ()


DIE = """
import os, signal, sys
import apsw
from limpet import settings
from limpet.store import opening
left = int(sys.argv[1])
def watch(connection):
    def die():
        global left
        left -= 1
        if left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return False
    connection.set_commit_hook(die)
apsw.connection_hooks.append(watch)
from limpet.recording import Recording
recording = Recording.open(settings.load())
while recording.round():
    pass
"""


@pytest.mark.parametrize("commit", [1, 2, 3, 5])
def test_a_take_over_that_is_killed_at_any_commit_goes_on(lab: Lab, commit: int):
    """Just before each of its first transactions is committed: nothing lost, nothing doubled."""
    rows = script_rows(2500)
    script_database(lab.db, rows)
    assert lab.code(DIE, str(commit), TZ=BERLIN).status in (-signal.SIGKILL, 0)
    drained(lab)
    assert [row[0] for row in seen_in_view(lab, "summary")] == [row[3] for row in rows]


def test_the_take_over_says_what_to_change_in_the_script(lab: Lab):
    """Once and clearly: a view is no table, so the old script stops writing, and one import line brings it back."""
    script_database(lab.db, script_rows(5))
    first = lab.limpet("status", TZ=BERLIN)
    assert (
        "from limpet import init_db, log_event, log_tool_call, log_error, get_recent_events, get_session_timeline"
        in first.err
    )
    assert "before-limpet" in first.err
    assert "from limpet import" not in lab.limpet("status", TZ=BERLIN).err


def test_the_zone_in_which_the_script_wrote_may_be_set(lab: Lab):
    """The zone of the configuration goes before the machine's."""
    lab.home.mkdir(parents=True)
    (lab.home / "config.toml").write_text('zone = "America/New_York"\n')
    script_database(lab.db, [("2026-06-01T12:00:00", "s", "note", "noon", None, None)])
    drained(lab)
    assert seen_in_view(lab, "timestamp") == [["2026-06-01T16:00:00.000Z"]]


def test_a_script_database_elsewhere_is_imported_and_left_alone(lab: Lab):
    """`import` reads it, twice adds nothing, and not a byte of it changes."""
    path = script_database(lab.folder / "old" / "agent_memory.db", script_rows(500))
    before = fingerprint(path.parent)
    assert [lab.imported(path)["added"], lab.imported(path)["added"]] == [500, 0]
    assert fingerprint(path.parent) == before
    assert len(lab.events()) == 500


def test_taken_over_and_imported_it_counts_once(lab: Lab):
    """The backup that lies beside it, imported, adds nothing."""
    script_database(lab.db, script_rows(50))
    drained(lab)
    done = lab.limpet("import", "--json", str(backups(lab)[0]), TZ=BERLIN)
    assert (done.json["added"], done.json["known"]) == (0, 50)


# What is not ours


def fingerprint(folder: Path) -> dict[str, str]:
    """Return a hash of every file below a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def foreign_database(path: Path) -> None:
    """Write a SQLite database of some other program."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('bo'); CREATE TABLE record (x);")


def almost_the_script(path: Path) -> None:
    """Write a database whose table `events` is not the script's."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE events (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO events VALUES (1, 'x');")


def newer_database(path: Path) -> None:
    """Write a database of ours that a later version has made."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"PRAGMA application_id = {0x4C4D5054}; PRAGMA user_version = 999; CREATE TABLE x (y);")


def binary_file(path: Path) -> None:
    """Write something that is no database."""
    path.write_bytes(bytes(range(256)) * 64)


def torn_database(path: Path) -> None:
    """Write a database whose pages are damaged."""
    foreign_database(path)
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xff" * (len(content[100:4096]))
    path.write_bytes(content)


def a_folder(path: Path) -> None:
    """Make a folder where the database should be."""
    path.mkdir()


FOREIGN = {foreign_database: 2, almost_the_script: 2, newer_database: 4, binary_file: 2, torn_database: 4, a_folder: 4}
COMMANDS = [("recent", "--json"), ("import", "--json", "FILE"), ("drain", "--json")]


@pytest.mark.parametrize("make", FOREIGN, ids=lambda make: make.__name__)
def test_a_file_that_is_not_ours_is_refused_and_left_as_it_was(lab: Lab, make: object):
    """Each command says so in one sentence with a hint, ends with 2 or 4, and changes nothing (field case: bad input)."""
    lab.db.parent.mkdir(parents=True)
    make(lab.db)
    lab.spool([call("c-1")])
    lines = lab.file("lines.jsonl", [call("c-2")])
    before = fingerprint(lab.db.parent)
    for command in COMMANDS:
        done = lab.limpet(*(str(lines) if word == "FILE" else word for word in command))
        assert done.status == FOREIGN[make], (command, done)
        error = done.json["error"]
        assert (bool(error["message"]), "Traceback" in done.err) == (True, False)
        assert fingerprint(lab.db.parent) == before, command
    assert lab.left_in_spool() == ["plugin/1.jsonl"]


@pytest.mark.parametrize("make", FOREIGN, ids=lambda make: make.__name__)
def test_a_foreign_file_named_by_db_is_left_as_it_was(lab: Lab, make: object):
    """The same for `--db`, and nothing is made in the state folder."""
    path = lab.folder / "other" / "thing.db"
    path.parent.mkdir()
    make(path)
    before = fingerprint(path.parent)
    done = lab.limpet("recent", "--db", str(path))
    assert (done.status, done.out) == (FOREIGN[make], "")
    assert [line.split(":")[0] for line in done.err.splitlines()] == ["error", "hint"]
    assert fingerprint(path.parent) == before


@pytest.mark.parametrize("make", FOREIGN, ids=lambda make: make.__name__)
def test_init_db_says_what_is_wrong_with_a_foreign_file(lab: Lab, make: object):
    """One exception with the reason in it."""
    lab.db.parent.mkdir(parents=True)
    make(lab.db)
    before = fingerprint(lab.db.parent)
    done = lab.code(
        "from limpet import init_db\ntry:\n    init_db()\nexcept Exception as error:\n    print(type(error).__name__, str(error)[:60])"
    )
    assert done.out.startswith("Unavailable What was logged could not be taken in: error:"), done
    assert fingerprint(lab.db.parent) == before


def test_a_sidecar_beside_a_foreign_file_says_so_and_waits(lab: Lab):
    """It goes on once the file is moved away."""
    lab.db.parent.mkdir(parents=True)
    foreign_database(lab.db)
    lab.spool([call("c-1")])
    with lab.sidecar() as sidecar:
        while not lab.asked(op="hello").get("complaint"):
            time.sleep(0.05)
        assert "another program" in lab.asked(op="hello")["complaint"]
        assert lab.limpet("status").status in (4, 5, 2)
        lab.db.rename(lab.folder / "moved.db")
        while lab.left_in_spool():
            time.sleep(0.05)
        assert sidecar.poll() is None
    assert [event.call for event in lab.events()] == ["c-1"]


def test_an_empty_file_becomes_a_database(lab: Lab):
    """A file of no bytes is a database without tables for SQLite, and for us."""
    lab.db.parent.mkdir(parents=True)
    lab.db.touch()
    lab.take([call("c-1")])
    assert len(lab.events()) == 1


def test_no_database_at_all_is_said(lab: Lab):
    """A question makes nothing: exit status 4, one sentence, no folders."""
    done = lab.limpet("recent", "--json")
    assert (done.status, done.json["error"]["code"], lab.state.exists()) == (4, "no_database", False)


# Where nothing may be written


def as_if_not_root(lab: Lab, *arguments: str):
    """Run the command line as a user who must keep to permissions: root without the right to pass them by."""
    prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    import subprocess
    import sys

    done = subprocess.run(
        [*prefix, sys.executable, "-m", "limpet", *arguments],
        env=lab.environment,
        cwd=lab.folder,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


needs_setpriv = pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root cannot give up its rights here"
)


@pytest.fixture
def sealed(lab: Lab):
    """Return an installation with one event whose folders nobody may write to."""
    lab.take([call("c-1")])
    folders = [lab.state, *(path for path in lab.state.rglob("*") if path.is_dir())]
    files = [path for path in lab.state.rglob("*") if path.is_file()]
    for path in files:
        path.chmod(0o400)
    for path in folders:
        path.chmod(0o500)
    yield lab
    for path in folders:
        path.chmod(0o700)
    for path in files:
        path.chmod(0o600)


@needs_setpriv
def test_a_memory_that_may_only_be_read_is_read(sealed: Lab):
    """Questions are answered; nothing is written for it."""
    before = fingerprint(sealed.state)
    status, out, err = as_if_not_root(sealed, "recent", "--json", "--now", "2026-06-01T13:00:00Z")
    assert (status, json.loads(out)["count"]) == (0, 1), err
    assert fingerprint(sealed.state) == before


@needs_setpriv
@pytest.mark.parametrize("command", [("add", "note", "x"), ("rebuild",), ("import", "FILE"), ("run",)])
def test_what_has_to_write_there_says_that_it_cannot(sealed: Lab, command: tuple[str, ...]):
    """Exit status 4, a sentence and a hint."""
    lines = sealed.file("lines.jsonl", [call("c-2")])
    status, _, err = as_if_not_root(sealed, *(str(lines) if word == "FILE" else word for word in command))
    assert (status, [line.split(":")[0] for line in err.splitlines()]) == (4, ["error", "hint"]), err


@needs_setpriv
def test_a_folder_in_which_no_database_can_be_made_is_said(lab: Lab):
    """The same for a fresh installation in a folder that may not be written to."""
    lab.spool([call("c-1")])
    lab.state.chmod(0o500)
    status, _, err = as_if_not_root(lab, "import", str(lab.file("lines.jsonl", [call("c-2")])))
    lab.state.chmod(0o700)
    assert (status, "error:" in err, "Traceback" in err) == (4, True, False), err
    assert lab.left_in_spool() == ["plugin/1.jsonl"]
