"""Reading what a router said, and doubting it: pure functions from bytes to a RoadAnswer (SPEC 4).

The shapes are those of osrm-routed 26 (all its errors are HTTP 400 with a JSON code) and of proxies before it.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from engine.rules.eta import great_circle_m
from engine.rules.nouns import Driven, Leg, NoAnswer, RoadAnswer, Unreachable

DAY_S = 24 * 3600
FASTEST_KMH = 200
NEAR_M = 100  # so near a zero is believable: both ends may snap to one spot

Json = dict[str, object]


_WORDS = {
    "timeout": "no answer in time",
    "refused": "connection refused",
    "cut_off": "hung up in the middle of an answer",
    "too_large": "an answer of over 1 MB",
    "not_json": "an answer that is not JSON",
    "not_osrm": "an answer that is not OSRM's",
    "no_waypoints": "an answer that does not say where it put the two ends",
    "snap_too_far": "a place too far from any road on its map",
    "absurd": "an impossible travel time",
    "http_429": "limited (HTTP 429, too many requests)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """An answer, and whether it speaks against the router itself (the breaker counts those)."""

    answer: RoadAnswer
    faulty: bool = False


def read_route(status: int, body: bytes, leg: Leg, *, snap_max_m: float) -> Heard:
    """One `/route` reply. NoRoute and Invalid… are the words of a healthy router: they never count as faulty."""
    if status not in (200, 400):
        return _fault(f"http_{status}")
    said = parse(body)
    code = said.get("code") if said else None
    if said is None or not isinstance(code, str):
        return _fault("not_json" if said is None else "not_osrm")
    if code == "Ok":
        return _driven(said, leg, snap_max_m)
    if code == "NoRoute":
        return Heard(answer=Unreachable())
    if code == "NoSegment":  # a server with a radius of its own: the same as our snap check
        return _doubt("snap_too_far")
    return _doubt(complaint(said))


def parse(body: bytes) -> Json | None:
    """The JSON object in ``body``; None for anything else, however deep, huge or broken."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return cast(Json, said) if isinstance(said, dict) else None


def complaint(said: Json) -> str:
    """The router's own error as the dispatcher sees it ("InvalidQuery: Query string malformed …"), without positions.

    OSRM quotes pieces of the URL back, and those pieces are coordinates.
    """
    text = f"{said.get('code')}: {said.get('message', '')}"
    text = re.sub(r'"[^"]*"?', '"…"', text)
    text = re.sub(r"-?\d+[.,]\d+", "…", text)
    return "".join(each if each.isprintable() else " " for each in text)[:160].strip().removesuffix(":")


def in_words(reason: str) -> str:
    """A reason as a dispatcher reads it after "router: ". What the router itself said is passed on."""
    return _WORDS.get(reason) or reason.replace("http_", "HTTP ")


def read_duration(seconds: object, leg: Leg, snaps: Sequence[float], snap_max_m: float) -> RoadAnswer:
    """A duration as the router wrote it, with how far it moved both ends (NaN: it did not say)."""
    if seconds is None:
        return Unreachable()
    if not all(0 <= snap <= snap_max_m for snap in snaps):
        return NoAnswer(reason="snap_too_far")
    duration_s = number(seconds)
    if not _believable(duration_s, great_circle_m(leg.origin, leg.destination), sum(snaps)):
        return NoAnswer(reason="absurd")
    return Driven(duration_s=math.ceil(duration_s))


def _driven(said: Json, leg: Leg, snap_max_m: float) -> Heard:
    route = next(iter(objects(said.get("routes"))), None)
    if route is None or "duration" not in route:
        return _fault("not_osrm")
    snaps = [number(each.get("distance")) for each in objects(said.get("waypoints"))]
    if len(snaps) != 2 and route["duration"] is not None:
        return _doubt("no_waypoints")  # without them no snap can be judged
    return Heard(answer=read_duration(route["duration"], leg, snaps, snap_max_m))


def _believable(duration_s: float, apart_m: float, snapped_m: float) -> bool:
    """No NaN, no negative, no zero between distant points, no flight and no day's drive. NaN fails every comparison."""
    if not 0 <= duration_s <= DAY_S:
        return False
    if apart_m <= NEAR_M:
        return True
    at_least_m = max(apart_m - snapped_m, 0)  # the ends may have moved towards each other
    return duration_s > 0 and at_least_m * 3.6 / duration_s <= FASTEST_KMH


def number(value: object) -> float:
    """A JSON number as a float, NaN for anything else: true is not a number, nor is 10 to the 400."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def objects(value: object) -> list[Json]:
    """The JSON objects of a list; nothing where it is no list."""
    if not isinstance(value, list):
        return []
    return [cast(Json, each) for each in cast(list[object], value) if isinstance(each, dict)]


def lists(value: object) -> list[list[object]]:
    """The JSON lists of a list; nothing where it is no list."""
    if not isinstance(value, list):
        return []
    return [cast(list[object], each) for each in cast(list[object], value) if isinstance(each, list)]


def _fault(reason: str) -> Heard:
    return Heard(answer=NoAnswer(reason=reason), faulty=True)


def _doubt(reason: str) -> Heard:
    return Heard(answer=NoAnswer(reason=reason))
