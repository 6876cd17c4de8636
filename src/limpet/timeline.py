"""One session's timeline: its events and, if asked, its subagents', its end and its origin. Reads only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from limpet.errors import NotFound
from limpet.model import Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limpet.model import Event
    from limpet.store.finding import Line
    from limpet.store.port import Store


class Place(NamedTuple):
    """Where an event stands in a timeline, and whether it is a subagent's."""

    line: Line
    is_child: bool = False


def events_of(store: Store, name: str, *, children: bool, limit: int) -> Sequence[Event]:
    """Return a session's timeline, oldest first; `children` takes in what its subagents did, with the flag `child`.

    Raises NotFound for a session that no event names.
    """
    return events_at(store, outline_of(store, name, children=children, limit=limit))


def events_at(store: Store, places: Sequence[Place]) -> Sequence[Event]:
    """Return the events of a part of a timeline."""
    is_child = {place.line.position: place.is_child for place in places}
    events = store.find.at([place.line.position for place in places])
    return [
        replace(event, flags=(*event.flags, "child")) if is_child[place.line.position] else event
        for event, place in zip(events, places, strict=True)
    ]


def outline_of(store: Store, name: str, *, children: bool, limit: int, restarts: bool = False) -> Sequence[Place]:
    """Return the first `limit` places of a session's timeline, oldest first; raises NotFound.

    A call belongs to the run that made it: where a subagent's run carries its parent's session, the run decides (field
    case F80). `restarts` takes in the gateway's starts and stops meanwhile, which belong to no session.
    """
    mine = Query(filters=(("session", (name,), False),), sort="oldest", limit=limit, noise=True)
    lines = store.find.outline(mine)
    if not lines:
        raise NotFound(f"There is no session {name!r}.", "limpet recent --json  shows the sessions of the last hours.")
    key = next((line.session_key for line in lines if line.session_key), "")
    names, runs = _below(store, name, key)
    own = [line for line in lines if line.run not in runs or line.type == "subagent"]
    own += _of(store, mine, "run", _run_of_child(store, key))
    found = {line.position: Place(line) for line in own}
    if children:
        for line in (*lines, *_of(store, mine, "session", names), *_of(store, mine, "run", runs)):
            found.setdefault(line.position, Place(line, is_child=True))
    if restarts:
        found |= {line.position: Place(line) for line in _turns_of_the_gateway(store, lines, limit)}
    return sorted(found.values(), key=lambda place: (place.line.at_ms, place.line.id))[:limit]


def _turns_of_the_gateway(store: Store, lines: Sequence[Line], limit: int) -> Sequence[Line]:
    """Return the gateway's starts and stops between these lines; of all time there are few."""
    turns = Query(filters=(("type", ("gateway",), False),), sort="oldest", limit=limit)
    return [line for line in store.find.outline(turns) if lines[0].at_ms < line.at_ms < lines[-1].at_ms]


def _below(store: Store, name: str, key: str) -> tuple[set[str], set[str]]:
    """Return the sessions (ids and keys) and the runs of all subagents below a session, of every generation."""
    names: set[str] = set()
    runs: set[str] = set()
    asked = [(name, key)]
    while asked:
        for child_key, child_session, run in store.find.children(*asked.pop()):
            runs.update({run} if run else ())
            if new := {child_key or "", child_session or ""} - names - {""}:
                names |= new
                asked.append((child_session or "", child_key or ""))
    return names, runs


def _run_of_child(store: Store, key: str) -> set[str]:
    """Return the run in which the subagent with this session key works, as the one who started it was told."""
    found = [store.find.by_id(number) for number in store.events.with_keys([f"subagent subagent:{key}"])] if key else []
    return {event.call for event in found if event and event.call}


def _of(store: Store, query: Query, name: str, values: set[str]) -> Sequence[Line]:
    return store.find.outline(replace(query, filters=((name, tuple(values), False),))) if values else ()


def end_of(store: Store, events: Sequence[Event]) -> tuple[int, str] | None:
    """Return when and how a session ended, as far as anybody said or the next session under its key shows."""
    said = next((e for e in events if e.type == "session" and e.status == "succeeded"), None)
    last = events[-1]
    if said is not None:
        return said.at_ms + (said.duration_ms or 0), said.summary.rpartition("; ")[2]
    follower = store.find.next_session(last) if last.session_key else None
    return (follower[0], f"end inferred: {follower[1]} went on in its place") if follower else None


def origin_of(store: Store, events: Sequence[Event]) -> str:
    """Return the session that this one goes on from, "" where nobody says (field case F17)."""
    for event in events:
        said = event.details if event.type == "session" and isinstance(event.details, dict) else {}
        if said.get("continues"):
            return str(said["continues"])
        if said.get("copied"):
            first = store.events.with_keys([f"message entry:{said['copied']}"])
            found = [store.find.by_id(number) for number in sorted(first)]
            return next((one.session for one in found if one and one.session != event.session), "")
    return ""
