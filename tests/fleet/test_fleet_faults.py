"""What can be wrong with a fleet is said in a sentence, loses nothing, and is tried again."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import tempfile
import threading
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from lab import Lab, call, hook
from limpet import address, clock
from limpet.errors import LimpetError
from limpet.push.pusher import Pushed, Pusher
from limpet.store.postgres import opening
from limpet.store.postgres.store import FleetStore
from limpet.store.sqlite import SqliteStore
from postgres import NOBODY, SECRET, Server

if TYPE_CHECKING:
    from collections.abc import Iterator


def push(lab: Lab, url: str, password: str = "") -> Pushed:
    """Push a memory."""
    with closing(SqliteStore(lab.db, writing=True)) as store:
        return Pusher(store, url, password).push(dict)


def fault(lab: Lab, url: str, password: str = "") -> LimpetError:
    """Return how a push fails."""
    with pytest.raises(LimpetError) as failed:
        push(lab, url, password)
    return failed.value


def count(url: str) -> int:
    """Return how many events there are."""
    with closing(FleetStore.open(url)) as store:
        return store.find.bounds()[2]


@pytest.fixture
def full(lab: Lab) -> Lab:
    """Return a memory with two events."""
    lab.take([call("c1", 0), call("c2", 5)])
    return lab


def test_a_wrong_password_is_said_and_never_shown(full: Lab, server: Server, fleet: str):
    """The login is refused with what to do; neither the wrong nor the right one is in what is said."""
    url = server.url(fleet, secret="wr0ng-one")
    said = fault(full, url)
    assert (said.code, said.exit_status) == ("login_refused", 2)
    assert not {"wr0ng-one", SECRET} & set(f"{said.message} {said.hint}".replace(".", " ").split())
    assert push(full, server.url(fleet)).events == 2


def test_a_password_from_the_environment_is_taken(full: Lab, server: Server, fleet: str):
    """The address needs none then."""
    url = server.url(fleet).replace(f":{SECRET}@", "@")
    assert fault(full, url).code == "login_refused"
    assert push(full, url, SECRET).events == 2


def test_a_schema_of_another_version_is_refused_both_ways(full: Lab, server: Server, fleet: str):
    """A newer one asks for a newer Limpet, an older one for its owner; nothing is written, and later all comes."""
    hints = []
    for version in (opening.SCHEMA + 1, opening.SCHEMA - 1):
        server.run(fleet, f"UPDATE limpet.fleet SET version = {version}")
        said = fault(full, server.url(fleet))
        hints.append((said.code if version else "other_schema", said.hint.split(":")[0]))
    server.run(fleet, f"UPDATE limpet.fleet SET version = {opening.SCHEMA}")
    assert hints[0] == ("other_schema", "Upgrade this Limpet")
    assert hints[1] == ("other_schema", "As its owner")
    assert push(full, server.url(fleet)).events == 2


def test_a_newer_schema_is_not_prepared_over(server: Server, fleet: str):
    """Preparing twice changes nothing, and a newer schema is left as it is."""
    assert opening.prepare(server.url(fleet)) == opening.SCHEMA
    server.run(fleet, "UPDATE limpet.fleet SET version = 99")
    with pytest.raises(LimpetError, match="number 99"):
        opening.prepare(server.url(fleet))


def test_a_database_without_a_fleet_and_one_that_is_none(full: Lab, server: Server):
    """Each has its own sentence."""
    server.make("bare")
    assert [fault(full, server.url(name)).code for name in ("bare", "nowhere")] == ["no_fleet", "no_database"]


@pytest.mark.parametrize("written", ["w@rd0ng", "w/rd0ng", "w?rd0ng", "w rd0ng", "rd0ng%zz", "1234/rd0ng"])
def test_a_password_that_does_not_end_where_it_should_is_not_shown(full: Lab, written: str):
    """Some of its characters have to be written otherwise: no part of it is taken, and shown, for a host."""
    where = f"postgresql://me:{written}@127.0.0.1:1/x"
    said = fault(full, where)
    assert (said.code, said.exit_status) == ("bad_address", 2)
    assert "rd0ng" not in f"{said.message} {said.hint}"
    assert address.has_password(where)
    assert address.shown(where) == "postgresql://me@127.0.0.1:1/x"


def test_an_address_without_a_password_is_taken_for_none():
    """Also with a port, and a sign of mail behind the question mark."""
    for where in (
        "postgresql://me@h:5432/x",
        "postgresql://h:5432/x?application_name=a@b",
        "postgresql://[::1]:5432/x",
    ):
        assert not address.has_password(where)
        assert address.shown(where) == where


def test_a_month_that_comes_stops_nobody_who_reads(full: Lab, server: Server, fleet: str):
    """Behind one who reads for long a push waits a moment, and is tried again; others go on reading meanwhile."""
    url = server.url(fleet)
    with closing(psycopg.connect(url)) as long, closing(psycopg.connect(url, autocommit=True)) as other:
        long.execute("SELECT count(*) FROM limpet.event")
        told: list[LimpetError] = []
        pushing = threading.Thread(target=lambda: told.append(fault(full, url)))
        pushing.start()
        other.execute("SET statement_timeout = '3s'")
        while pushing.is_alive():
            other.execute("SELECT count(*) FROM limpet.event")
        long.execute("SELECT count(*) FROM limpet.record")
    assert [(error.code, error.exit_status) for error in told] == [("busy", 4)]
    assert push(full, url).events == 2


@pytest.mark.parametrize("where", ["postgresql://me:wr0ng@[h/x", "postgresql://me:wr0ng@h/x?colour=red"])
def test_an_address_that_is_none_is_refused_without_its_password(full: Lab, where: str):
    """A bracket that is not closed, a parameter that there is not."""
    said = fault(full, where)
    assert (said.code, said.exit_status) == ("bad_address", 2)
    assert "wr0ng" not in f"{said.message} {said.hint}"


def test_a_server_that_is_not_there(full: Lab, tmp_path: Path):
    """It is unreachable, and what is recorded waits."""
    said = fault(full, f"postgresql://me@/x?host={tmp_path}")
    assert (said.code, said.exit_status) == ("unreachable", 4)


@contextmanager
def old_server(folder: Path, version: bytes) -> Iterator[str]:
    """Answer one login as a server of this version does: in its protocol, with nothing behind it."""

    def message(kind: bytes, content: bytes) -> bytes:
        return kind + struct.pack("!i", len(content) + 4) + content

    def serve() -> None:
        with suppress(OSError):
            caller, _ = listening.accept()
            with caller:
                (size,) = struct.unpack("!i", caller.recv(4))
                caller.recv(size)
                told = [(b"server_version", version), (b"client_encoding", b"UTF8"), (b"server_encoding", b"UTF8")]
                parameters = [message(b"S", b"\0".join((*pair, b""))) for pair in told]
                caller.sendall(b"".join([message(b"R", struct.pack("!i", 0)), *parameters, message(b"Z", b"I")]))
                caller.recv(1024)

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / ".s.PGSQL.5432"))
        listening.listen()
        threading.Thread(target=serve, daemon=True).start()
        yield f"postgresql://me@/x?host={folder}"


def test_an_old_server_is_named_with_its_version(full: Lab, server: Server, fleet: str):
    """PostgreSQL 12 is told from one that is new enough, before anything is asked of it."""
    with tempfile.TemporaryDirectory(prefix="limpet-old-") as folder, old_server(Path(folder), b"12.22") as url:
        said = fault(full, url)
    assert (said.code, said.exit_status) == ("old_server", 4)
    assert "version 12" in said.message
    assert push(full, server.url(fleet)).events == 2


def test_a_clock_far_off_is_said_on_both_sides_and_stops_nothing(
    full: Lab, server: Server, fleet: str, monkeypatch: pytest.MonkeyPatch
):
    """Everything comes, with a warning here; the fleet remembers by how much."""
    now = clock.now_ms
    monkeypatch.setattr(clock, "now_ms", lambda: now() + 7_200_000)
    done = push(full, server.url(fleet))
    assert done.warning == "This machine's clock is 120 minutes ahead of the fleet's."
    assert count(server.url(fleet)) == 2
    ((skew,),) = server.run(fleet, "SELECT said::json ->> 'skew_ms' FROM limpet.machine")
    assert 7_190_000 < int(skew) < 7_210_000


def test_times_far_off_stay_apart_and_are_found(lab: Lab, server: Server, fleet: str):
    """Events of 1991 and 2099 come, into no month's partition, and are in answers."""
    url = server.url(fleet)
    far = [
        hook("limpet_add", {"type": "remark", "summary": "x"}, 0) | {"ts": ts}
        for ts in (662_688_000_000, 4_070_908_800_000)
    ]
    here = lab.take([*far, call("c1", 0)])
    push(lab, url)
    assert server.run(fleet, "SELECT count(*) FROM limpet.event_other")[0][0] == 2
    assert len(here) == count(url) == 3


@contextmanager
def small_disk(server: Server, size: str) -> Iterator[Path]:
    """Mount a small disk that the server may write to."""
    folder = server.folder / "small"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if done.returncode != 0:
        folder.rmdir()
        pytest.skip("a small disk can only be mounted by root")
    os.chown(folder, NOBODY, NOBODY)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_full_disk_there_is_said_and_tried_again(lab: Lab, server: Server):
    """What does not fit is said, nothing of the batch is there, and when there is room all of it comes."""
    with small_disk(server, "12m") as folder:
        server.run("postgres", f"CREATE TABLESPACE small LOCATION '{folder}'")
        server.run("postgres", "CREATE DATABASE tight TABLESPACE small")
        url = server.url("tight")
        opening.prepare(url)
        ballast = psycopg.connect(url, autocommit=True)
        ballast.execute("CREATE TABLE public.ballast (x bytea)")
        ballast.execute("ALTER TABLE public.ballast ALTER x SET STORAGE EXTERNAL")
        filling = "INSERT INTO public.ballast SELECT decode(repeat('ab', 20000), 'hex') FROM generate_series(1, 10)"
        with pytest.raises(psycopg.errors.DiskFull):
            ballast.cursor().executemany(filling, [()] * 1000)
        with suppress(psycopg.errors.DiskFull):  # and the last gaps
            ballast.cursor().executemany(filling.replace("10)", "1)"), [()] * 1000)
        here = lab.take(
            [
                hook("limpet_add", {"type": "remark", "summary": f"n {n}", "details": os.urandom(900).hex()}, n)
                for n in range(400)
            ]
        )
        said = fault(lab, url)
        assert (said.code, said.exit_status, count(url)) == ("disk_full", 4, 0)
        ballast.execute("DROP TABLE public.ballast")
        ballast.close()
        push(lab, url)
        assert len(here) == count(url) == 400
        server.run("postgres", "DROP DATABASE tight WITH (FORCE)")
        server.run("postgres", "DROP TABLESPACE small")
