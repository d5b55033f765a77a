"""The search outward from a place, ring by ring: exact, and never over everybody.

Workers are compared on a flat map first (a fraction of the cost of a great circle), with a margin that covers what the
map bends; the few who remain are measured on the sphere. Where a flat map does not serve, the sphere is used for all.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import cos, inf, radians, sqrt

from engine.index.ground import BENT, DEGREE_M, FLAT_LAT, FLAT_LNG, Ground, Ring, about, ground, near_ring, ring_of
from engine.index.pool import City, Column, Pool
from engine.rules.nouns import Point
from engine.rules.place import apart, cell_of, mean_edge

# In edge lengths of the resolution's mean hexagon, measured over the whole earth, pentagons included (the tests measure
# again): a cell reaches 1.102 from its centre, and all finer cells that belong to it 1.15; the centres of ring k are at
# least 1.05 k from the centre of ring 0.
REACH, SPREAD, STEP = 1.12, 1.2, 1.03
# The same in reaches of the cell in the middle, which says more nearby; for the first NEARBY rings alone.
NEARBY, NEAR_REACH, NEAR_SPREAD, NEAR_STEP = 4, 1.1, 1.2, 1.2
NEAR_BENT, _NEAR = 1.004, (10_000 / DEGREE_M) ** 2  # within 10 km a flat map bends by less than this
_EARTH_M = 21_000_000.0  # nobody is farther away
_FLAT_M = 150_000.0  # as far as a flat map bends by less than BENT
_RARE = 8  # a skill that one in so many has, or fewer, is looked for among those who have it
_SPARSE = 16  # where a coarse cell holds so many or fewer, the coarse cells are walked

Spot = tuple[float, Column, int]  # square of degrees, column, slot
Hit = tuple[float, str, Column, int]  # metres, worker id (for ties), column, slot


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Whom to find: ``need`` of them born at ``fresh_from`` or later, at most ``max_m`` away.

    ``kinds``: only workers of these kinds (or, ``fits`` False, of all others); None: anybody.
    """

    place: Point
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


def nearest(city: City, pool: Pool, wanted: Wanted) -> Found:
    """Everyone wanted as far as the ``need``-th fresh one. ``pool``: holds all who are wanted.

    Rings are walked until nobody beyond them can be nearer. When the rings hold more cells than twice those where
    anybody is, these are looked at instead, so that a rare skill never walks an empty country.
    """
    few = pool.count * _RARE <= city.count or pool.count <= _SPARSE * len(pool.cells)
    look = _LookInPool(city, pool, wanted) if few else _Look(city, wanted)
    ring, walked, occupied = 1, 7, len(look.cells)
    if occupied:
        look.into(about(look.origin.cell))
    while occupied and look.bound_m() >= look.beyond_m(ring + 1):
        ring += 1
        walked += 6 * ring
        if walked > 2 * occupied:
            look.everywhere()
            break
        look.into(near_ring(look.origin.cell, ring) if ring <= NEARBY else Ring(ring_of(look.origin.cell, ring)))
    return look.result(ring)


class _Look:
    """Over everybody's columns: for skills that many have, and for those who lack one.

    Holds what was found so far, by squares of degrees of latitude; ``_bound`` follows the ``need``-th fresh worker.
    """

    finer, reach, near_reach = 1, REACH, NEAR_REACH

    def __init__(self, city: City, wanted: Wanted) -> None:
        place, res = wanted.place, city.res + self.finer
        self.cells: Collection[int] = city.columns
        self._columns, self._wanted = city.columns, wanted
        self._lat, self._lng, self._shrink = place.lat, place.lng, cos(radians(place.lat))
        self._flat = abs(place.lat) < FLAT_LAT and abs(place.lng) < FLAT_LNG and wanted.max_m <= _FLAT_M
        self.origin: Ground = ground(cell_of(place.lat, place.lng, res))
        self._off_m = apart((place.lat, place.lng), (self.origin.lat, self.origin.lng), "m")
        self._edge_m = mean_edge(res, "m")
        self._forget()

    def _forget(self) -> None:
        self._found: list[Spot] = []
        self._fresh: list[float] = []
        self._bound = (min(self._wanted.max_m, _EARTH_M) / DEGREE_M * BENT) ** 2

    def bound_m(self) -> float:
        """Nobody farther than this matters any more."""
        return sqrt(self._bound) * DEGREE_M

    def beyond_m(self, ring: int) -> float:
        """Nobody in this ring, or a later one, is nearer than this."""
        if ring <= NEARBY:
            return (NEAR_STEP * ring - self.near_reach) * self.origin.reach_m - self._off_m
        return (STEP * ring - self.reach) * self._edge_m - self._off_m

    def into(self, ring: Ring) -> None:
        """Look into those of the cells that can hold somebody who matters."""
        fresh_from, bound = self._wanted.fresh_from, self._bound
        all_of_them = [(column, self._fitting(column)) for column in self._with_anybody(ring)]
        seen = [each for each in all_of_them if min(each[1]) <= bound]
        self._fresh += [
            square
            for column, squares in seen
            for square, born in zip(squares, column.notes[::4], strict=True)
            if square <= bound and born >= fresh_from
        ]
        bound = self._tighten()
        self._found += [
            (square, column, slot) for column, squares in seen for slot, square in enumerate(squares) if square <= bound
        ]

    def everywhere(self) -> None:
        """Start again, over every cell where anybody is."""
        self._forget()
        self.into(Ring(self.cells))

    def _tighten(self) -> float:
        fresh, need = self._fresh, self._wanted.need
        if len(fresh) >= need:
            fresh.sort()
            del fresh[need:]
            bent = NEAR_BENT if fresh[-1] < _NEAR else BENT
            self._bound = min(self._bound, fresh[-1] * bent**4)  # bent one way, and the other way back
        return self._bound

    def _with_anybody(self, ring: Ring) -> list[Column]:
        """The columns of a ring's cells that can hold somebody who matters."""
        cells: Iterable[int] = ring.cells
        if self._flat and ring.rows:
            row, reach = iter(ring.rows), sqrt(self._bound)
            lat, lng, shrink = self._lat, self._lng, self._shrink
            cells = [
                cell
                for cell, a, b, r in zip(ring.cells, row, row, row, strict=True)
                for y in [a - lat]  # a plain assignment to Python
                for x in [(b - lng) * shrink]
                if y * y + x * x <= (reach + r) ** 2
            ]
        return [column for column in map(self._columns.get, cells) if column]

    def _fitting(self, column: Column) -> list[float]:
        """The squares of a column; infinite, which is within no bound, for workers of the wrong kind."""
        squares, kinds, fits = self._squares(column.rows), self._wanted.kinds, self._wanted.fits
        if kinds is None:
            return squares
        pairs = zip(squares, column.notes[2::4], strict=True)
        return [square if (kind in kinds) is fits else inf for square, kind in pairs]

    def _squares(self, rows: Iterable[float]) -> list[float]:
        """``rows``: latitude, longitude and something else, in turn."""
        row, lat, lng = iter(rows), self._lat, self._lng
        if self._flat:
            shrink = self._shrink
            return [
                y * y + x * x
                for a, b, _ in zip(row, row, row, strict=True)
                for y in [a - lat]  # a plain assignment to Python
                for x in [(b - lng) * shrink]
            ]
        return [(apart((lat, lng), (a, b), "m") / DEGREE_M) ** 2 for a, b, _ in zip(row, row, row, strict=True)]

    def result(self, rings: int) -> Found:
        """The hits by true distance, and how far they are complete."""
        here, bound, wanted = (self._lat, self._lng), self._bound, self._wanted
        hits = [
            (apart(here, (rows[3 * slot], rows[3 * slot + 1]), "m"), column.ids[slot], column, slot)
            for square, column, slot in self._found
            if square <= bound
            for rows in [column.rows]
        ]
        hits.sort()  # a worker is in one slot: ties end at its id
        reach_m, need = wanted.max_m, wanted.need
        for metres, _, column, slot in hits:
            need -= column.notes[4 * slot] >= wanted.fresh_from
            if need == 0:
                reach_m = min(reach_m, metres)
                break
        while hits and hits[-1][0] > reach_m:
            hits.pop()
        return Found(hits, reach_m, rings)


class _LookInPool(_Look):
    """Among the few who have a skill, or in a thinly settled place among all."""

    finer, reach, near_reach = -1, SPREAD, NEAR_SPREAD

    def __init__(self, city: City, pool: Pool, wanted: Wanted) -> None:
        super().__init__(city, wanted)
        self._pool = self.cells = pool.cells

    def into(self, ring: Ring) -> None:
        kinds, fits, fresh_from = self._wanted.kinds, self._wanted.fits, self._wanted.fresh_from
        nobody: tuple[()] = ()
        about = [worker for cell in ring.cells for worker in self._pool.get(cell, nobody)]
        workers = [worker for worker in about if kinds is None or (worker.kind in kinds) is fits]
        squares = self._squares([each for worker in workers for each in (worker.lat, worker.lng, 0.0)])
        pairs, bound = list(zip(squares, workers, strict=True)), self._bound
        self._fresh += [square for square, each in pairs if square <= bound and each.born_mono_ms >= fresh_from]
        bound = self._tighten()
        self._found += [(square, worker.column, worker.slot) for square, worker in pairs if square <= bound]
