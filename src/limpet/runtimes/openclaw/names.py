"""Which conversation a session belongs to, for transcripts that no longer say it. Not for what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet import jsonline
from limpet.errors import Unavailable
from limpet.runtimes.foreign import ForeignDatabase

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import apsw

    from limpet.model import Json

NEEDS = {
    "session_windows": ("session_id", "session_key"),
    "session_transcript_archives": ("session_id", "session_key"),
}

KEYS = """
SELECT session_id, session_key FROM session_transcript_archives
UNION SELECT session_id, session_key FROM session_windows
"""

_FIELDS = ("spawnedBy", "parentSessionKey", "channel")


class SessionNames:
    """The session keys that the older `sessions.json` and the database of an agent know."""

    def __init__(self, folder: Path, database: Path | None) -> None:
        """Name the `sessions` folder and the database; neither need be there."""
        self._store = folder / "sessions.json"
        self._database = ForeignDatabase(database, NEEDS) if database else None

    def known(self, now_ms: int) -> dict[str, Mapping[str, str]]:
        """Return what is known of each session: `sessionKey`, and `spawnedBy` and such where it is said."""
        return {**self._from_store(), **self._from_database(now_ms)}

    def _from_store(self) -> dict[str, Mapping[str, str]]:
        try:
            store = jsonline.parse_text(self._store.read_text("utf-8", "replace"))
        except (OSError, ValueError):
            return {}  # only newer versions have none, and an unreadable one only leaves the keys unknown
        entries = store.items() if isinstance(store, dict) else ()
        return {e["sessionId"]: _fields(key, e) for key, e in entries if _has_session(e)}

    def _from_database(self, now_ms: int) -> dict[str, Mapping[str, str]]:
        if self._database is None:
            return {}
        try:
            found = self._database.look(_keys, now_ms)
        except Unavailable:
            return {}  # the source that reads the database says so
        return {session: {"sessionKey": key} for session, key in (found or {}).items()}


def _keys(database: apsw.Connection) -> dict[str, str]:
    return {str(session): str(key) for session, key in database.execute(KEYS)}


def _has_session(entry: Json) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("sessionId"), str)


def _fields(key: str, entry: Mapping[str, Json]) -> Mapping[str, str]:
    said = {name: entry[name] for name in _FIELDS if isinstance(entry.get(name), str)}
    return {"sessionKey": key, **said}
