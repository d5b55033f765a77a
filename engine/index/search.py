"""The search outward from a place: exact, and never over everybody.

It looks at all who stand in the cells that a circle touches. Where that finds enough, and nobody outside can be
nearer, it is done; otherwise the circle becomes as large as what was found demands, or three times as large. The first
circle is the one that was enough in this neighbourhood the last time.

Workers are compared on a flat map first, with a margin that covers what the map bends; the few who remain are measured
on the sphere. Where a flat map does not serve, the sphere is used for all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import cos, inf, radians, sqrt

import numpy as np

from engine.index.ground import BENT, CELL, DEGREE_M, FLAT_LAT, FLAT_LNG, disc, disk_of, ground
from engine.index.pool import City, Kinds, Pool
from engine.index.positions import BORN, KIND, LAT, LNG, ROW, Floats, Ints, Row, Slots
from engine.rules.nouns import Point
from engine.rules.place import apart, cell_of, mean_edge, parent_of

# In edge lengths of the resolution's mean hexagon, measured over the whole earth, pentagons included (the tests measure
# again): a cell reaches 1.102 from its centre, and all finer cells that belong to it 1.15; the centres of ring k are at
# least 1.05 k from the centre of ring 0.
REACH, SPREAD, STEP = 1.12, 1.2, 1.03
# The same in reaches of the cell in the middle, which says more nearby; for the first NEARBY rings alone.
NEARBY, NEAR_REACH, NEAR_SPREAD, NEAR_STEP = 4, 1.1, 1.2, 1.2
STICKS_OUT = 1.13  # so much farther than a cell itself reach the finer cells that belong to it
NEAR_BENT, _NEAR = 1.004, (10_000 / DEGREE_M) ** 2  # within 10 km a flat map bends by less than this
_EARTH_M = 21_000_000.0  # nobody is farther away
_FLAT_M = 150_000.0  # as far as a flat map bends by less than BENT
BENT_NEAR = 1.01  # as much within 30 km
_RARE = 8  # a skill that one in so many has, or fewer, is looked for among those who have it
_FIRST_M, _LEAST_M = 800.0, 100.0  # the first circle ever, and the least
_WIDER, _AGAIN = 3.0, 1.4  # how much it grows, and how much to spare the next time
_HOODS_UP, _HOODS = 2, 4_096  # a neighbourhood is a cell so much coarser than the grid; how many are remembered

Hit = tuple[float, str, Row]  # metres, worker id (for ties), what is held of the worker


@dataclass(slots=True, kw_only=True)
class Wanted:
    """Whom to find: ``need`` of them born at ``fresh_from`` or later, at most ``max_m`` away.

    ``kinds``: for each kind of worker whether it is wanted; None: anybody.
    """

    place: Point
    need: int
    max_m: float
    kinds: Kinds | None = None
    fresh_from: float = -inf


@dataclass(frozen=True, slots=True)
class Found:
    """Who was found, nearest first; how far the search is complete; how many rings of cells it looked into."""

    hits: list[Hit]
    reach_m: float
    rings: int


def nearest(city: City, pool: Pool, wanted: Wanted, who: object) -> Found:
    """Everyone wanted as far as the ``need``-th fresh one. ``pool``: holds all who are wanted. ``who``: what tells
    searches of this kind from others, for the memory of the first circle."""
    if pool.count * _RARE > city.count:
        pool = city.everybody
    look = _Look(city, pool, wanted)
    if not pool.cells:
        return look.result(0)
    hood = (who, wanted.need, parent_of(look.origin.cell, pool.res - _HOODS_UP))
    reach_m = min(city.reaches.get(hood, _FIRST_M), look.bound_m())
    while not look.within(reach_m):
        reach_m = min(look.bound_m() if look.enough else _WIDER * reach_m, look.bound_m())
    if len(city.reaches) >= _HOODS:
        city.reaches.clear()
    city.reaches[hood] = max(_LEAST_M, look.bound_m() * _AGAIN if look.enough else reach_m)
    return look.result(look.rings)


class _Look:
    """One search. Distances on the flat map are squares of degrees of latitude; ``_bound`` follows the ``need``-th
    fresh worker. ``enough``: so many were found."""

    def __init__(self, city: City, pool: Pool, wanted: Wanted) -> None:
        place, res = wanted.place, pool.res
        self._city, self._pool, self._wanted = city, pool, wanted
        self._lat, self._lng, self._shrink = place.lat, place.lng, cos(radians(place.lat))
        self._flat = abs(place.lat) < FLAT_LAT and abs(place.lng) < FLAT_LNG and wanted.max_m <= _FLAT_M
        self.origin = ground(cell_of(place.lat, place.lng, res))
        self._off_m = apart((place.lat, place.lng), (self.origin.lat, self.origin.lng), "m")
        self._reach, self._near_reach = (SPREAD, NEAR_SPREAD) if pool.finer else (REACH, NEAR_REACH)
        self._bound = (min(wanted.max_m, _EARTH_M) / DEGREE_M * BENT) ** 2
        self.enough, self.rings = False, 0
        self._slots: Slots = np.empty(0, dtype=np.int64)
        self._seen: Ints = np.empty((0, 8), dtype=np.int64)
        self._squares: Floats = np.empty(0)

    def bound_m(self) -> float:
        """Nobody farther than this matters any more."""
        return sqrt(self._bound) * DEGREE_M

    def within(self, reach_m: float) -> bool:
        """Look at everybody who may be within a circle. True: nobody who matters is outside."""
        cells, whole = self._touched(reach_m)
        known = self._pool.cells
        self._slots = np.frombuffer(b"".join([known[cell] for cell in cells if cell in known]), dtype=np.int64)
        self._seen = self._city.positions.seen.take(self._slots, axis=0)
        degrees = self._seen.view(np.float64)
        squares = self._from_here(degrees[:, LAT], degrees[:, LNG])
        if self._wanted.kinds is not None:
            squares[~self._wanted.kinds[self._seen[:, KIND]]] = inf
        self._squares = squares
        self._tighten(squares[self._seen[:, BORN] >= self._wanted.fresh_from])
        return whole or self.bound_m() <= reach_m * (1 + 1e-9)

    def _tighten(self, fresh: Floats) -> None:
        need = self._wanted.need
        if len(fresh) < need:
            return
        fresh.partition(need - 1)
        last = float(fresh[need - 1])
        if last <= self._bound:
            bent = NEAR_BENT if last < _NEAR else BENT
            self._bound, self.enough = min(self._bound, last * bent**4), True  # bent one way, and the other way back

    def _touched(self, reach_m: float) -> tuple[Iterable[int], bool]:
        """The cells that can hold somebody within a circle; and whether these are all there are."""
        ring = 1
        while self._beyond_m(ring + 1) < reach_m:
            ring += 1
            if 3 * ring * (ring + 1) > 2 * len(self._pool.cells):
                self.rings = ring
                return self._pool.cells, True
        self.rings = ring
        if not self._flat or ring > NEARBY:
            return disk_of(self.origin.cell, ring), False
        bent, reach = STICKS_OUT * BENT_NEAR if self._pool.finer else BENT_NEAR, reach_m / DEGREE_M
        here_lat, here_lng, shrink = self._lat, self._lng, self._shrink
        return [
            cell
            for cell, lat, lng, r in CELL.iter_unpack(disc(self.origin.cell, ring))
            if (lat - here_lat) ** 2 + ((lng - here_lng) * shrink) ** 2 <= (reach + r * bent) ** 2
        ], False

    def _beyond_m(self, ring: int) -> float:
        """Nobody in this ring, or a later one, is nearer than this."""
        if ring <= NEARBY:
            return (NEAR_STEP * ring - self._near_reach) * self.origin.reach_m - self._off_m
        return (STEP * ring - self._reach) * mean_edge(self._pool.res, "m") - self._off_m

    def _from_here(self, lat: Floats, lng: Floats) -> Floats:
        """Squares of degrees from the place."""
        if self._flat:
            y, x = lat - self._lat, lng - self._lng
            x *= self._shrink
            y *= y
            x *= x
            y += x
            return y
        here = (self._lat, self._lng)
        metres = [apart(here, each, "m") for each in zip(lat.tolist(), lng.tolist(), strict=True)]
        return (np.array(metres, dtype=np.float64) / DEGREE_M) ** 2

    def result(self, rings: int) -> Found:
        """The hits by true distance, and how far they are complete."""
        hits, wanted = self._hits(), self._wanted
        reach_m, need = wanted.max_m, wanted.need
        for metres, _, row in hits:
            need -= row[BORN] >= wanted.fresh_from
            if need == 0:
                reach_m = min(reach_m, metres)
                break
        while hits and hits[-1][0] > reach_m:
            hits.pop()
        return Found(hits, reach_m, rings)

    def _hits(self) -> list[Hit]:
        here, ids = (self._lat, self._lng), self._city.ids
        at = (self._squares <= self._bound).nonzero()[0]
        rows: Iterable[Row] = ROW.iter_unpack(self._seen.take(at, axis=0).data)
        slots: Sequence[int] = self._slots.take(at).tolist()
        hits = [(apart(here, row[:2], "m"), ids[slot], row) for slot, row in zip(slots, rows, strict=True)]
        hits.sort()  # nobody is in two cells: ties end at the id
        return hits
