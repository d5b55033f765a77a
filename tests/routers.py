"""Routers for any test: a real OSRM over Rivertown, Krems or Heidelberg, skipped with a reason where it cannot be had.

The routers of the session are shared: ask them, never pause or stop them. For a drill take `start_router`.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixtures.city import town, write_osm
from fixtures.router import RouterProcess, build, fetch, serve

OSRM = Path(__file__).resolve().parent.parent / ".osrm"


@pytest.fixture(scope="session")
def osrm_dir() -> Path:
    """The folder that `fixtures.router.fetch` filled; graphs are kept under it from run to run."""
    said: list[str] = []
    if not fetch(OSRM, said.append):
        pytest.skip(said[-1])
    return OSRM


@pytest.fixture(scope="session")
def map_source(request: pytest.FixtureRequest) -> Callable[[str], Path]:
    """`rivertown`, `krems` or `heidelberg` → its OSM file; the last two are given material."""

    def source(name: str) -> Path:
        if name == "rivertown":
            return write_osm(town(), OSRM / "maps")
        shared: Path = request.getfixturevalue("shared")
        path = shared / "data" / "osm" / f"{name}.osm.pbf"
        if not path.is_file():
            pytest.skip(f"needs the map {path.name} of the given material")
        return path

    return source


@pytest.fixture(scope="session")
def town_router(osrm_dir: Path, map_source: Callable[[str], Path]) -> Iterator[RouterProcess]:
    with _serving(osrm_dir, map_source, "rivertown") as router:
        yield router


@pytest.fixture(scope="session")
def krems_router(osrm_dir: Path, map_source: Callable[[str], Path]) -> Iterator[RouterProcess]:
    with _serving(osrm_dir, map_source, "krems") as router:
        yield router


@pytest.fixture(scope="session")
def heidelberg_router(osrm_dir: Path, map_source: Callable[[str], Path]) -> Iterator[RouterProcess]:
    with _serving(osrm_dir, map_source, "heidelberg") as router:
        yield router


@pytest.fixture
def start_router(osrm_dir: Path, map_source: Callable[[str], Path]) -> Iterator[Callable[[str], RouterProcess]]:
    """`start_router("krems")` → a router of this test's own, to pause, kill and start again; stopped afterwards."""
    started: list[RouterProcess] = []

    def start(name: str) -> RouterProcess:
        started.append(_serving(osrm_dir, map_source, name))
        return started[-1]

    yield start
    for router in started:
        router.stop()


def _serving(osrm: Path, map_source: Callable[[str], Path], name: str) -> RouterProcess:
    small = 1 if name == "rivertown" else 20  # the toy islet is an island; a real map's loose ends are not
    graph = build(osrm, map_source(name), osrm / "graphs", tag=name, small_component_size=small)
    return serve(osrm, graph, tag=name)
