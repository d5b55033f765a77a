"""Assign a job: decide, then lease to the best who can still be had. Idempotent: asked again, the live offer stands."""

import logging
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from engine import leases, records
from engine.leases import Fence, Lease
from engine.ports import CallboardError, Engine, Forbidden, NotFound
from engine.program import Lost, Row
from engine.records import Cause
from engine.rules.eta import great_circle_m
from engine.rules.ledger import Considered, OfferFacts
from engine.rules.nouns import WAITING, Actor, Job, JobState, Offer, Refusal, Role, Unreachable
from engine.rules.place import cell
from engine.rules.roles import may
from engine.rules.scoring import promise
from engine.rules.sight import has_lapsed
from engine.rules.steps import Ranked, Refused
from engine.verbs.decide import Look, batches, considered, eta_rules, look, summary
from engine.verbs.unplaced import add_unplaced

log = logging.getLogger("callboard.assign")
ROAD_RESOLUTION = 10
LAPSED_MAX = 500
FOLLOWED_MAX = 8
JOB_GONE = frozenset({"claim_job", "hold_epoch", "read_epoch"})


class Outcome(StrEnum):
    OFFERED = "offered"
    STANDING = "standing"
    ALERT = "alert"
    NO_ELIGIBLE = "no_eligible"
    NOT_OPEN = "not_open"
    FENCED = "fenced"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """What an assignment came to. ``considered``: empty where no decision was made (standing, not_open)."""

    outcome: Outcome
    job: Job
    offer: Offer | None = None
    considered: tuple[Considered, ...] = ()
    decision_id: str | None = None
    alert_id: str | None = None


def require(actor: Actor, act: str) -> None:
    if not may(actor.role, act):
        raise Forbidden(f"{actor.role}s may not {act}")


def assign(engine: Engine, actor: Actor, job_id: str, *, epoch: int | None = None) -> Assigned:
    """Offer the job to the best eligible worker. ``epoch``: of the tenure an automatic act runs under; None: a person.

    Lapsed offers of other jobs that stand in the way are ended, and those jobs are asked for next, as a sweep would.
    Raises NotFound, Forbidden, Busy."""
    require(actor, "assign")
    freed: list[str] = []
    made = _assign(engine, actor, job_id, epoch, freed)
    _follow(engine, freed)
    return made


def _assign(engine: Engine, actor: Actor, job_id: str, epoch: int | None, freed: list[str]) -> Assigned:
    """``freed``: takes the jobs whose lapsed offers were ended on the way."""
    started_ns = time.perf_counter_ns()
    job = current(engine, actor, job_id)
    if job.state not in WAITING:
        return _standing(engine, job)
    decision_id = engine.new_id("D")
    fence = Fence(region=job.region, epoch=epoch)
    while True:
        found = look(engine, job.id)
        if ended := _end_lapsed(engine, actor, fence, found):
            freed += ended
            continue
        ranked, outcome, chosen = _tried(engine, actor, fence, found, decision_id)
        if outcome is not Outcome.NO_ELIGIBLE or not (ended := _end_lapsed(engine, actor, fence, found)):
            break
        freed += ended  # met in a wider search, or lapsed meanwhile: nobody eligible is passed over
    if outcome in (Outcome.STANDING, Outcome.FENCED):
        return _standing(engine, job, fenced=outcome is Outcome.FENCED)
    add_unplaced(engine, found, all_reasons=outcome is Outcome.NO_ELIGIBLE)
    return _finished(engine, actor, fence, found, ranked, outcome, chosen, decision_id, started_ns)


def _tried(
    engine: Engine, actor: Actor, fence: Fence, found: Look, decision_id: str
) -> tuple[list[Ranked], Outcome, Offer | None]:
    """Steps 4-6: those ranked, and what leasing to one of them came to."""
    ranked: list[Ranked] = []
    for batch in batches(engine, found):
        ranked += batch
        outcome, chosen = _lease(engine, actor, fence, found, batch, decision_id)
        if outcome is not Outcome.NO_ELIGIBLE:
            return ranked, outcome, chosen
    return ranked, Outcome.NO_ELIGIBLE, None


# --- offers whose time is over ---------------------------------------------------------------------------------------


def current(engine: Engine, actor: Actor, job_id: str) -> Job:
    """The job, after the expiry of a lapsed offer on it (the next reader runs it)."""
    job = engine.store.job(engine.tenant, job_id)
    if job is None:
        raise NotFound(f"job {job_id}: not found")
    if _ended(engine, actor, job.live_offer_id) is not None:
        return engine.store.job(engine.tenant, job_id) or job
    return job


@contextmanager
def room_made(engine: Engine, actor: Actor, worker_id: str, job_id: str | None = None) -> Generator[bool]:
    """For an act that wants this worker (and job) free: their offers whose time is over are ended before it, and the
    next ones asked only after it, or the jobs and workers it is about would be given away on its way. Answers whether
    it was the job's own offer that was ended (which makes another version of the job)."""
    worker = engine.store.worker(engine.tenant, worker_id)
    job = None if job_id is None else engine.store.job(engine.tenant, job_id)
    own = None if job is None else _ended(engine, actor, job.live_offer_id)
    other = None if worker is None else _ended(engine, actor, worker.live_offer_id)
    try:
        yield own is not None
    finally:
        _follow(engine, [each for each in (own, other) if each is not None])


@contextmanager
def none_lapsed(engine: Engine, actor: Actor) -> Generator[None]:
    """For an act about many: each offer whose time is over is ended before it, and the next ones are asked after it."""
    freed: list[str] = []
    for region in engine.store.regions(engine.tenant):
        for offer_id in engine.store.due_offers(engine.tenant, region.id, limit=LAPSED_MAX):
            job_id = _ended(engine, actor, offer_id)
            freed += [] if job_id is None else [job_id]
    try:
        yield
    finally:
        _follow(engine, freed)


def _ended(engine: Engine, actor: Actor, offer_id: str | None, fence: Fence | None = None) -> str | None:
    """The job of an offer that had lapsed and was ended here; None: it stands, or somebody else ended it."""
    facts = None if offer_id is None else engine.store.offer(engine.tenant, offer_id)
    if facts is None or not lapsed(facts):
        return None
    freed = engine.store.run(engine.tenant, leases.expire(actor, facts.offer.id, fence))
    return None if isinstance(freed, Lost) else freed.job_id


def _end_lapsed(engine: Engine, actor: Actor, fence: Fence, found: Look) -> list[str]:
    """End the lapsed offers of those this decision met; answers the jobs they were for. A sweep may never come."""
    met = {each.worker_id for each in found.refused if each.reason is Refusal.OFFERED_ELSEWHERE}
    if not met:
        return []
    freed: list[str] = []
    for offer_id in engine.store.due_offers(engine.tenant, found.job.region, limit=LAPSED_MAX):
        facts = engine.store.offer(engine.tenant, offer_id)
        if facts is None or facts.offer.worker_id not in met:
            continue
        job_id = _ended(engine, actor, offer_id, fence if fence.epoch is not None else None)
        freed += [] if job_id is None else [job_id]
    return freed


def _follow(engine: Engine, freed: list[str]) -> None:
    """Ask the next candidate for jobs that came back open on the way; more than a few are left to the retry."""
    for _ in range(FOLLOWED_MAX):
        if not freed:
            return
        job = engine.store.job(engine.tenant, freed.pop(0))
        if job is None or job.state not in WAITING or not due_for_offer(engine, job):
            continue
        tenure = engine.tenures.get(job.region)
        try:
            _assign(engine, automatic_of(engine, job), job.id, tenure.epoch if tenure else None, freed)
        except CallboardError:  # the act on whose way it was has been done
            log.exception("job %s could not be tried", job.id)


def automatic_of(engine: Engine, job: Job) -> Actor:
    return Actor(name=f"auto:{job.region}", role=Role.AUTOMATIC, tenant=engine.tenant)


def due_for_offer(engine: Engine, job: Job) -> bool:
    """On-demand: the window opens within the horizon; later jobs belong to the planner."""
    if not engine.settings.lease.auto_offer or job.missed:
        return False
    horizon_ms = engine.settings.assign.on_demand_horizon_min * 60_000
    return job.not_before_ms <= engine.store.clock(engine.tenant).now_ms + horizon_ms


def lapsed(facts: OfferFacts) -> bool:
    """Past its time, or "from the future": the clock stepped back over its making."""
    return has_lapsed(facts.offer, facts.now_ms)


def _standing(engine: Engine, job: Job, *, fenced: bool = False) -> Assigned:
    now = engine.store.job(engine.tenant, job.id) or job
    if fenced:
        return Assigned(outcome=Outcome.FENCED, job=now)
    if now.state is JobState.OFFERED and now.live_offer_id is not None:
        facts = engine.store.offer(engine.tenant, now.live_offer_id)
        if facts is not None:
            return Assigned(outcome=Outcome.STANDING, job=now, offer=facts.offer)
    return Assigned(outcome=Outcome.NOT_OPEN, job=now)


def _lease(
    engine: Engine, actor: Actor, fence: Fence, found: Look, batch: tuple[Ranked, ...], decision_id: str
) -> tuple[Outcome, Offer | None]:
    """Step 6: the ranked in turn. A worker lost means the next one; the job lost means an offer stands elsewhere."""
    since = time.perf_counter_ns()
    for each in batch:
        worker = each.timed.candidate.worker
        lease = Lease(
            offer_id=engine.new_id("O"),
            job_id=found.job.id,
            worker_id=worker.id,
            generation=worker.generation,
            promise=promise(each.timed, found.job, eta_rules(engine.settings)),
            ttl_ms=engine.settings.lease.offer_ttl_s * 1000,
            decision_id=decision_id,
        )
        made = engine.store.run(engine.tenant, leases.offer(actor, fence, lease))
        found.took("lease_us", since)
        if not isinstance(made, Lost):
            facts = engine.store.offer(engine.tenant, made.offer_id)
            return Outcome.OFFERED, facts.offer if facts else None
        if made.step == "hold_epoch":
            return Outcome.FENCED, None
        if made.step in JOB_GONE:
            return Outcome.STANDING, None
        taken = f"lost at {made.step} while this was decided: taken, moved or gone"
        found.refused.append(Refused(worker_id=worker.id, reason=Refusal.OFFERED_ELSEWHERE, detail=taken))
    return Outcome.NO_ELIGIBLE, None


# --- after the lease -------------------------------------------------------------------------------------------------


def _finished(
    engine: Engine, actor: Actor, fence: Fence, found: Look, ranked: list[Ranked], outcome: Outcome,
    offer: Offer | None, decision_id: str, started_ns: int,
) -> Assigned:  # fmt: skip
    listed = considered(found, ranked)
    kept = summary(found, len(ranked), offer.worker_id if offer else None)
    alert_id = None
    if outcome is Outcome.NO_ELIGIBLE and _alarming(engine, found):
        outcome = Outcome.ALERT
        alert_id = _alert(engine, actor, fence, found, kept.refused)
    elif outcome is Outcome.NO_ELIGIBLE and found.job.state is JobState.UNASSIGNED_ALERT and not found.job.missed:
        engine.store.run(engine.tenant, leases.calm(actor, fence, found.job.id, found.job.version))
    total_us = (time.perf_counter_ns() - started_ns) // 1000
    engine.metrics.took("decision", total_us)
    for stage, took_us in found.stages.items():
        engine.metrics.took(f"stage {stage.removesuffix('_us')}", took_us)
    if not _said_before(engine, found.job, outcome, kept.refused):
        keep = records.keep_decision(
            decision_id=decision_id, job_id=found.job.id, outcome=outcome, total_us=total_us,
            summary=msgspec.json.encode(kept).decode(), detail=msgspec.json.encode(listed).decode(),
            roads=_roads(engine, found),
        )  # fmt: skip
        try:
            engine.store.run(engine.tenant, keep)
        except CallboardError:  # the offer stands whether or not its reasons could be kept
            log.exception("the decision %s on job %s could not be kept", decision_id, found.job.id)
    job = engine.store.job(engine.tenant, found.job.id) or found.job
    return Assigned(
        outcome=outcome, job=job, offer=offer, considered=listed, decision_id=decision_id, alert_id=alert_id
    )


def _alarming(engine: Engine, found: Look) -> bool:
    """due_by is near, or nobody looked at could arrive by due_by. Never while somebody about was not looked at."""
    if not found.exhausted or found.beyond:
        return False
    left_ms = found.job.due_by_ms - found.facts.now_ms
    if left_ms <= engine.settings.assign.alert_horizon_min * 60_000:
        return True
    return bool(found.refused) and all(each.reason is Refusal.LATE for each in found.refused)


def reasons(refused: dict[str, int]) -> str:
    """ "12 looked at: 5 skills, 4 overlap, 3 late"."""
    total = sum(refused.values())
    if not total:
        return "nobody is about"
    counts = sorted(refused.items(), key=lambda each: (-each[1], each[0]))
    return f"{total} looked at: " + ", ".join(f"{n} {reason}" for reason, n in counts)


def _alert(engine: Engine, actor: Actor, fence: Fence, found: Look, refused: dict[str, int]) -> str | None:
    cause = Cause(kind="unassigned", cause=found.job.id, severity=1, detail=reasons(refused), job_id=found.job.id)
    if found.job.state is JobState.OPEN:
        raised = engine.store.run(engine.tenant, leases.alert(actor, fence, found.job.id, found.job.version, cause))
        return None if isinstance(raised, Lost) else raised
    standing = engine.store.open_alert(engine.tenant, cause.kind, cause.cause)
    if standing is None or standing[1] != cause.detail:
        raised = engine.store.run(engine.tenant, leases.alert_again(actor, fence, found.job.id, cause))
        return None if isinstance(raised, Lost) else raised
    return standing[0]


def _said_before(engine: Engine, job: Job, outcome: Outcome, refused: dict[str, int]) -> bool:
    """A retry that found the same as the one before is not kept again (every 5 s it would say nothing new)."""
    if outcome is Outcome.OFFERED:
        return False
    last = engine.store.last_summary(engine.tenant, job.id)
    return last is not None and last[0] == outcome and last[1].refused == refused


def _roads(engine: Engine, found: Look) -> list[Row]:
    """The road times this decision learned, by cells, for the memory that survives an outage and a restart."""
    learned: list[Row] = []
    for leg in dict.fromkeys(found.learned):
        seconds = engine.road.remembered(leg)
        if seconds is not None and great_circle_m(leg.origin, leg.destination) > 0:
            learned.append({
                "origin_cell": cell(leg.origin, ROAD_RESOLUTION),
                "destination_cell": cell(leg.destination, ROAD_RESOLUTION),
                "seconds": None if isinstance(seconds, Unreachable) else seconds,
            })  # fmt: skip
    return learned
