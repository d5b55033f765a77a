"""The figures of SPEC 12, gathered from the board, this process's metrics and the newest audit rows."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.viewmodels.figures import STAGES, STEP_MIN, STEPS, FiguresRow, Limits, Measured
from engine.metrics import Metrics
from engine.ports import Engine
from engine.rules.days import local_day
from engine.rules.ledger import AuditRow
from engine.rules.nouns import HELD, WAITING, Actor, Job, JobState
from engine.verbs import board as see

STEP_MS = STEP_MIN * 60_000
ROWS_READ = 5_000
HELD_READ = 200
ROUTER = {"closed": "ok", "open": "DOWN", "half_open": "trying"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lately:
    """What the audit of the last two hours tells."""

    histories: Mapping[str, tuple[int, ...]]
    overrides: Mapping[str, int]
    followed: int
    assigned_ms: tuple[int, ...]
    truncated: bool


def figures(engine: Engine, actor: Actor) -> FiguresRow:
    """One look; it reads every job of the site once, so it is asked for now and then only."""
    board = see.board(engine, actor)
    with engine.store.snapshot():
        jobs = engine.store.jobs(engine.tenant)
        rows = engine.store.newest_audit(engine.tenant, limit=ROWS_READ)
        day = local_day(board.now_ms, engine.site.zone)
        today = {worker: n for worker, on, n in engine.store.day_counts(engine.tenant, day) if on == day}
        everyone = [worker for worker, _ in engine.store.enrolled(engine.tenant)]
        busy = {
            worker
            for worker, slot in engine.store.bookings(engine.tenant)
            if slot.starts_ms - slot.travel_ms <= board.now_ms < slot.ends_ms
        }
        duty = {worker for worker, _ in engine.store.on_duty(engine.tenant, board.now_ms)}
        confidence = _confidence(engine, board, jobs)
    due, missed = _missed(jobs, board.now_ms, engine.site.zone)
    seen = lately(rows, jobs, board.now_ms)
    alert, router, took = engine.settings.alert, board.router, sorted(seen.assigned_ms)
    return FiguresRow(
        since_min=STEP_MIN * STEPS,
        here=measured(engine.metrics, engine.mono_ms()),
        counts={str(state): n for state, n in board.counts.items()},
        due_today=due,
        missed_today=missed,
        assign_p50_ms=took[len(took) // 2] if took else None,
        assign_p90_ms=took[min(len(took) - 1, len(took) * 9 // 10)] if took else None,
        offers_lately=board.figures.offers_lately,
        confidence=confidence,
        router=ROUTER.get(router.breaker, router.breaker),
        router_calls=router.calls,
        router_timeouts=router.timeouts,
        router_failures=router.failures,
        on_shift=board.crew.on_shift,
        fresh=board.crew.fresh,
        stale=board.crew.stale,
        silent=board.crew.silent,
        busy=len(busy & duty),
        top_decile_share=board.figures.top_decile_share,
        gini=board.figures.gini,
        jobs_by_worker=tuple(sorted((today.get(each, 0) for each in everyone), reverse=True)),
        alerts_10_min=board.figures.alerts_10_min,
        alert_budget=board.figures.alert_budget,
        overrides=seen.overrides,
        followed=seen.followed,
        histories=seen.histories,
        truncated=seen.truncated,
        limits=Limits(
            expiry_rate=alert.expiry_rate,
            router_timeout_rate=alert.router_timeout_rate,
            stale_rate=alert.stale_rate,
            top_decile_share=alert.top_decile_share,
            rate_from=alert.rate_from,
            expiry_span_min=alert.expiry_span_min,
            router_span_min=alert.router_span_min,
            decision_p99_ms=engine.settings.target.decision_p99_ms,
            availability=engine.settings.target.availability,
        ),
    )


def measured(metrics: Metrics, mono_ms: int) -> Measured:
    counts = metrics.counts()
    return Measured(
        decision_p50_us=metrics.quantile_us("decision", 0.5),
        decision_p99_us=metrics.quantile_us("decision", 0.99),
        decisions=metrics.taken("decision"),
        stages_us={name: took for name in STAGES if (took := metrics.quantile_us(f"stage {name}", 0.5)) is not None},
        asked={
            name: (counts.get(f"{name} asked", 0), counts.get(f"{name} failed", 0)) for name in ("create", "accept")
        },
        fixes={name.removeprefix("fixes "): n for name, n in counts.items() if name.startswith("fixes ")},
        fixes_a_minute=metrics.last_minute("fixes", mono_ms),
        lag_p50_us=metrics.quantile_us("fix lag", 0.5),
        lag_p99_us=metrics.quantile_us("fix lag", 0.99),
    )


PLOTTED = {"create job": "created", "offer": "offered", "accept": "accepted", "expire": "expired", "finish": "finished"}


def lately(rows: Iterable[AuditRow], jobs: Iterable[Job], now_ms: int) -> Lately:
    """Counts of five minutes each, overrides by reason, and how long jobs waited from intake to acceptance."""
    from_ms = now_ms - STEPS * STEP_MS
    created = {each.id: each.created_ms for each in jobs}
    counts = {name: [0] * STEPS for name in (*PLOTTED.values(), "opened")}
    overrides, waited, oldest_ms, n, followed = Counter[str](), dict[str, int](), now_ms, 0, 0
    for row in rows:
        n, oldest_ms = n + 1, min(oldest_ms, row.at_ms)
        if not from_ms < row.at_ms <= now_ms:
            continue
        step = STEPS - 1 - (now_ms - row.at_ms) // STEP_MS
        if (name := _plotted(row.act)) is not None:
            counts[name][step] += 1
        followed += row.act == "offer"
        if row.act.startswith("override"):
            overrides[row.reason or "no reason kept"] += 1
        if row.act == "accept" and row.job_id in created:
            waited[row.job_id] = min(waited.get(row.job_id, row.at_ms), row.at_ms)
    return Lately(
        histories={name: tuple(each) for name, each in counts.items()},
        overrides=dict(overrides),
        followed=followed,
        assigned_ms=tuple(max(0, at_ms - created[job_id]) for job_id, at_ms in waited.items()),
        truncated=n >= ROWS_READ and oldest_ms > from_ms,
    )


def _plotted(act: str) -> str | None:
    if act.startswith("alert ") and act.split()[-1] not in ("ack", "own", "snooze", "escalate", "resolve", "cleared"):
        return "opened"
    return PLOTTED.get(act)


def _missed(jobs: Iterable[Job], now_ms: int, zone: str) -> tuple[int, int]:
    """(due so far today, of them missed): flagged so, begun late, or still wanted."""
    today = local_day(now_ms, zone)
    due = missed = 0
    for job in jobs:
        if job.state is JobState.CANCELLED or job.due_by_ms > now_ms or local_day(job.due_by_ms, zone) != today:
            continue
        due += 1
        late = job.started_ms is not None and job.started_ms > job.due_by_ms
        missed += job.missed or late or job.state in (*WAITING, JobState.OFFERED)
    return due, missed


def _confidence(engine: Engine, board: see.Board, jobs: Iterable[Job]) -> dict[str, int]:
    """Of the offers that stand, live or accepted."""
    found = Counter(str(each.promise.confidence) for each in board.offers)
    held = [each.held_offer_id for each in jobs if each.state in HELD and each.held_offer_id]
    for offer_id in held[:HELD_READ]:
        facts = engine.store.offer(engine.tenant, offer_id)
        if facts is not None:
            found[str(facts.offer.promise.confidence)] += 1
    return dict(found)
