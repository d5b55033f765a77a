"""Nouns for tests of the rules: only what a test speaks of is written, in minutes from NOW and from the MIDDLE."""

from dataclasses import replace

from engine.rules.eligibility import Limits
from engine.rules.eta import EtaRules
from engine.rules.ledger import Policy
from engine.rules.nouns import (
    Area,
    Booking,
    Confidence,
    Facts,
    Interval,
    Job,
    JobState,
    Leg,
    Point,
    Seen,
    Travel,
    Worker,
)
from engine.rules.place import cell, metres
from engine.rules.steps import Candidate, Slot, Timed

NOW = 1_800_000_000_000
MIN = 60_000
MIDDLE = Point(48.2, 16.4)
ETA = EtaRules(pessimistic_factor=1.0)
LIMITS = Limits(
    fresh_ms=30_000, cooldown_ms=10 * MIN, reserve_share=0.1, reserve_from_idle=5, emergency_priority=4, eta=ETA
)
POLICY = Policy(version=1, w_eta=1.0, w_fair=3.0, w_slack=0.25, eta_band_min=5)


def at(minutes: float) -> int:
    return NOW + round(minutes * MIN)


def span(start: float, end: float) -> Interval:
    return Interval(starts_ms=at(start), ends_ms=at(end))


def away(minutes: float) -> Point:
    """So many minutes north of the middle at the optimistic speed (60 km/h, straight)."""
    return Point(MIDDLE.lat + minutes * 1000 * 0.999_99 / 111_195, MIDDLE.lng)


def job(
    *, place: Point = MIDDLE, opens: float = 0, due: float = 60, lasts: float = 30, skills: str = "", priority: int = 1,
    region: str = "main", ref: str = "J1", state: JobState = JobState.OPEN, worker: str | None = None,
) -> Job:  # fmt: skip
    return Job(
        id=ref, type="visit", skills=frozenset(skills.split()), place=place, not_before_ms=at(opens), due_by_ms=at(due),
        duration_ms=round(lasts * MIN), priority=priority, address="", notes="", attachments="{}", region=region,
        state=state, version=1, created_ms=NOW, worker_id=worker,
    )  # fmt: skip


def booking(
    ref: str, start: float, end: float, *, place: Point = MIDDLE, lane: int = 0, started: float | None = None,
    travel: float = 0,
) -> Booking:  # fmt: skip
    return Booking(
        job_id=ref, offer_id=f"O-{ref}", lane=lane, starts_ms=at(start), ends_ms=at(end), arrival_ms=at(start),
        travel_ms=round(travel * MIN), place=place, started_ms=None if started is None else at(started),
    )  # fmt: skip


def worker(
    name: str = "ana", *, place: Point = MIDDLE, skills: str = "", shifts: tuple[Interval, ...] | None = None,
    capacity: int = 1, region: str = "main", travels: bool = False, moving_to: str | None = None, jobs: int = 0,
    area: Area | None = None, offer: str | None = None, offered: float | None = None,
    absences: tuple[Interval, ...] = (), bookings: tuple[Booking, ...] = (),
) -> Worker:  # fmt: skip
    return Worker(
        id=name, name=name.title(), skills=frozenset(skills.split()), home=place,
        shifts=(span(-60, 600),) if shifts is None else shifts, capacity=capacity, region=region, generation=1,
        travels=travels, moving_to=moving_to, jobs_today=jobs, area=area, live_offer_id=offer,
        offered_ms=None if offered is None else at(offered), absences=absences, bookings=bookings,
    )  # fmt: skip


def seen(who: Worker, *, place: Point | None = None, device_s: float = 0, receive_s: float = 0) -> Seen:
    here = place or who.home
    return Seen(
        worker_id=who.id, place=here, cell=cell(here), device_age_ms=round(device_s * 1000),
        receive_age_ms=round(receive_s * 1000), accuracy_m=5, distance_m=metres(here, MIDDLE),
    )  # fmt: skip


def facts(what: Job, *workers: Worker) -> Facts:
    return Facts(now_ms=NOW, job=what, workers=workers)


def drives(minutes: float, *, source: str = "road") -> Travel:
    confidence = Confidence.HIGH if source == "road" else Confidence.LOW
    return Travel(seconds=round(minutes * 60), confidence=confidence, source=source)


def candidate(who: Worker, *slots: Slot) -> Candidate:
    whole = Slot(lane=0, origin=who.home, depart_ms=NOW, ends_by_ms=at(600))
    return Candidate(worker=who, seen=seen(who), slots=slots or (whole,), optimistic_s=0, optimistic_score=0.0)


def timed(name: str, minutes: float, jobs: int = 0, *, source: str = "road") -> Timed:
    alone = candidate(worker(name, jobs=jobs))
    travel = drives(minutes, source=source)
    return Timed(candidate=alone, slot=alone.slots[0], travel=travel, arrival_ms=NOW + travel.seconds * 1000,
                 eta_s=travel.seconds)  # fmt: skip


def renamed(what: Job, **changed: object) -> Job:
    return replace(what, **changed)  # type: ignore[arg-type]


def leg(origin: Point, destination: Point) -> Leg:
    return Leg(origin=origin, destination=destination)
