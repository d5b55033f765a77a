"""Who may have a job: hard filters, each a boolean with a reason code and its numbers (SPEC 3.2).

A failed filter is absence from the list, never a bad score. Before the router answers, times are an optimistic bound
(great circle at a generous speed); ``timing`` applies the same codes to real travel times.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.rules.eta import EtaRules, optimistic_s
from engine.rules.ledger import Policy
from engine.rules.nouns import Facts, Interval, Job, Refusal, Seen, Worker
from engine.rules.place import inside, parent
from engine.rules.schedule import Gap, Misfit, gaps, minutes, misfit, slot_of, stretches
from engine.rules.steps import Candidate, Refused, Slot

RESERVE_RESOLUTION = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the filters are measured against; see the settings of the same names."""

    fresh_ms: int
    cooldown_ms: int
    reserve_share: float
    reserve_from_idle: int
    emergency_priority: int
    eta: EtaRules


@dataclass(frozen=True, slots=True, kw_only=True)
class Sifted:
    """``candidates`` best optimistic score first; ``refused`` everyone else looked at, with the first failed filter."""

    candidates: tuple[Candidate, ...]
    refused: tuple[Refused, ...]


def sift(
    facts: Facts, seen: Mapping[str, Seen], limits: Limits, policy: Policy, *, allow: frozenset[Refusal] = frozenset()
) -> Sifted:
    """Divide the workers of ``facts``. ``allow``: filters that are not applied (a retry inside the cooldown)."""
    kept = reserve(facts, seen, limits)
    candidates: list[Candidate] = []
    refused: list[Refused] = []
    for worker in facts.workers:
        where = seen.get(worker.id)
        first = next((each for each in against(worker, where, facts, limits, kept) if each.reason not in allow), None)
        if first is not None:
            refused.append(first)
        elif where is not None:
            candidates.append(candidate(worker, where, facts, limits, policy))
    candidates.sort(key=lambda each: (each.optimistic_score, each.worker.jobs_today, each.worker.id))
    return Sifted(candidates=tuple(candidates), refused=tuple(refused))


def against(
    worker: Worker, seen: Seen | None, facts: Facts, limits: Limits, kept: frozenset[str] = frozenset()
) -> Iterator[Refused]:
    """Everything that stands against giving this worker the job, in the order of Refusal; empty = eligible.

    ``kept``: workers held in reserve. The first is the recorded reason; an override shows them all."""
    for found in _standing(worker, seen, facts, limits, kept):
        if found is not None:
            yield Refused(worker_id=worker.id, reason=found.reason, detail=found.detail)


def _standing(
    worker: Worker, seen: Seen | None, facts: Facts, limits: Limits, kept: frozenset[str]
) -> Iterator[Misfit | None]:
    job = facts.job
    yield _skills(worker, job)
    yield _region(worker, job)
    fitting = _fitting(worker, seen, facts, limits)
    yield fitting if isinstance(fitting, Misfit) and fitting.reason in (Refusal.ABSENT, Refusal.OFF_SHIFT) else None
    yield fresh(seen, limits)
    yield _offered(worker, job)
    yield _cooldown(worker, facts, limits)
    yield Misfit(reason=Refusal.RESERVED, detail="kept for emergencies") if worker.id in kept else None
    yield _area(worker, job)
    yield fitting if isinstance(fitting, Misfit) and fitting.reason in (Refusal.OVERLAP, Refusal.LATE) else None


def _skills(worker: Worker, job: Job) -> Misfit | None:
    lacking = job.skills - worker.skills
    return Misfit(reason=Refusal.SKILLS, detail=f"lacks {', '.join(sorted(lacking))}") if lacking else None


def _region(worker: Worker, job: Job) -> Misfit | None:
    if worker.region != job.region:
        return Misfit(reason=Refusal.OTHER_REGION, detail=f"belongs to {worker.region}, the job to {job.region}")
    if worker.moving_to is not None:
        return Misfit(reason=Refusal.OTHER_REGION, detail=f"is being handed to {worker.moving_to}")
    return None


def fresh(seen: Seen | None, limits: Limits) -> Misfit | None:
    """None where both ages are fresh; else what is wrong with the position."""
    if seen is None:
        return Misfit(reason=Refusal.NO_FIX, detail="no position in the last minutes")
    age_ms = max(seen.device_age_ms, seen.receive_age_ms)
    if age_ms <= limits.fresh_ms:
        return None
    return Misfit(reason=Refusal.STALE, detail=f"fix {_age(age_ms)} > {_age(limits.fresh_ms)}")


def _age(age_ms: int) -> str:
    return f"{-(-age_ms // 1000)} s" if age_ms < 120_000 else f"{age_ms // 60_000} min"


def _offered(worker: Worker, job: Job) -> Misfit | None:
    """The offer of this very job is none elsewhere: whoever withdraws it may give the job to the same worker."""
    if worker.live_offer_id in (None, job.live_offer_id):
        return None
    return Misfit(reason=Refusal.OFFERED_ELSEWHERE, detail=f"offer {worker.live_offer_id} stands")


def _cooldown(worker: Worker, facts: Facts, limits: Limits) -> Misfit | None:
    if worker.offered_ms is None:
        return None
    ago_ms = max(0, facts.now_ms - worker.offered_ms)
    if ago_ms >= limits.cooldown_ms:
        return None
    return Misfit(reason=Refusal.COOLDOWN, detail=f"had this job {minutes(ago_ms)} ago < {minutes(limits.cooldown_ms)}")


def _area(worker: Worker, job: Job) -> Misfit | None:
    if worker.area is None or worker.travels or inside(worker.area, job.place):
        return None
    return Misfit(reason=Refusal.OUTSIDE_AREA, detail=f"the job lies outside {worker.area.name}")


# --- the schedule ----------------------------------------------------------------------------------------------------


def _fitting(worker: Worker, seen: Seen | None, facts: Facts, limits: Limits) -> Misfit | Sequence[Slot]:
    """The slots that fit on the optimistic bound, or the one reason why none does: absent, where it would fit else."""
    found = _fit(worker, seen, facts, limits, worker.absences)
    if not worker.absences or not isinstance(found, Misfit) or found.reason is Refusal.ABSENT:
        return found
    if isinstance(_fit(worker, seen, facts, limits, ()), Misfit):
        return found
    return Misfit(reason=Refusal.ABSENT, detail=f"back from an absence, {found.detail}")


def _fit(
    worker: Worker, seen: Seen | None, facts: Facts, limits: Limits, absences: tuple[Interval, ...]
) -> Misfit | Sequence[Slot]:
    here = worker.home if seen is None else seen.place
    speed_kmh = limits.eta.optimistic_speed_kmh
    working = stretches(worker.shifts, absences)
    found: list[Slot] = []
    reason: Misfit | None = None
    for gap in gaps(worker, here, facts.now_ms):
        slots = [slot for stretch in working if (slot := slot_of(gap, stretch)) is not None]
        if not slots:
            reason = reason or _unslotted(worker, gap, facts)
        for slot in slots:
            travel_s = optimistic_s(slot.origin, facts.job.place, speed_kmh=speed_kmh)
            onward_s = optimistic_s(facts.job.place, slot.next_place, speed_kmh=speed_kmh) if slot.next_place else 0
            bad = misfit(slot, facts.job, travel_s, onward_s)
            if bad is None:
                found.append(slot)
            else:
                reason = reason or _explained(bad, gap, facts)
    return tuple(found) if found else reason or Misfit(reason=Refusal.OFF_SHIFT, detail="no shift ahead")


def _unslotted(worker: Worker, gap: Gap, facts: Facts) -> Misfit:
    if gap.after is not None and worker.shifts:
        return _explained(Misfit(reason=Refusal.OVERLAP, detail=""), gap, facts)
    if any(shift.ends_ms > gap.free_ms for shift in worker.shifts):
        return Misfit(reason=Refusal.ABSENT, detail="absent for all that is left of their shift")
    return Misfit(reason=Refusal.OFF_SHIFT, detail="no shift ahead")


def _explained(bad: Misfit, gap: Gap, facts: Facts) -> Misfit:
    """A slot that begins after a booking, or is too short before one, is an overlap with that booking."""
    if gap.after is not None and bad.reason in (Refusal.LATE, Refusal.OFF_SHIFT, Refusal.OVERLAP):
        busy = f"overlaps {gap.after.job_id}, free in {minutes(max(0, gap.free_ms - facts.now_ms))}"
        return Misfit(reason=Refusal.OVERLAP, detail=busy)
    if gap.before is not None and bad.reason is Refusal.OVERLAP:
        return Misfit(reason=Refusal.OVERLAP, detail=f"overlaps {gap.before.job_id}: {bad.detail}")
    return bad


def candidate(worker: Worker, seen: Seen, facts: Facts, limits: Limits, policy: Policy) -> Candidate:
    """An eligible worker with the slots that may serve, and the score that decides who is timed first."""
    fitting = _fitting(worker, seen, facts, limits)
    slots = () if isinstance(fitting, Misfit) else tuple(sorted(fitting, key=lambda each: each.depart_ms))
    origin = slots[0].origin if slots else seen.place
    guess_s = optimistic_s(origin, facts.job.place, speed_kmh=limits.eta.speed_kmh)
    return Candidate(
        worker=worker,
        seen=seen,
        slots=slots,
        optimistic_s=guess_s,
        optimistic_score=policy.w_eta * guess_s / 60 + policy.w_fair * worker.jobs_today,
    )


# --- slack capacity --------------------------------------------------------------------------------------------------


def reserve(facts: Facts, seen: Mapping[str, Seen], limits: Limits) -> frozenset[str]:
    """The idle workers kept for emergencies: of each cell's idle ones a share, rounded up, the busiest of today first.

    Those are whom an ordinary job would choose last, so that fairness loses least. Nobody is kept from an emergency."""
    if facts.job.priority >= limits.emergency_priority or limits.reserve_share == 0:
        return frozenset()
    idle: dict[int, list[Worker]] = defaultdict(list)
    for worker in facts.workers:
        where = seen.get(worker.id)
        if where is not None and fresh(where, limits) is None and is_idle(worker, facts.now_ms):
            idle[parent(where.cell, RESERVE_RESOLUTION)].append(worker)
    return frozenset(_kept(idle.values(), limits))


def is_idle(worker: Worker, now_ms: int) -> bool:
    """On shift, not absent, with nothing booked or offered."""
    here = any(shift.starts_ms <= now_ms < shift.ends_ms for shift in worker.shifts)
    away = any(absence.starts_ms <= now_ms < absence.ends_ms for absence in worker.absences)
    return here and not away and not worker.bookings and worker.live_offer_id is None


def _kept(cells: Iterable[list[Worker]], limits: Limits) -> Iterator[str]:
    for workers in cells:
        if len(workers) >= limits.reserve_from_idle:
            workers.sort(key=lambda each: (-each.jobs_today, each.id), reverse=False)
            yield from (each.id for each in workers[: math.ceil(limits.reserve_share * len(workers))])
