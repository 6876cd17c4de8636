"""Connecting to a fleet: the server and its schema looked at, every error said in a sentence. Not for queries."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors as pg
from psycopg.conninfo import conninfo_to_dict

from limpet import address
from limpet.errors import BadInput, LimpetError, Unavailable
from limpet.store.sql import queries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SCHEMA = 1
"""The number of the newest schema that this Limpet knows; its scripts lie in `migrations/postgres`."""

OLDEST = 15
"""The oldest PostgreSQL: views with the asker's own rights came with it."""

MANNERS = {
    "application_name": "limpet",
    "client_encoding": "utf8",
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""How a connection behaves where its address does not say otherwise: a server that vanishes is noticed."""

SQL = queries("push")
MIGRATIONS = Path(__file__).parents[1] / "migrations" / "postgres"


def connect(where: str, password: str = "") -> psycopg.Connection[Any]:
    """Connect to a fleet of this Limpet's schema.

    Raises Unavailable where nobody answers, the server is too old, or there is no schema or one of another version;
    BadInput for an address that is none or a login that is refused.
    """
    connection = _connected(where, password)
    try:
        _check_schema(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def prepare(where: str, password: str = "") -> int:
    """Make the schema, or bring it up to date, as its owner; return its number. All or nothing, one at a time."""
    connection = _connected(where, password)
    try:
        with errors(), connection.transaction():
            connection.execute(SQL["lock_preparing"].encode())
            found = _version(connection)
            if found > SCHEMA:
                raise _other_schema(found)
            for path in sorted(MIGRATIONS.glob("*.sql"))[found:]:
                connection.execute(path.read_bytes())
                connection.execute(SQL["set_version"].encode(), (int(path.stem),))
    finally:
        connection.close()
    return SCHEMA


@contextlib.contextmanager
def errors() -> Iterator[None]:
    """Turn PostgreSQL's errors into ours."""
    try:
        yield
    except psycopg.Error as error:
        raise explained(error) from error


def explained(error: psycopg.Error) -> LimpetError:
    """Return what an error of PostgreSQL means for the user; nothing of it is ever a password."""
    said = address.shown(" ".join((error.diag.message_primary or str(error)).split()))
    if error.sqlstate and error.sqlstate.startswith("LM"):
        return Unavailable(
            f"{said.removeprefix('limpet: ').capitalize()}.", HINTS[error.sqlstate], CODES[error.sqlstate]
        )
    for kinds, make in KNOWN:
        if isinstance(error, kinds):
            return make(said)
    if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:
        return BadInput(
            f"That is no fleet's address: {said}.", "For example postgresql://me@host/database", "bad_address"
        )
    if error.sqlstate is None:
        return _unreachable(said)
    return Unavailable(f"The fleet's PostgreSQL says: {said}.", "Its own log tells more.", "fleet")


def only_read() -> BadInput:
    """Return what to say where somebody would write to a fleet."""
    return BadInput("A fleet is only read here.", "Do that on the machine itself; its sidecar pushes it.", "only_read")


def too_old(version: int) -> Unavailable | None:
    """Return what to say of a server of this version (160014 is 16.14), None where it is new enough."""
    if version // 10_000 >= OLDEST:
        return None
    message = f"The fleet's PostgreSQL is version {version // 10_000}; Limpet needs {OLDEST} or newer."
    return Unavailable(message, "Upgrade the server; what is recorded here waits meanwhile.", "old_server")


CODES = {"LM001": "no_pusher", "LM002": "other_role", "LM003": "moved", "LM004": "no_successor", "LM005": "no_object"}
HINTS = {
    "LM001": "As the schema's owner: SELECT limpet.admit('ROLE', 'TENANT', 'pusher');",
    "LM002": "Name this machine otherwise: machine in config.toml, or limpet push --as NAME",
    "LM003": "It is tried again; two sidecars should not push one database.",
    "LM004": "limpet verify",
    "LM005": "Upgrade this Limpet: pip install -U limpet",
}


def _unreachable(said: str) -> LimpetError:
    if "password authentication failed" in said or "no password supplied" in said:
        return _refused(said)
    if "database" in said and "does not exist" in said:
        return _no_database(said.rpartition("FATAL: ")[2].strip().rstrip("."))
    reason = said.rpartition("failed: ")[2].partition(" Is the server running")[0].rstrip(".")
    return Unavailable(
        f"The fleet's PostgreSQL cannot be reached: {reason}.", "Nothing is lost; it is tried again.", "unreachable"
    )


def _refused(said: str) -> BadInput:
    reason = said.rpartition("FATAL: ")[2].strip().rstrip(".")
    hint = "push_password_env in config.toml names the variable that holds the password; or put it into ~/.pgpass."
    return BadInput(f"The fleet's PostgreSQL refuses the login: {reason}.", hint, "login_refused")


def _full(said: str) -> Unavailable:
    message = f"The disk of the fleet's PostgreSQL is full: {said}."
    return Unavailable(message, "Free some space there; nothing is lost meanwhile.", "disk_full")


def _busy(_said: str) -> Unavailable:
    message = "The fleet's tables are being read for long, so that no month can be added to them."
    return Unavailable(message, "Nothing is lost; it is tried again.", "busy")


def _not_allowed(said: str) -> Unavailable:
    hint = "As the schema's owner: SELECT limpet.admit('ROLE', 'TENANT', 'reader');  (or 'pusher')"
    return Unavailable(f"The fleet's PostgreSQL does not allow that: {said}.", hint, "no_permission")


def _no_database(said: str) -> BadInput:
    return BadInput(f"The fleet's PostgreSQL says: {said}.", "Check the address.", "no_database")


KNOWN: Sequence[tuple[tuple[type[psycopg.Error], ...], Callable[[str], LimpetError]]] = (
    ((pg.InvalidPassword, pg.InvalidAuthorizationSpecification), _refused),
    ((pg.InvalidCatalogName,), _no_database),
    ((pg.DiskFull,), _full),
    ((pg.LockNotAvailable,), _busy),
    ((pg.InsufficientPrivilege,), _not_allowed),
)


def _connected(where: str, password: str) -> psycopg.Connection[Any]:
    if not address.is_clean(where):
        message = "That is no fleet's address: its password has a character that has to be written otherwise."
        raise BadInput(
            message, "@ is %40, / is %2F, ? is %3F, % is %25, a space is %20; or put it into ~/.pgpass.", "bad_address"
        )
    with errors():
        said = conninfo_to_dict(address.parsed(where).url)
        given: dict[str, Any] = {**MANNERS, **({"password": password} if password else {}), **said}
        connection = psycopg.connect(autocommit=True, prepare_threshold=None, **given)
    if (old := too_old(connection.info.server_version)) is not None:
        connection.close()
        raise old
    return connection


def _check_schema(connection: psycopg.Connection[Any]) -> None:
    with errors():
        found = _version(connection)
    if found == 0:
        raise Unavailable(
            "There is no fleet in that database yet.", "As its owner: limpet push --prepare URL", "no_fleet"
        )
    if found != SCHEMA:
        raise _other_schema(found)


def _version(connection: psycopg.Connection[Any]) -> int:
    if connection.execute(SQL["has_fleet"].encode()).fetchone() == (False,):
        return 0
    row = connection.execute(SQL["version"].encode()).fetchone()
    return int(row[0]) if row else 0


def _other_schema(found: int) -> Unavailable:
    hint = "Upgrade this Limpet: pip install -U limpet" if found > SCHEMA else "As its owner: limpet push --prepare URL"
    message = f"The fleet's schema is number {found}; this Limpet knows {SCHEMA}."
    return Unavailable(message, hint, "other_schema")
