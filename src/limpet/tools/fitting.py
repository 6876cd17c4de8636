"""An answer made to fit into a model's window: as many of its items as have room, then shorter texts. Pure."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

from limpet import text
from limpet.framing import escaped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOM = 7000
"""Bytes of JSON in one answer; with Limpet's own sentences and the frame it stays below 8 KiB."""

LONGEST_TEXTS = (1000, 200, 60, 20)
"""To how many characters each text is cut, from the first of these on with which one item has room."""

MOST_GAPS = 5


class Fitted(NamedTuple):
    """The JSON text that has room, and how many of the items it holds."""

    payload: str
    shown: int


def fitted(value: Mapping[str, Any], items: str) -> Fitted:
    """Return as many of the value's `items` (the name of a list in it) as have room, in their order."""
    found = Fitted("", 0)
    for longest in LONGEST_TEXTS:
        found = _with_items(_shortened(value, longest), items)
        if found.payload and (found.shown or not value.get(items)):
            return found
    return found


def page(payload: str, offset: int) -> str:
    """Return what has room of a text, from so many characters on."""
    return payload[offset : offset + ROOM].encode()[:ROOM].decode("utf-8", "ignore")


def _with_items(value: Mapping[str, Any], items: str) -> Fitted:
    every: Sequence[Any] = value.get(items, ())

    def made(count: int) -> str:
        return escaped({**value, items: every[:count]} if items in value else value)

    shown = bisect_right(range(len(every) + 1), ROOM, key=lambda count: len(made(count).encode())) - 1
    return Fitted(made(shown), shown) if shown >= 0 else Fitted("", 0)


def _shortened(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else text.one_line(value, longest)
    if isinstance(value, dict):
        return {key: _shortened(item, longest) for key, item in value.items()}
    return [_shortened(item, longest) for item in value] if isinstance(value, list) else value
