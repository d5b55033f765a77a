"""Workers who may report, and where they are kept: all of them in a grid of columns, and by skill in pools of cells.

The columns of a cell lie side by side in memory. A search over a full city reads hundreds of positions it has not
touched for a while; following a pointer for each of them costs more than the arithmetic.
"""

from array import array
from typing import Self

from engine.rules.nouns import Presence
from engine.rules.place import LatLng, apart, boundary_of, centre_of

DEGREE_M = 111_195.08  # of latitude, on H3's sphere
BENT = 1.04  # how much a flat map may be wrong, see the search
NEVER_MS = -(10**15)


class Tracked(Presence):
    """A worker who may report. A position is ``known`` once there was one, ``hot`` while it is in the grid."""

    __slots__ = (
        "born_mono_ms",  # when the position was true, on the clock that does not jump
        "column",
        "dirty",
        "due_mono_ms",
        "hot",
        "kind",
        "known",
        "sampled_late_ms",
        "sampled_ms",
        "skills",
        "slot",
    )

    def __init__(self, worker_id: str, skills: frozenset[str], kind: int) -> None:
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
        self.skills, self.kind = skills, kind
        self.known = self.hot = self.dirty = False
        self.born_mono_ms = self.due_mono_ms = 0
        self.sampled_ms = self.sampled_late_ms = NEVER_MS
        self.column, self.slot = NOWHERE, -1

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


class Column:
    """A cell's hot workers: one slot each in every list. ``lat``, ``lng``: its centre; ``reach_deg``: its radius."""

    __slots__ = ("borns", "cell", "kinds", "lat", "lats", "lng", "lngs", "reach_deg", "workers")

    def __init__(self, cell: int, centre: LatLng, reach_m: float) -> None:
        self.cell, self.reach_deg = cell, reach_m / DEGREE_M * BENT
        self.lat, self.lng = centre
        self.lats, self.lngs = array("d"), array("d")
        self.borns, self.kinds = array("q"), array("q")
        self.workers: list[Tracked] = []

    def put(self, worker: Tracked) -> None:
        worker.column, worker.slot = self, len(self.workers)
        self.workers.append(worker)
        self.lats.append(worker.lat)
        self.lngs.append(worker.lng)
        self.borns.append(worker.born_mono_ms)
        self.kinds.append(worker.kind)

    def take(self, worker: Tracked) -> None:
        """The last one moves into the slot that falls empty."""
        slot, last = worker.slot, self.workers[-1]
        self.workers[slot] = last
        last.slot = slot
        self.workers.pop()
        for floats in (self.lats, self.lngs):
            floats[slot] = floats[-1]
            floats.pop()
        for numbers in (self.borns, self.kinds):
            numbers[slot] = numbers[-1]
            numbers.pop()
        worker.column, worker.slot = NOWHERE, -1

    @classmethod
    def of(cls, cell: int) -> Self:
        centre = centre_of(cell)
        return cls(cell, centre, max(apart(centre, corner, "m") for corner in boundary_of(cell)))


NOWHERE = Column(0, (0.0, 0.0), 0.0)


class Pool:
    """The hot workers who share a skill, by cell."""

    __slots__ = ("cells", "count")

    def __init__(self) -> None:
        self.cells: dict[int, set[Tracked]] = {}
        self.count = 0

    def put(self, worker: Tracked) -> None:
        self.cells.setdefault(worker.cell, set()).add(worker)
        self.count += 1

    def take(self, worker: Tracked) -> None:
        workers = self.cells[worker.cell]
        workers.remove(worker)
        self.count -= 1
        if not workers:
            del self.cells[worker.cell]


NOBODY = Pool()


class City:
    """One tenant's workers. ``kinds``: a number for each set of skills there is."""

    __slots__ = ("by_skill", "changed", "columns", "count", "due", "fitting", "kinds", "turn", "workers")

    def __init__(self) -> None:
        self.workers: dict[str, Tracked] = {}
        self.columns: dict[int, Column] = {}
        self.count = 0
        self.by_skill: dict[str, Pool] = {}
        self.kinds: dict[frozenset[str], int] = {}
        self.fitting: dict[frozenset[str], frozenset[int]] = {}
        self.changed: list[Tracked] = []
        self.due: list[tuple[int, int, Tracked]] = []
        self.turn = 0

    def kind(self, skills: frozenset[str]) -> int:
        if skills not in self.kinds:
            self.kinds[skills] = len(self.kinds)
            self.fitting.clear()
        return self.kinds[skills]

    def fit(self, wanted: frozenset[str]) -> frozenset[int]:
        """The kinds of worker who have all these skills. Remembered: jobs ask for few different sets."""
        known = self.fitting.get(wanted)
        if known is None:
            known = frozenset(kind for skills, kind in self.kinds.items() if wanted <= skills)
            self.fitting[wanted] = known
        return known

    def rarest(self, wanted: frozenset[str]) -> Pool | None:
        """The smallest pool that holds everyone with these skills; None: any worker will do."""
        pools = [self.by_skill.get(skill, NOBODY) for skill in wanted]
        return min(pools, key=lambda pool: pool.count) if pools else None

    def place(self, worker: Tracked) -> None:
        column = self.columns.get(worker.cell)
        if column is None:
            column = self.columns[worker.cell] = Column.of(worker.cell)
        column.put(worker)
        for skill in worker.skills:
            self.by_skill.setdefault(skill, Pool()).put(worker)
        worker.hot = True
        self.count += 1

    def unplace(self, worker: Tracked) -> None:
        """Take a worker out, before its cell or its skills change."""
        if not worker.hot:
            return
        column = worker.column
        column.take(worker)
        if not column.workers:
            del self.columns[worker.cell]
        for skill in worker.skills:
            self.by_skill[skill].take(worker)
        worker.hot = False
        self.count -= 1
