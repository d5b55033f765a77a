"""Pane 3: where workers and open jobs are, by cell. North is up, counts are digits, a cell filters the board."""

from dataclasses import replace
from pathlib import Path

import h3.api.basic_int as h3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.pilot import Pilot

from console.app import Console
from console.screens.desk import Desk
from console.viewmodels import cells_map
from console.viewmodels.rows import CellRow, CellsRow
from console.widgets.cells import Cells
from engine import wiring
from engine.ports import Forbidden
from engine.rules.lattice import laid
from engine.rules.nouns import Point, Role
from engine.verbs import assign
from engine.verbs.cells import _mapped, cell_map, job_cell  # pyright: ignore[reportPrivateUsage]
from tests.console.desks import WHO, campus, drive, found, job, keys, settle, shown, still, take_in, worker

CITIES = (
    (44.14, 12.24),
    (49.41, 8.69),
    (-33.87, 151.21),
    (40.71, -74.0),
    (1.35, 103.82),
    (64.14, -21.94),
    (-0.2, -78.5),
)
ANTIMERIDIAN = (-17.8, 179.999)


@pytest.mark.parametrize("lat_lng", [*CITIES, ANTIMERIDIAN])
@pytest.mark.parametrize("size", [8, 7, 6])
def test_north_is_up_and_east_is_right_and_neighbours_stay_neighbours(lat_lng: tuple[float, float], size: int) -> None:
    centre = h3.latlng_to_cell(*lat_lng, 8)
    cells = set(h3.grid_disk(centre, size))
    lattice = laid(cells, wide=64, high=64)
    assert lattice is not None
    assert abs(lattice.turn_deg) <= 18
    beside = {(2, 0), (-2, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)}
    for each in cells:
        x, y = lattice.at[each]
        apart = {
            (lattice.at[other][0] - x, lattice.at[other][1] - y) for other in h3.grid_ring(each, 1) if other in cells
        }
        assert apart <= beside
    north = max(cells, key=lambda each: h3.cell_to_latlng(each)[0])
    assert lattice.at[north][1] == min(y for _, y in lattice.at.values())


def test_the_map_counts_every_worker_and_every_job_that_is_looked_for(tmp_path: Path) -> None:
    campus(tmp_path / "site.db")
    engine = wiring.open_engine(tmp_path / "site.db")
    drawn = cell_map(engine, WHO)
    told = [(each.fresh + each.stale, each.jobs, each.alerts) for each in drawn.cells]
    assert tuple(map(sum, zip(*told, strict=True))) == (6, 26, 2)
    rows = [(job_cell(each), str(each.state)) for each in engine.store.jobs(engine.tenant)]
    assert cell_map(engine, WHO, rows) == drawn
    with pytest.raises(Forbidden):
        cell_map(engine, replace(WHO, role=Role.WORKER))
    wiring.close(engine)


def test_a_wide_site_is_shown_in_coarser_cells_that_fit() -> None:
    lattice = laid(
        [h3.latlng_to_cell(*each, 8) for each in ((44.1, 12.2), (45.5, 9.2), (41.9, 12.5))], wide=32, high=24
    )
    assert lattice is not None
    assert lattice.resolution < 8
    assert all(h3.get_resolution(each) == lattice.resolution for each in lattice.at)


@given(st.floats(-80, 80), st.floats(-179, 179), st.integers(2, 8))
def test_a_cell_lies_within_its_parents_and_in_no_other(lat: float, lng: float, resolution: int) -> None:
    cell = h3.latlng_to_cell(lat, lng, 8)
    wide = h3.cell_to_parent(cell, resolution)
    assert cells_map.within(format(cell, "x"), format(wide, "x"))
    other = next(each for each in h3.grid_ring(wide, 1))
    assert not cells_map.within(format(cell, "x"), format(other, "x"))
    assert not cells_map.within("", format(wide, "x"))


@pytest.mark.parametrize("zoom", range(cells_map.ZOOMS))
def test_every_line_of_a_plan_has_one_width_and_every_cell_can_be_clicked(zoom: int) -> None:
    plan = cells_map.plan((-4, -2, 5, 3), zoom)
    assert {sum(run.n for run in line) for line in plan.lines} == {plan.width}
    for y in range(-2, 4):
        for x in (each for each in range(-4, 6) if (each - y) % 2 == 0):
            column, line = plan.spot((x, y))
            assert plan.under(column + cells_map.PITCH[zoom][0] // 2, line + zoom) == (x, y)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 2))
def test_counts_of_any_size_keep_their_hexagon(fresh: int, stale: int, jobs: int, alerts: int, zoom: int) -> None:
    row = CellRow(id="x", x=0, y=0, fresh=fresh, stale=stale, jobs=jobs, alerts=alerts)
    room = (3, 5, 7)[zoom]
    for line in (0, 1):
        assert cell_len(cells_map.words(row, zoom, line, room)) == room
    if alerts and zoom == 0:
        assert "!" in cells_map.words(row, zoom, 0, room)


@pytest.fixture
def town(tmp_path: Path) -> Console:
    """Six workers in one corner, one job there, one unassigned job five kilometres east."""
    engine = found(tmp_path / "site.db", workers=[worker(at, f"Worker {at}") for at in range(1, 7)])
    take_in(engine, job("J-here", due_min=240), job("J-east", due_min=30, skills="hvac", place=Point(44.14, 12.31)))
    assign.assign(engine, WHO, "J-east")
    wiring.close(engine)
    return still(tmp_path / "site.db")


def test_the_map_starts_on_the_alert_and_enter_shows_its_jobs_alone(town: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "3")
        assert "1!" in shown(town)
        await keys(pilot, "enter")
        assert desk.board.order == ["J-east"]
        assert "1 unassigned!" in shown(town)
        await keys(pilot, "enter")
        assert set(desk.board.order) == {"J-east", "J-here"}

    drive(town, play)


def test_the_cursor_moves_in_every_direction_zooms_and_stays_where_counts_change(town: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "3")
        cells = desk.query_one(Cells)
        began = cells.cursor
        await keys(pilot, "left", "up", "down", "right")
        assert cells.cursor == began
        await keys(pilot, "plus", "plus", "plus")
        assert cells.zoom == 2
        await keys(pilot, "minus", "minus", "minus")
        assert cells.zoom == 0
        await keys(pilot, "left")
        there = cells.cursor
        town.look_again()
        await settle(pilot)
        assert cells.cursor == there
        assert isinstance(desk.focused, Cells)

    drive(town, play)


def test_stale_workers_are_marked(tmp_path: Path) -> None:
    row = CellRow(id="x", x=0, y=0, fresh=1, stale=2, jobs=4, alerts=0)
    assert cells_map.words(row, 0, 0, 3) == "3~4"
    assert cells_map.words(row, 2, 0, 7) == " 3w 2~ "
    assert cells_map.told(row) == "3 workers (2 stale) · 4 open jobs"
    assert cells_map.look(CellRow(id="x", x=0, y=0, fresh=0, stale=2, jobs=0, alerts=0)) == "stale"


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36), (200, 50)])
def test_no_coordinate_is_on_any_screen(town: Console, size: tuple[int, int]) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        for zoom in ("3", "plus", "minus", "minus"):
            await keys(pilot, zoom)
            told = shown(town)
            assert "44.1" not in told
            assert "12.2" not in told
            assert "N ↑" in told

    drive(town, play, size=size)


@pytest.mark.parametrize(("size", "zoom"), [((200, 50), 2), ((120, 36), 1), ((40, 12), 1)])
def test_the_map_is_as_large_as_the_whole_of_it_may_be_until_a_person_zooms(
    tmp_path: Path, size: tuple[int, int], zoom: int
) -> None:
    wiring.close(found(tmp_path / "site.db", workers=[worker(at, f"Worker {at}") for at in range(1, 7)]))
    app = still(tmp_path / "site.db")

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "3")
        await settle(pilot)
        cells = desk.query_one(Cells)
        assert cells.zoom == zoom
        await keys(pilot, "minus")
        app.look_again()
        await settle(pilot)
        assert cells.zoom == zoom - 1

    drive(app, play, size=size)


@pytest.mark.parametrize("resolution", [6, 7, 8])
def test_round_a_pentagon_the_cells_are_laid_out_or_listed_and_nothing_is_lost(resolution: int) -> None:
    pentagon = min(h3.get_pentagons(8))
    cells = {each for ring in range(6) for each in h3.grid_disk(pentagon, ring)}
    cells |= {h3.cell_to_center_child(each, 8) for each in h3.grid_disk(h3.cell_to_parent(pentagon, resolution), 2)}
    lattice = laid(cells, wide=64, high=64)
    if lattice is not None:
        assert {h3.cell_to_parent(each, lattice.resolution) for each in cells} == set(lattice.at)
        assert len(set(lattice.at.values())) == len(lattice.at)


def test_what_cannot_be_laid_out_is_listed_and_said_to_be_no_map() -> None:
    rows = _mapped({each: [1, 0, 0, 0] for each in (h3.latlng_to_cell(0, 0, 8), h3.latlng_to_cell(50, 170, 8))})
    assert len(rows.cells) == 2
    assert len({(each.x, each.y) for each in rows.cells}) == 2
    drawn = CellsRow(resolution=8, turn_deg=0, unfolded=False, cells=())
    assert cells_map.compass(drawn) == "a list, no map"
