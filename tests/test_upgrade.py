"""A database of any earlier schema opens, whole, with a copy of it beside; an upgrade that is torn goes on."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import closing
from typing import TYPE_CHECKING

import apsw
import pytest

from lab import Lab, call, ended, hook, kill, text_result, until
from limpet.model import Query
from limpet.store import opening

if TYPE_CHECKING:
    from pathlib import Path

SCRIPTS = {int(path.stem): path.read_text("utf-8") for path in opening.MIGRATIONS.glob("*.sql")}


def schema(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Return what a database is made of."""
    return set(connection.execute("SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"))


def taken_back(lab: Lab, number: int) -> None:
    """Make a memory one of an earlier schema: what later scripts have added is dropped."""
    with closing(sqlite3.connect(":memory:")) as older, closing(sqlite3.connect(lab.db)) as connection:
        for script in range(1, number + 1):
            older.executescript(SCRIPTS[script])
        for kind, name in sorted(schema(connection) - schema(older), reverse=True):
            if kind in ("table", "trigger", "view", "index"):
                connection.execute(f'DROP {kind} IF EXISTS "{name}"')
        connection.execute(f"PRAGMA user_version = {number}")
        assert schema(connection) == schema(older)
        connection.commit()


@pytest.fixture
def older(lab: Lab) -> Lab:
    """Return a memory with some events."""
    lab.take([hook("gateway_start", {}), *(call(f"c-{n}", n, result=text_result("long " * 900)) for n in range(40))])
    return lab


@pytest.mark.parametrize("number", range(1, opening.newest()))
def test_a_database_of_an_earlier_schema_opens_whole_with_a_copy_beside(older: Lab, number: int) -> None:
    """Each that there ever was: every event, a chain without fault, and the file as it was."""
    before = older.events()
    taken_back(older, number)
    older.take([call("c-new", 100)], producer="later")
    assert [event for event in older.events() if event.call != "c-new"] == before
    assert older.verdict().faults == ()
    (copy,) = older.db.parent.glob("*.before-schema-*")
    with closing(apsw.Connection(str(copy))) as connection:
        assert (connection.pragma("user_version"), connection.execute("SELECT count(*) FROM event").get) == (number, 41)
    assert copy.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("number", range(1, opening.newest()))
def test_a_database_of_an_earlier_schema_is_read_where_it_cannot_be_upgraded(older: Lab, number: int) -> None:
    """As from a disk on which nothing can be written: the same answers."""
    query = Query(by="tool", noise=True)
    with older.store() as store:
        wanted = (store.find.groups(query), store.find.bounds())
    taken_back(older, number)
    with older.store() as store:
        assert wanted == (store.find.groups(query), store.find.bounds())


def test_an_upgrade_that_is_torn_goes_on_with_the_next_start(older: Lab) -> None:
    """Killed at any moment: the old schema or the new one, and nothing is lost."""
    for hundredths in range(10, 60, 10):
        taken_back(older, 1)
        process = older.start("drain")
        time.sleep(hundredths / 100)
        kill(process)
        assert older.limpet("verify", "--json").json["faults"] == []
        assert (len(older.events("tool_call")), len([*older.db.parent.glob("*.before-schema-*")])) == (40, 1)


def test_what_is_forgotten_goes_from_the_copy_of_an_upgrade_too(older: Lab) -> None:
    """It is Limpet's own: it is deleted."""
    taken_back(older, 1)
    older.limpet("drain")
    assert older.limpet("forget", "--yes", "call:c-3").status == 0
    assert [*older.db.parent.glob("*.before-schema-*")] == []


def modes(folder: Path) -> set[int]:
    """Return what others may do with any file below a folder, and with the folder itself."""
    return {path.lstat().st_mode & 0o077 for path in (folder, *folder.rglob("*")) if not path.is_symlink()}


RUN = """
import os, sys
os.umask(int(sys.argv[1], 8))
if sys.argv[2] == "never closed later":
    os.chmod = os.fchmod = lambda *_, **__: None
from limpet.cli.main import main
sys.exit(main(sys.argv[3:]))
"""
"""A command under a umask; where nothing is closed later, what is private was so from its first byte."""


@pytest.mark.parametrize("closing", ["never closed later", "as it is"])
@pytest.mark.parametrize("umask", ["000", "022", "077"])
def test_every_file_is_for_its_owner_alone_whatever_the_umask_says(older: Lab, umask: str, closing: str) -> None:
    """Database, log, index, spool, quarantine, keys, locks, alarm, briefs, copies, bundles, what is moved aside (field case F74)."""
    for path in (older.home, older.db.parent):
        path.chmod(0o700)
    older.spool([b"torn"], producer="torn")
    for folder in ("spool", "spool/torn"):
        (older.home / folder).chmod(0o700)
    (older.home / "config.toml").write_text("alarm_after_s = 1\non_alarm = 'true'\n")
    (older.home / "config.toml").chmod(0o600)
    (older.state / "workspace").mkdir(mode=0o700)
    for command in COMMANDS:
        done = older.code(RUN, umask, closing, *command)
        assert done.status == 0, (command, done.err)
    a_sidecar_and_a_rescue(older, umask, closing)
    found = {
        folder.name: modes(folder) for folder in (older.home, older.db.parent, *map(older.folder.joinpath, OUTSIDE))
    }
    assert found == {name: {0} for name in found}
    assert {path.name.split("-")[0] for path in older.home.iterdir()} >= {
        "alarm.json", "ways.json", "watch.lock", "limpet.lock", "notes.lock", "redaction.key", "quarantine", "brief", "spool",
        "web.token",
    }  # fmt: skip
    assert [*older.db.parent.glob("*.damaged-*")], "a database was moved aside"


COMMANDS = (
    ["drain"], ["add", "note", "hello"], ["status"], ["doctor"], ["verify"], ["backup", "copies/a.db"], ["export", "--bundle", "out"],
    ["note", "--date", "2026-06-01"], ["forget", "--yes", "call:c-3"], ["prune", "--yes", "--less", "--older-than", "9999"],
    ["redact", "--again"], ["rebuild"], ["restore", "copies/a.db", "--replace"], ["demo", "--keep", "demo"],
)  # fmt: skip
OUTSIDE = ("copies", "out", "demo")


def a_sidecar_and_a_rescue(lab: Lab, umask: str, closing: str) -> None:
    """Run a sidecar until there is all that it makes: socket, alarm, brief, page; on a database that is damaged."""
    with lab.db.open("r+b") as file:
        file.truncate(lab.db.stat().st_size * 2 // 3)
    sidecar = lab.code_started(RUN, umask, closing, "run")
    try:
        made = [lab.home / name for name in ("limpet.sock", "alarm.json", "ways.json", "brief/main.json")]
        until(lambda: all(path.exists() for path in made), "all is made")
        until(lambda: lab.asked(op="open").get("ok"), "the page is open")
        assert modes(lab.home) == {0}
    finally:
        sidecar.terminate()
        ended(sidecar)


def test_a_fault_of_ours_is_logged_for_its_owner_alone(older: Lab) -> None:
    """The traceback holds what was at hand."""
    code = RUN.replace("sys.exit", "import limpet.cli.keep as k; k.status = lambda _: 1 / 0; sys.exit")
    assert older.code(code, "000", "never closed later", "status").status == 1
    assert (older.home / "faults.log").stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_everybodys_stays_so(lab: Lab, tmp_path: Path) -> None:
    """Where somebody puts Limpet's home into a folder such as /tmp, the folder is not taken from the others."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    assert lab.limpet("add", "note", "hello", LIMPET_HOME=str(shared)).status == 0
    assert shared.stat().st_mode & 0o7777 == 0o1777
    assert {path.stat().st_mode & 0o077 for path in shared.rglob("*")} == {0}


def test_a_pipe_or_device_in_a_databases_place_keeps_its_mode(lab: Lab) -> None:
    """Whoever says --db /dev/null takes it from nobody."""
    lab.db.parent.mkdir(parents=True)
    os.mkfifo(lab.db, 0o666)
    lab.db.chmod(0o666)
    assert lab.limpet("drain").status != 1
    assert stat.S_IMODE(lab.db.lstat().st_mode) == 0o666


def test_what_was_open_to_others_is_closed(older: Lab) -> None:
    """A file or folder that an older version, or a copy by hand, left readable."""
    older.db.chmod(0o644)
    older.home.chmod(0o755)
    older.take([call("c-new", 100)], producer="later")
    assert (older.db.stat().st_mode & 0o777, older.home.stat().st_mode & 0o777) == (0o600, 0o700)


def test_only_ourselves_and_root_may_ask_at_the_socket() -> None:
    """Whatever the file's permissions say: the kernel knows who is at the other end."""
    import os

    from limpet.door import is_trusted

    assert [is_trusted(user) for user in (os.getuid(), 0, os.getuid() + 12345)] == [True, True, False]
