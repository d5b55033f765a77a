"""A small site on a training clock, set to the moment before a race: two regions, three workers, three jobs."""

import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path

from engine import leases, records
from engine.leases import Fence, Freed, Held, Lease, Offered, Tenure
from engine.program import Lost, Program, T, must
from engine.records import Cause, Why
from engine.rules.nouns import Actor, Confidence, NewJob, NewWorker, Point, Promise, Role
from engine.store import sqlite
from engine.store.sqlite import SqliteStore
from engine.store.stepper import copy_of, template_of

NOON_MS = 1_780_308_000_000  # 2026-06-01 12:00 in Rome
MIN_MS = 60_000
TTL_MS = 20_000
DAY = "2026-06-01"
LEASE_MS = 5_000

ANA = Actor(name="ana", role=Role.DISPATCHER)
AUTO = Actor(name="auto:main", role=Role.AUTOMATIC)
WHY = Why(reason="other", words="said on the phone")
MAIN = Fence(region="main")

Programs = Callable[[], Program[object]]


def worker_named(worker_id: str) -> Actor:
    return Actor(name=worker_id, role=Role.WORKER)


def found(store: SqliteStore, tenant: str = "main", *, now_ms: int = NOON_MS) -> None:
    """Regions main and north; w1 and w2 alone, wide with two lanes; j1 plain, j2 urgent, j3 for another hour."""
    who = Actor(name="init", role=Role.SUPERVISOR, tenant=tenant)
    weights = {"w_eta": 1.0, "w_fair": 3.0, "w_slack": 0.25, "eta_band_min": 5}
    regions = [("main", None), ("north", None)]
    run(store, set_clock(now_ms), tenant)
    run(
        store,
        records.found_site(who, name="x", zone="Europe/Rome", settings="{}", regions=regions, weights=weights),
        tenant,
    )
    for worker_id, capacity in (("w1", 1), ("w2", 1), ("wide", 2)):
        run(store, records.enrol(who, new_worker(worker_id, capacity), "main", known=False), tenant)
    for job_id, priority in (("j1", 1), ("j2", 4), ("j3", 2)):
        run(store, records.open_job(who, new_job(job_id, priority), "main"), tenant)


def new_worker(worker_id: str, capacity: int = 1) -> NewWorker:
    return NewWorker(
        ref=worker_id, name=worker_id, skills=frozenset({"cart"}), home=Point(45.0, 9.0), capacity=capacity,
        shift_starts_ms=NOON_MS - 480 * MIN_MS, shift_ends_ms=NOON_MS + 480 * MIN_MS,
    )  # fmt: skip


def new_job(job_id: str, priority: int = 1) -> NewJob:
    return NewJob(
        ref=job_id, type="help", skills=frozenset({"cart"}), place=Point(45.01, 9.01), not_before_ms=NOON_MS,
        due_by_ms=NOON_MS + 60 * MIN_MS, duration_ms=30 * MIN_MS, priority=priority,
    )  # fmt: skip


def set_clock(now_ms: int) -> Program[int]:
    yield must("set_clock", now_ms=now_ms)
    return now_ms


def promise(*, starts_min: int = 10, minutes: int = 30, lane: int = 0) -> Promise:
    starts_ms = NOON_MS + starts_min * MIN_MS
    return Promise(
        lane=lane, arrival_ms=starts_ms, travel_ms=5 * MIN_MS, starts_ms=starts_ms,
        ends_ms=starts_ms + minutes * MIN_MS, eta_s=600, band_from_ms=starts_ms, band_to_ms=starts_ms + 5 * MIN_MS,
        confidence=Confidence.HIGH,
    )  # fmt: skip


def lease(
    offer_id: str, job_id: str, worker_id: str, *, generation: int = 1, starts_min: int = 10, lane: int = 0
) -> Lease:
    return Lease(
        offer_id=offer_id, job_id=job_id, worker_id=worker_id, generation=generation, ttl_ms=TTL_MS,
        promise=promise(starts_min=starts_min, lane=lane),
    )  # fmt: skip


# --- the programs, aimed at this site --------------------------------------------------------------------------------


def offer(
    offer_id: str,
    job_id: str,
    worker_id: str,
    *,
    fence: Fence = MAIN,
    generation: int = 1,
    starts_min: int = 10,
    lane: int = 0,
) -> Program[Offered]:
    made = lease(offer_id, job_id, worker_id, generation=generation, starts_min=starts_min, lane=lane)
    return leases.offer(AUTO, fence, made)


def accept(offer_id: str, worker_id: str) -> Program[Held]:
    return leases.accept(worker_named(worker_id), offer_id, worker_id)


def decline(offer_id: str, worker_id: str) -> Program[Freed]:
    return leases.decline(worker_named(worker_id), offer_id, worker_id)


def expire(offer_id: str, epoch: int | None = None) -> Program[Freed]:
    return leases.expire(AUTO, offer_id, None if epoch is None else Fence(region="main", epoch=epoch))


def takeover(seen_epoch: int, holder: str = "new", *, by_force: bool = True, adopt: bool = False) -> Program[Tenure]:
    return leases.takeover(ANA, "main", seen_epoch, holder, LEASE_MS, by_force=by_force, adopt=adopt, why=WHY)


def override(offer_id: str, job_id: str, worker_id: str, *, force: bool) -> Program[Offered | Held]:
    manual = lease(offer_id, job_id, worker_id)
    manual = replace(manual, promise=replace(manual.promise, confidence=Confidence.MANUAL))
    return leases.override(ANA, MAIN, manual, WHY, overruled='{"overruled":[]}', force=force)


# --- running ---------------------------------------------------------------------------------------------------------


def run(store: SqliteStore, program: Program[T], tenant: str = "main") -> T:
    """Run what has to succeed."""
    done = store.run(tenant, program)
    assert not isinstance(done, Lost), done
    return done


def lost(store: SqliteStore, program: Program[object], tenant: str = "main") -> str:
    """Run what has to be lost; answers where, and shows that nothing was written."""
    before = dump(store.path)
    done = store.run(tenant, program)
    assert isinstance(done, Lost), done
    assert dump(store.path) == before
    return done.step


def site(path: Path, stage: str = "open") -> SqliteStore:
    """A new file. ``stage``: open, offered (o1 binds j1 to w1), accepted, started."""
    return SqliteStore(copy_of(template(stage), path))


@cache
def template(stage: str) -> bytes:
    """The site at a stage, made once a process."""
    with tempfile.TemporaryDirectory() as folder:
        _made(Path(folder) / "site.db", stage).close()
        return template_of(Path(folder) / "site.db")


def _made(path: Path, stage: str) -> SqliteStore:
    sqlite.create(path, training=True)
    store = SqliteStore(path)
    found(store)
    steps: list[Programs] = [
        lambda: offer("o1", "j1", "w1"),
        lambda: accept("o1", "w1"),
        lambda: leases.start(worker_named("w1"), "j1", "o1", "w1"),
    ]
    for program in steps[: ("open", "offered", "accepted", "started").index("offered" if stage == "asked" else stage)]:
        run(store, program())
    if stage == "asked":
        run(store, leases.ask_handoff(ANA, "w1", "north", WHY))
    return store


def at(store: SqliteStore, now_ms: int) -> None:
    run(store, set_clock(now_ms))


def dump(path: Path) -> list[str]:
    """Every row of every table, for "nothing was written"."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return list(db.iterdump())


def nobody(job_id: str) -> Cause:
    return Cause(kind="unassigned", cause=job_id, severity=1, detail="nobody is about", job_id=job_id)


def enrolled(worker_id: str) -> Program[str]:
    who = Actor(name="init", role=Role.SUPERVISOR)
    return records.enrol(who, new_worker(worker_id), "main", known=False)


def opened(job_id: str) -> Program[str]:
    return records.open_job(Actor(name="init", role=Role.SUPERVISOR), new_job(job_id), "main")
