"""Workers who may report, and the pools they are found in: by skill, by cell."""

from dataclasses import dataclass
from typing import Protocol, cast

import h3.api.basic_int as h3

from engine.rules.nouns import Presence

class _CellOf(Protocol):
    def __call__(self, lat: float, lng: float, res: int, /) -> int: ...


cell_of = cast(_CellOf, h3.latlng_to_cell)  # the bare function: the hot loop pays for every wrapper


class Tracked(Presence):
    """A worker who may report. A position is ``known`` once there was one, ``hot`` while it is in the pools."""

    __slots__ = (
        "born_mono_ms",  # when the position was true, on the clock that does not jump
        "dirty",
        "due_mono_ms",
        "hot",
        "known",
        "pools",
        "sampled_late_ms",
        "sampled_ms",
        "skills",
    )

    def __init__(self, worker_id: str, skills: frozenset[str]) -> None:
        super().__init__(
            worker_id=worker_id,
            lat=0.0,
            lng=0.0,
            cell=0,
            accuracy_m=None,
            device_ms=0,
            seq=None,
            received_ms=0,
            lag_ms=0,
            seen_mono_ms=0,
            contact_mono_ms=0,
        )
        self.skills = skills
        self.known = self.hot = self.dirty = False
        self.born_mono_ms = self.due_mono_ms = 0
        self.sampled_ms = self.sampled_late_ms = -(10**15)
        self.pools: tuple[Pool, ...] = ()

    def copy(self) -> Presence:
        """What is held now, as a plain presence."""
        return Presence(
            worker_id=self.worker_id,
            lat=self.lat,
            lng=self.lng,
            cell=self.cell,
            accuracy_m=self.accuracy_m,
            device_ms=self.device_ms,
            seq=self.seq,
            received_ms=self.received_ms,
            lag_ms=self.lag_ms,
            seen_mono_ms=self.seen_mono_ms,
            contact_mono_ms=self.contact_mono_ms,
        )


@dataclass(slots=True)
class Cell:
    """The workers of a cell, and its centre."""

    lat: float
    lng: float
    workers: set[Tracked]


class Pool:
    """The hot workers who share something (a skill), by cell."""

    __slots__ = ("cells", "count")

    def __init__(self) -> None:
        self.cells: dict[int, Cell] = {}
        self.count = 0

    def put(self, worker: Tracked) -> None:
        cell = self.cells.get(worker.cell)
        if cell is None:
            cell = self.cells[worker.cell] = Cell(*h3.cell_to_latlng(worker.cell), set())
        cell.workers.add(worker)
        self.count += 1

    def take(self, worker: Tracked) -> None:
        cell = self.cells[worker.cell]
        cell.workers.remove(worker)
        self.count -= 1
        if not cell.workers:
            del self.cells[worker.cell]
