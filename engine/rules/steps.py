"""The steps of one assignment: each noun contains the one before, so any step can print the whole reason."""

from dataclasses import dataclass

from engine.rules.nouns import Point, Refusal, Seen, Travel, Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """Room in a schedule: drive from ``origin`` at ``depart_ms``, before the booking at ``next_place``, if any.

    ``then``: what stands against work beyond ``ends_by_ms``: the shift is over, or an absence begins."""

    lane: int
    origin: Point
    depart_ms: int
    ends_by_ms: int
    then: Refusal = Refusal.OFF_SHIFT
    next_place: Point | None = None
    next_starts_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A worker who passed every filter on the optimistic bound; ``slots`` in the order they come in time."""

    worker: Worker
    seen: Seen
    slots: tuple[Slot, ...]
    optimistic_s: int
    optimistic_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A worker who may not have the job: the first failed filter and its numbers in words ("fix 45 s > 30 s")."""

    worker_id: str
    reason: Refusal
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A candidate with a travel time. ``eta_s``: from now to arrival."""

    candidate: Candidate
    slot: Slot
    travel: Travel
    arrival_ms: int
    eta_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The three terms of a score, in its own points (lower is better)."""

    eta: float
    fair: float
    slack: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A timed candidate with its score; a sequence of these is in the order offers are tried."""

    timed: Timed
    score: float
    terms: Terms
    slack_ms: int
