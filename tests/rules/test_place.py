"""Places: what is refused, cells at the edges of the world, and areas."""

from datetime import UTC, datetime
from math import inf, nan

import h3.api.basic_int as h3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.days import local_day
from engine.rules.nouns import Area, Point
from engine.rules.place import (
    BadPlace,
    area_problem,
    cell,
    coarse_cell,
    inside,
    metres,
    normal_lng,
    refused,
    swapped,
)

OSLO, HEIDELBERG = Point(59.91, 10.75), Point(49.41, 8.69)


def area(*rings: list[tuple[float, float]]) -> Area:
    """Rings written longitude first, as GeoJSON does."""
    return Area(id="a", name="a", rings=tuple(tuple(Point(lat, lng) for lng, lat in ring) for ring in rings))


@pytest.mark.parametrize(
    ("lat", "lng", "why"),
    [
        (nan, 8.0, BadPlace.BAD_COORDINATES),
        (49.0, inf, BadPlace.BAD_COORDINATES),
        (-inf, 8.0, BadPlace.BAD_COORDINATES),
        (90.0001, 8.0, BadPlace.OUT_OF_RANGE),
        (49.0, -180.5, BadPlace.OUT_OF_RANGE),
        (0.0, -0.0, BadPlace.NULL_ISLAND),
        (49.0, 180.0, None),
        (-90.0, 0.0, None),
        (0.0, 9.4, None),
        (51.48, 0.0, None),
    ],
)
def test_what_is_no_place(lat: float, lng: float, why: BadPlace | None) -> None:
    assert refused(lat, lng, allow_null_island=False) == why
    assert why is None or why.rule


def test_B024_near_null_island_is_refused_unless_the_site_allows_it() -> None:
    assert refused(0.01311, 0.01311, allow_null_island=False) == BadPlace.NULL_ISLAND
    assert refused(0.01311, 0.01311, allow_null_island=True) is None


def test_the_two_names_of_the_antimeridian_are_one_cell() -> None:
    assert normal_lng(180.0) == -180.0
    assert cell(Point(-17.0, 180.0)) == cell(Point(-17.0, normal_lng(180.0)))


def test_cells_are_integers_and_a_dispatcher_sees_resolution_8() -> None:
    assert isinstance(coarse_cell(OSLO), int)
    assert h3.get_resolution(coarse_cell(OSLO)) == 8
    assert h3.get_resolution(cell(OSLO, 10)) == 10


def test_B031_across_the_antimeridian_is_near() -> None:
    fiji = area([(179.5, -16.0), (-179.5, -16.0), (-179.5, -18.5), (179.5, -18.5)])
    worker, job = Point(-17.0, -179.999), Point(-17.0, 179.999)
    assert inside(fiji, worker)
    assert inside(fiji, job)
    assert 140 < metres(worker, job) < 300
    assert not inside(fiji, Point(-17.0, 0.0))
    assert not inside(fiji, Point(-17.0, 179.4))
    assert area_problem(fiji) is None


def test_B032_a_ring_across_the_antimeridian_does_not_hold_the_rest_of_the_world() -> None:
    ring = area([(170, -17), (-170, -17), (-170, -19), (170, -19)])
    assert not inside(ring, Point(-18, 0))
    assert inside(ring, Point(-18, 179))
    assert inside(ring, Point(-18, -179))


def test_B036_latitude_and_longitude_keep_their_order() -> None:
    oslo = area([(10.6, 59.8), (10.9, 59.8), (10.9, 60.0), (10.6, 60.0)])
    assert inside(oslo, OSLO)
    assert not inside(oslo, Point(OSLO.lng, OSLO.lat))


def test_B026_a_job_100_m_from_the_centre_is_inside() -> None:
    town = area([(8.68, 49.40), (8.70, 49.40), (8.70, 49.42), (8.68, 49.42)])
    assert inside(town, Point(49.41 + 100 / 111_195, 8.69))


def test_B027_a_swapped_area_is_refused_in_words() -> None:
    swapped_tokyo = area([(35.6, 139.7), (35.8, 139.7), (35.8, 139.9)])
    assert "swapped" in (area_problem(swapped_tokyo) or "")
    swapped_town = area([(49.40, 8.68), (49.42, 8.68), (49.42, 8.70)])
    assert area_problem(swapped_town) is None  # nothing to compare it with
    problem = area_problem(swapped_town, near=HEIDELBERG)
    assert problem == "the area lies outside the region; latitude and longitude look swapped"


def test_B037_eligibility_is_judged_on_the_jobs_place_and_does_not_flip_with_a_jittering_fix() -> None:
    border = area([(8.68, 49.40), (8.70, 49.40), (8.70, 49.42), (8.68, 49.42)])
    job = Point(49.41, 8.69)
    jitter = [Point(49.41, 8.70 + step * 15 / 72_000) for step in (-1, 1) * 30]
    assert {inside(border, job) for _ in jitter} == {True}
    assert {inside(border, fix) for fix in jitter} == {True, False}  # which is why fixes are not asked


def test_holes_are_outside_and_a_hole_in_the_world_of_the_antimeridian_too() -> None:
    ring = area([(170, -10), (-170, -10), (-170, -20), (170, -20)], [(178, -14), (-178, -14), (-178, -16), (178, -16)])
    assert not inside(ring, Point(-15, 179.5))
    assert not inside(ring, Point(-15, -179.5))
    assert inside(ring, Point(-12, 179.5))
    assert inside(ring, Point(-15, -175))


def test_a_point_on_a_shared_border_is_in_one_of_two_neighbours() -> None:
    west = area([(8.0, 49.0), (9.0, 49.0), (9.0, 50.0), (8.0, 50.0)])
    east = area([(9.0, 49.0), (10.0, 49.0), (10.0, 50.0), (9.0, 50.0)])
    assert inside(west, Point(49.5, 9.0)) + inside(east, Point(49.5, 9.0)) == 1


@pytest.mark.parametrize(
    ("ring", "says"),
    [
        ([], "at least 3"),
        ([(8.0, 49.0), (9.0, 49.0)], "at least 3"),
        ([(8.0, 49.0), (9.0, 49.0), (8.0, 49.0), (9.0, 49.0)], "at least 3"),
        ([(8.0, 49.0), (9.0, 49.0), (10.0, 49.0)], "empty"),
        ([(8.0, 49.0), (9.0, 50.0), (9.0, 49.0), (8.0, 50.0)], "empty"),
        ([(8.0, 49.0), (9.0, 50.0), (9.0, 49.0), (8.0, 50.5)], "crosses"),
        ([(8.0, 49.0), (9.0, 49.0), (9.0, 50.0), (9.0, 49.5), (8.0, 50.0)], "crosses"),
        ([(8.0, 49.0), (9.0, nan), (9.0, 50.0)], "outside"),
        ([(200.0, 49.0), (201.0, 49.0), (201.0, 50.0)], "outside"),
        ([(0.0, 80.0), (120.0, 80.0), (-120.0, 80.0)], "pole"),
        ([(8.0 + step / 1e6, 49.0 + step % 2) for step in range(10_001)], "at most 10000"),
    ],
)
def test_areas_that_cannot_be_used(ring: list[tuple[float, float]], says: str) -> None:
    assert says in (area_problem(area(ring)) or "")


def test_a_closed_ring_and_a_hole_are_fine_and_a_bad_hole_is_named() -> None:
    outer = [(8.0, 49.0), (9.0, 49.0), (9.0, 50.0), (8.0, 50.0), (8.0, 49.0)]
    hole = [(8.4, 49.4), (8.6, 49.4), (8.6, 49.6)]
    assert area_problem(area(outer, hole)) is None
    assert (area_problem(area(outer, hole[:2])) or "").startswith("hole 1: ")
    assert area_problem(area()) == "an area needs an outer ring"


def test_a_border_of_ten_thousand_points_is_checked_and_a_tangle_does_not_hang() -> None:
    south = [(8.0 + n / 10_000, 49.0) for n in range(5_000)]
    north = [(lng, 49.1 + n % 2 / 100) for n, (lng, _) in enumerate(reversed(south))]
    assert area_problem(area([*south, *north])) is None
    comb = [(8.0 + n % 2, 49.0 + n / 10_000) for n in range(9_999)]
    assert area_problem(area(comb)) is not None


@given(st.floats(48, 50), st.floats(7, 10), st.floats(0.01, 0.9))
def test_inside_a_convex_area_is_what_its_half_planes_say(lat: float, lng: float, size: float) -> None:
    box = area([(8.5 - size, 49 - size), (8.5 + size, 49 - size), (8.5 + size, 49 + size), (8.5 - size, 49 + size)])
    if abs(abs(lat - 49) - size) > 1e-9 and abs(abs(lng - 8.5) - size) > 1e-9:
        assert inside(box, Point(lat, lng)) == (abs(lat - 49) < size and abs(lng - 8.5) < size)


def test_swapped_needs_evidence() -> None:
    assert swapped(HEIDELBERG, 8.69, 49.41)
    assert not swapped(HEIDELBERG, 49.41, 8.69)
    assert not swapped(HEIDELBERG, 48.86, 2.35)
    assert not swapped(Point(39.0, 39.1), 39.1, 39.0)
    assert not swapped(Point(35.7, 139.7), 10.0, 100.0)


@pytest.mark.parametrize(
    ("utc", "zone", "day"),
    [
        ("2026-03-28T22:59:59", "Europe/Berlin", "2026-03-28"),
        ("2026-03-28T23:00:00", "Europe/Berlin", "2026-03-29"),
        ("2011-12-30T09:59:59", "Pacific/Apia", "2011-12-29"),
        ("2011-12-30T10:00:00", "Pacific/Apia", "2011-12-31"),  # a day that never was
        ("2026-03-21T20:29:59", "Asia/Tehran", "2026-03-21"),
        ("2018-11-04T02:59:59", "America/Sao_Paulo", "2018-11-03"),
        ("2018-11-04T03:00:00", "America/Sao_Paulo", "2018-11-04"),  # a day without a midnight
    ],
)
def test_the_local_day_is_right_without_a_midnight(utc: str, zone: str, day: str) -> None:
    now_ms = int(datetime.fromisoformat(utc).replace(tzinfo=UTC).timestamp()) * 1000
    assert local_day(now_ms, zone) == day
