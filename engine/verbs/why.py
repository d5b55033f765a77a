"""Why this worker and not that one: the stored decision, the same question as of now, and under other weights."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from engine.ports import Engine, Invalid, NotFound
from engine.rules.attempts import OVERRIDE, Overruling, overruling
from engine.rules.eligibility import against
from engine.rules.ledger import Considered, Decision, Policy
from engine.rules.nouns import WAITING, Job, Seen
from engine.rules.scoring import Entry, order, score, terms
from engine.settings import RANGES
from engine.verbs.decide import NOT_TIMED, RANKED, batches, considered, limits_of, look
from engine.verbs.unplaced import add_unplaced

WEIGHTS = ("w_eta", "w_fair", "w_slack", "eta_band_min")


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """``then``: the newest stored decision; ``now``: the same question asked now (None once the job is not waiting);
    ``replayed``: the stored candidates in the order other weights would give, with those weights; ``overrulings``:
    persons' own choices for this job, the newest first."""

    job: Job
    decisions: tuple[Decision, ...]
    then: Decision | None
    now: tuple[Considered, ...] | None
    replayed: tuple[Considered, ...] | None = None
    weights: Policy | None = None
    overrulings: tuple[Overruling, ...] = ()


def why(engine: Engine, job_id: str, *, weights: Mapping[str, float] | None = None, now: bool = True) -> Why:
    """Explain a job's last decision. Writes nothing. Raises NotFound, Invalid (an unknown weight)."""
    job = engine.store.job(engine.tenant, job_id)
    if job is None:
        raise NotFound(f"job {job_id}: not found")
    decisions = engine.store.decisions(engine.tenant, job_id, limit=20)
    then = next((each for each in decisions if each.outcome == "offered"), decisions[0] if decisions else None)
    other = None
    if weights:
        other = reweighted(then.summary.policy if then else engine.store.policy(engine.tenant), weights)
    replayed = replay(then, other) if then is not None and other is not None else None
    asked = _ask(engine, job_id) if now and job.state in WAITING else None
    return Why(job=job, decisions=decisions, then=then, now=asked, replayed=replayed, weights=other,
               overrulings=_overrulings(engine, job_id))  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNot:
    """One worker and one job. ``then``: what the stored decision said of them (None: not listed in it, or not kept);
    ``now``: everything that stands against them as of now, or how they rank."""

    job: Job
    worker_id: str
    then: Considered | None
    now: tuple[Considered, ...]


def why_not(engine: Engine, job_id: str, worker_id: str) -> WhyNot:
    """Why not Maria, whoever she is and wherever: also where a decision had no room to list her. Writes nothing.

    Raises NotFound."""
    told = why(engine, job_id)
    facts = engine.store.facts(engine.tenant, job_id, [worker_id])
    if facts is None or not facts.workers:
        raise NotFound(f"worker {worker_id}: not found")
    kept = told.then.considered if told.then else None
    then = next((each for each in kept or () if each.worker == worker_id), None)
    listed = next((each for each in told.now or () if each.worker == worker_id), None)
    if listed is not None and listed.verdict in (RANKED, NOT_TIMED):
        return WhyNot(job=told.job, worker_id=worker_id, then=then, now=(listed,))
    where = engine.index.seen(engine.tenant, worker_id, told.job.place, mono_ms=engine.mono_ms())
    standing = [
        Considered(worker=worker_id, verdict=each.reason, detail=each.detail)
        for each in against(facts.workers[0], where, facts, limits_of(engine.settings))
    ] or ([listed] if listed else [_fit(worker_id, where)])
    return WhyNot(job=told.job, worker_id=worker_id, then=then, now=tuple(standing))


def _fit(worker_id: str, where: Seen | None) -> Considered:
    away = f", {where.distance_m / 1000:.1f} km away" if where else ""
    return Considered(worker=worker_id, verdict=NOT_TIMED, detail=f"passes every filter{away}")


def reweighted(policy: Policy, weights: Mapping[str, float]) -> Policy:
    """The policy with some weights changed, each within the range of its setting. Raises Invalid with the rule."""
    for name, value in weights.items():
        if name not in WEIGHTS:
            raise Invalid(f"weight {name}: one of {', '.join(WEIGHTS)} is wanted")
        low, high, unit = RANGES["score"][name]
        whole = name == "eta_band_min"
        if not low <= value <= high or (whole and value != int(value)):
            kind = "a whole number" if whole else "a number"
            raise Invalid(f"{name} = {value:g}: {kind} from {low:g} to {high:g} {unit}".rstrip() + " is wanted")
    known = {each.name for each in fields(Policy)}
    changed = {
        name: int(value) if name == "eta_band_min" else value for name, value in weights.items() if name in known
    }
    return replace(policy, **changed)


def replay(decision: Decision, policy: Policy) -> tuple[Considered, ...] | None:
    """A stored decision's candidates ranked anew; None when its detail has been dropped (after some days)."""
    if decision.considered is None:
        return None
    ranked = {each.worker: each for each in decision.considered if each.verdict == RANKED}
    entries = [
        Entry(
            worker=each.worker,
            travel_s=each.travel_s or 0,
            jobs_today=each.jobs_today or 0,
            slack_ms=each.slack_ms or 0,
        )
        for each in ranked.values()
    ]
    again = [
        replace(ranked[entry.worker], score=round(score(entry, policy), 4), terms=terms(entry, policy))
        for entry in order(entries, policy)
    ]
    return tuple(again + [each for each in decision.considered if each.verdict != RANKED])


def _overrulings(engine: Engine, job_id: str) -> tuple[Overruling, ...]:
    rows = engine.store.audit_of_job(engine.tenant, job_id)
    return tuple(overruling(each) for each in reversed(rows) if each.act == OVERRIDE)


def _ask(engine: Engine, job_id: str) -> tuple[Considered, ...]:
    found = look(engine, job_id)
    first = next(batches(engine, found), ())
    add_unplaced(engine, found, all_reasons=not first)
    return considered(found, first)
