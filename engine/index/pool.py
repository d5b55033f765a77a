"""Workers who may report, and where they are kept: all of them in a grid of columns, and by skill in pools of cells.

Three sizes of cell. What a person sees is the site's (8). The grid is one finer (9): a search in a full city then reads
some sixty positions and not two hundred. The pools are one coarser (7): they serve where few are about, and workers
seldom leave them. The columns of a cell lie side by side in memory: following a pointer for each position costs more
than the arithmetic.
"""

from array import array
from math import nan

from engine.index.ground import NO_GROUND, Ground, ground
from engine.rules.nouns import Presence
from engine.rules.place import parent_of

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
    """The hot workers of a cell of the grid, one slot each. ``home``, ``coarse``: the cells above it.

    ``rows``: latitude, longitude and accuracy (NaN: unknown) of each in turn; ``notes``: when the position was true,
    last contact (ms on the clock that does not jump), kind, cell a person sees. Each in one piece, and enough to say
    who is seen: to read the workers, scattered in memory, cost a search nearly half of its time.

    A worker stays until it leaves the circle round the cell (``outer``), so that few move who walk along a border.
    A finer cell may stick out of the one above: ``home`` is the cell of most of its ground, not of all of it.
    """

    __slots__ = (
        "cell",
        "coarse",
        "home",
        "ids",
        "lat",
        "lng",
        "notes",
        "outer",
        "rows",
        "shrink",
        "workers",
    )

    def __init__(self, own: Ground, home: Ground, coarse: int) -> None:
        self.cell, self.home, self.coarse = own.cell, home, coarse
        self.lat, self.lng, self.shrink = own.lat, own.lng, own.shrink
        self.outer = own.outer
        self.rows, self.notes = array("d"), array("q")
        self.ids: list[str] = []
        self.workers: list[Tracked] = []

    def put(self, worker: Tracked) -> None:
        worker.column, worker.slot = self, len(self.workers)
        self.workers.append(worker)
        self.ids.append(worker.worker_id)
        accuracy = worker.accuracy_m
        for degrees_or_metres in (worker.lat, worker.lng, nan if accuracy is None else accuracy):
            self.rows.append(degrees_or_metres)
        for note in (worker.born_mono_ms, worker.contact_mono_ms, worker.kind, worker.cell):
            self.notes.append(note)

    def take(self, worker: Tracked) -> None:
        """The last one moves into the slot that falls empty."""
        slot, last = worker.slot, self.workers[-1]
        self.workers[slot], self.ids[slot] = last, self.ids[-1]
        last.slot = slot
        self.rows[3 * slot : 3 * slot + 3] = self.rows[-3:]
        self.notes[4 * slot : 4 * slot + 4] = self.notes[-4:]
        self.workers.pop()
        self.ids.pop()
        del self.rows[-3:], self.notes[-4:]
        worker.column, worker.slot = NOWHERE, -1


NOWHERE = Column(NO_GROUND, NO_GROUND, 0)


class Pool:
    """The hot workers who share a skill, by coarse cell."""

    __slots__ = ("cells", "count")

    def __init__(self) -> None:
        self.cells: dict[int, set[Tracked]] = {}
        self.count = 0

    def put(self, worker: Tracked, cell: int) -> None:
        self.cells.setdefault(cell, set()).add(worker)
        self.count += 1

    def take(self, worker: Tracked, cell: int) -> None:
        workers = self.cells[cell]
        workers.remove(worker)
        self.count -= 1
        if not workers:
            del self.cells[cell]


NOBODY = Pool()


class City:
    """One tenant's workers. ``kinds``: a number for each set of skills there is. ``everybody``: a pool of all."""

    __slots__ = ("by_skill", "changed", "columns", "due", "everybody", "fitting", "kinds", "res", "turn", "workers")

    def __init__(self, res: int) -> None:
        self.res = res
        self.workers: dict[str, Tracked] = {}
        self.columns: dict[int, Column] = {}
        self.everybody = Pool()
        self.by_skill: dict[str, Pool] = {}
        self.kinds: dict[frozenset[str], int] = {}
        self.fitting: dict[frozenset[str], frozenset[int]] = {}
        self.changed: list[Tracked] = []
        self.due: list[tuple[int, int, Tracked]] = []
        self.turn = 0

    @property
    def count(self) -> int:
        return self.everybody.count

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

    def rarest(self, wanted: frozenset[str]) -> Pool:
        """The smallest pool that holds everyone with these skills."""
        pools = [self.by_skill.get(skill, NOBODY) for skill in wanted]
        return min(pools, key=lambda pool: pool.count) if pools else self.everybody

    def place(self, worker: Tracked, cell: int) -> None:
        """Put a worker who is nowhere into a cell of the grid."""
        column = self._column(cell)
        column.put(worker)
        for pool in self._pools(worker):
            pool.put(worker, column.coarse)
        worker.hot = True

    def unplace(self, worker: Tracked) -> None:
        """Take a worker out, before its skills change or when it is no longer hot."""
        if not worker.hot:
            return
        column = worker.column
        self._leave(column, worker)
        for pool in self._pools(worker):
            pool.take(worker, column.coarse)
        worker.hot = False

    def move(self, worker: Tracked, cell: int) -> None:
        """To another cell of the grid, from wherever the worker was. Mostly the pools need not know."""
        if not worker.hot:
            self.place(worker, cell)
            return
        old, new = worker.column, self._column(cell)
        self._leave(old, worker)
        # Again, not `new`: where both are one cell with one worker, leaving it took it away.
        self._column(cell).put(worker)
        if new.coarse != old.coarse:
            for pool in self._pools(worker):
                pool.take(worker, old.coarse)
                pool.put(worker, new.coarse)

    def _leave(self, column: Column, worker: Tracked) -> None:
        column.take(worker)
        if not column.workers:
            del self.columns[column.cell]

    def _column(self, cell: int) -> Column:
        column = self.columns.get(cell)
        if column is None:
            home = ground(parent_of(cell, self.res))
            column = self.columns[cell] = Column(ground(cell), home, parent_of(cell, self.res - 1))
        return column

    def _pools(self, worker: Tracked) -> list[Pool]:
        return [self.everybody, *(self.by_skill.setdefault(skill, Pool()) for skill in worker.skills)]
