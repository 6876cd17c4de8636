"""What records mean: the same events in any order, any split and any repetition, from one witness or two."""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from limpet.model import Batch, Query
from limpet.quarantine import Quarantine
from limpet.recorder import Recorder
from limpet.redact import Redactor
from limpet.store.sqlite import SqliteStore
from limpet.verification import verify
from story import Story, cut, stories

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from limpet.model import Event, Record

HOOKS, TRANSCRIPTS = "openclaw.hooks", "openclaw.transcripts"
SLOW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def events_of(batches: Iterable[Sequence[Record]], *, rebuilt: bool = False) -> list[Event]:
    """Record these batches into a store of their own and return every event, oldest first."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        with closing(SqliteStore(path / "m.db", writing=True)) as store:
            recorder = Recorder(store, Redactor(b"key"), Quarantine(path / "quarantine"))
            for batch in batches:
                recorder.commit("test", Batch(tuple(batch)), 0)
            if rebuilt:
                recorder.rebuild(lambda _: None)
            return store.find.page(Query(sort="oldest", limit=100_000, noise=True))


def meaning(events: Iterable[Event]) -> Counter[Any]:
    """Return the events without what tells of the order of arrival: their numbers, and the ties that follow from them."""
    return Counter(repr(replace(event, id=0, places=(), arrived_ms=0)) for event in events)


def kinds(events: Iterable[Event], kind: str) -> list[tuple[str, str]]:
    """Return (call, run or actor; status or text) of the events of a type, sorted."""
    return sorted(
        {
            "tool_call": lambda e: (e.call, e.status),
            "run": lambda e: (e.run, e.status),
            "message": lambda e: (e.actor, e.summary),
        }[kind](event)
        for event in events
        if event.type == kind
    )


@SLOW
@given(stories(), st.randoms(use_true_random=False), st.lists(st.integers(1, 20), max_size=12))
def test_the_same_records_in_any_order_and_any_split_give_the_same_events(
    story: Story, chance: Any, sizes: list[int]
) -> None:
    """Shuffled, cut anywhere, a fifth of them told again: the events are those of one batch in order."""
    records = story.records()
    shuffled = records + chance.sample(records, len(records) // 5)
    chance.shuffle(shuffled)
    assert meaning(events_of([records])) == meaning(events_of(cut(shuffled, sizes)))


@SLOW
@given(stories(), st.lists(st.integers(1, 20), max_size=12))
def test_rebuilding_from_the_ledger_gives_the_same_events_with_the_same_numbers(story: Story, sizes: list[int]) -> None:
    """What was made bit by bit equals what the whole ledger makes at once."""
    batches = cut(story.records(), sizes)
    assert events_of(batches) == events_of(batches, rebuilt=True)


@SLOW
@given(stories(), st.randoms(use_true_random=False), st.lists(st.integers(1, 20), max_size=12))
def test_what_was_made_bit_by_bit_has_no_fault(story: Story, chance: Any, sizes: list[int]) -> None:
    """`verify` makes everything again from the ledger, and finds in any history, however it was split, the same."""
    records = story.records()
    shuffled = records + chance.sample(records, len(records) // 5)
    chance.shuffle(shuffled)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        with closing(SqliteStore(path / "m.db", writing=True)) as store:
            recorder = Recorder(store, Redactor(b"key"), Quarantine(path / "quarantine"))
            for batch in cut(shuffled, sizes):
                recorder.commit("test", Batch(tuple(batch)), 0)
                recorder.index()
            while recorder.index():
                pass
            with store.snapshot_of_both():
                assert verify(store, lambda _: None).faults == ()


@SLOW
@given(stories())
def test_two_witnesses_and_each_of_them_alone_tell_every_call_message_and_run_once(story: Story) -> None:
    """Nothing is doubled when both tell, and nothing is missing when one is silent."""
    records = story.records()
    for sources in ({HOOKS, TRANSCRIPTS}, {HOOKS}, {TRANSCRIPTS}):
        events = events_of([[record for record in records if record.source in sources]])
        assert sorted(story.calls) == kinds(events, "tool_call"), sources
        assert sorted(story.messages) == kinds(events, "message"), sources
        assert sorted(story.runs) == kinds(events, "run"), sources


@SLOW
@given(stories())
def test_what_both_witnesses_saw_says_so(story: Story) -> None:
    """A tool call that both told of names both as its sources."""
    events = events_of([story.records()])
    assert {(HOOKS, TRANSCRIPTS)} >= {event.sources for event in events if event.type == "tool_call"}
