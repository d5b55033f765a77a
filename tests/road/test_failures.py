"""Routers that hang, drip, cut off, flood, fail and come back: over real sockets, on real time (SPEC 4, 11)."""

import logging
import socket
import threading
import time
from collections.abc import Callable

import pytest

from engine.road.breaker import BreakerState
from engine.rules.nouns import Driven
from tests.road.loopback import (
    FIVE,
    MONACO,
    PATIENT_MS,
    SOON_S,
    Clock,
    Served,
    http_router,
    raw_router,
    reasons,
    road_to,
    route_ok,
    timed,
    wait_until,
)

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
        wait_until(lambda: road.in_flight == 0, within_s=1.0)
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


def test_the_bulkhead_never_queues_and_lets_go_again() -> None:
    with raw_router(hang) as served, road_to(served, in_flight_max=3, breaker_failures=1000) as road:
        since = time.perf_counter()
        first = threading.Thread(target=road.times, args=(FIVE[:3],), kwargs={"budget_ms": 600})
        first.start()
        wait_until(lambda: road.in_flight == 3)
        assert reasons(road.times(FIVE)) == ["bulkhead_full"] * 5
        assert time.perf_counter() - since < 0.5, "those over the cap did not wait"
        assert served.connections <= 3
        first.join()
        wait_until(lambda: road.in_flight == 0)
        assert reasons(road.times(FIVE[:1])) == ["timeout"]
        assert road.counts().shed == 5


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
        assert len(reasons(road.table([MONACO.origin], [MONACO.destination], budget_ms=100)[0])) == 1
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
        assert set(reasons(probe)) <= {"breaker_open"}  # the others wait for the probe, or come after it
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


def test_B086_the_banner_says_that_the_router_limits_us_until_it_no_longer_does() -> None:
    clock = Clock()
    with http_router(lambda path: (429, b"<html>")) as served, road_to(served, clock) as road:
        road.times(FIVE[:1], budget_ms=PATIENT_MS)
        assert road.state().last_error == "limited (HTTP 429, too many requests)"
        clock.now += 310
        assert road.state().last_error == ""


def test_closing_does_not_wait_for_a_hung_router() -> None:
    with raw_router(hang) as served, road_to(served) as road:
        asking = threading.Thread(target=road.times, args=(FIVE,), kwargs={"budget_ms": 700})
        asking.start()
        wait_until(lambda: road.in_flight == 5)
        since = time.perf_counter()
        road.close()
        assert time.perf_counter() - since < SOON_S
        asking.join(3)
        assert not asking.is_alive()


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
        for _ in range(2):
            road.times(FIVE, budget_ms=PATIENT_MS)
        answers = road.times(FIVE, budget_ms=PATIENT_MS)
        assert reasons(answers) == ["InvalidQuery: Query string malformed close to position 18"] * 5
        assert road.state().last_error == "InvalidQuery: Query string malformed close to position 18"
        assert road.state().breaker is BreakerState.CLOSED
        assert road.state().failures == 15
        assert f"{served.url}/route/v1/driving/(origin);(destination)" in caplog.text
    assert "7.41337" not in caplog.text
    assert "43.7" not in caplog.text
    assert len([each for each in caplog.records if each.name == "callboard.road"]) == 1, "said once, not per call"
