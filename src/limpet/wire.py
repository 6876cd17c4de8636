"""What Limpet knows, as JSON: one shape for every door (command line, web, MCP, plugin). Pure; not for people's eyes.

The shapes are promised in `docs/how-it-works.md`; times are ISO-8601 in the reader's zone, with offset.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limpet import days

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limpet.model import Answer, Coverage, Event, Record


def event(one: Event, zone: str, snippet: str = "") -> dict[str, Any]:
    """Return an event as every JSON answer gives it; `snippet` is the passage in which a text was found."""
    return {
        "id": str(one.id),
        "time": days.show(one.at_ms, zone),
        "type": one.type,
        "agent": one.agent or "unknown",
        "session": one.session or None,
        "run": one.run or None,
        "call": one.call or None,
        "tool": one.tool or None,
        "status": one.status or None,
        "duration_ms": one.duration_ms,
        "summary": one.summary,
        "error": one.error or None,
        "trust": one.trust,
        "label": one.label or None,
        "actor": one.actor or None,
        "flags": list(one.flags),
        "sources": list(one.sources),
        **({"snippet": snippet} if snippet else {}),
        **({"machine": one.machine} if one.machine else {}),
    }


def coverage(found: Coverage, zone: str) -> dict[str, Any]:
    """Return a coverage as every JSON answer gives it."""
    gaps = [
        {
            "from": days.show(g.from_ms, zone),
            "to": None if g.to_ms is None else days.show(g.to_ms, zone),
            "source": g.source,
            "why": g.why,
        }
        for g in found.gaps
    ]
    return {
        "state": found.state,
        "gaps": gaps,
        **({"pending_bytes": found.pending} if found.pending else {}),
        **({"warning": found.warning} if found.warning else {}),
    }


def answer(found: Answer, question: str = "") -> dict[str, Any]:
    """Return an answer as JSON; the shape is promised in `docs/how-it-works.md`."""
    query = found.query
    since, until = query.since_ms, query.until_ms
    return {
        "question": question or query.understood,
        "understood": query.understood,
        **({"note": query.note} if query.note else {}),
        "window": {
            "from": None if since is None else days.show(since, query.zone),
            "to": None if until is None else days.show(until, query.zone),
            "zone": query.zone,
        },
        "count": found.count,
        "events": [event(one, query.zone, found.snippets.get(one.id, "")) for one in found.events],
        "groups": [{"key": name or None, "count": n} for name, n in found.groups],
        "coverage": coverage(found.coverage, query.zone),
    }


def session(name: str, events: Sequence[Event], end: tuple[int, str] | None, before: str, zone: str) -> dict[str, Any]:
    """Return a session's timeline as JSON: its events, what it goes on from, its end (`at`, `how`) if one was seen."""
    over = {"at": days.show(end[0], zone), "how": end[1]} if end else None
    return {"session": name, "continues": before or None, "end": over, "events": [event(one, zone) for one in events]}


def shown(one: Event, records: Sequence[Record], zone: str) -> dict[str, Any]:
    """Return an event with its details and every record behind it, redacted, as said."""
    behind = [{"no": r.no, "source": r.source, "kind": r.kind, "body": r.body} for r in records]
    return {**event(one, zone), "details": one.details, "records": behind}
