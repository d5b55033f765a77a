"""A real OSRM over Heidelberg: 220 m across the Neckar lose to 2 km on the job's bank, also when the router has gone.

The router is stopped, hung, answers HTML, or lies; each decision takes less than 500 ms, what was remembered of the
river still counts, and the breaker closes by itself afterwards (SPEC 4, 11).
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from engine import wiring
from engine.rules.ledger import Considered
from engine.rules.nouns import Offer, Point
from engine.rules.place import metres
from engine.verbs.assign import Assigned
from fixtures.city import town
from fixtures.router import RouterProcess
from tests.desk import Desk, offered_to, ranking, said

Found = Callable[..., Desk]
Start = Callable[[str], RouterProcess]

JOB = Point(49.416993, 8.719721)  # the north bank
ACROSS = Point(49.415018, 8.719483)  # straight over the water: 220 m, by road 7.4 km
BANK = Point(49.415993, 8.747721)  # the same bank, 2 km upstream
LIMIT_S = 0.5
OPEN_S = 1


def riverside(found: Found, router: RouterProcess) -> Desk:
    """Two workers on both banks; the cache lasts a second, so that each decision asks the router."""
    desk = found(
        router={"url": router.url, "breaker_open_s": OPEN_S, "cache_bucket_s": 1},
        slack_capacity={"reserve_share": 0.0},
    )
    desk.worker("across", ACROSS)
    desk.worker("bank", BANK)
    return desk


def decide(desk: Desk, ref: str) -> tuple[Assigned, float]:
    """One decision on a new job, timed; the offer is given back."""
    desk.job(ref, JOB)
    since = time.perf_counter()
    done = desk.assign(ref)
    took_s = time.perf_counter() - since
    if done.offer is not None:
        desk.decline(done.offer)
    return done, took_s


def seconds(considered: tuple[Considered, ...], name: str) -> int:
    found = said(considered, name).travel_s
    assert found is not None
    return found


def confidence(offer: Offer | None) -> str | None:
    return offer.promise.confidence if offer else None


def let_the_cache_lapse() -> None:
    time.sleep(1.1)


# --- the router is there ---------------------------------------------------------------------------------------------


def test_the_worker_across_the_river_loses_to_one_on_the_jobs_bank(
    found: Found, heidelberg_router: RouterProcess
) -> None:
    assert metres(ACROSS, JOB) < 280
    assert metres(BANK, JOB) > 2000
    desk = riverside(found, heidelberg_router)
    done, _ = decide(desk, "J1")
    assert ranking(done.considered) == ["bank", "across"]
    assert [said(done.considered, name).source for name in ("bank", "across")] == ["road", "road"]
    assert seconds(done.considered, "across") > 3 * seconds(done.considered, "bank")
    assert confidence(done.offer) == "high"


def test_without_any_memory_of_the_river_the_stand_in_alone_would_be_wrong(found: Found) -> None:
    """Why the memory matters: the great circle knows no water."""
    desk = found(slack_capacity={"reserve_share": 0.0})
    desk.worker("across", ACROSS)
    desk.worker("bank", BANK)
    done, _ = decide(desk, "J1")
    assert offered_to(done) == "across"
    assert confidence(done.offer) == "low"


# --- and then it fails -----------------------------------------------------------------------------------------------

HTML = b"<html><body><h1>502 Bad Gateway</h1></body></html>"
LIE = json.dumps({
    "code": "Ok",
    "routes": [{"duration": 0, "distance": 0}],
    "waypoints": [{"distance": 0, "name": "", "location": [8.7, 49.4]}] * 2,
}).encode()  # fmt: skip


@contextmanager
def answering(port: int, status: int, body: bytes, kind: str) -> Iterator[None]:
    """Another server on the router's own port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object, **named: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def broken(router: RouterProcess, how: str) -> Iterator[None]:
    """The router in trouble for as long as the block lasts, and well again after it."""
    if how == "hung":
        router.pause()
        yield
        router.resume()
        return
    router.kill()
    if how == "stopped":
        yield
    elif how == "html":
        with answering(router.port, 502, HTML, "text/html"):
            yield
    else:
        with answering(router.port, 200, LIE, "application/json"):
            yield
    router.start()


@pytest.mark.parametrize("how", ["stopped", "hung", "html", "lies"])
def test_B029_B086_B087_whatever_the_router_does_the_river_is_remembered_in_time_and_the_breaker_closes(
    found: Found, start_router: Start, how: str
) -> None:
    router = start_router("heidelberg")
    desk = riverside(found, router)
    known, _ = decide(desk, "known")
    assert offered_to(known) == "bank"
    let_the_cache_lapse()
    with broken(router, how):
        tries = [decide(desk, f"J{n}") for n in range(6)]
        opened = desk.engine.road.state()
        desk.takeover()
        desk.ring("watch")
        alerts = desk.alerts("router_down")
    if how == "lies":  # a doubted answer may be the question's fault: it never opens the breaker
        assert (opened.breaker, opened.failures) == ("closed", 12)
    else:
        assert opened.breaker == "open"
    assert [each.cause for each in alerts] == ["router"], "one alert, whatever ails it"
    assert all(took_s < LIMIT_S for _, took_s in tries), [round(took_s, 3) for _, took_s in tries]
    for done, _ in tries:
        assert offered_to(done) == "bank", "the river outlasts the router"
        assert seconds(done.considered, "across") == seconds(known.considered, "across")
        assert {said(done.considered, name).source for name in ("bank", "across")} == {"memory"}
        assert confidence(done.offer) == "low"
    assert recovered(desk), "the breaker closes by itself"
    desk.ring("watch")
    still = [each.detail for each in desk.alerts("router_down")]
    assert not any(detail.startswith("router down") for detail in still), "its failures count for five minutes"


def recovered(desk: Desk) -> bool:
    """Jobs keep coming; before long one is timed by the road again."""
    until = time.monotonic() + 15
    n = 0
    while time.monotonic() < until:
        time.sleep(0.3)
        n += 1
        done, took_s = decide(desk, f"again{n}")
        assert took_s < LIMIT_S
        if confidence(done.offer) == "high" and desk.engine.road.state().breaker == "closed":
            return True
    return False


def test_the_river_is_remembered_across_a_restart(found: Found, start_router: Start) -> None:
    router = start_router("heidelberg")
    desk = riverside(found, router)
    known, _ = decide(desk, "known")
    router.kill()
    wiring.close(desk.engine)
    desk.engine = wiring.open_engine(desk.path, new_id=wiring.seeded_ids(2))
    desk.refresh("across", "bank")
    done, took_s = decide(desk, "J1")
    assert took_s < LIMIT_S
    assert offered_to(done) == "bank"
    assert seconds(done.considered, "across") == seconds(known.considered, "across")
    assert confidence(done.offer) == "low"


def test_a_worker_nobody_asked_about_gets_a_stand_in_and_a_wider_band(found: Found, start_router: Start) -> None:
    """Low confidence and nothing remembered widens the band further than memory does."""
    router = start_router("heidelberg")
    desk = riverside(found, router)
    first, _ = decide(desk, "known")
    router.kill()
    let_the_cache_lapse()
    remembered, _ = decide(desk, "J1")
    desk.worker("new", Point(49.416493, 8.733), shift=(-60, 600))
    desk.absent("bank", -10, 300)
    bare, _ = decide(desk, "J2")
    assert offered_to(bare) == "new"
    assert said(bare.considered, "new").source == "stand_in"
    widths = [each.offer.promise.band_to_ms - each.offer.promise.band_from_ms
              for each in (first, remembered, bare) if each.offer]  # fmt: skip
    assert widths == sorted(widths)
    assert widths[0] < widths[2]


def test_a_site_that_requires_the_router_refuses_instead_of_guessing(found: Found) -> None:
    desk = found(router={"url": "http://127.0.0.1:1", "required": True})
    desk.worker("across", ACROSS)
    done, took_s = decide(desk, "J1")
    assert took_s < LIMIT_S
    assert offered_to(done) is None
    assert said(done.considered, "across").verdict == "no_road"
    assert "requires one" in said(done.considered, "across").detail


# --- no road at all --------------------------------------------------------------------------------------------------


def test_B084_no_route_is_never_zero_never_a_great_circle_and_is_remembered(found: Found, start_router: Start) -> None:
    """A worker on the quay, the job on the island 150 m away: infeasible by road, with the router and after it."""
    router = start_router("rivertown")
    rivertown = town()
    island = rivertown.nodes[rivertown.island.nodes[1]]
    quay = next(each for each in rivertown.places if each.name == "Old Mill")
    desk = found(router={"url": router.url, "cache_bucket_s": 1})
    desk.worker("quay", Point(quay.lat, quay.lng))
    desk.job("J1", Point(*island))
    done = desk.assign("J1")
    assert offered_to(done) is None
    assert said(done.considered, "quay").verdict == "no_road"
    assert said(done.considered, "quay").eta_s is None
    router.kill()
    let_the_cache_lapse()
    desk.job("J2", Point(*island))
    again = desk.assign("J2")
    assert said(again.considered, "quay").verdict == "no_road", "remembered: no stand-in across the water"
