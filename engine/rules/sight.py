"""What a role may see (SPEC 9): nouns in, what may be shown out. No exact place leaves here.

A dispatcher sees a worker's current cell and ages, never coordinates; a customer sees a state and a band of arrival.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.rules.nouns import TERMINAL, Interval, Job, JobState, Offer, OfferState, Promise, Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSight:
    """A job as a desk sees it. ``slack_ms``: due_by − promised arrival, or − now while nobody is promised; None once
    begun or ended. ``lapsed``: its offer's time is over by the database's clock, and the sweep has not come yet."""

    id: str
    type: str
    skills: tuple[str, ...]
    region: str
    state: JobState
    worker_id: str | None
    offer_id: str | None
    not_before_ms: int
    due_by_ms: int
    duration_ms: int
    priority: int
    address: str
    notes: str
    attachments: str
    version: int
    missed: bool
    arrival_ms: int | None
    slack_ms: int | None
    created_ms: int
    started_ms: int | None
    finished_ms: int | None
    lapsed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BookingSight:
    """A booked interval; ``arrival_ms`` as promised."""

    job_id: str
    offer_id: str
    starts_ms: int
    ends_ms: int
    arrival_ms: int
    started_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """What the hot index may tell of one worker: the cell (H3, hexadecimal), ages of the position and the contact."""

    cell: str
    position_age_ms: int
    contact_age_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSight:
    """A worker as a desk sees one. ``presence``: fresh, stale or silent. ``shift``: the present one, else the next."""

    id: str
    name: str
    skills: tuple[str, ...]
    region: str
    moving_to: str | None
    generation: int
    capacity: int
    area: str | None
    shift: Interval | None
    on_shift: bool
    absent: bool
    presence: str
    where: Whereabouts | None
    jobs_today: int
    offer_id: str | None
    bookings: tuple[BookingSight, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerSight:
    """A job as its customer sees it: the state and, where somebody is promised, between when and when they come."""

    id: str
    state: JobState
    band_from_ms: int | None
    band_to_ms: int | None


def whereabouts(cell: int, position_age_ms: int, contact_age_ms: int) -> Whereabouts:
    return Whereabouts(cell=format(cell, "x"), position_age_ms=position_age_ms, contact_age_ms=contact_age_ms)


def presence(where: Whereabouts | None, *, fresh_ms: int) -> str:
    """fresh: may be offered work; stale: seen, but too long ago; silent: not in the index."""
    if where is None:
        return "silent"
    return "fresh" if max(where.position_age_ms, where.contact_age_ms) <= fresh_ms else "stale"


def has_lapsed(offer: Offer, now_ms: int) -> bool:
    """Nobody has ended it yet, though its time is over (or it is "from the future"): it waits for the sweep."""
    return offer.state is OfferState.OFFERED and not offer.created_ms <= now_ms < offer.expires_ms


def job_sight(
    job: Job, *, offered_to: str | None, arrival_ms: int | None, now_ms: int, lapsed: bool = False
) -> JobSight:
    """``offered_to`` and ``arrival_ms``: of the live offer or the booking; ``lapsed``: that offer's time is over."""
    return JobSight(
        id=job.id,
        type=job.type,
        skills=tuple(sorted(job.skills)),
        region=job.region,
        state=job.state,
        worker_id=job.worker_id or job.done_by or offered_to,
        offer_id=job.held_offer_id or job.live_offer_id,
        not_before_ms=job.not_before_ms,
        due_by_ms=job.due_by_ms,
        duration_ms=job.duration_ms,
        priority=job.priority,
        address=job.address,
        notes=job.notes,
        attachments=job.attachments,
        version=job.version,
        missed=job.missed,
        arrival_ms=arrival_ms,
        slack_ms=_slack_ms(job, arrival_ms, now_ms),
        created_ms=job.created_ms,
        started_ms=job.started_ms,
        finished_ms=job.finished_ms,
        lapsed=lapsed,
    )


def _slack_ms(job: Job, arrival_ms: int | None, now_ms: int) -> int | None:
    if job.state in TERMINAL or job.state is JobState.IN_PROGRESS:
        return None
    return job.due_by_ms - (now_ms if arrival_ms is None else arrival_ms)


def worker_sight(worker: Worker, where: Whereabouts | None, *, now_ms: int, fresh_ms: int) -> WorkerSight:
    shift = min((each for each in worker.shifts if each.ends_ms > now_ms), key=_start, default=None)
    return WorkerSight(
        id=worker.id,
        name=worker.name,
        skills=tuple(sorted(worker.skills)),
        region=worker.region,
        moving_to=worker.moving_to,
        generation=worker.generation,
        capacity=worker.capacity,
        area=worker.area.id if worker.area else None,
        shift=shift,
        on_shift=shift is not None and shift.starts_ms <= now_ms,
        absent=_holds(worker.absences, now_ms),
        presence=presence(where, fresh_ms=fresh_ms),
        where=where,
        jobs_today=worker.jobs_today,
        offer_id=worker.live_offer_id,
        bookings=tuple(
            BookingSight(job_id=each.job_id, offer_id=each.offer_id, starts_ms=each.starts_ms, ends_ms=each.ends_ms,
                         arrival_ms=each.arrival_ms, started_ms=each.started_ms)
            for each in worker.bookings
        ),
    )  # fmt: skip


def _start(span: Interval) -> int:
    return span.starts_ms


def _holds(spans: Iterable[Interval], now_ms: int) -> bool:
    return any(each.starts_ms <= now_ms < each.ends_ms for each in spans)


def customer_sight(job: Job, promise: Promise | None) -> CustomerSight:
    """``promise``: of the acceptance that stands; an offer nobody has accepted is no promise to a customer."""
    return CustomerSight(
        id=job.id,
        state=JobState.OPEN if job.state in (JobState.OFFERED, JobState.UNASSIGNED_ALERT) else job.state,
        band_from_ms=promise.band_from_ms if promise else None,
        band_to_ms=promise.band_to_ms if promise else None,
    )
