"""What stays known of the roads, and what must not be taken for knowledge."""

from engine.road.memo import Memo, pair_of
from engine.road.no_road import NoRoad
from engine.rules.nouns import Driven, Leg, NoAnswer, Point, Unreachable

SOUTH, NORTH = Point(49.4105, 8.7000), Point(49.4135, 8.7000)  # 334 m, with a river between
THERE = pair_of(Leg(origin=SOUTH, destination=NORTH))
BACK = pair_of(Leg(origin=NORTH, destination=SOUTH))


def test_B081_durations_are_directional() -> None:
    memo = Memo(pairs_max=10)
    memo.keep(THERE, Driven(duration_s=600), 1)
    memo.keep(BACK, Driven(duration_s=1500), 1)
    assert (memo.remembered(THERE), memo.remembered(BACK)) == (600, 1500)


def test_an_answer_is_fresh_in_its_own_two_minutes_and_remembered_after() -> None:
    memo = Memo(pairs_max=10)
    memo.keep(THERE, Driven(duration_s=600), 7)
    assert memo.fresh(THERE, 7) == Driven(duration_s=600)
    assert memo.fresh(THERE, 8) is None
    assert memo.remembered(THERE) == 600


def test_B084_an_unreachable_pair_is_remembered() -> None:
    memo = Memo(pairs_max=10)
    memo.keep(THERE, Unreachable(), 7)
    assert memo.fresh(THERE, 7) == Unreachable() == memo.remembered(THERE)


def test_neither_one_cell_nor_a_zero_says_anything_of_a_pair() -> None:
    memo = Memo(pairs_max=10)
    memo.keep((THERE[0], THERE[0]), Driven(duration_s=40), 7)
    memo.keep(THERE, Driven(duration_s=0), 7)
    assert len(memo) == 0


def test_the_longest_unused_pair_is_forgotten_first() -> None:
    memo = Memo(pairs_max=2)
    memo.keep((1, 2), Driven(duration_s=12), 7)
    memo.keep((3, 4), Driven(duration_s=34), 7)
    assert memo.remembered((1, 2)) == 12
    memo.keep((5, 6), Driven(duration_s=56), 7)
    assert (memo.remembered((1, 2)), memo.remembered((3, 4)), memo.remembered((5, 6))) == (12, None, 56)


def test_a_snapshot_taken_back_is_remembered_but_never_fresh() -> None:
    before, after = Memo(pairs_max=10), Memo(pairs_max=10)
    before.keep(THERE, Driven(duration_s=600), 0)
    before.keep(BACK, Unreachable(), 0)
    after.keep(BACK, Driven(duration_s=1500), 0)
    after.load(before.snapshot())
    assert (after.remembered(THERE), after.fresh(THERE, 0)) == (600, None)
    assert after.fresh(BACK, 0) == Driven(duration_s=1500), "what was learned since must win"


def test_a_river_is_remembered_where_the_router_was_taken_away() -> None:
    road = NoRoad()
    road.load([(*THERE, 700), (*BACK, None)])
    leg = Leg(origin=SOUTH, destination=NORTH)
    assert road.times([leg]) == (NoAnswer(reason="no_router"),)
    assert road.remembered(leg) == 700
    assert road.remembered(Leg(origin=NORTH, destination=SOUTH)) == Unreachable()
    assert road.remembered(Leg(origin=SOUTH, destination=Point(float("nan"), 8.7))) is None
    assert road.snapshot() == ((*THERE, 700), (*BACK, None))
    assert road.state().breaker == "none"
