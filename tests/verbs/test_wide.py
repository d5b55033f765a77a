"""Nobody eligible is passed over: the search goes on while those nearer fail on real times (SPEC 3)."""

import re
import time
from collections.abc import Callable, Iterator

import pytest

from engine.imports.parsed import Parsed
from engine.rules.nouns import Interval, JobState, Point
from engine.verbs import intake, roster
from engine.verbs.assign import Outcome
from tests.desk import MIDDLE, Desk, north, offered_to, person, said, verdicts
from tests.road.loopback import Served, http_router, route_ok

Found = Callable[..., Desk]
NO_ROUTE = 400, b'{"code":"NoRoute","message":"Impossible route between points"}'


def river_at(minutes: float) -> Callable[[str], tuple[int, bytes]]:
    """No road leads from places nearer than so many minutes; from all others it takes ten."""
    bank = north(minutes).lat

    def reply(path: str) -> tuple[int, bytes]:
        origin_lat = float(re.findall(r"/driving/[-\d.]+,([-\d.]+);", path)[0])
        return NO_ROUTE if origin_lat < bank else (200, route_ok(600, (1, 1)))

    return reply


@pytest.fixture
def river() -> Iterator[Served]:
    with http_router(river_at(10)) as served:
        yield served


def test_when_the_twenty_nearest_all_fail_on_real_times_the_search_goes_on(found: Found, river: Served) -> None:
    """A crowd on the other bank must not hide the one worker on the job's own."""
    desk = found(router={"url": river.url}, slack_capacity={"reserve_share": 0.0})
    for n in range(24):
        desk.worker(f"across{n:02}", north(3 + n / 100))
    desk.worker("here", north(20))
    desk.job("J1")
    done = desk.assign("J1")
    assert offered_to(done) == "here"
    assert list(verdicts(done.considered).values()).count("no_road") == 24


def test_with_a_slow_router_the_budget_holds_and_who_was_not_looked_at_is_not_called_late(found: Found) -> None:
    def slowly(path: str) -> tuple[int, bytes]:
        time.sleep(0.12)
        return NO_ROUTE

    with http_router(slowly) as served:
        desk = found(router={"url": served.url}, slack_capacity={"reserve_share": 0.0})
        for n in range(90):
            desk.worker(f"w{n:02}", north(3 + n / 50))
        desk.job("J1")
        since = time.perf_counter()
        done = desk.assign("J1")
        assert time.perf_counter() - since < 0.5
    assert "late" not in verdicts(done.considered).values()
    assert done.outcome is not Outcome.ALERT


def test_a_worker_beyond_the_widest_search_is_not_called_late_when_due_by_would_allow_them(desk: Desk) -> None:
    desk.worker("far", Point(MIDDLE.lat + 70_000 / 111_195, MIDDLE.lng))
    desk.job("J1", due=300)
    done = desk.assign("J1")
    assert done.outcome is Outcome.NO_ELIGIBLE
    assert said(done.considered, "far").verdict == "not_timed"
    assert said(done.considered, "far").detail == "70 km away, beyond the widest search"


def test_a_worker_whom_due_by_itself_rules_out_is_late(desk: Desk) -> None:
    desk.worker("far", Point(MIDDLE.lat + 70_000 / 111_195, MIDDLE.lng))
    desk.job("J1", due=50)
    done = desk.assign("J1")
    assert done.outcome is Outcome.ALERT
    assert said(done.considered, "far").verdict == "late"


def test_shifts_that_touch_are_one_for_a_job_across_them(desk: Desk) -> None:
    """[a, b) and [b, c) touch: whoever works both works through."""
    desk.worker("ana", shift=(-60, 60))
    span = Interval(starts_ms=desk.at(60), ends_ms=desk.at(120))
    roster.shift(desk.engine, person(), "ana", span)
    desk.job("J1", opens=50, due=55, lasts=30)
    assert offered_to(desk.assign("J1")) == "ana"


def test_an_alert_ends_when_due_by_is_moved_far_ahead(desk: Desk) -> None:
    """SPEC 2: OPEN ⇄ UNASSIGNED_ALERT; farther out the answer is no_eligible and the job is OPEN."""
    desk.job("J1", due=50)
    assert desk.assign("J1").outcome is Outcome.ALERT
    moved = Parsed(items=((1, desk.new_job("J1", due=500)),), rejected=(), warnings=())
    intake.import_jobs(desk.engine, person(), moved)
    done = desk.assign("J1")
    assert done.outcome is Outcome.NO_ELIGIBLE
    assert done.job.state is JobState.OPEN
    assert desk.alerts("unassigned") == []
