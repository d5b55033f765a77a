"""H3 cells on a regular lattice of hexagons, north above and east to the right: a schematic map for a terminal. Pure.

H3's own local coordinates are mirrored and turned from place to place. Of the twelve ways to lay them out that one is
taken whose neighbours lie where the compass says; what is left of the turn (17° at most, measured) is told.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import atan2, cos, degrees, radians
from typing import Any, cast

import h3 as h3_itself
import h3.api.basic_int as basic_int

from engine.rules.place import RESOLUTION, centre_of, parent

h3 = cast(Any, basic_int)  # it ships no types: its functions get them here
ij_of = cast(Callable[[int, int], tuple[int, int]], h3.cell_to_local_ij)
ring_of = cast(Callable[[int, int], Sequence[int]], h3.grid_ring)
NotUnfolded = cast(type[Exception], cast(Any, h3_itself).H3BaseException)
COARSEST = 2
ORDERS = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
Cube = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """``at``: cell → (x, y), y downwards; neighbours in a row are 2 apart in x, those above and below 1.

    ``turn_deg``: by how much true north lies clockwise of straight up."""

    resolution: int
    turn_deg: int
    at: dict[int, tuple[int, int]]


def laid(cells: Iterable[int], *, wide: int, high: int) -> Lattice | None:
    """The cells at the finest resolution at which they fit the frame; None where H3 cannot unfold them (pentagons)."""
    finest = set(cells)
    for resolution in range(RESOLUTION, COARSEST - 1, -1):
        found = _laid({parent(each, resolution) for each in finest}, resolution)
        if found is not None and _fits(found, wide, high):
            return found
    return None


def _fits(lattice: Lattice, wide: int, high: int) -> bool:
    xs = [x for x, _ in lattice.at.values()] or [0]
    ys = [y for _, y in lattice.at.values()] or [0]
    return (max(xs) - min(xs)) // 2 < wide and max(ys) - min(ys) < high


def _laid(cells: set[int], resolution: int) -> Lattice | None:
    if not cells:
        return Lattice(resolution=resolution, turn_deg=0, at={})
    origin = _middle(cells)
    try:
        cubes = {each: _cube(origin, each) for each in cells}
        ring = [(_cube(origin, each), _bearing(origin, each)) for each in ring_of(origin, 1)]
    except NotUnfolded:
        return None
    ways = [(_errors(ring, order, sign), order, sign) for order in ORDERS for sign in (1, -1)]
    (_, turn), order, sign = min(ways, key=lambda each: each[0][0])
    return Lattice(
        resolution=resolution,
        turn_deg=round(turn),
        at={each: _project(cube, order, sign) for each, cube in cubes.items()},
    )


def _middle(cells: set[int]) -> int:
    """A cell about whose centre the others lie; the same for the same cells."""
    centres = sorted((centre_of(each), each) for each in cells)
    lat = centres[len(centres) // 2][0][0]
    lng = sorted(at[1] for at, _ in centres)[len(centres) // 2]
    return min(centres, key=lambda each: ((each[0][0] - lat) ** 2 + (each[0][1] - lng) ** 2, each[1]))[1]


def _cube(origin: int, each: int) -> Cube:
    (i0, j0), (i, j) = ij_of(origin, origin), ij_of(origin, each)
    return i - i0 - (j - j0), j - j0, -(i - i0)


def _bearing(origin: int, each: int) -> float:
    (lat0, lng0), (lat, lng) = centre_of(origin), centre_of(each)
    east = (lng - lng0 + 180) % 360 - 180
    return atan2(lat - lat0, east * cos(radians(lat0)))


def _project(cube: Cube, order: Sequence[int], sign: int) -> tuple[int, int]:
    a, b = sign * cube[order[0]], sign * cube[order[1]]
    return 2 * a + b, b


def _errors(ring: Sequence[tuple[Cube, float]], order: Sequence[int], sign: int) -> tuple[float, float]:
    """(the worst, the mean) degrees by which a cell's six neighbours lie elsewhere than on the ground."""
    off: list[float] = []
    for cube, bearing in ring:
        x, y = _project(cube, order, sign)
        off.append((degrees(atan2(-y * 3**0.5 / 2, x / 2) - bearing) + 180) % 360 - 180)
    return max(map(abs, off)), sum(off) / len(off)
