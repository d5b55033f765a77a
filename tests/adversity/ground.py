"""A live site (the clock is the machine's own) for what has to happen in real time; the rest stands on tests.leases.stage."""

import mmap
import os
import time
from pathlib import Path

from engine import records
from engine.rules.nouns import Actor, Role
from engine.store import sqlite
from engine.store.sqlite import SqliteStore
from tests.leases.stage import new_job, new_worker, run

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
