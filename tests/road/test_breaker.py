"""The breaker's life, on a clock that the test turns."""

from engine.road.breaker import Breaker, BreakerState


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def started() -> tuple[Breaker, Clock]:
    clock = Clock()
    return Breaker(failures=5, window_s=10, open_s=5, clock=clock, open_max_s=60), clock


def fail(breaker: Breaker, times: int, *, ok: bool = False) -> None:
    for _ in range(times):
        permit = breaker.ask()
        assert permit
        breaker.report(permit, ok=ok)


def test_it_opens_at_the_fifth_failure_and_not_before() -> None:
    breaker, _ = started()
    fail(breaker, 4)
    assert breaker.state() is BreakerState.CLOSED
    fail(breaker, 1)
    assert breaker.state() is BreakerState.OPEN
    assert breaker.ask() is None


def test_failures_spread_wider_than_the_window_never_open_it() -> None:
    breaker, clock = started()
    for _ in range(20):
        fail(breaker, 1)
        clock.now += 2.6
    assert breaker.state() is BreakerState.CLOSED


def test_a_busy_router_with_a_rare_slow_call_stays_in_use() -> None:
    breaker, _ = started()
    for _ in range(50):
        fail(breaker, 9, ok=True)
        fail(breaker, 1)
    assert breaker.state() is BreakerState.CLOSED


def test_the_share_of_failures_that_opens_it_is_the_sites() -> None:
    """A site that wants no share opens at the fifth failure, however many calls went well."""
    clock = Clock()
    for share, state in ((0.0, BreakerState.OPEN), (0.5, BreakerState.CLOSED)):
        breaker = Breaker(failures=5, share=share, window_s=10, open_s=5, clock=clock)
        fail(breaker, 20, ok=True)
        fail(breaker, 5)
        assert breaker.state() is state


def test_after_the_open_time_one_probe_goes_and_its_success_closes() -> None:
    breaker, clock = started()
    fail(breaker, 5)
    clock.now += 4.9
    assert breaker.ask() is None
    clock.now += 0.1
    assert breaker.state() is BreakerState.HALF_OPEN
    probe = breaker.ask()
    assert probe
    assert probe.probe
    assert breaker.ask() is None
    breaker.report(probe, ok=True)
    assert breaker.state() is BreakerState.CLOSED
    fail(breaker, 4)
    assert breaker.state() is BreakerState.CLOSED


def test_B086_each_failed_probe_waits_twice_as_long_up_to_a_minute() -> None:
    breaker, clock = started()
    fail(breaker, 5)
    waits: list[float] = []
    for _ in range(6):
        since = clock.now
        while (probe := breaker.ask()) is None:
            clock.now += 1
        waits.append(clock.now - since)
        breaker.report(probe, ok=False)
    assert waits == [5, 10, 20, 40, 60, 60]


def test_an_answer_from_before_the_opening_does_not_close_it() -> None:
    breaker, clock = started()
    early = breaker.ask()
    assert early
    fail(breaker, 5)
    breaker.report(early, ok=True)
    assert breaker.state() is BreakerState.OPEN
    clock.now += 5
    probe = breaker.ask()
    assert probe
    breaker.report(early, ok=False)
    breaker.report(probe, ok=True)
    assert breaker.state() is BreakerState.CLOSED


def test_a_probe_that_is_never_reported_does_not_shut_the_road_for_ever() -> None:
    breaker, clock = started()
    fail(breaker, 5)
    clock.now += 5
    assert breaker.ask()
    assert breaker.ask() is None
    clock.now += 5
    fail(breaker, 1, ok=True)
    assert breaker.state() is BreakerState.CLOSED
