"""Travel times without a router, and which of several answers may be promised on (SPEC 4). All times round up."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from engine.rules.nouns import Confidence, Driven, Leg, Point, RoadAnswer, Travel, Unreachable
from engine.rules.place import centre_of, metres

ROAD, MEMORY, STAND_IN = "road", "memory", "stand_in"
CALIBRATED_FROM, CALIBRATED_FROM_M = 30, 500.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EtaRules:
    """How travel is guessed and how wide a customer's band is.

    ``band_early_s`` and ``band_late_s`` hold for a road time from a fresh fix. Each doubt (low confidence; nothing
    remembered either) adds ``band_doubt_s`` on both sides and ``band_doubt_share`` of the travel still ahead.
    """

    detour: float = 1.4
    speed_kmh: float = 30.0
    optimistic_speed_kmh: float = 60.0
    pessimistic_factor: float = 1.5
    band_min: int = 5
    band_early_s: int = 120
    band_late_s: int = 300
    band_doubt_s: int = 300
    band_doubt_share: float = 0.2


def great_circle_m(a: Point, b: Point) -> float:
    """Metres over the ground, straight; right across the antimeridian too."""
    return metres(a, b)


def stand_in_s(a: Point, b: Point, *, detour: float = 1.4, speed_kmh: float) -> int:
    """Seconds for the detour at the site's calibrated speed: what is said while the router says nothing."""
    return _seconds(great_circle_m(a, b) * detour, speed_kmh)


def optimistic_s(a: Point, b: Point, *, speed_kmh: float) -> int:
    """Straight and fast: no worker who might make it is dropped on this bound before the router has answered."""
    return _seconds(great_circle_m(a, b), speed_kmh)


def pessimistic_s(travel: Travel, rules: EtaRules) -> int:
    """What must still meet due_by before an offer is made. Only a bare stand-in is doubted beyond its own number."""
    if travel.source != STAND_IN:
        return travel.seconds
    return _ceil(travel.seconds * rules.pessimistic_factor)


def travel(answer: RoadAnswer, remembered: int | Unreachable | None, leg: Leg, rules: EtaRules) -> Travel | Unreachable:
    """The time to count on. Without an answer: the worse of memory and stand-in, as a river outlasts a router.

    ``source`` is "memory" whenever the pair was remembered, also where the stand-in was the worse of the two.
    """
    if isinstance(answer, Driven):
        return Travel(seconds=answer.duration_s, confidence=Confidence.HIGH, source=ROAD)
    if isinstance(answer, Unreachable):
        return answer
    if isinstance(remembered, Unreachable):
        return remembered
    guess_s = stand_in_s(leg.origin, leg.destination, detour=rules.detour, speed_kmh=rules.speed_kmh)
    if remembered is None:
        return Travel(seconds=guess_s, confidence=Confidence.LOW, source=STAND_IN)
    return Travel(seconds=max(guess_s, remembered), confidence=Confidence.LOW, source=MEMORY)


def band(
    arrival_s: int, *, eta_s: int, confidence: Confidence, remembered: bool, fix_age_s: int, rules: EtaRules
) -> tuple[int, int]:
    """What a customer is told, (from, to) in the seconds of ``arrival_s``, rounded outward to whole marks.

    ``arrival_s`` counts from an instant that lies on a mark itself (the epoch does); ``eta_s`` is what is left from now
    to arrival; ``fix_age_s`` the age of the position it was reckoned from: for each second of it the worker may be a
    second nearer or farther. Never earlier than the mark before now.
    """
    doubts = 0 if confidence is Confidence.HIGH else 1 if remembered else 2
    unsure_s = doubts * (rules.band_doubt_s + rules.band_doubt_share * max(eta_s, 0)) + max(fix_age_s, 0)
    now_s = arrival_s - max(eta_s, 0)
    step_s = rules.band_min * 60
    from_s = math.floor(max(arrival_s - rules.band_early_s - unsure_s, now_s) / step_s) * step_s
    to_s = math.ceil((arrival_s + rules.band_late_s + unsure_s) / step_s) * step_s
    return from_s, max(to_s, from_s + step_s)


def completes_ms(
    *, started_ms: int, duration_ms: int, now_ms: int, away_m: float | None, beside_m: float, rules: EtaRules
) -> int:
    """When a job that was begun will be done: on the site after its duration; seen elsewhere (``away_m``, of a fresh
    fix), after the way back too. Before now: it should have been done by then."""
    ends_ms = started_ms + duration_ms
    if away_m is None or away_m <= beside_m:
        return ends_ms
    return max(ends_ms, now_ms) + _seconds(away_m * rules.detour, rules.speed_kmh) * 1000


def calibrated_kmh(pairs: Iterable[tuple[int, int, int | None]], *, detour: float) -> tuple[float | None, int]:
    """The speed at which half of these road times would have been met by the stand-in, and of how many pairs.

    ``pairs``: (origin cell, destination cell, seconds; None = unreachable), as remembered. Near ones say more about the
    size of a cell than about the road. None where fewer than 30 are left."""
    found: list[float] = []
    for origin, destination, seconds in pairs:
        apart_m = metres(Point(*centre_of(origin)), Point(*centre_of(destination)))
        if seconds and apart_m >= CALIBRATED_FROM_M:
            found.append(apart_m * detour * 3.6 / seconds)
    return (median(found) if len(found) >= CALIBRATED_FROM else None), len(found)


def _seconds(distance_m: float, speed_kmh: float) -> int:
    return _ceil(distance_m * 3.6 / speed_kmh)


def _ceil(seconds: float) -> int:
    """Always up (9 min 59 s never fits a gap of 9 min), but a whole number stays itself despite binary fractions."""
    return math.ceil(round(seconds, 6))
