"""The scheduler only rings: in time, one at a time, late ones once, and it says so (SPEC 11)."""

import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from engine import rounds, wiring
from engine.ports import Engine, Forbidden
from engine.rounds import Rounds
from engine.verbs.site import SiteFile
from engine.verbs.sweep import Desk as Turn
from engine.verbs.sweep import Round
from tests.desk import Desk, north

Found = Callable[..., Desk]


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Engine]:
    """A live site: its clock goes by itself."""
    path = tmp_path / "live.db"
    wiring.create(path, SiteFile(zone="Europe/Vienna"), training=False)
    engine = wiring.open_engine(path)
    yield engine
    wiring.close(engine)


def until(true: Callable[[], bool], within_s: float) -> bool:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.02)
    return true()


def test_running_rounds_hold_the_region_and_give_it_back(live: Engine) -> None:
    running = Rounds(live)
    running.start()
    try:
        [held] = live.store.regions("main")
        assert held.holder == running.desk.holder
        lease_ms = held.lease_until_ms
        assert until(lambda: live.store.regions("main")[0].lease_until_ms > lease_ms, 3), "renewed each second"
    finally:
        running.stop()
    [free] = live.store.regions("main")
    assert (free.holder, free.epoch) == (None, 1)


def test_a_second_desk_stands_by_and_takes_the_region_when_it_is_free(live: Engine) -> None:
    other = wiring.open_engine(live.store.path)
    first, second = Rounds(live), Rounds(other)
    first.start()
    second.start()
    try:
        assert "main" not in other.tenures
        first.stop()
        assert until(lambda: "main" in other.tenures, 3)
        assert other.tenures["main"].epoch == 2
    finally:
        second.stop()
        wiring.close(other)


def test_B094_a_round_that_blocks_for_three_seconds_rings_once_afterwards_and_is_said(
    live: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B094: its ticks meanwhile are not made up for one by one, and nobody else's turn is lost."""
    rung: list[float] = []
    at_once = threading.Semaphore(1)

    def slow(turn: Turn) -> int:
        assert at_once.acquire(blocking=False), "never two at once"
        rung.append(time.monotonic())
        if len(rung) == 1:
            time.sleep(3.2)
        at_once.release()
        return 1

    monkeypatch.setattr(rounds, "ROUNDS", (Round(name="slow", ring=slow, every_s=lambda settings: 1, held=False),))
    said: list[str] = []
    running = Rounds(live, said=said.append)
    running.start()
    try:
        assert until(lambda: len(rung) >= 3, 8)
    finally:
        running.stop()
    gaps = [later - earlier for earlier, later in pairwise(rung)]
    assert gaps[0] >= 3
    assert min(gaps[1:], default=1.0) > 0.5, "no burst"
    assert any(each.startswith("round slow ") and " s late" in each for each in said), "the desk is told"


def test_a_round_that_fails_is_said_and_rings_again(
    live: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    rung: list[int] = []

    def failing(turn: Turn) -> int:
        rung.append(1)
        raise ZeroDivisionError("a fault of ours")

    monkeypatch.setattr(rounds, "ROUNDS", (Round(name="bad", ring=failing, every_s=lambda settings: 1, held=False),))
    said: list[str] = []
    running = Rounds(live, said=said.append)
    running.start()
    try:
        assert until(lambda: len(rung) >= 2 and len(said) >= 2, 5)
    finally:
        running.stop()
    assert "round bad failed: a fault of ours" in said


def test_B046_the_scheduler_keeps_utc_so_that_no_hour_comes_twice(live: Engine) -> None:
    running = Rounds(live)
    assert str(running._scheduler.timezone) == "UTC"  # type: ignore[attr-defined]


def test_B094_a_retention_and_a_midnight_that_were_slept_through_catch_up(found: Found) -> None:
    """B094: one late round drops everything that is due, however long it did not ring; the new day needs no reset."""
    desk = found(auto=True)
    desk.takeover()
    desk.worker("ana", north(3))
    desk.worked("ana", 2)
    desk.job("J1", due=100)
    desk.ring("write behind")
    desk.advance(30 * 24 * 3600)
    desk.ring("retain")
    assert [each.considered for each in desk.engine.store.decisions("main", "J1", limit=9)] == [None]
    assert desk.engine.fixes.trace("main", "ana", 0, desk.now_ms, 10) == ()
    assert desk.hand("ana").jobs_today == 0


def test_B099_a_backup_taken_while_it_runs_holds_the_last_accept(live: Engine, found: Found, tmp_path: Path) -> None:
    """B099: by SQLite's own backup; a plain copy of the file would miss what is still in the log."""
    desk = found()
    desk.worker("ana", north(3))
    desk.job("J1")
    offer = desk.assign("J1").offer
    assert offer is not None
    desk.accept(offer)
    desk.engine.store.backup(tmp_path / "copy.db")
    copy = wiring.open_engine(tmp_path / "copy.db")
    try:
        job = copy.store.job("main", "J1")
        assert job is not None
        assert (job.state, job.worker_id, job.held_offer_id) == ("ACCEPTED", "ana", offer.id)
        assert copy.store.verify_audit("main").first_bad is None
        assert copy.store.integrity() == ()
    finally:
        wiring.close(copy)


def test_a_live_engine_refuses_a_training_database_unless_its_clock_is_moved_too(tmp_path: Path) -> None:
    wiring.create(tmp_path / "school.db", SiteFile(), training=True)
    engine = wiring.open_engine(tmp_path / "school.db")
    with pytest.raises(Forbidden, match=r"school\.db is a training database: its clock stands"):
        Rounds(engine)
    Rounds(engine, training=True)
    wiring.close(engine)
