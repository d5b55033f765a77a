"""The JSON that scripts may rely on, as structs: times RFC 3339 in the site's zone, a unit in every name."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from engine.rules.attempts import Against, Attempt, Overruling
from engine.rules.days import rfc3339
from engine.rules.ledger import Alert, AuditRow, Considered, Decision, Policy, Stages, Terms
from engine.rules.nouns import Offer
from engine.rules.sight import JobSight, has_lapsed
from engine.verbs.assign import Assigned


def at(at_ms: int | None, zone: str) -> str | None:
    return None if at_ms is None else rfc3339(at_ms, zone)


class Span(Struct, frozen=True, kw_only=True):
    """From when to when, half-open."""

    starts: str = field(name="from")
    ends: str = field(name="to")


def span(from_ms: int, to_ms: int, zone: str) -> Span:
    return Span(starts=rfc3339(from_ms, zone), ends=rfc3339(to_ms, zone))


# --- jobs --------------------------------------------------------------------------------------------------------


class JobLine(Struct, frozen=True, kw_only=True):
    """One job of a list. ``slack_min``: due_by − promised arrival, or − now; null once begun or ended."""

    id: str
    ref: str
    state: str
    worker: str | None
    due_by: str
    slack_min: int | None
    priority: int
    type: str
    skills: tuple[str, ...]
    not_before: str
    duration_min: float
    region: str
    offer: str | None
    missed: bool
    lapsed: bool
    address: str


def job_line(job: JobSight, zone: str) -> JobLine:
    return JobLine(
        id=job.id,
        ref=job.id,
        state=job.state,
        worker=job.worker_id,
        due_by=rfc3339(job.due_by_ms, zone),
        slack_min=None if job.slack_ms is None else job.slack_ms // 60_000,
        priority=job.priority,
        type=job.type,
        skills=job.skills,
        not_before=rfc3339(job.not_before_ms, zone),
        duration_min=job.duration_ms / 60_000,
        region=job.region,
        offer=job.offer_id,
        missed=job.missed,
        lapsed=job.lapsed,
        address=job.address,
    )


# --- offers ------------------------------------------------------------------------------------------------------


class OfferDoc(Struct, frozen=True, kw_only=True):
    """``lapsed``: nobody has ended it, though its time is over; it waits for the sweep."""

    id: str
    job: str
    worker: str
    state: str
    created_at: str
    expires_at: str
    eta_s: int
    eta_band: Span
    arrives_at: str
    confidence: str
    epoch: int
    generation: int
    made_by: str
    lapsed: bool


def offer_doc(offer: Offer, zone: str, now_ms: int | None = None) -> OfferDoc:
    """``now_ms``: the database's clock, where the offer may be an old one."""
    promise = offer.promise
    return OfferDoc(
        id=offer.id,
        job=offer.job_id,
        worker=offer.worker_id,
        state=offer.state,
        created_at=rfc3339(offer.created_ms, zone),
        expires_at=rfc3339(offer.expires_ms, zone),
        eta_s=promise.eta_s,
        eta_band=span(promise.band_from_ms, promise.band_to_ms, zone),
        arrives_at=rfc3339(promise.arrival_ms, zone),
        confidence=promise.confidence,
        epoch=offer.epoch,
        generation=offer.generation,
        made_by=offer.made_by,
        lapsed=now_ms is not None and has_lapsed(offer, now_ms),
    )


class OverrulingDoc(Struct, frozen=True, kw_only=True):
    """A person's own choice of worker: who, when, why, and what it went against. ``audit_seq``: its audit row."""

    worker: str
    actor: str
    at: str
    reason: str
    note: str
    overrules: tuple[Against, ...]
    late_min: int
    forced: bool
    audit_seq: int


def overruling_doc(each: Overruling, zone: str) -> OverrulingDoc:
    return OverrulingDoc(
        worker=each.worker_id,
        actor=each.actor,
        at=rfc3339(each.at_ms, zone),
        reason=each.reason,
        note=each.words,
        overrules=each.overruled,
        late_min=-(-each.late_ms // 60_000),
        forced=each.force,
        audit_seq=each.seq,
    )


class AttemptDoc(OfferDoc, frozen=True, kw_only=True):
    """An offer in full. ``ended_by``: who accepted, declined, withdrew or expired it, and in which role; ``worker`` is
    the worker's own answer, another role one on the worker's behalf. ``override``: where a person chose the worker."""

    ended_at: str | None
    ended_by: str | None
    ended_as: str | None
    override: OverrulingDoc | None


def attempt_doc(each: Attempt, zone: str, now_ms: int) -> AttemptDoc:
    plain = offer_doc(each.offer, zone, now_ms)
    return AttemptDoc(
        **{name: getattr(plain, name) for name in OfferDoc.__struct_fields__},
        ended_at=at(each.offer.answered_ms, zone),
        ended_by=each.ended_by,
        ended_as=each.ended_as,
        override=overruling_doc(each.overruling, zone) if each.overruling else None,
    )


# --- decisions ---------------------------------------------------------------------------------------------------


class ConsideredDoc(Struct, frozen=True, kw_only=True):
    """``verdict``: ranked, not_timed, or the reason code of the filter that refused, with its numbers in ``detail``."""

    worker: str
    verdict: str
    detail: str
    eta_s: int | None
    score: float | None
    terms: Terms | None
    travel_s: int | None
    confidence: str | None
    source: str | None
    jobs_today: int | None
    slack_min: float | None


def considered_docs(listed: Iterable[Considered]) -> tuple[ConsideredDoc, ...]:
    return tuple(
        ConsideredDoc(
            worker=each.worker,
            verdict=each.verdict,
            detail=each.detail,
            eta_s=each.eta_s,
            score=each.score,
            terms=each.terms,
            travel_s=each.travel_s,
            confidence=each.confidence,
            source=each.source,
            jobs_today=each.jobs_today,
            slack_min=None if each.slack_ms is None else round(each.slack_ms / 60_000, 2),
        )
        for each in listed
    )


class PolicyDoc(Struct, frozen=True, kw_only=True):
    version: int
    w_eta: float
    w_fair: float
    w_slack: float
    eta_band_min: int


def policy_doc(policy: Policy) -> PolicyDoc:
    return PolicyDoc(version=policy.version, w_eta=policy.w_eta, w_fair=policy.w_fair, w_slack=policy.w_slack,
                     eta_band_min=policy.eta_band_min)  # fmt: skip


class DecisionDoc(Struct, frozen=True, kw_only=True):
    """``considered`` null: its detail was dropped after some days; ``refused`` (counts by reason) stays."""

    id: str
    made_at: str
    outcome: str
    worker: str | None
    policy: PolicyDoc
    ranked: int
    refused: Mapping[str, int]
    unlisted: int
    retried_in_cooldown: bool
    total_us: int
    stages: Stages
    considered: tuple[ConsideredDoc, ...] | None


def decision_doc(decision: Decision, zone: str) -> DecisionDoc:
    summary = decision.summary
    return DecisionDoc(
        id=decision.id,
        made_at=rfc3339(decision.made_ms, zone),
        outcome=decision.outcome,
        worker=summary.worker,
        policy=policy_doc(summary.policy),
        ranked=summary.ranked,
        refused=summary.refused,
        unlisted=summary.unlisted,
        retried_in_cooldown=summary.retried_in_cooldown,
        total_us=decision.total_us,
        stages=summary.stages,
        considered=None if decision.considered is None else considered_docs(decision.considered),
    )


class AssignedDoc(Struct, frozen=True, kw_only=True):
    """``outcome``: offered, standing, alert, no_eligible, not_open (or fenced)."""

    outcome: str
    job: str
    state: str
    offer: OfferDoc | None
    considered: tuple[ConsideredDoc, ...]
    decision: str | None
    alert: str | None


def assigned_doc(made: Assigned, zone: str) -> AssignedDoc:
    return AssignedDoc(
        outcome=made.outcome,
        job=made.job.id,
        state=made.job.state,
        offer=offer_doc(made.offer, zone) if made.offer else None,
        considered=considered_docs(made.considered),
        decision=made.decision_id,
        alert=made.alert_id,
    )


# --- alerts and the record ---------------------------------------------------------------------------------------


class AlertDoc(Struct, frozen=True, kw_only=True):
    id: str
    kind: str
    severity: int
    job: str | None
    worker: str | None
    detail: str
    open: bool
    opened_at: str
    last_at: str
    seen: int
    acked_by: str | None
    owner: str | None
    snoozed_until: str | None
    escalated: int


def alert_doc(alert: Alert, zone: str) -> AlertDoc:
    return AlertDoc(
        id=alert.id,
        kind=alert.kind,
        severity=alert.severity,
        job=alert.job_id,
        worker=alert.worker_id,
        detail=alert.detail,
        open=alert.open,
        opened_at=rfc3339(alert.opened_ms, zone),
        last_at=rfc3339(alert.last_ms, zone),
        seen=alert.seen,
        acked_by=alert.acked_by,
        owner=alert.owner,
        snoozed_until=at(alert.snoozed_until_ms or None, zone),
        escalated=alert.escalated,
    )


class AuditDoc(Struct, frozen=True, kw_only=True):
    seq: int
    at: str
    actor: str
    role: str
    act: str
    job: str | None
    worker: str | None
    offer: str | None
    reason: str
    note: str
    detail: str
    hash: str


def audit_doc(row: AuditRow, zone: str) -> AuditDoc:
    return AuditDoc(
        seq=row.seq,
        at=rfc3339(row.at_ms, zone),
        actor=row.actor,
        role=row.role,
        act=row.act,
        job=row.job_id,
        worker=row.worker_id,
        offer=row.offer_id,
        reason=row.reason,
        note=row.words,
        detail=row.detail,
        hash=row.hash,
    )
