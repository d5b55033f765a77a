"""Places: what is refused, which cell a point is in, whether an area holds it. Pure.

Cells are H3 integers everywhere. Latitude comes before longitude everywhere; a file that says it the other way round
is turned at its door.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from math import isfinite
from typing import cast

import h3.api.basic_int as h3

from engine.rules.nouns import Area, Point

LatLng = tuple[float, float]
# H3 ships no types: its functions get them here, and stay bare because the hot loops pay for every wrapper.
cell_of = cast(Callable[[float, float, int], int], h3.latlng_to_cell)
parent_of = cast(Callable[[int, int], int], h3.cell_to_parent)
centre_of = cast(Callable[[int], LatLng], h3.cell_to_latlng)
boundary_of = cast(Callable[[int], Sequence[LatLng]], h3.cell_to_boundary)
apart = cast(Callable[[LatLng, LatLng, str], float], h3.great_circle_distance)  # in the unit named last
mean_edge = cast(Callable[[int, str], float], h3.average_hexagon_edge_length)

RESOLUTION = 8  # the cell a dispatcher sees, about 0.7 km²
NULL_ISLAND_DEG = 0.02  # phones without a position say 0,0 or something near it (about 2 km)
VERTICES_MAX = 10_000
_CROSSINGS_MAX = 3_000_000  # pairs of borders compared before an area is called too tangled
_FAR_M, _BESIDE_M = 500_000.0, 50_000.0  # swapped: far away as written, beside the site when turned


class BadPlace(StrEnum):
    """Why two numbers are no place."""

    BAD_COORDINATES = "bad_coordinates"
    OUT_OF_RANGE = "out_of_range"
    NULL_ISLAND = "null_island"

    @property
    def rule(self) -> str:
        """The rule in words, without the position."""
        return _RULES[self]


_RULES = {
    BadPlace.BAD_COORDINATES: "latitude and longitude are finite numbers",
    BadPlace.OUT_OF_RANGE: "latitude is within -90..90 and longitude within -180..180",
    BadPlace.NULL_ISLAND: "0,0 and its surroundings are not a place here (allow_null_island)",
}


def refused(lat: float, lng: float, *, allow_null_island: bool) -> BadPlace | None:
    """None, or why the two numbers are no place."""
    if not (isfinite(lat) and isfinite(lng)):
        return BadPlace.BAD_COORDINATES
    if not (-90 <= lat <= 90 and -180 <= lng <= 180):
        return BadPlace.OUT_OF_RANGE
    if abs(lat) < NULL_ISLAND_DEG and abs(lng) < NULL_ISLAND_DEG and not allow_null_island:
        return BadPlace.NULL_ISLAND
    return None


def normal_lng(lng: float) -> float:
    """180 is -180: one place, one number."""
    return -180.0 if lng == 180 else lng


def cell(point: Point, resolution: int = RESOLUTION) -> int:
    """The H3 cell of a point that is not ``refused``."""
    return cell_of(point.lat, point.lng, resolution)


def parent(child: int, resolution: int) -> int:
    """The coarser cell that holds a cell."""
    return parent_of(child, resolution)


def coarse_cell(point: Point) -> int:
    """What a dispatcher may see of where somebody is."""
    return cell(point, RESOLUTION)


def metres(one: Point, other: Point) -> float:
    """Great circle, right across the antimeridian."""
    return apart((one.lat, one.lng), (other.lat, other.lng), "m")


def swapped(near: Point, lat: float, lng: float) -> bool:
    """Whether a point would lie beside ``near`` if latitude and longitude changed places; it is far away as written."""
    if abs(lng) > 90 or metres(near, Point(lat, lng)) < _FAR_M:
        return False
    return metres(near, Point(lng, lat)) < _BESIDE_M


# --- areas -----------------------------------------------------------------------------------------------------------

Ring = Sequence[Point]
XY = tuple[float, float]  # longitude, latitude: unwound, so that a border across the antimeridian is short


def inside(area: Area, point: Point) -> bool:
    """Whether an area holds a point: holes and areas across the antimeridian included.

    An edge takes the shorter way round the earth. A service area is asked about a job's place, never about a worker's
    jittering fix, so eligibility does not flip with the fix.
    """
    within = False
    for ring in area.rings:
        line = _unwound(ring)
        within ^= any(_holds(line, point.lng + turn, point.lat) for turn in (-360.0, 0.0, 360.0))
    return within


def _unwound(ring: Ring) -> list[XY]:
    line: list[XY] = []
    lng = ring[0].lng if ring else 0.0
    for point in ring:
        lng += (point.lng - lng + 180) % 360 - 180
        line.append((lng, point.lat))
    return line


def _holds(line: Sequence[XY], x: float, y: float) -> bool:
    """Ray casting; half-open, so that a point on a shared border is in one of two neighbours."""
    odd = False
    x1, y1 = line[-1]
    for x2, y2 in line:
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            odd = not odd
        x1, y1 = x2, y2
    return odd


def area_problem(area: Area, *, near: Point | None = None) -> str | None:
    """None, or in words why an area cannot be used. ``near``: a place of the site, to tell swapped coordinates."""
    if not area.rings:
        return "an area needs an outer ring"
    if sum(map(len, area.rings)) > VERTICES_MAX:
        return f"an area has at most {VERTICES_MAX} points"
    for number, ring in enumerate(area.rings):
        problem = _ring_problem(ring, near)
        if problem:
            return problem if number == 0 else f"hole {number}: {problem}"
    return None


def _ring_problem(ring: Ring, near: Point | None) -> str | None:
    points = ring[:-1] if len(ring) > 1 and ring[0] == ring[-1] else ring
    if any(refused(point.lat, point.lng, allow_null_island=True) for point in points):
        turned = all(refused(point.lng, point.lat, allow_null_island=True) is None for point in points)
        hint = "; latitude and longitude look swapped" if turned else ""
        return f"a point lies outside -90..90, -180..180{hint}"
    if len(set(points)) < 3:
        return "a ring needs at least 3 different points"
    if near and all(swapped(near, point.lat, point.lng) for point in points):
        return "the area lies outside the region; latitude and longitude look swapped"
    return _shape_problem(_unwound(points))


def _shape_problem(line: list[XY]) -> str | None:
    first, last = line[0][0], line[-1][0]
    if abs(last - first) > 180:
        return "the area goes round a pole"
    if abs(_twice_area(line)) < 1e-12:
        return "the area is empty (all points on one line)"
    return _crossing(line)


def _twice_area(line: Sequence[XY]) -> float:
    x0, y0 = line[0]
    pairs = zip(line, [*line[1:], line[0]], strict=True)
    return sum((x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0) for (x1, y1), (x2, y2) in pairs)


Edge = tuple[float, float, int, XY, XY]  # smallest x, largest x, its number, from, to


def _crossing(line: Sequence[XY]) -> str | None:
    """The borders sorted by x and compared where they overlap in x: near linear for real areas, and bounded."""
    ends = zip(line, [*line[1:], line[0]], strict=True)
    edges: list[Edge] = sorted((min(a[0], b[0]), max(a[0], b[0]), n, a, b) for n, (a, b) in enumerate(ends))
    compared = 0
    for at, one in enumerate(edges):
        for other in edges[at + 1 :]:
            if other[0] > one[1]:
                break
            compared += 1
            if _cross(one, other, len(line)):
                return "the border crosses or touches itself"
        if compared > _CROSSINGS_MAX:
            return "the border is too tangled to be checked"
    return None


def _cross(one: Edge, other: Edge, count: int) -> bool:
    _, _, first, a, b = one
    _, _, second, c, d = other
    if min(a[1], b[1]) > max(c[1], d[1]) or min(c[1], d[1]) > max(a[1], b[1]):
        return False
    if abs(first - second) in (1, count - 1):
        return _folds_back(a, b, c, d)
    return _side(a, b, c) * _side(a, b, d) <= 0 and _side(c, d, a) * _side(c, d, b) <= 0


def _folds_back(a: XY, b: XY, c: XY, d: XY) -> bool:
    """Neighbours share a point; they may not run back over each other."""
    shared, one, other = (b, a, d) if b == c else (a, b, c)
    if _side(a, b, c) != 0 or _side(a, b, d) != 0:
        return False
    return (one[0] - shared[0]) * (other[0] - shared[0]) + (one[1] - shared[1]) * (other[1] - shared[1]) > 0


def _side(a: XY, b: XY, p: XY) -> int:
    turn = (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
    return (turn > 0) - (turn < 0)
