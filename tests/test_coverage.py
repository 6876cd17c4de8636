"""How far an answer can be trusted: complete, partial, blind or unknown, and what `status` says of the whole."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lab import NOON
from limpet import coverage
from limpet.model import Query

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab import Lab
    from limpet.store.sqlite import SqliteStore

MINUTE = 60_000
PRODUCER = "01970000-0000-7000-8000-000000000001"


def line(seq: int, hook: str = "limpet_beat", at_ms: int | None = None) -> dict[str, Any]:
    """Return a numbered line of the plugin."""
    at = NOON + seq * MINUTE if at_ms is None else at_ms
    return {
        "v": 1,
        "id": f"{seq:032x}",
        "producer": PRODUCER,
        "seq": seq,
        "ts": at,
        "hook": hook,
        "ctx": {},
        "event": {},
    }


@contextmanager
def recorded(lab: Lab, lines: list[dict[str, Any]]) -> Iterator[SqliteStore]:
    """Record these lines and open the store."""
    lab.take(lines, PRODUCER)
    with lab.store() as store:
        yield store


def watched(now_ms: int, **more: Any) -> coverage.Watched:
    """Return a moment in which all is well, changed by `more`."""
    return coverage.Watched(**{"now_ms": now_ms, "recording": True, "plugin": True, "alive": True, **more})


def test_a_span_that_the_plugin_watched_is_complete(lab: Lab) -> None:
    """Numbers without a hole, nothing pending."""
    with recorded(lab, [line(1), line(2), line(3)]) as store:
        query = Query(since_ms=NOON + MINUTE, until_ms=NOON + 3 * MINUTE)
        assert coverage.of(store, query, watched(NOON + 3 * MINUTE)).state == "complete"


def test_a_missing_number_makes_its_span_partial_and_is_said(lab: Lab) -> None:
    """Number 2 never came."""
    with recorded(lab, [line(1), line(3)]) as store:
        found = coverage.of(store, Query(since_ms=NOON, until_ms=NOON + 9 * MINUTE), watched(NOON + 3 * MINUTE))
        assert (found.state, [gap.why for gap in found.gaps]) == ("partial", ["1 numbered event was never seen"])


def test_what_still_waits_makes_an_answer_partial(lab: Lab) -> None:
    """Bytes in the spool that nobody has read."""
    with recorded(lab, [line(1), line(2)]) as store:
        found = coverage.of(store, Query(since_ms=NOON), watched(NOON + 2 * MINUTE, pending=10))
        assert (found.state, found.pending) == ("partial", 10)


def test_imported_time_that_nobody_watched_is_unknown(lab: Lab) -> None:
    """Before the first witness nothing can be said."""
    with recorded(lab, [line(1), line(2)]) as store:
        query = Query(since_ms=NOON - 90 * MINUTE, until_ms=NOON - 60 * MINUTE)
        assert coverage.of(store, query, watched(NOON + 2 * MINUTE)).state == "unknown"


def test_events_that_the_plugin_could_not_write_are_a_gap(lab: Lab) -> None:
    """It counts them and tells when it can write again."""
    dropped = line(2, "limpet_dropped")
    dropped["event"] = {"dropped": 7, "since_ms": NOON + MINUTE, "until_ms": NOON + 2 * MINUTE, "reason": "ENOSPC"}
    with recorded(lab, [line(1), dropped]) as store:
        found = coverage.of(store, Query(since_ms=NOON), watched(NOON + 2 * MINUTE))
        assert [gap.why for gap in found.gaps] == ["7 events could not be recorded: ENOSPC"]


def test_what_came_after_the_plugin_was_taken_out_is_not_complete(lab: Lab) -> None:
    """The part that nobody watched is told of a longer window, too: it is not complete because it began watched."""
    with recorded(lab, [line(1), line(2), line(3, "limpet_stop")]) as store:
        gone = watched(NOON + 90 * MINUTE, recording=False, plugin=False, alive=False)
        states = [
            coverage.of(store, Query(since_ms=NOON + since * MINUTE, until_ms=NOON + until * MINUTE), gone).state
            for since, until in ((1, 3), (1, 90), (30, 90))
        ]
        still_there = watched(NOON + 90 * MINUTE, recording=False, alive=False)
        whole = coverage.of(store, Query(since_ms=NOON + MINUTE), still_there).state
    assert (states, whole) == (["complete", "partial", "blind"], "complete")


def test_status_is_well_only_while_the_plugin_speaks_and_somebody_listens(lab: Lab) -> None:
    """Each way in which capture may die has its own sentence."""
    with recorded(lab, [line(1), line(2)]) as store:
        soon, late = NOON + 2 * MINUTE, NOON + 9 * MINUTE
        told = {
            "recording": coverage.health(store, watched(soon)),
            "nobody listens": coverage.health(store, watched(soon, recording=False)),
            "silent": coverage.health(store, watched(late)),
            "cannot write": coverage.health(store, watched(soon, spool_fault="No space left on device")),
        }
    assert {name: health.ok for name, health in told.items()} == {
        "recording": True,
        "nobody listens": False,
        "silent": False,
        "cannot write": False,
    }
    assert "sidecar is not running" in told["nobody listens"].sentence
    assert "gone silent" in told["silent"].sentence
    assert "No space left on device" in told["cannot write"].sentence


def test_no_gateway_and_no_sidecar_is_idle_and_no_fault(lab: Lab) -> None:
    """Nothing happens, so nothing is missed."""
    with recorded(lab, [line(1), line(2, "limpet_stop")]) as store:
        health = coverage.health(store, watched(NOON + 90 * MINUTE, recording=False, alive=False))
        assert (health.ok, health.state) == (True, "idle")
