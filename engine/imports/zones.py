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
    near = difflib.get_close_matches(name[:60], sorted(_names()), n=1)
    hint = f"; did you mean {near[0]}?" if near else ":"
    return Wrong(f"{name[:60]!r} is not a time zone{hint} use an IANA name such as Europe/Rome or America/New_York")


def _no_summer(name: str) -> str:
    return f"{name} is a fixed offset and knows no summer time: prefer a place, such as Europe/Rome or America/New_York"
