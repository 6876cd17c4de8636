"""Questions with what they ask for, written from the English: predicates over raw events and spans of instants.

Nothing here uses Limpet's own grammar: `expected` counts by brute force what the English says, `answer` does what a
Query says, and the tests hold them against each other.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from limpet.model import Query

Raw = dict[str, Any]
Named = tuple[str, "Callable[[Raw], bool]"]
BERLIN = ZoneInfo("Europe/Berlin")
NOW = "2026-10-26T09:00:00+01:00"


def at(text: str) -> int:
    """Return the instant that an ISO time with offset names, in milliseconds."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


@dataclass(frozen=True)
class Form:
    """A question, which events it asks for, and in what shape the answer is asked: groups, different ones, a few."""

    question: str
    wanted: Callable[[Raw], bool]
    by: str = ""
    count: str = ""
    take: int = 0
    order: str = "newest"


@dataclass(frozen=True)
class Result:
    """What an answer says: the numbers of the events (in order where that matters), groups, how many."""

    events: tuple[int, ...]
    groups: tuple[tuple[str, int], ...]
    count: int


TOOLS = ("exec", "read", "book_reservation", "think")
STATUSES = ("succeeded", "failed", "timed_out", "blocked", "cancelled", "interrupted", "started")
TEXTS = ("travel insurance", "insurance", "the backup", "nightly backup done", "refund", "nothing", "travel plans")


def raw_events(number: int = 6000, seed: int = 7) -> list[Raw]:
    """Return invented events of 70 days up to NOW and a little beyond, the same for the same seed."""
    chance = random.Random(seed)
    first, last = at("2026-08-20T00:00:00+02:00"), at("2026-10-26T12:00:00+01:00")
    moments = sorted(_moment(chance, first, last) for _ in range(number))
    return [{**_raw(chance), "no": no, "at": moment} for no, moment in enumerate(moments)]


def _moment(chance: random.Random, first: int, last: int) -> int:
    """Return a time: half of them in the last nine days, where the questions are; some on the edge of a day."""
    begin = last - 9 * 86_400_000 if chance.random() < 0.6 else first
    moment = chance.randrange(begin, last)
    if chance.random() < 0.15:
        midnight = datetime.fromtimestamp(moment / 1000, BERLIN).replace(hour=0, minute=0, second=0, microsecond=0)
        return round(midnight.timestamp() * 1000) + chance.choice((-1, 0, 1))
    return moment


def _raw(chance: random.Random) -> Raw:
    kind = chance.choices(("tool_call", "message", "run", "error", "model_call"), (60, 25, 8, 3, 4))[0]
    said = kind == "message"
    return {
        "type": kind,
        "status": "" if said else "failed" if kind == "error" else chance.choices(STATUSES, (60, 14, 6, 6, 5, 4, 5))[0],
        "tool": chance.choice(TOOLS) if kind == "tool_call" else "",
        "agent": chance.choice(("night", "desk")),
        "session": f"s-{chance.randrange(6)}",
        "actor": "system" if kind == "error" else chance.choice(("user", "agent")) if said else "agent",
        "text": chance.choice(TEXTS),
        "ms": None if said else chance.randrange(1, 90_000),
        "label": "heartbeat" if chance.random() < 0.05 else "",
    }


def matches(query: Query, raw: Raw) -> bool:
    """Tell whether an event is one of those that the Query asks for: the meaning of a Query, in a few lines."""
    if query.since_ms is not None and raw["at"] < query.since_ms:
        return False
    if query.until_ms is not None and raw["at"] >= query.until_ms:
        return False
    if not query.noise and raw["label"]:
        return False
    text = raw["text"].lower()
    words = all(word.lower() in text for word in query.words)
    without = any(word.lower() in text for word in query.without)
    return words and not without and all(_holds(raw, *one) for one in query.filters)


def _holds(raw: Raw, name: str, values: tuple[str, ...], negated: bool) -> bool:
    if name == "is":
        error = raw["type"] == "error" or raw["status"] in ("failed", "timed_out")
        deed = raw["type"] not in ("gateway", "session") and (raw["type"], raw["actor"]) != ("message", "user")
        return (("error" in values and error) or ("deed" in values and deed)) != negated
    return (raw[name] in values) != negated


def answer(query: Query, events: list[Raw]) -> Result:
    """Return what the Query's answer says about the events."""
    found = [raw for raw in events if matches(query, raw)]
    return _result(found, query.by, query.count, query.take, query.sort, query.zone)


def expected(form: Form, events: list[Raw]) -> Result:
    """Return what the English asks for, by brute force; nothing after now, no noise."""
    now = at(NOW)
    found = [raw for raw in events if raw["at"] < now and not raw["label"] and form.wanted(raw)]
    return _result(found, form.by, form.count, form.take, form.order, "Europe/Berlin")


def _result(found: list[Raw], by: str, count: str, take: int, order: str, zone: str) -> Result:
    key = (
        (lambda raw: (raw["ms"] or -1, raw["no"]))
        if order in ("slowest", "fastest")
        else (lambda raw: (raw["at"], raw["no"]))
    )
    ordered = sorted(found, key=key, reverse=order in ("newest", "slowest"))
    kept = ordered[:take] if take else ordered
    groups = Counter(_group(raw, by, zone) for raw in kept) if by else {}
    number = len({raw[count] for raw in kept if raw[count]}) if count else len(kept)
    return Result(tuple(raw["no"] for raw in kept), tuple(sorted(groups.items())), number)


def _group(raw: Raw, by: str, zone: str) -> str:
    local = datetime.fromtimestamp(raw["at"] / 1000, ZoneInfo(zone))
    return {"day": local.date().isoformat(), "hour": local.isoformat()[:13]}.get(by) or str(raw.get(by, ""))


# What is asked for, in English and as a predicate.

FAILED = ("failed", "timed_out")
NOUNS: tuple[Named, ...] = (
    ("tool calls", lambda raw: raw["type"] == "tool_call"),
    ("calls", lambda raw: raw["type"] == "tool_call"),
    ("exec calls", lambda raw: raw["tool"] == "exec"),
    ("book_reservation calls", lambda raw: raw["tool"] == "book_reservation"),
    ("exec and read calls", lambda raw: raw["tool"] in ("exec", "read")),
    ("messages", lambda raw: raw["type"] == "message"),
    ("messages from me", lambda raw: raw["type"] == "message" and raw["actor"] == "user"),
    ("messages from the user", lambda raw: raw["type"] == "message" and raw["actor"] == "user"),
    ("messages from the agent", lambda raw: raw["type"] == "message" and raw["actor"] == "agent"),
    ("model calls", lambda raw: raw["type"] == "model_call"),
    ("runs", lambda raw: raw["type"] == "run"),
    ("errors", lambda raw: raw["type"] == "error" or raw["status"] in FAILED),
    ("events", lambda _raw: True),
)
ADJECTIVES: tuple[Named, ...] = (
    ("failed", lambda raw: raw["status"] in FAILED),
    ("successful", lambda raw: raw["status"] == "succeeded"),
    ("blocked", lambda raw: raw["status"] == "blocked"),
    ("timed out", lambda raw: raw["status"] == "timed_out"),
    ("interrupted", lambda raw: raw["status"] == "interrupted"),
    ("unfinished", lambda raw: raw["status"] == "started"),
    ("cancelled", lambda raw: raw["status"] == "cancelled"),
    ("failed or blocked", lambda raw: raw["status"] in (*FAILED, "blocked")),
    *[("", lambda _raw: True)] * 7,
)
PLACES: tuple[Named, ...] = (
    ("by agent night", lambda raw: raw["agent"] == "night"),
    ("of agent desk", lambda raw: raw["agent"] == "desk"),
    ("in session s-3", lambda raw: raw["session"] == "s-3"),
    ('containing "travel insurance"', lambda raw: "travel insurance" in raw["text"]),
    ("about insurance", lambda raw: "insurance" in raw["text"]),
    ("except in session s-3", lambda raw: raw["session"] != "s-3"),
    ('without "insurance"', lambda raw: "insurance" not in raw["text"]),
    *[("", lambda _raw: True)] * 6,
)
WINDOWS: tuple[tuple[str, str, str], ...] = (
    ("yesterday", "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"),
    ("today", "2026-10-26T00:00:00+01:00", NOW),
    ("last week", "2026-10-19T00:00:00+02:00", "2026-10-26T00:00:00+01:00"),
    ("this week", "2026-10-26T00:00:00+01:00", NOW),
    ("last night", "2026-10-25T18:00:00+01:00", "2026-10-26T06:00:00+01:00"),
    ("this morning", "2026-10-26T00:00:00+01:00", NOW),
    ("yesterday evening", "2026-10-25T18:00:00+01:00", "2026-10-26T00:00:00+01:00"),
    ("yesterday morning", "2026-10-25T00:00:00+02:00", "2026-10-25T12:00:00+01:00"),
    ("the day before yesterday", "2026-10-24T00:00:00+02:00", "2026-10-25T00:00:00+02:00"),
    ("in the last 36 hours", "2026-10-24T22:00:00+02:00", NOW),
    ("in the last 3 days", "2026-10-23T09:00:00+02:00", NOW),
    ("past 2 weeks", "2026-10-12T09:00:00+02:00", NOW),
    ("since tuesday", "2026-10-20T00:00:00+02:00", NOW),
    ("on saturday", "2026-10-24T00:00:00+02:00", "2026-10-25T00:00:00+02:00"),
    ("on monday", "2026-10-26T00:00:00+01:00", NOW),
    ("last monday", "2026-10-19T00:00:00+02:00", "2026-10-20T00:00:00+02:00"),
    ("in october", "2026-10-01T00:00:00+02:00", NOW),
    ("in september", "2026-09-01T00:00:00+02:00", "2026-10-01T00:00:00+02:00"),
    ("last month", "2026-09-01T00:00:00+02:00", "2026-10-01T00:00:00+02:00"),
    ("on 25 october", "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"),
    ("on the 23rd", "2026-10-23T00:00:00+02:00", "2026-10-24T00:00:00+02:00"),
    ("on 2026-10-22", "2026-10-22T00:00:00+02:00", "2026-10-23T00:00:00+02:00"),
    ("between monday and wednesday 14:00", "2026-10-19T00:00:00+02:00", "2026-10-21T14:00:00+02:00"),
    ("between 20 and 22 october", "2026-10-20T00:00:00+02:00", "2026-10-23T00:00:00+02:00"),
    ("from friday to sunday", "2026-10-23T00:00:00+02:00", "2026-10-26T00:00:00+01:00"),
    ("since 2026-10-25 18:00 until 2026-10-26 06:00", "2026-10-25T18:00:00+01:00", "2026-10-26T06:00:00+01:00"),
    ("yesterday before 9:40", "2026-10-25T00:00:00+02:00", "2026-10-25T09:40:00+01:00"),
    ("yesterday between 2 and 4 pm", "2026-10-25T14:00:00+01:00", "2026-10-25T16:00:00+01:00"),
    ("before october", "1970-01-01T00:00:00+01:00", "2026-10-01T00:00:00+02:00"),
    ("after 20 october", "2026-10-21T00:00:00+02:00", NOW),
    ("on the weekend", "2026-10-24T00:00:00+02:00", "2026-10-26T00:00:00+01:00"),
    ("tomorrow", NOW, NOW),
    ("", "1970-01-01T00:00:00+01:00", NOW),
)
SHAPES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("", "", {}),
    ("show me all ", "", {}),
    ("how many ", "", {}),
    ("how many ", " per day", {"by": "day"}),
    ("count ", " by tool", {"by": "tool"}),
    ("number of ", " per agent", {"by": "agent"}),
    ("", " by session", {"by": "session"}),
    ("how many ", " by hour", {"by": "hour"}),
    ("the last 5 ", "", {"take": 5}),
    ("first 3 ", "", {"take": 3, "order": "oldest"}),
    ("slowest ", "", {"order": "slowest"}),
    ("the 4 slowest ", "", {"take": 4, "order": "slowest"}),
)


def forms(seed: int = 11, number: int = 600) -> Iterator[Form]:
    """Yield forms across the grammar: every window, noun, adjective, place and shape several times, mixed by chance."""
    chance = random.Random(seed)
    parts = [
        list(itertools.islice(_shuffled(table, chance), number))
        for table in (NOUNS, ADJECTIVES, PLACES, WINDOWS, SHAPES)
    ]
    for noun, adjective, place, window, shape in zip(*parts, strict=True):
        yield _form(noun, adjective, place, window, shape)
    yield from _more()


def _shuffled(table: tuple[Any, ...], chance: random.Random) -> Iterator[Any]:
    while True:
        yield from chance.sample(table, len(table))


def _form(noun: Any, adjective: Any, place: Any, window: Any, shape: Any) -> Form:
    begin, end = at(window[1]), at(window[2])
    before, after, asked = shape
    words = " ".join(part for part in (adjective[0], noun[0], place[0]) if part)
    question = f"{before}{words}{after} {window[0]}".strip()

    def wanted(raw: Raw) -> bool:
        return begin <= raw["at"] < end and noun[1](raw) and adjective[1](raw) and place[1](raw)

    return Form(question, wanted, **asked)


def _is_deed(raw: Raw) -> bool:
    """Tell whether the agent did it: neither said by the user, nor a start or stop."""
    return raw["type"] not in ("session", "gateway") and not (raw["type"] == "message" and raw["actor"] == "user")


def _more() -> Iterator[Form]:
    """Yield forms that no mixture makes."""
    yesterday = (at("2026-10-25T00:00:00+02:00"), at("2026-10-26T00:00:00+01:00"))
    week = (at("2026-10-19T00:00:00+02:00"), at("2026-10-26T00:00:00+01:00"))

    def within(window: tuple[int, int], test: Callable[[Raw], bool]) -> Callable[[Raw], bool]:
        return lambda raw: window[0] <= raw["at"] < window[1] and test(raw)

    def is_error(raw: Raw) -> bool:
        return raw["type"] == "error" or raw["status"] in FAILED

    yield Form("what happened yesterday?", within(yesterday, lambda _raw: True))
    yield Form("what did the agent do yesterday", within(yesterday, _is_deed))
    yield Form(
        "what did i ask last week", within(week, lambda raw: raw["type"] == "message" and raw["actor"] == "user")
    )
    yield Form("what went wrong last week?", within(week, is_error))
    yield Form("did anything fail yesterday", within(yesterday, lambda raw: raw["status"] in FAILED))
    yield Form(
        "did the backup run last week", within(week, lambda raw: "backup" in raw["text"] and raw["type"] != "message")
    )
    yield Form(
        "did the nightly backup run last week",
        within(week, lambda raw: "nightly backup" in raw["text"] and raw["type"] != "message"),
    )
    yield Form("number of sessions last week", within(week, lambda _raw: True), count="session")
    yield Form("how many sessions had errors last week", within(week, is_error), count="session")
    yield Form(
        "how many tools failed last week",
        within(week, lambda raw: raw["tool"] != "" and raw["status"] in FAILED),
        count="tool",
    )
    yield Form(
        "which tools failed last week",
        within(week, lambda raw: raw["tool"] != "" and raw["status"] in FAILED),
        by="tool",
    )
    yield Form("which agent had the most errors last week", within(week, is_error), by="agent")
    yield Form("the last failed tool call", lambda raw: raw["tool"] != "" and raw["status"] in FAILED, take=1)
    yield Form(
        "the slowest exec call last week", within(week, lambda raw: raw["tool"] == "exec"), take=1, order="slowest"
    )
    yield Form("messages and runs yesterday", within(yesterday, lambda raw: raw["type"] in ("message", "run")))
    yield Form(
        "tool calls except exec and read yesterday",
        within(yesterday, lambda raw: raw["tool"] in ("think", "book_reservation")),
    )
    yield Form(
        "tool calls that did not succeed yesterday",
        within(yesterday, lambda raw: raw["tool"] != "" and raw["status"] != "succeeded"),
    )
