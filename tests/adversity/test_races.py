"""Two real processes at a barrier: of two that want one thing exactly one gets it, each time (SPEC 5).

`run.py test --long tests/adversity/test_races.py -s` runs each race 10,000 times and prints who won how often.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from engine import records
from tests.adversity.ground import live_site
from tests.adversity.nursery import Nursery
from tests.leases import stage
from tests.leases.invariants import broken

RACERS = "tests.adversity.racers"
HEAT = 500
"""Races on one database: then a new one, so that asking the invariants stays quick."""


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery(RACERS)
    yield nursery
    nursery.close()


def heat(nursery: Nursery, folder: Path, lives: tuple[str, str], rounds: int) -> list[tuple[str, str]]:
    """Both racers to their end on a fresh database; answers both outcomes of each race."""
    folder.mkdir()
    path = folder / "site.db"
    (live_site(path) if "accept_in_time" in lives else stage.site(path)).close()
    pids = [
        nursery.start(f"{RACERS}:{life}", str(path), str(folder / "line"), n, rounds) for n, life in enumerate(lives)
    ]
    ended = [nursery.wait(pid) for pid in pids]
    assert [each.code for each in ended] == [0, 0]
    assert broken(path) == []
    one, two = (cast(list[str], each.told) for each in ended)
    return list(zip(one, two, strict=True))


RACES = {
    "for one job": ("for_a_job", "for_a_job"),
    "for one worker": ("for_a_worker", "for_a_worker"),
    "accept against expiry": ("accept_in_time", "expire_in_time"),
}
LOSSES = {
    "for one job": {"claim_job"},
    "for one worker": {"claim_worker"},
    "accept against expiry": {"accept_offer", "expire_offer"},
}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("times", [300, pytest.param(10_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("race", RACES)
def test_of_two_processes_exactly_one_wins_each_time(nursery: Nursery, tmp_path: Path, race: str, times: int) -> None:
    told: list[tuple[str, str]] = []
    while len(told) < times:
        folder = tmp_path / f"heat-{len(told)}"
        told += heat(nursery, folder, RACES[race], min(HEAT, times - len(told)))
    wins = [[outcome == "won" for outcome in pair] for pair in told]
    assert [pair for pair, won in zip(told, wins, strict=True) if sum(won) != 1] == []
    assert {outcome for pair in told for outcome in pair} == {"won"} | LOSSES[race]
    first = sum(won[0] for won in wins)
    print(f"\n{race}: {times} races, won by one process {first}, by the other {times - first}", file=sys.stderr)
    assert 0 < first < times, "one of them always won: that was no race"


WRITERS, TURNS = 8, 25


def test_eight_writing_processes_never_see_locked(nursery: Nursery, tmp_path: Path) -> None:
    """All start at once and none pauses; ``Busy`` would end a life with an error."""
    path = tmp_path / "site.db"
    store = stage.site(path)
    for n in range(WRITERS):
        stage.run(store, records.enrol(stage.ANA, stage.new_worker(f"me-{n}"), "main", known=False))
        stage.run(store, records.open_job(stage.ANA, stage.new_job(f"mine-{n}"), "main"))
    store.close()
    line = str(tmp_path / "line")
    pids = [nursery.start(f"{RACERS}:writer", str(path), line, n, TURNS, WRITERS) for n in range(WRITERS)]
    ended = [nursery.wait(pid) for pid in pids]
    assert [each.code for each in ended] == [0] * WRITERS
    assert broken(path) == []
    waits = sorted(second for each in ended for second in cast(list[float], each.told))
    assert len(waits) == WRITERS * TURNS * 3
    print(f"\n{WRITERS} writers, {len(waits)} acts: median {waits[len(waits) // 2] * 1000:.1f} ms, "
          f"longest {waits[-1] * 1000:.0f} ms, none refused", file=sys.stderr)  # fmt: skip
