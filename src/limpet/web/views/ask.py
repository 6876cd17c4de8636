"""One question: what was understood of it, its answer as a table, and its counts over time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from limpet import days
from limpet.errors import BadInput, NotUnderstood
from limpet.question import pieces
from limpet.question.vocabulary import WINDOWS
from limpet.web import charts
from limpet.web.charts import Column
from limpet.web.rows import row_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from limpet.model import Answer, Query
    from limpet.web.clocks import Clocks
    from limpet.web.reading import Reader

SHOWN = 50
EVERYTHING = "everything"
EXAMPLES = (
    "failed tool calls yesterday",
    "what did the agent do last night",
    "how many tool calls per day this week",
    "slowest tool calls today",
    "type:message actor:user on:today",
)
SPANS = ("hour", "day", "week", "month")
SMALL = 20_000
"""The chart of more events than these comes after the answer."""

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
MOST_COLUMNS = 120
MOST_GROUPS = 200
NAMED = frozenset({"type", "status", "tool", "agent", "session", "run", "trust", "source", "label", "actor"})
"""Groups whose names are filters: each can be asked for by itself."""


def view(memory: Reader, given: Mapping[str, Any], clocks: Clocks) -> Mapping[str, Any]:
    """Return what the page of one question shows; without a question, examples."""
    said = given["q"]
    if not said.strip():
        return {"q": "", "examples": EXAMPLES, "answer": None, "problem": None}
    memory.head()  # a memory that cannot be read is no fault of the question
    try:
        query = memory.understood(said, given["now"])
    except (NotUnderstood, BadInput) as problem:
        hint = problem.hint.partition("Try: ")
        return {"q": said, "examples": EXAMPLES, "answer": None, "problem": problem, "hint": hint[::2], "status": 400}
    query = replace(query, limit=given["limit"] or query.limit, offset=given["offset"] or query.offset)
    parts = pieces(query)
    return {
        "q": said,
        "examples": (),
        "problem": None,
        "query": query,
        "window": _window(query, clocks),
        "understood": [(part, _without(parts, number)) for number, part in enumerate(parts)],
        "exported": urlencode({**_same({**given, "limit": 0}), "tz": clocks.zone}),
        "answer": lambda: _answer(memory, query, _same(given), parts, clocks),
    }


def _same(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what an address carries on that leads to another part of the same answer."""
    now = {"now": days.show(given["now"], "UTC")} if given["now"] is not None else {}
    return {"q": given["q"], **now, **{name: given[name] for name in ("tz", "limit") if given[name]}}


def _answer(
    memory: Reader, query: Query, same: Mapping[str, Any], parts: Sequence[str], clocks: Clocks
) -> Mapping[str, Any]:
    """Return the answer: how many, the groups, the events, and its chart where that is made in a moment."""
    # To look for words takes long, and it is done once for the answer and for its chart.
    at_once = _timed(query) if query.words or query.without else []
    found, *over_time = memory.parts([query, *at_once])
    if _is_small(found) and not over_time:
        over_time = list(memory.parts(_timed(query)))
    return {
        "found": replace(found, coverage=memory.completeness(query)),
        "rows": [row_of(event, clocks) for event in found.events],
        "groups": list(_groups(found, parts)),
        "more_groups": max(0, len(found.groups) - MOST_GROUPS),
        "chart": _chart(query, over_time, clocks),
        "chart_later": not over_time and _is_drawn(query),
        "pages": _pages(same, found),
    }


def chart(memory: Reader, given: Mapping[str, Any], clocks: Clocks) -> Mapping[str, Any]:
    """Return the chart of a question alone: what is large comes after its answer."""
    query = memory.understood(given["q"], given["now"])
    return {"chart": _chart(query, memory.parts(_timed(query)), clocks)}


def _is_small(found: Answer) -> bool:
    return bool(found.query.by) or found.count <= SMALL


def _is_drawn(query: Query) -> bool:
    """Whether the counts over time say anything about this question."""
    return not query.count and not query.take and query.by in ("", *SPANS)


def _without(parts: Sequence[str], number: int) -> str:
    return " ".join([*parts[:number], *parts[number + 1 :]]) or EVERYTHING


def _window(query: Query, clocks: Clocks) -> tuple[str, str]:
    """Return the bounds for people, "" where there is none."""
    since, until = (clocks.moment(at) if at is not None else "" for at in (query.since_ms, query.until_ms))
    return since, until


def _pages(same: Mapping[str, Any], found: Answer) -> Mapping[str, str]:
    """Return the addresses of the page before and the page after, as far as there are any."""
    query, shown = found.query, len(found.events)
    step = query.limit or SHOWN
    pages = {"before": "", "after": ""}
    if query.offset:
        pages["before"] = urlencode({**same, "offset": max(0, query.offset - step)})
    if shown and query.offset + shown < found.count:
        pages["after"] = urlencode({**same, "offset": query.offset + shown})
    return pages


def _groups(found: Answer, parts: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield each group with how many it has, its share of the largest, and the question for it alone."""
    by = found.query.count or found.query.by
    most = max((n for _, n in found.groups), default=1)
    for name, n in found.groups[:MOST_GROUPS]:
        yield {"name": name, "count": n, "share": round(100 * n / most, 2), "question": _question(by, name, parts)}


def _question(by: str, name: str, parts: Sequence[str]) -> str:
    rest = [part for part in parts if not part.startswith(("by:", "count:", "take:", "limit:"))]
    if by in NAMED and name and not any(c in name for c in '" ,'):
        return " ".join([*rest, f"{by}:{name}"])
    if by == "day":
        return " ".join([*(part for part in rest if part.partition(":")[0] not in WINDOWS), f"on:{name}"])
    return ""


def _timed(query: Query) -> Sequence[Query]:
    """Return the questions for the counts over time, all and failures; none where they would say nothing."""
    if not _is_drawn(query):
        return []
    every = replace(query, by=query.by or _span(query), offset=0)
    return [every, replace(every, filters=(*every.filters, ("is", ("error",), False)))]


def _chart(query: Query, over_time: Sequence[Answer], clocks: Clocks) -> Mapping[str, Any] | None:
    """Return the counts over time, failures apart; None where there is nothing to draw."""
    if not over_time or not over_time[0].groups:
        return None
    by = over_time[0].query.by
    every, bad = (dict(answer.groups) for answer in over_time)
    keys = list(_keys(every, query, by, clocks))
    if by == "day" and len(keys) > MOST_COLUMNS:
        by, every, bad = "month", _by_month(every), _by_month(bad)
        keys = list(every)
    if len(keys) < 2 or len(keys) > 6 * MOST_COLUMNS:
        return None
    columns = [Column(key, {"fine": every.get(key, 0) - bad.get(key, 0), "failed": bad.get(key, 0)}) for key in keys]
    most = max(column.total for column in columns)
    return {"bars": charts.columns(columns), "by": by, "first": _short(keys[0]), "last": _short(keys[-1]), "most": most}


def _by_month(found: Mapping[str, int]) -> dict[str, int]:
    months: Counter[str] = Counter()
    for day in sorted(found):
        months[day[:7]] += found[day]
    return dict(months)


def _span(query: Query) -> str:
    """Return what a column stands for, so that there are neither too few nor too many."""
    since, until = query.since_ms, query.until_ms
    return "hour" if since is not None and until is not None and until - since <= 3 * DAY_MS else "day"


def _keys(found: Mapping[str, int], query: Query, by: str, clocks: Clocks) -> Iterator[str]:
    """Yield the name of every column, those without events too."""
    if not found:
        return
    if by == "hour" and query.since_ms is not None and query.until_ms is not None:
        for at in range(query.since_ms // HOUR_MS * HOUR_MS, query.until_ms, HOUR_MS):
            shown = days.show(at, clocks.zone)
            yield f"{shown[:13]}:00{shown[23:]}"
    elif by in ("day", "week"):
        step = timedelta(days=7 if by == "week" else 1)
        day, last = date.fromisoformat(min(found)), date.fromisoformat(max(found))
        while day <= last:
            yield day.isoformat()
            day += step
    else:
        yield from sorted(found)


def _short(key: str) -> str:
    return key[:16].replace("T", " ")
