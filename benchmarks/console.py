"""What the desk costs while a town of 2,000 jobs and 500 workers changes fifty times a second under it.

The desk is a process of its own on a terminal that reads all it sends; the changes come from this process."""

import json
import os
import select
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks import hour
from benchmarks.city import FULL, HOUR_MS, SUPERVISOR, spots, staffed, wall_ms
from benchmarks.figures import Figure, Progress, at_most, median, plain
from benchmarks.hour import FAST_S
from benchmarks.terminal import SIZE, drain, on_a_terminal
from engine import leases, records
from engine.imports.parsed import Parsed
from engine.ports import Engine
from engine.program import Lost
from engine.rules.nouns import NewJob, Point
from engine.verbs import intake

JOBS, WORKERS, MANY, RATE = 2_000, 500, 10_000, 50
STARTS, WATCH_S = 5, 15.0
WHY = records.Why(reason="customer", words="called it off")
QUIET = {"lease": {"auto_offer": False}}
ENDS_WITHIN_S = 900
PAINTED_WITHIN_S = 30.0


def measure(progress: Progress, small: bool) -> list[Figure]:
    jobs, workers, many = (60, 20, 120) if small else (JOBS, WORKERS, MANY)
    seconds = 1.0 if small else WATCH_S
    figures: list[Figure] = []
    with staffed(workers, progress, QUIET) as engine:
        fill(engine, jobs, progress)
        progress("starting the desk")
        figures.append(at_most("console: from the command to the first paint, median", 1000 * median(
            first_paint_s(engine.store.path) for _ in range(1 if small else STARTS)), "ms", 500))  # fmt: skip
        progress(f"the desk under {RATE} changes a second")
        figures += busy_figures(probed(engine, seconds), f"{jobs} jobs")
        fill(engine, many - jobs, progress, since=jobs)
        progress(f"{many} jobs")
        found = probed(engine, seconds)
        figures.append(at_most(f"console: {many} jobs, a key to its paint, p95", found["key_p95_ms"], "ms", 100))
        figures.append(plain(f"console: {many} jobs, the same, of processor time", found["key_cpu_p95_ms"], "ms"))
        figures.append(plain(f"console: {many} jobs, of a core", found["core"], ""))
    return figures + hour.measure(jobs, workers, progress, seconds=FAST_S if not small else 5.0)


def busy_figures(found: Mapping[str, float], of: str) -> list[Figure]:
    return [
        at_most(f"console: {of}, of a core at {SIZE[0]}x{SIZE[1]}", found["core"], "", 0.15),
        plain(f"console: {of}, a key to its paint, p50", found["key_p50_ms"], "ms"),
        at_most(f"console: {of}, a key to its paint, p95", found["key_p95_ms"], "ms", 50),
        plain(f"console: {of}, the same, of processor time", found["key_cpu_p95_ms"], "ms"),
        at_most(f"console: {of}, lag of the loop, p99", found["lag_p99_ms"], "ms", 20),
        plain(f"console: {of}, memory", found["rss_mb"], "MB"),
    ]


# --- the town -------------------------------------------------------------------------------------------------------


def new_job(ref: str, place: Point, n: int) -> NewJob:
    now_ms = wall_ms()
    due_ms = now_ms + HOUR_MS + n % 400 * 60_000
    return NewJob(ref=ref, type="visit", skills=frozenset({"care"}), place=place, not_before_ms=now_ms,
                  due_by_ms=due_ms, duration_ms=HOUR_MS // 2, priority=1 + n % 4, address=f"Street {n}")  # fmt: skip


def fill(engine: Engine, count: int, progress: Progress, *, since: int = 0) -> None:
    progress(f"writing {count} jobs")
    places = spots(count, 1_500.0 * (WORKERS / FULL) ** 0.5 * 10, seed=3)
    jobs = [new_job(f"J{since + n}", place, n) for n, place in enumerate(places)]
    parsed: Parsed[NewJob] = Parsed(items=tuple(enumerate(jobs, start=1)), rejected=(), warnings=())
    intake.import_jobs(engine, SUPERVISOR, parsed, all_or_nothing=True)
    engine.store.checkpoint()


@contextmanager
def changing(engine: Engine) -> Generator[None]:
    """Jobs open and are cancelled, together RATE times a second, until the context is left."""
    over = threading.Event()

    def change() -> None:
        n, place, began_s = 0, spots(1, 100.0, seed=4)[0], time.monotonic()
        while not over.wait(max(0.0, began_s + n / RATE - time.monotonic())):
            ref = f"C{os.urandom(4).hex()}"
            job_id = engine.store.run(engine.tenant, records.open_job(SUPERVISOR, new_job(ref, place, n), "main"))
            if isinstance(job_id, Lost):
                raise RuntimeError(f"{ref} could not be opened")
            over.wait(1 / RATE)
            engine.store.run(engine.tenant, leases.cancel(SUPERVISOR, job_id, "", WHY))
            n += 2

    changer = threading.Thread(target=change, name="changes", daemon=True)
    changer.start()
    try:
        yield
    finally:
        over.set()
        changer.join()


# --- the desk ---------------------------------------------------------------------------------------------------------


def first_paint_s(path: Path) -> float:
    """Until the frame of the desk is on the terminal, from the start of the command."""
    since_s, seen = time.monotonic(), b""
    with on_a_terminal(["run.py", "console", "--db", str(path)], {}) as (desk, terminal):
        while b"Alerts" not in seen:
            if not select.select([terminal], [], [], PAINTED_WITHIN_S)[0]:
                ended = "it goes on" if desk.poll() is None else f"it ended with {desk.returncode}"
                raise RuntimeError(f"no desk within {PAINTED_WITHIN_S} s, {ended}; it said {seen[-2_000:]!r}")
            seen += os.read(terminal, 65_536)
        return time.monotonic() - since_s


def probed(engine: Engine, seconds: float) -> dict[str, float]:
    """What the probe in the desk has found."""
    out = engine.store.path.with_name("probe.json")
    command = ["-m", "benchmarks.probe", str(engine.store.path), str(out)]
    env = {"PROBE_S": str(seconds)}
    with changing(engine), on_a_terminal(command, env) as (desk, terminal):
        threading.Thread(target=drain, args=(terminal,), daemon=True).start()
        desk.wait(ENDS_WITHIN_S)
    found: dict[str, float] = json.loads(out.read_text())
    return found
