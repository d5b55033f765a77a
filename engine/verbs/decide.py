"""One decision, up to but not including the lease: who is about, who may, how long, who first.

Shared by assign (which then tries to lease), override (which shows what a choice overrules) and why (as of now).
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from engine.ports import Engine, NotFound
from engine.rules.eligibility import Limits, Sifted, sift
from engine.rules.eta import EtaRules, travel
from engine.rules.ledger import Considered, Policy, Stages, Summary
from engine.rules.nouns import Facts, Job, Leg, NoAnswer, Refusal, Seen, Travel, Unreachable
from engine.rules.scoring import legs, rank, timing
from engine.rules.steps import Candidate, Ranked, Refused, Timed
from engine.settings import Settings

NOT_TIMED = "not_timed"
RANKED = "ranked"


def limits_of(settings: Settings) -> Limits:
    slack = settings.slack_capacity
    return Limits(
        fresh_ms=settings.location.fresh_s * 1000,
        cooldown_ms=settings.lease.cooldown_min * 60_000,
        reserve_share=slack.reserve_share,
        reserve_from_idle=slack.reserve_from_idle,
        emergency_priority=slack.emergency_priority,
        eta=eta_rules(settings),
    )


def eta_rules(settings: Settings) -> EtaRules:
    eta = settings.eta
    return EtaRules(
        detour=eta.detour,
        speed_kmh=eta.speed_kmh,
        optimistic_speed_kmh=eta.optimistic_speed_kmh,
        pessimistic_factor=eta.pessimistic_factor,
        band_min=eta.band_min,
        band_early_s=eta.band_early_s,
        band_late_s=eta.band_late_s,
        band_doubt_s=eta.band_doubt_s,
        band_doubt_share=eta.band_doubt_share,
    )


@dataclass(slots=True, kw_only=True)
class Look:
    """A decision in the making: what was seen, what was true, who was left, and how long each stage took (µs).

    ``enough``: how many fresh skilled ones were looked for; ``beyond``: who was not looked at, and where they are."""

    job: Job
    policy: Policy
    facts: Facts
    seen: dict[str, Seen]
    sifted: Sifted
    unlisted: int
    retried: bool = False
    exhausted: bool = True
    enough: int = 0
    beyond: dict[str, str] = field(default_factory=dict[str, str])
    timed: list[Timed] = field(default_factory=list[Timed])
    refused: list[Refused] = field(default_factory=list[Refused])
    learned: list[Leg] = field(default_factory=list[Leg])
    stages: dict[str, int] = field(default_factory=dict[str, int])

    def took(self, stage: str, since_ns: int) -> None:
        self.stages[stage] = self.stages.get(stage, 0) + (time.perf_counter_ns() - since_ns) // 1000


def look(engine: Engine, job_id: str) -> Look:
    """Steps 1–3: who is about, what is true, who may. Widens the search while nobody is eligible and more are about,
    within the time budget; ``exhausted`` says whether everybody was looked at."""
    until_ns = time.perf_counter_ns() + engine.settings.assign.time_budget_ms * 1_000_000
    job = engine.store.job(engine.tenant, job_id)
    if job is None:
        raise NotFound(f"job {job_id}: not found")
    policy = engine.store.policy(engine.tenant)
    enough = engine.settings.assign.enough_candidates
    while True:
        found, skilled = _look_at(engine, job, policy, enough)
        found.exhausted, found.enough = skilled < enough, enough
        if found.sifted.candidates or found.exhausted or time.perf_counter_ns() > until_ns:
            return found
        enough *= 4


def _look_at(engine: Engine, job: Job, policy: Policy, enough: int) -> tuple[Look, int]:
    stages: dict[str, int] = {}
    since = time.perf_counter_ns()
    wide = engine.settings.assign
    near = engine.index.near(
        engine.tenant, job.place, job.skills, enough=enough, max_m=_reach_m(engine, job),
        unskilled_max=wide.unskilled_listed_max, mono_ms=engine.mono_ms(),
    )  # fmt: skip
    seen = {each.worker_id: each for each in (*near.skilled, *near.unskilled)}
    index_ns = time.perf_counter_ns()
    stages["index_us"] = (index_ns - since) // 1000
    facts = engine.store.facts(engine.tenant, job.id, seen)
    if facts is None:
        raise NotFound(f"job {job.id}: not found")
    facts_ns = time.perf_counter_ns()
    stages["facts_us"] = (facts_ns - index_ns) // 1000
    sifted = sift(facts, seen, limits_of(engine.settings), policy)
    stages["filter_us"] = (time.perf_counter_ns() - facts_ns) // 1000
    made = Look(job=facts.job, policy=policy, facts=facts, seen=seen, sifted=sifted, unlisted=near.unskilled_more,
                refused=list(sifted.refused), stages=stages)  # fmt: skip
    fresh_ms = engine.settings.location.fresh_s * 1000
    fresh = sum(1 for each in near.skilled if max(each.device_age_ms, each.receive_age_ms) <= fresh_ms)
    return made, fresh


def _wider(engine: Engine, found: Look) -> tuple[Candidate, ...]:
    """The candidates a wider search adds when everyone nearer failed on real times: nobody eligible is passed over."""
    found.enough *= 4
    more, fresh = _look_at(engine, found.job, found.policy, found.enough)
    found.exhausted = fresh < found.enough
    new = tuple(each for each in more.sifted.candidates if each.worker.id not in found.seen)
    found.refused += [each for each in more.sifted.refused if each.worker_id not in found.seen]
    found.facts = replace(
        found.facts, workers=(*found.facts.workers, *(each for each in more.facts.workers if each.id not in found.seen))
    )
    found.seen |= more.seen
    found.sifted = replace(found.sifted, candidates=found.sifted.candidates + new)
    return new


def _reach_m(engine: Engine, job: Job) -> float:
    """How far the search may go: as far as anyone could come from by due_by, within the setting."""
    now_ms = engine.store.clock(engine.tenant).now_ms
    return min(engine.settings.assign.search_max_m, max(1_000.0, due_reach_m(engine, job, now_ms)))


def due_reach_m(engine: Engine, job: Job, now_ms: int) -> float:
    """How far anyone could come from by due_by at the optimistic speed."""
    return max(0, job.due_by_ms - now_ms) / 3600 * engine.settings.eta.optimistic_speed_kmh


def _retried(engine: Engine, found: Look) -> tuple[Candidate, ...]:
    """Where the list would otherwise be empty, and the site allows it, those inside the cooldown are asked again.

    Empty after real times: a bound that lets somebody pass is no candidate yet."""
    cooled = {each.worker_id for each in found.refused if each.reason is Refusal.COOLDOWN}
    if found.timed or found.retried or not cooled or not engine.settings.lease.cooldown_retry_when_empty:
        return ()
    again = sift(found.facts, found.seen, limits_of(engine.settings), found.policy, allow=frozenset({Refusal.COOLDOWN}))
    new = tuple(each for each in again.candidates if each.worker.id in cooled)
    found.refused = [each for each in found.refused if each.worker_id not in cooled]
    found.refused += [each for each in again.refused if each.worker_id in cooled]
    found.sifted = replace(found.sifted, candidates=found.sifted.candidates + new)
    found.retried = True
    return new


# --- travel times ----------------------------------------------------------------------------------------------------


def batches(engine: Engine, found: Look) -> Iterator[tuple[Ranked, ...]]:
    """Steps 4–5, K candidates at a time, best optimistic score first; after the time budget only memory and stand-ins.

    Everyone eligible is timed before the last batch has been given out, so nobody is passed over."""
    started_ns = time.perf_counter_ns()
    waiting = list(found.sifted.candidates)
    k, budget_ms = engine.settings.assign.k, engine.settings.assign.time_budget_ms
    while True:
        since = time.perf_counter_ns()
        left_ms = budget_ms - (since - started_ns) // 1_000_000
        if not waiting and not found.exhausted and left_ms > 0:
            waiting = list(_wider(engine, found))
            continue
        waiting = waiting or list(_retried(engine, found))
        if not waiting:
            return
        batch, waiting = waiting[:k], waiting[k:]
        timed = _timed(engine, found, batch, min(engine.settings.router.budget_ms, left_ms))
        found.took("road_us", since)
        found.timed.extend(timed)
        ranked = rank(timed, found.job, found.policy)
        if ranked:
            yield ranked


def _timed(engine: Engine, found: Look, batch: Sequence[Candidate], budget_ms: int) -> list[Timed]:
    drives = _drives(engine, found, batch, budget_ms)
    rules = eta_rules(engine.settings)
    timed: list[Timed] = []
    for candidate in batch:
        answer = timing(candidate, found.job, found.facts.now_ms, drives.__getitem__, rules)
        if isinstance(answer, Timed) and engine.settings.router.required and answer.travel.source != "road":
            detail = no_believable_road(answer.travel.source)
            answer = Refused(worker_id=candidate.worker.id, reason=Refusal.NO_ROAD, detail=detail)
        if isinstance(answer, Timed):
            timed.append(answer)
        else:
            found.refused.append(answer)
    return timed


def no_believable_road(source: str) -> str:
    return f"no believable road time ({source}), and this site requires one"


def _drives(engine: Engine, found: Look, batch: Sequence[Candidate], budget_ms: int) -> dict[Leg, Travel | Unreachable]:
    wanted = tuple(dict.fromkeys(leg for each in batch for leg in legs(each, found.job)))
    if budget_ms > 0:
        answers = engine.road.times(wanted, budget_ms=budget_ms)
    else:
        answers = [NoAnswer(reason="budget")] * len(wanted)
    rules = eta_rules(engine.settings)
    found.learned += [leg for leg, answer in zip(wanted, answers, strict=True) if not isinstance(answer, NoAnswer)]
    return {
        leg: travel(answer, engine.road.remembered(leg), leg, rules)
        for leg, answer in zip(wanted, answers, strict=True)
    }


# --- what is kept of it ----------------------------------------------------------------------------------------------


def considered(found: Look, ranked: Iterable[Ranked]) -> tuple[Considered, ...]:
    """Everyone looked at: ranked in order with their terms, then not timed, then refused with their reasons."""
    gone = {each.worker_id for each in found.refused}
    listed = [_ranked(each) for each in ranked if each.timed.candidate.worker.id not in gone]
    done = {each.worker for each in listed} | gone
    for each in found.sifted.candidates:
        if each.worker.id not in done:
            guess = f"would need at least {each.optimistic_s} s; the best by optimistic score were timed first"
            listed.append(Considered(worker=each.worker.id, verdict=NOT_TIMED, detail=guess))
    listed += [Considered(worker=name, verdict=NOT_TIMED, detail=where) for name, where in found.beyond.items()]
    refused = [Considered(worker=each.worker_id, verdict=each.reason, detail=each.detail) for each in found.refused]
    return (*listed, *refused)


def _ranked(each: Ranked) -> Considered:
    timed = each.timed
    return Considered(
        worker=timed.candidate.worker.id,
        verdict=RANKED,
        detail=f"{timed.travel.source}, {timed.candidate.worker.jobs_today} jobs today",
        eta_s=timed.eta_s,
        travel_s=timed.travel.seconds,
        confidence=timed.travel.confidence,
        source=timed.travel.source,
        jobs_today=timed.candidate.worker.jobs_today,
        slack_ms=each.slack_ms,
        score=round(each.score, 4),
        terms=each.terms,
    )


def summary(found: Look, ranked: int, worker: str | None) -> Summary:
    refused: dict[str, int] = {}
    for each in found.refused:
        refused[each.reason] = refused.get(each.reason, 0) + 1
    return Summary(
        policy=found.policy,
        worker=worker,
        refused=dict(sorted(refused.items())),
        ranked=ranked,
        unlisted=found.unlisted,
        retried_in_cooldown=found.retried,
        stages=Stages(**found.stages),
    )
