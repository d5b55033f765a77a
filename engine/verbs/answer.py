"""The worker's answers: accept, decline, start, finish. Each is safe to repeat, and says what became of it."""

from dataclasses import dataclass, replace
from enum import StrEnum

from engine import leases, records
from engine.ports import REFUSALS, Engine
from engine.program import Lost
from engine.rules.ledger import OfferFacts
from engine.rules.nouns import WAITING, Actor, Job, JobState, Offer, OfferState, Role
from engine.verbs.assign import Assigned, assign, automatic_of, due_for_offer, lapsed, require


class Answer(StrEnum):
    ACCEPTED = "accepted"
    ALREADY_ACCEPTED = "already_accepted"
    DECLINED = "declined"
    STARTED = "started"
    FINISHED = "finished"
    EXPIRED = "expired"
    FENCED = "fenced"
    LOST = "lost"
    NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """``job`` and ``offer`` as they are now; None where not this worker's to see. ``next``: who is asked next."""

    outcome: Answer
    job: Job | None = None
    offer: Offer | None = None
    next: Assigned | None = None


def accept(engine: Engine, actor: Actor, offer_id: str, worker_id: str) -> Answered:
    """Take an offer. Repeated while the booking stands it answers the same acceptance and counts once.

    After its expiry the expiry itself is run, the next candidate asked, and the answer is ``expired``."""
    require(actor, "accept")
    if not _theirs(actor, worker_id):
        return Answered(outcome=Answer.NOT_FOUND)
    with engine.metrics.answering("accept", REFUSALS):
        held = engine.store.run(engine.tenant, leases.accept(actor, offer_id, worker_id))
        if not isinstance(held, Lost):
            return _answered(engine, Answer.ACCEPTED, offer_id)
        told = _too_late(engine, actor, offer_id, worker_id)
        return replace(told, outcome=Answer.LOST) if told.outcome is Answer.DECLINED else told


def decline(engine: Engine, actor: Actor, offer_id: str, worker_id: str) -> Answered:
    """Refuse an offer; the next candidate is tried at once."""
    require(actor, "decline")
    if not _theirs(actor, worker_id):
        return Answered(outcome=Answer.NOT_FOUND)
    freed = engine.store.run(engine.tenant, leases.decline(actor, offer_id, worker_id))
    if isinstance(freed, Lost):
        return _too_late(engine, actor, offer_id, worker_id)
    return _answered(engine, Answer.DECLINED, offer_id, then=next_for(engine, freed.job_id))


def start(engine: Engine, actor: Actor, job_id: str, worker_id: str) -> Answered:
    """Begin a job that is the worker's own."""
    require(actor, "start")
    job = _own(engine, actor, job_id, worker_id)
    if job is None:
        return Answered(outcome=Answer.NOT_FOUND)
    if job.held_offer_id is None or job.worker_id != worker_id:
        return Answered(outcome=Answer.LOST, job=job)
    if job.state is JobState.IN_PROGRESS:
        return Answered(outcome=Answer.STARTED, job=job)
    done = engine.store.run(engine.tenant, leases.start(actor, job.id, job.held_offer_id, worker_id))
    return Answered(
        outcome=Answer.LOST if isinstance(done, Lost) else Answer.STARTED, job=engine.store.job(engine.tenant, job.id)
    )


def finish(engine: Engine, actor: Actor, job_id: str, worker_id: str) -> Answered:
    """End a job that is the worker's own and in progress."""
    require(actor, "finish")
    job = _own(engine, actor, job_id, worker_id)
    if job is None:
        return Answered(outcome=Answer.NOT_FOUND)
    if job.state is JobState.DONE and job.done_by == worker_id:
        return Answered(outcome=Answer.FINISHED, job=job)
    if job.held_offer_id is None or job.worker_id != worker_id:
        return Answered(outcome=Answer.LOST, job=job)
    done = engine.store.run(engine.tenant, leases.finish(actor, job.id, job.held_offer_id, worker_id))
    return Answered(
        outcome=Answer.LOST if isinstance(done, Lost) else Answer.FINISHED, job=engine.store.job(engine.tenant, job.id)
    )


def offers_of(engine: Engine, worker_id: str) -> tuple[Offer, ...]:
    """The worker's live offer, if any: delivery is by asking, as often as one likes. Marks it as delivered."""
    found = engine.store.offers_of_worker(engine.tenant, worker_id)
    now_ms = engine.store.clock(engine.tenant).now_ms
    live = tuple(each for each in found if each.created_ms <= now_ms < each.expires_ms)
    for each in live:
        if each.delivered_ms is None:
            engine.store.run(engine.tenant, records.deliver(each.id))
    return live


def next_for(engine: Engine, job_id: str) -> Assigned | None:
    """Ask the next candidate for a job that came back open, if the site offers by itself and it is on-demand."""
    job = engine.store.job(engine.tenant, job_id)
    if job is None or job.state not in WAITING or not due_for_offer(engine, job):
        return None
    tenure = engine.tenures.get(job.region)
    return assign(engine, automatic_of(engine, job), job_id, epoch=tenure.epoch if tenure else None)


# --- why not ---------------------------------------------------------------------------------------------------------


def _theirs(actor: Actor, worker_id: str) -> bool:
    """A worker answers for themself; a dispatcher may answer on anybody's behalf."""
    return actor.role is not Role.WORKER or actor.name == worker_id


def _own(engine: Engine, actor: Actor, job_id: str, worker_id: str) -> Job | None:
    job = engine.store.job(engine.tenant, job_id)
    if job is None or not _theirs(actor, worker_id):
        return None
    if actor.role is Role.WORKER and worker_id not in (job.worker_id, job.done_by):
        return None
    return job


def _too_late(engine: Engine, actor: Actor, offer_id: str, worker_id: str) -> Answered:
    """The conditional update won no row: look at what stands, and say why."""
    facts = engine.store.offer(engine.tenant, offer_id)
    if facts is None or facts.offer.worker_id != worker_id:
        return Answered(outcome=Answer.NOT_FOUND)
    if facts.offer.state is OfferState.OFFERED and lapsed(facts):
        freed = engine.store.run(engine.tenant, leases.expire(actor, offer_id))
        then = None if isinstance(freed, Lost) else next_for(engine, freed.job_id)
        return _answered(engine, Answer.EXPIRED, offer_id, then=then)
    return _answered(engine, _standing(facts), offer_id)


def _standing(facts: OfferFacts) -> Answer:
    offer = facts.offer
    if offer.state is OfferState.ACCEPTED:
        return Answer.ALREADY_ACCEPTED if facts.job_held_offer_id == offer.id else Answer.LOST
    if offer.state is OfferState.EXPIRED:
        return Answer.EXPIRED
    if offer.state is OfferState.DECLINED:
        return Answer.DECLINED
    old = offer.epoch < facts.epoch_now or offer.generation < facts.generation_now
    return Answer.FENCED if old else Answer.LOST


def _answered(engine: Engine, outcome: Answer, offer_id: str, then: Assigned | None = None) -> Answered:
    facts = engine.store.offer(engine.tenant, offer_id)
    offer = facts.offer if facts else None
    job = engine.store.job(engine.tenant, offer.job_id) if offer else None
    return Answered(outcome=outcome, job=job, offer=offer, next=then)
