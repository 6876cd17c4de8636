"""The six functions of the well-known 150-line script, with its signatures and results, on Limpet's memory.

They never load APSW: two SQLite libraries must not have the same file open in one process (closing one drops
the other's locks). They write to the spool, let the sidecar or a child process take that in, and read with the
standard `sqlite3`, read-only.
"""

from __future__ import annotations

import sqlite3
import sys
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from limpet import clock, door, jsonline, settings
from limpet.errors import Unavailable
from limpet.spool.writer import Writer

if TYPE_CHECKING:
    from pathlib import Path

    from limpet.settings import Settings

DRAIN_S = 5.0
COLUMNS = "id, timestamp, session_id, event_type, summary, details, tags"


class Connection(sqlite3.Connection):
    """A standard connection, read-only, that can be a key of a weak dictionary; people may run their own SQL on it."""


_settings: WeakKeyDictionary[sqlite3.Connection, Settings] = WeakKeyDictionary()
_writers: dict[Path, Writer] = {}


def init_db() -> sqlite3.Connection:
    """Return a read-only connection to the memory (LIMPET_DB, or where it always lies), made or taken over if need be.

    Raises Unavailable where that fails, with the reason; BadInput where LIMPET_DB names a fleet.
    """
    chosen = settings.load()
    chosen.check_local()
    _refresh(chosen)
    if not chosen.db.exists():
        raise Unavailable(f"The database {chosen.db} could not be made.", "limpet doctor")
    connection = sqlite3.connect(f"{chosen.db.as_uri()}?mode=ro", uri=True, factory=Connection, timeout=10)
    _settings[connection] = chosen
    return connection


def log_event(
    conn: sqlite3.Connection,
    event_type: str,
    summary: str,
    details: Any = None,
    tags: Any = None,
    session_id: str | None = None,
) -> None:
    """Log an event of any type; `details` and `tags` are any JSON value and come back in full."""
    event = {"type": event_type, "summary": summary, "details": details, "tags": tags}
    _append(conn, "limpet_add", {k: v for k, v in event.items() if v is not None}, session_id)


def log_tool_call(
    conn: sqlite3.Connection, tool_name: str, args: Any, result: Any, session_id: str | None = None
) -> None:
    """Log a tool call; it is a success where `result["ok"]` says so."""
    event = {"tool": tool_name, "args": _plain(args), "result": _plain(result)}
    _append(conn, "limpet_tool_call", event, session_id)


def log_error(conn: sqlite3.Connection, error_type: str, message: str, session_id: str | None = None) -> None:
    """Log an error: type `error`, summary `<error_type>: <message>`."""
    details = {"error_type": error_type, "message": message}
    event = {"type": "error", "summary": f"{error_type}: {message}", "details": details, "tags": ["error"]}
    _append(conn, "limpet_add", event, session_id)


def get_recent_events(
    conn: sqlite3.Connection, hours: float = 24, event_type: str | None = None, limit: int = 50
) -> list[tuple[Any, ...]]:
    """Return the events of the last hours as tuples of the seven columns, newest first."""
    _refresh(_settings_of(conn))
    since = max(0, clock.now_ms() - round(hours * 3_600_000))
    given = {"since": since << 20, "type": event_type, "limit": limit}
    return conn.execute(
        f"SELECT {COLUMNS} FROM events WHERE pos >= :since AND (:type IS NULL OR event_type = :type)"  # noqa: S608 - constant
        " AND coalesce(label, '') NOT IN ('own', 'internal') ORDER BY pos DESC LIMIT :limit",
        given,
    ).fetchall()


def get_session_timeline(conn: sqlite3.Connection, session_id: str) -> list[tuple[Any, ...]]:
    """Return (timestamp, event_type, summary) of a session's events, oldest first."""
    _refresh(_settings_of(conn))
    return conn.execute(
        "SELECT timestamp, event_type, summary FROM events WHERE session_id = ? ORDER BY pos", (session_id,)
    ).fetchall()


def _append(conn: sqlite3.Connection, hook: str, event: Any, session_id: str | None) -> None:
    spool = _settings_of(conn).spool
    if spool not in _writers:
        _writers[spool] = Writer(spool, "limpet")
    _writers[spool].append(hook, event, {"sessionId": session_id} if session_id else {})


def _plain(value: Any, above: tuple[int, ...] = ()) -> Any:
    """Return any Python value as JSON has it, and as its text where JSON has no word for it."""
    if value is None or isinstance(value, str | int | float):
        return value
    if id(value) in above or len(above) > jsonline.MAX_DEPTH:
        return jsonline.CUT
    inside = (*above, id(value))
    if isinstance(value, dict):
        return {str(key): _plain(one, inside) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one, inside) for one in value]
    return str(value)


def _settings_of(conn: sqlite3.Connection) -> Settings:
    found = _settings.get(conn) if isinstance(conn, Connection) else None
    if found is None:
        raise Unavailable("This connection is not one of Limpet's.", "Use the one that init_db() returns.")
    return found


def _refresh(chosen: Settings) -> None:
    """Let everything that was logged be taken in: by the sidecar, or by a child where none runs."""
    if door.ask(chosen.socket, {"op": "drain", "seconds": DRAIN_S}, DRAIN_S + 1) is not None:
        return
    command = [sys.executable, "-m", "limpet", "drain"]
    import subprocess  # noqa: PLC0415 - the package begins here, and a question needs none

    done = subprocess.run(command, env=settings.for_child(chosen), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"What was logged could not be taken in: {done.stderr.strip()}", "limpet doctor")
    sys.stderr.write(done.stderr)
