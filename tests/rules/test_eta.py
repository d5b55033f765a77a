"""Travel without a router, and what may be promised on which answer (SPEC 4)."""

from dataclasses import replace

import pytest

from engine.rules.eta import (
    EtaRules,
    band,
    calibrated_kmh,
    great_circle_m,
    optimistic_s,
    pessimistic_s,
    stand_in_s,
    travel,
)
from engine.rules.nouns import Confidence, Driven, Leg, NoAnswer, Point, Travel, Unreachable
from engine.rules.place import cell, centre_of

RULES = EtaRules()
KREMS = Point(48.4102, 15.6146)
ACROSS = Point(48.3945, 15.6146)  # over the Danube, 1.75 km
LEG = Leg(origin=KREMS, destination=ACROSS)
STAND_IN_S = stand_in_s(KREMS, ACROSS, speed_kmh=30)
DOWN = NoAnswer(reason="timeout")
NOON_S = 1_800_000_000 - 1_800_000_000 % 3600


def seen_by_customer(**changes: object) -> tuple[int, int]:
    told: dict[str, object] = {"eta_s": 1200, "confidence": Confidence.HIGH, "remembered": True, "fix_age_s": 0}
    return band(NOON_S, rules=RULES, **{**told, **changes})  # type: ignore[arg-type]


def test_B031_two_points_across_the_antimeridian_are_neighbours() -> None:
    worker, job = Point(-17.0, -179.999), Point(-17.0, 179.999)
    assert 200 < great_circle_m(worker, job) < 225
    assert stand_in_s(worker, job, speed_kmh=30) < 60


def test_B082_nine_minutes_fifty_nine_and_a_bit_never_become_less() -> None:
    assert STAND_IN_S == 294  # 1,745.7 m × 1.4 at 30 km/h = 293.3 s
    assert stand_in_s(KREMS, KREMS, speed_kmh=30) == 0


def test_the_optimistic_bound_is_below_the_stand_in() -> None:
    assert optimistic_s(KREMS, ACROSS, speed_kmh=60) < STAND_IN_S / 2


def test_a_road_time_is_promised_with_high_confidence() -> None:
    assert travel(Driven(duration_s=900), 100, LEG, RULES) == Travel(
        seconds=900, confidence=Confidence.HIGH, source="road"
    )


@pytest.mark.parametrize(("remembered", "seconds"), [(2000, 2000), (10, STAND_IN_S)])
def test_without_an_answer_the_worse_of_memory_and_stand_in_counts(remembered: int, seconds: int) -> None:
    assert travel(DOWN, remembered, LEG, RULES) == Travel(seconds=seconds, confidence=Confidence.LOW, source="memory")


def test_where_nothing_is_remembered_the_stand_in_counts_alone() -> None:
    assert travel(DOWN, None, LEG, RULES) == Travel(seconds=STAND_IN_S, confidence=Confidence.LOW, source="stand_in")


def test_B084_an_unreachable_island_is_never_a_great_circle() -> None:
    assert travel(Unreachable(), 100, LEG, RULES) == Unreachable()
    assert travel(DOWN, Unreachable(), LEG, RULES) == Unreachable()


def test_an_island_that_has_a_road_again_is_reachable() -> None:
    assert isinstance(travel(Driven(duration_s=9), Unreachable(), LEG, RULES), Travel)


def test_only_a_bare_stand_in_is_doubted_beyond_its_number() -> None:
    road = Travel(seconds=601, confidence=Confidence.HIGH, source="road")
    memory = Travel(seconds=601, confidence=Confidence.LOW, source="memory")
    bare = Travel(seconds=601, confidence=Confidence.LOW, source="stand_in")
    assert [pessimistic_s(each, RULES) for each in (road, memory, bare)] == [601, 601, 902]


def test_a_speed_is_calibrated_by_what_the_road_said_far_apart_and_often_enough() -> None:
    here = cell(KREMS, 10)
    there = [cell(Point(KREMS.lat + 0.01 + n / 1000, KREMS.lng), 10) for n in range(40)]
    road = [(here, each, stand_in_s(Point(*centre_of(here)), Point(*centre_of(each)), speed_kmh=18)) for each in there]
    beside = (here, cell(Point(KREMS.lat + 0.002, KREMS.lng), 10), 1)
    speed, pairs = calibrated_kmh([*road, beside, (here, there[0], None)], detour=1.4)
    assert speed == pytest.approx(18, rel=0.01)
    assert pairs == 40
    assert calibrated_kmh(road[:29], detour=1.4) == (None, 29)


def test_a_customer_is_told_whole_five_minutes_around_the_arrival() -> None:
    for arrival_s in range(NOON_S - 400, NOON_S + 400, 7):
        lo, hi = band(arrival_s, eta_s=1200, confidence=Confidence.HIGH, remembered=True, fix_age_s=0, rules=RULES)
        assert lo % 300 == hi % 300 == 0
        assert lo < arrival_s < hi


def test_each_doubt_and_each_minute_of_age_widens_the_band_on_both_sides() -> None:
    sure = seen_by_customer()
    low = seen_by_customer(confidence=Confidence.LOW)
    bare = seen_by_customer(confidence=Confidence.LOW, remembered=False)
    old = seen_by_customer(fix_age_s=300)
    assert bare[0] < low[0] < sure[0] < sure[1] < low[1] < bare[1]
    assert old[0] < sure[0] < sure[1] < old[1]
    assert seen_by_customer(confidence=Confidence.MANUAL) == low


def test_a_band_starts_no_earlier_than_the_mark_before_now() -> None:
    lo, hi = seen_by_customer(eta_s=0, confidence=Confidence.LOW, remembered=False, fix_age_s=600)
    assert lo == NOON_S < hi


def test_a_band_is_never_a_minute_even_when_all_widths_are_nought() -> None:
    rules = replace(RULES, band_early_s=0, band_late_s=0)
    assert band(NOON_S, eta_s=60, confidence=Confidence.HIGH, remembered=True, fix_age_s=0, rules=rules) == (
        NOON_S,
        NOON_S + 300,
    )
