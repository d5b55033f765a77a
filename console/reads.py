"""What the screens beside the desk show, read from the engine. Each runs on a thread behind and hands back plain rows.

Imported by that thread, not at the first paint."""

from dataclasses import dataclass, fields

from console.asks import rows_now
from console.viewmodels.audit import AuditEntry, Verdict
from console.viewmodels.handover import SHIFT_MS, Handover, Overruled
from console.viewmodels.settings import InForce, SettingRow
from console.viewmodels.workers import Slot, WorkerRow
from engine.ports import Engine, Forbidden
from engine.rules.ledger import AuditRow
from engine.rules.nouns import Actor, Offer
from engine.rules.roles import may
from engine.rules.sight import WorkerSight
from engine.settings import load
from engine.verbs import board as see

AUDIT_SHOWN = 500
HANDOVER_ROWS = 5_000


def workers(engine: Engine, actor: Actor) -> tuple[WorkerRow, ...]:
    live = {each.id: each for each in see.offers(engine, actor)}
    return tuple(_worker(each, live) for each in see.workers(engine, actor))


def _worker(each: WorkerSight, live: dict[str, Offer]) -> WorkerRow:
    where, shift, offer = each.where, each.shift, live.get(each.offer_id or "")
    slots = (
        Slot(
            job_id=held.job_id,
            starts_ms=held.starts_ms,
            ends_ms=held.ends_ms,
            arrival_ms=held.arrival_ms,
            started=held.started_ms is not None,
        )
        for held in each.bookings
    )
    return WorkerRow(
        id=each.id,
        name=each.name,
        skills=", ".join(each.skills),
        region=each.region,
        moving_to=each.moving_to or "",
        capacity=each.capacity,
        area=each.area or "",
        starts_ms=shift.starts_ms if shift else None,
        ends_ms=shift.ends_ms if shift else None,
        on_shift=each.on_shift,
        absent=each.absent,
        presence=each.presence,
        cell=where.cell if where else "",
        seen_ms=where.position_age_ms if where else None,
        heard_ms=where.contact_age_ms if where else None,
        jobs_today=each.jobs_today,
        offer_id=offer.id if offer else "",
        offer_job=offer.job_id if offer else "",
        offer_from_ms=offer.created_ms if offer else 0,
        offer_until_ms=offer.expires_ms if offer else 0,
        slots=tuple(sorted(slots, key=lambda held: (held.starts_ms, held.job_id))),
    )


# --- audit ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFound:
    """``of``: the one job that was asked for and found, "" otherwise. ``last``: the newest row there is."""

    rows: tuple[AuditEntry, ...]
    of: str
    last: int


def audit(engine: Engine, actor: Actor, job_id: str) -> AuditFound:
    """The newest rows; where the words are a job's or an offer's id, all there ever were of it."""
    _may_see(actor)
    with engine.store.snapshot():
        last = engine.store.audit_head(engine.tenant)
        of = _of_id(engine, job_id) if job_id else ()
        rows = of or engine.store.newest_audit(engine.tenant, limit=AUDIT_SHOWN)
    return AuditFound(rows=tuple(map(_entry, rows)), of=job_id if of else "", last=last)


def _of_id(engine: Engine, ident: str) -> tuple[AuditRow, ...]:
    if of_job := engine.store.audit_of_job(engine.tenant, ident):
        return of_job
    facts = engine.store.offer(engine.tenant, ident.upper())
    rows = engine.store.audit_of_job(engine.tenant, facts.offer.job_id) if facts else ()
    return tuple(each for each in rows if facts is not None and each.offer_id == facts.offer.id)


def verify(engine: Engine, actor: Actor) -> Verdict:
    _may_see(actor)
    found = engine.store.verify_audit(engine.tenant)
    return Verdict(rows=found.rows, head=found.head, first_bad=found.first_bad)


def _may_see(actor: Actor) -> None:
    if not may(actor.role, "board"):
        raise Forbidden(f"{actor.role}s may not see the board")


def _entry(row: AuditRow) -> AuditEntry:
    return AuditEntry(
        seq=row.seq,
        at_ms=row.at_ms,
        actor=row.actor,
        role=row.role,
        act=row.act,
        job_id=row.job_id or "",
        worker_id=row.worker_id or "",
        offer_id=row.offer_id or "",
        reason=row.reason,
        words=row.words,
        detail=row.detail,
        hash=row.hash,
    )


# --- handover ------------------------------------------------------------------------------------------------------


def handover(engine: Engine, actor: Actor) -> Handover:
    board = see.board(engine, actor)
    with engine.store.snapshot():
        jobs, alerts, names = rows_now(engine)
        rows = engine.store.newest_audit(engine.tenant, limit=HANDOVER_ROWS)
    made = (each for each in rows if each.act == "override" and each.at_ms > board.now_ms - SHIFT_MS)
    return Handover(
        site=board.site.name,
        zone=board.site.zone,
        now_ms=board.now_ms,
        actor=actor.name,
        alerts=alerts,
        jobs=jobs,
        slack_ms={each.id: each.slack_ms for each in board.held if each.slack_ms is not None},
        overrides=tuple(
            Overruled(
                at_ms=each.at_ms,
                actor=each.actor,
                job_id=each.job_id or "",
                worker=names.get(each.worker_id or "", each.worker_id or ""),
                reason=each.reason,
                words=each.words,
            )
            for each in made
        ),
        top_decile_share=board.figures.top_decile_share,
        top_decile_limit=engine.settings.alert.top_decile_share,
        on_shift=board.crew.on_shift,
        fresh=board.crew.fresh,
    )


# --- settings ------------------------------------------------------------------------------------------------------


def settings(engine: Engine) -> InForce:
    """Every named setting with the site's value, and the default where they differ."""
    policy, usual = engine.store.policy(engine.tenant), load()
    rows: list[SettingRow] = []
    for section in fields(engine.settings):
        own, default = getattr(engine.settings, section.name), getattr(usual, section.name)
        for each in fields(own):
            value, before = getattr(own, each.name), getattr(default, each.name)
            rows.append(
                SettingRow(
                    section=section.name,
                    name=each.name,
                    value=_value(value),
                    default="" if value == before else _value(before),
                )
            )
    weights = (
        f"ETA {policy.w_eta:g}, fairness {policy.w_fair:g}, slack {policy.w_slack:g}, band {policy.eta_band_min} min"
    )
    return InForce(
        site=engine.site.name,
        tenant=engine.tenant,
        zone=engine.site.zone,
        policy=f"policy {policy.version}: {weights}; set by {policy.set_by or 'nobody'}",
        settings=tuple(rows),
    )


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else '""' if value == "" else str(value)
