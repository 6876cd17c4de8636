"""Field cases of time: units, zones, times that cannot be, and many things in the same millisecond."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab import NOON, Lab, call, hook, iso, message
from limpet import days
from limpet.runtimes.saying import saying_of
from limpet.spool.line import record_of

AT = NOON + 12_345
"""An instant whose milliseconds are not zero: 2026-06-01T12:00:12.345Z."""

SAME_INSTANT = [
    AT,
    AT / 1000,
    AT * 1000,
    AT * 1_000_000,
    str(AT),
    str(AT * 1000),
    f"{AT / 1000:.3f}",
    "2026-06-01T12:00:12.345Z",
    "2026-06-01T12:00:12.345z",
    "2026-06-01t12:00:12.345Z",
    "2026-06-01 12:00:12.345+00:00",
    "2026-06-01T14:00:12.345+02:00",
    "2026-06-01T17:45:12.345+05:45",
    "2026-05-31T23:00:12.345-13:00",
    "20260601T120012.345Z",
    " 2026-06-01T12:00:12.345Z ",
]


def at_of(lab: Lab, *times: object, **fields: object) -> list[tuple[int, tuple[str, ...]]]:
    """Return time and flags of an event for each `ts`, in the order given."""
    lines = [{**hook("gateway_start", {"n": n}), "ts": ts, **fields} for n, ts in enumerate(times)]
    return [(event.at_ms, event.flags) for event in sorted(lab.take(lines), key=lambda event: event.id)]


# Field case F22: units


def test_an_instant_is_the_same_in_every_unit_and_spelling(lab: Lab):
    """Seconds, milliseconds, microseconds, nanoseconds, digits in a text and ISO 8601 with any offset (field case F22)."""
    assert at_of(lab, *SAME_INSTANT) == [(AT, ())] * len(SAME_INSTANT)


def test_whole_seconds_are_the_same_second(lab: Lab):
    """An integer of seconds is no integer of milliseconds: not 1970."""
    assert at_of(lab, AT // 1000, str(AT // 1000)) == [(AT // 1000 * 1000, ())] * 2


IMPOSSIBLE = [0, 1, -1, 10**25, -AT, 1e300, 3.5, "1970-01-01T00:00:00Z", "0001-01-01", "9999-12-31T23:59:59Z", "55139-01-01T00:00:00Z", 12345, 10**11]  # fmt: skip


@pytest.mark.parametrize("said", IMPOSSIBLE)
def test_a_time_that_cannot_be_is_placed_by_arrival_and_flagged(lab: Lab, said: object):
    """Nothing is thrown away, nothing lands in 1970 or in the year 55139; what was said stays in the record."""
    before = days_now()
    ((at_ms, flags),) = at_of(lab, said)
    assert before <= at_ms <= days_now()
    assert flags in (("time_out_of_range",), ("time_unreadable",))
    assert lab.records()[0].body["ts"] == said


def days_now() -> int:
    """Return the wall clock in epoch milliseconds."""
    return int(datetime.now(UTC).timestamp() * 1000)


@given(st.integers(days.EARLIEST_MS + 10**9, days.LATEST_MS - 10**9))
def test_any_instant_of_our_time_is_read_the_same_in_every_unit(at: int):
    """Between 1990 and 2100 each number has one unit that makes it an instant."""
    given_as = [
        at,
        at * 1000,
        at * 1_000_000,
        str(at),
        datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds"),
    ]
    assert [
        saying_of(record_of(json.dumps({"hook": "x", "ts": said}).encode(), "p", 1, NOON)).at_ms for said in given_as
    ] == [at] * 5


@given(st.datetimes(datetime(1995, 1, 1), datetime(2095, 1, 1)), st.integers(-14 * 60, 14 * 60))  # noqa: DTZ001
def test_any_offset_is_taken_into_account(local: datetime, minutes: int):
    """The same wall clock in two zones is two instants, as far apart as the zones."""
    aware = local.replace(microsecond=local.microsecond // 1000 * 1000, tzinfo=timezone(timedelta(minutes=minutes)))
    expected = round((aware - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))
    record = record_of(json.dumps({"hook": "x", "ts": aware.isoformat()}).encode(), "p", 1, NOON)
    assert saying_of(record).at_ms == expected


# Field case F23: times with and without a zone


ODD_TIMES = {
    "2026-06-01T12:00:00Z": (NOON, ()),
    "2026-06-01T12:00:00": (NOON, ("naive_time",)),
    "2026-06-01 12:00:00": (NOON, ("naive_time",)),
    "2026-06-01T17:30:00+05:30": (NOON, ()),
    "2026-06-01T12:00:00+0000": (NOON, ()),
    "2026-06-01": (NOON - 12 * 3_600_000, ("naive_time",)),
}


def test_times_with_and_without_a_zone_stand_side_by_side(lab: Lab):
    """A time without a zone is UTC, which is documented, and says so by a flag (field case F23)."""
    assert at_of(lab, *ODD_TIMES) == list(ODD_TIMES.values())


@pytest.mark.parametrize(
    "said", ["", "   ", "not a date", "yesterday", None, "2026-13-45T99:00:00Z", "2026-02-30", "T12:00", "x" * 5000]
)
def test_a_time_that_cannot_be_read_is_that_of_the_arrival(lab: Lab, said: object):
    """Empty, words, null and dates that no calendar has: flagged, stored, found."""
    before = days_now()
    ((at_ms, flags),) = at_of(lab, said)
    assert (before <= at_ms <= days_now(), flags) == (True, ("time_unreadable",))
    assert lab.limpet("recent", "--json").json["count"] == 1


def test_every_one_of_them_can_be_asked_for(lab: Lab):
    """Mixed times raise nowhere: by window, by session, in every form of answer."""
    said = [*ODD_TIMES, "", "not a date", None, 5, "2026-06-01T12:00:00.123456789Z"]
    lab.take([{**hook("agent_end", {"success": True, "n": n}), "ts": ts} for n, ts in enumerate(said)])
    assert sum(len(event.places) or 1 for event in lab.events("run")) >= 1
    lab2 = [{**hook("gateway_start", {"n": n}), "ts": ts} for n, ts in enumerate(said)]
    lab.take(lab2, producer="second")
    assert len(lab.events("gateway")) == len(said)
    for form in ("--json", "--csv"):
        assert lab.limpet("recent", "--hours", "100000", form).status == 0
    assert lab.limpet("session", "s-1", "--json").status == 0


def test_a_message_keeps_its_own_time_when_the_line_has_none(lab: Lab):
    """The message's timestamp places it; a line's missing time is not held against it."""
    said = {"role": "assistant", "content": "on my way", "timestamp": AT, "responseId": "x"}
    line = {**hook("before_message_write", {"message": said}), "ts": None}
    (event,) = lab.take([line])
    assert (event.at_ms, event.flags) == (AT, ())


def test_a_transcript_entry_without_a_readable_time_takes_its_messages(lab: Lab):
    """Entry time, else the message's own, else arrival with a flag."""
    entry = {"type": "message", "id": "e1", "message": {"role": "user", "content": "one", "timestamp": AT}}
    other = {"type": "message", "id": "e2", "timestamp": "soon", "message": {"role": "user", "content": "two"}}
    lab.imported(lab.file("s-1.jsonl", [{"type": "session", "id": "s-1", "timestamp": iso()}, entry, other]))
    one, two = sorted(lab.events("message"), key=lambda event: event.id)
    assert (one.at_ms, one.flags) == (AT, ())
    assert two.flags == ("time_unreadable",)


# Field case F24: the same millisecond


def many(n: int, at: int = 0) -> list[dict]:
    """Return n calls that ended in the same millisecond."""
    return [call(f"s{i}", at, tool="process", params={"n": i}) for i in range(1, n + 1)]


def shown(lab: Lab, *arguments: str) -> list[str]:
    """Return the calls that `recent` shows, in its order."""
    found = lab.limpet("recent", "--json", "--now", iso(1000), *arguments).json["events"]
    return [event["call"] for event in found]


def test_the_newest_of_one_millisecond_are_the_last_that_came(lab: Lab):
    """The newest 8 of 9 are s9 to s2, on every read, and the export has them in order of arrival (field case F24)."""
    lab.take(many(9))
    assert shown(lab, "--limit", "8") == [f"s{i}" for i in range(9, 1, -1)]
    assert shown(lab, "--limit", "8") == [f"s{i}" for i in range(9, 1, -1)]
    assert [json.loads(line)["call"] for line in lab.limpet("export").out.splitlines()] == [
        f"s{i}" for i in range(1, 10)
    ]


def test_an_event_that_learns_more_keeps_its_place(lab: Lab):
    """A second witness of one of them changes neither the order nor what is shown."""
    lab.take(many(9))
    again = [
        call("s4", 0, tool="process", params={"n": 4}, durationMs=31, result="fuller"),
        call("s1", 3, tool="process", params={"n": 1}),
    ]
    lab.take(again, producer="later")
    assert shown(lab, "--limit", "8") == [f"s{i}" for i in range(9, 1, -1)]
    with lab.recording() as recording:
        recording.recorder.rebuild(lambda _: None)
    assert shown(lab, "--limit", "8") == [f"s{i}" for i in range(9, 1, -1)]


def test_the_order_holds_over_batches_and_many_more(lab: Lab):
    """Three thousand of one millisecond, in two segments and several batches, stay in order of arrival."""
    lines = many(3000)
    lab.spool(lines[:1500], segment=1)
    lab.drain()
    lab.spool(lines[1500:], segment=2)
    lab.drain()
    assert [event.call for event in lab.events()] == [f"s{i}" for i in range(1, 3001)]


def test_the_order_holds_when_events_of_other_records_lie_between(lab: Lab):
    """Records that make several events, and records that make none, do not disturb the order."""
    lines: list[dict] = []
    for i in range(1, 60):
        blocks = [{"type": "toolCall", "id": f"b{i}-{k}", "name": "read", "arguments": {}} for k in range(i % 5)]
        said = {
            "role": "assistant",
            "content": [{"type": "text", "text": f"m{i}"}, *blocks],
            "timestamp": NOON,
            "responseId": f"x{i}",
        }
        lines += [hook("before_message_write", {"message": said}), hook("limpet_beat"), call(f"s{i}")]
    lab.take(lines)
    assert [event.call for event in lab.events("tool_call") if event.call.startswith("s")] == [
        f"s{i}" for i in range(1, 60)
    ]
    assert [event.summary for event in lab.events("message")] == [f"m{i}" for i in range(1, 60)]


def test_a_transcript_of_one_millisecond_keeps_its_order(lab: Lab):
    """Ten messages with the same timestamp come out as they stand in the file."""
    lab.imported(lab.file("s-1.jsonl", [message(i, "user", f"m{i}", 0) for i in range(10)]))
    assert [event.summary for event in lab.events("message")] == [f"m{i}" for i in range(10)]
    events = lab.limpet("session", "s-1", "--json").json["events"]
    assert [event["summary"] for event in events] == [f"m{i}" for i in range(10)]


@pytest.mark.parametrize("before", [4090, 255, 4095])
def test_the_order_holds_wherever_in_the_ledger_the_records_stand(lab: Lab, before: int):
    """The same after any number of earlier records: where numbers get another digit nothing is turned round."""
    lab.take([hook("limpet_beat", {"n": n}) for n in range(before)])
    lab.take(many(20, 5), producer="second")
    assert [event.call for event in lab.events("tool_call")] == [f"s{i}" for i in range(1, 21)]
    assert shown(lab, "--limit", "8") == [f"s{i}" for i in range(20, 12, -1)]


def test_events_that_come_to_the_same_millisecond_later_are_in_order_of_their_records(lab: Lab):
    """An earlier record whose time is learnt only afterwards does not jump to the end."""
    lab.take([call("early", 500), *many(5, 5)])
    lab.take([call("early", 5, begins=True)], producer="other")
    assert [event.call for event in lab.events()] == ["early", "s1", "s2", "s3", "s4", "s5"]


@given(st.permutations(range(6)), st.integers(0, 5))
@settings(max_examples=12, deadline=None)
def test_whatever_learns_its_time_late_stands_in_order(order: list[int], cut: int):
    """Events that come to one millisecond one after the other, in any order, stand there as their records came."""
    with TemporaryDirectory() as folder:
        lab = Lab(Path(folder))
        lab.take([call(f"c{n}", 1000 + n) for n in range(6)])
        for batch in (order[:cut], order[cut:]):
            lab.take([call(f"c{n}", 5, begins=True) for n in batch], producer=f"p{len(batch)}")
        assert [event.call for event in lab.events()] == [f"c{n}" for n in range(6)]
