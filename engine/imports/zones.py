"""Time zones by name. An IANA name knows its clock changes; a fixed offset does not, and that is said."""

import difflib
import re
from dataclasses import dataclass
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from engine.imports.parsed import Wrong

_FIXED = re.compile(r"(?:UTC|GMT)?\s*([+-])(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone and what a person should know of it (empty where nothing)."""

    zone: ZoneInfo
    warning: str = ""


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    return frozenset(available_timezones())


def zone_named(name: str) -> Zone | Wrong:
    """The zone of this IANA name; ``UTC-5`` is taken with a warning; an unknown name is refused with a near one."""
    if name in _names():
        fixed = name.startswith("Etc/GMT") and name not in ("Etc/GMT", "Etc/GMT0")
        return Zone(ZoneInfo(name), _no_summer(name) if fixed or name in ("EST", "MST", "HST") else "")
    offset = _FIXED.fullmatch(name.strip())
    if offset and int(offset[2]) <= 14 and (offset[3] or "00") == "00":
        # POSIX counts the other way: UTC-5 is Etc/GMT+5.
        posix = f"Etc/GMT{'-' if offset[1] == '+' else '+'}{int(offset[2])}"
        if posix in _names():
            return Zone(ZoneInfo(posix), f"{_no_summer(name)} (it is kept as {posix}, whose sign counts the other way)")
    near = nearest(name)
    hint = f"; did you mean {near}?" if near else ":"
    return Wrong(f"{name[:60]!r} is not a time zone{hint} use an IANA name such as Europe/Rome or America/New_York")


def nearest(name: str) -> str:
    """The zone that was probably meant: the same place without its continent or in another case, else a close name."""
    if _FIXED.fullmatch(name.strip()):
        return ""
    low, by_low = name[:60].strip().casefold().replace(" ", "_"), {each.casefold(): each for each in sorted(_names())}
    if low in by_low:
        return by_low[low]
    ends = [each for key, each in by_low.items() if key.rpartition("/")[2] == low and "/" in key]
    near = ends or [by_low[each] for each in difflib.get_close_matches(low, list(by_low), n=1)]
    if not near and "/" not in low:
        places = {key.rpartition("/")[2]: each for key, each in by_low.items() if "/" in key}
        near = [places[each] for each in difflib.get_close_matches(low, list(places), n=1)]
    return near[0] if near else ""


def _no_summer(name: str) -> str:
    return f"{name} is a fixed offset and knows no summer time: prefer a place, such as Europe/Rome or America/New_York"
