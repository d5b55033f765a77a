"""Where workers and jobs are, by cell: what a desk's map shows. Cells and counts leave here, never a position."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from engine.ports import Engine, Forbidden
from engine.rules.lattice import Lattice, laid
from engine.rules.nouns import Actor, Job, JobState, Point
from engine.rules.place import RESOLUTION, coarse_cell, parent
from engine.rules.roles import may

LOOKED_FOR = frozenset({JobState.OPEN, JobState.OFFERED, JobState.UNASSIGNED_ALERT})
WIDE, HIGH = 32, 24


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSight:
    """One cell (hexadecimal) at its place on the map. ``jobs``: open or offered; ``alerts``: of them unassigned."""

    cell: str
    x: int
    y: int
    fresh: int
    stale: int
    jobs: int
    alerts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CellMap:
    """Cells that hold somebody or something; neighbours in a row are 2 apart in x, those above and below 1.

    ``turn_deg``: true north clockwise of straight up. ``unfolded``: False where they are listed, not laid out."""

    resolution: int
    turn_deg: int
    unfolded: bool
    cells: tuple[CellSight, ...]


def cell_map(engine: Engine, actor: Actor, jobs: Iterable[tuple[str, str]] | None = None) -> CellMap:
    """The map of the site now. ``jobs``: (cell, state) of each, where they were read already. Raises Forbidden."""
    if not may(actor.role, "board"):
        raise Forbidden(f"{actor.role}s may not see the board")
    fresh_ms, hot_ms = engine.settings.location.fresh_s * 1000, engine.settings.location.hot_s * 1000
    counts: dict[int, list[int]] = {}
    for _, cell, position_ms, contact_ms in engine.index.present(engine.tenant, mono_ms=engine.mono_ms()):
        if contact_ms <= hot_ms:
            counts.setdefault(cell, [0, 0, 0, 0])[0 if max(position_ms, contact_ms) <= fresh_ms else 1] += 1
    if jobs is None:
        jobs = ((job_cell(each), each.state) for each in engine.store.jobs(engine.tenant, live_only=True))
    for cell, state in jobs:
        if state in LOOKED_FOR:
            found = counts.setdefault(int(cell, 16), [0, 0, 0, 0])
            found[2] += 1
            found[3] += state == JobState.UNASSIGNED_ALERT
    return _mapped(counts)


def job_cell(job: Job) -> str:
    """The cell a job is in, hexadecimal, at the resolution a dispatcher sees."""
    return format(_cell(job.place), "x")


@lru_cache(maxsize=50_000)
def _cell(place: Point) -> int:
    return coarse_cell(place)


@lru_cache(maxsize=4)
def _laid(cells: frozenset[int]) -> Lattice | None:
    return laid(cells, wide=WIDE, high=HIGH)


def _mapped(counts: dict[int, list[int]]) -> CellMap:
    lattice = _laid(frozenset(counts))
    if lattice is None:
        listed = [(each, (2 * (at % 10) + at // 10 % 2, at // 10)) for at, each in enumerate(sorted(counts))]
        cells = tuple(_sight(cell, at, counts[cell]) for cell, at in listed)
        return CellMap(resolution=RESOLUTION, turn_deg=0, unfolded=False, cells=cells)
    gathered: dict[int, list[int]] = {each: [0, 0, 0, 0] for each in lattice.at}
    for cell, found in counts.items():
        into = gathered[parent(cell, lattice.resolution)]
        for at, n in enumerate(found):
            into[at] += n
    return CellMap(
        resolution=lattice.resolution,
        turn_deg=lattice.turn_deg,
        unfolded=True,
        cells=tuple(_sight(cell, at, gathered[cell]) for cell, at in sorted(lattice.at.items())),
    )


def _sight(cell: int, at: tuple[int, int], found: list[int]) -> CellSight:
    fresh, stale, jobs, alerts = found
    return CellSight(cell=format(cell, "x"), x=at[0], y=at[1], fresh=fresh, stale=stale, jobs=jobs, alerts=alerts)
