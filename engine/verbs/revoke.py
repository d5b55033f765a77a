"""Acts that take a promise back: withdraw, release, reassign, preempt, cancel. Each is aimed at what the actor saw."""

from dataclasses import dataclass

from engine import leases
from engine.leases import Fence
from engine.ports import Engine, Invalid, NotFound, Stale
from engine.program import Lost
from engine.records import Why
from engine.rules.nouns import TERMINAL, Actor, Job, JobState
from engine.verbs.answer import next_for
from engine.verbs.assign import Assigned, require
from engine.verbs.override import by_whom, choose

WORDS_MIN = 10
REASONS = ("sick", "delayed", "no_answer", "customer", "mistake", "emergency", "stale", "local_knowledge", "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoked:
    """``job`` as it is now; ``next``: what was tried for it at once; ``offer_id``: a new offer made in the same act."""

    job: Job
    next: Assigned | None = None
    offer_id: str | None = None


def reasoned(reason: str, words: str) -> Why:
    """A person's reason, checked: a known code and at least ten letters of words. Raises Invalid."""
    if reason not in REASONS:
        raise Invalid(f"reason {reason!r}: one of {', '.join(REASONS)} is wanted")
    if len(words.strip()) < WORDS_MIN:
        raise Invalid(f"note {words!r}: at least {WORDS_MIN} letters are wanted; the audit keeps them")
    return Why(reason=reason, words=words.strip())


def wanted(engine: Engine, job_id: str) -> Job:
    job = engine.store.job(engine.tenant, job_id)
    if job is None:
        raise NotFound(f"job {job_id}: not found")
    return job


def withdraw(engine: Engine, actor: Actor, offer_id: str, why: Why) -> Revoked:
    """Take a live offer back; the next candidate is tried at once. Raises NotFound, Stale."""
    require(actor, "withdraw")
    facts = engine.store.offer(engine.tenant, offer_id)
    if facts is None:
        raise NotFound(f"offer {offer_id}: not found")
    freed = engine.store.run(engine.tenant, leases.withdraw(actor, offer_id, why))
    if isinstance(freed, Lost):
        state = engine.store.offer(engine.tenant, offer_id)
        raise Stale(f"offer {offer_id} stands no more: it is {(state or facts).offer.state}")
    then = next_for(engine, freed.job_id)
    return Revoked(job=wanted(engine, freed.job_id), next=then)


def release(engine: Engine, actor: Actor, job_id: str, why: Why, *, aimed_at: str | None = None) -> Revoked:
    """Take an accepted job from its worker; it is offered on at once. ``aimed_at``: the assignment looked at."""
    require(actor, "release")
    job, held = _held(engine, job_id, aimed_at)
    freed = engine.store.run(engine.tenant, leases.release(actor, job.id, held, why))
    if isinstance(freed, Lost):
        raise _changed(engine, job)
    then = next_for(engine, job.id)
    return Revoked(job=wanted(engine, job.id), next=then)


def reassign(
    engine: Engine, actor: Actor, job_id: str, why: Why, *, to: str | None = None, aimed_at: str | None = None
) -> Revoked:
    """Release and give on: to the worker named, in the same transaction, or to the best one there is."""
    require(actor, "reassign")
    job, held = _held(engine, job_id, aimed_at)
    lease = None if to is None else choose(engine, actor, job, to, releasing=held).lease
    done = engine.store.run(engine.tenant, leases.reassign(actor, Fence(region=job.region), job.id, held, why, lease))
    if isinstance(done, Lost):
        raise _changed(engine, job)
    if lease is not None:
        return Revoked(job=wanted(engine, job.id), offer_id=lease.offer_id)
    then = next_for(engine, job.id)
    return Revoked(job=wanted(engine, job.id), next=then)


def preempt(
    engine: Engine, actor: Actor, job_id: str, urgent_id: str, why: Why, *, aimed_at: str | None = None
) -> Revoked:
    """Take a worker from a job for one of higher priority; the urgent one is offered in the same transaction."""
    require(actor, "preempt")
    job, held = _held(engine, job_id, aimed_at)
    urgent = wanted(engine, urgent_id)
    if urgent.priority <= job.priority:
        raise Invalid(
            f"job {urgent_id} has priority {urgent.priority}; more than {job.priority} is wanted to preempt {job_id}"
        )
    lease = choose(engine, actor, urgent, job.worker_id or "", releasing=held).lease
    done = engine.store.run(engine.tenant, leases.preempt(actor, Fence(region=urgent.region), job.id, held, lease, why))
    if isinstance(done, Lost):
        raise _changed(engine, job)
    then = next_for(engine, job.id)
    return Revoked(job=wanted(engine, job.id), next=then, offer_id=lease.offer_id)


def cancel(engine: Engine, actor: Actor, job_id: str, why: Why, *, aimed_at: str | None = None) -> Revoked:
    """End a job. ``aimed_at``: the assignment that was looked at ("" = none); by default the one that stands now."""
    require(actor, "cancel")
    job = wanted(engine, job_id)
    aim = job.held_offer_id or "" if aimed_at is None else aimed_at
    done = engine.store.run(engine.tenant, leases.cancel(actor, job.id, aim, why))
    if isinstance(done, Lost):
        raise _changed(engine, job)
    return Revoked(job=wanted(engine, job.id))


def _held(engine: Engine, job_id: str, aimed_at: str | None) -> tuple[Job, str]:
    job = wanted(engine, job_id)
    if job.state in TERMINAL:
        raise Stale(f"job {job_id} is {job.state}")
    if job.state is JobState.IN_PROGRESS:
        raise Stale(f"job {job_id} is in progress with {job.worker_id}: finish or cancel it")
    if job.held_offer_id is None:
        raise Stale(f"job {job_id} is {job.state}: nobody holds it")
    return job, aimed_at or job.held_offer_id


def _changed(engine: Engine, job: Job) -> Stale:
    now = wanted(engine, job.id)
    holder = f" with {now.worker_id}" if now.worker_id else ""
    by = by_whom(engine, job.id)
    return Stale(f"job {job.id} changed meanwhile: it is {now.state}{holder}{by}; look again and decide anew")
