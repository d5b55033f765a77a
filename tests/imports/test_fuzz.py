"""Any bytes give an answer: never an exception, and every refusal can be printed and stored."""

import csv
import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.imports.areas import areas
from engine.imports.jobs import KNOWN, jobs
from engine.imports.parsed import Parsed
from engine.imports.workers import workers
from tests.imports.sheets import JOB, NEW_YORK

DIGITS = st.sampled_from(
    ["03/04/2027 08:00", "2027-03-14 02:30", "13/13/2027 1:00 PM", "9999-12-31 23:59", "1e999", "NaN"]
)
TEXT = st.one_of(st.text(max_size=12), DIGITS, st.sampled_from(list(JOB.values())))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(TEXT, st.sampled_from(KNOWN.names)), inner, max_size=8)
    ),
    max_leaves=20,
)
NAMES = st.sampled_from(["a.csv", "a.json", "a.geojson", "", "a"])


def check(parsed: Parsed[object]) -> None:
    for each in parsed.rejected:
        assert each.rule
        (each.column + each.value + each.rule).encode("utf-8")
    assert not {row for row, _ in parsed.items} & {each.row for each in parsed.rejected}


def read(data: bytes, name: str) -> None:
    check(jobs(data, name=name, zone=NEW_YORK))
    check(workers(data, name=name, zone=NEW_YORK))
    check(areas(data, name=name))


@given(data=st.binary(max_size=300), name=NAMES)
def test_any_bytes(data: bytes, name: str) -> None:
    read(data, name)


@given(
    head=st.sampled_from([b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"[{", b'{"type":', b"id,lat\n", b"sep=;\n"]),
    tail=st.binary(max_size=80),
)
def test_any_bytes_after_a_good_start(head: bytes, tail: bytes) -> None:
    read(head + tail, "a")


@given(rows=st.lists(st.lists(TEXT, min_size=9, max_size=12), max_size=5))
@settings(max_examples=200)
def test_any_cells_under_the_right_header(rows: list[list[str]]) -> None:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([list(KNOWN.names), *rows])
    read(out.getvalue().encode("utf-8", "surrogatepass"), "a.csv")


@given(cells=st.dictionaries(st.sampled_from(KNOWN.names), TEXT, max_size=3))
@settings(max_examples=200)
def test_a_good_row_with_any_cells(cells: dict[str, str]) -> None:
    data = json.dumps([{**JOB, **cells}, {**JOB, "id": "other"}]).encode()
    parsed = jobs(data, name="j.json", zone=NEW_YORK)
    check(parsed)
    for _, job in parsed.items:
        assert job.not_before_ms < job.due_by_ms
        assert 0 < job.duration_ms <= 86_400_000
        assert 1 <= job.priority <= 5


@given(found=JSON)
@settings(max_examples=200)
def test_any_json(found: object) -> None:
    read(json.dumps(found).encode(), "a.json")
    read(json.dumps([found, found]).encode(), "a.json")


@given(coordinates=JSON, kind=st.sampled_from(["Polygon", "MultiPolygon", "Point", "Feature", "FeatureCollection"]))
@settings(max_examples=200)
def test_any_coordinates(coordinates: object, kind: str) -> None:
    geometry = {"type": kind, "coordinates": coordinates, "features": coordinates, "geometry": coordinates}
    read(json.dumps(geometry).encode(), "a.geojson")
