"""The database makes sense to other programs: the standard library, and Datasette, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab import NOON

if TYPE_CHECKING:
    from lab import Lab

COLUMNS = ["id", "timestamp", "session_id", "event_type", "summary", "details", "tags"]
READ = """
import json, sqlite3, sys
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
cursor = connection.execute("SELECT * FROM events ORDER BY timestamp")
names = [column[0] for column in cursor.description]
rows = [dict(zip(names, row)) for row in cursor]
valid = connection.execute("SELECT min(json_valid(details)), min(json_valid(tags)) FROM events").fetchone()
print(json.dumps({"names": names, "rows": rows, "valid": valid, "check": connection.execute("PRAGMA integrity_check").fetchone()}))
"""


def call(number: int, exit_code: int) -> dict[str, Any]:
    """Return the line of a call of `exec` that ended."""
    ctx = {
        "agentId": "main",
        "sessionId": "s-1",
        "sessionKey": "agent:main:main",
        "runId": "r-1",
        "toolCallId": f"c-{number}",
    }
    result = {"content": [{"type": "text", "text": "out"}], "details": {"status": "completed", "exitCode": exit_code}}
    event = {
        "toolName": "exec",
        "params": {"command": "make"},
        "durationMs": 40,
        "result": result,
        **{k: ctx[k] for k in ("runId", "toolCallId")},
    }
    return {"hook": "after_tool_call", "ts": NOON + number * 1000, "ctx": ctx, "event": event}


@pytest.fixture
def filled(lab: Lab) -> Lab:
    """Record a call that succeeded and one that failed."""
    lab.take([call(1, 0), call(2, 3)])
    return lab


def test_the_standard_library_reads_the_view_with_the_scripts_seven_columns_first(filled: Lab) -> None:
    """Any SQLite opens it; times are ISO-8601 UTC; details and tags are JSON with the short facts of a call."""
    done = subprocess.run([sys.executable, "-c", READ, str(filled.db)], capture_output=True, text=True, check=True)
    read = json.loads(done.stdout)
    assert (read["names"][:7], read["valid"], read["check"]) == (COLUMNS, [1, 1], ["ok"])
    failed = read["rows"][1]
    assert (failed["timestamp"], failed["event_type"], failed["session_id"]) == (
        "2026-06-01T12:00:02.000Z",
        "tool_call",
        "s-1",
    )
    details = json.loads(failed["details"])
    assert details == {"tool": "exec", "success": False, "status": "failed", "duration_ms": 40, "error": "out"}
    assert json.loads(failed["tags"]) == ["tool", "exec"]


def test_datasette_shows_the_events(filled: Lab) -> None:
    """Datasette opens the file as it is and gives the view's rows."""
    datasette = Path(sys.executable).with_name("datasette")
    shown = [str(datasette), str(filled.db), "--get", "/agent_memory/events.json?_shape=array&_sort=timestamp"]
    done = subprocess.run(shown, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [row["status"] for row in json.loads(done.stdout)] == ["succeeded", "failed"]
