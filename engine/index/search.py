"""The search outward from a place, ring by ring, exact and never over everybody.

Workers are compared on a flat map first (a fraction of the cost of a great circle), with a margin that covers what the map
bends; the few who remain are measured on the sphere. Where a flat map does not serve, all are measured on the sphere.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import count
from math import cos, inf, radians, sqrt
from typing import Protocol

import h3.api.basic_int as h3
import h3.api.memview_int as lean
from h3.api.basic_int import great_circle_distance

from engine.index.pool import Cell, Pool, Tracked
from engine.rules.nouns import Point

# In edge lengths of the resolution's mean hexagon, measured over the whole earth, pentagons included (the tests measure
# again): a cell reaches 1.102 from its centre; the centres of ring k are at least 1.05 k from the centre of ring 0.
REACH, STEP = 1.12, 1.03
_DEGREE_M = 111_195.08  # of latitude, on H3's sphere
_FLAT_LAT, _FLAT_LNG, _FLAT_M = 66.0, 175.0, 150_000.0  # where a flat map bends by less than 4 %
_BENT = 1.04
_AT_ONCE = 2  # rings looked at together before the first bound: cheaper than one by one

class _Placed(Protocol):
    lat: float
    lng: float


Hit = tuple[float, str, Tracked]  # metres, worker id (ties), worker


@dataclass(frozen=True, slots=True)
class Found:
    """Who was found, nearest first; how far the search is complete; how many rings it walked."""

    hits: list[Hit]
    reach_m: float
    rings: int


def nearest(
    pool: Pool,
    place: Point,
    res: int,
    *,
    need: int,
    max_m: float,
    wanted: frozenset[str] | None,
    fits: bool,
    fresh_from: float = -inf,
) -> Found:
    """Everyone in the pool as far as the ``need``-th fresh one, at most ``max_m``.

    ``wanted`` and ``fits``: only those who have (or, False, who lack) these skills. Rings are walked until nobody beyond
    them can be nearer. When the rings hold more cells than twice those where the pool has anybody, these are looked at
    instead, so that a rare skill never walks an empty country.
    """
    edge_m = h3.average_hexagon_edge_length(res, "m")
    search = _Search(place, need, max_m, wanted, fits, fresh_from, REACH * edge_m)
    origin = h3.latlng_to_cell(place.lat, place.lng, res)
    off_m = REACH * edge_m + great_circle_distance((place.lat, place.lng), h3.cell_to_latlng(origin), "m")
    around: Iterable[int] = lean.grid_disk(origin, _AT_ONCE)
    ring, cells, get, walked = _AT_ONCE, pool.cells, pool.cells.get, 0
    while pool.count:
        search.look([cell for cell in map(get, around) if cell])
        ring += 1
        walked += 6 * ring
        if STEP * edge_m * ring - off_m > search.bound_m():
            break
        if walked > 2 * len(cells):
            search.clear()
            search.look(cells.values())
            break
        around = ring_of(origin, ring)
    hits, reach_m = search.result()
    return Found(hits, reach_m, ring)


def ring_of(origin: int, k: int) -> Iterable[int]:
    """The cells at grid distance k. Rings round a pentagon are short, and some versions of H3 refuse them."""
    try:
        return lean.grid_ring(origin, k)
    except lean.H3BaseException:
        return set(h3.grid_disk(origin, k)) - set(h3.grid_disk(origin, k - 1))


class _Search:
    """What was found so far, by squares of degrees of latitude. ``_bound`` shrinks with the ``need``-th fresh worker."""

    def __init__(
        self,
        place: Point,
        need: int,
        max_m: float,
        wanted: frozenset[str] | None,
        fits: bool,
        fresh_from: float,
        cell_m: float,
    ) -> None:
        self._lat, self._lng, self._need, self._max_m = place.lat, place.lng, need, max_m
        self._wanted, self._fits, self._fresh_from = wanted, fits, fresh_from
        self._cell_deg = cell_m / _DEGREE_M * _BENT
        flat = abs(place.lat) < _FLAT_LAT and abs(place.lng) < _FLAT_LNG and max_m <= _FLAT_M
        self._squares = self._flat if flat else self._round
        self._shrink = cos(radians(place.lat))  # of a degree of longitude
        self.clear()

    def clear(self) -> None:
        self._found: list[tuple[float, Tracked]] = []
        self._fresh: list[float] = []
        self._bound = (self._max_m / _DEGREE_M * _BENT) ** 2

    def bound_m(self) -> float:
        """Nobody farther than this matters any more."""
        return sqrt(self._bound) * _DEGREE_M

    def look(self, cells: Collection[Cell]) -> None:
        """Look into the cells, the nearest first, until the next one can hold nobody who matters."""
        for centre, _, cell in sorted(zip(self._squares(cells), count(), cells, strict=False)):
            if centre > (sqrt(self._bound) + self._cell_deg) ** 2:
                break
            self._look_at(cell.workers)
            if len(self._fresh) >= self._need:
                self._fresh.sort()
                del self._fresh[self._need :]
                self._bound = min(self._bound, self._fresh[-1] * _BENT**4)  # bent one way, and the other way back

    def _look_at(self, workers: Collection[Tracked]) -> None:
        wanted, fits, bound, fresh_from = self._wanted, self._fits, self._bound, self._fresh_from
        if wanted is not None:
            workers = [worker for worker in workers if (wanted <= worker.skills) is fits]
        for square, worker in zip(self._squares(workers), workers, strict=True):
            if square <= bound:
                self._found.append((square, worker))
                if worker.born_mono_ms >= fresh_from:
                    self._fresh.append(square)

    def _flat(self, things: Iterable[_Placed]) -> list[float]:
        lat, lng, shrink = self._lat, self._lng, self._shrink
        return [(y := each.lat - lat) * y + (x := (each.lng - lng) * shrink) * x for each in things]

    def _round(self, things: Iterable[_Placed]) -> list[float]:
        here = (self._lat, self._lng)
        return [(great_circle_distance(here, (each.lat, each.lng), "m") / _DEGREE_M) ** 2 for each in things]

    def result(self) -> tuple[list[Hit], float]:
        """The hits by true distance, and how far they are complete."""
        here, bound, most = (self._lat, self._lng), self._bound, self._max_m
        measured = [
            (great_circle_distance(here, (worker.lat, worker.lng), "m"), worker.worker_id, worker)
            for square, worker in self._found
            if square <= bound
        ]
        hits = sorted([hit for hit in measured if hit[0] <= most])
        fresh = [metres for metres, _, worker in hits if worker.born_mono_ms >= self._fresh_from]
        if len(fresh) < self._need:
            return hits, most
        reach_m = fresh[self._need - 1]
        return [hit for hit in hits if hit[0] <= reach_m], reach_m
