"""One event: everything that is known, which witness said what, the records behind it, and its place in the chain."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from limpet import text
from limpet.interpreter import making
from limpet.memory import parse_id
from limpet.web.clocks import size
from limpet.web.rows import row_of
from limpet.web.views import saying

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from limpet.model import Event
    from limpet.store.records import Stored
    from limpet.web.clocks import Clocks
    from limpet.web.reading import Reader

LONGEST = 60_000
"""So many characters of a record are shown; `limpet show` and the API give all."""

TOLD = ("status", "duration_ms", "error", "summary", "tool", "trust", "label", "phase")


def view(memory: Reader, given: Mapping[str, Any], clocks: Clocks) -> Mapping[str, Any]:
    """Return everything that is known of an event."""
    found, records = memory.show(parse_id(given["id"]))
    stored = memory.behind(found)
    head = memory.head()
    return {
        "event": found,
        "row": row_of(found, clocks),
        "moment": clocks.moment(found.at_ms),
        "other": clocks.other(found.at_ms),
        "arrived": clocks.moment(found.arrived_ms),
        "facts": list(_facts(found)),
        "said": saying.of(found, records),
        "witnesses": [_witness(found, one, clocks) for one in stored],
        "asked_as": given["id"],
        "head": head,
    }


def inside(memory: Reader, given: Mapping[str, Any], clocks: Clocks) -> Mapping[str, Any]:
    """Return what is shown of an event where it stands in a list."""
    found, records = memory.show(parse_id(given["id"]))
    return {"event": found, "row": row_of(found, clocks), "said": saying.of(found, records)}


def _facts(event: Event) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and the question that finds others like it."""
    for name, value in (
        ("type", event.type),
        ("status", event.status),
        ("agent", event.agent),
        ("tool", event.tool),
        ("session", event.session),
        ("run", event.run),
        ("call", event.call),
        ("actor", event.actor),
        ("trust", event.trust),
        ("label", event.label),
    ):
        if value:
            askable = not any(c in value for c in '" ,')
            yield name, text.one_line(value, 200), f"{name}:{value}" if askable else ""
    if event.session_key:
        yield "session key", text.one_line(event.session_key, 200), ""
    if event.flags:
        yield "flags", ", ".join(event.flags), ""
    if event.tags:
        yield "tags", text.one_line(json.dumps(event.tags, ensure_ascii=False), 300), ""


def _witness(event: Event, stored: Stored, clocks: Clocks) -> Mapping[str, Any]:
    """Return what one record says of the event, and where it stands in the chain."""
    record = stored.record
    facts = [fact for fact in making.facts_of(record) if fact.type == event.type] if stored.content else []
    body = json.dumps(record.body, ensure_ascii=False, indent=2) if stored.content is not None else ""
    return {
        "no": record.no,
        "source": record.source,
        "kind": record.kind,
        "arrived": clocks.moment(record.arrived_ms),
        "stream": text.one_line(record.stream, 80),
        "seq": record.seq,
        "told": [pair for fact in facts[:1] for pair in _told(fact)],
        "body": body[:LONGEST],
        "left": size(len(body) - LONGEST) if len(body) > LONGEST else "",
        "forgotten": stored.content is None,
        "damage": stored.damage,
        "hash": stored.hash.hex(),
    }


def _told(fact: Any) -> Sequence[tuple[str, str]]:
    found = [(name, getattr(fact, name)) for name in TOLD]
    return [
        (name.replace("_", " "), text.one_line(str(value), 300)) for name, value in found if value not in ("", None)
    ]
