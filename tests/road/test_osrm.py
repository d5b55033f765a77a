"""The OSRM client against routers that answer, lie, hang and die: over real sockets, on real time (SPEC 4, 11)."""

import logging
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.road import OsrmRoad
from engine.road.breaker import BreakerState
from engine.rules.nouns import Driven, Leg, NoAnswer, Point, RoadAnswer, Unreachable
from engine.settings import Router
from tests.road.loopback import MONACO, PATH, Recorded, Served, http_router, raw_router, recorded, route_ok

BUDGET_MS = 150
SOON_S = 0.4  # a decision has 500 ms; the margin is for noisy machines
PATIENT_MS = 3000
FIVE = [Leg(origin=Point(43.72956 + n / 500, 7.41337), destination=MONACO.destination) for n in range(5)]


class Clock:
    """Turned by hand, for the breaker, the cache and the counts; deadlines stay real."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def road_to(served: Served, clock: Callable[[], float] = time.monotonic, **settings: object) -> closing[OsrmRoad]:
    return closing(OsrmRoad(Router(url=served.url, **settings), clock=clock))  # type: ignore[arg-type]


def reasons(answers: object) -> list[str]:
    assert isinstance(answers, tuple)
    return [each.reason for each in answers if isinstance(each, NoAnswer)]


def timed(road: OsrmRoad, legs: list[Leg] = FIVE) -> tuple[tuple[RoadAnswer, ...], float]:
    since = time.perf_counter()
    answers = tuple(road.times(legs))
    return answers, time.perf_counter() - since


def wait_until(true: Callable[[], bool], within_s: float = 3.0) -> None:
    until = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < until, "it did not become true in time"
        time.sleep(0.005)


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
    assert road.state().last_error == (answer.reason if isinstance(answer, NoAnswer) else "")


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


# --- a router that hangs, drips, cuts off or floods ------------------------------------------------------------------

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def hang(connection: socket.socket, over: threading.Event) -> None:
    over.wait(5)


def drip_body(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(OK + b"Content-Length: 100000\r\n\r\n")
    while not over.wait(0.01):
        connection.sendall(b" ")


def drip_headers(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(OK + b"X-Slow: ")
    while not over.wait(0.01):
        connection.sendall(b"z")


def half_body(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(OK + b"Content-Length: 600\r\n\r\n" + route_ok()[:50])


def reset(connection: socket.socket, over: threading.Event) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")


def flood(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(OK + b"Content-Length: 200000000\r\n\r\n")
    for _ in range(3200):
        connection.sendall(b" " * 62_500)


def no_http(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")


def bomb(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(OK + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00")


@pytest.mark.parametrize("talk", [hang, drip_body, drip_headers])
def test_B087_a_router_that_never_ends_is_cut_at_the_one_deadline(talk: Callable[..., None]) -> None:
    with raw_router(talk) as served, road_to(served) as road:
        answers, took_s = timed(road)
        assert reasons(answers) == ["timeout"] * 5
        assert took_s < SOON_S
        wait_until(lambda: in_the_air(road) == 0, within_s=1.0)
        state = road.state()
        assert (state.calls, state.timeouts, state.failures) == (5, 5, 5)
        assert served.connections <= 5, "at most K calls in flight"


@pytest.mark.parametrize(
    ("talk", "reason"),
    [(half_body, "cut_off"), (reset, "cut_off"), (no_http, "cut_off"), (flood, "too_large"), (bomb, "not_json")],
)
def test_B087_a_reply_that_is_cut_off_or_no_reply_is_no_answer(talk: Callable[..., None], reason: str) -> None:
    with raw_router(talk) as served, road_to(served) as road:
        assert reasons(road.times(FIVE[:1], budget_ms=PATIENT_MS)) == [reason]
        answers, took_s = timed(road)
        assert set(reasons(answers)) <= {reason, "timeout", "breaker_open"}
        assert took_s < SOON_S


def test_a_router_that_is_not_there_is_refused_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with road_to(Served(f"http://127.0.0.1:{port}")) as road:
        answers, took_s = timed(road)
        assert reasons(answers) == ["refused"] * 5
        assert took_s < SOON_S


def in_the_air(road: OsrmRoad) -> int:
    """Calls whose thread is still at work, as the bulkhead counts them."""
    return road.state().in_flight


def test_the_bulkhead_never_queues_and_lets_go_again() -> None:
    with raw_router(hang) as served, road_to(served, in_flight_max=3, breaker_failures=1000) as road:
        since = time.perf_counter()
        first = threading.Thread(target=road.times, args=(FIVE[:3],), kwargs={"budget_ms": 600})
        first.start()
        wait_until(lambda: in_the_air(road) == 3)
        assert reasons(road.times(FIVE)) == ["bulkhead_full"] * 5
        assert time.perf_counter() - since < 0.5, "those over the cap did not wait"
        assert served.connections <= 3
        first.join()
        wait_until(lambda: in_the_air(road) == 0)
        assert reasons(road.times(FIVE[:1])) == ["timeout"]
        assert road.state().shed == 5


def test_threads_do_not_pile_up_behind_a_hanging_router() -> None:
    with raw_router(hang) as served, road_to(served, in_flight_max=4, breaker_failures=1000) as road:
        for _ in range(10):
            road.times(FIVE, budget_ms=20)
        assert sum(each.name.startswith("road") for each in threading.enumerate()) <= 4


def test_more_calls_a_second_than_agreed_are_not_sent() -> None:
    with http_router(lambda path: (200, route_ok())) as served, road_to(served, Clock(), calls_per_s_max=3) as road:
        assert reasons(road.times(FIVE, budget_ms=PATIENT_MS)) == ["rate_full"] * 2
        assert len(served.paths) == 3


def test_after_close_nothing_is_sent_and_nothing_raises() -> None:
    with http_router(lambda path: (200, route_ok())) as served:
        with road_to(served) as road:
            pass
        assert reasons(road.times([MONACO])) == ["closed"]
        assert served.paths == []


# --- the breaker on a live line --------------------------------------------------------------------------------------


def broken_then_well(reply: tuple[int, bytes]) -> None:
    """A life: failing, open and left in peace, probed, closed by itself."""
    clock, sick = Clock(), [True]
    with (
        http_router(lambda path: reply if sick[0] else (200, route_ok())) as served,
        road_to(served, clock) as road,
    ):
        road.times(FIVE, budget_ms=PATIENT_MS)
        assert road.state().breaker is BreakerState.OPEN
        asked = len(served.paths)
        assert reasons(road.times(FIVE)) == ["breaker_open"] * 5
        assert len(served.paths) == asked, "an open breaker leaves the router in peace"
        sick[0] = False
        clock.now += 5
        probe = road.times(FIVE, budget_ms=PATIENT_MS)
        assert probe[0] == Driven(duration_s=145)
        assert reasons(probe) == ["breaker_open"] * 4
        assert road.state().breaker is BreakerState.CLOSED
        assert not reasons(road.times(FIVE, budget_ms=PATIENT_MS))


@pytest.mark.parametrize(
    "reply",
    [
        (429, b'{"message":"Too Many Requests"}'),
        (429, b"<html><h1>429 Too Many Requests</h1></html>"),
        (502, b"<html>"),
        (504, b"<html>"),
        (200, b"<html><h1>It works!</h1></html>"),
        (200, b'{"hello":"world"}'),
    ],
)
def test_B086_a_failing_router_opens_the_breaker_and_a_well_one_closes_it(reply: tuple[int, bytes]) -> None:
    broken_then_well(reply)


def test_a_hung_router_opens_the_breaker_too() -> None:
    with raw_router(hang) as served, road_to(served) as road:
        road.times(FIVE)
        assert road.state().breaker is BreakerState.OPEN
        answers, took_s = timed(road)
        assert reasons(answers) == ["breaker_open"] * 5
        assert took_s < 0.1


def test_B092_a_refused_query_is_shown_to_the_dispatcher_and_opens_nothing(caplog: pytest.LogCaptureFixture) -> None:
    said = b'{"code":"InvalidQuery","message":"Query string malformed close to position 18"}'
    caplog.set_level(logging.DEBUG)
    with http_router(lambda path: (400, said)) as served, road_to(served) as road:
        for _ in range(3):
            answers = road.times(FIVE, budget_ms=PATIENT_MS)
        assert reasons(answers) == ["InvalidQuery: Query string malformed close to position 18"] * 5
        assert road.state().last_error == "InvalidQuery: Query string malformed close to position 18"
        assert road.state().breaker is BreakerState.CLOSED
        assert road.state().failures == 15
        assert f"{served.url}/route/v1/driving/(origin);(destination)" in caplog.text
    assert "7.41337" not in caplog.text
    assert "43.7" not in caplog.text
    assert len([each for each in caplog.records if each.name == "callboard.road"]) == 1, "said once, not per call"


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


def test_a_river_between_neighbours_is_remembered_when_the_router_dies(
    start_router: Callable[[str], Served],
) -> None:
    south, north = Point(49.41450, 8.72000), Point(49.41700, 8.72000)
    leg, clock = Leg(origin=south, destination=north), Clock()
    router = start_router("heidelberg")
    with road_to(router, clock) as road:
        answer = road.times([leg], budget_ms=PATIENT_MS)[0]
        assert isinstance(answer, Driven)
        router.stop()  # type: ignore[attr-defined]
        clock.now += 120
        assert reasons(road.times([leg])) == ["refused"]
        assert road.remembered(leg) == answer.duration_s
