"""A brief as JSON: the shape that `limpet brief --json` and the HTTP API give. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet import days

if TYPE_CHECKING:
    from collections.abc import Mapping

    from limpet.brief.composing import Brief


def of(found: Brief, zone: str) -> Mapping[str, Any]:
    """Return whose a brief is, as of when, both its parts, and the events that it tells of."""
    told = [str(number) for number in found.told]
    at = days.show(found.at_ms, zone)
    whose = {"agent": found.agent, "audience": found.audience, "at": at, "tokens": found.tokens}
    return {**whose, "own": found.own, "quoted": found.quoted, "told": told}
