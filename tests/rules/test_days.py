"""Days of the site: dates of its wall clock, also where midnight does not exist and hours come twice (SPEC 7)."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfoNotFoundError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.days import local, local_day, rfc3339, zone_named

HOUR_MS = 3_600_000


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def test_a_day_ends_at_the_sites_midnight_and_not_at_utcs() -> None:
    midnight = ms("2027-01-15T00:00:00+01:00")
    assert local_day(midnight - 1, "Europe/Vienna") == "2027-01-14"
    assert local_day(midnight, "Europe/Vienna") == "2027-01-15"
    assert local_day(midnight, "UTC") == "2027-01-14"


def test_B107_each_instant_belongs_to_exactly_one_day_also_the_last_half_second() -> None:
    """B107: 00:00:00, 23:59:59.500 and what crosses midnight; a job counts on the day it was accepted."""
    zone = "Europe/Vienna"
    assert local_day(ms("2027-01-15T23:59:59.500+01:00"), zone) == "2027-01-15"
    assert local_day(ms("2027-01-16T00:00:00+01:00"), zone) == "2027-01-16"


def test_a_day_without_a_midnight_is_counted_like_any_other() -> None:
    """Cairo, Friday 30 April 2027: 23:59:59 on the 29th is followed by 01:00 on the 30th."""
    gone = ms("2027-04-29T22:00:00+00:00")
    assert local(gone - 1, "Africa/Cairo").hour == 23
    assert local(gone, "Africa/Cairo").hour == 1
    assert [local_day(at, "Africa/Cairo") for at in (gone - 1, gone)] == ["2027-04-29", "2027-04-30"]


def test_an_hour_that_comes_twice_is_one_day_and_never_back() -> None:
    """B046: Helsinki, 31 October 2027: 04:00 becomes 03:00; the date goes on."""
    fold = ms("2027-10-31T01:00:00+00:00")
    days = [local_day(fold + minute * 60_000, "Europe/Helsinki") for minute in range(-300, 1500)]
    assert days == sorted(days)
    assert {local(fold + shift, "Europe/Helsinki").hour for shift in (-1, 0)} == {3}


@pytest.mark.parametrize(
    ("day", "zone", "hours"),
    [("2027-03-14", "America/New_York", 23), ("2027-11-07", "America/New_York", 25), ("2027-01-15", "UTC", 24)],
)
def test_a_day_has_as_many_hours_as_the_zone_gives_it(day: str, zone: str, hours: int) -> None:
    first = ms(f"{day}T00:00:00+00:00") - 24 * HOUR_MS
    assert sum(local_day(first + hour * HOUR_MS, zone) == day for hour in range(96)) == hours


@given(
    st.integers(0, 4_000_000_000_000), st.sampled_from(["Africa/Cairo", "America/Santiago", "Asia/Kathmandu", "UTC"])
)
def test_days_never_go_backwards(at_ms: int, zone: str) -> None:
    assert local_day(at_ms, zone) <= local_day(at_ms + HOUR_MS, zone)


def test_B042_an_instant_is_written_with_milliseconds_and_offset() -> None:
    at_ms = ms("2027-07-01T12:00:00.250+00:00")
    assert rfc3339(at_ms, "America/Chicago") == "2027-07-01T07:00:00.250-05:00"
    assert rfc3339(at_ms) == "2027-07-01T12:00:00.250+00:00"
    assert datetime.fromisoformat(rfc3339(at_ms, "Asia/Kathmandu")).astimezone(UTC) == local(at_ms, "UTC")


def test_B047_an_unknown_zone_is_no_zone() -> None:
    for bad in ("UTC-5", "Mars/Olympus"):
        with pytest.raises((ZoneInfoNotFoundError, ValueError)):
            zone_named(bad)
