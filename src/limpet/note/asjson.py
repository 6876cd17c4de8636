"""A note's plan as JSON: the shape that `limpet note --json` and the HTTP API give. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet import days
from limpet.note import wording

if TYPE_CHECKING:
    from collections.abc import Mapping

    from limpet.note.plan import Plan


def of(plan: Plan) -> Mapping[str, Any]:
    """Return a plan as JSON: its bounds, its counts, every statement with its events, and the words."""
    return {
        "agent": plan.agent,
        "first": plan.first.isoformat(),
        "last": plan.last.isoformat(),
        "zone": plan.zone,
        "counts": {name: getattr(plan.counts, name) for name in plan.counts.__slots__},
        "paragraph": wording.paragraph(plan),
        "statements": [
            {
                "kind": one.kind,
                "words": one.words,
                "count": one.count,
                "events": [str(number) for number in one.events],
                "also": [str(number) for number in one.also],
                "from": days.show(one.first_ms, plan.zone),
                "to": days.show(one.last_ms, plan.zone),
            }
            for one in plan.statements
        ],
        "coverage": {"state": plan.state, "not_seen": list(plan.uncovered)},
    }
