"""Whom an override may choose, and what a choice would overrule. Runs on a thread behind the screen."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.ports import CallboardError, Engine, Forbidden
from engine.rules.ledger import Considered
from engine.rules.nouns import Actor, Job
from engine.verbs import override as overriding
from engine.verbs.assign import add_unplaced
from engine.verbs.decide import batches, considered
from engine.verbs.decide import look as look_around
from engine.verbs.why import why


@dataclass(frozen=True, slots=True, kw_only=True)
class Choosable:
    """One worker in the override list. ``barred``: why nobody may give this worker the job; "" where one may."""

    worker_id: str
    name: str
    rank: int | None
    verdict: str
    detail: str
    barred: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What an override dialog is opened on: the job's ``state`` and ``version`` as seen, ranked first, then refused.
    ``standing``: who has a live offer on it, which an override withdraws."""

    job_id: str
    state: str
    version: int
    due_by_ms: int
    workers: tuple[Choosable, ...]
    standing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What a choice would overrule, and by how much due_by would be missed; or why it is barred."""

    overrules: tuple[str, ...]
    late_ms: int
    barred: str


def choices(engine: Engine, job_id: str) -> Choices:
    """Everyone: in the decision's own order and words, then those it did not look at."""
    told = why(engine, job_id)
    everyone = engine.store.workers(engine.tenant)
    names = {each.id: each.name for each in everyone}
    asked = told.now
    if asked is None and told.job.live_offer_id is not None:
        found = look_around(engine, job_id)
        first = next(batches(engine, found), ())
        add_unplaced(engine, found, all_reasons=not first)
        asked = considered(found, first)
    listed = [_choosable(at, each, names) for at, each in enumerate(asked or (), start=1)]
    offer = engine.store.offer(engine.tenant, told.job.live_offer_id) if told.job.live_offer_id else None
    met = {each.worker_id for each in listed}
    others = [
        Choosable(worker_id=each.id, name=each.name, rank=None, verdict="not looked at",
                  detail="no position, or too far for due_by", barred=_lacks(told.job, each.skills))
        for each in everyone if each.id not in met
    ]  # fmt: skip
    ordered = sorted([*listed, *others], key=lambda each: (each.rank is None, bool(each.barred)))
    return Choices(
        job_id=job_id,
        state=str(told.job.state),
        version=told.job.version,
        due_by_ms=told.job.due_by_ms,
        workers=tuple(ordered),
        standing=(names.get(offer.offer.worker_id) or offer.offer.worker_id) if offer else "",
    )


def _lacks(job: Job, skills: frozenset[str]) -> str:
    missing = sorted(job.skills - skills)
    return f"skills: lacks {', '.join(missing)}" if missing else ""


def _choosable(at: int, each: Considered, names: Mapping[str, str]) -> Choosable:
    ranked = each.verdict == "ranked"
    may = ranked or each.verdict in ("not_timed", *overriding.OVERRULABLE)
    detail = f"ETA {-(-(each.eta_s or 0) // 60)} min, score {each.score:.1f}" if ranked else each.detail
    return Choosable(
        worker_id=each.worker,
        name=names.get(each.worker) or each.worker,
        rank=at if ranked else None,
        verdict="ranked" if ranked else each.verdict,
        detail=detail,
        barred="" if may else f"{each.verdict.replace('_', ' ')}: {each.detail}",
    )


def preview(engine: Engine, actor: Actor, job_id: str, worker_id: str) -> Preview:
    job = engine.store.job(engine.tenant, job_id)
    if job is None:
        return Preview(overrules=(), late_ms=0, barred=f"job {job_id} is no longer there")
    try:
        chosen = overriding.choose(engine, actor, job, worker_id)
    except (Forbidden, CallboardError) as refused:
        return Preview(overrules=(), late_ms=0, barred=str(refused))
    return Preview(
        overrules=tuple(f"{each.reason.replace('_', ' ')}: {each.detail}" for each in chosen.overrules),
        late_ms=chosen.late_ms,
        barred="",
    )
