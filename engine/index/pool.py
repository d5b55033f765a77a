"""Workers who may report, and where they stand: all of them in a grid of cells, and by skill in pools of larger cells.

Two sizes of cell. The grid has what a person sees (8). The pools are one coarser (7): they serve where few are about.
A cell holds the numbers of its workers side by side, so that a search joins a few of them without touching a worker.
"""

from array import array

import numpy as np
from numpy.typing import NDArray

from engine.index.ground import ground
from engine.index.positions import CELL, HOT, KIND, Positions
from engine.rules.place import parent_of

Kinds = NDArray[np.bool_]


class Pool:
    """The hot workers who share something, by cell. ``finer``: how much finer than its cells the grid is."""

    __slots__ = ("cells", "count", "finer", "res")

    def __init__(self, res: int, finer: int) -> None:
        self.cells: dict[int, array[int]] = {}
        self.count, self.res, self.finer = 0, res, finer

    def put(self, slot: int, cell: int) -> None:
        slots = self.cells.get(cell)
        if slots is None:
            slots = self.cells[cell] = array("q")
        slots.append(slot)
        self.count += 1

    def take(self, slot: int, cell: int) -> None:
        slots = self.cells[cell]
        slots.remove(slot)
        self.count -= 1
        if not slots:
            del self.cells[cell]


class City:
    """One tenant's workers. ``slots``, ``ids``, ``skills``: a worker's row and back. ``everybody``: the grid.

    ``kinds``: a number for each set of skills there is. ``reaches``: how far the last searches of a kind had to look,
    by neighbourhood.
    """

    __slots__ = ("by_skill", "everybody", "fitting", "free", "ids", "kinds", "positions", "reaches", "res", "skills",
                 "slots")  # fmt: skip

    def __init__(self, res: int) -> None:
        self.res = res
        self.positions = Positions()
        self.slots: dict[str, int] = {}
        self.ids: list[str] = []
        self.skills: list[frozenset[str]] = []
        self.free: list[int] = []
        self.everybody = Pool(res, 0)
        self.by_skill: dict[str, Pool] = {}
        self.kinds: dict[frozenset[str], int] = {}
        self.fitting: dict[frozenset[str], Kinds] = {}
        self.reaches: dict[tuple[object, ...], float] = {}

    @property
    def count(self) -> int:
        return self.everybody.count

    # --- who may report -----------------------------------------------------------------------------------------

    def enrol(self, worker_id: str, skills: frozenset[str]) -> None:
        """Again with other skills: the position stays."""
        slot = self.slots.get(worker_id)
        if slot is None:
            slot = self._new_slot(worker_id)
        elif self.skills[slot] == skills:
            return
        hot, cell = self.positions.is_hot(slot), int(self.positions.seen[slot, CELL])
        self.unplace(slot)
        self.skills[slot] = skills
        self.positions.seen[slot, KIND] = self._kind(skills)
        if hot:
            self.place(slot, cell)

    def _new_slot(self, worker_id: str) -> int:
        if self.free:
            slot = self.free.pop()
            self.ids[slot] = worker_id
        else:
            slot = len(self.ids)
            self.ids.append(worker_id)
            self.skills.append(frozenset())
        self.slots[worker_id] = slot
        self.positions.make_room(slot)
        return slot

    def dismiss(self, worker_id: str) -> None:
        slot = self.slots.pop(worker_id, None)
        if slot is not None:
            self.unplace(slot)
            self.positions.make_room(slot)
            self.ids[slot] = ""
            self.free.append(slot)

    def _kind(self, skills: frozenset[str]) -> int:
        if skills not in self.kinds:
            self.kinds[skills] = len(self.kinds)
            self.fitting.clear()
        return self.kinds[skills]

    def fit(self, wanted: frozenset[str]) -> Kinds:
        """For each kind, whether who is of it has all these skills. Remembered: jobs ask for few different sets."""
        known = self.fitting.get(wanted)
        if known is None:
            known = np.array([wanted <= skills for skills in self.kinds], dtype=np.bool_)
            self.fitting[wanted] = known
        return known

    def rarest(self, wanted: frozenset[str]) -> Pool:
        """The smallest pool that holds everyone with these skills."""
        best = self.everybody
        for skill in wanted:
            pool = self.by_skill.get(skill)
            if pool is None:
                return Pool(self.res - 1, 1)  # nobody
            if pool.count < best.count:
                best = pool
        return best

    # --- where they stand ---------------------------------------------------------------------------------------

    def place(self, slot: int, cell: int) -> None:
        """Put a worker who is nowhere into a cell of the grid."""
        self.positions.settle(slot, cell, ground(cell))
        self.everybody.put(slot, cell)
        coarse = parent_of(cell, self.res - 1)
        for pool in self._pools(slot):
            pool.put(slot, coarse)
        self.positions.seen[slot, HOT] = 1

    def unplace(self, slot: int) -> None:
        """Take a worker out, before its skills change or when it is no longer hot."""
        if not self.positions.is_hot(slot):
            return
        cell = self.cell(slot)
        self.everybody.take(slot, cell)
        coarse = parent_of(cell, self.res - 1)
        for pool in self._pools(slot):
            pool.take(slot, coarse)
        self.positions.seen[slot, HOT] = 0

    def move(self, slot: int, cell: int) -> None:
        """To another cell of the grid, from wherever the worker was. Mostly the pools need not know."""
        if not self.positions.is_hot(slot):
            self.place(slot, cell)
            return
        was = self.cell(slot)
        if was == cell:
            return
        self.everybody.take(slot, was)
        self.everybody.put(slot, cell)
        self.positions.settle(slot, cell, ground(cell))
        old, new = parent_of(was, self.res - 1), parent_of(cell, self.res - 1)
        if old != new:
            for pool in self._pools(slot):
                pool.take(slot, old)
                pool.put(slot, new)

    def cell(self, slot: int) -> int:
        return int(self.positions.seen[slot, CELL])

    def _pools(self, slot: int) -> list[Pool]:
        return [self.by_skill.setdefault(skill, Pool(self.res - 1, 1)) for skill in self.skills[slot]]
