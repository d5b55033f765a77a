"""Areas: longitude first whatever the shape; a polygon that can hold no job is refused, never silently empty."""

import json
import math
from typing import Any

import pytest

from engine.imports.areas import areas
from engine.imports.jobs import jobs
from engine.rules.nouns import Area, Point
from engine.rules.place import inside
from tests.imports.sheets import ROME, rules, sheet, whole

Ring = list[list[float]]
NARVIK = Point(68.438, 17.427)


def square(lat: float, lng: float, half: float = 0.1) -> Ring:
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]
    return [[lng + x * half, lat + y * half] for x, y in corners]


def feature(geometry: object, **properties: object) -> dict[str, Any]:
    return {"type": "Feature", "id": "a1", "properties": properties, "geometry": geometry}


def polygon(*rings: Ring) -> dict[str, Any]:
    return {"type": "Polygon", "coordinates": list(rings)}


def collection(*features: object) -> bytes:
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


def area_of(geometry: object) -> Area:
    (area,) = whole(areas(collection(feature(geometry)), name="a.geojson"))
    return area


def rule_of(geometry: object) -> str:
    parsed = areas(collection(feature(geometry)), name="a.geojson", near=NARVIK)
    assert parsed.items == ()
    return rules(parsed)[1, "geometry"]


def test_B026_geojson_is_longitude_first_and_columns_are_by_name() -> None:
    area = area_of(polygon(square(68.438, 17.427)))
    near = {"lat": "68.4389", "lng": "17.427"}  # 100 m north of the centre
    (job,) = whole(jobs(sheet(near), name="j.csv", zone=ROME))
    assert inside(area, job.place)
    assert not inside(area, Point(job.place.lng, job.place.lat))
    assert (area.rings[0][0].lat, area.rings[0][0].lng) == pytest.approx((68.338, 17.327))


def test_B027_a_swapped_polygon_is_refused_where_it_shows() -> None:
    swapped = [[lat, lng] for lng, lat in square(45.0, 120.0)]
    assert "swapped" in rule_of(polygon(swapped))
    also = [[lat, lng] for lng, lat in square(68.438, 17.427)]
    assert "swapped" in rule_of(polygon(also))


@pytest.mark.parametrize("shape", ["Polygon", "MultiPolygon", "Feature"])
def test_B036_every_shape_has_the_same_order(shape: str) -> None:
    ring = square(68.438, 17.427)
    bare = {"type": shape, "coordinates": [ring] if shape == "Polygon" else [[ring]]}
    data = bare if shape != "Feature" else feature(polygon(ring))
    (area,) = whole(areas(json.dumps(data).encode(), name="dir/North.geojson"))
    assert inside(area, NARVIK)
    assert area.id == ("a1" if shape == "Feature" else "North")


def test_B036_a_line_is_no_area() -> None:
    assert "LineString" in rule_of({"type": "LineString", "coordinates": square(68.438, 17.427)})


def test_holes_and_parts_are_kept() -> None:
    area = area_of(polygon(square(50, 10, 1), square(50, 10, 0.5)))
    assert not inside(area, Point(50, 10))
    assert inside(area, Point(50.7, 10))
    parts = area_of({"type": "MultiPolygon", "coordinates": [[square(50, 10)], [square(51, 10)]]})
    assert inside(parts, Point(50, 10))
    assert inside(parts, Point(51, 10))
    assert not inside(parts, Point(50.5, 10))
    neighbours = {"type": "MultiPolygon", "coordinates": [[square(50, 10)], [square(50, 10.2)]]}
    assert inside(area_of(neighbours), Point(50, 10.2))


def test_an_open_ring_is_closed_and_said() -> None:
    parsed = areas(collection(feature(polygon(square(50, 10)[:-1]))), name="a.json")
    assert len(whole(parsed)[0].rings[0]) == 4
    assert "not closed" in parsed.warnings[0]


@pytest.mark.parametrize(
    ("geometry", "word"),
    [
        (None, "null"),
        ({}, "object"),
        ({"type": "Polygon"}, "ring"),
        (polygon(), "ring"),
        (polygon([]), "ring"),
        (polygon([[1, 2], [3, 4], [1, 2]]), "3 different"),
        (polygon([[1, 50], [2, 50], [3, 50], [1, 50]]), "empty"),
        (polygon([[0, 50], [1, 51], [1, 50], [0, 52], [0, 50]]), "crosses"),
        (polygon([[500000, 4649776], [500100, 4649776], [500100, 4649876]]), "grid"),
        ({"type": "Polygon", "coordinates": [[[True, 1], [2, 3], [4, 5]]]}, "two numbers"),
        ({"type": "Polygon", "coordinates": [[["1", "2"]]]}, "two numbers"),
        ({"type": "Polygon", "coordinates": [[[1]]]}, "two numbers"),
        (polygon(square(50, 10), square(50, 12)), "hole lies outside"),
        (polygon(square(50, 10, 1), square(50, 10), square(50.01, 10)), "holes overlap"),
        ({"type": "MultiPolygon", "coordinates": [[square(50, 10)], [square(51, 10)[:2]]]}, "part 2: "),
        ({"type": "MultiPolygon", "coordinates": [[square(50, 10)], [square(50.01, 10)]]}, "overlap"),
        ({"type": "MultiPolygon", "coordinates": []}, "coordinates"),
        (polygon([[180 * math.sin(n), 1] for n in range(10_003)]), "10,000"),
    ],
)
def test_a_geometry_is_refused_with_its_rule(geometry: object, word: str) -> None:
    assert word in rule_of(geometry)


def test_bad_features_leave_the_good_ones_and_ids_stand_once() -> None:
    good = polygon(square(50, 10))
    found = [
        feature(good) | {"id": 7},
        {"type": "Feature", "properties": {"name": "north"}, "geometry": good},
        feature(good) | {"id": "dup"},
        feature(good, id="never") | {"id": "dup"},
        {"type": "Feature", "properties": None, "geometry": good},
        {"type": "Point"},
    ]
    parsed = areas(collection(*found), name="a.geojson")
    assert [(row, area.id, area.name) for row, area in parsed.items] == [(1, "7", "7"), (2, "north", "north")]
    assert set(rules(parsed)) == {(3, "id"), (4, "id"), (5, "id"), (6, "type")}


def test_an_island_in_a_lake_is_a_part_of_its_own_and_many_islands_are_fine() -> None:
    lake = [[square(50, 10, 1), square(50, 10, 0.5)], [square(50, 10, 0.1)]]
    area = area_of({"type": "MultiPolygon", "coordinates": lake})
    assert [inside(area, Point(50 + north, 10)) for north in (0, 0.3, 0.7)] == [True, False, True]
    islands = [[square(50 + n // 40 * 0.1, 10 + n % 40 * 0.1, 0.04)] for n in range(1600)]
    assert len(area_of({"type": "MultiPolygon", "coordinates": islands}).rings) == 1600


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"[]", "GeoJSON"),
        (b"{}", "GeoJSON"),
        (b"id,lat\n", "not JSON"),
        (b'{"type": "FeatureCollection"}', "features"),
        (b'{"type": "FeatureCollection", "features": [], "features": []}', "twice"),
        (b'{"type": "FeatureCollection", "features": [], "crs": {"properties": {"name": "EPSG:3857"}}}', "WGS 84"),
        (b"PK\x03\x04", "spreadsheet"),
    ],
)
def test_a_file_of_another_kind_is_refused(data: bytes, word: str) -> None:
    parsed = areas(data, name="a.geojson")
    assert parsed.items == ()
    assert word in rules(parsed)[0, ""]


def test_the_crs_of_old_files_that_means_wgs_84_is_fine() -> None:
    data = json.loads(collection(feature(polygon(square(50, 10)))))
    data["crs"] = {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}
    assert whole(areas(json.dumps(data).encode(), name="a.geojson"))
