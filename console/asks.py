"""All that the desk asks of the engine. Each function runs on a thread behind the screen and hands back plain rows.

Imported by that thread, not at the first paint: the engine's libraries come in with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from console.viewmodels.reasons import in_words
from console.viewmodels.rows import (
    AlertRow,
    AttemptRow,
    CellRow,
    CellsRow,
    DecisionRow,
    Detail,
    JobRow,
    OfferRow,
    OverrulingRow,
    SiteFacts,
    Snapshot,
)
from engine.ports import Engine
from engine.rules.attempts import Attempt, Overruling
from engine.rules.attempts import attempts as tried
from engine.rules.ledger import Alert, Decision, Region
from engine.rules.nouns import Actor, Job, Offer, OfferState, Role
from engine.verbs import revoke
from engine.verbs.board import completes_at_ms
from engine.verbs.cells import cell_map, job_cell
from engine.verbs.why import Why, why

WHOLE_READ_S = 5.0
ROWS_A_SECOND = 200
"""The whole is read again so seldom that it never costs more than these rows a second: the audit names what changed."""
BUDGET_MS = 600_000
TYPED = " — /"
CHANGES_FOLLOWED = 200
ACTS_LOOKED_AT = 1_000
CELLS_EVERY_S = 1.0
CELLS_SHARE = 50
ROUTER = {"closed": "ok", "open": "DOWN", "half_open": "trying", "none": "none"}


@dataclass(slots=True, kw_only=True)
class Memory:
    """What the reader keeps between two looks, so that an idle desk costs next to nothing."""

    names: dict[str, str] = field(default_factory=dict[str, str])
    jobs: dict[str, JobRow] = field(default_factory=dict[str, JobRow])
    seq: int = -1
    whole_s: float = -1e9
    cells: CellsRow | None = None
    cells_s: float = -1e9
    cells_cost_s: float = 0.0


def look(engine: Engine, memory: Memory, site: SiteFacts, *, job_id: str | None, now_s: float) -> Snapshot:
    """One consistent read. Of the jobs those are read that the audit names as changed; all of them at times."""
    with engine.store.snapshot():
        now_ms = engine.store.clock(engine.tenant).now_ms
        offers = engine.store.live_offers(engine.tenant)
        changed = _changed(engine, memory)
        rest_s = max(WHOLE_READ_S, len(memory.jobs) / ROWS_A_SECOND)
        if changed is None or now_s - memory.whole_s >= rest_s:
            memory.jobs = _rows(engine, memory, engine.store.jobs(engine.tenant), offers)
            memory.whole_s = now_s
        elif changed:
            found = (engine.store.job(engine.tenant, each) for each in sorted(changed))
            fresh = _rows(engine, memory, tuple(each for each in found if each is not None), offers)
            memory.jobs = {**memory.jobs, **fresh}
        alerts = tuple(_alert(each, memory) for each in engine.store.alerts(engine.tenant))
        lately = engine.store.alerts_since(engine.tenant, now_ms - BUDGET_MS)
        regions = engine.store.regions(engine.tenant)
        rounds = _rounds(engine, regions, now_ms)
        _map(engine, memory, site, now_s)
        detail = None if job_id is None else _detail(engine, job_id, memory.names, now_ms)
    return Snapshot(
        read_s=now_s,
        now_ms=now_ms,
        site=site,
        jobs=memory.jobs,
        alerts=alerts,
        alerts_lately=lately,
        offers=tuple(_offer(each, memory.names) for each in offers),
        router=ROUTER.get(engine.road.state().breaker, "?"),
        rounds=rounds,
        p99_us=engine.metrics.quantile_us("decision", 0.99),
        detail=detail,
        names=memory.names,
        cells=memory.cells,
        regions=tuple(each.id for each in regions),
    )


def _map(engine: Engine, memory: Memory, site: SiteFacts, now_s: float) -> None:
    """Draw the map up anew once a second, or less often where that is dear; the row as it was where nothing moved."""
    if now_s - memory.cells_s < max(CELLS_EVERY_S, CELLS_SHARE * memory.cells_cost_s):
        return
    began_ms = engine.mono_ms()
    actor = Actor(name=site.actor, role=Role(site.role), tenant=engine.tenant)
    found = cell_map(engine, actor, ((each.cell, each.state) for each in memory.jobs.values()))
    drawn = CellsRow(
        resolution=found.resolution,
        turn_deg=found.turn_deg,
        unfolded=found.unfolded,
        cells=tuple(
            CellRow(id=each.cell, x=each.x, y=each.y, fresh=each.fresh, stale=each.stale, jobs=each.jobs,
                    alerts=each.alerts)
            for each in found.cells
        ),
    )  # fmt: skip
    memory.cells = memory.cells if memory.cells == drawn else drawn
    memory.cells_s, memory.cells_cost_s = now_s, (engine.mono_ms() - began_ms) / 1000


def rows_now(engine: Engine) -> tuple[tuple[JobRow, ...], tuple[AlertRow, ...], dict[str, str]]:
    """The live jobs, the open alerts and everybody's name, read anew; inside a snapshot of the caller's."""
    memory = Memory()
    offers = engine.store.live_offers(engine.tenant)
    memory.jobs = _rows(engine, memory, engine.store.jobs(engine.tenant, live_only=True), offers)
    alerts = tuple(_alert(each, memory) for each in engine.store.alerts(engine.tenant))
    return tuple(memory.jobs.values()), alerts, memory.names


def _changed(engine: Engine, memory: Memory) -> set[str] | None:
    """The jobs that new audit rows name; None where all must be read (many rows, or one that names no job)."""
    rows = engine.store.audit(engine.tenant, after=memory.seq, limit=CHANGES_FOLLOWED) if memory.seq >= 0 else ()
    if memory.seq < 0 or len(rows) == CHANGES_FOLLOWED:
        newest = engine.store.newest_audit(engine.tenant, limit=1)
        memory.seq = newest[0].seq if newest else 0
        return None
    memory.seq = rows[-1].seq if rows else memory.seq
    named = {each.job_id for each in rows if each.job_id is not None}
    return None if any(each.job_id is None for each in rows) else named


def _rows(engine: Engine, memory: Memory, jobs: tuple[Job, ...], offers: tuple[Offer, ...]) -> dict[str, JobRow]:
    _learn_names(engine, memory, jobs)
    offered = {each.id: each.worker_id for each in offers}
    return {each.id: _kept(memory, _job(each, offered, memory.names)) for each in jobs}


def _kept(memory: Memory, row: JobRow) -> JobRow:
    """The row as it was where nothing changed: then the board need not even compare it."""
    known = memory.jobs.get(row.id)
    return row if known is None or known != row else known


def _learn_names(engine: Engine, memory: Memory, jobs: tuple[Job, ...]) -> None:
    if not memory.names or any(each.worker_id and each.worker_id not in memory.names for each in jobs):
        memory.names.update({each.id: each.name for each in engine.store.workers(engine.tenant)})


def _name(names: Mapping[str, str], worker_id: str | None) -> str:
    return "" if worker_id is None else names.get(worker_id) or worker_id


def _job(job: Job, offered: Mapping[str, str], names: Mapping[str, str]) -> JobRow:
    holder = job.worker_id or job.done_by or offered.get(job.live_offer_id or "")
    return JobRow(
        id=job.id,
        type=job.type,
        skills=", ".join(sorted(job.skills)),
        state=str(job.state),
        priority=job.priority,
        not_before_ms=job.not_before_ms,
        due_by_ms=job.due_by_ms,
        duration_ms=job.duration_ms,
        address=job.address,
        notes=job.notes,
        attachments=job.attachments,
        region=job.region,
        version=job.version,
        worker=_name(names, holder),
        worker_id=holder,
        live_offer_id=job.live_offer_id,
        held_offer_id=job.held_offer_id,
        missed=job.missed,
        cell=job_cell(job),
    )


def _alert(alert: Alert, memory: Memory) -> AlertRow:
    job = memory.jobs.get(alert.job_id or "")
    return AlertRow(
        id=alert.id,
        kind=alert.kind,
        severity=alert.severity,
        job_id=alert.job_id,
        worker=_name(memory.names, alert.worker_id),
        detail=_of_whom(alert, memory),
        opened_ms=alert.opened_ms,
        acked_by=alert.acked_by or "",
        owner=alert.owner or "",
        snoozed_until_ms=alert.snoozed_until_ms,
        escalated=alert.escalated,
        seen=alert.seen,
        due_ms=job.due_by_ms if job else None,
    )


def _of_whom(alert: Alert, memory: Memory) -> str:
    """The details with reasons in words, and the worker whom they begin with by name, as on the board."""
    detail, who = in_words(alert.detail), alert.worker_id
    begins = who is not None and detail.startswith((f"{who} ", f"{who}:"))
    return f"{_name(memory.names, who)}{detail[len(who) :]}" if who is not None and begins else detail


def _offer(offer: Offer, names: Mapping[str, str]) -> OfferRow:
    return OfferRow(
        id=offer.id,
        job_id=offer.job_id,
        worker=_name(names, offer.worker_id),
        created_ms=offer.created_ms,
        expires_ms=offer.expires_ms,
        band_from_ms=offer.promise.band_from_ms,
        band_to_ms=offer.promise.band_to_ms,
        confidence=str(offer.promise.confidence),
    )


def _rounds(engine: Engine, regions: tuple[Region, ...], now_ms: int) -> str:
    """Where the automatic dispatcher runs: here, in another process, or nowhere.

    What this process believes does not count: overtaken, it holds an epoch that is no longer in force."""
    if any(each.id in engine.tenures and engine.tenures[each.id].epoch == each.epoch for each in regions):
        return "here"
    held = [each for each in regions if each.holder and each.lease_until_ms > now_ms]
    return "elsewhere" if held else "nobody"


def _detail(engine: Engine, job_id: str, names: Mapping[str, str], now_ms: int) -> Detail:
    record = engine.store.audit_of_job(engine.tenant, job_id)
    found = tried(engine.store.offers_of_job(engine.tenant, job_id), record)
    attempts = tuple(_attempt(each, names) for each in found)
    made = engine.store.decisions(engine.tenant, job_id, limit=1)
    job = engine.store.job(engine.tenant, job_id)
    return Detail(
        job_id=job_id,
        attempts=attempts,
        decision=_decision(made[0], names) if made else None,
        completes_ms=None if job is None else completes_at_ms(engine, job, now_ms),
    )


def _attempt(each: Attempt, names: Mapping[str, str]) -> AttemptRow:
    offer = each.offer
    return AttemptRow(
        offer=_offer(offer, names),
        state=str(offer.state),
        answered_ms=offer.answered_ms,
        made_by=offer.made_by,
        arrival_ms=offer.promise.arrival_ms,
        ended=_ended(each),
        overruling=None if each.overruling is None else overruling_row(each.overruling, names),
    )


def _ended(each: Attempt) -> str:
    """By whom an offer was answered or taken back; nobody does an expiry."""
    if each.ended_by is None or each.offer.state is OfferState.EXPIRED:
        return ""
    if each.ended_as == Role.WORKER:
        return "by the worker"
    on_behalf = each.offer.state in (OfferState.ACCEPTED, OfferState.DECLINED)
    return f"by {each.ended_by}{' on their behalf' if on_behalf else ''}"


def overruling_row(each: Overruling, names: Mapping[str, str]) -> OverrulingRow:
    return OverrulingRow(
        at_ms=each.at_ms,
        actor=each.actor,
        worker=_name(names, each.worker_id),
        reason=each.reason,
        words=each.words.partition(TYPED)[0],
        overruled=tuple(f"{one.reason.replace('_', ' ')}: {one.detail}" for one in each.overruled),
        late_ms=each.late_ms,
        force=each.force,
    )


def _decision(made: Decision, names: Mapping[str, str]) -> DecisionRow:
    kept = made.summary
    return DecisionRow(
        made_ms=made.made_ms,
        outcome=made.outcome,
        worker=_name(names, kept.worker),
        ranked=kept.ranked,
        refused=tuple(sorted(kept.refused.items(), key=lambda each: (-each[1], each[0]))),
        policy=kept.policy.version,
        total_us=made.total_us,
    )


def is_new(engine: Engine, actor: Actor) -> bool:
    """Whether this operator has done nothing here lately: then the desk says where its tour is."""
    return all(each.actor != actor.name for each in engine.store.newest_audit(engine.tenant, limit=ACTS_LOOKED_AT))


def explain(engine: Engine, job_id: str) -> Why:
    return why(engine, job_id)


def reasons() -> tuple[str, ...]:
    return revoke.REASONS
