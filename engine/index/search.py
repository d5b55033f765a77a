"""The search outward from a place, ring by ring: exact, and never over everybody.

Workers are compared on a flat map first (a fraction of the cost of a great circle), with a margin that covers what the
map bends; the few who remain are measured on the sphere. Where a flat map does not serve, the sphere is used for all.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from math import cos, inf, radians, sqrt
from typing import cast

import h3
import h3.api.memview_int as lean

from engine.index.pool import BENT as _BENT
from engine.index.pool import DEGREE_M as _DEGREE_M
from engine.index.pool import City, Column, Pool
from engine.rules.nouns import Point
from engine.rules.place import apart, cell_of, centre_of, mean_edge

_H3Error = cast(type[Exception], vars(h3)["H3BaseException"])
# Without lists in between: the form of H3's answers that costs least.
_disk = cast(Callable[[int, int], Iterable[int]], lean.grid_disk)
_ring = cast(Callable[[int, int], Iterable[int]], lean.grid_ring)
# In edge lengths of the resolution's mean hexagon, measured over the whole earth, pentagons included (the tests measure
# again): a cell reaches 1.102 from its centre; the centres of ring k are at least 1.05 k from the centre of ring 0.
REACH, STEP = 1.12, 1.03
_FLAT_LAT, _FLAT_LNG, _FLAT_M = 66.0, 175.0, 150_000.0  # where a flat map bends by less than BENT
_AT_ONCE = 2  # rings looked at together before the first bound: cheaper than one by one
_RARE = 8  # a skill that one in so many has, or fewer, is looked for among those who have it

Spot = tuple[float, Column, int]  # square of degrees, column, slot
Hit = tuple[float, str, Column, int]  # metres, worker id (for ties), column, slot


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Whom to find: ``need`` of them born at ``fresh_from`` or later, at most ``max_m`` away.

    ``kinds``: only workers of these kinds (or, ``fits`` False, of all others); None: anybody.
    """

    place: Point
    res: int
    need: int
    max_m: float
    kinds: frozenset[int] | None = None
    fits: bool = True
    fresh_from: float = -inf


@dataclass(frozen=True, slots=True)
class Found:
    """Who was found, nearest first; how far the search is complete; how many rings it walked."""

    hits: list[Hit]
    reach_m: float
    rings: int


def nearest(city: City, pool: Pool | None, wanted: Wanted) -> Found:
    """Everyone wanted as far as the ``need``-th fresh one. ``pool``: holds all who are wanted, if they share a skill.

    Rings are walked until nobody beyond them can be nearer. When the rings hold more cells than twice those where
    anybody is, these are looked at instead, so that a rare skill never walks an empty country.
    """
    rare = pool is not None and pool.count * _RARE <= city.count
    look = _LookInPool(city, pool, wanted) if pool is not None and rare else _Look(city, wanted)
    place, edge_m = wanted.place, mean_edge(wanted.res, "m")
    origin = cell_of(place.lat, place.lng, wanted.res)
    off_m = REACH * edge_m + apart((place.lat, place.lng), centre_of(origin), "m")
    around: Iterable[int] = _disk(origin, _AT_ONCE)
    ring, walked = _AT_ONCE, 0
    while look.occupied:
        look.into(around)
        ring += 1
        walked += 6 * ring
        if STEP * edge_m * ring - off_m > look.bound_m():
            break
        if walked > 2 * look.occupied:
            look.everywhere()
            break
        around = ring_of(origin, ring)
    return look.result(ring)


def ring_of(origin: int, k: int) -> Iterable[int]:
    """The cells at grid distance k. Rings round a pentagon are short, and some versions of H3 refuse them."""
    try:
        return _ring(origin, k)
    except _H3Error:
        return set(_disk(origin, k)) - set(_disk(origin, k - 1))


class _Look:
    """Over everybody's columns: for skills that many have, and for those who lack one.

    Holds what was found so far, by squares of degrees of latitude; ``_bound`` follows the ``need``-th fresh worker.
    """

    def __init__(self, city: City, wanted: Wanted) -> None:
        place = wanted.place
        self._columns, self.occupied = city.columns, len(city.columns)
        self._wanted, self._kinds, self._fits = wanted, wanted.kinds, wanted.fits
        self._lat, self._lng, self._shrink = place.lat, place.lng, cos(radians(place.lat))
        flat = abs(place.lat) < _FLAT_LAT and abs(place.lng) < _FLAT_LNG and wanted.max_m <= _FLAT_M
        self._squares = self._flat if flat else self._round
        self._forget()

    def _forget(self) -> None:
        self._found: list[Spot] = []
        self._fresh: list[float] = []
        self._bound = (self._wanted.max_m / _DEGREE_M * _BENT) ** 2

    def bound_m(self) -> float:
        """Nobody farther than this matters any more."""
        return sqrt(self._bound) * _DEGREE_M

    def into(self, cells: Iterable[int]) -> None:
        """Look into the cells, the nearest first, until the next one can hold nobody who matters."""
        columns, need, number = self._with_anybody(cells), self._wanted.need, count()
        squares = self._squares([column.lat for column in columns], [column.lng for column in columns])
        gaps = [sqrt(square) - column.reach_deg for square, column in zip(squares, columns, strict=True)]
        for gap, _, column in sorted(zip(gaps, number, columns, strict=False)):
            if gap > sqrt(self._bound):
                break
            self._look_at(column)
            fresh = self._fresh
            if len(fresh) >= need:
                fresh.sort()
                del fresh[need:]
                self._bound = min(self._bound, fresh[-1] * _BENT**4)  # bent one way, and the other way back

    def everywhere(self) -> None:
        """Start again, over every cell where anybody is."""
        self._forget()
        self.into(self._all())

    def _with_anybody(self, cells: Iterable[int]) -> list[Column]:
        return [column for column in map(self._columns.get, cells) if column]

    def _all(self) -> Iterable[int]:
        return self._columns

    def _look_at(self, column: Column) -> None:
        bound, kinds, fits, fresh_from = self._bound, self._kinds, self._fits, self._wanted.fresh_from
        found, fresh, borns = self._found, self._fresh, column.borns
        for slot, square in enumerate(self._squares(column.lats, column.lngs)):
            if square <= bound and (kinds is None or (column.kinds[slot] in kinds) is fits):
                found.append((square, column, slot))
                if borns[slot] >= fresh_from:
                    fresh.append(square)

    def _flat(self, lats: Sequence[float], lngs: Sequence[float]) -> list[float]:
        lat, lng, shrink = self._lat, self._lng, self._shrink
        return [(y := a - lat) * y + (x := (b - lng) * shrink) * x for a, b in zip(lats, lngs, strict=True)]

    def _round(self, lats: Sequence[float], lngs: Sequence[float]) -> list[float]:
        here = (self._lat, self._lng)
        return [(apart(here, spot, "m") / _DEGREE_M) ** 2 for spot in zip(lats, lngs, strict=True)]

    def result(self, rings: int) -> Found:
        """The hits by true distance, and how far they are complete."""
        here, bound, wanted = (self._lat, self._lng), self._bound, self._wanted
        hits = [
            (apart(here, (column.lats[slot], column.lngs[slot]), "m"), column.workers[slot].worker_id, column, slot)
            for square, column, slot in self._found
            if square <= bound
        ]
        hits.sort()  # a worker is in one slot: ties end at its id
        reach_m, need = wanted.max_m, wanted.need
        for metres, _, column, slot in hits:
            need -= column.borns[slot] >= wanted.fresh_from
            if need == 0:
                reach_m = min(reach_m, metres)
                break
        return Found([hit for hit in hits if hit[0] <= reach_m], reach_m, rings)


class _LookInPool(_Look):
    """Among the few who have a skill."""

    def __init__(self, city: City, pool: Pool, wanted: Wanted) -> None:
        super().__init__(city, wanted)
        self._pool, self.occupied = pool.cells, len(pool.cells)

    def _with_anybody(self, cells: Iterable[int]) -> list[Column]:
        pool, columns = self._pool, self._columns
        return [columns[cell] for cell in cells if cell in pool]

    def _all(self) -> Iterable[int]:
        return self._pool

    def _look_at(self, column: Column) -> None:
        bound, kinds, fits, fresh_from = self._bound, self._kinds, self._fits, self._wanted.fresh_from
        workers = [each for each in self._pool[column.cell] if kinds is None or (each.kind in kinds) is fits]
        squares = self._squares([each.lat for each in workers], [each.lng for each in workers])
        for square, worker in zip(squares, workers, strict=True):
            if square <= bound:
                self._found.append((square, worker.column, worker.slot))
                if worker.born_mono_ms >= fresh_from:
                    self._fresh.append(square)
