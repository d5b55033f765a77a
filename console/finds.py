"""Search over jobs, workers, offers, audit: all words must be there, matched literally. Runs behind the screen."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from engine.ports import Engine
from engine.rules.ledger import AuditRow
from engine.rules.nouns import Job, Offer

EACH_MAX = 40
AUDIT_LOOKED_AT = 5_000
JOBS_OF_OFFERS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """``kind``: job, worker, offer or audit; ``job_id``: where choosing it leads."""

    kind: str
    id: str
    words: str
    job_id: str | None = None
    at_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """``more``: of these kinds there were more than are shown."""

    hits: tuple[Hit, ...]
    more: tuple[str, ...]


def find(engine: Engine, text: str) -> Hits:
    words = text.casefold().split()
    with engine.store.snapshot():
        jobs = [each for each in engine.store.jobs(engine.tenant) if _in(words, _job_words(each))]
        workers = [
            Hit(kind="worker", id=each.id, words=f"{each.name} · {', '.join(sorted(each.skills))}")
            for each in engine.store.workers(engine.tenant)
            if _in(words, f"{each.id} {each.name} {' '.join(each.skills)}")
        ]
        offers = list(_offers(engine, words, jobs))
        audit = [_audit(each) for each in engine.store.newest_audit(engine.tenant, limit=AUDIT_LOOKED_AT)
                 if _in(words, f"#{each.seq} {_audit_words(each)} {each.detail}")]  # fmt: skip
    found: list[tuple[str, list[Hit]]] = [
        ("jobs", [Hit(kind="job", id=each.id, words=_job_words(each), job_id=each.id) for each in jobs]),
        ("workers", workers),
        ("offers", offers),
        ("audit", sorted(audit, key=lambda each: -(each.at_ms or 0))),
    ]
    return Hits(
        hits=tuple(hit for _, hits in found for hit in hits[:EACH_MAX]),
        more=tuple(f"{len(hits) - EACH_MAX} more {kind}" for kind, hits in found if len(hits) > EACH_MAX),
    )


def _in(words: Iterable[str], text: str) -> bool:
    low = text.casefold()
    return all(word in low for word in words)


def _job_words(job: Job) -> str:
    parts = (job.id, job.state, job.type, ", ".join(sorted(job.skills)), job.worker_id or job.done_by or "",
             job.address, job.notes)  # fmt: skip
    return " · ".join(each for each in parts if each)


def _offers(engine: Engine, words: list[str], jobs: list[Job]) -> Iterable[Hit]:
    """Live offers, those of the jobs found, and the one of this very id."""
    found: dict[str, Offer] = {each.id: each for each in engine.store.live_offers(engine.tenant)}
    for job in islice(jobs, JOBS_OF_OFFERS):
        found.update({each.id: each for each in engine.store.offers_of_job(engine.tenant, job.id)})
    if len(words) == 1 and (facts := engine.store.offer(engine.tenant, words[0].upper())) is not None:
        found[facts.offer.id] = facts.offer
    for each in found.values():
        said = f"{each.job_id} to {each.worker_id} · {each.state} · by {each.made_by}"
        if _in(words, f"{each.id} {said}"):
            yield Hit(kind="offer", id=each.id, words=said, job_id=each.job_id, at_ms=each.created_ms)


def _audit_words(row: AuditRow) -> str:
    parts = (row.act, row.job_id, row.worker_id, row.offer_id, f"by {row.actor}", row.reason, row.words)
    return " · ".join(each for each in parts if each)


def _audit(row: AuditRow) -> Hit:
    return Hit(kind="audit", id=f"#{row.seq}", words=_audit_words(row), job_id=row.job_id, at_ms=row.at_ms)
