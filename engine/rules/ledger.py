"""The nouns of what is kept: sites, regions, policies, alerts, decisions, the audit."""

from dataclasses import dataclass

from engine.rules.nouns import Confidence, Offer
from engine.rules.steps import Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A tenant and what is in force there. ``settings``: the JSON of its overrides of dispatch.toml."""

    tenant: str
    name: str
    zone: str
    settings: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The database's clock at one read, and the zone its instants are shown in."""

    now_ms: int
    zone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """An area with one automatic dispatcher at a time. ``area`` None: everywhere no other region claims."""

    id: str
    area_id: str | None
    epoch: int
    holder: str | None
    lease_until_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The weights in force, by version (SPEC 3.4)."""

    version: int
    w_eta: float
    w_fair: float
    w_slack: float
    eta_band_min: int
    set_by: str = ""
    set_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferFacts:
    """An offer beside what decides its answer, read together."""

    offer: Offer
    now_ms: int
    epoch_now: int
    generation_now: int
    job_held_offer_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    id: str
    kind: str
    cause: str
    severity: int
    job_id: str | None
    worker_id: str | None
    detail: str
    open: bool
    opened_ms: int
    last_ms: int
    seen: int
    acked_by: str | None
    owner: str | None
    snoozed_until_ms: int
    escalated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """One worker in a decision: ranked with terms, or refused with a reason code and its numbers."""

    worker: str
    verdict: str
    detail: str = ""
    eta_s: int | None = None
    travel_s: int | None = None
    confidence: Confidence | None = None
    source: str | None = None
    jobs_today: int | None = None
    slack_ms: int | None = None
    score: float | None = None
    terms: Terms | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """Microseconds each stage of a decision took."""

    index_us: int = 0
    facts_us: int = 0
    filter_us: int = 0
    road_us: int = 0
    lease_us: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What stays of a decision for good: nothing here is derived from a position."""

    policy: Policy
    worker: str | None
    refused: dict[str, int]
    ranked: int
    unlisted: int = 0
    retried_in_cooldown: bool = False
    stages: Stages = Stages()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A stored decision; ``considered`` is emptied after some days (location-derived)."""

    id: str
    job_id: str
    made_ms: int
    outcome: str
    total_us: int
    summary: Summary
    considered: tuple[Considered, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    seq: int
    at_ms: int
    actor: str
    role: str
    act: str
    job_id: str | None
    worker_id: str | None
    offer_id: str | None
    reason: str
    words: str
    detail: str
    prev_hash: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditVerdict:
    """``first_bad``: the first row that was edited, deleted, put in or cut off; None: the chain is whole. ``missing``:
    what was done and has no row, where the chain itself is whole (its tail was cut and its head moved)."""

    rows: int
    head: str
    first_bad: int | None
    missing: str = ""
