"""What stands: the board, jobs, workers, offers, one job."""

from collections.abc import Mapping

import click
from msgspec import Struct

from console.cli import show
from console.cli.call import Call, actor, command, opened
from console.cli.tables import alerts_table, attempts_table, jobs_table, offers_table
from console.cli.trouble import OK
from console.cli.wire import (
    AlertDoc,
    AttemptDoc,
    AuditDoc,
    JobLine,
    OfferDoc,
    Span,
    alert_doc,
    at,
    attempt_doc,
    audit_doc,
    job_line,
    offer_doc,
    span,
)
from engine.ports import Engine
from engine.rules.days import rfc3339
from engine.rules.nouns import JobState
from engine.rules.sight import CustomerSight, WorkerSight, has_lapsed
from engine.verbs import board as see
from engine.verbs.answer import offers_of
from engine.verbs.board import Board, JobFile

STATES = [each.value for each in JobState]


class RegionDoc(Struct, frozen=True, kw_only=True):
    id: str
    epoch: int
    holder: str | None


class CrewDoc(Struct, frozen=True, kw_only=True):
    on_shift: int
    fresh: int
    stale: int
    silent: int


class FiguresDoc(Struct, frozen=True, kw_only=True):
    offers_lately: Mapping[str, int]
    alerts_10_min: int
    alert_budget: int
    top_decile_share: float | None
    gini: float


class BoardDoc(Struct, frozen=True, kw_only=True):
    site: str
    tenant: str
    zone: str
    training: bool
    now: str
    jobs: Mapping[str, int]
    missed: int
    waiting: tuple[JobLine, ...]
    offers: tuple[OfferDoc, ...]
    lapsed: tuple[OfferDoc, ...]
    held: tuple[JobLine, ...]
    alerts: tuple[AlertDoc, ...]
    workers: CrewDoc
    regions: tuple[RegionDoc, ...]
    router: str
    figures: FiguresDoc


@command("board", "board --db site.db")
def board(call: Call) -> int:
    """The desk at one look: alerts, waiting jobs by slack, live offers, held jobs."""
    with opened(call, writing=False) as engine:
        found = see.board(engine, actor(engine, None))
    if call.as_json:
        show.document(_board_doc(found))
    else:
        _show_board(found)
    return OK


def _board_doc(found: Board) -> BoardDoc:
    zone, crew, figures = found.site.zone, found.crew, found.figures
    return BoardDoc(
        site=found.site.name,
        tenant=found.site.tenant,
        zone=zone,
        training=found.training,
        now=rfc3339(found.now_ms, zone),
        jobs={state.value: n for state, n in found.counts.items()},
        missed=found.missed,
        waiting=tuple(job_line(each, zone) for each in found.waiting),
        offers=tuple(offer_doc(each, zone, found.now_ms) for each in found.offers),
        lapsed=tuple(offer_doc(each, zone, found.now_ms) for each in found.lapsed),
        held=tuple(job_line(each, zone) for each in found.held),
        alerts=tuple(alert_doc(each, zone) for each in found.alerts),
        workers=CrewDoc(on_shift=crew.on_shift, fresh=crew.fresh, stale=crew.stale, silent=crew.silent),
        regions=tuple(RegionDoc(id=each.id, epoch=each.epoch, holder=each.holder) for each in found.regions),
        router=found.router.breaker,
        figures=FiguresDoc(
            offers_lately=figures.offers_lately, alerts_10_min=figures.alerts_10_min,
            alert_budget=figures.alert_budget, top_decile_share=figures.top_decile_share, gini=round(figures.gini, 4),
        ),
    )  # fmt: skip


def _show_board(found: Board) -> None:
    zone, crew, figures = found.site.zone, found.crew, found.figures
    show.line(f"{found.site.name} · {show.when(found.now_ms, zone, seconds=True)} {zone}"
              f"{' · training' if found.training else ''}")  # fmt: skip
    counts = ", ".join(f"{n} {state}" for state, n in found.counts.items() if n) or "none"
    show.line(f"jobs: {counts}{f', {found.missed} missed' if found.missed else ''}")
    show.line(f"workers on shift: {crew.on_shift} ({crew.fresh} fresh, {crew.stale} stale, {crew.silent} silent); "
              f"router: {found.router.breaker}")  # fmt: skip
    for each in found.regions:
        show.line(
            f"region {each.id}: epoch {each.epoch}, {f'held by {each.holder}' if each.holder else 'nobody dispatches'}"
        )
    answered = ", ".join(f"{n} {state}" for state, n in figures.offers_lately.items()) or "none"
    show.line(f"offers answered lately: {answered}; alerts in 10 min: {figures.alerts_10_min} "
              f"(budget {figures.alert_budget})")  # fmt: skip
    alerts_table("alerts", found.alerts, zone, found.now_ms)
    jobs_table("waiting", found.waiting, zone)
    offers_table("live offers", found.offers, zone, found.now_ms)
    if found.lapsed:
        offers_table(f"{len(found.lapsed)} lapsed, waiting for the sweep", found.lapsed, zone, found.now_ms)
    jobs_table("held", found.held, zone)


@command("jobs", "jobs --live --db site.db\njobs --state OPEN --state UNASSIGNED_ALERT --json --db site.db")
@click.option("--live", is_flag=True, help="Leave out what is done or cancelled.")
@click.option("--state", "states", type=click.Choice(STATES, case_sensitive=False), multiple=True,
              help="Jobs in this state alone. Repeatable.")  # fmt: skip
def jobs(call: Call, live: bool, states: tuple[str, ...]) -> int:
    """List jobs by due_by."""
    with opened(call, writing=False) as engine:
        wanted = frozenset(JobState(each) for each in states)
        found, zone = see.jobs(engine, actor(engine, None), live_only=live, states=wanted), engine.site.zone
    if call.as_json:
        show.document([job_line(each, zone) for each in found])
    else:
        jobs_table(f"{len(found)} jobs", found, zone)
    return OK


# --- one job -----------------------------------------------------------------------------------------------------


class JobDoc(Struct, frozen=True, kw_only=True):
    job: JobLine
    notes: str
    attachments: str
    version: int
    created_at: str
    started_at: str | None
    finished_at: str | None
    arrives_at: str | None
    completes_at: str | None
    offers: tuple[AttemptDoc, ...]
    alerts: tuple[AlertDoc, ...]
    record: tuple[AuditDoc, ...]


class CustomerDoc(Struct, frozen=True, kw_only=True):
    id: str
    state: str
    eta_band: Span | None


@command("job", "job J-17 --db site.db\njob J-17 --role customer --json --db site.db")
@click.argument("job_id", metavar="JOB")
@click.option("--role", type=click.Choice(["dispatcher", "supervisor", "customer"]), default="dispatcher",
              show_default=True, help="A customer sees the state and the band of arrival, nothing else.")  # fmt: skip
def job(call: Call, job_id: str, role: str) -> int:
    """Everything kept of one job: its offers, alerts and audit rows."""
    with opened(call, writing=False) as engine:
        zone = engine.site.zone
        if role == "customer":
            _show_own(call, see.own_job(engine, job_id), zone)
            return OK
        found = see.job(engine, actor(engine, None, role), job_id)
    if call.as_json:
        show.document(_job_doc(found, zone))
    else:
        _show_job(found, zone)
    return OK


def _show_own(call: Call, own: CustomerSight, zone: str) -> None:
    band = None
    if own.band_from_ms is not None and own.band_to_ms is not None:
        band = span(own.band_from_ms, own.band_to_ms, zone)
    if call.as_json:
        show.document(CustomerDoc(id=own.id, state=own.state, eta_band=band))
        return
    comes = f", arrival {show.when(own.band_from_ms, zone)}–{show.hour(own.band_to_ms, zone)} {zone}" if band else ""
    show.line(f"{own.id}: {own.state}{comes}")


def _job_doc(found: JobFile, zone: str) -> JobDoc:
    job = found.job
    return JobDoc(
        job=job_line(job, zone),
        notes=job.notes,
        attachments=job.attachments,
        version=job.version,
        created_at=rfc3339(job.created_ms, zone),
        started_at=at(job.started_ms, zone),
        finished_at=at(job.finished_ms, zone),
        arrives_at=at(job.arrival_ms, zone),
        completes_at=at(found.completes_ms, zone),
        offers=tuple(attempt_doc(each, zone, found.now_ms) for each in found.attempts),
        alerts=tuple(alert_doc(each, zone) for each in found.alerts),
        record=tuple(audit_doc(each, zone) for each in found.record),
    )


def _show_job(found: JobFile, zone: str) -> None:
    jobs_table(f"job {found.job.id}", [found.job], zone)
    if found.job.notes:
        show.line(f"notes: {found.job.notes}")
    if found.job.attachments not in ("", "{}"):
        show.line(f"attached: {found.job.attachments}")
    if found.completes_ms is not None:
        word = "to be complete" if found.completes_ms >= found.now_ms else "should have been complete"
        show.line(f"{word} at {show.when(found.completes_ms, zone)}")
    attempts_table("offers", found.attempts, zone, found.now_ms)
    alerts_table("open alerts", found.alerts, zone, found.now_ms)
    rows = [(each.seq, show.when(each.at_ms, zone, seconds=True), each.actor, each.act, each.worker_id, each.offer_id,
             each.reason, each.words) for each in found.record]  # fmt: skip
    show.table(f"record · times in {zone}", ("seq>", "at", "actor", "act", "worker", "offer", "reason", "note"), rows)


# --- workers and offers ------------------------------------------------------------------------------------------


class BookingDoc(Struct, frozen=True, kw_only=True):
    job: str
    offer: str
    arrives_at: str
    booked: Span


class WorkerDoc(Struct, frozen=True, kw_only=True):
    """``cell``: where they are, to an H3 cell; null, as the ages are, where nothing was heard lately."""

    id: str
    name: str
    skills: tuple[str, ...]
    region: str
    moving_to: str | None
    generation: int
    capacity: int
    area: str | None
    shift: Span | None
    on_shift: bool
    absent: bool
    presence: str
    cell: str | None
    position_age_s: int | None
    contact_age_s: int | None
    jobs_today: int
    offer: str | None
    offer_lapsed: bool
    bookings: tuple[BookingDoc, ...]


@command("workers", "workers --on-shift --db site.db")
@click.option("--on-shift", is_flag=True, help="Leave out those who are off shift now.")
def workers(call: Call, on_shift: bool) -> int:
    """List workers: shift, presence, cell (never a position), jobs today, bookings."""
    with opened(call, writing=False) as engine:
        found, zone = see.workers(engine, actor(engine, None)), engine.site.zone
        now_ms, live = _now_ms(engine), see.offers(engine, actor(engine, None))
    over = {each.id for each in live if has_lapsed(each, now_ms)}
    listed = [each for each in found if each.on_shift or not on_shift]
    if call.as_json:
        show.document([_worker_doc(each, zone, lapsed=each.offer_id in over) for each in listed])
        return OK
    columns = ("worker", "name", "skills", "region", "shift", "presence", "cell", "age>", "today>", "offer", "booked")
    rows = [_worker_row(each, zone, lapsed=each.offer_id in over) for each in listed]
    show.table(f"{len(listed)} workers · times in {zone}", columns, rows)
    return OK


def _worker_doc(each: WorkerSight, zone: str, *, lapsed: bool) -> WorkerDoc:
    where = each.where
    return WorkerDoc(
        id=each.id,
        name=each.name,
        skills=each.skills,
        region=each.region,
        moving_to=each.moving_to,
        generation=each.generation,
        capacity=each.capacity,
        area=each.area,
        shift=span(each.shift.starts_ms, each.shift.ends_ms, zone) if each.shift else None,
        on_shift=each.on_shift,
        absent=each.absent,
        presence=each.presence,
        cell=where.cell if where else None,
        position_age_s=where.position_age_ms // 1000 if where else None,
        contact_age_s=where.contact_age_ms // 1000 if where else None,
        jobs_today=each.jobs_today,
        offer=each.offer_id,
        offer_lapsed=lapsed,
        bookings=tuple(
            BookingDoc(job=held.job_id, offer=held.offer_id, arrives_at=rfc3339(held.arrival_ms, zone),
                       booked=span(held.starts_ms, held.ends_ms, zone))
            for held in each.bookings
        ),
    )  # fmt: skip


def _worker_row(each: WorkerSight, zone: str, *, lapsed: bool) -> tuple[object, ...]:
    shift = f"{show.when(each.shift.starts_ms, zone)}–{show.hour(each.shift.ends_ms, zone)}" if each.shift else "none"
    presence = "absent" if each.absent else each.presence if each.on_shift else "off shift"
    booked = ", ".join(f"{held.job_id} {show.hour(held.starts_ms, zone)}" for held in each.bookings)
    where, offer = each.where, f"{each.offer_id}{' lapsed' if lapsed else ''}" if each.offer_id else ""
    return (each.id, each.name, " ".join(each.skills), each.region, shift, presence, where.cell if where else "",
            show.age(where.position_age_ms) if where else "", each.jobs_today, offer, booked)  # fmt: skip


@command("offers", "offers --db site.db\noffers --job J-17 --json --db site.db\noffers --as c3 --db site.db")
@click.option("--job", "job_id", metavar="JOB", help="All offers there ever were on this job.")
@click.option("--as", "worker", metavar="WORKER", help="What this worker is offered now; it counts as delivered.")
def offers(call: Call, job_id: str | None, worker: str | None) -> int:
    """List the live offers."""
    if job_id is not None and worker is not None:
        raise click.UsageError("--job or --as, not both")
    with opened(call, writing=worker is not None) as engine:
        zone, now_ms = engine.site.zone, _now_ms(engine)
        if job_id is not None:
            return _show_attempts(call, see.job(engine, actor(engine, None), job_id), zone)
        found = see.offers(engine, actor(engine, None)) if worker is None else offers_of(engine, worker)
    if call.as_json:
        show.document([offer_doc(each, zone, now_ms) for each in found])
        return OK
    offers_table("live offers", [each for each in found if not has_lapsed(each, now_ms)], zone, now_ms)
    if over := [each for each in found if has_lapsed(each, now_ms)]:
        offers_table(f"{len(over)} lapsed, waiting for the sweep", over, zone, now_ms)
    return OK


def _show_attempts(call: Call, found: JobFile, zone: str) -> int:
    if call.as_json:
        show.document([attempt_doc(each, zone, found.now_ms) for each in found.attempts])
    else:
        attempts_table(f"offers of {found.job.id}", found.attempts, zone, found.now_ms)
    return OK


def _now_ms(engine: Engine) -> int:
    return engine.store.clock(engine.tenant).now_ms


COMMANDS = {"board": board, "jobs": jobs, "workers": workers, "offers": offers, "job": job}
