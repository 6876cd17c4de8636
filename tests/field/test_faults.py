"""Machines that fail: after each fault nothing is lost, nothing is there twice, and while it lasts `status` says it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from field.test_durability import fill, judge, mixed
from lab import Lab, call, ended, until
from limpet import clock, coverage, settings
from limpet.store import sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parents[1]
HOLD = """
import sys, time, sqlite3
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute(sys.argv[2])
connection.execute("SELECT count(*) FROM record").fetchone()
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def faulty(lab: Lab, kind: str, how: str) -> Iterator[subprocess.Popen[str]]:
    """Run the sidecar on a disk with these faults, for as long as needed."""
    process = lab.python(str(TESTS / "faultydisk.py"), kind, how, PYTHONPATH=str(TESTS))
    try:
        until(lambda: process.poll() is not None or lab.answers(), "the sidecar answers")
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            ended(process)


@contextmanager
def held(lab: Lab, begin: str) -> Iterator[subprocess.Popen[str]]:
    """Let another program, with another SQLite library, hold the database by this statement."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lab.db), begin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    try:
        yield process
    finally:
        process.communicate("")


@pytest.mark.parametrize("kind", ["full", "eio", "sync"])
def test_faults_at_every_step_of_a_commit_lose_and_double_nothing(lab: Lab, kind: str):
    """A full disk, or an error of writing or of syncing, dozens of times, each after a few steps more."""
    lines = mixed(500)
    fill(lab, lines, 20)
    with faulty(lab, kind, "rarely") as sidecar:
        until(lambda: lab.left_in_spool() == [], "everything is taken in")
        sidecar.terminate()
        done = ended(sidecar)
    assert int(done.out) >= (4 if kind == "sync" else 20)
    assert ("The disk is full" if kind == "full" else "cannot be read or written") in done.err
    judge(lab, 500, lines)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("full", "The disk is full"),
        ("eio", "cannot be read or written"),
        ("sync", "cannot be read or written"),
    ],
)
def test_a_fault_that_lasts_is_said_by_status_and_made_good_afterwards(lab: Lab, kind: str, said: str):
    """Exit status 5 with the reason while it lasts; the sidecar goes on by itself once it is over."""
    lab.take([call("c-0")])
    with faulty(lab, kind, "always") as sidecar:
        (lab.folder / "fail").touch()
        fill(lab, mixed(100), 2)
        until(lambda: said in str(lab.asked(op="hello").get("complaint")), "the sidecar says why")
        status, recent = lab.limpet("status", "--json"), lab.limpet("recent", "--json")
        (lab.folder / "fail").unlink()
        until(lambda: lab.left_in_spool() == [], "everything is taken in")
        sidecar.terminate()
        ended(sidecar)
    assert (status.status, status.json["breaks"][0]["code"], said in status.json["sentence"]) == (5, "recorder", True)
    assert said in recent.json["coverage"]["warning"]
    assert len(lab.events("tool_call")) == 40
    assert (lab.verdict().faults, lab.limpet("status").status) == ((), 0)


def test_a_database_that_another_program_locks_is_said_and_made_good(lab: Lab):
    """It writes for longer than Limpet waits (waiting is shortened here; a real minute is among the long tests)."""
    lab.take([call("c-0")])
    with faulty(lab, "full", "always"):
        with held(lab, "BEGIN IMMEDIATE"):
            fill(lab, mixed(100), 2)
            until(lambda: "is locked" in str(lab.asked(op="hello").get("complaint")), "the sidecar says why")
            status, recent = lab.limpet("status", "--json"), lab.limpet("recent", "--json")
        until(lambda: lab.left_in_spool() == [], "everything is taken in")
    assert (status.status, "locked by another program" in status.json["sentence"]) == (5, True)
    assert "locked by another program" in recent.json["coverage"]["warning"]
    assert (len(lab.events("tool_call")), lab.verdict().faults) == (40, ())


@pytest.mark.soak
def test_a_database_that_is_locked_for_a_minute_loses_nothing(lab: Lab):
    """As another program may do it, with Limpet's own patience."""
    lab.take([call("c-0")])
    with lab.sidecar():
        with held(lab, "BEGIN IMMEDIATE"):
            fill(lab, mixed(1000), 10)
            time.sleep(60)
            status = lab.limpet("status", "--json")
        until(lambda: lab.left_in_spool() == [], "everything is taken in")
    assert (status.status, "locked by another program" in status.json["sentence"]) == (5, True)
    assert (len(lab.events("tool_call")), lab.verdict().faults) == (400, ())


def log_bytes(lab: Lab) -> int:
    """Return how long the database's log is."""
    return lab.db.with_name(f"{lab.db.name}-wal").stat().st_size


def test_a_log_that_a_stuck_reader_lets_grow_is_cut_when_it_is_gone(lab: Lab, monkeypatch: pytest.MonkeyPatch):
    """Recording goes on meanwhile, and nobody waits; the bound is lowered here to a megabyte."""
    monkeypatch.setattr(sqlite, "LOG_BYTES", 1 << 20)
    lab.take([call("c-0")])
    with lab.recording() as recording:
        with held(lab, "BEGIN"):
            fill(lab, mixed(2000), 40)
            while recording.round():
                pass
            grown = log_bytes(lab)
            assert len(lab.events("tool_call")) == 800
        for _ in range(2):
            lab.spool([call(f"d-{clock.token(4)}")], "other", 1)
            recording.round()
        assert log_bytes(lab) < 1 << 20 < grown
        assert lab.verdict().faults == ()


def test_a_log_that_has_grown_is_said(lab: Lab):
    """With its size and what to do."""
    lab.take([call("c-0")])
    with lab.store() as store:
        now = coverage.Watched(clock.now_ms(), recording=True, log_bytes=300 << 20)
        found = coverage.health(store, now)
    assert (found.breaks[0].code, "300 MB" in found.sentence) == ("log", True)


@pytest.mark.parametrize("mode", ["header", "middle", "truncate", "garbage", "zerobyte", "walhead"])
def test_a_damaged_file_is_moved_aside_and_recording_goes_on(lab: Lab, mode: str):
    """Six ways to damage it (field case F48): what comes next is recorded, what was is kept, and it is said."""
    lab.take([call(f"c-{n}", n) for n in range(200)])
    if mode == "walhead":
        with lab.sidecar() as sidecar:
            lab.spool([call("late")], segment=2)
            until(lambda: lab.left_in_spool() == [], "it is in the log")
            sidecar.kill()
    damage(lab.db, mode)
    lab.spool([call("next")], segment=3)
    with lab.sidecar():
        until(lambda: list(lab.db.parent.glob("*.damaged-*")), "it is moved aside")
        until(lambda: lab.left_in_spool() == [] and lab.asked(op="hello").get("complaint") == "", "recording goes on")
        status = lab.limpet("status")
    assert "next" in {event.call for event in lab.events("tool_call")}
    assert (status.status, "damaged" in status.out) == (0, True)
    assert [e.summary.partition(":")[0] for e in lab.events("error")] == ["the database was damaged"]
    assert lab.verdict().faults == ()


def damage(db: Path, mode: str) -> None:
    """Damage a database as the field case does."""
    size = db.stat().st_size
    if mode in ("garbage", "zerobyte"):
        db.write_bytes(b"this is not a database\n" * 200 if mode == "garbage" else b"")
        return
    path = db.with_name(f"{db.name}-wal") if mode == "walhead" else db
    with path.open("r+b") as file:
        if mode == "truncate":
            file.truncate(size * 2 // 3)
            return
        file.seek(size // 2 // 4096 * 4096 if mode == "middle" else 0)
        file.write(bytes(32 if mode == "walhead" else 4096))


def test_of_six_sidecars_at_once_one_records_and_the_others_say_so(lab: Lab):
    """They end well, and nothing is there twice (field case F51)."""
    lines = mixed(500)
    fill(lab, lines, 5)
    sidecars = [lab.start("run") for _ in range(6)]
    until(lambda: sum(one.poll() is None for one in sidecars) == 1 and lab.answers(), "one is left")
    until(lambda: lab.left_in_spool() == [], "it takes everything in")
    others = [ended(one) for one in sidecars if one.poll() is not None]
    for one in sidecars:
        if one.poll() is None:
            one.terminate()
            ended(one)
    assert [(done.status, done.err.strip()) for done in others] == [(0, "A sidecar is already running here.")] * 5
    judge(lab, 500, lines)


def test_a_process_id_that_another_process_has_now_holds_nothing_up(lab: Lab):
    """Neither a producer's nor a recorder's: its start decides, and the kernel's lock (field case F66)."""
    path = lab.spool([call("c-1")])
    about = f'{{"v":1,"producer":"plugin","pid":{os.getpid()},"start":"1","boot":"{clock.boot_id()}","ns":"{clock.pid_space()}"}}'
    (path.parent / "producer.json").write_text(about)
    lab.settings.lock.write_text(str(os.getpid()))
    with lab.sidecar():
        until(lambda: lab.left_in_spool() == [], "its segment is taken in and deleted")
        status = lab.limpet("status", "--json")
    assert (status.status, status.json["ok"]) == (0, True)


HOMES = [
    "Ana María Ж 家/x y",
    'quote\'s "dir" $HOME `x` %41?a=1#b',
    "/".join(["deep-folder-name"] * 9),
]


@pytest.mark.parametrize("name", HOMES)
def test_any_path_will_do(tmp_path: Path, name: str):
    """Spaces, quotes, other scripts, signs of a URI, and longer than a socket's name may be (field case F71)."""
    folder = tmp_path / name
    folder.mkdir(parents=True)
    lab = Lab(folder)
    with lab.sidecar():
        lab.spool([call("c-1")])
        until(lambda: lab.left_in_spool() == [], "it is recorded")
        assert lab.asked(op="hello")["db"] == str(lab.db)
    assert lab.limpet("ask", "tool calls", "--json").json["count"] == 1
    assert [lab.limpet(command).status for command in ("status", "verify", "rebuild")] == [0, 0, 0]


@pytest.mark.parametrize("home", [None, "", "/nonexistent", "relative/path", "\udcff"])
def test_a_missing_or_odd_home_is_no_fault_of_ours(lab: Lab, home: str | None):
    """The folder that is named counts; without one, what the system says of the user; never the working folder."""
    environment = {k: v for k, v in lab.environment.items() if k != "HOME"}
    environment |= {} if home is None else {"HOME": home}
    lab.folder.joinpath("cwd").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "limpet", "status"],
        env=environment,
        cwd=lab.folder / "cwd",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    chosen = settings.load(environment={k: v for k, v in environment.items() if not k.startswith("OPENCLAW")})
    assert chosen.home.is_absolute()
    assert list((lab.folder / "cwd").iterdir()) == []


@pytest.mark.parametrize("jump", [-7_200_000, 7_200_000, -30 * 86_400_000])
def test_a_clock_that_jumps_loses_nothing_and_ends_no_recording(lab: Lab, jump: int):
    """Events of the other time are kept as they were told, each once, and recording goes on."""
    code = """
import sys
from limpet import clock
real, jumped = clock.now_ms, [0]
clock.now_ms = lambda: real() + jumped[0]
from lab import Lab, call
from pathlib import Path
lab = Lab(Path.cwd())
with lab.recording() as recording:
    for n in range(20):
        jumped[0] = int(sys.argv[1]) if n % 4 > 1 else 0
        lab.spool([{**call(f"c-{n}"), "ts": clock.now_ms()}], segment=n + 1)
        recording.round()
    jumped[0] = 0
    while recording.round():
        pass
"""
    done = lab.code(code, str(jump), PYTHONPATH=str(TESTS))
    assert (done.status, done.err) == (0, "")
    assert sorted(event.call for event in lab.events("tool_call")) == sorted(f"c-{n}" for n in range(20))
    assert (lab.left_in_spool(), lab.verdict().faults, lab.limpet("status").status) == ([], (), 0)


@pytest.mark.parametrize("damaged", ["cut", "zeros", "noise", "holes"])
def test_damaged_segments_cost_only_the_damaged_lines(lab: Lab, damaged: str):
    """What is whole is taken in, what is not lies in quarantine, and `status` counts it."""
    lines = [call(f"c-{n}", n) for n in range(200)]
    path = lab.spool(lines)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    if damaged == "cut":
        del content[-50:]
    elif damaged == "zeros":
        content[middle : middle + 4096] = bytes(4096)
    elif damaged == "noise":
        content[middle : middle + 4096] = bytes((n * 197 + 13) % 256 for n in range(4096))
    else:
        content[middle : middle + 3000 : 300] = b"\n" * 10
    path.write_bytes(content)
    lab.drain()
    whole = {event.call for event in lab.events("tool_call")}
    told = lab.limpet("status")
    assert whole <= {f"c-{n}" for n in range(200)}
    assert len(whole) > 170
    assert {"c-0", "c-1"} <= whole
    assert (told.status, "rejected (kept in quarantine)" in told.out) == (0, True)
    assert (lab.left_in_spool(), lab.verdict().faults) == ([], ())


def test_a_note_that_is_killed_at_any_moment_is_written_in_the_end(lab: Lab):
    """SIGKILL while it is made, ten times: one note, whole, and the file has nothing else in it."""
    workspace = lab.state / "workspace"
    workspace.mkdir(parents=True)
    lab.take([call(f"c-{n}", n) for n in range(300)])
    for n in range(10):
        writing = lab.start("note", "--date", "2026-06-01")
        time.sleep(0.1 + n * 0.1)
        writing.send_signal(signal.SIGKILL)
        writing.communicate()
    assert lab.limpet("note", "--date", "2026-06-01").status == 0
    (note,) = (workspace / "memory").iterdir()
    assert note.read_text().count("<!-- limpet") == 2
    assert "300" in note.read_text()
    assert lab.verdict().faults == ()


def test_a_migration_that_is_killed_at_any_moment_is_made_by_the_next_start(lab: Lab):
    """SIGKILL while the schema is made, at many moments: whole or not at all."""
    lab.spool([call("c-1")])
    for n in range(15):
        starting = lab.start("drain")
        time.sleep(0.12 + n * 0.02)
        starting.send_signal(signal.SIGKILL)
        starting.communicate()
    lab.drain()
    with closing(apsw.Connection(str(lab.db))) as connection:
        assert connection.execute("PRAGMA integrity_check").get == "ok"
    assert ([event.call for event in lab.events("tool_call")], lab.verdict().faults) == (["c-1"], ())
