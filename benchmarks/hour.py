"""What the desk holds in memory after an hour of changes: a real engine on a real training file whose clock runs fast.

The changes come from this process and the desk is `run.py console` on a terminal, where somebody walks up and down."""

import os
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.city import SUPERVISOR, crew, name_of, radius_m, see_everybody, spots, wall_ms
from benchmarks.figures import Figure, Progress, at_most, plain
from benchmarks.terminal import drain, on_a_terminal, rss_mb
from engine import leases, records, wiring
from engine.imports.parsed import Parsed
from engine.leases import Fence, Lease
from engine.ports import Engine
from engine.program import Lost, Program, T
from engine.rules.nouns import Actor, Confidence, NewJob, NewWorker, Point, Promise, Role
from engine.verbs import intake
from engine.verbs.site import SiteFile, advance

RATE, HOUR_S = 50, 3_600
FAST_S = 240.0
"""The hour passes in this time, evenly; where the engine is slower, it is not a whole hour, and how much is told."""
ENDS_ONE_IN = 30
"""Of so many times that a job is held, it is once done and another comes: each job about once an hour."""
CHECKPOINT_EVERY_S = 30
"""As the rounds of a live site do: the index of a log that is never emptied is memory of everybody who reads it."""
KEY_EVERY_S, KEYS = 0.1, b"jjkjjkjjkj"
MINUTE_MS = 60_000
WHY = records.Why(reason="worker", words="cannot come")


def measure(jobs: int, workers: int, progress: Progress, *, seconds: float = FAST_S) -> list[Figure]:
    with town(jobs, workers) as (engine, places):
        progress(f"an hour of changes in {seconds:g} s")
        held, done = remembered(engine, Hour(engine=engine, places=places, workers=workers, jobs=jobs), seconds)
    quarter_mb, end_mb = held[len(held) // 4], held[-1]
    return [
        plain(f"console: changes shown in fast time, of {RATE * HOUR_S} in an hour", done, ""),
        plain("console: memory after a quarter of them", quarter_mb, "MB"),
        at_most("console: memory after all of them", end_mb, "MB", 120),
        at_most("console: that over what it was after a quarter", end_mb / quarter_mb, "", 1.1),
    ]


def remembered(engine: Engine, hour: "Hour", seconds: float) -> tuple[list[float], int]:
    """The desk's memory after each second of the hour, and how many changes there were until it was over."""
    held: list[float] = []
    with on_a_terminal(["run.py", "console", "--db", str(engine.store.path)], {}) as (desk, terminal):
        shows(terminal)
        over = threading.Event()
        threading.Thread(target=drain, args=(terminal,), daemon=True).start()
        threading.Thread(target=walk, args=(terminal, over), daemon=True).start()
        began_s, done = time.monotonic(), 0
        for second in range(HOUR_S):
            due_s = began_s + seconds * second / HOUR_S
            if time.monotonic() - began_s > seconds:
                break
            time.sleep(max(0.0, due_s - time.monotonic()))
            done += hour.second()
            if second % CHECKPOINT_EVERY_S == 0:
                engine.store.checkpoint()
            held.append(rss_mb(desk.pid))
        over.set()
        if desk.poll() is not None:
            raise RuntimeError(f"the desk ended with {desk.returncode}")
    return held, done


def shows(terminal: int) -> None:
    """Return once the desk has read the file."""
    seen = b""
    while b"J0000" not in seen:
        seen += os.read(terminal, 65_536)


def walk(terminal: int, over: threading.Event) -> None:
    at = 0
    while not over.wait(KEY_EVERY_S):
        os.write(terminal, KEYS[at % len(KEYS) :][:1])
        at += 1


# --- the town -------------------------------------------------------------------------------------------------------


@contextmanager
def town(jobs: int, workers: int) -> Generator[tuple[Engine, list[Point]]]:
    """A training site on disk with so many jobs and workers, its clock at the machine's, and places for jobs."""
    with tempfile.TemporaryDirectory(prefix="callboard-hour-") as folder:
        path = Path(folder) / "hour.db"
        wiring.create(path, SiteFile(zone="Europe/Berlin"), training=True)
        engine = wiring.open_engine(path)
        try:
            now_ms, homes = wall_ms(), spots(workers, radius_m(workers), seed=1)
            advance(engine, now_ms)
            staff: Parsed[NewWorker] = Parsed(items=tuple(enumerate(crew(workers, homes), 1)), rejected=(), warnings=())
            intake.import_workers(engine, SUPERVISOR, staff, all_or_nothing=True)
            places = spots(jobs, radius_m(workers), seed=3)
            made = tuple((n + 1, new_job(n, place, now_ms)) for n, place in enumerate(places))
            parsed: Parsed[NewJob] = Parsed(items=made, rejected=(), warnings=())
            intake.import_jobs(engine, SUPERVISOR, parsed, all_or_nothing=True)
            see_everybody(engine, homes)
            engine.store.checkpoint()
            yield engine, places
        finally:
            wiring.close(engine)


def new_job(n: int, place: Point, now_ms: int) -> NewJob:
    due_ms = now_ms + (120 + n % 400) * MINUTE_MS
    return NewJob(ref=f"J{n:06}", type="visit", skills=frozenset({"care"}), place=place, not_before_ms=now_ms,
                  due_by_ms=due_ms, duration_ms=30 * MINUTE_MS, priority=1 + n % 4, address=f"Street {n}")  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Hour:
    """Jobs are offered, accepted and released, one after another, and some are done, where another comes."""

    engine: Engine
    places: list[Point]
    workers: int
    jobs: int
    held: int = 0
    ended: int = 0
    owed: int = 0
    now_ms: int = 0

    def second(self) -> int:
        """The changes of one second on the training clock, RATE in the mean; answers how many there were."""
        self.now_ms = self.engine.store.clock(self.engine.tenant).now_ms + 1000
        advance(self.engine, self.now_ms)
        self.owed += RATE
        before = self.owed
        while self.owed > 0:
            self.owed -= self._one()
        return before - self.owed

    def _one(self) -> int:
        n = self.held
        self.held += 1
        job = f"J{self.ended + (n % self.jobs if n % ENDS_ONE_IN else 0):06}"
        offer, worker = f"H{n:06}", name_of(n % self.workers)
        themself = Actor(name=worker, role=Role.WORKER)
        self._won(self._offer(offer, job, worker))
        self._won(leases.accept(themself, offer, worker))
        if n % ENDS_ONE_IN:
            self._won(leases.release(SUPERVISOR, job, offer, WHY))
            return 3
        self._won(leases.start(themself, job, offer, worker))
        self._won(leases.finish(themself, job, offer, worker))
        comes = self.ended + self.jobs
        self._won(records.open_job(SUPERVISOR, new_job(comes, self.places[comes % self.jobs], self.now_ms), "main"))
        self.ended += 1
        return 5

    def _offer(self, offer: str, job: str, worker: str) -> Program[leases.Offered]:
        starts_ms = self.now_ms + 10 * MINUTE_MS
        promise = Promise(lane=0, arrival_ms=starts_ms, travel_ms=10 * MINUTE_MS, starts_ms=starts_ms,
                          ends_ms=starts_ms + 30 * MINUTE_MS, eta_s=600, band_from_ms=starts_ms - 5 * MINUTE_MS,
                          band_to_ms=starts_ms + 5 * MINUTE_MS, confidence=Confidence.HIGH)  # fmt: skip
        lease = Lease(offer_id=offer, job_id=job, worker_id=worker, generation=1, promise=promise,
                      ttl_ms=20_000)  # fmt: skip
        return leases.offer(SUPERVISOR, Fence(region="main"), lease)

    def _won(self, program: Program[T]) -> T:
        done = self.engine.store.run(self.engine.tenant, program)
        if isinstance(done, Lost):
            raise RuntimeError(f"a change was lost at {done.step}, where nobody else was")
        return done
