"""What happens now: the newest events, and those of which records after a number tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet.web.rows import row_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from limpet.web.clocks import Clocks
    from limpet.web.reading import Reader

MOST = 60
"""So many events are shown at first, and so many come at once at most."""


def view(memory: Reader, _: Mapping[str, Any], clocks: Clocks) -> Mapping[str, Any]:
    """Return the newest events and the number of the newest record."""
    if not memory.exists():
        return {"rows": [], "head": 0}
    head = memory.head()
    return {"rows": [row_of(event, clocks) for event in memory.latest(MOST)], "head": head}


def news(memory: Reader, given: Mapping[str, Any], clocks: Clocks) -> Mapping[str, Any]:
    """Return the events that are new, or of which more is known, since a record."""
    head = memory.head()
    found = memory.news(given["after"], MOST + 1)
    return {"rows": [row_of(event, clocks) for event in found[:MOST]], "more": len(found) > MOST, "head": head}
