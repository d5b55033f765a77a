"""Columns: found by name or by map; a slip is never ignored."""

import json

import pytest

from engine.imports.jobs import jobs
from engine.imports.workers import workers
from tests.imports.sheets import JOB, ROME, WORKER, ms, rules, sheet, whole


def test_B076_a_slip_of_a_needed_column_refuses_the_file_and_names_it() -> None:
    data = sheet({}, base=WORKER).replace(b"shift_start", b"shift_strat")
    parsed = workers(data, name="w.csv", zone=ROME)
    assert parsed.items == ()
    assert "did you mean shift_start?" in rules(parsed)[0, "shift_strat"]
    assert "--map shift_start=shift_strat" in rules(parsed)[0, "shift_start"]


@pytest.mark.parametrize("format_", ["csv", "json"])
def test_B076_skill_instead_of_skills_never_becomes_no_skills(format_: str) -> None:
    rows = {key.replace("skills", "skill"): value for key, value in JOB.items()}
    data = sheet({}).replace(b"skills", b"skill") if format_ == "csv" else json.dumps([rows]).encode()
    parsed = jobs(data, name=f"j.{format_}", zone=ROME)
    assert parsed.items == ()
    assert "did you mean skills?" in rules(parsed)[0, "skill"]


def test_B076_one_object_with_skill_among_others_with_skills_is_refused() -> None:
    slip = {key.replace("skills", "skill"): value for key, value in JOB.items()}
    parsed = jobs(json.dumps([{**JOB, "id": "a"}, slip, {**JOB, "id": "b"}]).encode(), name="j.json", zone=ROME)
    assert [row for row, _ in parsed.items] == [1, 3]
    assert "did you mean skills?" in rules(parsed)[2, "skill"]
    assert "missing" in rules(parsed)[2, "skills"]


def test_B076_a_slip_of_an_optional_column_asks_and_can_be_answered() -> None:
    data = sheet({}).replace(b"priority", b"priorty")
    assert "did you mean priority?" in rules(jobs(data, name="j.csv", zone=ROME))[0, "priorty"]
    parsed = jobs(data, name="j.csv", zone=ROME, columns={"priority": ""})
    assert [job.priority for job in whole(parsed)] == [1]
    assert any("priorty" in warning for warning in parsed.warnings)
    (job,) = whole(jobs(data, name="j.csv", zone=ROME, columns={"priority": "priorty"}))
    assert job.priority == 2


def test_B076_columns_that_are_like_nothing_are_reported_all() -> None:
    extra = {f"extra {number}": "x" for number in range(30)}
    parsed = jobs(sheet(extra), name="j.csv", zone=ROME)
    assert whole(parsed)
    assert all(name in " ".join(parsed.warnings) for name in extra)


def test_case_spaces_and_hyphens_make_no_difference() -> None:
    data = sheet({}).replace(b"not_before", b" Not Before ").replace(b"due_by", b"DUE-BY").replace(b"lat", b"Lat")
    assert whole(jobs(data, name="j.csv", zone=ROME))


def test_two_columns_of_one_name_are_refused() -> None:
    assert "2 columns" in rules(jobs(sheet({"Lat": "1"}), name="j.csv", zone=ROME))[0, "lat"]
    assert whole(jobs(sheet({"Lat": "1"}), name="j.csv", zone=ROME, columns={"lat": "lat"}))


def test_columns_may_be_constants_or_minutes_after() -> None:
    lines = b"Ref;Kind;Y;X;From\nA-1;visit;45.4;9.1;2027-03-15 08:00\n"
    columns = {
        "id": "Ref",
        "type": "kind",
        "lat": "Y",
        "lng": "X",
        "not_before": "From",
        "due_by": "+90",
        "duration_min": "=7.5",
        "skills": "=nurse|it",
        "priority": "",
    }
    (job,) = whole(jobs(lines, name="j.csv", zone=ROME, columns=columns))
    assert (job.duration_ms, job.due_by_ms) == (450_000, ms("2027-03-15T09:30+01:00"))
    assert (job.skills, job.priority) == ({"nurse", "it"}, 1)


@pytest.mark.parametrize(
    ("columns", "column", "word"),
    [
        ({"lat": "Latitud"}, "lat", "no column 'Latitud'"),
        ({"latitude": "lat"}, "latitude", "no such column of ours"),
        ({"lat:dmy": "lat"}, "lat", "times"),
        ({"due_by:ymd": "due_by"}, "due_by", "iso, dmy or mdy"),
        ({"due_by": ""}, "due_by", "needed"),
        ({"not_before": "+30"}, "not_before", "no column"),
    ],
)
def test_a_map_that_fits_nothing_refuses_the_file(columns: dict[str, str], column: str, word: str) -> None:
    parsed = jobs(sheet({}), name="j.csv", zone=ROME, columns=columns)
    assert parsed.items == ()
    assert word in rules(parsed)[0, column]


def test_every_missing_column_is_listed_at_once() -> None:
    parsed = jobs(b"id,lat,lng\n1,2,3\n", name="j.csv", zone=ROME)
    assert {column for _, column in rules(parsed)} == {"type", "skills", "not_before", "due_by", "duration_min"}
