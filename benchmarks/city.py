"""A city of simulated workers: 50,000 within 15 km, or fewer at the same density; and an engine that holds them."""

import random
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from math import cos, pi, radians, sin, sqrt
from pathlib import Path

from benchmarks.figures import Progress
from engine import wiring
from engine.imports.parsed import Parsed
from engine.ports import Engine
from engine.rules.nouns import Actor, FixReport, NewWorker, Point, Role
from engine.settings import Tables
from engine.verbs import ingest, intake
from engine.verbs.site import SiteFile

CENTRE = Point(49.4077, 8.6908)  # Heidelberg, so that a real road map can lie under it
FULL, FULL_RADIUS_M = 50_000, 15_000.0
DEGREE_M = 111_195.0
RARE_ONE_IN = 100
HOUR_MS = 3_600_000
SUPERVISOR = Actor(name="bench", role=Role.SUPERVISOR)


def radius_m(count: int) -> float:
    """The radius in which so many workers stand as densely as 50,000 within 15 km."""
    return FULL_RADIUS_M * sqrt(count / FULL)


def spots(count: int, reach_m: float, seed: int) -> list[Point]:
    """Places spread evenly over a disc around the centre. One seed, one city."""
    chance = random.Random(seed)
    shrink = cos(radians(CENTRE.lat))

    def spot() -> Point:
        far, turn = reach_m * sqrt(chance.random()) / DEGREE_M, chance.random() * 2 * pi
        return Point(CENTRE.lat + far * cos(turn), CENTRE.lng + far * sin(turn) / shrink)

    return [spot() for _ in range(count)]


def name_of(n: int) -> str:
    return f"W{n:05}"


def skills_of(n: int) -> frozenset[str]:
    return frozenset({"care", "rare"}) if n % RARE_ONE_IN == 0 else frozenset({"care"})


def wall_ms() -> int:
    return time.time_ns() // 1_000_000


def crew(count: int, places: Sequence[Point]) -> list[NewWorker]:
    now_ms = wall_ms()
    return [
        NewWorker(ref=name_of(n), name=f"Worker {n}", skills=skills_of(n), home=places[n],
                  shift_starts_ms=now_ms - HOUR_MS, shift_ends_ms=now_ms + 12 * HOUR_MS)
        for n in range(count)
    ]  # fmt: skip


@contextmanager
def staffed(count: int, progress: Progress, overrides: Tables | None = None) -> Generator[Engine]:
    """A real engine on a new database on disk, with so many workers on shift, each seen a moment ago."""
    with tempfile.TemporaryDirectory(prefix="callboard-bench-") as folder:
        path = Path(folder) / "bench.db"
        wiring.create(path, SiteFile(zone="Europe/Berlin"), training=False)
        engine = wiring.open_engine(path, overrides=overrides)
        try:
            places = spots(count, radius_m(count), seed=1)
            progress(f"writing {count} workers into a new database")
            items = tuple(enumerate(crew(count, places), start=1))
            parsed: Parsed[NewWorker] = Parsed(items=items, rejected=(), warnings=())
            intake.import_workers(engine, SUPERVISOR, parsed, all_or_nothing=True)
            engine.store.checkpoint()
            see_everybody(engine, places)
            yield engine
        finally:
            wiring.close(engine)


def see_everybody(engine: Engine, places: Sequence[Point]) -> None:
    """One fix for each worker, now."""
    now_ms = wall_ms()
    fixes = [
        FixReport(worker=name_of(n), device_ms=now_ms, lat=place.lat, lng=place.lng, accuracy_m=8.0)
        for n, place in enumerate(places)
    ]
    ingest.report(engine, fixes, received_ms=now_ms, archive=[])
