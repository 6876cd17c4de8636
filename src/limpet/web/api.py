"""The HTTP API: the same answers as the command line's `--json`, each a function of a memory. Not for pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from limpet import standing, wire
from limpet.brief import asjson as brief_json
from limpet.memory import parse_id
from limpet.note import asjson as note_json
from limpet.web.parameters import LIMIT, MOST, NOW, OFFSET, TZ, Parameter, Q
from limpet.web.views.notes import plans_of, read_day

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from limpet.web.reading import Reader

    Given = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One path of the API: what answers it, what it takes, and the shape of its answer in the description."""

    path: str
    answer: Callable[[Reader, Given], Any]
    help: str
    shape: str
    takes: Sequence[Parameter]


def ask(memory: Reader, given: Given) -> Any:
    """Answer a question."""
    found = memory.ask(given["q"], given["now"], given["limit"], given["offset"])
    return wire.answer(found, given["q"])


def recent(memory: Reader, given: Given) -> Any:
    """Give the newest events."""
    return wire.answer(memory.recent(given["hours"], given["type"], given["limit"], given["now"]))


def session(memory: Reader, given: Given) -> Any:
    """Give a session's timeline."""
    events, end = memory.session(given["id"], children=given["children"], limit=given["limit"])
    return wire.session(given["id"], events, end, memory.origin(events), memory.settings.zone)


def event(memory: Reader, given: Given) -> Any:
    """Give an event with every record behind it."""
    found, records = memory.show(parse_id(given["id"]))
    return wire.shown(found, records, memory.settings.zone)


def status(memory: Reader, _: Given) -> Any:
    """Say whether Limpet is recording."""
    return standing.told(memory)


def brief(memory: Reader, given: Given) -> Any:
    """Give what an agent would be told now."""
    found = memory.brief(given["agent"], given["session"], given["now"], given["tokens"])
    return brief_json.of(found, memory.settings.zone)


def notes(memory: Reader, given: Given) -> Any:
    """Give what the notes of a day say."""
    return {"notes": [note_json.of(plan) for plan in plans_of(memory, read_day(given["day"]))]}


CALLS = (
    Call("/api/ask", ask, "an exact answer to a question", "Answer", (Q, LIMIT, OFFSET, TZ, NOW)),
    Call(
        "/api/recent",
        recent,
        "the newest events",
        "Answer",
        (
            Parameter("hours", "number", "how far back", 24, 0.001, 1_000_000),
            Parameter("type", "text", "only events of this type", ""),
            Parameter("limit", "integer", "how many are shown", 50, 1, LIMIT.high),
            TZ,
            NOW,
        ),
    ),
    Call(
        "/api/session/{id}",
        session,
        "a session's timeline, oldest first",
        "Session",
        (
            Parameter("id", "text", "a session's id or key", needed=True, in_path=True),
            Parameter("children", "truth", "with what its subagents did", default=False),
            Parameter("limit", "integer", "how many are shown", LIMIT.high, 1, LIMIT.high),
            TZ,
        ),
    ),
    Call(
        "/api/event/{id}",
        event,
        "one event with its full body and every record behind it",
        "Shown",
        (Parameter("id", "text", "an event's number", needed=True, in_path=True, high=MOST), TZ),
    ),
    Call(
        "/api/brief",
        brief,
        "what an agent would be told if it woke up now",
        "Brief",
        (
            Parameter("agent", "text", "whose (the default agent's)", ""),
            Parameter("session", "text", "the key of the session in which it wakes up", ""),
            Parameter("tokens", "integer", "how long it may be (0: as usual)", 0, 0, 100_000),
            TZ,
            NOW,
        ),
    ),
    Call(
        "/api/notes",
        notes,
        "what the daily notes of one local day say, as `limpet note --dry-run --json`",
        "Notes",
        (Parameter("day", "text", "an ISO date", needed=True), TZ),
    ),
    Call("/api/status", status, "is it recording, since when, how far behind, what can it not see", "Status", (TZ,)),
)
