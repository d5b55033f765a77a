"""Real travel times into an order of offers: the score orders survivors, it never lets anyone in (SPEC 3.3, 3.4)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from engine.rules.eta import MEMORY, ROAD, EtaRules, band, pessimistic_s
from engine.rules.ledger import Policy
from engine.rules.nouns import Confidence, Job, Leg, Promise, Refusal, Travel, Unreachable
from engine.rules.schedule import Misfit, arrival_ms, minutes, misfit, service
from engine.rules.steps import Candidate, Ranked, Refused, Slot, Terms, Timed

NO_ROAD = "no road leads there"
Drives: TypeAlias = Callable[[Leg], Travel | Unreachable]


def legs(candidate: Candidate, job: Job) -> tuple[Leg, ...]:
    """The drives whose times decide this candidate: to the job and, where a booking follows, on to it."""
    wanted: list[Leg] = []
    for slot in candidate.slots:
        wanted.append(Leg(origin=slot.origin, destination=job.place))
        if slot.next_place is not None:
            wanted.append(Leg(origin=job.place, destination=slot.next_place))
    return tuple(dict.fromkeys(wanted))


def timing(candidate: Candidate, job: Job, now_ms: int, drives: Drives, rules: EtaRules) -> Timed | Refused:
    """The feasible slot with the earliest arrival on these times, or the reason why none is left."""
    best: Timed | None = None
    reason: Misfit | None = None
    for slot in candidate.slots:
        found = _in_slot(candidate, slot, job, now_ms, drives, rules)
        if isinstance(found, Misfit):
            reason = reason or found
        elif best is None or found.arrival_ms < best.arrival_ms:
            best = found
    if best is not None:
        return best
    reason = reason or Misfit(reason=Refusal.OFF_SHIFT, detail="no slot")
    return Refused(worker_id=candidate.worker.id, reason=reason.reason, detail=reason.detail)


def _in_slot(
    candidate: Candidate, slot: Slot, job: Job, now_ms: int, drives: Drives, rules: EtaRules
) -> Timed | Misfit:
    travel = drives(Leg(origin=slot.origin, destination=job.place))
    if isinstance(travel, Unreachable):
        return Misfit(reason=Refusal.NO_ROAD, detail=NO_ROAD)
    onward = None
    if slot.next_place is not None:
        onward = drives(Leg(origin=job.place, destination=slot.next_place))
        if isinstance(onward, Unreachable):
            return Misfit(reason=Refusal.OVERLAP, detail="no road leads on to the booking after it")
    bad = misfit(slot, job, travel.seconds, onward.seconds if onward else 0) or _at_worst(
        slot, job, pessimistic_s(travel, rules), pessimistic_s(onward, rules) if onward else 0
    )
    if bad is not None:
        return bad
    arrive_ms = arrival_ms(slot, travel.seconds)
    return Timed(
        candidate=candidate,
        slot=slot,
        travel=travel,
        arrival_ms=arrive_ms,
        eta_s=-(-max(0, arrive_ms - now_ms) // 1000),
    )


def _at_worst(slot: Slot, job: Job, travel_s: int, onward_s: int) -> Misfit | None:
    """What stands against an estimate at its worse end: it has to keep clear of all that the estimate itself does."""
    bad = misfit(slot, job, travel_s, onward_s)
    if bad is None:
        return None
    if bad.reason is Refusal.LATE:
        return Misfit(reason=bad.reason, detail=could_be_late(arrival_ms(slot, travel_s) - job.due_by_ms))
    return Misfit(reason=bad.reason, detail=f"at worst {bad.detail}")


def could_be_late(worst_ms: int) -> str:
    """What stands against an estimate whose worse end misses due_by."""
    return f"could arrive {minutes(worst_ms)} after due_by"


# --- the order -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What of a timed candidate the score needs: enough to rank again under other weights.

    ``travel_s``: the road time of the drive to the job (SPEC's ETA); waiting to be free costs slack, not ETA."""

    worker: str
    travel_s: int
    jobs_today: int
    slack_ms: int


def terms(entry: Entry, policy: Policy) -> Terms:
    return Terms(
        eta=policy.w_eta * entry.travel_s / 60,
        fair=policy.w_fair * entry.jobs_today,
        slack=-policy.w_slack * entry.slack_ms / 60_000,
    )


def score(entry: Entry, policy: Policy) -> float:
    """Points, lower is better."""
    parts = terms(entry, policy)
    return parts.eta + parts.fair + parts.slack


def order(entries: Iterable[Entry], policy: Policy) -> tuple[Entry, ...]:
    """Who is offered first. Of those who arrive within the ETA band of the leader fewer jobs today goes first (not when
    ``w_fair`` is 0); ties by (score, jobs today, worker)."""
    by_score = sorted(entries, key=lambda each: (score(each, policy), each.jobs_today, each.worker))
    if not by_score or policy.w_fair == 0:
        return tuple(by_score)
    least_ms = by_score[0].slack_ms - policy.eta_band_min * 60_000
    near = [each for each in by_score if each.slack_ms >= least_ms]
    near.sort(key=lambda each: each.jobs_today)  # stable: score and id decide among equals
    return tuple(near + [each for each in by_score if each.slack_ms < least_ms])


def entry_of(timed: Timed, job: Job) -> Entry:
    worker = timed.candidate.worker
    return Entry(
        worker=worker.id,
        travel_s=timed.travel.seconds,
        jobs_today=worker.jobs_today,
        slack_ms=job.due_by_ms - timed.arrival_ms,
    )


def rank(timed: Sequence[Timed], job: Job, policy: Policy) -> tuple[Ranked, ...]:
    """The timed candidates in the order offers are tried, each with its score and terms."""
    by_worker = {each.candidate.worker.id: each for each in timed}
    return tuple(
        Ranked(
            timed=by_worker[entry.worker],
            score=score(entry, policy),
            terms=terms(entry, policy),
            slack_ms=entry.slack_ms,
        )
        for entry in order((entry_of(each, job) for each in timed), policy)
    )


def promise(timed: Timed, job: Job, rules: EtaRules, confidence: Confidence | None = None) -> Promise:
    """What an offer to this candidate binds: the interval it books and the band a customer is told."""
    work = service(job, timed.arrival_ms)
    from_s, to_s = band(
        -(-work.starts_ms // 1000),
        eta_s=timed.eta_s,
        confidence=timed.travel.confidence,
        remembered=timed.travel.source in (ROAD, MEMORY),
        fix_age_s=timed.candidate.seen.device_age_ms // 1000,
        rules=rules,
    )
    return Promise(
        lane=timed.slot.lane,
        arrival_ms=timed.arrival_ms,
        travel_ms=timed.travel.seconds * 1000,
        starts_ms=work.starts_ms,
        ends_ms=work.ends_ms,
        eta_s=timed.eta_s,
        band_from_ms=max(from_s * 1000, _mark_before(job.not_before_ms, rules)),
        band_to_ms=to_s * 1000,
        confidence=confidence or timed.travel.confidence,
    )


def _mark_before(at_ms: int, rules: EtaRules) -> int:
    """The band's mark at or before an instant: nobody is told of an arrival before the window opens."""
    step_ms = rules.band_min * 60_000
    return at_ms // step_ms * step_ms
