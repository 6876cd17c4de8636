"""How the facts about one thing become one event: the best witness first, each field from the first that knows it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from limpet.interpreter.order import source_order, time_of
from limpet.interpreter.places import event_id
from limpet.model import OWN, UNWRITTEN, Event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limpet.model import Fact

LONG = frozenset({"session", "run", "subagent", "cron"})
"""What lasts long enough that the difference of two witnesses' times says how long."""

CLOSED_WITHOUT_END = frozenset({"session"})
"""A session that nobody ended is just still there; everything else that began and has no end is an open end."""


def _preference(fact: Fact) -> tuple[Any, ...]:
    """Best first: the better witness, then the fuller one, then the source's own order; never the order of arrival."""
    fullness = (fact.duration_ms is not None) + bool(fact.text) + bool(fact.error)
    return (-fact.rank, -fullness, -len(fact.text), fact.source, *source_order(fact))


def fold(facts: list[Fact]) -> Event:
    """Make one event of all facts about it."""
    facts = _written(facts)
    best = sorted(facts, key=_preference) if len(facts) > 1 else facts
    starts = [f for f in best if f.phase != "end"]
    ends = [f for f in best if f.phase in ("end", "whole")]
    final = _final(ends)
    head = best[0]
    said = Said(best)
    still_open = _is_open(head.type, facts, ends)
    summary = _summary(said, best, starts, ends) or _named(head.type, said.first("tool"))
    label = said.first("label")
    return Event(
        id=min(event_id(fact.place) for fact in facts),
        at_ms=_event_time(starts or ends),
        arrived_ms=min(fact.arrived_ms for fact in facts),
        type=head.type,
        status=final.status if final else said.first("status", starts) or ("started" if still_open else ""),
        agent=said.first("agent"),
        session=said.first("session"),
        session_key=said.first("session_key"),
        run=said.first("run"),
        call=said.first("call"),
        tool=said.first("tool"),
        actor=said.first("actor"),
        trust=next((f.trust for f in best if f.trust not in ("", "unknown")), "unknown"),
        label=label,
        duration_ms=_duration(head.type, best, starts, ends),
        summary=summary,
        error=final.error if final else "",
        flags=tuple(sorted({flag for fact in facts for flag in fact.flags})),
        sources=tuple(sorted({fact.source for fact in facts})),
        details=next((f.details for f in _latest_snapshot(best) if f.details is not None), None),
        tags=next((f.tags for f in best if f.tags is not None), None),
        # What Limpet's own tool gave back quotes what is known: a search must find the event, not last week's answer.
        text=summary if head.type == "tool_call" and label == OWN else _text(best, starts, ends),
        keys=tuple(sorted({f"{head.type} {key}" for fact in facts for key in fact.keys})),
        places=tuple(sorted(fact.place for fact in facts)),
        open=still_open,
    )


def _summary(said: Said, best: list[Fact], starts: list[Fact], ends: list[Fact]) -> str:
    """Return what happened in a few words; a session's event tells of its start and of its end."""
    if best[0].type != "session":
        return said.first("summary", _latest_snapshot(best))
    return "; ".join(dict.fromkeys(filter(None, (said.first("summary", starts), said.first("summary", ends)))))


def _text(best: list[Fact], starts: list[Fact], ends: list[Fact]) -> str:
    """Return what can be searched: what was said at the start, at the end, and last."""
    return "\n".join(dict.fromkeys(f.text for f in (*starts[:1], *ends[:1], *_latest_snapshot(best)[:1]) if f.text))


def _named(kind: str, tool: str) -> str:
    return (tool or "a tool") if kind == "tool_call" else ""


def _duration(kind: str, best: list[Fact], starts: list[Fact], ends: list[Fact]) -> int | None:
    """Return how long it took: as a witness measured it, or, for what is long, from its start to its end."""
    said = next((f.duration_ms for f in (ends or best) if f.duration_ms is not None), None)
    over = [fact for fact in ends if fact.phase == "end"]
    if said is not None or kind not in LONG or not starts or not over:
        return said
    return max(0, max(map(time_of, over)) - _event_time(starts))


def _written(facts: list[Fact]) -> list[Fact]:
    """Take the mark of what was never written from what another witness holds."""
    marked = [UNWRITTEN in fact.flags for fact in facts]
    if all(marked) or not any(marked):
        return facts
    return [
        replace(fact, label="", flags=tuple(f for f in fact.flags if f != UNWRITTEN)) if mark else fact
        for fact, mark in zip(facts, marked, strict=True)
    ]


def _is_open(kind: str, facts: list[Fact], ends: list[Fact]) -> bool:
    if kind in CLOSED_WITHOUT_END or any(fact.phase == "whole" for fact in facts):
        return False
    return not any(fact.status for fact in ends)


def _final(ends: list[Fact]) -> Fact | None:
    """Return the fact that says how it ended: of the best witnesses, the last that says so in its source's order."""
    telling = [fact for fact in ends if fact.status]
    if not telling:
        return ends[0] if ends and ends[0].phase == "whole" else None
    rank = telling[0].rank
    if telling[0].type == "run":  # an attempt that failed may be followed by one that did not
        return max((f for f in telling if f.rank == rank), key=lambda f: (time_of(f), *source_order(f)))
    return telling[0]


def _event_time(facts: list[Fact]) -> int:
    """Return the time of the first fact by the best witness that has one."""
    certain = [
        f for f in facts if f.at_ms is not None and not any(flag.startswith("time_") for flag in f.flags)
    ] or facts
    rank = max(fact.rank for fact in certain)
    return min(time_of(fact) for fact in certain if fact.rank == rank)


def _latest_snapshot(best: list[Fact]) -> list[Fact]:
    """Put the last of a streamed message's snapshots first: its text is what was said (field case F14)."""
    if best[0].type != "message" or len(best) == 1:
        return best
    last = {(f.source, f.order[0]): f.place for f in sorted(best, key=source_order)}
    places = set(last.values())
    return sorted(best, key=lambda f: (f.place not in places, -f.rank, -len(f.text), f.source, *source_order(f)))


class Said:
    """The facts of one event, best first, asked for the first that says something."""

    def __init__(self, best: list[Fact]) -> None:
        self._best = best

    def first(self, field: str, facts: Sequence[Fact] | None = None) -> str:
        """Return the first value of that field that is not empty."""
        return next(
            (value for fact in (self._best if facts is None else facts) if (value := getattr(fact, field))),
            "",
        )
