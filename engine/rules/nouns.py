"""The nouns of dispatch: frozen, and each step of an assignment contains the one before.

Units: ``_ms`` integer milliseconds (UTC when it is an instant), ``_s`` seconds, ``_m`` metres. Intervals are half-open.
"""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Point:
    """A place in degrees (WGS 84)."""

    lat: float
    lng: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One drive, from origin to destination: directional."""

    origin: Point
    destination: Point


# --- states and answers ----------------------------------------------------------------------------------------------


class JobState(StrEnum):
    OPEN = "OPEN"
    OFFERED = "OFFERED"
    ACCEPTED = "ACCEPTED"
    IN_PROGRESS = "IN_PROGRESS"
    DONE = "DONE"
    CANCELLED = "CANCELLED"
    UNASSIGNED_ALERT = "UNASSIGNED_ALERT"


WAITING = frozenset({JobState.OPEN, JobState.UNASSIGNED_ALERT})
HELD = frozenset({JobState.ACCEPTED, JobState.IN_PROGRESS})
TERMINAL = frozenset({JobState.DONE, JobState.CANCELLED})


class OfferState(StrEnum):
    OFFERED = "OFFERED"
    ACCEPTED = "ACCEPTED"
    DECLINED = "DECLINED"
    EXPIRED = "EXPIRED"
    WITHDRAWN = "WITHDRAWN"


class Confidence(StrEnum):
    HIGH = "high"
    LOW = "low"
    MANUAL = "manual"


class Refusal(StrEnum):
    """Reason codes of the hard filters (SPEC 3), in the order they are tried."""

    SKILLS = "skills"
    OTHER_REGION = "other_region"
    ABSENT = "absent"
    OFF_SHIFT = "off_shift"
    NO_FIX = "no_fix"
    STALE = "stale"
    OFFERED_ELSEWHERE = "offered_elsewhere"
    COOLDOWN = "cooldown"
    RESERVED = "reserved"
    OUTSIDE_AREA = "outside_area"
    OVERLAP = "overlap"
    LATE = "late"
    NO_ROAD = "no_road"


# --- jobs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job as a door hands it in. ``ref`` becomes its id ("" = give it a number). ``priority``: 1 … 5 emergency.

    ``attachments``: a small JSON object. ``unsaid``: fields a file has no column for; a known job keeps its own."""

    ref: str
    type: str
    skills: frozenset[str]
    place: Point
    not_before_ms: int
    due_by_ms: int
    duration_ms: int
    priority: int = 1
    address: str = ""
    notes: str = ""
    attachments: str = "{}"
    unsaid: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job as stored. ``held_offer_id`` names the assignment: the accepted offer its booking came from."""

    id: str
    type: str
    skills: frozenset[str]
    place: Point
    not_before_ms: int
    due_by_ms: int
    duration_ms: int
    priority: int
    address: str
    notes: str
    attachments: str
    region: str
    state: JobState
    version: int
    created_ms: int
    live_offer_id: str | None = None
    held_offer_id: str | None = None
    worker_id: str | None = None
    done_by: str | None = None
    started_ms: int | None = None
    finished_ms: int | None = None
    missed: bool = False


# --- workers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWorker:
    """A worker as a door hands one in: ``home`` is where the worker is taken to start without a fix yet."""

    ref: str
    name: str
    skills: frozenset[str]
    home: Point
    shift_starts_ms: int
    shift_ends_ms: int
    capacity: int = 1
    region: str | None = None
    area: str | None = None
    travels: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Half-open ``[starts_ms, ends_ms)``."""

    starts_ms: int
    ends_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """The interval an accepted job reserves on one capacity lane of a worker's schedule."""

    job_id: str
    offer_id: str
    lane: int
    starts_ms: int
    ends_ms: int
    arrival_ms: int
    travel_ms: int
    place: Point
    started_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A service area: an outer ring and holes, each a tuple of points (not closed)."""

    id: str
    name: str
    rings: tuple[tuple[Point, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """What is true of a worker at one instant. ``offered_ms``: when this job was last offered to or taken from them."""

    id: str
    name: str
    skills: frozenset[str]
    home: Point
    shifts: tuple[Interval, ...]
    capacity: int
    region: str
    generation: int
    travels: bool
    moving_to: str | None = None
    jobs_today: int
    area: Area | None = None
    live_offer_id: str | None = None
    offered_ms: int | None = None
    idle_since_ms: int = 0
    absences: tuple[Interval, ...] = ()
    bookings: tuple[Booking, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One consistent read: the database's clock, the job, and the workers asked about."""

    now_ms: int
    job: Job
    workers: tuple[Worker, ...]


# --- locations -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FixReport:
    """A position report as it came. ``accuracy_m`` None = unknown (0 and negatives count as unknown)."""

    worker: str
    device_ms: int
    lat: float
    lng: float
    accuracy_m: float | None = None
    seq: int | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Presence:
    """A worker in the hot index. Ages come from a clock that does not jump: ``seen_mono_ms`` is its reading at receipt.

    The position's age is ``(mono_ms - seen_mono_ms) + lag_ms``; that of the last contact ``mono_ms - contact_mono_ms``.
    Mutable by the index alone.
    """

    worker_id: str
    lat: float
    lng: float
    cell: int
    accuracy_m: float | None
    device_ms: int
    seq: int | None
    received_ms: int
    lag_ms: int
    seen_mono_ms: int
    contact_mono_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the index says of one worker near a job, with ages already taken (milliseconds)."""

    worker_id: str
    place: Point
    cell: int
    device_age_ms: int
    receive_age_ms: int
    accuracy_m: float | None
    distance_m: float


# --- travel ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """The router's answer: road time, rounded up to whole seconds."""

    duration_s: int


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The road does not go there (NoRoute, null): not "router down", not zero, not great-circle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    """The router said nothing believable in time; ``reason`` is short and holds no position."""

    reason: str


RoadAnswer = Driven | Unreachable | NoAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Travel:
    """A travel time that may be promised on. ``source``: road, memory or stand_in."""

    seconds: int
    confidence: Confidence
    source: str


# --- offers ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What an offer promises: the interval it will book and how sure the arrival is."""

    lane: int
    arrival_ms: int
    travel_ms: int
    starts_ms: int
    ends_ms: int
    eta_s: int
    band_from_ms: int
    band_to_ms: int
    confidence: Confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A lease that binds one job to one worker until it is answered, withdrawn or expired."""

    id: str
    job_id: str
    worker_id: str
    state: OfferState
    created_ms: int
    expires_ms: int
    region: str
    epoch: int
    generation: int
    promise: Promise
    decision_id: str | None
    made_by: str
    answered_ms: int | None = None
    delivered_ms: int | None = None


# --- people ----------------------------------------------------------------------------------------------------------


class Role(StrEnum):
    WORKER = "worker"
    DISPATCHER = "dispatcher"
    SUPERVISOR = "supervisor"
    CUSTOMER = "customer"
    TRAINER = "trainer"
    INTEGRATION = "integration"
    AUTOMATIC = "automatic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who acts, for the audit: ``auto:REGION``, a worker's id, a named person."""

    name: str
    role: Role
    tenant: str = "main"
