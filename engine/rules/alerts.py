"""Which alerts should stand: pure conditions over what is true now. One alert a cause (SPEC 8)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from engine.rules.nouns import Booking, Job, JobState
from engine.rules.schedule import minutes

NO_SHOW, STALE, DUE_SOON, OFFLINE = "no_show", "stale", "due_soon", "offline"
ROUTER_DOWN, EXPIRY_RATE, STALE_RATE, FAIRNESS = "router_down", "expiry_rate", "stale_fraction", "fairness"
CLOCK_STEPPED, INDEX_REBUILDING, DISK, UNASSIGNED, MISSED = (
    "clock_stepped",
    "index_rebuilding",
    "disk",
    "unassigned",
    "missed",
)

WATCHED_JOB_KINDS = frozenset({NO_SHOW, STALE, DUE_SOON})
WATCHED_SITE_KINDS = frozenset({OFFLINE, ROUTER_DOWN, EXPIRY_RATE, STALE_RATE, FAIRNESS, DISK})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """An alert that should stand. ``severity``: 1 worst … 3."""

    kind: str
    cause: str
    severity: int
    detail: str
    job_id: str | None = None
    worker_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertLimits:
    """See the [alert] settings of the same names."""

    no_show_ms: int
    due_soon_ms: int
    offline_ms: int
    fresh_ms: int
    expiry_rate: float
    router_timeout_rate: float
    stale_rate: float
    rate_from: int
    top_decile_share: float
    expiry_span_min: int = 15
    router_span_min: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """A held job beside its booking. ``contact_age_ms`` None: nothing heard within the index's memory."""

    job: Job
    booking: Booking
    worker_id: str
    contact_age_ms: int | None
    fix_age_ms: int | None


def held(holding: Holding, now_ms: int, limits: AlertLimits) -> Wanted | None:
    """No-show, else stale near its time, else nothing. An accepted job is never cancelled by either.

    The no-show timer starts at the latest departure: silent for so long from then, or not started so long after the
    promised arrival (the window's opening, where that is later)."""
    job, booking = holding.job, holding.booking
    if job.state is not JobState.ACCEPTED:
        return None
    leaves_ms, who = booking.starts_ms - booking.travel_ms, holding.worker_id
    silent = holding.contact_age_ms is None or holding.contact_age_ms >= limits.no_show_ms
    since_ms = now_ms - leaves_ms
    overdue_ms = now_ms - booking.starts_ms
    if silent and since_ms >= limits.no_show_ms:
        detail = f"{who} silent, should have left {minutes(since_ms)} ago"
        return Wanted(kind=NO_SHOW, cause=job.id, severity=1, detail=detail, job_id=job.id, worker_id=who)
    if overdue_ms >= limits.no_show_ms:
        detail = f"{who} has not started, {minutes(overdue_ms)} after the promised arrival"
        return Wanted(kind=NO_SHOW, cause=job.id, severity=1, detail=detail, job_id=job.id, worker_id=who)
    age_ms = holding.fix_age_ms
    if since_ms >= 0 and (age_ms is None or age_ms > limits.fresh_ms):
        seen = "no position" if age_ms is None else f"position {minutes(age_ms)} old"
        return Wanted(kind=STALE, cause=job.id, severity=3, detail=f"{who}: {seen}", job_id=job.id, worker_id=who)
    return None


def due_soon(jobs: Iterable[Job], now_ms: int, limits: AlertLimits) -> Iterator[Wanted]:
    """Open or offered, and due within the limit (an unassigned alert says so already)."""
    for job in jobs:
        left_ms = job.due_by_ms - now_ms
        if job.state in (JobState.OPEN, JobState.OFFERED) and 0 <= left_ms <= limits.due_soon_ms:
            yield Wanted(kind=DUE_SOON, cause=job.id, severity=2, detail=f"due in {minutes(left_ms)}", job_id=job.id)


def offline(worker_id: str, contact_age_ms: int | None, on_shift_ms: int, limits: AlertLimits) -> Wanted | None:
    """On shift for longer than the limit, and nothing heard for as long."""
    quiet_ms = on_shift_ms if contact_age_ms is None else min(contact_age_ms, on_shift_ms)
    if quiet_ms < limits.offline_ms:
        return None
    detail = f"on shift, no contact for {minutes(quiet_ms)}"
    return Wanted(kind=OFFLINE, cause=worker_id, severity=3, detail=detail, worker_id=worker_id)


# --- rates -----------------------------------------------------------------------------------------------------------


def expiry_rate(answered: Mapping[str, int], limits: AlertLimits) -> Wanted | None:
    """Too many of the offers that ended lately (``expiry_span_min``) expired."""
    total, expired = sum(answered.values()), answered.get("EXPIRED", 0)
    if total < limits.rate_from or expired / total <= limits.expiry_rate:
        return None
    detail = f"{expired} of {total} offers expired in {limits.expiry_span_min} min"
    return Wanted(kind=EXPIRY_RATE, cause="offers", severity=2, detail=detail)


def stale_rate(on_shift: int, stale: int, limits: AlertLimits) -> Wanted | None:
    if on_shift < limits.rate_from or stale / on_shift <= limits.stale_rate:
        return None
    detail = f"{stale} of {on_shift} workers on shift are stale"
    return Wanted(kind=STALE_RATE, cause="workers", severity=2, detail=detail)


def router_down(
    breaker: str, calls: int, timeouts: int, failures: int, last_error: str, limits: AlertLimits
) -> Wanted | None:
    """The breaker is not closed, too many calls time out, or too many give no believable answer."""
    if breaker in ("open", "half_open"):
        return Wanted(kind=ROUTER_DOWN, cause="router", severity=2, detail=f"router down: {last_error or 'no answer'}")
    if calls >= limits.rate_from and timeouts / calls > limits.router_timeout_rate:
        detail = f"router slow: {timeouts} of {calls} calls timed out in {limits.router_span_min} min"
        return Wanted(kind=ROUTER_DOWN, cause="router", severity=2, detail=detail)
    if calls >= limits.rate_from and failures / calls > limits.router_timeout_rate:
        detail = (
            f"router unreliable: {failures} of {calls} calls gave no believable time in {limits.router_span_min} min"
        )
        return Wanted(kind=ROUTER_DOWN, cause="router", severity=2, detail=detail)
    return None


def fairness(jobs_by_worker: Iterable[int], limits: AlertLimits) -> Wanted | None:
    share = top_decile_share(jobs_by_worker)
    if share is None or share <= limits.top_decile_share:
        return None
    detail = f"the busiest tenth has {share:.0%} of today's jobs"
    return Wanted(kind=FAIRNESS, cause="today", severity=3, detail=detail)


def index_rebuilding(on_duty: int, hot: int, limits: AlertLimits, *, lost: bool) -> Wanted | None:
    """After a start: fewer than half of those on duty have a position yet. ``lost``: the positions were there once, so
    that a few workers are enough to say so."""
    if hot * 2 >= on_duty or (on_duty < limits.rate_from and not lost):
        return None
    why = "the file of positions was lost" if lost else "positions are old or gone since the last run"
    detail = f"{why}: {hot} of {on_duty} on duty are in the index; candidates are thin until more report"
    return Wanted(kind=INDEX_REBUILDING, cause="index", severity=2, detail=detail)


def top_decile_share(jobs_by_worker: Iterable[int]) -> float | None:
    """The share of all jobs that the busiest tenth of the workers took (at least one worker); None without jobs."""
    counts = sorted(jobs_by_worker, reverse=True)
    total = sum(counts)
    return sum(counts[: max(1, -(-len(counts) // 10))]) / total if total else None


def gini(jobs_by_worker: Iterable[int]) -> float:
    """0: everybody has the same; towards 1: one has all."""
    counts = sorted(jobs_by_worker)
    total, n = sum(counts), len(counts)
    if not total:
        return 0.0
    return (2 * sum(place * count for place, count in enumerate(counts, 1)) / (n * total)) - (n + 1) / n
