"""What is asked of an OSRM server, to the letter: `{lng},{lat}` with five decimals (a metre), no exponent, no comma."""

import math
from collections.abc import Sequence
from urllib.parse import quote, urlsplit

from engine.rules.nouns import Leg, Point


def route_path(profile: str, leg: Leg) -> str:
    """Without hints, steps or geometry; the waypoints stay, because their snaps are judged."""
    return f"/route/v1/{quote(profile, safe='')}/{_places((leg.origin, leg.destination))}?overview=false"


def table_path(profile: str, origins: Sequence[Point], destinations: Sequence[Point]) -> str:
    """From each origin to each destination, in one question."""
    sources = ";".join(map(str, range(len(origins))))
    targets = ";".join(map(str, range(len(origins), len(origins) + len(destinations))))
    places = _places((*origins, *destinations))
    return f"/table/v1/{quote(profile, safe='')}/{places}?sources={sources}&destinations={targets}"


def on_earth(point: Point) -> bool:
    """Whether it may be asked about at all: OSRM answers Ok to swapped numbers and InvalidValue to these."""
    return math.isfinite(point.lat) and math.isfinite(point.lng) and abs(point.lat) <= 90 and abs(point.lng) <= 180


def checked_url(url: str) -> str:
    """The router's base URL without a slash at its end. Raises ValueError."""
    parts = urlsplit(url)
    if "@" in parts.netloc:  # it would stand in logs and on screens; nor is it repeated here
        raise ValueError("[router] url: a user or password has no place in it")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"[router] url = {url!r}: http://host:port is wanted")
    return url.rstrip("/")


def _places(points: Sequence[Point]) -> str:
    return ";".join(f"{_degrees(each.lng)},{_degrees(each.lat)}" for each in points)


def _degrees(value: float) -> str:
    return f"{round(value, 5) + 0.0:.5f}"  # + 0.0 turns -0.0 into 0.0
