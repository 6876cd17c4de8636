"""Entries of transcripts as records, the same wherever they stand. Not for their meaning."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from limpet import jsonline
from limpet.model import Record
from limpet.spool.line import INVALID_UTF8

if TYPE_CHECKING:
    from collections.abc import Mapping

    from limpet.model import Json

SOURCE = "openclaw.transcripts"


@dataclass(frozen=True, slots=True)
class Place:
    """Whose transcript it is. `agent` is "" when nothing says; `ctx` is what else is known of the session."""

    agent: str
    session: str
    ctx: Mapping[str, str] = field(default_factory=dict)

    @property
    def stream(self) -> str:
        """The name of the transcript's own order."""
        return f"{self.agent}/{self.session}"

    def context(self) -> dict[str, str]:
        """Return the `ctx` of a record; what is not known is left out."""
        names = {"agentId": self.agent, "sessionId": self.session, **self.ctx}
        return {name: value for name, value in names.items() if value}


class Repeats:
    """How often an entry that has no id of its own came before, in each session.

    An entry's own id tells it from all others of its session, so the same one said again is the same record.
    Without one, equal entries are different things that happened, told apart by their order.
    """

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._seen: Counter[bytes] = Counter()

    def count(self, session: str, entry: Json) -> int:
        """Return how many equal entries came before this one, and count it."""
        if has_own_id(entry):
            return 0
        digest = hashlib.sha256(session.encode() + b"\n" + jsonline.canonical(entry)).digest()[:16]
        self._seen[digest] += 1
        return self._seen[digest] - 1


def has_own_id(entry: Json) -> bool:
    """Return whether an entry carries an id, in OpenClaw's spelling or in Claude's."""
    return isinstance(entry, dict) and any(isinstance(entry.get(n), str) and entry[n] for n in ("id", "uuid"))


def line_record(
    place: Place,
    entry: Json,
    seq: int,
    repeat: int,
    arrived_ms: int,
    *,
    invalid: bool = False,
    made_ms: int | None = None,
) -> Record:
    """Return the record of one entry; its id comes from agent, session, the entry as JSON, and `repeat`.

    `seq` is the row or line number in the transcript; `invalid` says that bytes of it were no UTF-8;
    `made_ms` is its time where the entry itself has none.
    """
    body: dict[str, Json] = {
        "hook": "transcript_line",
        "ts": time_of(entry) or made_ms,
        "ctx": place.context(),
        "event": entry if isinstance(entry, dict) else {"value": entry},
    }
    if invalid:
        body["flags"] = [INVALID_UTF8]
    whose = jsonline.canonical([SOURCE, place.agent, place.session, repeat])
    identity = whose + b"\n" + jsonline.canonical(entry)
    return Record(record_id(identity), SOURCE, place.stream, seq, "transcript_line", body, arrived_ms)


def record_id(identity: bytes) -> str:
    """Return 32 hex digits that stand for this identity."""
    return hashlib.sha256(identity).hexdigest()[:32]


def session_of(entry: Json, current: str) -> str:
    """Return the session that an entry belongs to: the one that it names itself, else the current one.

    A header names it in OpenClaw's transcripts (`session`) and codex's (`session_meta`), each line in
    Claude's.
    """
    if not isinstance(entry, dict):
        return current
    kind, payload = entry.get("type"), entry.get("payload")
    if kind == "session":
        return _named(entry.get("id"), current)
    if kind == "session_meta" and isinstance(payload, dict):
        return _named(payload.get("id"), current)
    return _named(entry.get("sessionId"), current)


def _named(value: Json, otherwise: str) -> str:
    return value if isinstance(value, str) and value else otherwise


def time_of(entry: Json) -> Json:
    """Return the entry's time as it says it; its message's where it has none."""
    if not isinstance(entry, dict):
        return None
    message = entry.get("message")
    inner = message.get("timestamp") if isinstance(message, dict) else None
    return entry.get("timestamp", inner)
