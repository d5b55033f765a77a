"""The hard filters: each on its own, its number, and the order in which they speak (SPEC 3.2)."""

from dataclasses import replace

import pytest

from engine.rules.eligibility import against, reserve, sift
from engine.rules.nouns import Area, Point, Refusal, Seen, Worker
from tests.rules.making import LIMITS, MIDDLE, POLICY, away, booking, facts, job, seen, span, worker


def first(who: Worker, what: object = None, *, device_s: float = 0, receive_s: float = 0) -> tuple[str, str] | None:
    """The first refusal (reason, detail), or None for a candidate."""
    known = facts(what or job(), who)  # type: ignore[arg-type]
    sifted = sift(known, {who.id: seen(who, device_s=device_s, receive_s=receive_s)}, LIMITS, POLICY)
    assert len(sifted.candidates) + len(sifted.refused) == 1
    return (sifted.refused[0].reason, sifted.refused[0].detail) if sifted.refused else None


SQUARE = Area(
    id="town",
    name="Town",
    rings=((Point(48.1, 16.3), Point(48.1, 16.5), Point(48.3, 16.5), Point(48.3, 16.3)),),
)
ELSEWHERE = replace(SQUARE, id="hills", name="Hills", rings=((Point(47, 15), Point(47, 15.1), Point(47.1, 15)),))


@pytest.mark.parametrize(
    ("who", "reason", "detail"),
    [
        (worker(skills="drive"), "skills", "lacks lift"),
        (worker(skills="lift", region="other"), "other_region", "belongs to other, the job to main"),
        (worker(skills="lift", moving_to="other"), "other_region", "is being handed to other"),
        (
            worker(skills="lift", absences=(span(-5, 65),)),
            "absent",
            "back from an absence, arrives 5 min after due_by",
        ),
        (worker(skills="lift", absences=(span(20, 65),)), "absent", "would end 10 min after an absence begins"),
        (worker(skills="lift", absences=(span(-5, 600),)), "absent", "absent for all that is left of their shift"),
        (worker(skills="lift", shifts=()), "off_shift", "no shift ahead"),
        (worker(skills="lift", shifts=(span(-60, 25),)), "off_shift", "would end 5 min after the shift"),
        (worker(skills="lift", offer="O-1"), "offered_elsewhere", "offer O-1 stands"),
        (worker(skills="lift", offered=-9.5), "cooldown", "had this job 10 min ago < 10 min"),
        (worker(skills="lift", offered=-0.5), "cooldown", "had this job 30 s ago < 10 min"),
        (worker(skills="lift", area=ELSEWHERE), "outside_area", "the job lies outside Hills"),
        (worker(skills="lift", bookings=(booking("A", 0, 90, started=0),)), "overlap", "overlaps A, free in 90 min"),
        (
            worker(skills="lift", bookings=(booking("B", 20, 120),)),
            "overlap",
            "overlaps B: 10 min too late for the booking after it",
        ),
        (worker(skills="lift", place=away(61)), "late", "arrives 1 min after due_by"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_each_filter_alone_with_its_number(who: Worker, reason: str, detail: str) -> None:
    assert first(who, job(skills="lift")) == (reason, detail)


def test_who_passes_all_of_them_is_a_candidate() -> None:
    assert first(worker(skills="lift drive", area=SQUARE), job(skills="lift")) is None
    assert first(worker(area=ELSEWHERE, travels=True)) is None
    assert first(worker(offered=-10)) is None, "ten minutes ago is over"


@pytest.mark.parametrize(
    ("device_s", "receive_s", "told"),
    [
        (30, 30, None),
        (30.001, 0, "fix 31 s > 30 s"),
        (0, 45, "fix 45 s > 30 s"),
        (360, 5, "fix 6 min > 30 s"),
    ],
)
def test_both_ages_have_to_be_fresh(device_s: float, receive_s: float, told: str | None) -> None:
    assert first(worker(), device_s=device_s, receive_s=receive_s) == (("stale", told) if told else None)


def test_a_worker_the_index_does_not_know_is_no_fix() -> None:
    who = worker()
    sifted = sift(facts(job(), who), {}, LIMITS, POLICY)
    assert [each.reason for each in sifted.refused] == [Refusal.NO_FIX]
    assert sifted.candidates == ()


def test_the_first_failed_filter_is_the_one_recorded_and_an_override_sees_them_all() -> None:
    who = worker(region="other", absences=(span(-5, 65),), offer="O-1", offered=-1, area=ELSEWHERE)
    known = facts(job(skills="lift"), who)
    where = seen(who, device_s=60)
    all_of_them = [each.reason for each in against(who, where, known, LIMITS, frozenset({"ana"}))]
    assert all_of_them == [
        "skills", "other_region", "absent", "stale", "offered_elsewhere", "cooldown", "reserved", "outside_area",
    ]  # fmt: skip
    assert sift(known, {"ana": where}, LIMITS, POLICY).refused[0].reason == "skills"
    assert all_of_them == sorted(all_of_them, key=list(Refusal).index)


def test_the_offer_of_this_very_job_is_none_elsewhere() -> None:
    who = worker(offer="O-1")
    assert first(who, replace(job(), live_offer_id="O-1")) is None
    assert first(who, replace(job(), live_offer_id="O-2")) == ("offered_elsewhere", "offer O-1 stands")


def test_a_filter_may_be_left_out_and_the_others_still_hold() -> None:
    who = worker(offered=-1, area=ELSEWHERE)
    again = sift(facts(job(), who), {"ana": seen(who)}, LIMITS, POLICY, allow=frozenset({Refusal.COOLDOWN}))
    assert [each.reason for each in again.refused] == [Refusal.OUTSIDE_AREA]


def test_a_skill_mismatch_is_never_scored_however_near() -> None:
    near, able = worker("near"), worker("able", place=away(20), skills="lift")
    sifted = sift(facts(job(skills="lift"), near, able), {each.id: seen(each) for each in (near, able)}, LIMITS, POLICY)
    assert [each.worker.id for each in sifted.candidates] == ["able"]
    assert [each.worker_id for each in sifted.refused] == ["near"]


def test_the_optimistic_bound_lets_nobody_go_who_might_make_it() -> None:
    """60 km/h over the great circle: 60 min at that speed is in, a little more is late."""
    assert first(worker(place=away(60))) is None
    assert first(worker(place=away(60.2))) == ("late", "arrives 12 s after due_by")


def test_candidates_come_best_optimistic_score_first() -> None:
    """30 km/h here: 10 optimistic minutes are 20; three jobs weigh nine points."""
    three = (
        worker("far", place=away(10)),
        worker("busy", place=away(2), jobs=6),
        worker("near", place=away(1), jobs=1),
    )
    sifted = sift(facts(job(), *three), {each.id: seen(each) for each in three}, LIMITS, POLICY)
    assert [each.worker.id for each in sifted.candidates] == ["near", "far", "busy"]
    assert [round(each.optimistic_score, 1) for each in sifted.candidates] == [5.0, 20.0, 22.0]


# --- slack capacity --------------------------------------------------------------------------------------------------


def idle(n: int, **fields: object) -> tuple[tuple[Worker, ...], dict[str, Seen]]:
    crowd = tuple(worker(f"w{each}", jobs=each % 3, **fields) for each in range(n))  # type: ignore[arg-type]
    return crowd, {each.id: seen(each) for each in crowd}


@pytest.mark.parametrize(("n", "kept"), [(4, 0), (5, 1), (10, 1), (11, 2), (20, 2), (21, 3)])
def test_a_tenth_of_a_cells_idle_workers_rounded_up_is_kept_from_five_on(n: int, kept: int) -> None:
    crowd, where = idle(n)
    assert len(reserve(facts(job(), *crowd), where, LIMITS)) == kept


def test_kept_are_those_with_most_jobs_today_so_that_fairness_loses_least() -> None:
    crowd, where = idle(6)
    assert reserve(facts(job(), *crowd), where, LIMITS) == {"w2"}


def test_an_emergency_has_them_all() -> None:
    crowd, where = idle(6)
    assert reserve(facts(job(priority=4), *crowd), where, LIMITS) == frozenset()
    assert reserve(facts(job(priority=3), *crowd), where, LIMITS) != frozenset()


def test_who_is_not_idle_does_not_count() -> None:
    for fields in (
        {"bookings": (booking("A", 100, 130),)},
        {"offer": "O-1"},
        {"shifts": (span(60, 120),)},
        {"absences": (span(-5, 5),)},
    ):
        crowd, where = idle(6, **fields)
        assert reserve(facts(job(), *crowd), where, LIMITS) == frozenset()
    crowd, where = idle(6)
    stale = {name: replace(each, device_age_ms=60_000) for name, each in where.items()}
    assert reserve(facts(job(), *crowd), stale, LIMITS) == frozenset()


def test_cells_are_counted_apart() -> None:
    crowd, _ = idle(6)
    apart = {each.id: seen(each, place=MIDDLE if n % 2 else away(30)) for n, each in enumerate(crowd)}
    assert reserve(facts(job(), *crowd), apart, LIMITS) == frozenset()
