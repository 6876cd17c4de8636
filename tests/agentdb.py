"""An agent's database made as OpenClaw 2026.9.6 makes it, for tests; and the small real one."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import apsw
import zstandard

REAL = Path(__file__).parent / "data" / "openclaw" / "openclaw-agent.sqlite.zst"

SCHEMA = """
CREATE TABLE session_nodes (
  session_key TEXT NOT NULL PRIMARY KEY, current_session_id TEXT NOT NULL, entry_json TEXT NOT NULL,
  entry_valid INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL, status TEXT, created_at INTEGER,
  created_via TEXT, created_actor_type TEXT, created_actor_id TEXT, parent_session_key TEXT, spawned_by TEXT,
  fork_source_session_key TEXT, fork_source_session_id TEXT, label TEXT, display_name TEXT, archived_at INTEGER
) STRICT;
CREATE TABLE session_windows (
  session_id TEXT NOT NULL PRIMARY KEY,
  session_key TEXT NOT NULL REFERENCES session_nodes(session_key) ON DELETE CASCADE,
  previous_session_id TEXT, reason TEXT, session_scope TEXT NOT NULL DEFAULT 'conversation',
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, transcript_updated_at INTEGER, started_at INTEGER,
  ended_at INTEGER, status TEXT, chat_type TEXT, channel TEXT, account_id TEXT, model_provider TEXT, model TEXT,
  parent_session_key TEXT, spawned_by TEXT, display_name TEXT
) STRICT;
CREATE TABLE transcript_events (
  session_id TEXT NOT NULL REFERENCES session_windows(session_id) ON DELETE CASCADE, seq INTEGER NOT NULL,
  event_json TEXT, created_at INTEGER NOT NULL, event_zstd BLOB, event_utf8_bytes INTEGER, navigation_json TEXT,
  PRIMARY KEY (session_id, seq),
  CHECK ((event_json IS NOT NULL AND event_zstd IS NULL) OR (event_json IS NULL AND event_zstd IS NOT NULL))
) STRICT;
CREATE TABLE transcript_rewrite_watermarks (
  session_id TEXT NOT NULL PRIMARY KEY REFERENCES session_windows(session_id) ON DELETE CASCADE,
  generation TEXT NOT NULL, updated_at INTEGER NOT NULL
) STRICT;
CREATE TABLE session_transcript_archives (
  session_id TEXT NOT NULL, generation TEXT NOT NULL, session_key TEXT NOT NULL, reason TEXT NOT NULL,
  encoding TEXT NOT NULL, archive_blob BLOB NOT NULL, archive_name TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, generation)
) STRICT;
"""

Entry = Mapping[str, object]


class AgentDatabase:
    """The writing side, as the gateway: a connection in WAL mode that stays open until `stop`."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.clock_ms = 1_790_000_000_000
        self.db = apsw.Connection(str(path))
        self.db.pragma("journal_mode", "wal")
        self.db.pragma("foreign_keys", 1)
        self.db.execute(SCHEMA)
        self.db.pragma("user_version", 23)

    def session(self, session: str, key: str = "agent:main:main", **window: object) -> None:
        """Begin a session: a window, and its node where there is none."""
        self.clock_ms += 1000
        self.db.execute(
            "INSERT INTO session_nodes(session_key, current_session_id, entry_json, updated_at, created_via)"
            " VALUES (?1, ?2, '{}', ?3, 'run') ON CONFLICT DO UPDATE SET current_session_id = ?2",
            (key, session, self.clock_ms),
        )
        row = {
            "session_id": session,
            "session_key": key,
            "created_at": self.clock_ms,
            "updated_at": self.clock_ms,
            **window,
        }
        columns = ", ".join(row)
        self.db.execute(
            f"INSERT INTO session_windows({columns}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
        )
        self.generation(session, "g1")

    def generation(self, session: str, generation: str) -> None:
        """Say that the rows of a session are others now."""
        self.db.execute(
            "INSERT INTO transcript_rewrite_watermarks VALUES (?, ?, 0)"
            " ON CONFLICT DO UPDATE SET generation = excluded.generation",
            (session, generation),
        )

    def append(self, session: str, *entries: Entry | str, packed: bool = False) -> None:
        """Append entries to a transcript in one transaction; a str is written as it is."""
        with self.db:
            for entry in entries:
                self._insert(session, entry if isinstance(entry, str) else json.dumps(entry), packed=packed)
            self.db.execute(
                "UPDATE session_windows SET updated_at = ?1, transcript_updated_at = ?1 WHERE session_id = ?2",
                (self.clock_ms, session),
            )

    def _insert(self, session: str, line: str, *, packed: bool) -> None:
        self.clock_ms += 1
        (last,) = self.db.execute("SELECT max(seq) FROM transcript_events WHERE session_id = ?", (session,)).fetchone()
        blob = zstandard.ZstdCompressor(write_checksum=True).compress(line.encode()) if packed else None
        self.db.execute(
            "INSERT INTO transcript_events(session_id, seq, event_json, created_at, event_zstd, event_utf8_bytes)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (session, 0 if last is None else last + 1, None if packed else line, self.clock_ms, blob, len(line)),
        )

    def stop(self) -> None:
        """End as the gateway does: the log goes into the file and away."""
        self.db.close()


def message(number: int, text: str = "", role: str = "user") -> dict[str, object]:
    """Return an entry of a transcript."""
    return {
        "type": "message",
        "id": f"m{number}",
        "parentId": f"m{number - 1}" if number else None,
        "timestamp": f"2026-09-21T10:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "message": {"role": role, "content": text or f"text {number}"},
    }


def messages(count: int, start: int = 0) -> Iterable[dict[str, object]]:
    """Give that many entries."""
    return (message(number) for number in range(start, start + count))


def real_database(folder: Path) -> Path:
    """Put the small real database of OpenClaw 2026.9.6 into a state folder's place for the agent `main`."""
    path = folder / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    path.parent.mkdir(parents=True)
    path.write_bytes(zstandard.ZstdDecompressor().decompress(REAL.read_bytes()))
    return path


class Follower:
    """A recorder's side of a source: it keeps the cursor as the recorder would, and what it was given."""

    def __init__(self, source) -> None:
        self.source = source
        self.cursor: dict[str, object] = {}
        self.records: dict[str, object] = {}
        self.rejects: list[object] = []
        self.now_ms = 1_795_000_000_000

    def read(self):
        """Read once and commit."""
        self.now_ms += 2000
        batch = self.source.read(self.cursor, self.now_ms)
        for item, value in batch.cursor.items():
            self.cursor.pop(item, None) if value is None else self.cursor.update({item: value})
        self.records.update({record.id: record for record in batch.records if record.id not in self.records})
        self.rejects += batch.rejects
        return batch

    def follow(self):
        """Read until there is no more; return the records that were new, in the order in which they came."""
        before = len(self.records)
        while self.read().more:
            pass
        return list(self.records.values())[before:]


def lines_of(records) -> list[str]:
    """Return the ids of the entries among the records, in order."""
    return [record.body["event"]["id"] for record in records if record.kind == "transcript_line"]
