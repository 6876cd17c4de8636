"""Days: one function decides which local day an instant belongs to, and what a said time means."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from limpet import days
from limpet.errors import BadInput

BERLIN = "Europe/Berlin"
ARRIVED = 1_790_000_000_000
HOUR = 3_600_000
ZONES = (
    BERLIN, "UTC", "Asia/Shanghai", "Asia/Kathmandu", "America/Los_Angeles", "America/Sao_Paulo", "America/St_Johns",
    "America/Havana", "Africa/Cairo", "Africa/Casablanca", "Pacific/Apia", "Pacific/Auckland", "Australia/Lord_Howe",
    "Atlantic/Azores", "Asia/Beirut", "Pacific/Kwajalein",
)  # fmt: skip


def at(text: str) -> int:
    """Return the instant that an ISO time with offset names."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.parametrize(
    ("utc", "zone", "day"),
    [
        ("2026-04-11T19:53:00+00:00", "Asia/Shanghai", "2026-04-12"),
        ("2026-03-15T01:17:00+00:00", "America/Los_Angeles", "2026-03-14"),
        ("2026-04-09T00:44:38+00:00", "Asia/Jakarta", "2026-04-09"),
        ("2026-12-31T10:30:00+00:00", "Pacific/Auckland", "2026-12-31"),
        ("2026-12-31T11:30:00+00:00", "Pacific/Auckland", "2027-01-01"),
        ("2026-05-04T18:20:00+00:00", "Asia/Kathmandu", "2026-05-05"),
        ("2026-05-04T18:10:00+00:00", "Asia/Kathmandu", "2026-05-04"),
        ("2026-10-25T00:30:00+00:00", BERLIN, "2026-10-25"),
        ("2026-05-04T15:59:00+00:00", "Asia/Shanghai", "2026-05-04"),
        ("2026-05-04T16:01:00+00:00", "Asia/Shanghai", "2026-05-05"),
    ],
)
def test_an_instant_belongs_to_the_day_that_its_zone_shows(utc: str, zone: str, day: str) -> None:
    """The local day counts, not the one of UTC (field cases F19, F25)."""
    assert date.fromisoformat(day) == days.day_of(at(utc), zone)


def test_both_sides_of_local_midnight_are_two_days_whatever_the_process_zone() -> None:
    """A configured zone decides; the machine's own does not (field case F20)."""
    assert date(2026, 5, 4) == days.day_of(at("2026-05-04T21:59:59+00:00"), BERLIN)
    assert date(2026, 5, 5) == days.day_of(at("2026-05-04T22:00:00+00:00"), BERLIN)


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        (BERLIN, "2026-03-29", 23),
        (BERLIN, "2026-10-25", 25),
        (BERLIN, "2026-10-26", 24),
        ("Australia/Lord_Howe", "2026-10-04", 23.5),
        ("Australia/Lord_Howe", "2026-04-05", 24.5),
        ("America/Sao_Paulo", "2018-11-04", 23),
        ("America/Sao_Paulo", "2018-02-17", 25),
        ("Africa/Cairo", "2026-04-24", 23),
        ("Asia/Beirut", "2026-03-29", 23),
        ("America/Havana", "2026-11-01", 25),
        ("America/St_Johns", "2010-11-06", 25),
        ("Pacific/Apia", "2011-12-29", 24),
        ("Pacific/Apia", "2011-12-30", 0),
        ("Pacific/Apia", "2011-12-31", 24),
    ],
)
def test_a_day_has_as_many_hours_as_its_zone_gives_it(zone: str, day: str, hours: float) -> None:
    """23, 24 and 25 hours, half ones, and none for a day that was skipped."""
    start, end = days.window_of(date.fromisoformat(day), zone)
    assert hours == (end - start) / HOUR


def test_yesterday_after_the_clocks_went_back_is_the_window_of_25_hours() -> None:
    """25 October 2026 in Berlin begins at 22:00 UTC of the 24th and ends at 23:00 UTC (field case F21)."""
    expected = (at("2026-10-24T22:00:00+00:00"), at("2026-10-25T23:00:00+00:00"))
    assert expected == days.window_of(date(2026, 10, 25), BERLIN)


def test_a_day_without_midnight_begins_when_its_clocks_begin() -> None:
    """In Sao Paulo on 4 November 2018 the first time that clocks showed was 01:00."""
    assert at("2018-11-04T01:00:00-02:00") == days.window_of(date(2018, 11, 4), "America/Sao_Paulo")[0]


def test_a_day_begins_once_where_clocks_go_back_over_midnight() -> None:
    """In St. John's on 7 November 2010 clocks went from 00:01 back to 23:01: the day begins at the second midnight."""
    start = days.window_of(date(2010, 11, 7), "America/St_Johns")[0]
    assert at("2010-11-07T00:00:00-03:30") == start
    assert date(2010, 11, 6) == days.day_of(start - 1, "America/St_Johns")


@given(
    at_ms=st.integers(0, at("2099-12-31T00:00:00+00:00")),
    zone=st.sampled_from(ZONES),
)
@example(at_ms=at("2010-11-07T00:00:30-02:30"), zone="America/St_Johns")
@example(at_ms=at("2011-12-30T10:00:00+00:00"), zone="Pacific/Apia")
def test_every_instant_lies_in_the_window_of_its_own_day(at_ms: int, zone: str) -> None:
    """The two functions are each other's inverse, so that no instant is in two days or in none."""
    start, end = days.window_of(days.day_of(at_ms, zone), zone)
    assert start <= at_ms < end


@pytest.mark.parametrize("zone", ZONES)
def test_days_follow_each_other_without_gap_or_overlap(zone: str) -> None:
    """Every day ends where the next begins, and none ends before it begins."""
    some = [date(2010, 1, 1) + timedelta(days=count) for count in range(0, 6500, 1)]
    windows = [days.window_of(day, zone) for day in some]
    assert all(one[1] == other[0] for one, other in pairwise(windows))
    assert all(start <= end for start, end in windows)


@pytest.mark.parametrize(
    ("local", "expected"),
    [
        ((date(2026, 7, 1), 14, 30), "2026-07-01T14:30:00+02:00"),
        ((date(2026, 10, 25), 2, 30), "2026-10-25T02:30:00+02:00"),
        ((date(2026, 3, 29), 2, 30), "2026-03-29T03:00:00+02:00"),
        ((date(2026, 3, 29), 3, 0), "2026-03-29T03:00:00+02:00"),
    ],
)
def test_a_local_time_is_one_instant_on_every_day(local: tuple[date, int, int], expected: str) -> None:
    """Twice shown: the first time. Never shown: the first instant after the gap. So a daily time comes once a day."""
    day, hour, minute = local
    assert at(expected) == days.at_local(day, hour, minute, BERLIN)


def test_an_instant_is_shown_with_milliseconds_and_offset() -> None:
    """No bare clock time without its zone (field case F90)."""
    assert days.show(at("2026-05-04T16:25:00.007+00:00"), "Asia/Tokyo") == "2026-05-05T01:25:00.007+09:00"
    assert days.show(at("2026-10-25T01:30:00+00:00"), BERLIN) == "2026-10-25T02:30:00.000+01:00"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Europe/Berln", "Europe/Berlin"),
        ("europe/berlin", "Europe/Berlin"),
        ("Berlin", "Europe/Berlin"),
        ("new york", "America/New_York"),
        ("", "For example"),
        ("../../etc/passwd", "For example"),
        ("Europe", "Europe/"),
        ("a\0b", "For example"),
        ("x" * 10_000, "For example"),
    ],
)
def test_an_unknown_zone_is_refused_with_one_that_is_near(name: str, hint: str) -> None:
    """Bad input: a sentence, and what to write instead."""
    with pytest.raises(BadInput, match=r"There is no time zone") as refusal:
        days.zone(name)
    assert hint in refusal.value.hint
    assert len(refusal.value.message) < 200


SAME = at("2026-05-04T12:34:56.789+00:00")


@pytest.mark.parametrize(
    "said",
    [
        1777898096.789, 1777898096789, 1777898096789000, 1777898096789000000, 1777898096789.0, "1777898096.789",
        "2026-05-04T12:34:56.789Z", "2026-05-04T14:34:56.789+02:00", "1777898096789", " 1777898096789 ",
        "2026-05-04t12:34:56.789z", "2026-05-04 12:34:56,789+0000", "2026-05-04T12:34:56.789000123Z", "20260504T123456.789Z",
    ],
)  # fmt: skip
def test_one_instant_is_read_in_every_way_of_writing_it(said: object) -> None:
    """Seconds, milliseconds, microseconds, nanoseconds by their size; digits in text; ISO with an offset (F22)."""
    assert days.instant(said, ARRIVED, "UTC") == (SAME, "")


def test_whole_seconds_are_the_same_second() -> None:
    """An integer of seconds has no milliseconds (field case F22)."""
    assert days.instant(1777898096, ARRIVED, "UTC") == (SAME // 1000 * 1000, "")


NOON = at("2026-05-04T12:00:00+02:00")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("2026-05-04T12:00:00", NOON),
        ("2026-05-04 12:00:00", NOON),
        ("2026-05-04T12:00", NOON),
        ("2026-05-04", at("2026-05-04T00:00:00+02:00")),
        ("20260504", at("2026-05-04T00:00:00+02:00")),
        ("2026-03-29T02:30:00", at("2026-03-29T03:00:00+02:00")),
        ("2026-10-25T02:30:00", at("2026-10-25T02:30:00+02:00")),
    ],
)
def test_a_time_without_zone_is_read_in_the_given_one_and_flagged(said: str, expected: int) -> None:
    """Naive means one documented zone (field case F23)."""
    assert (expected, "naive_time") == days.instant(said, ARRIVED, BERLIN)


def test_a_time_without_zone_in_an_unknown_zone_is_read_in_utc() -> None:
    """A record may name any zone; reading it never raises."""
    assert (at("2026-05-04T12:00:00+00:00"), "naive_time") == days.instant("2026-05-04T12:00:00", ARRIVED, "No/Where")


@pytest.mark.parametrize(
    "said",
    [
        "", "   ", "not a date", None, {}, {"ts": 1}, [], True, False, "2026-02-31T12:00:00Z", "2026-05-04T25:00:00Z", "NaN",
        float("nan"), "noon", "12:00", "\ud800", "2026-05-04T12:00:00+99:99", "1" * 5_000, b"2026-05-04", "1e12", "0x10", "٢٠٢٦",
    ],
)  # fmt: skip
def test_a_time_that_cannot_be_read_is_that_of_the_arrival(said: object) -> None:
    """Empty, words, null, objects, impossible dates: flagged, never raised (field case F23)."""
    assert days.instant(said, ARRIVED, "UTC") == (ARRIVED, "time_unreadable")


@pytest.mark.parametrize(
    "said",
    [0, 1, -5, 86_400, 631_151_999, 4_102_444_800_001, 10**30, -(10**30), float("inf"), -1.5, "12345", "-1777898096789",
     "1989-12-31T23:59:59Z", "2101-01-01T00:00:00Z", "0001-01-01", "9999-12-31T23:59:59Z"],
)  # fmt: skip
def test_a_time_out_of_range_is_that_of_the_arrival(said: object) -> None:
    """1970 and 55139 come from a wrong unit; such a time is placed by arrival and flagged (field case F22)."""
    at_ms, flag = days.instant(said, ARRIVED, "UTC")
    assert (at_ms, flag in ("time_out_of_range", "time_unreadable")) == (ARRIVED, True)


def test_a_number_of_thousands_of_digits_is_out_of_range() -> None:
    """JSON sets no limit to its numbers."""
    assert days.instant(10**5000, ARRIVED, "UTC") == (ARRIVED, "time_out_of_range")


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text() | st.binary(), st.lists, max_leaves=3
    )
)
def test_reading_a_time_never_raises_and_is_always_in_range(said: object) -> None:
    """Whatever a source says, the result is an instant between 1990 and 2100, or the arrival."""
    at_ms, flag = days.instant(said, ARRIVED, BERLIN)
    assert days.EARLIEST_MS <= at_ms < days.LATEST_MS
    assert flag in ("", "naive_time") or at_ms == ARRIVED


@given(st.datetimes(datetime(1990, 1, 2), datetime(2099, 12, 30)), st.sampled_from(ZONES))  # noqa: DTZ001 - naive on purpose
def test_what_is_shown_is_read_again_as_the_same_instant(moment: datetime, zone: str) -> None:
    """`show` and `instant` are each other's inverse, in any zone, on any day."""
    at_ms = round(moment.replace(tzinfo=UTC).timestamp() * 1000)
    assert (at_ms, "") == days.instant(days.show(at_ms, zone), ARRIVED, "UTC")


def test_the_local_day_is_that_of_an_independent_calendar_on_plain_days() -> None:
    """Away from clock changes the day is simply the date that the zone shows."""
    step = timedelta(hours=7, minutes=13)
    moments = [datetime(2026, 1, 1, tzinfo=UTC) + count * step for count in range(1200)]
    shown = [moment.astimezone(ZoneInfo(BERLIN)).date() for moment in moments]
    assert shown == [days.day_of(round(moment.timestamp() * 1000), BERLIN) for moment in moments]


DECIDES = re.compile(r"fromtimestamp|astimezone|replace\(hour=|ZoneInfo\(|localtime\(|datetime\.combine|mktime")
ELSEWHERE = {
    ("question/spans.py", "datetime.combine"),  # "2 days ago": the same time of day, made an instant by `of_naive`
    ("settings.py", "ZoneInfo("),  # whether the zone of the settings is one
}


def test_no_other_module_says_where_a_day_begins() -> None:
    """Whatever turns an instant into a local time or back stands in days.py."""
    source = Path(days.__file__).parent
    found = {
        (str(path.relative_to(source)), match[0])
        for path in source.rglob("*.py")
        if path.name != "days.py"
        for match in DECIDES.finditer(path.read_text("utf-8"))
    }
    assert found <= ELSEWHERE
