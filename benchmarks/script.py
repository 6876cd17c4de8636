"""The well-known 150-line sidecar, written anew from its description: one commit per event, one table, one index."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from benchmarks import telling

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from benchmarks.traffic import Happening

SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TEXT NOT NULL, session_id TEXT, event_type TEXT NOT NULL,
  summary TEXT, details TEXT, tags TEXT
);
CREATE INDEX IF NOT EXISTS idx_session_time ON events (session_id, timestamp);
"""
INSERT = "INSERT INTO events (timestamp, session_id, event_type, summary, details, tags) VALUES (?, ?, ?, ?, ?, ?)"


def opened(path: Path) -> sqlite3.Connection:
    """Return a connection on the script's database, made where there is none: all settings are SQLite's own."""
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA)
    return connection


def logged(connection: sqlite3.Connection, happenings: Iterable[Happening]) -> None:
    """Log events as the script does: each is committed before the next."""
    for one in happenings:
        connection.execute(INSERT, telling.script_row(one))
        connection.commit()


def filled(connection: sqlite3.Connection, happenings: Iterable[Happening]) -> None:
    """Fill a database for questions, in one transaction: how long that takes is nobody's concern."""
    connection.executemany(INSERT, map(telling.script_row, happenings))
    connection.commit()


def last_day(connection: sqlite3.Connection, kind: str, since: str) -> list[tuple[object, ...]]:
    """Return the newest fifty events of a type since an instant."""
    sql = "SELECT * FROM events WHERE timestamp >= ? AND event_type = ? ORDER BY timestamp DESC LIMIT 50"
    return connection.execute(sql, (since, kind)).fetchall()


def failed(connection: sqlite3.Connection, since: str, until: str) -> list[tuple[object, ...]]:
    """Return every failed tool call in a span, newest first."""
    sql = """SELECT * FROM events WHERE event_type = 'tool_call' AND timestamp >= ? AND timestamp < ?
             AND json_extract(details, '$.success') = 0 ORDER BY timestamp DESC"""
    return connection.execute(sql, (since, until)).fetchall()


def session(connection: sqlite3.Connection, session_id: str) -> list[tuple[object, ...]]:
    """Return the first two hundred events of a session, oldest first."""
    sql = "SELECT * FROM events WHERE session_id = ? ORDER BY timestamp LIMIT 200"
    return connection.execute(sql, (session_id,)).fetchall()


def holding(connection: sqlite3.Connection, word: str) -> list[tuple[object, ...]]:
    """Return the newest fifty events in which a word stands: without an index, by reading."""
    sql = "SELECT * FROM events WHERE summary LIKE ? OR details LIKE ? ORDER BY timestamp DESC LIMIT 50"
    return connection.execute(sql, (f"%{word}%", f"%{word}%")).fetchall()


def per_tool_and_day(connection: sqlite3.Connection, since: str, until: str) -> list[tuple[object, ...]]:
    """Return how many tool calls there were per tool and day."""
    sql = """SELECT json_extract(details, '$.tool'), substr(timestamp, 1, 10), count(*) FROM events
             WHERE event_type = 'tool_call' AND timestamp >= ? AND timestamp < ? GROUP BY 1, 2"""
    return connection.execute(sql, (since, until)).fetchall()
