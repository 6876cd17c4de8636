"""What a tool was given and gave back, or what a message says: looked up in the records behind an event. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from limpet import text
from limpet.web.clocks import size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from limpet.model import Event, Record

LONGEST = 20_000
"""So many characters of a text are shown at once."""

DEEPEST = 12
"""So deep in a record is looked for the call."""


@dataclass(frozen=True, slots=True)
class Said:
    """One text: its title, itself as far as it is shown, and how much is left out."""

    title: str
    text: str
    left: str = ""


def of(event: Event, records: Sequence[Record]) -> Sequence[Said]:
    """Return the texts of an event: arguments and result of a call, else the message, and the error."""
    said = list(_of_call(event, records)) if event.type == "tool_call" else list(_of_message(event, records))
    said += [_said("what it was told", str(own)) for own in _own(event, records)]
    if event.error:
        said.append(_said("error", event.error))
    if not said or (event.type not in ("tool_call", "message") and event.details):
        said.append(_said("details", _written(event.details) if event.details else event.summary))
    return said


def _of_call(event: Event, records: Sequence[Record]) -> Iterator[Said]:
    given, got = None, None
    for record in records:
        for found in _mappings(record.body, 0):
            ids = (found.get("toolCallId"), found.get("id"), found.get("call_id"))
            if event.call and event.call not in ids:
                continue
            given = given or found.get("params") or found.get("arguments") or found.get("args")
            result = found.get("result") if "result" in found else found.get("content")
            got = got or (result if found.get("type") != "toolCall" else None)
    if given:
        yield _said("given", _written(given))
    if got:
        yield _said("result", text.plain(got) or _written(got))


def _of_message(event: Event, records: Sequence[Record]) -> Iterator[Said]:
    if event.type != "message":
        return
    texts = [
        text.plain(found["content"])
        for record in records
        for found in _mappings(record.body, 0)
        if found.get("content")
    ]
    longest = max(texts, key=len, default="") or event.summary
    yield _said("message", longest)


def _own(event: Event, records: Sequence[Record]) -> Iterator[Any]:
    """Yield Limpet's own sentences of a brief that was handed over."""
    if event.type == "brief":
        yield from (found["own"] for record in records for found in _mappings(record.body, 0) if found.get("own"))


def _mappings(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Yield every object within a value, the outer ones first, as far as it is looked into."""
    if depth > DEEPEST:
        return
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _mappings(item, depth + 1)
    elif isinstance(value, list):
        for item in value[:200]:
            yield from _mappings(item, depth + 1)


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2)


def _said(title: str, said: str) -> Said:
    return Said(title, said[:LONGEST], size(len(said) - LONGEST) if len(said) > LONGEST else "")
