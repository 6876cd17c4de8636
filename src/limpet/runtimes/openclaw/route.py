"""On which channel somebody last spoke with an agent alone: where an alarm reaches them. Not for sending anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet import jsonline
from limpet.errors import Unavailable
from limpet.runtimes.foreign import ForeignDatabase
from limpet.runtimes.openclaw import layout

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

NEEDS = {"session_nodes": ("session_key", "entry_json")}
ENTRIES = """
SELECT json_extract(entry_json, '$.lastInteractionAt'), json_extract(entry_json, '$.delivery.context')
FROM session_nodes
WHERE json_valid(entry_json) AND json_extract(entry_json, '$.chatType') = 'direct'
  AND json_extract(entry_json, '$.delivery.kind') = 'external'
  AND json_extract(entry_json, '$.createdActor.type') = 'human'
"""

Found = tuple[int, tuple[str, str, str]]


def last(state: Path, now_ms: int) -> tuple[str, str, str] | None:
    """Return (channel, target, account) of the direct conversation that a person took part in last; None where none.

    Never a group: an alarm says what is wrong with somebody's machine.
    """
    found = [
        one for agent in layout.agents(state) for one in _of_agent(layout.transcript_database(state, agent), now_ms)
    ]
    return max(found)[1] if found else None


def _of_agent(path: Path, now_ms: int) -> list[Found]:
    database = ForeignDatabase(path, NEEDS)
    if not database.exists():
        return []
    try:
        return database.look(_routes, now_ms) or []
    except Unavailable:
        return []  # the source that reads the transcripts says so


def _routes(database: apsw.Connection) -> list[Found]:
    return [
        (at if isinstance(at, int) else 0, route)
        for at, context in database.execute(ENTRIES)
        if (route := _route(context))
    ]


def _route(said: Any) -> tuple[str, str, str] | None:
    try:
        context = jsonline.parse_text(said) if isinstance(said, str) else None
    except ValueError:
        return None
    if not isinstance(context, dict):
        return None
    channel, to, account = (context.get(name) for name in ("channel", "to", "accountId"))
    if not isinstance(channel, str) or not isinstance(to, str) or not channel or not to or to.startswith("-"):
        return None
    return channel, to, account if isinstance(account, str) and not account.startswith("-") else ""
