"""Where a job fits between bookings, with the travel on both sides (SPEC 1, 3)."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.rules.eligibility import candidate, sift
from engine.rules.nouns import Booking, Job, Leg, Point, Refusal, Travel, Worker
from engine.rules.schedule import Stretch, ends_ms, gaps, minutes, misfit, service, slot_of, stretches
from engine.rules.scoring import timing
from engine.rules.steps import Slot, Timed
from tests.rules.making import (
    ETA,
    LIMITS,
    MIDDLE,
    MIN,
    NOW,
    POLICY,
    at,
    away,
    booking,
    drives,
    facts,
    job,
    seen,
    span,
    worker,
)


def slot(depart: float = 0, until: float = 600, *, then: float | None = None, lane: int = 0) -> Slot:
    return Slot(
        lane=lane, origin=MIDDLE, depart_ms=at(depart), ends_by_ms=at(until),
        next_place=None if then is None else away(9), next_starts_ms=None if then is None else at(then),
    )  # fmt: skip


def reason(where: Slot, what: Job, travel_s: int = 0, onward_s: int = 0) -> str | None:
    found = misfit(where, what, travel_s, onward_s)
    return found.reason if found else None


# --- gaps ------------------------------------------------------------------------------------------------------------


def test_gaps_run_from_now_through_every_booking_to_the_open_end() -> None:
    held = (booking("A", 60, 90, place=away(5)), booking("B", 120, 150, place=away(9)))
    found = list(gaps(worker(bookings=held), MIDDLE, NOW))
    assert [(each.free_ms, each.origin) for each in found] == [
        (NOW, MIDDLE), (at(90), away(5)), (at(150), away(9)),
    ]  # fmt: skip
    assert [each.before.job_id if each.before else None for each in found] == ["A", "B", None]
    assert [each.after.job_id if each.after else None for each in found] == [None, "A", "B"]


def test_a_booking_that_has_begun_leaves_no_gap_before_it() -> None:
    [after] = gaps(worker(bookings=(booking("A", -10, 20, started=-10),)), away(3), NOW)
    assert (after.free_ms, after.origin) == (at(20), MIDDLE)


def test_each_unit_of_capacity_is_a_lane_of_its_own() -> None:
    two = worker(capacity=2, bookings=(booking("A", 10, 50), booking("B", 20, 80, lane=1)))
    assert [(each.lane, each.free_ms) for each in gaps(two, MIDDLE, NOW)] == [
        (0, NOW), (0, at(50)), (1, NOW), (1, at(80)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("held", "ends"),
    [
        (booking("begun in time", -10, 20, started=-10), 20),
        (booking("begun late", -20, 10, started=-5), 25),
        (booking("overrun", -60, -30, started=-60), 0),
        (booking("not begun in its time", -10, 20), 30),
        (booking("to come", 10, 40), 40),
        (booking("begun early", 10, 40, started=-5), 40),
    ],
    ids=lambda each: each.job_id if isinstance(each, Booking) else None,
)
def test_when_a_booking_will_really_end(held: Booking, ends: float) -> None:
    assert ends_ms(held, NOW) == at(ends)


def test_a_job_that_overruns_pushes_the_next_gap_back() -> None:
    held = (booking("long", -60, -5, started=-60), booking("next", 30, 60))
    first, _ = gaps(worker(bookings=held), MIDDLE, NOW)
    assert first.free_ms == NOW


def test_a_gap_meets_a_shift_half_open() -> None:
    [gap] = gaps(worker(), MIDDLE, NOW)
    assert slot_of(gap, Stretch(starts_ms=at(-60), ends_ms=at(0))) is None
    late = slot_of(gap, Stretch(starts_ms=at(30), ends_ms=at(90)))
    assert late is not None
    assert (late.depart_ms, late.ends_by_ms) == (at(30), at(90))


# --- what stands against a slot --------------------------------------------------------------------------------------


def test_B071_due_by_is_the_latest_arrival_not_the_latest_end() -> None:
    assert reason(slot(), job(due=60, lasts=30), 45 * 60) is None
    assert reason(slot(), job(due=60, lasts=30), 60 * 60) is None
    assert reason(slot(), job(due=60, lasts=30), 60 * 60 + 1) is Refusal.LATE


def test_B072_the_service_ends_within_the_shift_and_the_trip_home_is_not_counted() -> None:
    assert reason(slot(until=45), job(lasts=40), 5 * 60) is None
    assert reason(slot(until=45), job(lasts=40), 5 * 60 + 1) is Refusal.OFF_SHIFT
    assert reason(slot(until=45), job(opens=20, lasts=40)) is Refusal.OFF_SHIFT, "the window opens too late for it"


def test_B082_travel_of_9_min_59_s_does_not_fit_a_gap_of_9_min() -> None:
    nine = job(lasts=30)
    assert reason(slot(then=39), nine, 0, 9 * 60 + 59) is Refusal.OVERLAP
    assert reason(slot(then=39), nine, 0, 9 * 60) is None, "touching is not overlapping"
    assert reason(slot(then=39), nine, 1, 9 * 60) is Refusal.OVERLAP


def test_B081_travel_is_directional() -> None:
    """10 min there and 25 back: the same pair of places, two numbers."""
    there, back = 10 * 60, 25 * 60
    assert reason(slot(then=65), job(lasts=30), there, back) is None
    assert reason(slot(then=64), job(lasts=30), there, back) is Refusal.OVERLAP
    assert reason(slot(then=65), job(lasts=30), back, there) is None
    assert reason(slot(then=64), job(lasts=30), back, there) is Refusal.OVERLAP
    assert reason(slot(then=50), job(lasts=30), there, there) is None


def test_an_absence_counts_from_the_departure_to_the_end_of_the_service() -> None:
    """Ten minutes there and thirty of work; who comes back too late for due_by is absent, not late."""

    def out(start: float, end: float, *, due: float = 60) -> int | str:
        ana = worker(absences=(span(start, end),))
        return arrival(ana, job(place=away(10), due=due, lasts=30), {(MIDDLE, away(10)): 10})

    assert out(40, 60) == 10
    assert out(39, 60) == Refusal.ABSENT
    assert out(-60, 0) == 10
    assert out(-60, 1, due=10) == Refusal.ABSENT


def test_a_job_is_done_after_an_absence_that_leaves_time_for_it() -> None:
    """The absence does not touch the work: who is back in time leaves then, as after a booking."""

    def back(start: float, end: float, **window: float) -> int | str:
        return arrival(worker(absences=(span(start, end),)), job(**window), {(MIDDLE, MIDDLE): 5})  # type: ignore[arg-type]

    assert back(0, 5, opens=50, due=60, lasts=10) == 10
    assert back(20, 30, opens=50, due=60, lasts=10) == 35
    assert back(-5, 20, due=60) == 25
    assert back(20, 55, opens=50, due=60, lasts=10) == 60
    assert back(20, 56, opens=50, due=60, lasts=10) == Refusal.LATE, "only the road tells: 56 could still do"
    assert back(20, 61, opens=50, due=60, lasts=10) == Refusal.ABSENT
    assert back(-5, 600, due=60) == Refusal.ABSENT


def test_absences_cut_shifts_and_whoever_works_through_two_of_them_works_through() -> None:
    def left(shifts: list[tuple[float, float]], away_: list[tuple[float, float]]) -> list[tuple[int, int, str]]:
        found = stretches([span(*each) for each in shifts], [span(*each) for each in away_])
        return [((each.starts_ms - NOW) // MIN, (each.ends_ms - NOW) // MIN, str(each.then)) for each in found]

    assert left([(0, 60), (60, 120)], []) == [(0, 120, "off_shift")]
    assert left([(0, 120)], [(50, 60), (20, 30), (25, 40)]) == [
        (0, 20, "absent"), (40, 50, "absent"), (60, 120, "off_shift"),
    ]  # fmt: skip
    assert left([(0, 60), (90, 120)], [(50, 100)]) == [(0, 50, "absent"), (100, 120, "off_shift")]
    assert left([(0, 60)], [(-10, 5), (55, 60), (60, 90)]) == [(5, 55, "absent")]
    assert left([(0, 60)], [(-10, 70)]) == []


@pytest.mark.parametrize(
    ("ms", "told"), [(0, "0 s"), (1, "1 s"), (59_001, "60 s"), (60_000, "1 min"), (60_001, "2 min")]
)
def test_spans_in_words_round_up(ms: int, told: str) -> None:
    assert minutes(ms) == told


# --- slotted between two bookings ------------------------------------------------------------------------------------


def arrival(who: Worker, what: Job, table: dict[tuple[Point, Point], float]) -> int | str:
    """The arrival (minutes from NOW), or the reason why there is none; ``table``: minutes of road time by leg."""
    known = facts(what, who)
    sifted = sift(known, {who.id: seen(who)}, LIMITS, POLICY)
    if sifted.refused:
        return sifted.refused[0].reason
    found = timing(
        candidate(who, seen(who), known, LIMITS, POLICY), what, NOW,
        lambda leg: drives(table[leg.origin, leg.destination]), ETA,
    )  # fmt: skip
    return (found.arrival_ms - NOW) // MIN if isinstance(found, Timed) else found.reason


A, B = away(4), away(-4)


def held(second: float) -> tuple[Booking, ...]:
    return (booking("A", 10, 40, place=A), booking("B", second, second + 30, place=B))


def test_a_job_is_slotted_between_two_bookings_when_the_later_one_is_still_reachable() -> None:
    ana = worker(bookings=held(90))
    table = {(MIDDLE, MIDDLE): 0, (MIDDLE, A): 5, (A, MIDDLE): 10, (MIDDLE, B): 10, (B, MIDDLE): 10}
    assert arrival(ana, job(opens=41, due=60, lasts=30), table) == 50
    table[MIDDLE, B] = 11
    assert arrival(ana, job(opens=41, due=60, lasts=30), table) == Refusal.OVERLAP


def test_origin_and_departure_are_those_of_the_booking_before() -> None:
    ana = worker(bookings=(booking("A", 0, 40, place=A, started=0),), place=MIDDLE)
    table = {(A, MIDDLE): 7, (MIDDLE, MIDDLE): 0}
    assert arrival(ana, job(due=60), table) == 47


def test_a_worker_who_is_free_until_then_comes_from_where_they_are_now() -> None:
    ana = worker(bookings=(booking("A", 120, 150, place=A),))
    assert arrival(ana, job(due=60, lasts=30), {(MIDDLE, MIDDLE): 3, (MIDDLE, A): 5, (A, MIDDLE): 5}) == 3


def test_with_a_second_lane_free_a_held_job_is_no_bar() -> None:
    ana = worker(capacity=2, bookings=(booking("A", 0, 90, started=0),))
    assert arrival(ana, job(due=30), {(MIDDLE, MIDDLE): 4}) == 4
    assert arrival(worker(bookings=ana.bookings), job(due=30), {}) == Refusal.OVERLAP


def test_a_second_shift_later_in_the_day_serves_a_later_window() -> None:
    ana = worker(shifts=(span(-60, 30), span(120, 240)))
    assert arrival(ana, job(opens=100, due=130, lasts=30), {(MIDDLE, MIDDLE): 5}) == 125
    assert arrival(ana, job(opens=40, due=60, lasts=30), {}) == Refusal.OFF_SHIFT


# --- for all schedules -----------------------------------------------------------------------------------------------

places = st.floats(-20, 20).map(away)


@st.composite
def schedules(draw: st.DrawFn) -> Worker:
    """A worker of one or two lanes whose bookings follow each other, the first perhaps begun."""
    capacity = draw(st.integers(1, 2))
    found: list[Booking] = []
    for lane in range(capacity):
        clock = draw(st.integers(-40, 60))
        for n in range(draw(st.integers(0, 4))):
            lasts = draw(st.integers(5, 60))
            begun = clock if n == 0 and clock <= 0 and draw(st.booleans()) else None
            found.append(booking(f"{lane}{n}", clock, clock + lasts, place=draw(places), lane=lane, started=begun))
            clock += lasts + draw(st.integers(0, 90))
    absences = draw(st.lists(st.integers(-60, 400).map(lambda start: span(start, start + 45)), max_size=2))
    shifts = draw(st.sampled_from([(span(-60, 600),), (span(-60, 90), span(150, 400)), (span(30, 200),)]))
    return worker(capacity=capacity, bookings=tuple(found), absences=tuple(absences), shifts=shifts,
                  place=draw(places))  # fmt: skip


@settings(max_examples=400)
@given(schedules(), st.integers(0, 300), st.integers(0, 90), st.integers(5, 90), st.integers(0, 10_000))
def test_whatever_is_accepted_overlaps_nothing_and_reaches_the_next_in_time(
    who: Worker, opens: int, window: int, lasts: int, salt: int
) -> None:
    """Road times are anything at or above the optimistic bound, and differ by direction."""
    what = job(opens=opens, due=opens + window, lasts=lasts)
    known = facts(what, who)

    def drive(leg: Leg) -> Travel:
        return drives(((hash((leg.origin.lat, leg.destination.lat, salt)) % 2400) + 1) / 60)

    if not sift(known, {who.id: seen(who)}, LIMITS, POLICY).candidates:
        return
    found = timing(candidate(who, seen(who), known, LIMITS, POLICY), what, NOW, drive, ETA)
    if not isinstance(found, Timed):
        return
    work = service(what, found.arrival_ms)
    assert NOW <= found.arrival_ms <= what.due_by_ms
    assert any(each.starts_ms <= found.slot.depart_ms and work.ends_ms <= each.ends_ms for each in who.shifts)
    assert not any(each.starts_ms < work.ends_ms and found.slot.depart_ms < each.ends_ms for each in who.absences)
    lane = sorted((each for each in who.bookings if each.lane == found.slot.lane), key=lambda each: each.starts_ms)
    assert not any(each.starts_ms < work.ends_ms and work.starts_ms < each.ends_ms for each in lane)
    after = [each for each in lane if each.starts_ms >= work.ends_ms]
    if after:
        onward_s = drive(Leg(origin=what.place, destination=after[0].place)).seconds
        assert work.ends_ms + onward_s * 1000 <= after[0].starts_ms
    before = [each for each in lane if each.ends_ms <= work.starts_ms]
    if before:
        travel_s = drive(Leg(origin=before[-1].place, destination=what.place)).seconds
        assert max(ends_ms(before[-1], NOW), before[-1].ends_ms) + travel_s * 1000 <= found.arrival_ms
    assert all(one.ends_ms <= two.starts_ms for one, two in pairwise(lane))
