"""Road times from an OSRM server: never late, never queued, never believed blindly (SPEC 4)."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import httpx

from engine.ports import RoadState
from engine.road.answers import Heard, in_words, read_route
from engine.road.breaker import Breaker, Permit
from engine.road.memo import Memo, Pair, Row, pair_of
from engine.road.selftest import Check, examine
from engine.road.table import Page, blocks, read_table, unanswered
from engine.road.tally import SPAN_S, Counts, Pace, Tally
from engine.road.urls import checked_url, on_earth, route_path, table_path
from engine.road.wire import Broken, Line
from engine.rules.nouns import Driven, Leg, NoAnswer, Point, RoadAnswer, Unreachable
from engine.rules.place import coarse_cell
from engine.settings import Router

log = logging.getLogger("callboard.road")

REASONS_LOGGED_MAX = 20


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

    ``clock`` (seconds, never back) drives the breaker, the cache and the counts (of ``span_s``); deadlines are real
    time. ``transport`` is the one seam for tests. Safe from any thread. Raises ValueError for a URL that is none.
    """

    def __init__(
        self,
        settings: Router,
        *,
        clock: Callable[[], float] = time.monotonic,
        transport: httpx.BaseTransport | None = None,
        span_s: int = SPAN_S,
    ) -> None:
        self._settings, self._clock = settings, clock
        self._line = Line(checked_url(settings.url), in_flight_max=settings.in_flight_max, transport=transport)
        self._pool = ThreadPoolExecutor(settings.in_flight_max, thread_name_prefix="road")
        self._lock = threading.Lock()
        self._in_flight = 0
        self._memo = Memo(pairs_max=settings.memory_pairs_max)
        self._tally = Tally(clock=clock, span_s=span_s)
        self._pace = Pace(per_s_max=settings.calls_per_s_max, clock=clock)
        self._last_error = ""
        self._said: set[str] = set()
        self._said_in = -1
        self._breaker = Breaker(
            failures=settings.breaker_failures,
            share=settings.breaker_share,
            window_s=settings.breaker_window_s,
            open_s=settings.breaker_open_s,
            open_max_s=settings.breaker_open_max_s,
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

    def table(
        self, origins: Sequence[Point], destinations: Sequence[Point], *, budget_ms: int
    ) -> Sequence[Sequence[RoadAnswer]]:
        """A row an origin, a column a destination, for a planner that can wait: blocks one after another.

        What the budget does not reach is NoAnswer. Each answer is remembered like those of ``times``. Never raises.
        """
        until = time.monotonic() + budget_ms / 1000
        whole: list[list[RoadAnswer]] = [[NoAnswer(reason="timeout")] * len(destinations) for _ in origins]
        waiting = list(blocks(len(origins), len(destinations)))
        while waiting and time.monotonic() < until:
            block = waiting.pop()
            places = [origins[n] for n in block.rows], [destinations[n] for n in block.columns]
            page = self._page(*places, until)
            if page.smaller and (halves := block.halves()):
                waiting += halves
                continue
            for row, line in zip(block.rows, page.cells or unanswered(page.reason, block), strict=True):
                whole[row][block.columns.start : block.columns.stop] = line
        return tuple(tuple(line) for line in whole)

    def remembered(self, leg: Leg) -> int | Unreachable | None:
        """What the road once said between these two cells, in this direction; None where nothing is known."""
        return self._memo.remembered(pair_of(leg)) if _known(leg) else None

    def state(self) -> RoadState:
        counts = self._tally.counts()
        return RoadState(
            breaker=self._breaker.state(),
            calls=counts.calls,
            timeouts=counts.timeouts,
            failures=counts.failures,
            last_error=in_words(self._last_error) if counts.failures else "",
        )

    def counts(self) -> Counts:
        """The same five minutes, and how many calls were never sent (breaker, bulkhead, pace)."""
        return self._tally.counts()

    @property
    def in_flight(self) -> int:
        """Calls whose thread is still at work, also those whose caller has gone on."""
        return self._in_flight

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

    # --- tables ------------------------------------------------------------------------------------------------------

    def _page(self, origins: Sequence[Point], destinations: Sequence[Point], until: float) -> Page:
        """One block, asked on the caller's own thread, under the same seats, breaker and pace as any call."""
        if not all(on_earth(each) for each in (*origins, *destinations)):
            return Page(reason="bad_position", smaller=True)
        if not self._take_seat():
            return Page(reason=self._shed("bulkhead_full").reason)
        try:
            permit = self._breaker.ask()
            if permit is None:
                return Page(reason=self._shed("breaker_open").reason)
            if not permit.probe and not self._pace.take():
                return Page(reason=self._shed("rate_full").reason)
            self._tally.add("calls")
            page = self._read_page(origins, destinations, until)
            self._breaker.report(permit, ok=not page.faulty)
        finally:
            self._leave_seat()
        if page.reason and not page.smaller:
            self._note(page.reason, Leg(origin=origins[0], destination=destinations[0]))
        return page

    def _read_page(self, origins: Sequence[Point], destinations: Sequence[Point], until: float) -> Page:
        try:
            status, body = self._line.get(table_path(self._settings.profile, origins, destinations), until)
        except Broken as broken:
            return Page(reason=str(broken), faulty=True)
        except Exception as error:
            return Page(reason=_unforeseen(error), faulty=True)
        page = read_table(status, body, origins, destinations, snap_max_m=self._settings.snap_max_m)
        for origin, line in zip(origins, page.cells, strict=False):
            for destination, answer in zip(destinations, line, strict=True):
                if isinstance(answer, Driven | Unreachable):
                    self._memo.keep(pair_of(Leg(origin=origin, destination=destination)), answer, self._bucket())
        return page

    # --- setting out --------------------------------------------------------------------------------------------------

    def _start(self, leg: Leg, until: float) -> _Flight | RoadAnswer:
        if not _known(leg):
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
            return Heard(answer=NoAnswer(reason=_unforeseen(error)), faulty=True)

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
            self._note(heard.answer.reason, flight.leg)

    def _note(self, reason: str, leg: Leg) -> None:
        self._tally.add("failures", *(["timeouts"] if reason == "timeout" else []))
        self._last_error = reason
        if not self._worth_saying(reason):
            return
        url = f"{self._settings.url}/route/v1/{self._settings.profile}/(origin);(destination)?overview=false"
        log.warning(
            "router: %s from GET %s, %x to %x", reason, url, coarse_cell(leg.origin), coarse_cell(leg.destination)
        )

    def _worth_saying(self, reason: str) -> bool:
        """Each reason once in five minutes, and few of them: a broken router answers a hundred times a second."""
        span = int(self._clock() // SPAN_S)
        with self._lock:
            if span != self._said_in:
                self._said_in, self._said = span, set()
            fresh = reason not in self._said and len(self._said) < REASONS_LOGGED_MAX
            if fresh:
                self._said.add(reason)
        return fresh

    def _bucket(self) -> int:
        return int(self._clock() // self._settings.cache_bucket_s)


def _known(leg: Leg) -> bool:
    return on_earth(leg.origin) and on_earth(leg.destination)


def _unforeseen(error: Exception) -> str:
    """Its kind alone: the message and the traceback of an HTTP library hold the URL, and that is where people are."""
    log.error("road call failed in an unforeseen way: %s", type(error).__name__)
    return type(error).__name__
