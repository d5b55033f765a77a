"""The OSRM client against routers that answer, lie, hang and die: over real sockets, on real time (SPEC 4, 11)."""

import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.road.breaker import BreakerState
from engine.road.osrm import OsrmRoad
from engine.rules.eta import EtaRules, stand_in_s, travel
from engine.rules.nouns import Confidence, Driven, Leg, NoAnswer, Point, RoadAnswer, Travel, Unreachable
from engine.settings import Router
from fixtures.router import RouterProcess
from tests.road.loopback import (
    FIVE,
    MONACO,
    PATH,
    PATIENT_MS,
    SOON_S,
    Clock,
    Recorded,
    Served,
    http_router,
    raw_router,
    reasons,
    recorded,
    road_to,
    route_ok,
    timed,
)

# --- a router that answers -------------------------------------------------------------------------------------------


def ask_recorded(answers: dict[str, Recorded], name: str) -> tuple[RoadAnswer, OsrmRoad]:
    """What we make of one recorded answer, served under its own headers by a real server."""
    each = answers[name]

    def reply(path: str) -> tuple[int, bytes, dict[str, str]]:
        return each.status, each.body.encode(), each.headers

    with http_router(reply) as served, road_to(served) as road:
        return road.times([MONACO], budget_ms=PATIENT_MS)[0], road


RECORDED: dict[str, RoadAnswer] = {
    "monaco-route_ok": Driven(duration_s=145),
    "monaco-route_exclude_toll": Driven(duration_s=145),
    "monaco-route_unknown_profile_name": Driven(duration_s=145),
    "nginx-ok_through_proxy": Driven(duration_s=145),
    "nginx-429_first_ok": Driven(duration_s=145),
    "island-route_noroute_to_island": Unreachable(),
    "island-route_noroute_against_oneway": Unreachable(),
    "monaco-route_swapped_latlon": NoAnswer(reason="snap_too_far"),
    "monaco-route_null_island": NoAnswer(reason="snap_too_far"),
    "monaco-route_in_sea_default_radius": NoAnswer(reason="snap_too_far"),
    "monaco-route_antimeridian": NoAnswer(reason="snap_too_far"),
    "monaco-route_radius_nosegment": NoAnswer(reason="snap_too_far"),
    "monacoR300-route_swapped_latlon_default_radius_300": NoAnswer(reason="snap_too_far"),
    "monaco-route_ok_same_point": NoAnswer(reason="absurd"),
    "monaco-route_skip_waypoints": NoAnswer(reason="no_waypoints"),
    "monaco-route_flatbuffers": NoAnswer(reason="not_json"),
    "monaco-route_bad_service": NoAnswer(reason="InvalidService: Service routes not found!"),
    "monaco-route_bad_version": NoAnswer(reason="InvalidVersion: Service route not found!"),
    "monaco-route_bad_number": NoAnswer(reason="InvalidQuery: Query string malformed close to position 26"),
    "monaco-route_lat_95": NoAnswer(reason="InvalidValue: Invalid coordinate value."),
    "nginx-301_to_https": NoAnswer(reason="http_301"),
    "nginx-401_auth_required": NoAnswer(reason="http_401"),
    "nginx-404_not_found": NoAnswer(reason="http_404"),
    "nginx-429_rate_limited": NoAnswer(reason="http_429"),
    "nginx-502_upstream_dead": NoAnswer(reason="http_502"),
    "nginx-503_rate_limited_default": NoAnswer(reason="http_503"),
    "nginx-504_upstream_slow": NoAnswer(reason="http_504"),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_answer_over_the_wire(shared: Path, name: str) -> None:
    answer, road = ask_recorded(recorded(shared), name)
    assert answer == RECORDED[name]
    assert (road.state().last_error != "") == isinstance(answer, NoAnswer)


def test_every_recorded_answer_over_the_wire_is_some_answer(shared: Path) -> None:
    """All of them through one server, keyed on the first piece of the path: none raises, none is a false Driven."""
    answers = recorded(shared)

    def reply(path: str) -> tuple[int, bytes, dict[str, str]]:
        each = answers[path.split("/")[1]]
        return each.status, each.body.encode(), each.headers

    driven: set[str] = set()
    with http_router(reply) as served:
        for name in answers:
            with road_to(Served(f"{served.url}/{name}")) as road:
                if isinstance(road.times([MONACO], budget_ms=PATIENT_MS)[0], Driven):
                    driven.add(name)
    true = {name for name, answer in RECORDED.items() if isinstance(answer, Driven)}
    assert driven - true <= {"monaco-route_ok_full_geojson", "island-route_ok_mainland", "monacoR300-route_ok"}


def test_the_router_is_asked_as_recorded_and_answers_keep_the_order_of_the_legs() -> None:
    def reply(path: str) -> tuple[int, bytes]:
        return 200, route_ok(100 + 10 * [each.split(",")[1] for each in starts].index(path.split(";")[0].split(",")[1]))

    starts = [f"7.41337,{43.72956 + n / 500:.5f}" for n in range(5)]
    with http_router(reply) as served, road_to(served) as road:
        answers = road.times(FIVE, budget_ms=PATIENT_MS)
        assert [each.duration_s for each in answers if isinstance(each, Driven)] == [100, 110, 120, 130, 140]
        assert PATH in served.paths
        assert road.times([]) == ()


def test_the_same_cells_are_asked_once_in_two_minutes_and_remembered_after() -> None:
    clock = Clock()
    clock.now = 1200.0
    with http_router(lambda path: (200, route_ok(700))) as served, road_to(served, clock) as road:
        for second in (0, 60, 119):
            clock.now = 1200.0 + second
            assert road.times([MONACO], budget_ms=PATIENT_MS) == (Driven(duration_s=700),)
        assert len(served.paths) == 1
        clock.now += 1
        assert road.times([MONACO], budget_ms=PATIENT_MS) == (Driven(duration_s=700),)
        assert len(served.paths) == 2
        assert road.remembered(MONACO) == 700
        back = Leg(origin=MONACO.destination, destination=MONACO.origin)
        assert road.remembered(back) is None, "the way back is another way"


def test_within_one_cell_the_road_is_asked_each_time() -> None:
    here = Leg(origin=Point(43.73000, 7.42000), destination=Point(43.73001, 7.42001))
    with http_router(lambda path: (200, route_ok(0))) as served, road_to(served) as road:
        for _ in range(2):
            assert road.times([here], budget_ms=PATIENT_MS) == (Driven(duration_s=0),)
        assert len(served.paths) == 2
        assert road.remembered(here) is None


def test_a_position_off_the_earth_is_never_sent() -> None:
    nowhere = [
        Leg(origin=Point(lat, lng), destination=Point(43, 7)) for lat, lng in [(float("nan"), 7), (91, 7), (3, 181)]
    ]
    with http_router(lambda path: (200, route_ok())) as served, road_to(served) as road:
        assert reasons(road.times(nowhere)) == ["bad_position"] * 3
        assert served.paths == []
        assert road.remembered(nowhere[0]) is None


def test_B084_an_island_is_unreachable_and_stays_so_through_an_outage() -> None:
    clock = Clock()
    alive = True

    def reply(path: str) -> tuple[int, bytes]:
        return (400, b'{"code":"NoRoute","message":"Impossible route between points"}') if alive else (502, b"<html>")

    with http_router(reply) as served, road_to(served, clock) as road:
        for _ in range(10):
            clock.now += 120
            assert road.times([MONACO], budget_ms=PATIENT_MS) == (Unreachable(),)
        assert road.state().breaker is BreakerState.CLOSED, "NoRoute is not an outage"
        alive = False
        clock.now += 120
        assert reasons(road.times([MONACO], budget_ms=PATIENT_MS)) == ["http_502"]
        assert road.remembered(MONACO) == Unreachable()


# --- connections -----------------------------------------------------------------------------------------------------


def test_a_connection_the_router_ends_after_512_requests_is_no_failure() -> None:
    clock = Clock()
    with http_router(lambda path: (200, route_ok())) as served, road_to(served, clock) as road:
        for _ in range(520):
            clock.now += 120
            assert road.times([MONACO], budget_ms=PATIENT_MS) == (Driven(duration_s=145),)
        assert road.state().failures == 0
        assert 2 <= served.connections <= 4, "connections are kept, and one ending is survived"


def test_a_kept_connection_cut_in_the_middle_of_a_request_is_tried_again_on_a_fresh_one() -> None:
    """The race that checking for a closed socket cannot win: it is closed only after the request was sent."""
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(route_ok()) + route_ok()

    def talk(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(reply)
        connection.recv(65536)  # the second request is read, and the line goes dead

    clock = Clock()
    with raw_router(talk) as served, road_to(served, clock) as road:
        for expected in (1, 2, 3):
            clock.now += 120
            assert road.times([MONACO], budget_ms=PATIENT_MS) == (Driven(duration_s=145),)
            assert served.connections == expected
        assert road.state().failures == 0


def test_a_redirect_is_refused_and_never_followed() -> None:
    with http_router(lambda path: (200, route_ok())) as inside:
        away = {"Location": "http://169.254.169.254/latest/meta-data/"}
        near = {"Location": inside.url + PATH}
        for headers in (away, near):
            with http_router(lambda path, headers=headers: (302, b"", headers)) as served, road_to(served) as road:
                assert reasons(road.times([MONACO])) == ["http_302"]
        assert inside.paths == []


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with http_router(lambda path: (200, route_ok())) as served, road_to(served) as road:
        assert road.times([MONACO], budget_ms=PATIENT_MS) == (Driven(duration_s=145),)


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:5000", "file:///etc/passwd", "ftp://h/", "http://", "http://h/?key=1", "http://u:p@h"]
)
def test_an_url_that_is_none_is_refused_at_start(url: str) -> None:
    with pytest.raises(ValueError, match="router"):
        OsrmRoad(Router(url=url))


# --- the self-test ---------------------------------------------------------------------------------------------------


def checks(road: OsrmRoad, around: Point | None = None) -> dict[str, tuple[bool, str]]:
    return {name: (ok, detail) for name, ok, detail in road.self_test(around)}


def test_B091_the_self_test_says_that_osrm_cannot_tell_its_profile() -> None:
    with http_router(lambda path: (200, route_ok())) as served, road_to(served, profile="bicycle") as road:
        found = checks(road)
    assert found["router answers"][0]
    assert "cannot tell" in found["router profile"][1]
    assert "'bicycle'" in found["router profile"][1]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("monaco-route_bad_version", "InvalidVersion: Service route not found!"),
        ("monaco-route_bad_service", "InvalidService: Service routes not found!"),
        ("nginx-404_not_found", "HTTP 404, not an OSRM answer"),
    ],
)
def test_B091_a_wrong_version_or_service_is_shown(shared: Path, name: str, shown: str) -> None:
    each = recorded(shared)[name]
    with http_router(lambda path: (each.status, each.body.encode())) as served, road_to(served) as road:
        assert checks(road) == {"router answers": (False, shown)}


def test_B091_a_router_that_knows_its_profiles_is_believed() -> None:
    def reply(path: str) -> tuple[int, bytes]:
        if path.startswith("/route/v1/driving/"):
            return 200, route_ok()
        return 400, b'{"code":"InvalidProfile","message":"no such profile"}'

    with http_router(reply) as served, road_to(served) as road:
        assert "other names are refused" in checks(road)["router profile"][1]


# --- a real OSRM, where it can be had --------------------------------------------------------------------------------

KREMS = Point(48.4102, 15.6146)


def test_a_real_router_drives_krems(krems_router: Served) -> None:
    leg = Leg(origin=KREMS, destination=Point(48.4080, 15.5990))
    with road_to(krems_router) as road:
        answer = road.times([leg], budget_ms=PATIENT_MS)[0]
        assert isinstance(answer, Driven)
        assert 60 < answer.duration_s < 1200
        found = checks(road, KREMS)
    assert found["router answers"] == (True, "OSRM route v1, data version krems")
    assert found["router map"][0]


def test_B029_swapped_coordinates_never_win_by_zero_at_a_real_router(krems_router: Served) -> None:
    swapped = Leg(origin=Point(15.6146, 48.4102), destination=Point(15.5990, 48.4080))
    with road_to(krems_router) as road:
        assert reasons(road.times([swapped], budget_ms=PATIENT_MS)) == ["snap_too_far"]


def test_a_real_router_paused_killed_and_back_costs_little_and_the_river_is_remembered(
    start_router: Callable[[str], RouterProcess],
) -> None:
    """Across the Neckar: near by air, far by road. The worst of a router's days, on a clock turned by hand."""
    leg, clock = Leg(origin=Point(49.4145, 8.7200), destination=Point(49.4170, 8.7200)), Clock()
    router = start_router("heidelberg")
    with road_to(Served(router.url), clock) as road:
        answer = road.times([leg], budget_ms=PATIENT_MS)[0]
        assert isinstance(answer, Driven)
        assert answer.duration_s > 3 * stand_in_s(leg.origin, leg.destination, speed_kmh=30)
        router.pause()
        clock.now += 120
        answers, took_s = timed(road, [leg] * 5)
        assert reasons(answers) == ["timeout"] * 5
        assert took_s < SOON_S
        assert road.state().breaker == "open"
        known = travel(answers[0], road.remembered(leg), leg, EtaRules())
        assert known == Travel(seconds=answer.duration_s, confidence=Confidence.LOW, source="memory")
        router.resume()
        clock.now += 5
        assert road.times([leg], budget_ms=PATIENT_MS) == (answer,)
        assert road.state().breaker == "closed"
        router.stop()
        clock.now += 120
        assert reasons(road.times([leg])) == ["refused"]
        assert road.remembered(leg) == answer.duration_s
