"""A dispatcher's own choice of worker: the same offer path, with what it overrules said and audited.

May overrule: stale, no fix, area, cooldown, late, reserve, a road that does not lead there (somebody may know of a
ferry), and shift (a permission). Never: tenant, region, skills, capacity and overlap, a live offer elsewhere, absence.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import msgspec

from engine import leases
from engine.leases import Fence, Lease
from engine.ports import Engine, Forbidden, NotFound, Stale
from engine.program import Lost
from engine.records import Why
from engine.rules.eligibility import against, reserve
from engine.rules.eta import STAND_IN, pessimistic_s, stand_in_s, travel
from engine.rules.nouns import (
    WAITING,
    Actor,
    Confidence,
    Facts,
    Interval,
    Job,
    Leg,
    NoAnswer,
    Offer,
    Promise,
    Refusal,
    Seen,
    Travel,
    Unreachable,
    Worker,
)
from engine.rules.place import cell
from engine.rules.roles import may
from engine.rules.schedule import Gap, arrival_ms, gaps, joined, minutes, service, slot_of, stretches
from engine.rules.scoring import NO_ROAD, could_be_late, promise
from engine.rules.steps import Candidate, Refused, Slot, Timed
from engine.verbs.assign import require, room_made
from engine.verbs.decide import eta_rules, limits_of, look, no_believable_road

EVER = Interval(starts_ms=0, ends_ms=2**62)
OVERRULABLE = frozenset(
    {Refusal.STALE, Refusal.NO_FIX, Refusal.OUTSIDE_AREA, Refusal.COOLDOWN, Refusal.LATE, Refusal.RESERVED,
     Refusal.OFF_SHIFT, Refusal.NO_ROAD}
)  # fmt: skip
ROADLESS = "no_road"
"""The source of a travel time where the road does not lead: a stand-in, and never for an automatic offer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A worker chosen for a job: the lease to make, everything it overrules, and by how much due_by is missed."""

    lease: Lease
    overrules: tuple[Refused, ...]
    late_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overridden:
    job: Job
    offer: Offer | None
    overrules: tuple[Refused, ...]
    late_ms: int


def override(
    engine: Engine,
    actor: Actor,
    job_id: str,
    worker_id: str,
    why: Why,
    *,
    force: bool = False,
    withdraw: bool = False,
    version: int | None = None,
) -> Overridden:
    """Offer the job to the worker named (``force``: accepted on their behalf), whatever may be overruled.

    ``withdraw``: an offer that stands on the job is withdrawn in the same act. ``version``: the job's as it was
    looked at. Raises NotFound, Forbidden, Stale, Invalid."""
    require(actor, "override")
    _as_shown(engine, job_id, version)
    with room_made(engine, actor, worker_id, job_id) as ended:
        job = _as_shown(engine, job_id, None if version is None else version + ended)
        return _overridden(engine, actor, job, worker_id, why, force=force, withdraw=withdraw)


def _as_shown(engine: Engine, job_id: str, version: int | None) -> Job:
    job = engine.store.job(engine.tenant, job_id)
    if job is None:
        raise NotFound(f"job {job_id}: not found")
    if version is not None and job.version != version:
        raise Stale(f"job {job_id} changed since it was shown: it is {job.state} now{by_whom(engine, job_id)}")
    return job


def _overridden(
    engine: Engine, actor: Actor, job: Job, worker_id: str, why: Why, *, force: bool, withdraw: bool
) -> Overridden:
    standing = job.live_offer_id if withdraw else None
    if job.state not in WAITING and standing is None:
        hint = (
            f"withdraw offer {job.live_offer_id} first, or in the same act"
            if job.live_offer_id
            else "release or reassign it"
        )
        raise Stale(f"job {job.id} is {job.state}: {hint}")
    chosen = choose(engine, actor, job, worker_id)
    fence, detail = Fence(region=job.region), on_record(chosen, force=force)
    program = leases.override(actor, fence, chosen.lease, why, overruled=detail, force=force, standing=standing)
    done = engine.store.run(engine.tenant, program)
    if isinstance(done, Lost):
        now = engine.store.job(engine.tenant, job.id) or job
        by = by_whom(engine, job.id) if now.version != job.version else ""
        raise Stale(
            f"job {job.id} or worker {worker_id} was taken meanwhile (at {done.step}): the job is {now.state} now{by}"
        )
    facts = engine.store.offer(engine.tenant, chosen.lease.offer_id)
    return Overridden(
        job=engine.store.job(engine.tenant, job.id) or job,
        offer=facts.offer if facts else None,
        overrules=chosen.overrules,
        late_ms=chosen.late_ms,
    )


def on_record(chosen: Choice, *, force: bool = False) -> str:
    """What the audit keeps of a person's own choice, as JSON; ``attempts.overruling`` reads it."""
    overruled = [{"reason": each.reason, "detail": each.detail} for each in chosen.overrules]
    return msgspec.json.encode({"overruled": overruled, "late_ms": chosen.late_ms, "force": force}).decode()


def by_whom(engine: Engine, job_id: str) -> str:
    """Who did the newest thing to a job, for whoever has just lost a race on it; "" where nothing is kept."""
    rows = engine.store.audit_of_job(engine.tenant, job_id)
    return f", by {rows[-1].actor} ({rows[-1].act.replace('_', ' ')})" if rows else ""


def choose(engine: Engine, actor: Actor, job: Job, worker_id: str, *, releasing: str | None = None) -> Choice:
    """What choosing this worker means. ``releasing``: an assignment that ends in the same act (its booking is no bar).

    Raises NotFound, Forbidden (never to be overruled, or not by this role)."""
    facts, worker, seen = _known(engine, job, worker_id, releasing)
    best = _best(engine, facts, worker, seen)
    promised = promise(best, job, eta_rules(engine.settings), Confidence.MANUAL)
    overrules = tuple(_overruled(engine, facts, worker, seen, best, promised))
    for each in overrules:
        if each.reason not in OVERRULABLE:
            raise Forbidden(f"{worker_id} may not be given {job.id} by anybody: {each.reason} ({each.detail})")
        if each.reason is Refusal.OFF_SHIFT and not may(actor.role, "override_shift"):
            raise Forbidden(f"{worker_id} is {each.reason} ({each.detail}): a supervisor may overrule that")
    lease = Lease(
        offer_id=engine.new_id("O"),
        job_id=job.id,
        worker_id=worker.id,
        generation=worker.generation,
        promise=promised,
        ttl_ms=engine.settings.lease.offer_ttl_s * 1000,
    )
    return Choice(lease=lease, overrules=overrules, late_ms=max(0, promised.arrival_ms - job.due_by_ms))


def _overruled(
    engine: Engine, facts: Facts, worker: Worker, seen: Seen | None, best: Timed, promised: Promise
) -> Iterator[Refused]:
    """What stands against the choice. The promise lies clear of every booking and absence, so what it may cost is time:
    whether it is late or beyond the shift is read off the promise itself, whether a road leads there off its travel."""
    timely = frozenset({Refusal.OVERLAP, Refusal.LATE, Refusal.OFF_SHIFT, Refusal.ABSENT})
    found = look(engine, facts.job.id)
    kept = reserve(found.facts, found.seen, limits_of(engine.settings))
    for each in against(worker, seen, facts, limits_of(engine.settings), kept):
        if each.reason not in timely:
            yield each
    for reason, detail in _doubts(engine, facts.job, best):
        yield Refused(worker_id=worker.id, reason=reason, detail=detail)
    leaves_ms = promised.starts_ms - promised.travel_ms
    if not any(shift.starts_ms <= leaves_ms and promised.ends_ms <= shift.ends_ms for shift in joined(worker.shifts)):
        yield Refused(worker_id=worker.id, reason=Refusal.OFF_SHIFT, detail="no shift covers travel and service")


def _doubts(engine: Engine, job: Job, best: Timed) -> Iterator[tuple[Refusal, str]]:
    """What the travel time itself has against it: the same that refuses a candidate once they are timed."""
    source = best.travel.source
    if source == ROADLESS:
        yield Refusal.NO_ROAD, NO_ROAD
    elif engine.settings.router.required and source != "road":
        yield Refusal.NO_ROAD, no_believable_road(source)
    late_ms = best.arrival_ms - job.due_by_ms
    worst_ms = arrival_ms(best.slot, pessimistic_s(best.travel, eta_rules(engine.settings))) - job.due_by_ms
    if late_ms > 0:
        yield Refusal.LATE, f"arrives {minutes(late_ms)} after due_by"
    elif source == STAND_IN and worst_ms > 0:
        yield Refusal.LATE, could_be_late(worst_ms)


def _known(engine: Engine, job: Job, worker_id: str, releasing: str | None) -> tuple[Facts, Worker, Seen | None]:
    facts = engine.store.facts(engine.tenant, job.id, [worker_id])
    if facts is None or not facts.workers:
        raise NotFound(f"worker {worker_id}: not found")
    [worker] = facts.workers
    if releasing is not None:
        worker = replace(worker, bookings=tuple(each for each in worker.bookings if each.offer_id != releasing))
        facts = replace(facts, workers=(worker,))
    seen = engine.index.seen(engine.tenant, worker_id, job.place, mono_ms=engine.mono_ms())
    return facts, worker, seen


def _best(engine: Engine, facts: Facts, worker: Worker, seen: Seen | None) -> Timed:
    """The earliest arrival that bookings and absences leave room for. Raises Forbidden where there is none, or where
    nothing but an absence stands against arriving in time: that is not overruled by calling it late."""
    job, where = facts.job, seen or _at_home(engine, worker, facts.job)
    best = _earliest(engine, facts, worker, where)
    late_ms = best.arrival_ms - job.due_by_ms if best else 0
    if worker.absences and (best is None or late_ms > 0):
        never_away = _earliest(engine, facts, replace(worker, absences=()), where)
        if never_away is not None and (best is None or never_away.arrival_ms <= job.due_by_ms):
            told = f"back from it, arrives {minutes(late_ms)} after due_by" if best else "that takes the time for it"
            raise Forbidden(f"{worker.id} may not be given {job.id} by anybody: {Refusal.ABSENT} ({told})")
    if best is None:
        raise Forbidden(f"{worker.id} has no room for {job.id} between their bookings: overlap is never overruled")
    return best


def _earliest(engine: Engine, facts: Facts, worker: Worker, where: Seen) -> Timed | None:
    """On time and within a shift if that can be, else not."""
    room = tuple(gaps(worker, where.place, facts.now_ms))
    on_shift = [
        slot for gap in room for each in stretches(worker.shifts, worker.absences) if (slot := slot_of(gap, each))
    ]
    fitting = [each for slot in on_shift if (each := _timed(engine, facts, worker, where, slot)) is not None]
    found = [each for each in fitting if each.arrival_ms <= facts.job.due_by_ms]
    if not found:
        beyond = (_timed(engine, facts, worker, where, slot) for slot in _off_shift(worker, room))
        found = [*fitting, *(each for each in beyond if each is not None)]
    return min(found, key=lambda each: each.arrival_ms, default=None)


def _off_shift(worker: Worker, room: Iterable[Gap]) -> Iterator[Slot]:
    """Slots that mind no shift; but nobody is awaited beyond their shift who was absent until its end."""
    for each in stretches((EVER,), worker.absences):
        back = each.starts_ms > EVER.starts_ms
        if back and not any(shift.starts_ms <= each.starts_ms < shift.ends_ms for shift in worker.shifts):
            continue
        yield from (slot for gap in room if (slot := slot_of(gap, each)))


def _timed(engine: Engine, facts: Facts, worker: Worker, where: Seen, slot: Slot) -> Timed | None:
    """The job done in this slot, clear of what ends it and of the booking after it."""
    job = facts.job
    drive = _drive(engine, Leg(origin=slot.origin, destination=job.place))
    arrive_ms = arrival_ms(slot, drive.seconds)
    work = service(job, arrive_ms)
    if slot.next_place is not None and slot.next_starts_ms is not None:
        onward = _drive(engine, Leg(origin=job.place, destination=slot.next_place))
        if onward.source == ROADLESS or work.ends_ms + onward.seconds * 1000 > slot.next_starts_ms:
            return None  # what comes after it is overlapped: never overruled
    if work.ends_ms > slot.ends_by_ms:
        return None
    alone = Candidate(worker=worker, seen=where, slots=(slot,), optimistic_s=drive.seconds, optimistic_score=0.0)
    eta_s = max(0, arrive_ms - facts.now_ms) // 1000
    return Timed(candidate=alone, slot=slot, travel=drive, arrival_ms=arrive_ms, eta_s=eta_s)


def _at_home(engine: Engine, worker: Worker, job: Job) -> Seen:
    """Nothing is known of where they are: their home base, as old as can be, so that the band is wide."""
    old_ms = engine.settings.location.hot_s * 1000
    return Seen(worker_id=worker.id, place=worker.home, cell=cell(worker.home), device_age_ms=old_ms,
                receive_age_ms=old_ms, accuracy_m=None, distance_m=0.0)  # fmt: skip


def _drive(engine: Engine, leg: Leg) -> Travel:
    """The best known time; where the road does not go, a stand-in: the dispatcher may know of a ferry."""
    [answer] = engine.road.times([leg]) or [NoAnswer(reason="none")]
    rules = eta_rules(engine.settings)
    found = travel(answer, engine.road.remembered(leg), leg, rules)
    if isinstance(found, Unreachable):
        seconds = stand_in_s(leg.origin, leg.destination, detour=rules.detour, speed_kmh=rules.speed_kmh)
        return Travel(seconds=seconds, confidence=Confidence.LOW, source=ROADLESS)
    return found
