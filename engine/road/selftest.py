"""What is that server? Asked once at start and by `doctor`, and honest about what OSRM cannot tell."""

import time

from engine.road.answers import Json, complaint, parse, read_route
from engine.road.urls import route_path
from engine.road.wire import Broken, Line
from engine.rules.eta import great_circle_m
from engine.rules.nouns import Driven, Leg, NoAnswer, Point, Unreachable

Check = tuple[str, bool, str]

QUESTION_S = 2.0
NONSENSE = "callboard-self-test"  # no router serves a profile of this name
NOWHERE = Leg(origin=Point(0, 0), destination=Point(0.001, 0.001))  # nobody's; any OSRM snaps it somewhere


def examine(line: Line, profile: str, around: Point | None, *, snap_max_m: float) -> list[Check]:
    """(name, ok, detail) of: does it answer, does it know profiles, and, given a place, is that on its map."""
    said, detail = _ask(line, profile)
    if said is None:
        return [("router answers", False, detail)]
    checks: list[Check] = [("router answers", True, detail), _profile(line, profile)]
    if around is not None:
        checks.append(_map(line, profile, around, snap_max_m))
    return checks


def _ask(line: Line, profile: str) -> tuple[Json | None, str]:
    """The reply of a router that understands us, and a line about it; None and its complaint otherwise."""
    try:
        status, body = line.get(route_path(profile, NOWHERE), time.monotonic() + QUESTION_S)
    except Broken as broken:
        return None, str(broken)
    said = parse(body)
    code = said.get("code") if said else None
    if said is None or status not in (200, 400) or not isinstance(code, str):
        return None, f"HTTP {status}, not an OSRM answer"
    if code not in ("Ok", "NoRoute", "NoSegment"):
        return None, complaint(said)
    return said, f"OSRM route v1, data version {said.get('data_version', 'not stated')}"


def _profile(line: Line, profile: str) -> Check:
    said, detail = _ask(line, NONSENSE)
    if said is None:
        return "router profile", True, f"{profile!r} is known, other names are refused ({detail})"
    return (
        "router profile",
        True,
        f"OSRM cannot tell: it answers to any name and drives what it was built for, not {profile!r}",
    )


def _map(line: Line, profile: str, around: Point, snap_max_m: float) -> Check:
    """Two kilometres east and what speed that makes: a car's or a walker's shows what the server was built for."""
    east = around.lng + 0.02 if around.lng < 179.9 else around.lng - 0.02
    leg = Leg(origin=around, destination=Point(around.lat, east))
    try:
        status, body = line.get(route_path(profile, leg), time.monotonic() + QUESTION_S)
    except Broken as broken:
        return "router map", False, str(broken)
    match read_route(status, body, leg, snap_max_m=snap_max_m).answer:
        case Driven(duration_s=seconds) if seconds:
            kmh = great_circle_m(leg.origin, leg.destination) * 3.6 / seconds
            return "router map", True, f"the site is on it; straight across it makes {kmh:.0f} km/h"
        case Driven() | Unreachable():
            return "router map", True, "the site is on it"
        case NoAnswer(reason=reason):
            return "router map", False, f"the site is not on it ({reason})"
