"""An answer as CSV for a spreadsheet. Nothing in it is a formula. Not for programs; they take the API."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from limpet import days, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limpet.model import Answer

MOST = 10_000
"""So many events are written; `limpet ask --csv` writes as many as one likes."""

HEAD = ("id", "time", "type", "agent", "session", "tool", "status", "duration_ms", "summary", "error")
LONGEST = 10_000
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""With these a cell begins that a spreadsheet would compute (OWASP, CSV injection); an apostrophe makes it text."""


def of(found: Answer) -> bytes:
    """Return the events of an answer, or its groups."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(("key", "count") if found.groups else HEAD)
    writer.writerows([_cell(cell) for cell in row] for row in _rows(found))
    return out.getvalue().encode("utf-8", "replace")


def _rows(found: Answer) -> Sequence[Sequence[Any]]:
    if found.groups:
        return found.groups
    zone = found.query.zone
    return [
        (
            e.id,
            days.show(e.at_ms, zone),
            e.type,
            e.agent,
            e.session,
            e.tool,
            e.status,
            e.duration_ms,
            e.summary,
            e.error,
        )
        for e in found.events
    ]


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    said = text.one_line(value, LONGEST)
    return f"'{said}" if said.startswith(FORMULA) else said
