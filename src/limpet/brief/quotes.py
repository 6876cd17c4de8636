"""The quotations of a brief: what others wrote, short, cleaned, labelled with their origin, framed as data. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet import text
from limpet.framing import QUOTING, escaped, framed
from limpet.model import TRUSTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limpet.brief.times import Times
    from limpet.model import Event

SAID_CHARS, ERROR_CHARS, NAME_CHARS = 120, 100, 40


def of_event(event: Event, times: Times) -> str:
    """Return the quotation of an event: what was said or called, never what a tool gave back (field case F57)."""
    said: dict[str, Any] = {
        "event": str(event.id),
        "at": times.short(event.at_ms),
        "type": text.one_line(event.type, NAME_CHARS),
        "trust": event.trust if event.trust in TRUSTS else "unknown",
        "said": text.one_line(event.summary, SAID_CHARS),
        "error": text.one_line(event.error, ERROR_CHARS) if event.error not in event.summary else "",
    }
    return escaped({key: value for key, value in said.items() if value})


def within_frame(quotations: Sequence[str], times: Times) -> str:
    """Return quotations as the text for a model, "" where there are none."""
    payload = ",\n".join(quotations)
    return framed(f"[{payload}]", (), f"{QUOTING} Times: {times.zone}.") if quotations else ""
