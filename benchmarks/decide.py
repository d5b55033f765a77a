"""Decisions: a real router beside a city of fixes, that router hung, and one density in two sizes."""

import threading
import time
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.error import HTTPError
from urllib.request import urlopen

import msgspec

from benchmarks.city import CENTRE, FULL, HOUR_MS, SUPERVISOR, radius_m, spots, staffed, wall_ms
from benchmarks.figures import Figure, Progress, at_most, median, not_measured, plain, quantile, settled
from benchmarks.growth import growth
from benchmarks.stream import PEAK, ROOT, busy
from engine.ports import Engine
from engine.rules.nouns import Actor, NewJob, Offer, Point, Role
from engine.settings import Tables
from engine.verbs import answer, intake
from engine.verbs.assign import assign
from fixtures.router import RouterProcess, build, fetch, serve

PER_S, DECISIONS, HUNG, RUNS = 20, 1_200, 400, 3
THREADS = 8
TOWN_M = 2_500.0  # jobs lie within the map, which is smaller than the city of workers
NEAR_ROAD_M = 200.0
MAP = ROOT.parent / "shared" / "data" / "osm" / "heidelberg.osm.pbf"
STAGES = ("index_us", "facts_us", "filter_us", "road_us", "lease_us")


def measure(progress: Progress, small: bool) -> list[Figure]:
    count, decisions, hung, rate = (300, 20, 10, 400) if small else (FULL, DECISIONS, HUNG, PEAK)
    figures: list[Figure] = []
    with _router(progress) as router:
        if isinstance(router, str):
            figures.append(not_measured("decision with a real router", router))
        else:
            figures += _with_router(router, count, decisions, hung, rate, progress)
    return figures + growth(progress, small)


@contextmanager
def _router(progress: Progress) -> Generator[RouterProcess | str]:
    """An OSRM over Heidelberg of this bench's own (it will be paused), or why there is none."""
    osrm = ROOT / ".osrm"
    if not MAP.is_file():
        yield f"needs the map {MAP.name} of the given material"
    elif not fetch(osrm, progress):
        yield "needs OSRM, which could not be fetched"
    else:
        progress("building and starting the router")
        with serve(osrm, build(osrm, MAP, osrm / "graphs", tag="heidelberg"), tag="heidelberg") as router:
            yield router


def _with_router(
    router: RouterProcess, count: int, decisions: int, hung: int, rate: int, progress: Progress
) -> list[Figure]:
    places = _on_the_map(router, decisions + hung, min(TOWN_M, radius_m(count)))
    # The bench asks for each decision itself, when it is due: nothing is offered behind its back.
    overrides: Tables = {"router": {"url": router.url}, "lease": {"auto_offer": False}}
    with staffed(count, progress, overrides) as engine, busy(engine, count, rate, progress) as stream:
        progress(f"{decisions} decisions at {PER_S}/s with the router")
        up = _drive(engine, places[:decisions], "up")
        progress(f"{hung} decisions at {PER_S}/s with the router hung")
        router.pause()
        try:
            down = _drive(engine, places[decisions:], "hung")
        finally:
            router.resume()
        arrived = stream.figures("decisions", rate)
    return [
        *_latency("decision with the router", up, [(0.95, 50.0), (0.99, 150.0)]),
        *_stages("decision with the router", up),
        *_latency("decision with the router hung", down, [(0.99, 250.0)]),
        *_stages("decision with the router hung", down),
        *arrived,
    ]


def _on_the_map(router: RouterProcess, count: int, reach_m: float) -> list[Point]:
    """Places that a road reaches: a job in a wood, or on a bit of road that leads nowhere, would measure the map."""
    found: list[Point] = []
    for place in spots(4 * count, reach_m, seed=11):
        there = f"{CENTRE.lng},{CENTRE.lat};{place.lng},{place.lat}"
        try:
            with urlopen(f"{router.url}/route/v1/driving/{there}?overview=false", timeout=5) as answer:
                said = msgspec.json.decode(answer.read(), type=Said)
        except HTTPError:
            continue
        if said.routes[0].duration > 0 and said.waypoints[1].distance < NEAR_ROAD_M:
            found.append(place)
        if len(found) == count:
            break
    return found


class Route(msgspec.Struct):
    duration: float


class Waypoint(msgspec.Struct):
    distance: float


class Said(msgspec.Struct):
    routes: list[Route]
    waypoints: list[Waypoint]


@dataclass(slots=True)
class Driven:
    """Milliseconds from the moment each decision was due until its offer stood, in the order of the jobs."""

    late_ms: list[float] = field(default_factory=list[float])
    accept_ms: list[float] = field(default_factory=list[float])
    stages_us: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    by_road: int = 0
    timed: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def _drive(engine: Engine, places: Sequence[Point], name: str) -> Driven:
    """20 a second whether or not the last one is done: a slow decision makes the next ones late, and that counts."""
    driven = Driven()
    waiting: list[Future[None]] = []
    settled()
    with ThreadPoolExecutor(THREADS, thread_name_prefix="desk") as desks:
        began = time.monotonic()
        for n, place in enumerate(places):
            job_id = _job(engine, f"J-{name}-{n:05}", place)
            due = began + n / PER_S
            time.sleep(max(0.0, due - time.monotonic()))
            waiting.append(desks.submit(_decide, engine, job_id, due, driven))
        for each in waiting:
            each.result()
    return driven


def _job(engine: Engine, ref: str, place: Point) -> str:
    now_ms = wall_ms()
    new = NewJob(ref=ref, type="visit", skills=frozenset({"care"}), place=place, not_before_ms=now_ms,
                 due_by_ms=now_ms + HOUR_MS, duration_ms=HOUR_MS // 2, priority=3)  # fmt: skip
    return intake.create_job(engine, SUPERVISOR, new).job.id


def _decide(engine: Engine, job_id: str, due: float, driven: Driven) -> None:
    made = assign(engine, SUPERVISOR, job_id)
    late_ms = (time.monotonic() - due) * 1000
    [decision] = engine.store.decisions(engine.tenant, job_id, limit=1)
    took_ms = _accept_ms(engine, made.offer) if made.offer else None
    with driven.lock:
        driven.late_ms.append(late_ms)
        if took_ms is not None:
            driven.accept_ms.append(took_ms)
        for stage in STAGES:
            driven.stages_us.setdefault(stage, []).append(getattr(decision.summary.stages, stage))
        ranked = [each for each in made.considered if each.source]
        driven.timed += len(ranked)
        driven.by_road += sum(1 for each in ranked if each.source == "road")


def _accept_ms(engine: Engine, offer: Offer) -> float:
    worker = Actor(name=offer.worker_id, role=Role.WORKER)
    since = time.perf_counter_ns()
    answer.accept(engine, worker, offer.id, worker.name)
    return (time.perf_counter_ns() - since) / 1e6


def _latency(title: str, driven: Driven, bars: list[tuple[float, float]]) -> list[Figure]:
    """Medians over thirds of the run, so that one bad second of the machine is one run's matter."""
    size = max(1, len(driven.late_ms) // RUNS)
    parts = [driven.late_ms[first : first + size] for first in range(0, size * RUNS, size)]
    return [
        plain(f"{title}: p50", median(quantile(part, 0.5) for part in parts), "ms"),
        *(
            at_most(f"{title}: p{share * 100:.0f}", median(quantile(part, share) for part in parts), "ms", bar)
            for share, bar in bars
        ),
        plain(f"{title}: the slowest", max(driven.late_ms), "ms"),
        plain(f"{title}: decisions that made an offer", 100 * len(driven.accept_ms) / len(driven.late_ms), "%"),
        plain(f"{title}: the accept after it, p99", quantile(driven.accept_ms, 0.99), "ms"),
        plain(f"{title}: candidates timed by road", 100 * driven.by_road / max(1, driven.timed), "%"),
    ]


def _stages(title: str, driven: Driven) -> list[Figure]:
    return [
        plain(f"{title}: {stage.removesuffix('_us')} stage, {name}", quantile(taken, share) / 1000, "ms")
        for stage, taken in driven.stages_us.items()
        for name, share in (("p50", 0.5), ("p99", 0.99))
    ]
