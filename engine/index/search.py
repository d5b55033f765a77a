"""The search outward from a place, ring by ring: exact, and never over everybody.

Workers are compared on a flat map first (a fraction of the cost of a great circle), with a margin that covers what the map
bends; the few who remain are measured on the sphere. Where a flat map does not serve, all are measured on the sphere.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import cos, inf, radians, sqrt

import h3.api.basic_int as h3
import h3.api.memview_int as lean
from h3.api.basic_int import great_circle_distance

from engine.index.pool import City, Column, Pool, Tracked
from engine.rules.nouns import Point

# In edge lengths of the resolution's mean hexagon, measured over the whole earth, pentagons included (the tests measure
# again): a cell reaches 1.102 from its centre; the centres of ring k are at least 1.05 k from the centre of ring 0.
REACH, STEP = 1.12, 1.03
_DEGREE_M = 111_195.08  # of latitude, on H3's sphere
_FLAT_LAT, _FLAT_LNG, _FLAT_M = 66.0, 175.0, 150_000.0  # where a flat map bends by less than 4 %
_BENT = 1.04
_AT_ONCE = 2  # rings looked at together before the first bound: cheaper than one by one
_RARE = 8  # a skill that one in so many has, or fewer, is looked for among those who have it

Hit = tuple[float, str, Tracked]  # metres, worker id (ties), worker
Spot = tuple[float, Tracked]  # square of degrees


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

    Rings are walked until nobody beyond them can be nearer. When the rings hold more cells than twice those where anybody
    is, these are looked at instead, so that a rare skill never walks an empty country.
    """
    rare = pool is not None and pool.count * _RARE <= city.count
    look = _LookInPool(city, pool, wanted) if pool is not None and rare else _LookInColumns(city, wanted)
    place, edge_m = wanted.place, h3.average_hexagon_edge_length(wanted.res, "m")
    origin = h3.latlng_to_cell(place.lat, place.lng, wanted.res)
    off_m = REACH * edge_m + great_circle_distance((place.lat, place.lng), h3.cell_to_latlng(origin), "m")
    around: Iterable[int] = lean.grid_disk(origin, _AT_ONCE)
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
        return lean.grid_ring(origin, k)
    except lean.H3BaseException:
        return set(h3.grid_disk(origin, k)) - set(h3.grid_disk(origin, k - 1))


class _Look:
    """What was found so far, by squares of degrees of latitude. ``_bound`` shrinks with the ``need``-th fresh worker."""

    def __init__(self, columns: Mapping[int, Column], occupied: int, wanted: Wanted) -> None:
        place, edge_m = wanted.place, h3.average_hexagon_edge_length(wanted.res, "m")
        self._columns, self.occupied, self._wanted = columns, occupied, wanted
        self._lat, self._lng, self._shrink = place.lat, place.lng, cos(radians(place.lat))
        self._cell_deg = REACH * edge_m / _DEGREE_M * _BENT
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
        columns, need = self._columns, self._wanted.need
        cells = self._with_anybody(cells)
        lats, lngs = [columns[cell].lat for cell in cells], [columns[cell].lng for cell in cells]
        for centre, cell in sorted(zip(self._squares(lats, lngs), cells, strict=True)):
            if centre > (sqrt(self._bound) + self._cell_deg) ** 2:
                break
            self._look_at(cell)
            if len(self._fresh) >= need:
                self._fresh = sorted(self._fresh)[:need]
                self._bound = min(self._bound, self._fresh[-1] * _BENT**4)  # bent one way, and the other way back

    def everywhere(self) -> None:
        """Start again, over every cell where anybody is."""
        self._forget()
        self.into(self._all())

    def _with_anybody(self, cells: Iterable[int]) -> list[int]:
        raise NotImplementedError

    def _all(self) -> Iterable[int]:
        raise NotImplementedError

    def _look_at(self, cell: int) -> None:
        raise NotImplementedError

    def _flat(self, lats: Sequence[float], lngs: Sequence[float]) -> list[float]:
        lat, lng, shrink = self._lat, self._lng, self._shrink
        return [(y := a - lat) * y + (x := (b - lng) * shrink) * x for a, b in zip(lats, lngs, strict=True)]

    def _round(self, lats: Sequence[float], lngs: Sequence[float]) -> list[float]:
        here = (self._lat, self._lng)
        return [(great_circle_distance(here, spot, "m") / _DEGREE_M) ** 2 for spot in zip(lats, lngs, strict=True)]

    def result(self, rings: int) -> Found:
        """The hits by true distance, and how far they are complete."""
        here, bound, wanted = (self._lat, self._lng), self._bound, self._wanted
        hits = [
            (great_circle_distance(here, (worker.lat, worker.lng), "m"), worker.worker_id, worker)
            for square, worker in self._found
            if square <= bound
        ]
        hits = sorted([hit for hit in hits if hit[0] <= wanted.max_m])
        fresh = [metres for metres, _, worker in hits if worker.born_mono_ms >= wanted.fresh_from]
        if len(fresh) < wanted.need:
            return Found(hits, wanted.max_m, rings)
        reach_m = fresh[wanted.need - 1]
        return Found([hit for hit in hits if hit[0] <= reach_m], reach_m, rings)


class _LookInColumns(_Look):
    """Over everybody's columns: for skills that many have, and for those who lack one."""

    def __init__(self, city: City, wanted: Wanted) -> None:
        super().__init__(city.columns, len(city.columns), wanted)

    def _with_anybody(self, cells: Iterable[int]) -> list[int]:
        columns = self._columns
        return [cell for cell in cells if cell in columns]

    def _all(self) -> Iterable[int]:
        return self._columns

    def _look_at(self, cell: int) -> None:
        column, bound, kinds, fits = self._columns[cell], self._bound, self._wanted.kinds, self._wanted.fits
        borns, fresh_from, squares = column.borns, self._wanted.fresh_from, self._squares(column.lats, column.lngs)
        slots = [slot for slot, square in enumerate(squares) if square <= bound]
        if kinds is not None:
            slots = [slot for slot in slots if (column.kinds[slot] in kinds) is fits]
        self._found += [(squares[slot], column.workers[slot]) for slot in slots]
        self._fresh += [squares[slot] for slot in slots if borns[slot] >= fresh_from]


class _LookInPool(_Look):
    """Among the few who have a skill."""

    def __init__(self, city: City, pool: Pool, wanted: Wanted) -> None:
        super().__init__(city.columns, len(pool.cells), wanted)
        self._pool = pool.cells

    def _with_anybody(self, cells: Iterable[int]) -> list[int]:
        pool = self._pool
        return [cell for cell in cells if cell in pool]

    def _all(self) -> Iterable[int]:
        return self._pool

    def _look_at(self, cell: int) -> None:
        bound, kinds, fits, fresh_from = self._bound, self._wanted.kinds, self._wanted.fits, self._wanted.fresh_from
        workers = [each for each in self._pool[cell] if kinds is None or (each.kind in kinds) is fits]
        squares = self._squares([each.lat for each in workers], [each.lng for each in workers])
        found = [spot for spot in zip(squares, workers, strict=True) if spot[0] <= bound]
        self._found += found
        self._fresh += [square for square, worker in found if worker.born_mono_ms >= fresh_from]
