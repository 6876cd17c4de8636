"""Field cases of daemons and machines: hostile ids, many starts at once, somebody else at the socket, no substitute."""

from __future__ import annotations

import json
import socket
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from lab import Lab, call, ended, hook, until
from limpet import door
from limpet.store import opening
from test_upgrade import taken_back

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = [
    "../../../etc/passwd", "/etc/passwd", "..", ".", "../other", "a/../../b", "C:\\Windows\\x", "..\\..\\x", "a\nb", "a b",
    "~root", "$HOME", "%2e%2e%2f", "con", "x" * 300, "a:b:c/d", "é家\u202e.txt",
]  # fmt: skip
ROLES = ("agentId", "sessionId", "sessionKey", "runId")


def everything(folder: Path) -> set[str]:
    """Return every path below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("role", ROLES)
def test_hostile_ids_are_kept_as_they_are_and_are_never_paths(lab: Lab, role: str) -> None:
    """As agent, session, key or run: what is written lies where all lies, under names of Limpet's own (field case F59)."""
    (lab.state / "workspace").mkdir(parents=True)
    lines = [call(f"c-{n}", n * 1000, ctx={role: name}) for n, name in enumerate(HOSTILE)]
    with lab.sidecar():
        lab.spool([{**one, "producer": name, "seq": 1} for one, name in zip(lines, HOSTILE, strict=True)])
        until(lambda: len(lab.events("tool_call")) == len(HOSTILE), "all are taken in")
        until((lab.home / "brief" / "main.json").exists, "the briefs are written")
    assert lab.limpet("note", "--date", "2026-06-01").status in (0, 4)  # 4: there is no workspace of such an agent
    kept = [
        getattr(event, {"agentId": "agent", "sessionId": "session", "sessionKey": "session_key", "runId": "run"}[role])
        for event in lab.events("tool_call")
    ]
    assert kept == HOSTILE
    assert {path.split("/")[0] for path in everything(lab.folder)} == {"state"}
    made = {path for path in everything(lab.state) if not path.startswith(("limpet/brief", "limpet/spool"))}
    assert not [
        path for path in made if any(name in path for name in ("passwd", "other", "Windows", "root", "HOME", "con/"))
    ]
    names = [path.name for path in (lab.home / "brief").glob("*.json")]
    assert all(
        name.isascii() and name.removeprefix("~").replace("-", "").replace("_", "").removesuffix(".json").isalnum()
        for name in names
    )


def test_processes_that_start_together_on_an_older_database_end_well(lab: Lab) -> None:
    """Six at once, several times: one upgrades it, the others take what there is (field case F51)."""
    lab.take([call(f"c-{n}", n) for n in range(20)])
    for turn in range(4):
        taken_back(lab, 1 + turn % (opening.newest() - 1))
        lab.spool([call(f"late-{turn}", turn)], segment=turn + 2)
        starting = [lab.start("drain") for _ in range(6)]
        assert [ended(one).status for one in starting] == [0] * 6
        with closing(sqlite3.connect(lab.db)) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (opening.newest(),)
    assert len(lab.events("tool_call")) == 24
    assert lab.verdict().faults == ()


def test_of_ten_sidecars_that_start_at_once_one_is_left(lab: Lab) -> None:
    """The others say so and end well, also while the first is slow to get ready (field case F83)."""
    slow = "from limpet import sidecar, clock; was = sidecar.Sidecar._opened; sidecar.Sidecar._opened = lambda self: (clock.sleep(1.0), was(self))[1];"
    code = f"{slow} import sys; from limpet.cli.main import run; sys.argv[1:] = ['run']; run()"
    for _ in range(2):
        starting = [lab.code_started(code) for _ in range(10)]
        until(lambda s=starting: sum(one.poll() is None for one in s) == 1 and lab.answers(), "one is left")
        others = [ended(one) for one in starting if one.poll() is not None]
        assert [(done.status, done.err.strip()) for done in others] == [(0, "A sidecar is already running here.")] * 9
        for one in starting:
            if one.poll() is None:
                one.terminate()
                assert ended(one).status == 0


def test_a_file_in_the_sockets_place_is_refused_and_stays(lab: Lab) -> None:
    """It is somebody's; the lock is free again for whoever comes after (field case F69)."""
    lab.home.mkdir(parents=True)
    (lab.home / "limpet.sock").write_text("mine")
    done = lab.limpet("run")
    assert (done.status, "it is no socket" in done.err) == (4, True)
    assert (lab.home / "limpet.sock").read_text() == "mine"
    (lab.home / "limpet.sock").unlink()
    with lab.sidecar():
        before = (lab.home / "limpet.sock").stat().st_ino
        assert (lab.limpet("run").status, lab.answers()) == (0, True)
        assert (lab.home / "limpet.sock").stat().st_ino == before


def test_a_stranger_who_listens_and_never_answers_holds_nobody_up(lab: Lab) -> None:
    """Commands answer from what is there; a sidecar that starts takes the place, since the lock decides (field case F65)."""
    lab.take([call("c-1")])
    lab.spool([call("c-2", 2)], segment=2)
    path = door.address_of(lab.settings.socket)
    with closing(socket.socket(socket.AF_UNIX)) as stranger:
        stranger.bind(str(path))
        stranger.listen(16)
        asked = lab.limpet("ask", "tool calls", "--json").json
        assert (asked["count"], lab.limpet("status").status) == (2, 0)
        with lab.sidecar():
            assert lab.asked(op="hello")["db"] == str(lab.db)


def test_what_cannot_be_opened_is_said_and_never_stood_in_for(lab: Lab) -> None:
    """No command answers from an empty memory; what comes waits in the spool (field case F72)."""
    lab.take([call("c-1")])
    garbage = b"this is no database at all\n" * 200
    lab.db.write_bytes(garbage)
    for more in ("-wal", "-shm"):
        lab.db.with_name(f"{lab.db.name}{more}").unlink(missing_ok=True)
    lab.spool([hook("gateway_start"), call("c-2", 2)], segment=2)
    done = {
        name: lab.limpet(*name.split(), "--json") for name in ("ask tool calls", "recent", "status", "brief", "export")
    }
    assert all(one.status in (2, 4) for one in done.values()), done
    assert all(json.loads(one.out)["error"]["message"] for one in done.values())
    assert (lab.db.read_bytes(), len(lab.left_in_spool())) == (garbage, 1)
