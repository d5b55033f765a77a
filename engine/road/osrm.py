"""Road times from an OSRM server: never late, never queued, never believed blindly (SPEC 4)."""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

import httpx

from engine.road.answers import Heard, read_route
from engine.road.breaker import Breaker, Permit
from engine.road.memo import Memo, Pair, Row, coarse, pair_of
from engine.road.selftest import Check, examine
from engine.road.tally import Pace, RoadState, Tally
from engine.road.wire import Broken, Line
from engine.rules.nouns import Driven, Leg, NoAnswer, Point, RoadAnswer, Unreachable
from engine.settings import Router

log = logging.getLogger("callboard.road")


@dataclass(slots=True, kw_only=True, eq=False)
class _Flight:
    """One call in the air. The worker and the caller at its deadline both want to report it: the first one does."""

    leg: Leg
    pair: Pair
    permit: Permit
    future: Future[RoadAnswer] | None = None
    settled: bool = False


class OsrmRoad:
    """The Road of a site with a router at ``settings.url`` (http or https, from the configuration only).

    ``clock`` (seconds, never back) drives the breaker, the cache and the counts; deadlines are real time. ``transport``
    is the one seam for tests. Safe from any thread. Raises ValueError for a URL that is none.
    """

    def __init__(
        self,
        settings: Router,
        *,
        clock: Callable[[], float] = time.monotonic,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._settings, self._clock = settings, clock
        self._line = Line(_checked(settings.url), in_flight_max=settings.in_flight_max, transport=transport)
        self._pool = ThreadPoolExecutor(settings.in_flight_max, thread_name_prefix="road")
        self._lock = threading.Lock()
        self._in_flight = 0
        self._memo = Memo(pairs_max=settings.memory_pairs_max)
        self._tally = Tally(clock=clock)
        self._pace = Pace(per_s_max=settings.calls_per_s_max, clock=clock)
        self._last_error = ""
        self._breaker = Breaker(
            failures=settings.breaker_failures,
            window_s=settings.breaker_window_s,
            open_s=settings.breaker_open_s,
            clock=clock,
        )

    def times(self, legs: Sequence[Leg], *, budget_ms: int | None = None) -> Sequence[RoadAnswer]:
        """One answer a leg, in order, all within one budget whatever the router does. Never raises."""
        budget_s = (self._settings.budget_ms if budget_ms is None else budget_ms) / 1000
        until = time.monotonic() + budget_s
        started = [self._start(leg, until) for leg in legs]
        flying = [each.future for each in started if isinstance(each, _Flight) and each.future]
        wait(flying, timeout=max(until - time.monotonic(), 0))
        return tuple(self._land(each) if isinstance(each, _Flight) else each for each in started)

    def remembered(self, leg: Leg) -> int | Unreachable | None:
        """What the road once said between these two cells, in this direction; None where nothing is known."""
        return self._memo.remembered(pair_of(leg)) if _on_earth(leg) else None

    def state(self) -> RoadState:
        counts = self._tally.counts()
        return RoadState(
            breaker=self._breaker.state(),
            calls=counts.calls,
            timeouts=counts.timeouts,
            failures=counts.failures,
            shed=counts.shed,
            in_flight=self._in_flight,
            last_error=self._last_error,
        )

    def self_test(self, around: Point | None = None) -> list[Check]:
        """(name, ok, what was found) of each check; asks the router outside the breaker, up to 2 s a question."""
        return examine(self._line, self._settings.profile, around, snap_max_m=self._settings.snap_max_m)

    def snapshot(self) -> tuple[Row, ...]:
        """The memory as rows to keep: (origin cell, destination cell, seconds or None = unreachable)."""
        return self._memo.snapshot()

    def load(self, rows: Iterable[Row]) -> None:
        self._memo.load(rows)

    def close(self) -> None:
        """No further calls. Those in the air end by their own deadline; nobody waits for them here."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._line.close()

    # --- setting out --------------------------------------------------------------------------------------------------

    def _start(self, leg: Leg, until: float) -> _Flight | RoadAnswer:
        if not _on_earth(leg):
            return NoAnswer(reason="bad_position")
        pair = pair_of(leg)
        if (known := self._memo.fresh(pair, self._bucket())) is not None:
            return known
        if not self._take_seat():
            return self._shed("bulkhead_full")
        started = self._take_off(leg, pair, until)
        if isinstance(started, NoAnswer):
            self._leave_seat()
        return started

    def _take_off(self, leg: Leg, pair: Pair, until: float) -> _Flight | NoAnswer:
        """With a seat taken: in the air, or why not."""
        permit = self._breaker.ask()
        if permit is None:
            return self._shed("breaker_open")
        if not permit.probe and not self._pace.take():
            return self._shed("rate_full")
        flight = _Flight(leg=leg, pair=pair, permit=permit)
        try:
            flight.future = self._pool.submit(self._fly, flight, until)
        except RuntimeError:
            return NoAnswer(reason="closed")
        self._tally.add("calls")
        return flight

    def _take_seat(self) -> bool:
        """The bulkhead: as many seats as threads, and a call whose caller has left keeps its seat until it ends."""
        with self._lock:
            free = self._in_flight < self._settings.in_flight_max
            self._in_flight += free
        return free

    def _leave_seat(self) -> None:
        with self._lock:
            self._in_flight -= 1

    def _shed(self, reason: str) -> NoAnswer:
        self._tally.add("shed")
        return NoAnswer(reason=reason)

    # --- in the air ---------------------------------------------------------------------------------------------------

    def _fly(self, flight: _Flight, until: float) -> RoadAnswer:
        try:
            heard = self._hear(flight.leg, until)
            self._settle(flight, heard)
            return heard.answer
        finally:
            self._leave_seat()

    def _hear(self, leg: Leg, until: float) -> Heard:
        try:
            status, body = self._line.get(route_path(self._settings.profile, leg), until)
            return read_route(status, body, leg, snap_max_m=self._settings.snap_max_m)
        except Broken as broken:
            return Heard(answer=NoAnswer(reason=str(broken)), faulty=True)
        except Exception as error:  # a router must never be able to end an assignment by a traceback
            log.exception("road call failed in an unforeseen way")
            return Heard(answer=NoAnswer(reason=type(error).__name__), faulty=True)

    # --- landing ------------------------------------------------------------------------------------------------------

    def _land(self, flight: _Flight) -> RoadAnswer:
        """The answer that is there now. A worker still out is reported as timed out and ends by its own deadline."""
        assert flight.future is not None
        if not flight.future.done():
            late = NoAnswer(reason="timeout")
            self._settle(flight, Heard(answer=late, faulty=True))
            return late
        return flight.future.result()

    def _settle(self, flight: _Flight, heard: Heard) -> None:
        if isinstance(heard.answer, Driven | Unreachable):
            self._memo.keep(flight.pair, heard.answer, self._bucket())  # late as well: it is true all the same
        with self._lock:
            if flight.settled:
                return
            flight.settled = True
        self._breaker.report(flight.permit, ok=not heard.faulty)
        if isinstance(heard.answer, NoAnswer):
            self._note(heard.answer.reason, flight.pair)

    def _note(self, reason: str, pair: Pair) -> None:
        self._tally.add("failures", *(["timeouts"] if reason == "timeout" else []))
        if reason == self._last_error:
            return
        self._last_error = reason
        url = f"{self._settings.url}/route/v1/{self._settings.profile}/(origin);(destination)?overview=false"
        log.warning("router: %s from GET %s, cells %x to %x", reason, url, *coarse(pair))

    def _bucket(self) -> int:
        return int(self._clock() // self._settings.cache_bucket_s)


class NoRoad:
    """The Road of a site without a router: never an answer, but what was once learned is still remembered."""

    def __init__(self, *, memory_pairs_max: int = 200_000) -> None:
        self._memo = Memo(pairs_max=memory_pairs_max)

    def times(self, legs: Sequence[Leg], *, budget_ms: int | None = None) -> Sequence[RoadAnswer]:
        return (NoAnswer(reason="no_router"),) * len(legs)

    def remembered(self, leg: Leg) -> int | Unreachable | None:
        return self._memo.remembered(pair_of(leg)) if _on_earth(leg) else None

    def state(self) -> RoadState:
        return RoadState(breaker=None)

    def self_test(self, around: Point | None = None) -> list[Check]:
        return [("router", True, "none configured: ETAs are stand-ins of low confidence")]

    def snapshot(self) -> tuple[Row, ...]:
        return self._memo.snapshot()

    def load(self, rows: Iterable[Row]) -> None:
        self._memo.load(rows)

    def close(self) -> None:
        """Nothing to end."""


def route_path(profile: str, leg: Leg) -> str:
    """Five decimals are about a metre, never an exponent, never a decimal comma."""
    ends = ";".join(f"{_degrees(each.lng)},{_degrees(each.lat)}" for each in (leg.origin, leg.destination))
    return f"/route/v1/{quote(profile, safe='')}/{ends}?overview=false"


def _degrees(value: float) -> str:
    return f"{round(value, 5) + 0.0:.5f}"  # + 0.0 turns -0.0 into 0.0


def _on_earth(leg: Leg) -> bool:
    return all(
        math.isfinite(each.lat) and math.isfinite(each.lng) and abs(each.lat) <= 90 and abs(each.lng) <= 180
        for each in (leg.origin, leg.destination)
    )


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if "@" in parts.netloc:  # it would stand in logs and on screens; nor is it repeated here
        raise ValueError("[router] url: a user or password has no place in it")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"[router] url = {url!r}: http://host:port is wanted")
    return url.rstrip("/")
