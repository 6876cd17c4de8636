"""Opening the database: the library checked, the schema brought up to date, an old script's database taken over."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from limpet import clock, mounts
from limpet.errors import BadInput, Unavailable
from limpet.store.sql import queries

if TYPE_CHECKING:
    from collections.abc import Iterator

MIGRATIONS = Path(__file__).with_name("migrations")
APPLICATION_ID = 0x4C4D5054
"""`LMPT` in the file's header: this file is Limpet's."""

SAFE_SQLITE = (3, 51, 3)
"""Older libraries can damage a WAL database (the WAL-reset bug, sqlite.org/wal.html); they never write."""

TAKEN_OVER = "taken_over"
"""The name under which the place of the script's backup is kept until its owner has been told."""

BUSY_MS = 10_000
SCRIPT_COLUMNS = ["id", "timestamp", "session_id", "event_type", "summary", "details", "tags"]


def open_for_writing(path: Path) -> apsw.Connection:
    """Open the database, make or upgrade its schema, and return the connection.

    Raises Unavailable where it cannot be written, is newer than this Limpet, or the SQLite library is not safe;
    BadInput where the file is no SQLite database or somebody else's.
    """
    check_place(path)
    if tuple(int(n) for n in apsw.sqlite_lib_version().split(".")) < SAFE_SQLITE:
        raise Unavailable(
            f"The SQLite library {apsw.sqlite_lib_version()} can damage databases, so Limpet does not write with it.",
            "Install a newer apsw: pip install -U apsw",
        )
    _make_folder(path)
    with _opened(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE) as connection:
        _migrate(connection, path)
        _prepare(connection)
    return connection


def check_place(path: Path) -> None:
    """Raise Unavailable where the database lies, or would lie, on a network's or a host's file system.

    SQLite's log needs memory that all its users share, which those do not give: databases were damaged there within
    minutes (sqlite.org/wal.html; field case F52). What is not recorded waits in the spool. And where a folder, a pipe
    or a device has that name: SQLite would wait for ever, or leave a journal beside it.
    """
    _check_kind(path)
    if kind := mounts.shared(path):
        raise Unavailable(
            f"{path} lies on {kind}, a file system of a network or host, where SQLite's log damages databases.",
            'Name a place on a disk of this machine in config.toml: db = "/var/lib/limpet/agent_memory.db"',
            "shared_disk",
        )


def _check_kind(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise Unavailable(f"{path} is no plain file, and can be no database.", "Name a file with --db.", "no_file")


def open_for_reading(path: Path) -> apsw.Connection:
    """Open an existing database for reading only; raises Unavailable where there is none, or none that can be read."""
    if not path.exists():
        check_place(path)
        raise Unavailable(
            f"There is no database at {path}.", "limpet setup openclaw  (or: limpet demo, to see one)", "no_database"
        )
    _check_kind(path)
    with _opened(path, apsw.SQLITE_OPEN_READONLY) as connection:
        found = version(connection)
        if found == 0:
            raise Unavailable(
                f"{path} is no Limpet database yet.", "limpet status  (takes it over where it can)", "no_database"
            )
        if found > newest():
            raise _newer(path, found)
        if (
            found < ROLLUP_SINCE
        ):  # on a disk where nothing can be written it cannot be upgraded, and is read all the same
            connection.execute(queries("sqlite")["rollup_before"])
    return connection


def lay_out(connection: apsw.Connection) -> None:
    """Make the tables of the newest schema in an empty database."""
    for _, script in _scripts():
        connection.execute(script)


def strays(connection: apsw.Connection) -> list[tuple[str, str, str]]:
    """Return (kind, name, definition) of each table, view, index or trigger that is not as the schema has it.

    The definition is what it should be, "" for what should not be there. What is kept of a script is left out.
    """
    with contextlib.closing(apsw.Connection(":memory:")) as fresh:
        lay_out(fresh)
        wanted = _laid_out(fresh)
    found = _laid_out(connection)
    other = [key for key in wanted.keys() | found.keys() if wanted.get(key, ("",))[0] != found.get(key, ("",))[0]]
    return [(*key, wanted[key][1] if key in wanted else "") for key in sorted(other)]


def mend(connection: apsw.Connection) -> None:
    """Make the views, indexes and triggers again that are not as the schema has them; tables hold what was recorded."""
    for kind, name, definition in strays(connection):
        if kind != "table":
            connection.execute(f'DROP {kind} IF EXISTS "{name.replace(chr(34), chr(34) * 2)}"')
            if definition:
                connection.execute(definition)


def _laid_out(connection: apsw.Connection) -> dict[tuple[str, str], tuple[str, str]]:
    """Return each thing's definition, as it is compared and as it stands, by kind and name."""
    rows = connection.execute(queries("sqlite")["laid_out"])
    return {(kind, name): (" ".join(text.split()), text) for kind, name, text in rows}


def compact(connection: apsw.Connection) -> None:
    """Write the file anew without what was deleted from it, and empty its log. Raises apsw.BusyError.

    Deleted bytes stay in free pages, in the gaps of others and in the log until then.
    """
    connection.execute("VACUUM")
    busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() or (0,)
    if busy:
        raise apsw.BusyError("a reader holds the log")


def place_of(path: Path) -> tuple[int, int] | None:
    """Return which file lies there, None where none does: one that was put in its place is another."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def explained(error: apsw.Error, path: Path) -> Unavailable | BadInput:
    """Return what SQLite's error means for the user of this file."""
    if isinstance(error, apsw.NotADBError):
        return BadInput(
            f"{path} is not a SQLite database.", "Move it away, or name another with --db.", "not_a_database"
        )
    for kinds, sentence, hint, code in MEANINGS:
        if isinstance(error, kinds):
            return Unavailable(sentence.format(path=path, error=error), hint, code)
    return Unavailable(f"{path}: {error}.", "limpet doctor", "database")


MEANINGS: tuple[tuple[tuple[type[apsw.Error], ...], str, str, str], ...] = (
    (
        (apsw.CorruptError,),
        "{path} is damaged: {error}.",
        "limpet run  moves it aside and brings back what can be read.",
        "damaged",
    ),
    ((apsw.BusyError,), "{path} is locked by another program.", "Try again, or end that program.", "locked"),
    (
        (apsw.FullError,),
        "The disk is full: {path} cannot grow.",
        "Free some space; nothing is lost meanwhile.",
        "disk_full",
    ),
    (
        (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError),
        "{path} cannot be opened: {error}.",
        "Check its owner and permissions.",
        "no_permission",
    ),
    (
        (apsw.IOError,),
        "The disk under {path} cannot be read or written: {error}.",
        "Look at that disk; what is not recorded waits in the spool.",
        "disk",
    ),
)
"""SQLite's errors: what each says to a person, what to do, and its code."""


def version(connection: apsw.Connection) -> int:
    """Return the schema's number, 0 for a database that is not Limpet's."""
    if connection.pragma("application_id") != APPLICATION_ID:
        return 0
    return int(connection.pragma("user_version"))


ROLLUP_SINCE = 4
"""The schema that has counts by day."""


def newest() -> int:
    """Return the number of the newest schema that this Limpet knows."""
    return max(number for number, _ in _scripts())


def is_script(connection: apsw.Connection) -> bool:
    """Whether the file is a database of the well-known 150-line script."""
    columns = [row[0] for row in connection.execute("SELECT name FROM pragma_table_info('events')")]
    kind = connection.execute("SELECT type FROM sqlite_schema WHERE name = 'events'").fetchall()
    return kind == [("table",)] and columns[:7] == SCRIPT_COLUMNS


@contextlib.contextmanager
def _opened(path: Path, flags: int) -> Iterator[apsw.Connection]:
    """Give a connection, which is closed again where what is done within fails; SQLite's errors become ours."""
    try:
        connection = _connect(path, flags)
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
    except apsw.Error as error:
        raise explained(error, path) from error


def _connect(path: Path, flags: int) -> apsw.Connection:
    old = os.umask(0o077)
    try:
        connection = apsw.Connection(str(path), flags=flags)
        connection.set_busy_timeout(BUSY_MS)
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    finally:
        os.umask(old)
    return connection


def _make_folder(path: Path) -> None:
    old = os.umask(0o077)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            f"The folder {path.parent} cannot be made: {error.strerror}.", "Check its owner and permissions."
        ) from error
    finally:
        os.umask(old)


def use_log(connection: apsw.Connection) -> None:
    """Switch to the write-ahead log, synced at every commit.

    Two processes that start on a new file race for the switch, and SQLite refuses one of them at once, whatever the
    busy time-out (field case F51): so it is tried again. Raises apsw.BusyError where that never helps.
    """
    deadline = clock.monotonic_s() + BUSY_MS / 1000
    while True:
        try:
            connection.pragma("journal_mode", "wal")
            break
        except apsw.BusyError:
            if clock.monotonic_s() > deadline:
                raise
            clock.sleep(0.02)
    connection.pragma("synchronous", "full")


def _prepare(connection: apsw.Connection) -> None:
    use_log(connection)
    connection.pragma("journal_size_limit", 64 << 20)


def _scripts() -> Iterator[tuple[int, str]]:
    for path in sorted(MIGRATIONS.glob("*.sql")):
        if match := re.fullmatch(r"(\d{4})\.sql", path.name):
            yield int(match[1]), path.read_text("utf-8")


def _migrate(connection: apsw.Connection, path: Path) -> None:
    found = version(connection)
    if found > newest():
        raise _newer(path, found)
    if found == newest():
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        _refuse_foreign(connection, path)
        _apply(connection, path)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has rolled it back already
            connection.execute("ROLLBACK")
        raise


def _refuse_foreign(connection: apsw.Connection, path: Path) -> None:
    """Raise BadInput for another program's database; asked when nobody else can be making ours at this moment."""
    if version(connection) == 0 and not _is_empty(connection) and not is_script(connection):
        raise BadInput(
            f"{path} is a SQLite database of another program; nothing in it was changed.",
            "Name another file with --db.",
        )


def _apply(connection: apsw.Connection, path: Path) -> None:
    found = version(connection)  # again, now that nobody else can change it
    copy = _set_script_aside(connection, path) if found == 0 and is_script(connection) else None
    if 0 < found < newest():
        for old in path.parent.glob(f"{path.name}.before-schema-*"):
            old.unlink()  # of an upgrade that was torn, or of an earlier one
        _copy_of(path, f"schema-{newest()}")
    try:
        for number, script in _scripts():
            if number > found:
                connection.execute(script)
    except apsw.Error:
        if copy:
            copy.unlink()  # nothing is changed then, and a recorder tries again and again
        raise
    if copy:
        connection.execute("INSERT INTO meta (name, value) VALUES (?, ?)", (TAKEN_OVER, str(copy)))
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", newest())


def _is_empty(connection: apsw.Connection) -> bool:
    return connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)


def _set_script_aside(connection: apsw.Connection, path: Path) -> Path:
    """Keep the script's table under another name, until its rows are in the ledger; return the copy of the file."""
    copy = _copy_of(path, "limpet")
    connection.execute("ALTER TABLE events RENAME TO script_events")
    return copy


def _copy_of(path: Path, what: str) -> Path:
    """Copy a database, through connections of its own: one that is writing cannot be copied from."""
    for half in path.parent.glob(f"{path.name}.before-{what}-*.half*"):
        half.unlink(missing_ok=True)  # somebody was killed while writing it
    copy = path.with_name(f"{path.name}.before-{what}-{clock.now_ms()}")
    half = copy.with_name(f"{copy.name}.half")
    old = os.umask(0o077)
    try:
        with (
            contextlib.closing(_connect(path, apsw.SQLITE_OPEN_READONLY)) as source,
            contextlib.closing(apsw.Connection(str(half))) as target,
            target.backup("main", source, "main") as backup,
        ):
            backup.step(-1)
    finally:
        os.umask(old)
    half.rename(copy)
    path.chmod(0o600)  # it will hold more than it did
    return copy


def _newer(path: Path, found: int) -> Unavailable:
    return Unavailable(
        f"{path} was made by a newer Limpet (schema {found}; this one knows {newest()}).",
        "Upgrade: pip install -U limpet",
        "newer",
    )
