"""Shifts, absences, and workers who leave."""

from engine import records
from engine.ports import Engine, Invalid, NotFound, Stale
from engine.program import Lost
from engine.records import Why
from engine.rules.nouns import Actor, Interval, Worker
from engine.verbs.assign import require


def absent(engine: Engine, actor: Actor, worker_id: str, span: Interval, note: str = "") -> tuple[str, tuple[str, ...]]:
    """Note an absence; answers its id and the jobs it touches, from departure to end: accepted ones, which stay until
    somebody moves them, and one on a live offer, which cannot be accepted any more and goes on when it expires."""
    require(actor, "roster")
    _worker(engine, worker_id)
    _sound(span)
    made = engine.store.run(engine.tenant, records.set_absence(actor, worker_id, span, note))
    if isinstance(made, Lost):
        raise Stale(f"worker {worker_id} changed meanwhile; try again")
    return made.id, made.touched


def shift(
    engine: Engine, actor: Actor, worker_id: str, span: Interval, why: Why | None = None
) -> tuple[Worker, tuple[str, ...]]:
    """Give a worker a shift in place of those it overlaps; answers the worker and the jobs, accepted or on a live
    offer, that no shift covers any longer. They stay theirs: shifts may be overruled, so an accept minds none."""
    require(actor, "roster")
    _worker(engine, worker_id)
    _sound(span)
    made = engine.store.run(engine.tenant, records.set_shift(actor, worker_id, span, why))
    if isinstance(made, Lost):
        raise Stale(f"worker {worker_id} changed meanwhile; try again")
    return _worker(engine, worker_id), made.touched


def leave(engine: Engine, actor: Actor, worker_id: str, why: Why | None = None) -> None:
    """Take a worker off the lists; past reports keep them. Refused while an offer or a booking stands."""
    require(actor, "roster")
    worker = _worker(engine, worker_id)
    if isinstance(engine.store.run(engine.tenant, records.archive_worker(actor, worker_id, why)), Lost):
        held = ", ".join(each.job_id for each in worker.bookings) or f"offer {worker.live_offer_id}"
        raise Stale(f"worker {worker_id} still holds {held}; release it first")
    engine.index.dismiss(engine.tenant, worker_id)


def _worker(engine: Engine, worker_id: str) -> Worker:
    worker = engine.store.worker(engine.tenant, worker_id)
    if worker is None:
        raise NotFound(f"worker {worker_id}: not found")
    return worker


def _sound(span: Interval) -> None:
    if span.starts_ms >= span.ends_ms:
        raise Invalid(f"from {span.starts_ms} to {span.ends_ms}: the end has to come after the start")
