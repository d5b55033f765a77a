"""Dialects and encodings: the same rows whatever the spreadsheet wrote; what is not a table is refused by name."""

import codecs
import json

import pytest

from engine.imports.jobs import jobs
from engine.imports.parsed import MOST_BYTES
from tests.imports.sheets import JOB, ROME, ms, rules, sheet, whole

PLAIN = sheet({"address": "Via Zoé 1\nsecond line, left; door"}, {"address": 'the "old" mill'})


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_dialect_gives_the_same_jobs(delimiter: str, end: str) -> None:
    data = sheet(
        {"address": "Via Zoé 1\nsecond line, left; door"}, {"address": 'the "old" mill'}, delimiter=delimiter, end=end
    )
    assert whole(jobs(data, name="j.csv", zone=ROME)) == whole(jobs(PLAIN, name="j.csv", zone=ROME))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"])
def test_every_encoding_gives_the_same_jobs(encoding: str) -> None:
    mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}.get(encoding, b"")
    data = mark + PLAIN.decode().encode(encoding)
    assert whole(jobs(data, name="j.csv", zone=ROME)) == whole(jobs(PLAIN, name="j.csv", zone=ROME))


def test_excels_own_first_line_is_understood_and_rows_count_as_in_the_file() -> None:
    data = b"sep=;\r\n" + sheet({}, {"lat": "91"}, delimiter=";", end="\r\n")
    assert (4, "lat") in rules(jobs(data, name="j.csv", zone=ROME))


def test_blank_lines_count_and_are_skipped() -> None:
    lines = sheet({}, {"priority": "9"}).split(b"\n")
    parsed = jobs(b"\n".join([lines[0], b"", lines[1], b",,,", lines[2]]), name="j.csv", zone=ROME)
    assert [row for row, _ in parsed.items] == [3]
    assert list(rules(parsed)) == [(5, "priority")]


def test_a_foreign_encoding_is_refused_with_line_and_byte() -> None:
    data = sheet({"address": "Zoe"}, {"address": "ZOE"}).replace(b"ZOE", "Zoé".encode("latin-1"))
    (only,) = jobs(data, name="j.csv", zone=ROME).rejected
    assert only.row == 0
    assert "line 3" in only.rule
    assert f"byte {data.index(0xE9) + 1} (0xE9)" in only.rule


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"PK\x03\x04rest", "spreadsheet"),
        (b"\xd0\xcf\x11\xe0rest", "Excel"),
        (b"\x1f\x8brest", "gzip"),
        ("id,type".encode("utf-32"), "UTF-32"),
        ("id,type,skills".encode("utf-16-le"), "UTF-16"),
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b" " * (MOST_BYTES + 1), "split"),
        (b'id,type\n1,"never closed\n', "quotes"),
        (b",".join(b"c%d" % n for n in range(501)), "columns"),
    ],
)
def test_what_is_no_table_is_refused_by_name(data: bytes, word: str) -> None:
    parsed = jobs(data, name="j.csv", zone=ROME)
    assert parsed.items == ()
    assert parsed.rejected[0].row == 0
    assert word in parsed.rejected[0].rule


def test_a_row_of_another_width_is_refused_and_its_neighbours_land() -> None:
    lines = sheet({}, {}, {}, {}).split(b"\n")
    lines[2] = lines[2].replace(b"Harbour Rd 1", b"Harbour, Rd, 1")
    lines[3] = lines[3][:40]
    lines[4] += b",,,"
    parsed = jobs(b"\n".join(lines), name="j.csv", zone=ROME)
    assert [row for row, _ in parsed.items] == [2, 5]
    assert len(parsed.rejected) == 2
    assert "quotes" in rules(parsed)[3, ""]
    assert "cut short" in rules(parsed)[4, ""]


# --- JSON ------------------------------------------------------------------------------------------------------------


def objects(*texts: str) -> bytes:
    good = {**JOB, "lat": 44.1742, "lng": 12.0628, "duration_min": 30, "priority": 2, "skills": ["proctor", "ESL "]}
    made = [json.dumps({**good, "id": f"j{number}"}) for number in range(1, len(texts) + 1)]
    return ("[" + ",".join(m[:-1] + text + "}" for m, text in zip(made, texts, strict=True)) + "]").encode()


def test_json_gives_the_same_job_as_csv() -> None:
    assert whole(jobs(objects(""), name="j.json", zone=ROME)) == whole(jobs(sheet({}), name="j.csv", zone=ROME))


def test_json_is_known_by_its_content_too() -> None:
    assert whole(jobs(b"\n  " + objects(""), name="export", zone=ROME))


def test_a_repeated_key_refuses_its_object_alone() -> None:
    parsed = jobs(objects("", ', "lat": 1', ""), name="j.json", zone=ROME)
    assert [row for row, _ in parsed.items] == [1, 3]
    assert "'lat' stands twice" in rules(parsed)[2, ""]


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "1e999", "true", "9" * 5000, "[1]", "{}", '"x"', '"1_0"']
)
def test_what_is_no_number_is_refused(value: str) -> None:
    data = objects("").replace(b'"duration_min": 30', f'"duration_min": {value}'.encode())
    parsed = jobs(data, name="j.json", zone=ROME)
    assert parsed.items == ()
    assert [(each.row, each.column) for each in parsed.rejected] == [(1, "duration_min")]


@pytest.mark.parametrize("value", ['"a\\u0000b"', '"\\ud800"', "true", '["x"]', "{}"])
def test_what_is_no_text_is_refused_and_can_be_printed(value: str) -> None:
    data = objects("").replace(b'"address": "Harbour Rd 1"', f'"address": {value}'.encode())
    (only,) = jobs(data, name="j.json", zone=ROME).rejected
    assert (only.row, only.column) == (1, "address")
    only.value.encode("utf-8")


@pytest.mark.parametrize(
    "data",
    [b"[" * 100_000, b'{"jobs": []}', b'[{"id": 1}\n[', b"[{]", b"[1, null, []]", b'"text"', b"[" * 900 + b"]" * 900],
)
def test_json_of_another_shape_is_refused(data: bytes) -> None:
    parsed = jobs(data, name="j.json", zone=ROME)
    assert parsed.items == ()
    assert parsed.rejected


def test_json_numbers_keep_their_digits_as_ids() -> None:
    data = objects("", "").replace(b'"id": "j1"', b'"id": 9007199254740993').replace(b'"id": "j2"', b'"id": 123.0')
    parsed = jobs(data, name="j.json", zone=ROME)
    assert [job.ref for job in whole(parsed)] == ["9007199254740993", "123.0"]
    assert any("rounded" in warning for warning in parsed.warnings)


def test_an_empty_array_is_an_empty_import_that_says_so() -> None:
    parsed = jobs(b"[]", name="j.json", zone=ROME)
    assert (parsed.items, parsed.rejected) == ((), ())
    assert parsed.warnings


def test_instants_of_a_local_time_are_those_of_the_site() -> None:
    (job,) = whole(jobs(sheet({}), name="j.csv", zone=ROME))
    assert (job.not_before_ms, job.due_by_ms) == (ms("2027-03-15T08:00+01:00"), ms("2027-03-15T10:00+01:00"))
