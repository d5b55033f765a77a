"""Acts that take a promise back: withdraw, release, reassign, preempt, cancel. Each is aimed at what the actor saw."""

from dataclasses import dataclass

from engine import leases
from engine.leases import Fence
from engine.ports import Engine, Invalid, NotFound, Stale
from engine.program import Lost
from engine.records import Why
from engine.rules.nouns import TERMINAL, WAITING, Actor, Job, JobState
from engine.rules.steps import Refused
from engine.rules.words import LETTERS_MIN, letters
from engine.verbs.answer import next_for
from engine.verbs.assign import Assigned, require, room_made
from engine.verbs.override import Choice, by_whom, choose, on_record

REASONS = ("sick", "delayed", "no_answer", "customer", "mistake", "emergency", "stale", "local_knowledge", "other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revoked:
    """``job`` as it is now; ``next``: what was tried for it at once; ``offer_id``: a new offer made in the same act, to
    whom a person chose, with what that ``overrules`` and by how much it misses due_by."""

    job: Job
    next: Assigned | None = None
    offer_id: str | None = None
    overrules: tuple[Refused, ...] = ()
    late_ms: int = 0


def reasoned(reason: str, words: str) -> Why:
    """A person's reason, checked: a known code and at least ten letters of words. Raises Invalid."""
    if reason not in REASONS:
        raise Invalid(f"reason {reason!r}: one of {', '.join(REASONS)} is wanted")
    if letters(words) < LETTERS_MIN:
        raise Invalid(f"note {words!r}: at least {LETTERS_MIN} letters are wanted; the audit keeps them")
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
    """Release and give on: to the worker named, in the same transaction, or to the best one there is.

    Naming one is an override: it may overrule what that may, by the same roles, and is kept as one."""
    require(actor, "reassign")
    job, held = _held(engine, job_id, aimed_at)
    fence = Fence(region=job.region)
    if to is None:
        done = engine.store.run(engine.tenant, leases.reassign(actor, fence, job.id, held, why))
        if isinstance(done, Lost):
            raise _changed(engine, job)
        then = next_for(engine, job.id)
        return Revoked(job=wanted(engine, job.id), next=then)
    require(actor, "override")
    with room_made(engine, actor, to):
        chosen = choose(engine, actor, job, to, releasing=held)
        program = leases.reassign(actor, fence, job.id, held, why, chosen.lease, overruled=on_record(chosen))
        done = engine.store.run(engine.tenant, program)
        if isinstance(done, Lost):
            raise _not_given(engine, job, chosen, done)
        return _given(engine, job, chosen)


def preempt(
    engine: Engine, actor: Actor, job_id: str, urgent_id: str, why: Why, *, aimed_at: str | None = None
) -> Revoked:
    """Take a worker from a job for one of higher priority; the urgent one is offered in the same transaction."""
    require(actor, "preempt")
    require(actor, "override")
    job, held = _held(engine, job_id, aimed_at)
    with room_made(engine, actor, job.worker_id or "", urgent_id):
        chosen = _preempted(engine, actor, job, held, urgent_id, why)
        then = next_for(engine, job.id)
        return _given(engine, job, chosen, then)


def _preempted(engine: Engine, actor: Actor, job: Job, held: str, urgent_id: str, why: Why) -> Choice:
    urgent = _waiting(engine, urgent_id)
    if urgent.priority <= job.priority:
        raise Invalid(
            f"job {urgent_id} has priority {urgent.priority}; more than {job.priority} is wanted to preempt {job.id}"
        )
    chosen = choose(engine, actor, urgent, job.worker_id or "", releasing=held)
    fence, detail = Fence(region=urgent.region), on_record(chosen)
    program = leases.preempt(actor, fence, job.id, held, chosen.lease, why, overruled=detail)
    done = engine.store.run(engine.tenant, program)
    if isinstance(done, Lost):
        raise _not_given(engine, job, chosen, done)
    return chosen


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


def _waiting(engine: Engine, job_id: str) -> Job:
    """A job that somebody could be offered. Raises NotFound, Stale."""
    job = wanted(engine, job_id)
    if job.state in WAITING:
        return job
    live = engine.store.offer(engine.tenant, job.live_offer_id) if job.live_offer_id else None
    if live is not None:
        raise Stale(f"job {job_id} is offered to {live.offer.worker_id}: withdraw offer {live.offer.id} first")
    by = job.worker_id or job.done_by
    raise Stale(
        f"job {job_id} is {job.state}{f' with {by}' if by else ''}: only a waiting job takes the worker of another"
    )


def _given(engine: Engine, job: Job, chosen: Choice, then: Assigned | None = None) -> Revoked:
    return Revoked(
        job=wanted(engine, job.id), next=then, offer_id=chosen.lease.offer_id, overrules=chosen.overrules,
        late_ms=chosen.late_ms,
    )  # fmt: skip


def _not_given(engine: Engine, job: Job, chosen: Choice, lost: Lost) -> Stale:
    """Which of the two jobs, or the worker, was not as it was looked at: nothing was done."""
    lease = chosen.lease
    if lost.step in ("claim_worker", "check_room"):
        return Stale(f"worker {lease.worker_id} was taken meanwhile (at {lost.step}): nothing was changed; look again")
    return _changed(engine, wanted(engine, lease.job_id) if lost.step == "claim_job" else job)


def _changed(engine: Engine, job: Job) -> Stale:
    now = wanted(engine, job.id)
    holder = f" with {now.worker_id}" if now.worker_id else ""
    by = by_whom(engine, job.id)
    return Stale(f"job {job.id} changed meanwhile: it is {now.state}{holder}{by}; look again and decide anew")
