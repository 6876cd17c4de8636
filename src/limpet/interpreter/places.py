"""Where in the ledger a fact stands, and the number of the event that begins there. Pure arithmetic."""

from __future__ import annotations

PART_BITS = 12
"""An event's id is its first record's number and the part within that record; a record has at most 4,095 parts."""

LAST = (1 << PART_BITS) - 1


def event_id(place: tuple[int, int]) -> int:
    """Return the id of an event whose first fact stands at this place."""
    return place[0] << PART_BITS | place[1]


def place_of(number: int) -> tuple[int, int]:
    """Return the (record, part) that an event id stands for."""
    return number >> PART_BITS, number & LAST
