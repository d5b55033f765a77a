"""What the desk shows, as plain rows: no engine, no widget, no exact place. Instants are ``_ms`` UTC."""

from dataclasses import dataclass, field

OPEN, OFFERED, ACCEPTED, IN_PROGRESS = "OPEN", "OFFERED", "ACCEPTED", "IN_PROGRESS"
DONE, CANCELLED, UNASSIGNED = "DONE", "CANCELLED", "UNASSIGNED_ALERT"
WAITING = frozenset({OPEN, UNASSIGNED})
TERMINAL = frozenset({DONE, CANCELLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """One job on the board. ``worker``: the holder, or who it is offered to. ``gone``: no longer in the database.

    ``cell``: H3, hexadecimal, resolution 8."""

    id: str
    type: str
    skills: str
    state: str
    priority: int
    not_before_ms: int
    due_by_ms: int
    duration_ms: int
    address: str
    notes: str
    attachments: str
    region: str
    version: int
    worker: str = ""
    worker_id: str | None = None
    live_offer_id: str | None = None
    held_offer_id: str | None = None
    missed: bool = False
    gone: bool = False
    cell: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRow:
    """One open alert. ``due_ms``: the deadline of its job, where it has one."""

    id: str
    kind: str
    severity: int
    job_id: str | None
    worker: str
    detail: str
    opened_ms: int
    acked_by: str
    owner: str
    snoozed_until_ms: int
    escalated: int
    due_ms: int | None = None
    seen: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferRow:
    """One live offer: an absolute deadline, so that it counts down without being read again."""

    id: str
    job_id: str
    worker: str
    created_ms: int
    expires_ms: int
    band_from_ms: int
    band_to_ms: int
    confidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OverrulingRow:
    """A person's own choice of worker. ``overruled``: "stale: fix 45 s > 30 s", one for each."""

    at_ms: int
    actor: str
    worker: str
    reason: str
    words: str
    overruled: tuple[str, ...]
    late_ms: int
    force: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRow:
    """One offer of a job, live or answered. ``ended``: who accepted, declined or withdrew it, in words; ``overruling``:
    where a person chose the worker, who and why."""

    offer: OfferRow
    state: str
    answered_ms: int | None
    made_by: str
    arrival_ms: int
    ended: str = ""
    overruling: OverrulingRow | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    """The newest stored decision of a job, in numbers."""

    made_ms: int
    outcome: str
    worker: str
    ranked: int
    refused: tuple[tuple[str, int], ...]
    policy: int
    total_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """``completes_ms``: of a job in progress, when it will be done (before now: should have been)."""

    job_id: str
    attempts: tuple[AttemptRow, ...]
    decision: DecisionRow | None
    completes_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFacts:
    """What is said once a desk. ``rounds``: here, elsewhere or nobody dispatches automatically."""

    name: str
    zone: str
    training: bool
    readonly: bool
    demo: bool
    actor: str
    role: str
    acts: frozenset[str] | None = None
    alert_budget: int = 0
    undo_s: float = 5.0
    bell: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRow:
    """One cell of the map. ``x``, ``y``: neighbours in a row are 2 apart in x, those above and below 1."""

    id: str
    x: int
    y: int
    fresh: int
    stale: int
    jobs: int
    alerts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CellsRow:
    """The map as last drawn up. ``turn_deg``: true north clockwise of straight up; ``unfolded`` False: a mere list."""

    resolution: int
    turn_deg: int
    unfolded: bool
    cells: tuple[CellRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One consistent look at the database. ``read_s``: this machine's monotonic clock at the read."""

    read_s: float
    now_ms: int
    site: SiteFacts
    jobs: dict[str, JobRow]
    alerts: tuple[AlertRow, ...]
    offers: tuple[OfferRow, ...]
    router: str
    rounds: str
    p99_us: int | None
    detail: Detail | None = None
    alerts_lately: int = 0
    names: dict[str, str] = field(default_factory=dict[str, str])
    cells: CellsRow | None = None
    regions: tuple[str, ...] = ()
