"""Which alerts should stand: pure conditions with their numbers (SPEC 2, 8, 12)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules import alerts
from engine.rules.alerts import AlertLimits, Holding, Wanted
from engine.rules.nouns import JobState
from tests.rules.making import MIN, NOW, booking, job

LIMITS = AlertLimits(
    no_show_ms=10 * MIN, due_soon_ms=15 * MIN, offline_ms=5 * MIN, fresh_ms=30_000, expiry_rate=0.3,
    router_timeout_rate=0.1, stale_rate=0.2, rate_from=10, top_decile_share=0.5,
)  # fmt: skip


def held(
    *, starts: float, travel: float = 12, contact_s: float | None = 0, fix_s: float | None = 0,
    state: JobState = JobState.ACCEPTED,
) -> Wanted | None:  # fmt: skip
    """An accepted job that starts so many minutes from now."""
    what = job(state=state, worker="ana", opens=starts)
    holding = Holding(
        job=what, booking=booking("J1", starts, starts + 30, travel=travel), worker_id="ana",
        contact_age_ms=None if contact_s is None else round(contact_s * 1000),
        fix_age_ms=None if fix_s is None else round(fix_s * 1000),
    )  # fmt: skip
    return alerts.held(holding, NOW, LIMITS)


def kind(found: Wanted | None) -> str | None:
    return found.kind if found else None


# --- no-show ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("starts", "contact_s", "expected"),
    [
        (2, 600, "no_show"),  # latest departure 10 min ago, silent for as long
        (2.01, 600, None),  # not yet ten minutes since the departure
        (2, 599, None),  # heard of since
        (2, None, "no_show"),  # nothing heard within memory
        (30, 3600, None),  # silent, but it is early
        (-10, 0, "no_show"),  # heard, and not begun ten minutes after the promised arrival
        (-9.99, 0, None),
        (-60, 0, "no_show"),
    ],
)
def test_the_no_show_timer_starts_at_the_latest_departure(
    starts: float, contact_s: float | None, expected: str | None
) -> None:
    found = held(starts=starts, contact_s=contact_s, fix_s=0)
    assert kind(found) == expected


def test_a_no_show_names_the_worker_and_the_minutes_and_is_of_the_first_rank() -> None:
    silent, late = held(starts=2, contact_s=900), held(starts=-12)
    assert silent is not None
    assert late is not None
    assert (silent.detail, silent.severity) == ("ana silent, should have left 10 min ago", 1)
    assert late.detail == "ana has not started, 12 min after the promised arrival"


def test_once_begun_there_is_no_no_show() -> None:
    assert held(starts=-60, contact_s=None, fix_s=None, state=JobState.IN_PROGRESS) is None


# --- stale -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("starts", "fix_s", "detail"),
    [
        (12, 31, "ana: position 31 s old"),
        (12, None, "ana: no position"),
        (12, 30, None),
        (12.01, 600, None),
    ],
)
def test_B017_near_its_time_a_quiet_worker_is_flagged(starts: float, fix_s: float | None, detail: str | None) -> None:
    found = held(starts=starts, fix_s=fix_s, contact_s=0)
    assert (found.detail if found else None) == detail
    assert found is None or (found.kind, found.severity) == ("stale", 3)


# --- due soon, offline -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "due", "expected"),
    [
        (JobState.OPEN, 15, 1), (JobState.OFFERED, 15, 1), (JobState.OPEN, 15.01, 0), (JobState.OPEN, 0, 1),
        (JobState.OPEN, -0.01, 0), (JobState.ACCEPTED, 5, 0), (JobState.UNASSIGNED_ALERT, 5, 0),
        (JobState.DONE, 5, 0), (JobState.CANCELLED, 5, 0),
    ],
)  # fmt: skip
def test_due_soon_is_for_jobs_nobody_has_taken(state: JobState, due: float, expected: int) -> None:
    assert len(list(alerts.due_soon([job(due=due, opens=-60, state=state)], NOW, LIMITS))) == expected


@pytest.mark.parametrize(
    ("contact_min", "on_shift_min", "detail"),
    [
        (5, 60, "on shift, no contact for 5 min"),
        (4.99, 60, None),
        (None, 60, "on shift, no contact for 60 min"),
        (None, 4, None),
        (90, 6, "on shift, no contact for 6 min"),
        (90, 4, None),
    ],
)
def test_offline_counts_from_the_later_of_shift_and_contact(
    contact_min: float | None, on_shift_min: float, detail: str | None
) -> None:
    contact_ms = None if contact_min is None else round(contact_min * MIN)
    found = alerts.offline("ana", contact_ms, round(on_shift_min * MIN), LIMITS)
    assert (found.detail if found else None) == detail


# --- rates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answered", "alarms"),
    [
        ({"EXPIRED": 4, "ACCEPTED": 6}, True),
        ({"EXPIRED": 3, "ACCEPTED": 7}, False),  # above 30 %, and this is 30 %
        ({"EXPIRED": 9}, False),
        ({"EXPIRED": 10}, True),
        ({}, False),
    ],
)
def test_the_expiry_rate_speaks_from_ten_offers_on(answered: dict[str, int], alarms: bool) -> None:
    assert (alerts.expiry_rate(answered, LIMITS) is not None) is alarms


@pytest.mark.parametrize(("on_shift", "stale", "alarms"), [(10, 3, True), (10, 2, False), (9, 9, False), (0, 0, False)])
def test_the_stale_fraction_speaks_from_ten_workers_on(on_shift: int, stale: int, alarms: bool) -> None:
    assert (alerts.stale_rate(on_shift, stale, LIMITS) is not None) is alarms


@pytest.mark.parametrize(
    ("breaker", "calls", "timeouts", "failures", "detail"),
    [
        ("open", 0, 0, 0, "router down: connection refused"),
        ("half_open", 0, 0, 0, "router down: connection refused"),
        ("closed", 10, 2, 2, "router slow: 2 of 10 calls timed out in 5 min"),
        ("closed", 10, 0, 2, "router unreliable: 2 of 10 calls gave no believable time in 5 min"),
        ("closed", 10, 1, 1, None),
        ("closed", 9, 9, 9, None),
        ("closed", 100, 9, 9, None),
        ("none", 0, 0, 0, None),
    ],
)
def test_the_router_is_down_slow_or_lying(
    breaker: str, calls: int, timeouts: int, failures: int, detail: str | None
) -> None:
    found = alerts.router_down(breaker, calls, timeouts, failures, "connection refused", LIMITS)
    assert (found.detail if found else None) == detail
    assert found is None or found.cause == "router", "one cause, however many jobs"


@pytest.mark.parametrize(
    ("counts", "share"),
    [([5, 5], 0.5), ([6, 5], 6 / 11), ([10] + [1] * 10, 11 / 20), ([1] * 20, 0.1), ([0, 0], None), ([], None)],
)
def test_the_share_of_the_busiest_tenth(counts: list[int], share: float | None) -> None:
    assert alerts.top_decile_share(counts) == share
    assert (alerts.fairness(counts, LIMITS) is not None) is (share is not None and share > 0.5)


def test_B079_the_spread_of_jobs_is_measured() -> None:
    assert alerts.gini([3, 3, 3]) == pytest.approx(0)
    assert alerts.gini([0, 0, 9]) == pytest.approx(2 / 3)
    assert alerts.gini([]) == alerts.gini([0, 0]) == 0


@given(st.lists(st.integers(0, 50), min_size=1, max_size=40))
def test_gini_and_share_stay_in_their_bounds(counts: list[int]) -> None:
    assert -1e-9 <= alerts.gini(counts) < 1
    share = alerts.top_decile_share(counts)
    assert share is None or max(counts) / sum(counts) <= share + 1e-9 <= 1 + 1e-6


@pytest.mark.parametrize(
    ("on_duty", "hot", "lost", "alarms"),
    [(10, 4, False, True), (10, 5, False, False), (9, 0, False, False), (2, 0, True, True), (2, 1, True, False),
     (0, 0, True, False)],
)  # fmt: skip
def test_the_index_is_rebuilding_while_fewer_than_half_of_those_on_duty_are_in_it(
    on_duty: int, hot: int, lost: bool, alarms: bool
) -> None:
    assert (alerts.index_rebuilding(on_duty, hot, LIMITS, lost=lost) is not None) is alarms
