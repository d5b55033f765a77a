"""What people really have: the given demand, the templates of other products, and names that break things."""

import csv
import json
from pathlib import Path

import pytest

from engine.imports.jobs import jobs
from engine.imports.parsed import Parsed
from engine.imports.workers import workers
from engine.rules.nouns import NewJob
from tests.imports.sheets import JOB, NEW_YORK, ROME, WORKER, ms, rules, whole


@pytest.mark.parametrize(("town", "asked", "carers"), [("cesena", 58, 8), ("milan", 99, 10), ("florence", 234, 24)])
def test_the_home_care_days_are_read_whole(shared: Path, town: str, asked: int, carers: int) -> None:
    folder = shared / "data" / "demand_home_care"
    found = jobs((folder / f"hhc_{town}_jobs.csv").read_bytes(), name="jobs.csv", zone=ROME)
    staff = workers((folder / f"hhc_{town}_workers.csv").read_bytes(), name="workers.csv", zone=ROME)
    assert (len(whole(found)), len(whole(staff))) == (asked, carers)
    assert (found.warnings, staff.warnings) == ((), ())


NYC = {
    "id": "Unique Key",
    "type": "Complaint Type",
    "skills": "=animals",
    "lat": "Latitude",
    "lng": "Longitude",
    "not_before": "Created Date",
    "due_by": "+240",
    "duration_min": "=45",
    "address": "Incident Address",
}


def test_the_city_requests_land_but_those_without_a_place(shared: Path) -> None:
    data = (shared / "data" / "demand_nyc311" / "311_Animals_short.csv").read_bytes()
    rows = list(csv.DictReader(data.decode().splitlines()))
    parsed = jobs(data, name="311.csv", zone=NEW_YORK, columns=NYC)
    without = [number for number, row in enumerate(rows, start=2) if not row["Latitude"]]
    assert len(without) == 62
    assert set(rules(parsed)) == {(row, column) for row in without for column in ("lat", "lng")}
    assert len(parsed.items) == 4969 - 62
    assert all(name in " ".join(parsed.warnings) for name in rows[0].keys() - set(NYC.values()))


def test_B102_the_city_times_are_month_first_and_right_on_both_sides_of_the_clock_change(shared: Path) -> None:
    data = (shared / "data" / "demand_nyc311" / "311_Animals_short.csv").read_bytes()
    found = {job.ref: job for _, job in jobs(data, name="311.csv", zone=NEW_YORK, columns=NYC).items}
    assert found["64345465"].not_before_ms == ms("2025-03-14T01:20-04:00")
    offsets = {(job.not_before_ms < ms("2025-03-09T02:00-05:00")) for job in found.values()}
    assert offsets == {True, False}
    written = {row["Unique Key"]: row["Created Date"] for row in csv.DictReader(data.decode().splitlines())}
    before = next(ref for ref, text in written.items() if text.startswith("1/2/2025 ") and ref in found)
    hour, minute = written[before].split()[1].split(":")
    assert found[before].not_before_ms == ms(f"2025-01-02T{int(hour):02}:{minute}-05:00")


TEMPLATES: dict[str, tuple[dict[str, str], set[tuple[int, str]]]] = {
    # the map a person would try first → what is still refused: rows and columns
    "optimoroute_orders.csv": (
        {
            "id": "Order ID",
            "type": "Order type",
            "lat": "Latitude",
            "lng": "Longitude",
            "not_before": "Time window from",
            "due_by": "Time window to",
            "duration_min": "Duration",
        },
        {(2, "not_before"), (2, "due_by"), (2, "priority")}
        | {(3, name) for name in ("not_before", "due_by", "priority", "lat", "lng")},
    ),
    "antsroute_bucket.csv": (
        {
            "type": "=visit",
            "skills": "",
            "lat": "latitude",
            "lng": "longitude",
            "not_before": "Open-date",
            "due_by": "Due-date",
            "duration_min": "Duration",
        },
        {(2, "not_before"), (2, "due_by")},
    ),
    "cartrack_jobs.csv": (
        {
            "id": "Job Reference Number",
            "type": "Stop Type",
            "skills": "Special Requirement",
            "not_before": "Scheduled Delivery Date and Allowed Start",
            "due_by": "+60",
            "duration_min": "=10",
            "address": "Address Line 1",
        },
        {(2, "id"), (2, "priority"), (2, "lat"), (2, "lng"), (3, "id"), (3, "priority"), (3, "type")},
    ),
    "fleetops_orchestrator.csv": (
        {
            "id": "internal_id",
            "type": "order_type",
            "skills": "required_skills",
            "lat": "dropoff_lat",
            "lng": "dropoff_lng",
            "not_before": "scheduled_at",
            "due_by": "+240",
            "duration_min": "=30",
        },
        set(),
    ),
    "circuit_stops.csv": (
        {
            "id": "Zip",
            "type": "=stop",
            "skills": "",
            "lat": "=42.0",
            "lng": "=-71.0",
            "not_before": "Earliest Time",
            "due_by": "Latest Time",
            "duration_min": "Time at stop",
        },
        {(row, column) for row in (2, 3) for column in ("not_before", "due_by")},
    ),
    "locate2u_stop_sheet.csv": (
        {
            "id": "StopID",
            "type": "=stop",
            "skills": "",
            "lat": "=-33.86",
            "lng": "=151.2",
            "not_before": "TripDate",
            "due_by": "+60",
            "duration_min": "Duration",
        },
        {(2, "id")} | {(row, "not_before") for row in (2, 3, 4)},
    ),
    "viamente_workwave_orders.csv": (
        {
            "id": "Name",
            "type": "=visit",
            "skills": "",
            "lat": "=43.1",
            "lng": "=12.1",
            "not_before": "Time Window Start",
            "due_by": "Time Window End",
            "duration_min": "Service Time",
        },
        {(row, column) for row in (2, 3) for column in ("not_before", "due_by")},
    ),
    "24sevenoffice_tasks.tsv": (
        {
            "id": "TaskCustomerId",
            "type": "TaskTitle",
            "skills": "",
            "lat": "=67.28",
            "lng": "=14.4",
            "not_before": "TaskDateStart",
            "due_by": "TaskDateStop",
            "duration_min": "=30",
            "address": "TaskLocation",
        },
        {(2, "due_by")},
    ),
}


@pytest.mark.parametrize("file", sorted(TEMPLATES))
def test_what_another_products_file_lacks_is_said_cell_by_cell(shared: Path, file: str) -> None:
    columns, refused = TEMPLATES[file]
    parsed = jobs((shared / "data" / "import_templates" / file).read_bytes(), name=file, zone=ROME, columns=columns)
    assert set(rules(parsed)) == refused


def test_a_template_without_a_map_lists_the_columns_it_lacks(shared: Path) -> None:
    for file in TEMPLATES:
        parsed = jobs((shared / "data" / "import_templates" / file).read_bytes(), name=file, zone=ROME)
        assert parsed.items == ()
        assert all(each.row == 0 and "--map" in each.rule for each in parsed.rejected)


def test_a_skill_list_of_another_product_is_split(shared: Path) -> None:
    file = "fleetops_orchestrator.csv"
    data = (shared / "data" / "import_templates" / file).read_bytes()
    (job,) = whole(jobs(data, name=file, zone=NEW_YORK, columns=TEMPLATES[file][0]))
    assert job.skills == {"proctor", "esl"}
    assert job.not_before_ms == ms("2027-04-03T08:00-04:00")


def test_B109_a_stop_sheet_read_twice_is_the_same_and_its_error_text_is_an_id_to_the_letter(shared: Path) -> None:
    file = "locate2u_stop_sheet.csv"
    data = (shared / "data" / "import_templates" / file).read_bytes()
    columns = {**TEMPLATES[file][0], "not_before": "=2027-11-30 15:30"}
    parsed: Parsed[NewJob] = jobs(data, name=file, zone=ROME, columns=columns)
    assert [job.ref for _, job in parsed.items] == ["ERROR: address not found", "118827"]
    assert list(rules(parsed)) == [(2, "id")]
    assert parsed == jobs(data, name=file, zone=ROME, columns=columns)


def test_naughty_names_are_kept_to_the_letter_or_refused_with_a_rule(shared: Path) -> None:
    naughty: list[str] = json.loads((shared / "data" / "names" / "blns.json").read_text("utf-8"))
    rows = [
        {**JOB, "id": f"j{n}", "type": text or "x", "address": text, "notes": text} for n, text in enumerate(naughty)
    ]
    parsed = jobs(json.dumps(rows).encode(), name="j.json", zone=ROME)
    for row, job in parsed.items:
        assert (job.address, job.notes) == (naughty[row - 1], naughty[row - 1])
    refused = {each.row for each in parsed.rejected}
    assert refused | {row for row, _ in parsed.items} == set(range(1, len(naughty) + 1))
    assert all(not naughty[row - 1].strip() or len(naughty[row - 1]) > 100 for row in refused)


def test_naughty_ids_and_skills_are_kept_or_refused_with_a_rule(shared: Path) -> None:
    naughty: list[str] = json.loads((shared / "data" / "names" / "blns.json").read_text("utf-8"))
    rows = [{**WORKER, "id": text, "name": text or "x", "skills": [text]} for text in naughty]
    parsed = workers(json.dumps(rows).encode(), name="w.json", zone=ROME)
    for row, worker in parsed.items:
        assert (worker.ref, worker.name) == (naughty[row - 1], naughty[row - 1])
    assert {each.row for each in parsed.rejected} | {row for row, _ in parsed.items} == set(range(1, len(naughty) + 1))
    assert len(parsed.items) > 350
