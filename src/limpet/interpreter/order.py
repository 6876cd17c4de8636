"""In which order facts stand: their source's own order and their times, never the order in which they arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from limpet.model import Fact


def time_of(fact: Fact) -> int:
    """Return when it was, as far as the fact says, else when it was told; epoch milliseconds."""
    return fact.arrived_ms if fact.at_ms is None else fact.at_ms


def source_order(fact: Fact) -> tuple[str, int, int, int, str, tuple[int, int]]:
    """Return the source's own order; what it numbers alike is told apart by what it says, at last by its place."""
    return (*fact.order, fact.place[1], time_of(fact), fact.text, fact.place)
