"""The machine's own clock steps under a live engine whose rounds run (on a training clock: tests/verbs/test_sweep.py).

The step is made by faulty.c for one process: SQLite and Python both see it, the monotonic clock does not.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from engine import wiring
from tests.adversity.ground import add_job, add_worker, found_live
from tests.adversity.nursery import Nursery
from tests.leases.invariants import broken

FAULTED = "tests.adversity.faulted"
HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def nursery(faulty: dict[str, str]) -> Iterator[Nursery]:
    nursery = Nursery(FAULTED, environment=faulty)
    yield nursery
    nursery.close()


def live(folder: Path) -> Path:
    path = folder / "live.db"
    found_live(path, rounds={"alerts_s": 1}, slack_capacity={"reserve_share": 0.0})
    engine = wiring.open_engine(path)
    add_worker(engine, "ana")
    add_job(engine, "J1")
    wiring.close(engine)
    return path


CASES = {"an hour back": (-HOUR_MS, 0), "an hour ahead": (HOUR_MS, 0), "eight hours of sleep": (8 * HOUR_MS,) * 2}
"""Milliseconds by which the wall clock and the clock that goes on in sleep are suddenly ahead."""


@pytest.fixture(scope="module")
def told(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    """What each case came to; they run side by side, since mostly they wait for the next round."""
    paths = {name: live(tmp_path_factory.mktemp("live")) for name in CASES}
    pids = {name: nursery.start(f"{FAULTED}:stepped", str(paths[name]), *CASES[name]) for name in CASES}
    ended = {name: nursery.wait(pid) for name, pid in pids.items()}
    assert {name: each.code for name, each in ended.items()} == dict.fromkeys(CASES, 0)
    assert {name: broken(path) for name, path in paths.items()} == {name: [] for name in CASES}
    return {name: cast(dict[str, object], each.told) for name, each in ended.items()}


@pytest.mark.parametrize("case", CASES)
def test_the_offer_ends_once_late_ticks_are_one_and_it_is_said(told: dict[str, dict[str, object]], case: str) -> None:
    found = told[case]
    assert found["ends"] == ["offer", "expire"]
    # An hour holds 3,600 ticks of a round; a busy machine may take some seconds over what happens here.
    assert max(cast(dict[str, int], found["rung"]).values()) <= 20, "an hour of ticks is not made up for"
    assert cast(list[str], found["alerts"]).count("clock_stepped") == 1
    assert found["held"] == ["main"], "it is still the region's dispatcher"


@pytest.mark.parametrize("case", ["an hour back", "an hour ahead"])
def test_a_step_makes_nobody_stale(told: dict[str, dict[str, object]], case: str) -> None:
    age_ms = cast(int | None, told[case]["age_ms"])
    assert age_ms is not None
    assert age_ms < 30_000, "ages are measured on a clock that does not jump"


def test_after_a_sleep_a_position_of_before_is_old(told: dict[str, dict[str, object]]) -> None:
    age_ms = cast(int | None, told["eight hours of sleep"]["age_ms"])
    assert age_ms is None or age_ms >= 8 * HOUR_MS
