"""Times: one convention for a column, nothing guessed, hours that do not exist named."""

from collections.abc import Mapping

import pytest

from engine.imports.jobs import NO_COLUMNS, jobs
from engine.imports.parsed import Parsed, Wrong
from engine.imports.workers import workers
from engine.imports.zones import Zone, zone_named
from engine.rules.nouns import NewJob
from tests.imports.sheets import NEW_YORK, ROME, WORKER, ms, rules, sheet, whole

LATE = "2199-01-01T00:00Z"


def starts(*texts: str, columns: Mapping[str, str] = NO_COLUMNS) -> Parsed[NewJob]:
    """Jobs whose not_before is written like this, in New York, due in the far future."""
    rows = [{"not_before": text, "due_by": LATE} for text in texts]
    return jobs(sheet(*rows), name="j.csv", zone=NEW_YORK, columns=columns)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2027-03-15T07:02:00+01:00", "2027-03-15T06:02:00Z"),
        ("2027-03-15T07:02:00Z", "2027-03-15T07:02:00Z"),
        ("2027-03-15t07:02:00.1239z", "2027-03-15T07:02:00.123Z"),
        ("2027-03-15T07:02:00-05:30", "2027-03-15T12:32:00Z"),
        ("2027-03-15 07:02", "2027-03-15T11:02:00Z"),
        (" 2027-03-15 07:02:59 ", "2027-03-15T11:02:59Z"),
        ("2027-01-15T07:02", "2027-01-15T12:02:00Z"),
        ("2027/3/5 7:02", "2027-03-05T12:02:00Z"),
        ("3/15/2027 7:02", "2027-03-15T11:02:00Z"),
        ("15/3/2027 7:02", "2027-03-15T11:02:00Z"),
        ("03.04.2027 07:02", "2027-04-03T11:02:00Z"),
        ("3/15/2027 7:02 PM", "2027-03-15T23:02:00Z"),
        ("3/15/2027, 12:02 a.m.", "2027-03-15T04:02:00Z"),
    ],
)
def test_a_time_is_read(text: str, meant: str) -> None:
    (job,) = whole(starts(text))
    assert job.not_before_ms == ms(meant)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "wanted"),
        ("N/A", "wanted"),
        ("46096.3125", "number"),
        ("1798761600000", "number"),
        ("2027-03-15", "time of day"),
        ("15.03.2027", "time of day"),
        ("08:30", "date is missing"),
        ("3:56pm", "date is missing"),
        ("15/03/27 08:00", "four digits"),
        ("2027-02-30 08:00", "no such date"),
        ("2027-03-15 24:00", "next day"),
        ("2027-03-15 08:61", "no such date"),
        ("2027-03-15T23:59:60Z", "no such date"),
        ("2027-03-15T08:00+0100", "wanted"),
        ("2027-03-15T08:00+25:00", "offset"),
        ("0001-01-01 00:00", "year"),
        ("9999-12-31T23:59:59-14:00", "year"),
        ("3/15/2027 13:02 PM", "1 to 12"),
        ("tomorrow", "wanted"),
        ("٢٠٢٧-٠٣-١٥ ٠٨:٠٠", "wanted"),
    ],
)
def test_a_time_is_refused_with_its_rule(text: str, word: str) -> None:
    found = rules(starts(text))
    assert word in found[2, "not_before"]


def test_B041_hours_that_do_not_exist_or_come_twice_are_refused_by_name() -> None:
    found = rules(starts("2027-03-14 02:30", "2027-11-07 01:30"))
    assert "02:30 does not exist on 2027-03-14 in America/New_York: clocks go forward" in found[2, "not_before"]
    assert "01:30 comes twice on 2027-11-07 in America/New_York" in found[3, "not_before"]
    assert "2027-11-07T01:30:00-04:00 or 2027-11-07T01:30:00-05:00" in found[3, "not_before"]


def test_B041_the_edges_of_the_gap_and_the_same_hour_with_its_offset_are_taken() -> None:
    texts = ["2027-03-14 01:59", "2027-03-14 03:00", "2027-11-07T01:30:00-04:00", "2027-11-07T01:30:00-05:00"]
    found = [job.not_before_ms for job in whole(starts(*texts))]
    assert found[1] - found[0] == 60_000
    assert found[3] - found[2] == 3_600_000


def test_B042_B049_the_files_local_time_is_the_sites_whatever_the_machines_zone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chicago = zone_named("America/Chicago")
    assert isinstance(chicago, Zone)
    found: set[int] = set()
    for machine in ("UTC", "Asia/Tokyo"):
        monkeypatch.setenv("TZ", machine)
        (job,) = whole(jobs(sheet({"due_by": LATE, "not_before": "2027-07-01 13:00"}), name="j.csv", zone=chicago.zone))
        found.add(job.not_before_ms)
    assert found == {ms("2027-07-01T13:00-05:00")}


@pytest.mark.parametrize("name", ["UTC-5", "utc-05:00", "GMT-5", "-05:00"])
def test_B047_a_fixed_offset_is_taken_with_a_warning(name: str) -> None:
    found = zone_named(name)
    assert isinstance(found, Zone)
    assert "no summer time" in found.warning
    (job,) = whole(jobs(sheet({"due_by": LATE, "not_before": "2027-07-01 13:00"}), name="j.csv", zone=found.zone))
    assert job.not_before_ms == ms("2027-07-01T13:00-05:00")


@pytest.mark.parametrize(
    "name", ["Mars/Olympus", "", "../etc/passwd", "America", "America/New_yrok", "UTC+5:30", "\0", "UTC+99"]
)
def test_B047_an_unknown_zone_is_refused(name: str) -> None:
    found = zone_named(name)
    assert isinstance(found, Wrong)
    assert "IANA" in found.rule


def test_B047_a_slip_is_answered_with_the_near_name_and_good_names_without_a_warning() -> None:
    slip = zone_named("Europe/Rom")
    assert isinstance(slip, Wrong)
    assert "Europe/Rome" in slip.rule
    assert [zone_named(name) for name in ("Europe/Rome", "UTC")] == [Zone(ROME), Zone(zone_of("UTC"))]


def zone_of(name: str):
    found = zone_named(name)
    assert isinstance(found, Zone)
    return found.zone


# --- B102: one convention for a column -------------------------------------------------------------------------------


def test_B102_a_month_first_column_with_am_and_pm() -> None:
    found = whole(starts("03/04/2027 01:00 PM", "03/15/2027 12:30 am"))
    assert [job.not_before_ms for job in found] == [ms("2027-03-04T13:00-05:00"), ms("2027-03-15T00:30-04:00")]


def test_B102_one_number_above_12_decides_the_whole_column() -> None:
    found = whole(starts("03/04/2027 08:00", "20/12/2027 08:00"))
    assert found[0].not_before_ms == ms("2027-04-03T08:00-04:00")


def test_B102_a_column_where_every_day_is_at_most_12_asks() -> None:
    parsed = starts("03/04/2027 08:00", "12/11/2027 08:00")
    assert parsed.items == ()
    assert "--map not_before:dmy=Column" in rules(parsed)[0, "not_before"]
    assert parsed.rejected[0].value == "03/04/2027 08:00, 12/11/2027 08:00"


@pytest.mark.parametrize(("order", "meant"), [("dmy", "2027-04-03T08:00-04:00"), ("mdy", "2027-03-04T08:00-05:00")])
def test_B102_the_order_named_in_the_map_is_used(order: str, meant: str) -> None:
    (job,) = whole(starts("03/04/2027 08:00", columns={f"not_before:{order}": "not_before"}))
    assert job.not_before_ms == ms(meant)


def test_B102_a_date_against_the_named_order_is_refused() -> None:
    parsed = starts("20/12/2027 08:00", "2027-03-04 08:00", columns={"not_before:mdy": "not_before"})
    assert "no such date" in rules(parsed)[2, "not_before"]
    assert "read as mdy" in rules(parsed)[3, "not_before"]


def test_B102_iso_and_us_dates_in_one_column_are_refused_row_by_row() -> None:
    parsed = starts("2027-03-04 08:00", "3/15/2027 8:00", "2027-03-05 08:00")
    assert parsed.items == ()
    assert list(rules(parsed)) == [(2, "not_before"), (3, "not_before"), (4, "not_before")]
    assert "year first in row 2, year last in row 3" in rules(parsed)[4, "not_before"]


def test_B102_in_a_mixed_column_only_what_no_spreadsheet_writes_stands() -> None:
    parsed = starts("2027-03-04T08:00:00Z", "3/15/2027 8:00", "2027-03-05 08:00")
    assert [row for row, _ in parsed.items] == [2]
    chosen = starts("2027-03-04 08:00", "3/15/2027 8:00", columns={"not_before:iso": "not_before"})
    assert [row for row, _ in chosen.items] == [2]


def test_B102_day_first_and_month_first_in_one_column_are_refused_row_by_row() -> None:
    parsed = starts("20/12/2027 08:00", "12/20/2027 08:00", "01/02/2027 08:00", "2027-03-04T08:00Z")
    assert [row for row, _ in parsed.items] == [5]
    assert len(parsed.rejected) == 3
    no_iso = starts("20/12/2027 08:00", "12/20/2027 08:00", "01/02/2027 08:00")
    assert no_iso.items == ()
    assert "rows 2 and 3" in rules(no_iso)[4, "not_before"]


def test_B102_a_row_without_am_or_pm_in_a_column_that_has_it_is_refused() -> None:
    parsed = starts("3/15/2027 1:00 PM", "3/15/2027 1:00")
    assert "AM or PM" in rules(parsed)[3, "not_before"]


def test_each_column_has_its_own_convention() -> None:
    rows = [{"not_before": "20/03/2027 08:00", "due_by": "3/21/2027 8:00"}]
    (job,) = whole(jobs(sheet(*rows), name="j.csv", zone=ROME))
    assert job.due_by_ms - job.not_before_ms == 24 * 3_600_000


def test_a_window_and_a_shift_must_go_forward() -> None:
    found = rules(jobs(sheet({"due_by": "2027-03-15 08:00"}), name="j.csv", zone=ROME))
    assert "after not_before" in found[2, "due_by"]
    parsed = workers(sheet({"shift_end": "2027-03-15 06:00"}, base=WORKER), name="w.csv", zone=ROME)
    assert "after shift_start" in rules(parsed)[2, "shift_end"]


def test_a_shift_over_the_clock_change_is_as_long_as_it_is() -> None:
    shift = {"shift_start": "2027-03-13 22:00", "shift_end": "2027-03-14 06:00"}
    (worker,) = whole(workers(sheet(shift, base=WORKER), name="w.csv", zone=NEW_YORK))
    assert worker.shift_ends_ms - worker.shift_starts_ms == 7 * 3_600_000
