"""The counts by day: they are those of the events, whatever happened to these, and answers by them are exact."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab import NOON, Lab, call, hook
from limpet.model import Query
from limpet.store.rollup import DAY_MS, whole_days

if TYPE_CHECKING:
    from pathlib import Path

DAYS = 12


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """Make a memory of some days: three agents, four tools, one call of five failed, some without an end."""
    lab = Lab(tmp_path_factory.mktemp("weeks"))
    lines = []
    for number in range(400):
        at = number * DAYS * DAY_MS // 400
        ctx = {"agentId": ("main", "press", "booking")[number % 3], "runId": f"r-{number // 9}"}
        error = {"error": "it broke"} if number % 5 == 0 else {}
        lines.append(call(f"c-{number}", at, f"tool-{number % 4}", begins=number % 11 == 0, ctx=ctx, **error))
        if number % 7 == 0:
            lines.append(hook("message_received", {"role": "user", "content": f"say {number}"}, at + 1, **ctx))
    lab.take(lines)
    return lab


def counted_one_by_one(lab: Lab, query: Query) -> int:
    """Count by looking at each event."""
    with lab.store() as store:
        pages = store.find.page(replace(query, since_ms=None, until_ms=None, limit=10_000))
    since, until = query.since_ms, query.until_ms
    return sum((since is None or since <= e.at_ms) and (until is None or e.at_ms < until) for e in pages)


EDGES = st.none() | st.integers(-DAY_MS, (DAYS + 1) * DAY_MS).map(lambda ms: NOON + ms)
FILTERS = st.lists(
    st.sampled_from(
        [("type", ("tool_call",), False), ("status", ("failed", "started"), False), ("tool", ("tool-1",), True),
         ("agent", ("press",), False), ("agent", ("nobody",), False), ("is", ("error",), False), ("type", ("message",), True)]
    ), max_size=3,
)  # fmt: skip


@given(EDGES, EDGES, FILTERS)
@settings(deadline=None, max_examples=150)
def test_any_window_has_as_many_events_as_there_are(weeks: Lab, since: int | None, until: int | None, filters) -> None:
    """Whole days by the rollup and the rest by itself, against one look at each event."""
    query = Query(since_ms=since, until_ms=until, filters=tuple(filters), noise=True)
    wanted = counted_one_by_one(weeks, query)
    with weeks.store() as store:
        assert wanted == store.find.count(query)
        for by in ("type", "status", "tool", "agent", "label"):
            assert wanted == sum(n for _, n in store.find.groups(replace(query, by=by)))


@given(EDGES, EDGES)
def test_the_days_and_what_is_left_of_a_window_are_the_window(since: int | None, until: int | None) -> None:
    """Without a gap and without an overlap."""
    found = whole_days(Query(since_ms=since, until_ms=until))
    if found is None:
        return
    spans = sorted((e.since_ms or -(1 << 60), e.until_ms or 1 << 60) for e in found.edges)
    spans.insert(since is not None and since % DAY_MS > 0, (found.first * DAY_MS, found.end * DAY_MS))
    assert all(one[1] == other[0] for one, other in itertools.pairwise(spans))
    assert since is None or spans[0][0] == since
    assert until is None or spans[-1][1] == until


def test_what_changes_is_counted_anew(tmp_path: Path) -> None:
    """A call that ends, a run that ends without it, a rebuild: the counts are those of the events all the time."""
    lab = Lab(tmp_path)
    for lines in (
        [call("c-1", begins=True), call("c-2", 5, begins=True)],
        [call("c-1", 10, error="it broke")],
        [hook("agent_end", {"success": True}, 20)],
        [hook("gateway_start", {"port": 1}, 30, sessionId="", runId="")],
    ):
        lab.take(lines, producer=f"p-{len(lab.records()) if lab.db.exists() else 0}")
        with lab.store() as store:
            assert store.find.miscounted_days() == []
    assert lab.limpet("rebuild").status == 0
    with lab.store() as store:
        assert store.find.miscounted_days() == []
        assert len(lab.events()) == store.find.count(Query(noise=True))
