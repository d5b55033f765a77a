"""A whole engine on a training site: w1 and w2 about and fresh, the clock at noon, no router."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engine import records, wiring
from engine.ports import Engine
from engine.program import Lost
from engine.rules.nouns import Actor, FixReport, NewJob, NewWorker, Role
from engine.settings import Tables
from engine.verbs import assign, ingest, intake
from engine.verbs.site import SiteFile, advance
from tests.leases import stage
from tests.leases.stage import MIN_MS, NOON_MS

ANA = Actor(name="ana", role=Role.SUPERVISOR)
MANUAL: Tables = {"lease": {"auto_offer": False}}
"""Nothing is offered by itself, so that a test sees its own act alone."""


def desk(
    path: Path, *, workers: Sequence[str] = ("w1", "w2"), overrides: Tables = MANUAL, site: SiteFile | None = None
) -> Engine:
    wiring.create(path, site or SiteFile(zone="Europe/Rome", overrides=overrides), training=True)
    engine = wiring.open_engine(path, new_id=wiring.seeded_ids(7))
    advance(engine, NOON_MS)
    for worker_id in workers:
        enrol(engine, stage.new_worker(worker_id))
    seen(engine, *workers)
    return engine


def again(engine: Engine) -> Engine:
    """The same site opened by another process."""
    return wiring.open_engine(engine.store.path, new_id=wiring.seeded_ids(8))


def enrol(engine: Engine, new: NewWorker) -> None:
    made = engine.store.run(engine.tenant, records.enrol(ANA, new, "main", known=False))
    assert not isinstance(made, Lost)
    engine.index.enrol(engine.tenant, new.ref, new.skills)


def seen(engine: Engine, *workers: str) -> None:
    """A fresh fix of each, at home."""
    now_ms = engine.store.clock(engine.tenant).now_ms
    reports = [FixReport(worker=each, device_ms=now_ms, lat=45.0, lng=9.0, accuracy_m=5.0) for each in workers]
    assert ingest.report(engine, reports, received_ms=now_ms, archive=[]).kept == len(workers)


def later(engine: Engine, ms: int, *workers: str) -> None:
    """Time goes on, and these workers are seen again."""
    advance(engine, engine.store.clock(engine.tenant).now_ms + ms)
    seen(engine, *workers)


def job(job_id: str, *, priority: int = 1, opens_min: int = 0) -> NewJob:
    opens_ms = NOON_MS + opens_min * MIN_MS
    return replace(stage.new_job(job_id, priority), not_before_ms=opens_ms, due_by_ms=opens_ms + 60 * MIN_MS)


def offered(engine: Engine, job_id: str = "j1") -> tuple[str, str]:
    """Create and assign; answers the offer and its worker."""
    if engine.store.job(engine.tenant, job_id) is None:
        intake.create_job(engine, ANA, job(job_id))
    made = assign.assign(engine, ANA, job_id)
    assert made.offer is not None
    return made.offer.id, made.offer.worker_id
