"""Whatever is forgotten, of whatever history: the rest is what the ledger gives, and nothing of it is recalled again."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from limpet import amendment, burial
from limpet.erasing import Eraser, Job
from limpet.interpretation import Interpretation
from limpet.model import Batch, Query
from limpet.quarantine import Quarantine
from limpet.recorder import Recorder
from limpet.redact import Redactor
from limpet.store.sqlite import SqliteStore
from limpet.verification import verify
from story import Story, cut, stories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from limpet.model import Event

SLOW = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
LATER = 2_000_000_000_000


def events(store: SqliteStore) -> Sequence[Event]:
    """Return every event, oldest first."""
    return store.find.page(Query(sort="oldest", limit=100_000, noise=True))


def forget(store: SqliteStore, chosen: Sequence[Event]) -> None:
    """Forget these events, as `limpet forget` does, without the files around the database."""
    made = Interpretation(store)
    stones = []
    for event in chosen:
        stones += burial.tombstones_of(list(made.facts_of_events([event.id])), LATER)
    numbers = {no for event in chosen for no, _ in _places(store, event)}
    eraser = Eraser(store)
    job = Job("job", amendment.ranges_of(numbers), "forgot", LATER)
    eraser.begin(job, sorted(set(stones)))
    eraser.tidy(eraser.run(job, lambda _: None))
    eraser.end()


def _places(store: SqliteStore, event: Event) -> list[tuple[int, int]]:
    return [(place >> 12, place & 4095) for place in store.events.places([event.id])]


def faults(store: SqliteStore) -> Sequence[str]:
    """Return what `verify` finds."""
    with store.snapshot_of_both():
        return verify(store, lambda _: None).faults


@SLOW
@given(stories(), st.randoms(use_true_random=False), st.lists(st.integers(1, 20), max_size=12))
def test_whatever_is_forgotten_the_rest_is_what_the_ledger_gives_and_it_stays_forgotten(
    story: Story, chance: Any, sizes: list[int]
) -> None:
    """Some events of any history: `verify` finds no fault, and reading everything again brings none of them back."""
    records = story.records()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        with closing(SqliteStore(path / "m.db", writing=True)) as store:
            recorder = Recorder(store, Redactor(b"key"), Quarantine(path / "quarantine"))
            for batch in cut(records, sizes):
                recorder.commit("test", Batch(tuple(batch)), 0)
            before = events(store)
            chosen = chance.sample(list(before), min(len(before), chance.randint(1, 4)))
            forget(store, chosen)
            while recorder.index():
                pass
            assert faults(store) == ()
            left = events(store)
            assert {event.id for event in left}.isdisjoint({event.id for event in chosen})
            again = list(records)
            chance.shuffle(again)
            recorder.commit("test", Batch(tuple(again)), 0)
            assert events(store) == left
