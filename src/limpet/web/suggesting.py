"""How a question might go on, from what was typed so far: filters, their values, and whole questions. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from limpet.model import STATUSES, TRUSTS, TYPES
from limpet.question.vocabulary import CHOICES, FILTER_NAMES, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

MOST = 8
TIMES = ("today", "yesterday", "this-week", "last-week", "this-month", "24h", "7d")
WHOLE = (
    "failed tool calls today",
    "failed tool calls yesterday",
    "errors this week",
    "what did the agent do last night",
    "what did the agent do yesterday",
    "how many tool calls per day this week",
    "how many tool calls per tool today",
    "how many tool calls per hour today",
    "slowest tool calls today",
    "last 10 messages",
    "sessions today",
    "interrupted runs this week",
    "cron jobs yesterday",
)
VALUES: Mapping[str, Sequence[str]] = {
    "type": TYPES,
    "status": STATUSES,
    "trust": TRUSTS,
    "is": ("error",),
    "actor": ("user", "agent", "system"),
    **CHOICES,
    **dict.fromkeys(WINDOWS, TIMES),
}


def of(said: str, names: Mapping[str, Collection[str]]) -> Sequence[Mapping[str, str]]:
    """Return up to MOST ways to go on: `q`, the whole question, and `part`, what is new about it."""
    found = dict.fromkeys((q, part) for q, part in (*_words(said, names), *_questions(said)) if q != said)
    return [{"q": q, "part": part} for q, part in list(found)[:MOST]]


def _questions(said: str) -> Iterator[tuple[str, str]]:
    """Yield whole questions in which every word stands that was typed."""
    words = said.lower().split()
    yield from ((one, one) for one in WHOLE if all(word in one for word in words))


def _words(said: str, names: Mapping[str, Collection[str]]) -> Iterator[tuple[str, str]]:
    """Yield the question with its last word completed."""
    before, space, word = said.rpartition(" ")
    sign = "-" if word.startswith("-") else ""
    name, colon, value = word.removeprefix("-").partition(":")
    if colon and name in FILTER_NAMES:
        given, comma, last = value.rpartition(",")
        for one in (*VALUES.get(name, ()), *sorted(names.get(name, ()))):
            if one.startswith(last) and not any(c in one for c in '" ,'):
                yield f"{before}{space}{sign}{name}:{given}{comma}{one}", f"{name}:{one}"
    elif name:
        for one in FILTER_NAMES:
            if one.startswith(name.lower()):
                yield f"{before}{space}{sign}{one}:", f"{one}:"
        for kind in ("tool", "agent"):
            for one in sorted(names.get(kind, ())):
                if one.startswith(name) and not any(c in one for c in '" ,'):
                    yield f"{before}{space}{sign}{kind}:{one}", f"{kind}:{one}"
