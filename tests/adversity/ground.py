"""Live sites (the clock is the machine's own), for what has to happen in real time; the rest stands on a stage."""

import mmap
import os
import time
from pathlib import Path

from engine import records, wiring
from engine.imports.parsed import Parsed
from engine.ports import Engine
from engine.rules.nouns import Actor, FixReport, NewJob, NewWorker, Point, Role
from engine.store import sqlite
from engine.store.sqlite import SqliteStore
from engine.verbs import ingest, intake
from engine.verbs.site import SiteFile
from tests.leases.stage import new_job, new_worker, run

HOUR_MS = 3_600_000
LIMIT_S = 60.0
"""Nothing here may take longer; who waits for a condition gives up then."""


class TookTooLong(Exception):
    """A condition that had to come about did not."""


def live_site(path: Path) -> SqliteStore:
    """Region main, workers w1 and w2, jobs j1 and j2."""
    sqlite.create(path, training=False)
    store = SqliteStore(path)
    who = Actor(name="init", role=Role.SUPERVISOR)
    weights = {"w_eta": 1.0, "w_fair": 3.0, "w_slack": 0.25, "eta_band_min": 5}
    run(store, records.found_site(who, name="x", zone="Europe/Rome", settings="{}", regions=[("main", None)],
                                  weights=weights))  # fmt: skip
    for worker_id in ("w1", "w2"):
        run(store, records.enrol(who, new_worker(worker_id), "main", known=False))
    for job_id in ("j1", "j2"):
        run(store, records.open_job(who, new_job(job_id), "main"))
    return store


class StartingLine:
    """Where two processes wait for each other without the kernel's help: both go on within microseconds."""

    def __init__(self, path: Path, lane: int, runners: int = 2) -> None:
        self._lane = lane
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(fd, 8 * runners)
        self._shared = memoryview(mmap.mmap(fd, 8 * runners)).cast("q")
        os.close(fd)

    def meet(self, number: int) -> None:
        """Go on when everybody has come to this number."""
        self._shared[self._lane] = number
        deadline = time.monotonic() + LIMIT_S
        while min(self._shared) < number:
            os.sched_yield()
            if time.monotonic() > deadline:
                raise TookTooLong(f"the others are not at {number}: {list(self._shared)}")


MIDDLE = Point(48.2, 16.4)
BOSS = Actor(name="dora", role=Role.SUPERVISOR)


def found_live(path: Path, **settings: dict[str, object]) -> None:
    """A live site by the product's own door, without workers or jobs."""
    wiring.create(path, SiteFile(zone="Europe/Vienna", overrides=settings), training=False)


def add_worker(engine: Engine, name: str) -> None:
    """On shift around now, standing in the middle of the town, never heard of yet."""
    now_ms = engine.store.clock("main").now_ms
    new = NewWorker(ref=name, name=name, skills=frozenset(), home=MIDDLE, shift_starts_ms=now_ms - 10 * HOUR_MS,
                    shift_ends_ms=now_ms + 20 * HOUR_MS, capacity=1)  # fmt: skip
    done = intake.import_workers(engine, BOSS, Parsed(items=((1, new),), rejected=(), warnings=()))
    assert not done.rejected, done.rejected


def add_fix(engine: Engine, name: str) -> None:
    now_ms = engine.store.clock("main").now_ms
    sent = FixReport(worker=name, device_ms=now_ms, lat=MIDDLE.lat, lng=MIDDLE.lng, accuracy_m=5)
    assert ingest.report(engine, [sent], received_ms=now_ms, archive=[]).kept == 1


def add_job(engine: Engine, name: str, *, due_min: int = 300) -> None:
    """Open at once (and offered at once, where the site offers by itself)."""
    now_ms = engine.store.clock("main").now_ms
    new = NewJob(ref=name, type="visit", skills=frozenset(), place=MIDDLE, not_before_ms=now_ms,
                 due_by_ms=now_ms + due_min * 60_000, duration_ms=30 * 60_000, priority=1)  # fmt: skip
    intake.create_job(engine, BOSS, new)
