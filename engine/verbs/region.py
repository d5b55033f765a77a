"""Who dispatches a region automatically: take it, keep it, hand workers over."""

import logging

from engine import leases
from engine.leases import Fence, Tenure
from engine.ports import Busy, Engine, Invalid, NotFound, Stale
from engine.program import Lost, Program, must
from engine.records import Why
from engine.rules.ledger import Region
from engine.rules.nouns import Actor
from engine.verbs.answer import next_for
from engine.verbs.assign import require, room_made

log = logging.getLogger("callboard.region")
LAPSED_MAX = 10_000


def region_named(engine: Engine, region: str) -> Region:
    for each in engine.store.regions(engine.tenant):
        if each.id == region:
            return each
    known = ", ".join(each.id for each in engine.store.regions(engine.tenant))
    raise NotFound(f"region {region}: not found; known: {known}")


def takeover(
    engine: Engine, actor: Actor, region: str, holder: str, *, by_force: bool = False, why: Why | None = None
) -> Tenure:
    """Become the region's dispatcher. Raises Busy while another one's lease runs (and not by force)."""
    require(actor, "takeover")
    seen = region_named(engine, region)
    for offer_id in engine.store.due_offers(engine.tenant, region, limit=LAPSED_MAX):
        engine.store.run(engine.tenant, leases.expire(actor, offer_id))  # at its own time: withdrawn is for the living
    lease = engine.settings.lease
    taken = engine.store.run(
        engine.tenant,
        leases.takeover(actor, region, seen.epoch, holder, lease.region_lease_s * 1000, by_force=by_force,
                        adopt=lease.adopt_on_takeover, why=why or Why()),
    )  # fmt: skip
    if isinstance(taken, Lost):
        now = region_named(engine, region)
        raise Busy(f"region {region} is held by {now.holder or 'another'} under epoch {now.epoch}")
    engine.tenures[region] = taken
    for job_id in taken.freed:
        next_for(engine, job_id)
    return taken


def renew(engine: Engine, holder: str) -> tuple[str, ...]:
    """Keep the regions this process holds; answers those it has lost ("fenced"), for which it stops its rounds."""
    fenced: list[str] = []
    for region, tenure in list(engine.tenures.items()):
        if isinstance(engine.store.run(engine.tenant, _renew(engine, tenure, holder)), Lost):
            log.warning("fenced: region %s is no longer held under epoch %s", region, tenure.epoch)
            del engine.tenures[region]
            fenced.append(region)
    return tuple(fenced)


def _renew(engine: Engine, tenure: Tenure, holder: str) -> Program[int]:
    lease_ms = engine.settings.lease.region_lease_s * 1000
    yield must("renew_region", region_id=tenure.region, epoch=tenure.epoch, holder=holder, lease_ms=lease_ms)
    return tenure.epoch


def resign(engine: Engine, holder: str) -> None:
    """Give the regions back, so that a standby need not wait for the lease to run out."""
    for region, tenure in list(engine.tenures.items()):
        engine.store.run(engine.tenant, _resign(tenure, holder))
        del engine.tenures[region]


def _resign(tenure: Tenure, holder: str) -> Program[int]:
    yield must("resign_region", region_id=tenure.region, epoch=tenure.epoch, holder=holder)
    return tenure.epoch


def handoff(engine: Engine, actor: Actor, worker_id: str, region: str, why: Why) -> int | None:
    """Move a worker to another region; answers the new generation, or None while a live offer stands (it follows).

    Raises NotFound, Invalid, Stale."""
    require(actor, "handoff")
    region_named(engine, region)
    with room_made(engine, actor, worker_id):
        worker = engine.store.worker(engine.tenant, worker_id)
        if worker is None:
            raise NotFound(f"worker {worker_id}: not found")
        if worker.region == region:
            raise Invalid(f"worker {worker_id} belongs to {region} already")
        asked = engine.store.run(engine.tenant, leases.ask_handoff(actor, worker_id, region, why))
        if isinstance(asked, Lost):
            raise Stale(f"worker {worker_id} was moved meanwhile")
        moved = engine.store.run(
            engine.tenant, leases.handoff(actor, worker_id, region, worker.generation, why, asked=True)
        )
        return None if isinstance(moved, Lost) else moved


def take_back_handoff(engine: Engine, actor: Actor, worker_id: str, why: Why) -> str:
    """A handoff that waits for a live offer is asked for no longer: the worker stays, and may be offered work again.

    Answers the region they would have gone to. Raises NotFound, Stale (moved already, or none was asked)."""
    require(actor, "handoff")
    worker = engine.store.worker(engine.tenant, worker_id)
    if worker is None:
        raise NotFound(f"worker {worker_id}: not found")
    to = worker.moving_to
    if to is None:
        raise Stale(
            f"worker {worker_id} belongs to {worker.region} and no handoff waits: a done one is handed back by another"
        )
    program = leases.take_back_handoff(actor, worker_id, to, worker.generation, why)
    if isinstance(engine.store.run(engine.tenant, program), Lost):
        now = engine.store.worker(engine.tenant, worker_id) or worker
        raise Stale(f"worker {worker_id} was moved meanwhile: they belong to {now.region} now")
    return to


def finish_handoffs(engine: Engine, actor: Actor, tenure: Tenure) -> int:
    """Move those of the tenure's region whose handoff waited for an offer that has since been answered or expired: the
    owning region stays the authority until they are moved, so nobody else moves them."""
    fence = Fence(region=tenure.region, epoch=tenure.epoch)
    waiting = engine.store.moving_workers(engine.tenant, tenure.region)
    done = [
        leases.handoff(actor, worker_id, to, generation, fence=fence, asked=True)
        for worker_id, to, generation in waiting
    ]
    return sum(not isinstance(engine.store.run(engine.tenant, each), Lost) for each in done)
