"""The ground of a cell: where its centre is, how far it reaches, and a circle that lies inside it for certain.

H3 is asked once a cell; a city of 15 km has 1,000 cells in the grid. What is remembered has a limit.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import pairwise
from math import cos, hypot, radians
from struct import Struct
from typing import Final, cast

import h3.api.memview_int as lean

from engine.rules.place import apart, boundary_of, centre_of

DEGREE_M = 111_195.08  # of latitude, on H3's sphere
BENT = 1.04  # how much a flat map may be wrong, see the search
FLAT_LAT, FLAT_LNG = 66.0, 175.0  # beyond, a flat map does not serve
_REMEMBERED = 1 << 13
_INSIDE = 0.99  # of the way to a border: neither are the borders quite straight on a flat map, nor is the map true

# Without lists in between: the form of H3's answers that costs least. Whole too round a pentagon.
disk_of = cast(Callable[[int, int], Iterable[int]], lean.grid_disk)


class Ground:
    """``reach_m``: nothing of the cell is farther from its centre.

    ``inner``: square of degrees from the centre within which a point is in the cell for certain; negative: no such
    promise.
    ``shrink``: a degree of longitude over a degree of latitude.
    """

    __slots__ = ("cell", "inner", "lat", "lng", "reach_m", "shrink")

    def __init__(self, cell: int, lat: float, lng: float, reach_m: float, inner: float) -> None:
        self.cell, self.lat, self.lng, self.reach_m, self.inner = cell, lat, lng, reach_m, inner
        self.shrink = cos(radians(lat))


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


CELL: Final = Struct("qddd")  # cell, latitude and longitude of its centre, reach in degrees of latitude


@lru_cache(maxsize=_REMEMBERED)
def disc(cell: int, k: int) -> bytes:
    """The cells round a cell, as far as a ring of the first few: a ``CELL`` each, in one piece of memory."""
    about = map(ground, disk_of(cell, k))
    return b"".join(CELL.pack(each.cell, each.lat, each.lng, each.reach_m / DEGREE_M) for each in about)
