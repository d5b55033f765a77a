"""The rounds: what has to be done in time even when nobody asks. APScheduler rings them; replay rings the same ones.

Automatic rounds run under the region's epoch; a dispatcher that was overtaken changes zero rows and stops.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile

from engine import leases, records
from engine.leases import Fence, Tenure
from engine.ports import Engine
from engine.program import Lost, Program, Rows, read
from engine.records import Cause
from engine.rules import alerts as rules
from engine.rules.freshness import LatestFix
from engine.rules.nouns import Actor, Job, Role
from engine.settings import Settings
from engine.verbs import ingest, region
from engine.verbs.answer import next_for
from engine.verbs.assign import Outcome, assign, reasons
from engine.verbs.watch import watch_index, watch_jobs, watch_site

log = logging.getLogger("callboard.rounds")
BATCH = 500
WAITING_MAX = 20_000
DAY_MS = 86_400_000


@dataclass(slots=True, kw_only=True)
class Desk:
    """One process's part in the rounds: its name, what waits for the write-behind, the clocks at the last tick.

    ``opened_ms``: when it began, on the clock that does not jump; ``indexed``: the index has filled since."""

    engine: Engine
    holder: str
    archive: list[LatestFix] = field(default_factory=list[LatestFix])
    unwritten: list[LatestFix] = field(default_factory=list[LatestFix])
    clocks: tuple[int, int, int] | None = None
    resume_at: str | None = None
    seen_seq: int = 0
    opened_ms: int = field(init=False)
    indexed: bool = False

    def __post_init__(self) -> None:
        self.opened_ms = self.engine.mono_ms()


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """``every_s``: from the settings. ``held``: only where this process holds a region."""

    name: str
    ring: Callable[[Desk], int]
    every_s: Callable[[Settings], int]
    held: bool = True


def fence_of(tenure: Tenure) -> Fence:
    return Fence(region=tenure.region, epoch=tenure.epoch)


def automatic(engine: Engine, tenure: Tenure) -> Actor:
    return Actor(name=f"auto:{tenure.region}", role=Role.AUTOMATIC, tenant=engine.tenant)


def renew(desk: Desk) -> int:
    return len(region.renew(desk.engine, desk.holder))


def expire(desk: Desk) -> int:
    """End every offer whose time is up, and ask the next candidate at once. One bad offer never stops the rest."""
    engine, done = desk.engine, 0
    for tenure in list(engine.tenures.values()):
        for offer_id in engine.store.due_offers(engine.tenant, tenure.region, limit=BATCH):
            try:
                done += _expire(engine, tenure, offer_id)
            except Exception:
                log.exception("offer %s could not be expired", offer_id)
    return done


def _expire(engine: Engine, tenure: Tenure, offer_id: str) -> int:
    fence = fence_of(tenure)
    freed = engine.store.run(engine.tenant, leases.expire(automatic(engine, tenure), offer_id, fence))
    if isinstance(freed, Lost):
        return 0
    next_for(engine, freed.job_id)
    return 1


def retry(desk: Desk) -> int:
    """Try every waiting on-demand job again, least slack first, then priority."""
    engine, done = desk.engine, 0
    if not engine.settings.lease.auto_offer:
        return 0
    until = time.monotonic() + engine.settings.assign.retry_s
    for tenure, job in _waiting(desk):
        if time.monotonic() > until:
            desk.resume_at = job.id  # the hopeless many must not starve those behind them
            break
        try:
            made = assign(engine, automatic(engine, tenure), job.id, epoch=tenure.epoch)
            done += made.outcome is Outcome.OFFERED
        except Exception:
            log.exception("job %s could not be tried", job.id)
    return done


def _waiting(desk: Desk) -> list[tuple[Tenure, Job]]:
    """The waiting jobs of the regions held here; first those that the round before had no time for."""
    engine, horizon_ms = desk.engine, desk.engine.settings.assign.on_demand_horizon_min * 60_000
    found = [
        (tenure, job)
        for tenure in list(engine.tenures.values())
        for job in engine.store.waiting_jobs(engine.tenant, tenure.region, horizon_ms=horizon_ms, limit=WAITING_MAX)
    ]
    start = next((n for n, (_, job) in enumerate(found) if job.id == desk.resume_at), 0)
    desk.resume_at = None
    return found[start:] + found[:start]


def miss(desk: Desk) -> int:
    """Say once of each job whose due_by has passed unassigned that it is missed, and why."""
    engine, done = desk.engine, 0
    for tenure in list(engine.tenures.values()):
        for job in engine.store.overdue_jobs(engine.tenant, tenure.region, limit=BATCH):
            cause = Cause(kind=rules.MISSED, cause=job.id, severity=1, detail=_missed(engine, job), job_id=job.id)
            fence = fence_of(tenure)
            said = engine.store.run(engine.tenant, leases.miss(automatic(engine, tenure), fence, job.id, cause))
            done += not isinstance(said, Lost)
    return done


def _missed(engine: Engine, job: Job) -> str:
    """Why, as the first look in vain said it: near due_by everybody is merely late."""
    tried = engine.store.decisions(engine.tenant, job.id, limit=BATCH)
    if not tried:
        return "missed; it was never tried"
    vain = list(takewhile(lambda each: each.outcome != Outcome.OFFERED, tried))
    return f"missed; {reasons(vain[-1].summary.refused) if vain else 'no offer was accepted'}"


def hand_over(desk: Desk) -> int:
    engine = desk.engine
    held = list(engine.tenures.values())
    return sum(region.finish_handoffs(engine, automatic(engine, each), each) for each in held)


def watch(desk: Desk) -> int:
    """Raise the alerts that should stand and clear those whose cause has gone."""
    engine, done = desk.engine, 0
    for tenure in list(engine.tenures.values()):
        actor = automatic(engine, tenure)
        done += watch_jobs(engine, actor, fence_of(tenure))
        done += watch_site(engine, actor, fence_of(tenure))
        if not desk.indexed:
            desk.indexed = watch_index(engine, actor, fence_of(tenure), opened_ms=desk.opened_ms)
        break
    return done


def clock(desk: Desk) -> int:
    """Compare the database's clock with one that does not jump, and that with one that stops while the machine sleeps:
    a step and a sleep are said."""
    engine = desk.engine
    was, now = desk.clocks, _clocks(engine)
    desk.clocks = now
    if was is None:
        return 0
    wall_ms, mono_ms, awake_ms = (each - before for each, before in zip(now, was, strict=True))
    words = {"the clock stepped by": wall_ms - mono_ms, "the machine slept for": mono_ms - awake_ms}
    found = [f"{what} {ms / 1000:+.0f} s" for what, ms in words.items() if abs(ms) >= _limit_ms(engine)]
    if not found:
        return 0
    log.warning(" and ".join(found))
    detail = f"{' and '.join(found)}; live offers of before were expired once"
    cause = Cause(kind=rules.CLOCK_STEPPED, cause="clock", severity=2, detail=detail)
    for tenure in list(engine.tenures.values())[:1]:
        engine.store.run(engine.tenant, records.raise_alert(automatic(engine, tenure), cause, fence_of(tenure)))
    return 1


def _clocks(engine: Engine) -> tuple[int, int, int]:
    """The database's, the one of the ages, and one that stops in sleep (on a training site nothing sleeps)."""
    mono_ms = engine.mono_ms()
    awake_ms = mono_ms if engine.store.training else time.monotonic_ns() // 1_000_000
    return engine.store.clock(engine.tenant).now_ms, mono_ms, awake_ms


def _limit_ms(engine: Engine) -> int:
    return engine.settings.alert.clock_step_s * 1000


def write_behind(desk: Desk) -> int:
    return ingest.write_behind(desk.engine, desk.archive, desk.unwritten)


def catch_up(desk: Desk) -> int:
    before, desk.seen_seq = desk.seen_seq, ingest.catch_up(desk.engine, desk.seen_seq)
    return desk.seen_seq - before


def cool(desk: Desk) -> int:
    """Drop fixes older than the index's memory."""
    return desk.engine.index.expire(mono_ms=desk.engine.mono_ms())


def checkpoint(desk: Desk) -> int:
    desk.engine.store.checkpoint()
    desk.engine.fixes.checkpoint()
    return 1


def retain(desk: Desk) -> int:
    """Let go of what is kept for days only: archived fixes, a decision's location-derived detail, remembered roads."""
    engine = desk.engine
    older_ms = engine.settings.retention.decision_detail_days * DAY_MS
    engine.store.run(engine.tenant, _forget(older_ms))
    now_ms = engine.store.clock(engine.tenant).now_ms
    engine.fixes.drop_before(now_ms - engine.settings.location.archive_days * DAY_MS)
    engine.store.checkpoint()
    engine.fixes.checkpoint()
    return 1


def _forget(older_ms: int) -> Program[Rows]:
    yield read("drop_decision_details", older_ms=older_ms)
    return (yield read("drop_road_memory", older_ms=older_ms))


ROUNDS = (
    Round(name="clock", ring=clock, every_s=lambda settings: settings.rounds.expire_s, held=False),
    Round(name="catch up", ring=catch_up, every_s=lambda settings: settings.rounds.write_behind_s, held=False),
    Round(name="renew", ring=renew, every_s=lambda settings: settings.rounds.renew_s),
    Round(name="expire", ring=expire, every_s=lambda settings: settings.rounds.expire_s),
    Round(name="hand over", ring=hand_over, every_s=lambda settings: settings.rounds.expire_s),
    Round(name="miss", ring=miss, every_s=lambda settings: settings.rounds.alerts_s),
    Round(name="retry", ring=retry, every_s=lambda settings: settings.assign.retry_s),
    Round(name="watch", ring=watch, every_s=lambda settings: settings.rounds.alerts_s),
    Round(name="cool", ring=cool, every_s=lambda settings: settings.rounds.alerts_s, held=False),
    Round(name="write behind", ring=write_behind, every_s=lambda settings: settings.rounds.write_behind_s, held=False),
    Round(name="checkpoint", ring=checkpoint, every_s=lambda settings: settings.rounds.checkpoint_s),
    Round(name="retain", ring=retain, every_s=lambda settings: settings.rounds.retention_s),
)


def sweep(desk: Desk) -> dict[str, int]:
    """Every round once, in order; answers what each did. The caller holds the region."""
    return {each.name: each.ring(desk) for each in ROUNDS}
