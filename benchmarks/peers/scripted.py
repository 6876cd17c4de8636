"""The well-known script as one of the sides: its database, read with a few lines of SQL. Not its speed of writing."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks import script
from benchmarks.peers.asking import Answer, told
from benchmarks.peers.day import DATE, FAILED, SESSION, WORD
from benchmarks.traffic import COMMON

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.peers.day import Day

READER = """
import json, sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute(sys.argv[2], sys.argv[3:]).fetchall()
print(json.dumps([(row[1], json.loads(row[5])) for row in rows]))
"""
SELECT = "SELECT * FROM events WHERE"
FAILED_SQL = f"""{SELECT} event_type = 'tool_call' AND timestamp >= ? AND timestamp < ?
                 AND json_extract(details, '$.success') = 0 ORDER BY timestamp DESC"""
WORD_SQL = f"{SELECT} summary LIKE ? OR details LIKE ? ORDER BY timestamp DESC"
SESSION_SQL = f"{SELECT} session_id = ? ORDER BY timestamp"


@dataclass(frozen=True)
class Script:
    """The script's database; there is no command line, so each question is a few lines of Python with SQL."""

    path: Path
    day: Day
    name: str = "the script"

    @property
    def ways(self) -> dict[str, str]:
        """What is run, in words."""
        return {FAILED: "SQL by hand", WORD: "SQL by hand, LIKE", SESSION: "get_session_timeline"}

    def ask(self, question: str) -> Answer:
        """Answer from a cold process without any import but the standard library's."""
        sql, *values = {
            FAILED: (FAILED_SQL, DATE, f"{DATE}T24"),
            WORD: (WORD_SQL, f"%{COMMON}%", f"%{COMMON}%"),
            SESSION: (SESSION_SQL, self.day.session),
        }[question]
        answered = told([sys.executable, "-I", "-S", "-c", READER, str(self.path), sql, *values], {})
        rows = json.loads(answered.out)
        said = "given all the content here; as published it keeps a tool's name and success alone"
        return Answer(frozenset(details.get("call") or at for at, details in rows), answered.seconds, said)

    def size(self) -> int:
        """Return the bytes of the database."""
        return self.path.stat().st_size


def filled(day: Day) -> Script:
    """Return a database of the script with the day in it, its details as full as ours."""
    path = day.scratch / f"script-{day.events}.db"
    connection = script.opened(path)
    script.filled(connection, day.happenings)
    connection.close()
    return Script(path, day)
