"""Days of the site: instants into local dates, in zones where midnight may not exist."""

from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo


@lru_cache(maxsize=64)
def zone_named(name: str) -> ZoneInfo:
    """The zone of an IANA name. Raises ZoneInfoNotFoundError or ValueError."""
    return ZoneInfo(name)


def local(at_ms: int, zone: str) -> datetime:
    """The instant as the site's wall clock shows it."""
    return datetime.fromtimestamp(at_ms / 1000, tz=UTC).astimezone(zone_named(zone))


def local_day(at_ms: int, zone: str) -> str:
    """The site's local date, ISO. A day is a date, so one without a midnight is counted like any other."""
    return local(at_ms, zone).date().isoformat()


def rfc3339(at_ms: int, zone: str = "UTC") -> str:
    """An instant as the wire shows it: milliseconds and offset."""
    return local(at_ms, zone).isoformat(timespec="milliseconds")
