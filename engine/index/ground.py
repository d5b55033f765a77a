"""The ground of a cell: where its centre is, how far it reaches, and a circle that lies inside it for certain.

H3 is asked once a cell; a city of 15 km has 7,000 cells in the grid. What is remembered has a limit.
"""

from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import cos, hypot, radians
from typing import cast

import h3
import h3.api.memview_int as lean

from engine.rules.place import apart, boundary_of, centre_of

DEGREE_M = 111_195.08  # of latitude, on H3's sphere
BENT = 1.04  # how much a flat map may be wrong, see the search
FLAT_LAT, FLAT_LNG = 66.0, 175.0  # beyond, a flat map does not serve
_REMEMBERED = 1 << 14
_BENT_NEAR = 1.01  # as much within 30 km
_INSIDE = 0.99  # of the way to a border: neither are the borders quite straight on a flat map, nor is the map true

_H3Error = cast(type[Exception], vars(h3)["H3BaseException"])
# Without lists in between: the form of H3's answers that costs least.
_disk = cast(Callable[[int, int], Iterable[int]], lean.grid_disk)
_ring = cast(Callable[[int, int], Iterable[int]], lean.grid_ring)


class Ground:
    """``reach_m``: nothing of the cell is farther from its centre.

    ``inner``: square of degrees from the centre within which a point is in the cell for certain; ``outer``: within
    which it is no farther than ``reach_m``. Negative: no such promise.
    ``shrink``: a degree of longitude over a degree of latitude.
    """

    __slots__ = ("cell", "inner", "lat", "lng", "outer", "reach_m", "shrink")

    def __init__(self, cell: int, lat: float, lng: float, reach_m: float, inner: float) -> None:
        self.cell, self.lat, self.lng, self.reach_m, self.inner = cell, lat, lng, reach_m, inner
        self.outer = (reach_m / DEGREE_M * _INSIDE) ** 2 if inner > 0 else -1.0
        self.shrink = cos(radians(lat))


NO_GROUND = Ground(0, 0.0, 0.0, 0.0, -1.0)


@lru_cache(maxsize=_REMEMBERED)
def ground(cell: int) -> Ground:
    """The ground of any H3 cell."""
    lat, lng = centre_of(cell)
    border = boundary_of(cell)
    reach_m = max(apart((lat, lng), corner, "m") for corner in border)
    if abs(lat) > FLAT_LAT or abs(lng) > FLAT_LNG:
        return Ground(cell, lat, lng, reach_m, -1.0)
    shrink = cos(radians(lat))
    flat = [(y - lat, (x - lng) * shrink) for y, x in border]
    near = min(_from_origin(*one, *other) for one, other in pairwise([*flat, flat[0]]))
    return Ground(cell, lat, lng, reach_m, (near * _INSIDE) ** 2)


def _from_origin(ay: float, ax: float, by: float, bx: float) -> float:
    """Distance of 0,0 from the line from a to b."""
    dy, dx = by - ay, bx - ax
    along = -(ay * dy + ax * dx) / (dy * dy + dx * dx)
    along = min(1.0, max(0.0, along))
    return hypot(ay + along * dy, ax + along * dx)


class Ring:
    """Cells round a cell. ``rows``: latitude, longitude and reach (degrees of latitude) of each in turn, or nothing."""

    __slots__ = ("cells", "rows")

    def __init__(self, cells: Iterable[int], rows: Sequence[float] = ()) -> None:
        self.cells, self.rows = cells, rows


@lru_cache(maxsize=_REMEMBERED)
def about(cell: int) -> Ring:
    """The cell and those around it."""
    return Ring(tuple(_disk(cell, 1)))


@lru_cache(maxsize=_REMEMBERED)
def near_ring(cell: int, k: int) -> Ring:
    """``ring_of``, remembered with the ground of its cells. For the first few rings: near by, a map bends little."""
    cells = tuple(ring_of(cell, k))
    rows = array("d")
    for each in map(ground, cells):
        rows.extend((each.lat, each.lng, each.reach_m / DEGREE_M * _BENT_NEAR))
    return Ring(cells, rows)


def ring_of(origin: int, k: int) -> Iterable[int]:
    """The cells at grid distance k. Rings round a pentagon are short, and some versions of H3 refuse them."""
    try:
        return _ring(origin, k)
    except _H3Error:
        return set(_disk(origin, k)) - set(_disk(origin, k - 1))
