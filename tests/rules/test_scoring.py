"""The score orders survivors, and only orders them (SPEC 3.4)."""

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.eta import EtaRules
from engine.rules.nouns import Confidence, Refusal, Unreachable
from engine.rules.scoring import Entry, order, promise, rank, score, terms, timing
from engine.rules.steps import Refused, Slot, Timed
from tests.rules.making import ETA, MIDDLE, MIN, NOW, POLICY, at, away, candidate, drives, job, timed, worker


def entry(name: str, minutes: float, jobs: int, slack: float = 0) -> Entry:
    return Entry(worker=name, travel_s=round(minutes * 60), jobs_today=jobs, slack_ms=round(slack * MIN))


def names(entries: tuple[Entry, ...]) -> list[str]:
    return [each.worker for each in entries]


WORKED = [timed("ana", 12, 4), timed("ben", 18, 0), timed("cem", 25, 1)]


@pytest.mark.parametrize("given_order", list(permutations(range(3))))
def test_the_worked_case_in_any_order_of_input(given_order: tuple[int, ...]) -> None:
    ranked = rank([WORKED[n] for n in given_order], job(due=120), POLICY)
    assert [each.timed.candidate.worker.id for each in ranked] == ["ben", "ana", "cem"]
    assert [each.score for each in ranked] == [18 - 25.5, 24 - 27, 28 - 23.75]


def test_without_fairness_the_worked_case_goes_to_the_nearest() -> None:
    ranked = rank(WORKED, job(due=120), replace(POLICY, w_fair=0))
    assert [each.timed.candidate.worker.id for each in ranked] == ["ana", "ben", "cem"]


def test_an_idle_worker_eight_minutes_farther_beats_one_with_four_jobs() -> None:
    assert names(order([entry("busy", 5, 4, 55), entry("idle", 13, 0, 47)], POLICY)) == ["idle", "busy"]


def test_the_terms_add_up_to_the_score() -> None:
    one = entry("ana", 12, 4, 108)
    parts = terms(one, POLICY)
    assert (parts.eta, parts.fair, parts.slack) == (12, 12, -27)
    assert score(one, POLICY) == parts.eta + parts.fair + parts.slack


def test_within_the_band_of_the_leader_fewer_jobs_go_first_and_beyond_it_the_score_decides() -> None:
    low = replace(POLICY, w_fair=0.1, w_slack=0)
    leader, near, far = entry("a", 10, 2, 50), entry("b", 15, 1, 45), entry("c", 15.1, 0, 44.9)
    assert names(order([leader, near, far], low)) == ["b", "a", "c"]
    assert names(order([leader, near, far], replace(low, w_fair=0))) == ["a", "b", "c"]


def test_the_band_is_measured_from_the_leader_by_score() -> None:
    """The leader need not be the nearest: someone nearer is inside the band as well."""
    low = replace(POLICY, w_slack=0)
    assert names(order([entry("near", 1, 5, 59), entry("leader", 9, 1, 51), entry("idle", 13.9, 0, 46.1)], low)) == [
        "idle", "leader", "near",
    ]  # fmt: skip


def test_one_who_drives_four_minutes_but_is_free_in_fifty_does_not_go_before_one_who_is_there_in_two() -> None:
    soon, later = entry("soon", 2, 3, 58), entry("later", 4, 0, 6)
    assert names(order([soon, later], replace(POLICY, w_fair=0.1))) == ["soon", "later"]


def test_ties_go_by_score_then_jobs_then_id() -> None:
    flat = replace(POLICY, w_slack=0, eta_band_min=0)
    same = [entry("c", 10, 0), entry("a", 10, 0), entry("b", 7, 1)]
    assert score(same[0], flat) == score(same[2], flat)
    assert names(order(same, flat)) == ["a", "c", "b"]


@given(
    st.lists(
        st.builds(
            Entry,
            worker=st.text(alphabet="abcdefgh", min_size=1, max_size=3),
            travel_s=st.integers(0, 7200),
            jobs_today=st.integers(0, 12),
            slack_ms=st.integers(-60 * MIN, 240 * MIN),
        ),
        max_size=8,
        unique_by=lambda each: each.worker,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_is_the_same_for_the_same_entries_and_loses_nobody(entries: list[Entry], chance: object) -> None:
    first = order(entries, POLICY)
    shuffled = list(entries)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert order(shuffled, POLICY) == first
    assert sorted(names(first)) == sorted(each.worker for each in entries)
    if first:
        leader = min(entries, key=lambda each: (score(each, POLICY), each.jobs_today, each.worker))
        assert first[0].slack_ms >= leader.slack_ms - 5 * MIN
        assert first[0].jobs_today <= leader.jobs_today


def test_B079_nine_equal_jobs_are_three_each() -> None:
    jobs = {"ana": 0, "ben": 0, "cem": 0}
    for _ in range(9):
        first = order([entry(name, 10, done) for name, done in jobs.items()], POLICY)[0]
        jobs[first.worker] += 1
    assert set(jobs.values()) == {3}


# --- real times ------------------------------------------------------------------------------------------------------


def test_of_several_slots_the_earliest_arrival_that_fits_is_taken() -> None:
    early = Slot(lane=0, origin=away(30), depart_ms=NOW, ends_by_ms=at(600))
    late = Slot(lane=1, origin=away(2), depart_ms=at(10), ends_by_ms=at(600))
    two = candidate(worker(capacity=2), early, late)
    drive = {early.origin: drives(30), late.origin: drives(4)}
    found = timing(two, job(), NOW, lambda leg: drive[leg.origin], ETA)
    assert isinstance(found, Timed)
    assert (found.slot.lane, found.arrival_ms, found.eta_s) == (1, at(14), 14 * 60)


def test_unreachable_is_no_road_and_not_a_guess() -> None:
    found = timing(candidate(worker()), job(), NOW, lambda leg: Unreachable(), ETA)
    assert isinstance(found, Refused)
    assert (found.reason, found.detail) == (Refusal.NO_ROAD, "no road leads there")


def test_a_booking_after_it_that_no_road_leads_on_to_is_an_overlap() -> None:
    slot = Slot(lane=0, origin=away(3), depart_ms=NOW, ends_by_ms=at(600), next_place=away(9), next_starts_ms=at(300))
    alone = candidate(worker(), slot)
    found = timing(alone, job(), NOW, lambda leg: drives(3) if leg.origin == away(3) else Unreachable(), ETA)
    assert isinstance(found, Refused)
    assert found.reason is Refusal.OVERLAP


def test_only_a_bare_stand_in_is_doubted_beyond_its_own_number() -> None:
    doubting = EtaRules(pessimistic_factor=1.5)
    for source, in_time in (("road", True), ("memory", True), ("stand_in", False)):
        found = timing(candidate(worker()), job(due=60), NOW, lambda leg, by=source: drives(50, source=by), doubting)
        assert isinstance(found, Timed) is in_time
        if isinstance(found, Refused):
            assert (found.reason, found.detail) == (Refusal.LATE, "could arrive 15 min after due_by")


def test_an_estimate_keeps_clear_at_its_worse_end_of_all_that_it_promises_around() -> None:
    """Ten minutes that may be fifteen: neither an absence nor the shift's end nor the next booking may be run into."""
    doubting = EtaRules(pessimistic_factor=1.5)
    held = {"next_place": away(9), "next_starts_ms": at(52)}
    for fields, reason, told in (
        ({"ends_by_ms": at(44)}, Refusal.OFF_SHIFT, "at worst would end 1 min after the shift"),
        ({"ends_by_ms": at(44), "then": Refusal.ABSENT}, Refusal.ABSENT,
         "at worst would end 1 min after an absence begins"),
        ({"ends_by_ms": at(600), **held}, Refusal.OVERLAP, "at worst 8 min too late for the booking after it"),
    ):  # fmt: skip
        alone = candidate(worker(), Slot(lane=0, origin=MIDDLE, depart_ms=NOW, **fields))  # type: ignore[arg-type]
        by_road = timing(alone, job(), NOW, lambda leg: drives(10), doubting)
        assert isinstance(by_road, Timed)
        found = timing(alone, job(), NOW, lambda leg: drives(10, source="stand_in"), doubting)
        assert isinstance(found, Refused)
        assert (found.reason, found.detail) == (reason, told)


def test_due_by_to_the_second_is_in_time() -> None:
    for seconds, fits in ((3600, True), (3601, False)):
        found = timing(candidate(worker()), job(due=60), NOW, lambda leg, s=seconds: drives(s / 60), ETA)
        assert isinstance(found, Timed) is fits


def test_the_promise_books_from_the_windows_opening_or_the_arrival() -> None:
    early = promise(timed("ana", 12), job(opens=30, due=60, lasts=20), ETA)
    assert (early.arrival_ms, early.starts_ms, early.ends_ms) == (at(12), at(30), at(50))
    late = promise(timed("ana", 42), job(opens=30, due=60, lasts=20), ETA)
    assert (late.starts_ms, late.ends_ms, late.travel_ms) == (at(42), at(62), 42 * MIN)
    assert late.band_from_ms <= late.starts_ms < late.band_to_ms


def test_a_dispatchers_own_choice_is_manual_whatever_the_source() -> None:
    assert promise(timed("ana", 12), job(), ETA).confidence is Confidence.HIGH
    assert promise(timed("ana", 12, source="stand_in"), job(), ETA).confidence is Confidence.LOW
    assert promise(timed("ana", 12), job(), ETA, Confidence.MANUAL).confidence is Confidence.MANUAL
