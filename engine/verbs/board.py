"""What the doors show: jobs, workers, offers, alerts and the board, as a role may see them. Writes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.ports import Engine, Forbidden, NotFound, RoadState
from engine.rules.alerts import gini, top_decile_share
from engine.rules.attempts import Attempt, attempts
from engine.rules.days import local_day
from engine.rules.eta import completes_ms
from engine.rules.ledger import Alert, AuditRow, Region, Site
from engine.rules.nouns import HELD, WAITING, Actor, Job, JobState, Offer
from engine.rules.roles import may
from engine.rules.sight import (
    CustomerSight,
    JobSight,
    Whereabouts,
    WorkerSight,
    customer_sight,
    has_lapsed,
    job_sight,
    presence,
    whereabouts,
    worker_sight,
)
from engine.verbs.decide import eta_rules

ALERT_SPAN_MS = 10 * 60_000
ON_SHIFT_MAX = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """Workers on shift now, by what is heard of them."""

    on_shift: int
    fresh: int
    stale: int
    silent: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """SPEC 12, as far as the database tells: offers answered in expiry_span_min, alerts in 10 min, today's fairness."""

    offers_lately: Mapping[str, int]
    alerts_10_min: int
    alert_budget: int
    top_decile_share: float | None
    gini: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """One look at a site. ``waiting``: least slack first, then priority; ``held``: by due_by; ``offers``: the
    live ones; ``lapsed``: those whose time is over, which wait for the sweep."""

    site: Site
    now_ms: int
    training: bool
    counts: Mapping[JobState, int]
    missed: int
    waiting: tuple[JobSight, ...]
    offers: tuple[Offer, ...]
    lapsed: tuple[Offer, ...]
    held: tuple[JobSight, ...]
    alerts: tuple[Alert, ...]
    crew: Crew
    regions: tuple[Region, ...]
    router: RoadState
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFile:
    """Everything kept of one job; ``attempts`` and ``record`` in the order they came. ``completes_ms``: while it is in
    progress, when it will be done (before now: should have been)."""

    job: JobSight
    attempts: tuple[Attempt, ...]
    alerts: tuple[Alert, ...]
    record: tuple[AuditRow, ...]
    now_ms: int
    completes_ms: int | None


def board(engine: Engine, actor: Actor) -> Board:
    """The whole desk in one consistent read. Raises Forbidden."""
    _require(actor)
    with engine.store.snapshot():
        now = engine.store.clock(engine.tenant)
        offered = engine.store.live_offers(engine.tenant)
        live = _sights(engine, engine.store.jobs(engine.tenant, live_only=True), now.now_ms)
        counts, missed = _counts(engine)
        return Board(
            site=engine.site,
            now_ms=now.now_ms,
            training=engine.store.training,
            counts=counts,
            missed=missed,
            waiting=tuple(sorted((each for each in live if each.state in WAITING), key=_urgency)),
            offers=tuple(each for each in offered if not has_lapsed(each, now.now_ms)),
            lapsed=tuple(each for each in offered if has_lapsed(each, now.now_ms)),
            held=tuple(each for each in live if each.state in HELD),
            alerts=engine.store.alerts(engine.tenant),
            crew=_crew(engine, now.now_ms),
            regions=engine.store.regions(engine.tenant),
            router=engine.road.state(),
            figures=_figures(engine, now.now_ms, local_day(now.now_ms, now.zone)),
        )


def jobs(
    engine: Engine, actor: Actor, *, live_only: bool = False, states: frozenset[JobState] = frozenset()
) -> tuple[JobSight, ...]:
    """Jobs by due_by; ``states`` empty: of every state. Raises Forbidden."""
    _require(actor)
    with engine.store.snapshot():
        found = engine.store.jobs(engine.tenant, live_only=live_only)
        wanted = [each for each in found if not states or each.state in states]
        return _sights(engine, wanted, engine.store.clock(engine.tenant).now_ms)


def job(engine: Engine, actor: Actor, job_id: str) -> JobFile:
    """One job with its offers, open alerts and audit rows. Raises NotFound, Forbidden."""
    _require(actor)
    with engine.store.snapshot():
        found = _wanted(engine, job_id)
        now_ms = engine.store.clock(engine.tenant).now_ms
        [sight] = _sights(engine, [found], now_ms)
        record = engine.store.audit_of_job(engine.tenant, job_id)
        return JobFile(
            job=sight,
            attempts=attempts(engine.store.offers_of_job(engine.tenant, job_id), record),
            alerts=tuple(each for each in engine.store.alerts(engine.tenant) if each.job_id == job_id),
            record=record,
            now_ms=now_ms,
            completes_ms=completes_at_ms(engine, found, now_ms),
        )


def completes_at_ms(engine: Engine, job: Job, now_ms: int) -> int | None:
    """When a job in progress will be done, by its duration and its worker's fixes; None where it is not begun."""
    if job.state is not JobState.IN_PROGRESS or job.worker_id is None or job.started_ms is None:
        return None
    place = engine.settings.location
    seen = engine.index.seen(engine.tenant, job.worker_id, job.place, mono_ms=engine.mono_ms())
    fresh = seen is not None and max(seen.device_age_ms, seen.receive_age_ms) <= place.fresh_s * 1000
    return completes_ms(
        started_ms=job.started_ms,
        duration_ms=job.duration_ms,
        now_ms=now_ms,
        away_m=seen.distance_m if seen is not None and fresh else None,
        beside_m=place.coarse_m,
        rules=eta_rules(engine.settings),
    )


def own_job(engine: Engine, job_id: str) -> CustomerSight:
    """What a job's customer may see of it. Raises NotFound."""
    with engine.store.snapshot():
        found = _wanted(engine, job_id)
        facts = engine.store.offer(engine.tenant, found.held_offer_id) if found.held_offer_id else None
        return customer_sight(found, facts.offer.promise if facts else None)


def workers(engine: Engine, actor: Actor) -> tuple[WorkerSight, ...]:
    """Every worker of the site with the cell and ages the index has. Raises Forbidden."""
    _require(actor)
    now_ms = engine.store.clock(engine.tenant).now_ms
    fresh_ms, seen = engine.settings.location.fresh_s * 1000, _seen(engine)
    return tuple(
        worker_sight(each, seen.get(each.id), now_ms=now_ms, fresh_ms=fresh_ms)
        for each in engine.store.workers(engine.tenant)
    )


def offers(engine: Engine, actor: Actor, *, job_id: str | None = None) -> tuple[Offer, ...]:
    """The offers nobody has ended (a reader tells those that have lapsed), or all there ever were on one job.

    Raises NotFound, Forbidden."""
    _require(actor)
    if job_id is None:
        return engine.store.live_offers(engine.tenant)
    return engine.store.offers_of_job(engine.tenant, _wanted(engine, job_id).id)


def alerts(engine: Engine, actor: Actor) -> tuple[Alert, ...]:
    """The open alerts, worst first. Raises Forbidden."""
    _require(actor)
    return engine.store.alerts(engine.tenant)


# --- parts ----------------------------------------------------------------------------------------------------


def _require(actor: Actor) -> None:
    if not may(actor.role, "board"):
        raise Forbidden(f"{actor.role}s may not see the board")


def _wanted(engine: Engine, job_id: str) -> Job:
    found = engine.store.job(engine.tenant, job_id)
    if found is None:
        raise NotFound(f"job {job_id}: not found")
    return found


def _urgency(sight: JobSight) -> tuple[int, int, str]:
    return sight.slack_ms or 0, -sight.priority, sight.id


def _sights(engine: Engine, found: Sequence[Job], now_ms: int) -> tuple[JobSight, ...]:
    offered = {each.job_id: each for each in engine.store.live_offers(engine.tenant)}
    arrivals = {str(row["job_id"]): int(row["arrival_ms"] or 0)
                for row in engine.store.rows(engine.tenant, "list_all_bookings")}  # fmt: skip
    lapsed = {each.job_id for each in offered.values() if has_lapsed(each, now_ms)}
    arrivals |= {each.job_id: each.promise.arrival_ms for each in offered.values()}
    return tuple(
        job_sight(
            each,
            offered_to=offered[each.id].worker_id if each.id in offered else None,
            arrival_ms=None if each.id in lapsed else arrivals.get(each.id),
            now_ms=now_ms,
            lapsed=each.id in lapsed,
        )
        for each in found
    )


def _counts(engine: Engine) -> tuple[dict[JobState, int], int]:
    counts, missed = dict.fromkeys(JobState, 0), 0
    for row in engine.store.rows(engine.tenant, "count_jobs"):
        state, n = JobState(str(row["state"])), int(row["n"] or 0)
        counts[state] += n
        missed += n if row["missed"] and state in WAITING else 0
    return counts, missed


def _seen(engine: Engine) -> dict[str, Whereabouts]:
    """What the hot index has; older than its memory is silence."""
    hot_ms = engine.settings.location.hot_s * 1000
    return {
        worker_id: whereabouts(cell, position_ms, contact_ms)
        for worker_id, cell, position_ms, contact_ms in engine.index.present(engine.tenant, mono_ms=engine.mono_ms())
        if contact_ms <= hot_ms
    }


def _crew(engine: Engine, now_ms: int) -> Crew:
    seen, fresh_ms = _seen(engine), engine.settings.location.fresh_s * 1000
    on_shift = engine.store.on_shift(engine.tenant, now_ms, limit=ON_SHIFT_MAX)
    told = [presence(seen.get(worker_id), fresh_ms=fresh_ms) for worker_id, _ in on_shift]
    return Crew(on_shift=len(told), fresh=told.count("fresh"), stale=told.count("stale"), silent=told.count("silent"))


def _figures(engine: Engine, now_ms: int, day: str) -> Figures:
    today = {worker_id: n for worker_id, on, n in engine.store.day_counts(engine.tenant, day) if on == day}
    counts = [today.get(worker_id, 0) for worker_id, _ in engine.store.enrolled(engine.tenant)]
    return Figures(
        offers_lately=engine.store.offers_answered(
            engine.tenant, now_ms - engine.settings.alert.expiry_span_min * 60_000
        ),
        alerts_10_min=engine.store.alerts_since(engine.tenant, now_ms - ALERT_SPAN_MS),
        alert_budget=engine.settings.alert.budget_per_10_min,
        top_decile_share=top_decile_share(counts),
        gini=gini(counts),
    )
