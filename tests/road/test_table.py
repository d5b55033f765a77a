"""Many times at once: blocks that a router accepts, each cell judged like a single answer (B084, B089)."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from engine.road.no_road import NoRoad
from engine.road.table import blocks, read_table
from engine.road.urls import table_path
from engine.rules.nouns import Driven, Leg, NoAnswer, Point, RoadAnswer, Unreachable
from tests.road.loopback import PATIENT_MS, Served, http_router, recorded, road_to

WORKERS = [Point(48.40 + n / 1000, 15.60) for n in range(50)]
JOBS = [Point(48.40 + n / 4000, 15.65) for n in range(200)]
ISLAND = [Point(54.000, 10.001), Point(54.000, 10.018), Point(54.000, 10.210)]


def asked(path: str) -> tuple[list[str], list[int], list[int]]:
    parts = urlsplit(path)
    query = parse_qs(parts.query)
    sources, targets = ([int(each) for each in query[key][0].split(";")] for key in ("sources", "destinations"))
    return parts.path.split("/")[-1].split(";"), sources, targets


def counting_router(limit: int = 100, missing: str = "never") -> Callable[[str], tuple[int, bytes]]:
    """Answers each cell with a time that tells which two places were meant; refuses what osrm-routed would."""

    def reply(path: str) -> tuple[int, bytes]:
        places, sources, targets = asked(path)
        if len(places) > limit:
            return 400, b'{"code":"TooBig","message":"Too many table coordinates"}'
        if missing in places:
            return 400, b'{"code":"NoSegment","message":"Could not find a matching segment for coordinate 1"}'
        cells = [[time_of(places[a], places[b]) for b in targets] for a in sources]
        snaps = [[{"distance": 1.5}] * len(side) for side in (sources, targets)]
        return 200, json.dumps(
            {"code": "Ok", "durations": cells, "sources": snaps[0], "destinations": snaps[1]}
        ).encode()

    return reply


def time_of(origin: str, destination: str) -> int:
    a, b = (round(float(each.split(",")[1]) * 100_000) for each in (origin, destination))
    return 1000 + (a - 4_840_000) * 3 // 100 + (b - 4_840_000) // 25


def expected(origin: Point, destination: Point) -> Driven:
    return Driven(duration_s=time_of(f"0,{origin.lat:.5f}", f"0,{destination.lat:.5f}"))


@pytest.mark.parametrize(
    "size", [(50, 200), (200, 50), (1, 300), (300, 1), (0, 5), (5, 0), (1, 1), (99, 1), (120, 120)]
)
def test_B089_blocks_cover_each_cell_once_within_a_hundred_places_and_8_kb(size: tuple[int, int]) -> None:
    far = Point(-89.12345, -179.12345)
    seen: list[tuple[int, int]] = []
    for block in blocks(*size):
        assert len(block.rows) + len(block.columns) <= 100
        assert len(table_path("driving", [far] * len(block.rows), [far] * len(block.columns))) < 8000
        seen += [(row, column) for row in block.rows for column in block.columns]
    assert sorted(seen) == [(row, column) for row in range(size[0]) for column in range(size[1])]


def matrix(answers: Sequence[Sequence[RoadAnswer]]) -> list[list[RoadAnswer]]:
    return [list(line) for line in answers]


@pytest.mark.parametrize("limit", [100, 30])
def test_B089_two_hundred_jobs_and_fifty_workers_are_timed_also_by_a_stricter_router(limit: int) -> None:
    with http_router(counting_router(limit)) as served, road_to(served, calls_per_s_max=1000) as road:
        answers = road.table(WORKERS, JOBS, budget_ms=20_000)
        assert matrix(answers) == [[expected(worker, job) for job in JOBS] for worker in WORKERS]
        assert limit < 100 or len(served.paths) == 4
        leg = Leg(origin=WORKERS[7], destination=JOBS[33])
        assert road.remembered(leg) is not None, "a plan teaches the desk its roads"


def test_one_place_without_a_road_spoils_its_own_row_only() -> None:
    lost = f"{WORKERS[2].lng:.5f},{WORKERS[2].lat:.5f}"
    with http_router(counting_router(missing=lost)) as served, road_to(served, calls_per_s_max=1000) as road:
        answers = road.table(WORKERS[:4], JOBS[:3], budget_ms=PATIENT_MS)
    for row, line in enumerate(answers):
        assert all(isinstance(each, NoAnswer if row == 2 else Driven) for each in line)


def test_a_position_off_the_earth_spoils_its_own_column_only() -> None:
    with http_router(counting_router()) as served, road_to(served, calls_per_s_max=1000) as road:
        answers = road.table(WORKERS[:3], [JOBS[0], Point(float("nan"), 0), JOBS[2]], budget_ms=PATIENT_MS)
    assert [[type(each) for each in line] for line in answers] == [[Driven, NoAnswer, Driven]] * 3
    assert answers[0][1] == NoAnswer(reason="bad_position")


def test_B084_nulls_of_a_recorded_table_are_unreachable(shared: Path) -> None:
    each = recorded(shared)["island-table_with_nulls"]
    page = read_table(each.status, each.body.encode(), ISLAND, ISLAND, snap_max_m=500)
    there, zero = Driven(duration_s=160), Driven(duration_s=0)
    assert matrix(page.cells) == [
        [zero, there, Unreachable()],
        [there, zero, Unreachable()],
        [Unreachable(), Unreachable(), zero],
    ]


def test_a_table_with_a_false_snap_a_missing_line_or_html_is_no_answer(shared: Path) -> None:
    good = recorded(shared)["island-table_with_nulls"].body
    far = read_table(200, good.replace('"distance":0}', '"distance":501}').encode(), ISLAND, ISLAND, snap_max_m=500)
    assert far.cells[0][:2] == (NoAnswer(reason="snap_too_far"),) * 2
    short = read_table(200, good.encode(), ISLAND[:2], ISLAND, snap_max_m=500)
    assert (short.reason, short.faulty) == ("not_osrm", True)
    html = read_table(502, b"<html>", ISLAND, ISLAND, snap_max_m=500)
    assert (html.reason, html.faulty) == ("http_502", True)


@pytest.mark.parametrize(
    "name", ["monaco-table_too_big_101", "monacoR300-table_11_of_max_10", "nginx-414_uri_too_long"]
)
def test_B089_too_big_is_asked_again_in_smaller_pieces(shared: Path, name: str) -> None:
    each = recorded(shared)[name]
    page = read_table(each.status, each.body.encode(), ISLAND, ISLAND, snap_max_m=500)
    assert page.smaller
    assert not page.faulty


def test_a_failing_router_is_left_in_peace_by_the_planner_too() -> None:
    with http_router(lambda path: (502, b"<html>")) as served, road_to(served, breaker_failures=2) as road:
        answers = road.table(WORKERS, JOBS, budget_ms=PATIENT_MS)
        assert {each.reason for line in answers for each in line if isinstance(each, NoAnswer)} == {
            "http_502",
            "breaker_open",
        }
        assert len(served.paths) == 2


def test_without_a_router_a_table_has_its_shape() -> None:
    answers = NoRoad().table(WORKERS, JOBS, budget_ms=10)
    assert [len(line) for line in answers] == [200] * 50


def test_a_real_table_agrees_with_the_routes(krems_router: Served) -> None:
    places = [Point(48.4102, 15.6146), Point(48.4080, 15.5990), Point(48.4120, 15.6050)]
    with road_to(krems_router) as asked_by_table, road_to(krems_router) as asked_by_route:
        table = asked_by_table.table(places, places[:2], budget_ms=PATIENT_MS)
        for origin, line in zip(places, table, strict=True):
            legs = [Leg(origin=origin, destination=each) for each in places[:2]]
            assert list(line) == list(asked_by_route.times(legs, budget_ms=PATIENT_MS))
