"""What a router's words are worth: the recorded answers of a real one, and invented lies (SPEC 4)."""

import json
from pathlib import Path

import pytest

from engine.road.answers import read_route
from engine.road.urls import route_path
from engine.rules.nouns import Driven, Leg, NoAnswer, Point, RoadAnswer, Unreachable
from tests.road.loopback import MONACO, PATH, recorded, route_ok

NEIGHBOURS = Leg(origin=Point(43.7300, 7.4200), destination=Point(43.7305, 7.4205))  # 69 m


def heard(body: bytes, leg: Leg = MONACO, status: int = 200) -> RoadAnswer:
    return read_route(status, body, leg, snap_max_m=500).answer


@pytest.mark.parametrize(
    "duration", [float("nan"), float("inf"), -1, -0.1, 86_401, 1e300, 10**400, True, "144", [], {}]
)
def test_a_time_that_cannot_be_is_no_answer(duration: object) -> None:
    assert heard(route_ok(duration)) == NoAnswer(reason="absurd")


def test_1e999_is_infinite_and_no_answer() -> None:
    assert heard(route_ok(7777).replace(b"7777", b"1e999")) == NoAnswer(reason="absurd")


def test_B029_a_zero_between_distant_points_never_wins() -> None:
    assert heard(route_ok(0)) == NoAnswer(reason="absurd")
    assert heard(route_ok(0), NEIGHBOURS) == Driven(duration_s=0)


def test_nobody_drives_at_more_than_200_km_an_hour() -> None:
    assert heard(route_ok(20, (0, 0))) == NoAnswer(reason="absurd")  # 1,444 m
    assert heard(route_ok(27, (0, 0))) == Driven(duration_s=27)


def test_two_ends_that_snap_towards_each_other_are_no_flight() -> None:
    near = Leg(origin=Point(43.7300, 7.4200), destination=Point(43.7310, 7.4210))  # 137 m
    assert heard(route_ok(0.9, (60, 60)), near) == Driven(duration_s=1)


@pytest.mark.parametrize(
    "snaps", [(501, 1), (1, 501), (float("nan"), 1), (None, 1), (-1, 1), (5427943.3, 5427943.3), ("1", 1)]
)
def test_B029_a_far_or_nonsensical_snap_is_no_answer(snaps: tuple[object, ...]) -> None:
    assert heard(route_ok(144.5, snaps)) == NoAnswer(reason="snap_too_far")


def test_without_snaps_nothing_is_believed() -> None:
    assert heard(route_ok(144.5, ())) == NoAnswer(reason="no_waypoints")


def test_B082_road_times_round_up() -> None:
    assert heard(route_ok(599.1)) == Driven(duration_s=600)


def test_B084_null_is_unreachable_and_not_zero() -> None:
    assert heard(route_ok(None)) == Unreachable()
    assert heard(b'{"code":"NoRoute"}', status=400) == Unreachable()


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"null", b"{", b"\xff\xfe\x00", b"[" * 100_000, b'{"a":' * 50_000, b"9" * 5000],
)
def test_garbage_is_no_answer_and_the_routers_fault(body: bytes) -> None:
    said = read_route(200, body, MONACO, snap_max_m=500)
    assert (said.answer, said.faulty) == (NoAnswer(reason="not_json"), True)


@pytest.mark.parametrize(
    "said", [{}, {"code": 7}, {"code": "Ok"}, {"code": "Ok", "routes": []}, {"code": "Ok", "routes": [{}]}]
)
def test_json_that_is_not_osrm_is_no_answer_and_the_routers_fault(said: object) -> None:
    answer = read_route(200, json.dumps(said).encode(), MONACO, snap_max_m=500)
    assert (answer.answer, answer.faulty) == (NoAnswer(reason="not_osrm"), True)


def test_B092_the_routers_complaint_is_shown_without_positions() -> None:
    said = b'{"code":"InvalidUrl","message":"URL string malformed close to position 26: \\"37, 43.72956\\""}'
    assert heard(said, status=400) == NoAnswer(reason='InvalidUrl: URL string malformed close to position 26: "…"')
    loose = b'{"code":"InvalidValue","message":"near 7.41337,43.72956\\u001b[31m"}'
    assert heard(loose, status=400) == NoAnswer(reason="InvalidValue: near …,… [31m")


def test_the_path_is_the_one_a_real_router_was_recorded_with() -> None:
    assert route_path("driving", MONACO) == PATH


def test_the_path_has_no_exponent_no_minus_zero_and_no_second_slash() -> None:
    leg = Leg(origin=Point(1e-7, -1e-7), destination=Point(-89.999999, 180.0))
    assert route_path("a/b?", leg) == "/route/v1/a%2Fb%3F/0.00000,0.00000;180.00000,-90.00000?overview=false"


def test_every_recorded_answer_reads_without_a_traceback(shared: Path) -> None:
    answers = recorded(shared)
    assert len(answers) >= 60
    for each in answers.values():
        assert isinstance(heard(each.body.encode(), status=each.status), Driven | Unreachable | NoAnswer)
