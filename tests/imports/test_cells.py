"""Cells: text stays as typed, numbers are numbers, ids are neither merged nor rounded."""

import pytest

from engine.imports.jobs import jobs
from engine.imports.workers import workers
from engine.rules.nouns import NewJob, Point
from tests.imports.sheets import ROME, WORKER, rules, sheet, whole


def one(**changes: str) -> NewJob:
    (job,) = whole(jobs(sheet(changes), name="j.csv", zone=ROME))
    return job


@pytest.mark.parametrize("text", ["NULL", "None", "N/A", "nan", "0123", "1e5", "true", "=1+1", "[bold]x[/]", "-"])
def test_B104_text_that_looks_like_something_else_stays_text(text: str) -> None:
    job = one(id=text, type=text, address=text, notes=text)
    assert (job.ref, job.type, job.address, job.notes) == (text, text, text, text)
    (worker,) = whole(workers(sheet({"name": text, "id": text}, base=WORKER), name="w.csv", zone=ROME))
    assert (worker.ref, worker.name) == (text, text)


@pytest.mark.parametrize("token", ["", "NA", "N/A", "null", " "])
def test_B104_declared_tokens_are_missing_in_columns_of_numbers(token: str) -> None:
    assert one(priority=token).priority == 1
    found = rules(jobs(sheet({"lat": token, "duration_min": token}), name="j.csv", zone=ROME))
    assert set(found) == {(2, "lat"), (2, "duration_min")}


@pytest.mark.parametrize("token", ["None", "-", "?", "missing"])
def test_B104_other_words_are_not_missing_numbers(token: str) -> None:
    assert (2, "priority") in rules(jobs(sheet({"priority": token}), name="j.csv", zone=ROME))


def test_B104_0123_and_123_are_two_ids() -> None:
    assert [job.ref for job in whole(jobs(sheet({"id": "0123"}, {"id": "123"}), name="j.csv", zone=ROME))] == [
        "0123",
        "123",
    ]


def test_B106_ids_that_look_rounded_are_warned_of_and_kept() -> None:
    parsed = jobs(sheet({"id": "1.23E+15"}, {"id": "124.0"}, {"id": "A-1"}), name="j.csv", zone=ROME)
    assert [job.ref for job in whole(parsed)] == ["1.23E+15", "124.0", "A-1"]
    assert any("id looks like a rounded number: 1.23E+15 (row 2), 124.0 (row 3)" in each for each in parsed.warnings)


@pytest.mark.parametrize(
    ("one_id", "other"),
    [("1.23E+15", "1.23E+15"), ("123.0", "123"), ("1.23E+15", "1230000000000077"), ("1.23e15", "1.23E+15")],
)
def test_B106_ids_that_are_one_after_rounding_are_refused_not_merged(one_id: str, other: str) -> None:
    parsed = jobs(sheet({"id": one_id}, {"id": "x"}, {"id": other}), name="j.csv", zone=ROME)
    assert [job.ref for _, job in parsed.items] == ["x"]
    assert [each.row for each in parsed.rejected] == [2, 4]


def test_B106_excel_serials_are_not_dates() -> None:
    found = rules(jobs(sheet({"not_before": "46461.33"}), name="j.csv", zone=ROME))
    assert "serial" in found[2, "not_before"]


def test_the_same_id_twice_refuses_both_rows_even_when_one_is_bad_elsewhere() -> None:
    parsed = jobs(sheet({"id": "a"}, {"id": "a", "lat": "x"}, {"id": "b"}), name="j.csv", zone=ROME)
    assert [row for row, _ in parsed.items] == [4]
    assert "rows 2, 3" in rules(parsed)[2, "id"]
    assert set(rules(parsed)) == {(2, "id"), (3, "id"), (3, "lat")}


@pytest.mark.parametrize(
    ("column", "value", "word"),
    [
        ("lat", "52,1", "52.1"),
        ("lat", "91", "-90..90"),
        ("lng", "-180.5", "-180..180"),
        ("lat", "NaN", "number"),
        ("lat", "inf", "number"),
        ("lat", "1e999", "number"),
        ("lat", "true", "number"),
        ("lat", "52°N", "number"),
        ("lat", "५२", "number"),
        ("lat", "1_0", "number"),
        ("duration_min", "0", "above 0"),
        ("duration_min", "-5", "above 0"),
        ("duration_min", "1441", "24 h"),
        ("duration_min", "1:30", "number"),
        ("duration_min", "9" * 5000, "number"),
        ("duration_min", "1e308", "24 h"),
        ("priority", "0", "1 to 5"),
        ("priority", "6", "1 to 5"),
        ("priority", "2.5", "whole"),
        ("priority", "high", "number"),
        ("id", "", "wanted"),
        ("id", " a", "white space"),
        ("id", "a\nb", "control"),
        ("id", "x" * 101, "shorten"),
        ("type", " ", "wanted"),
        ("address", "x" * 501, "shorten"),
        ("notes", "x" * 10_001, "10,000"),
        ("notes", "a\0b", "NUL"),
        ("skills", ";".join(f"s{n}" for n in range(51)), "51 skills"),
        ("skills", "s" * 61, "60"),
    ],
)
def test_a_cell_is_refused_with_its_column_value_and_rule(column: str, value: str, word: str) -> None:
    parsed = jobs(sheet({column: value}, {"id": "good"}), name="j.csv", zone=ROME)
    assert [row for row, _ in parsed.items] == [3]
    (only,) = parsed.rejected
    assert (only.row, only.column) == (2, column)
    assert word in only.rule
    assert only.value[:50] == value.replace("\0", "\\0")[:50]


def test_every_bad_cell_of_a_row_is_named() -> None:
    parsed = jobs(sheet({"lat": "x", "priority": "9", "due_by": "soon"}), name="j.csv", zone=ROME)
    assert set(rules(parsed)) == {(2, "lat"), (2, "priority"), (2, "due_by")}


def test_B024_null_island_is_refused_unless_the_site_is_there() -> None:
    data = sheet({"lat": "0.01311", "lng": "0.01311"})
    assert "0,0" in rules(jobs(data, name="j.csv", zone=ROME))[2, "lat"]
    assert whole(jobs(data, name="j.csv", zone=ROME, allow_null_island=True))
    at_home = sheet({"lat": "0.01311", "lng": "0.01311"}, base=WORKER)
    assert (2, "lat") in rules(workers(at_home, name="w.csv", zone=ROME))


def test_swapped_coordinates_are_hinted_at_where_they_show() -> None:
    assert "swapped" in rules(jobs(sheet({"lat": "151.2", "lng": "-33.9"}), name="j.csv", zone=ROME))[2, "lat"]


def test_a_place_keeps_its_digits_and_small_exponents() -> None:
    job = one(lat="51.4779", lng="-5e-05")
    assert job.place == Point(51.4779, -0.00005)


@pytest.mark.parametrize("text", ["Proctor; ESL", "esl,PROCTOR", "proctor | esl |", " ESL;;proctor;esl"])
def test_skills_have_one_spelling(text: str) -> None:
    assert one(skills=text).skills == {"proctor", "esl"}


def test_a_skill_is_the_same_however_its_letters_are_composed() -> None:
    assert one(skills="Pflege Köln").skills == one(skills="pflege Ko\u0308ln").skills


def test_a_job_may_need_no_skill() -> None:
    assert one(skills="").skills == frozenset()


def test_B111_B127_what_was_typed_is_kept_to_the_letter() -> None:
    typed = '=HYPERLINK("x") [bold red]Ana[/] \x1b[31m 👩🏽‍⚕️ שלום\n\tdoor 2 '
    job = one(address=typed, notes=typed, type=typed, lat="44.1", lng="12.1")
    assert (job.address, job.notes, job.type, job.place) == (typed, typed, typed, Point(44.1, 12.1))


def test_a_worker_is_read_whole() -> None:
    row = {"region": "north", "area": "0042", "travels": "Yes", "capacity": "3", "skills": "a|b"}
    (worker,) = whole(workers(sheet(row, base=WORKER), name="w.csv", zone=ROME))
    assert (worker.region, worker.area, worker.travels, worker.capacity) == ("north", "0042", True, 3)
    (plain,) = whole(workers(sheet({}, base=WORKER), name="w.csv", zone=ROME))
    assert (plain.region, plain.area, plain.travels, plain.capacity) == (None, None, False, 1)


@pytest.mark.parametrize(
    ("column", "value"), [("capacity", "0"), ("capacity", "101"), ("travels", "maybe"), ("name", "x" * 201)]
)
def test_a_workers_cell_is_refused(column: str, value: str) -> None:
    assert (2, column) in rules(workers(sheet({column: value}, base=WORKER), name="w.csv", zone=ROME))


def test_B109_the_same_file_read_twice_gives_the_same_nouns() -> None:
    data = sheet({"skills": "b;a"}, {"lat": "x"}, {})
    assert jobs(data, name="j.csv", zone=ROME) == jobs(data, name="j.csv", zone=ROME)
