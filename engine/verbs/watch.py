"""Look at the whole site and bring its standing alerts in line with what is true."""

import shutil
from collections.abc import Iterable, Iterator

from engine import records
from engine.ports import Engine
from engine.program import Lost
from engine.records import Cause, Fence
from engine.rules import alerts as rules
from engine.rules.alerts import AlertLimits, Holding, Wanted
from engine.rules.days import local_day
from engine.rules.nouns import Actor, Job, JobState
from engine.settings import Settings


def alert_limits(settings: Settings) -> AlertLimits:
    alert = settings.alert
    return AlertLimits(
        no_show_ms=alert.no_show_min * 60_000,
        due_soon_ms=alert.due_soon_min * 60_000,
        offline_ms=alert.offline_min * 60_000,
        fresh_ms=settings.location.fresh_s * 1000,
        expiry_rate=alert.expiry_rate,
        router_timeout_rate=alert.router_timeout_rate,
        stale_rate=alert.stale_rate,
        rate_from=alert.rate_from,
        top_decile_share=alert.top_decile_share,
        expiry_span_min=alert.expiry_span_min,
        router_span_min=alert.router_span_min,
    )


def watch_jobs(engine: Engine, actor: Actor, fence: Fence) -> int:
    """No-show, stale on an accepted job, due soon: of the whole tenant, since its alerts are cleared alike."""
    limits = alert_limits(engine.settings)
    now_ms = engine.store.clock(engine.tenant).now_ms
    jobs = engine.store.jobs(engine.tenant, live_only=True)
    said = {each.job_id for each in engine.store.alerts(engine.tenant) if each.kind in (rules.UNASSIGNED, rules.MISSED)}
    unsaid = [each for each in jobs if each.id not in said]
    wanted = [*rules.due_soon(unsaid, now_ms, limits), *_held(engine, jobs, now_ms, limits)]
    return align(engine, actor, fence, wanted, rules.WATCHED_JOB_KINDS)


def _held(engine: Engine, jobs: Iterable[Job], now_ms: int, limits: AlertLimits) -> Iterator[Wanted]:
    accepted = {job.id: job for job in jobs if job.state is JobState.ACCEPTED}
    for worker_id, booking in engine.store.bookings(engine.tenant):
        job = accepted.get(booking.job_id)
        if job is None:
            continue
        seen = engine.index.seen(engine.tenant, worker_id, job.place, mono_ms=engine.mono_ms())
        holding = Holding(
            job=job, booking=booking, worker_id=worker_id,
            contact_age_ms=seen.receive_age_ms if seen else None,
            fix_age_ms=max(seen.device_age_ms, seen.receive_age_ms) if seen else None,
        )  # fmt: skip
        found = rules.held(holding, now_ms, limits)
        if found is not None:
            yield found


def watch_site(engine: Engine, actor: Actor, fence: Fence) -> int:
    """Workers offline, rates, the router, fairness, the disk."""
    return align(engine, actor, fence, list(_site(engine)), rules.WATCHED_SITE_KINDS)


def watch_index(engine: Engine, actor: Actor, fence: Fence, *, opened_ms: int) -> bool:
    """Say while the index fills after a start; True once there is no more to say. ``opened_ms``: the engine's start on
    the clock that does not jump. What has not come within the index's memory is not lost but offline."""
    wanted = None
    if engine.mono_ms() - opened_ms < engine.settings.location.hot_s * 1000:
        limits, now_ms = alert_limits(engine.settings), engine.store.clock(engine.tenant).now_ms
        on_duty = engine.store.count_on_duty(engine.tenant, now_ms)
        quiet = engine.index.quiet(engine.tenant, older_ms=limits.offline_ms, mono_ms=engine.mono_ms())
        cold = [worker_id for worker_id, ages in quiet.items() if ages is None]
        hot = on_duty - len(engine.store.on_duty(engine.tenant, now_ms, among=cold))
        lost = engine.fixes.anew and bool(engine.store.offers_answered(engine.tenant, 0))
        wanted = rules.index_rebuilding(on_duty, hot, limits, lost=lost)
    align(engine, actor, fence, [] if wanted is None else [wanted], frozenset({rules.INDEX_REBUILDING}))
    return wanted is None


def _site(engine: Engine) -> Iterator[Wanted]:
    limits = alert_limits(engine.settings)
    now = engine.store.clock(engine.tenant)
    since_ms = now.now_ms - limits.expiry_span_min * 60_000
    found = (
        *_workers(engine, now.now_ms, limits),
        rules.expiry_rate(engine.store.offers_answered(engine.tenant, since_ms), limits),
        _router(engine, limits),
        _fairness(engine, local_day(now.now_ms, now.zone), limits),
        _disk(engine),
    )
    yield from (each for each in found if each is not None)


def _workers(engine: Engine, now_ms: int, limits: AlertLimits) -> Iterator[Wanted | None]:
    """A city of 50,000 is looked at every few seconds: only those who are late with a report are gone through, or
    each look would hold up the decisions beside it."""
    older_ms = min(limits.fresh_ms, limits.offline_ms - 1)
    quiet = engine.index.quiet(engine.tenant, older_ms=older_ms, mono_ms=engine.mono_ms())
    stale = 0
    for worker_id, began_ms in engine.store.on_duty(engine.tenant, now_ms, among=quiet):
        position_ms, contact_ms = quiet[worker_id] or (None, None)
        if contact_ms is None or contact_ms >= limits.offline_ms:
            yield rules.offline(worker_id, contact_ms, now_ms - began_ms, limits)
        stale += position_ms is None or contact_ms is None or max(position_ms, contact_ms) > limits.fresh_ms
    yield rules.stale_rate(engine.store.count_on_duty(engine.tenant, now_ms), stale, limits)


def _router(engine: Engine, limits: AlertLimits) -> Wanted | None:
    state = engine.road.state()
    return rules.router_down(state.breaker, state.calls, state.timeouts, state.failures, state.last_error, limits)


def _fairness(engine: Engine, day: str, limits: AlertLimits) -> Wanted | None:
    """Only once there is as much to share out as a rate needs."""
    today = {worker_id: jobs for worker_id, on, jobs in engine.store.day_counts(engine.tenant, day) if on == day}
    if sum(today.values()) < limits.rate_from:
        return None
    idle = engine.store.headcount(engine.tenant) - len(today)
    counts = [*today.values(), *[0] * max(0, idle)]
    return rules.fairness(counts, limits) if sum(counts) >= limits.rate_from and len(counts) > 1 else None


def _disk(engine: Engine) -> Wanted | None:
    free_mb = shutil.disk_usage(engine.store.path.parent).free // 1_000_000
    if free_mb >= engine.settings.alert.disk_free_mb:
        return None
    return Wanted(kind=rules.DISK, cause="disk", severity=1, detail=f"{free_mb} MB left on the database's disk")


def align(engine: Engine, actor: Actor, fence: Fence, wanted: list[Wanted], kinds: frozenset[str]) -> int:
    """Raise what is wanted and does not stand so; clear what stands of these kinds and is not wanted any more."""
    standing = {(each.kind, each.cause): each for each in engine.store.alerts(engine.tenant) if each.kind in kinds}
    done = 0
    for each in wanted:
        stands = standing.pop((each.kind, each.cause), None)
        if stands is None or stands.detail != each.detail:
            done += _run(engine, actor, fence, each)
    for gone in standing.values():
        engine.store.run(engine.tenant, records.clear_alert(actor, gone.kind, gone.cause, fence))
        done += 1
    return done


def _run(engine: Engine, actor: Actor, fence: Fence, each: Wanted) -> int:
    cause = Cause(kind=each.kind, cause=each.cause, severity=each.severity, detail=each.detail, job_id=each.job_id,
                  worker_id=each.worker_id)  # fmt: skip
    return not isinstance(engine.store.run(engine.tenant, records.raise_alert(actor, cause, fence)), Lost)
