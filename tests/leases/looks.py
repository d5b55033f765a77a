"""Short questions to a store about the site of ``stage``."""

from engine.rules.nouns import JobState, OfferState
from engine.store.sqlite import SqliteStore
from tests.leases import stage
from tests.leases.stage import run


def state(store: SqliteStore, job_id: str = "j1") -> JobState:
    job = store.job("main", job_id)
    assert job is not None
    return job.state


def offer_state(store: SqliteStore, offer_id: str = "o1") -> OfferState:
    facts = store.offer("main", offer_id)
    assert facts is not None
    return facts.offer.state


def live(store: SqliteStore, worker_id: str = "w1") -> str | None:
    worker = store.worker("main", worker_id)
    assert worker is not None
    return worker.live_offer_id


def counts(store: SqliteStore) -> dict[str, int]:
    return {worker: jobs for worker, _, jobs in store.day_counts("main", stage.DAY)}


def acts(store: SqliteStore) -> list[str]:
    """The audit of j1, less its making."""
    return [row.act for row in store.audit_of_job("main", "j1")][1:]


def accepted(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    run(store, stage.accept("o1", "w1"))
