"""Rows of the well-known 150-line script's table, as records. Not for what they mean."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from limpet import jsonline
from limpet.model import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limpet.model import Json

SOURCE = "script"

COLUMNS = ("id", "timestamp", "session_id", "event_type", "summary", "details", "tags")


def script_record(row: Sequence[Json], zone: str, arrived_ms: int) -> Record:
    """Return the record of one row, given as its seven columns; `zone` is that of its naive local times.

    Its id comes from the row, so that no way in counts it twice. Text that is no UTF-8 may be given as bytes.
    """
    event = {name: value for name, value in zip(COLUMNS, row, strict=True) if value is not None}
    event = {name: value.hex() if isinstance(value, bytes) else value for name, value in event.items()}
    digest = hashlib.sha256(b"script\n" + jsonline.canonical(event)).hexdigest()[:32]
    body = {"hook": "script_row", "ts": event.get("timestamp"), "ctx": {"zone": zone}, "event": event}
    number = event.get("id")
    return Record(digest, SOURCE, "script", number if isinstance(number, int) else 0, "script_row", body, arrived_ms)
