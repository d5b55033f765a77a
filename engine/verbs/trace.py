"""A worker's trace, for a supervisor, for one job: time-boxed, counted, and audited before a byte leaves."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from engine import records
from engine.ports import Engine, Forbidden, Invalid, NotFound
from engine.program import Lost
from engine.records import Why
from engine.rules.freshness import LatestFix
from engine.rules.nouns import Actor, Job, Offer, OfferState
from engine.rules.roles import may
from engine.settings import Trace as Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    worker_id: str
    job_id: str
    from_ms: int
    to_ms: int
    audit_seq: int
    points: tuple[LatestFix, ...]


def trace(engine: Engine, actor: Actor, worker_id: str, job_id: str, words: str = "") -> Trace:
    """The archived fixes of a worker around a job they were offered or held. Raises NotFound, Forbidden, Invalid."""
    if not may(actor.role, "trace"):
        _note(engine, actor, "trace refused", worker_id, job_id, words)
        raise Forbidden(f"{actor.role}s may not export traces; a supervisor may")
    job = engine.store.job(engine.tenant, job_id)
    offers = engine.store.offers_of_job(engine.tenant, job_id)
    theirs = [each for each in offers if each.worker_id == worker_id]
    if job is None or not theirs:
        raise NotFound(f"worker {worker_id} had nothing to do with job {job_id}, or neither is known")
    limits = engine.settings.trace
    from_ms, to_ms = _window(job, theirs, limits)
    seq = _note(engine, actor, "trace export", worker_id, job_id, words)
    if seq is None:
        raise Invalid("the export could not be audited, so nothing was exported; try again")
    points = engine.fixes.trace(engine.tenant, worker_id, from_ms, to_ms, limits.points_max)
    return Trace(worker_id=worker_id, job_id=job_id, from_ms=from_ms, to_ms=to_ms, audit_seq=seq, points=tuple(points))


def _window(job: Job, theirs: Sequence[Offer], limits: Limits) -> tuple[int, int]:
    """Some time either side of what they did for the job: from the departure (or the start, if earlier) to the end. An
    offer accepted days ahead says nothing of the days between; one never accepted is about its own seconds alone.
    However long a job was open, promised or forgotten: no export of one worker covers more than ``span_max_h``."""
    around_ms, most_ms = limits.around_min * 60_000, limits.span_max_h * 3_600_000
    held = [each for each in theirs if each.state is OfferState.ACCEPTED]
    if not held:
        last = theirs[-1]
        return last.created_ms - around_ms, (last.answered_ms or last.expires_ms) + around_ms
    offer, mine = held[-1], held[-1].worker_id in (job.worker_id, job.done_by)
    leaves_ms, ends_ms = offer.promise.starts_ms - offer.promise.travel_ms, offer.promise.ends_ms
    if mine and job.started_ms is not None:
        leaves_ms = min(leaves_ms, job.started_ms)
    if mine and job.finished_ms is not None:
        ends_ms = job.finished_ms
    from_ms = min(leaves_ms, ends_ms) - around_ms
    return from_ms, min(ends_ms + around_ms, from_ms + most_ms)


def _note(engine: Engine, actor: Actor, act: str, worker_id: str, job_id: str, words: str) -> int | None:
    """Ids that are not known are kept in the detail, so that asking for them leaves a trail too."""
    detail = msgspec.json.encode({"worker": worker_id, "job": job_id}).decode()
    program = records.audit(actor, act, job_id=job_id, worker_id=worker_id, why=Why(words=words), detail=detail)
    seq = engine.store.run(engine.tenant, program)
    return None if isinstance(seq, Lost) else seq
