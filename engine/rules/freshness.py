"""Whether one position report may replace the position we hold. Pure; SPEC 6.

Order of the questions: is it a place, are the clocks sane, is it newer, is it worth keeping. The first no counts.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Protocol

from engine.rules.nouns import Point, Presence
from engine.rules.place import metres, refused, swapped

DAY_MS = 86_400_000


class FixRules(Protocol):
    """The settings that decide about fixes (``[location]`` of a site)."""

    @property
    def fresh_s(self) -> int: ...
    @property
    def ahead_max_s(self) -> int: ...
    @property
    def skew_max_s(self) -> int: ...
    @property
    def ordering_allowance_s(self) -> int: ...
    @property
    def coarse_m(self) -> int: ...
    @property
    def speed_max_kmh(self) -> float: ...
    @property
    def jump_min_m(self) -> int: ...
    @property
    def rate_per_s(self) -> int: ...
    @property
    def archive_days(self) -> int: ...
    @property
    def allow_null_island(self) -> bool: ...


class Report(Protocol):
    """A position report as it came: ``FixReport``, or a line a door has read. Accuracy None, 0 or less: unknown."""

    @property
    def worker(self) -> str: ...
    @property
    def device_ms(self) -> int: ...
    @property
    def lat(self) -> float: ...
    @property
    def lng(self) -> float: ...
    @property
    def accuracy_m(self) -> float | None: ...
    @property
    def seq(self) -> int | None: ...


class Rejection(StrEnum):
    """Why a fix does not move the worker. No rejection asks the phone to send again: each is final."""

    UNKNOWN_WORKER = "unknown_worker"
    BAD_COORDINATES = "bad_coordinates"  # NaN or infinite
    OUT_OF_RANGE = "out_of_range"
    NULL_ISLAND = "null_island"
    FUTURE = "future"  # the device is ahead by more than ahead_max_s
    SKEW = "skew"  # device and receive time further apart than skew_max_s: a buffered point, or a wrong clock
    REPEATED = "repeated"  # the same device time (or sequence number) once more: the first one stays
    OLD = "old"  # out of order
    RATE = "rate"  # sooner after the stored one than rate_per_s allows
    COARSE = "coarse"  # would replace a good fresh fix by a worse one
    SWAPPED = "swapped"  # latitude and longitude changed places
    JUMP = "jump"  # nobody drives that fast

    @property
    def archivable(self) -> bool:
        """Whether such a fix may go to the archive at its own time (see ``archivable``)."""
        return self in (Rejection.SKEW, Rejection.OLD)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestFix:
    """A position as it is kept on disk. It belongs to the worker, not to the phone that sent it."""

    worker_id: str
    device_ms: int
    received_ms: int
    lat: float
    lng: float
    accuracy_m: float | None = None
    seq: int | None = None


def known_accuracy(accuracy_m: float | None) -> float | None:
    """Metres, or None where the phone said 0, -1, NaN or nothing."""
    return accuracy_m if accuracy_m is not None and 0 < accuracy_m < inf else None


def lag_ms(device_ms: int, received_ms: int) -> int:
    """How old a position was when it came. A device a little ahead does not make it younger than new."""
    return max(0, received_ms - device_ms)


def device_age_ms(stored: Presence, mono_ms: int) -> int:
    """The age of a position now, on the clock that does not jump."""
    return mono_ms - stored.seen_mono_ms + stored.lag_ms


def poisoned(device_ms: int, received_ms: int, rules: FixRules) -> bool:
    """A time so far ahead that it must not be compared with: it would block everything after it."""
    return device_ms > received_ms + rules.ahead_max_s * 1000


def archivable(why: Rejection, report: Report, *, received_ms: int, rules: FixRules) -> bool:
    """Whether a refused fix belongs into the archive: a late point at its own time, within the days that are kept."""
    oldest_ms = received_ms - rules.archive_days * DAY_MS
    return why.archivable and oldest_ms < report.device_ms <= received_ms


def admit(
    stored: Presence | None, report: Report, *, received_ms: int, mono_ms: int, rules: FixRules
) -> Rejection | None:
    """None: the report becomes the worker's position. Otherwise why not.

    A jump is refused only while the stored position is fresh, so a wrong one blocks for ``fresh_s`` at most.
    """
    bad = refused(report.lat, report.lng, allow_null_island=rules.allow_null_island)
    if bad:
        return Rejection(bad.value)
    clocks = _clocks(report.device_ms, received_ms, rules)
    if clocks or stored is None or poisoned(stored.device_ms, received_ms, rules):
        return clocks
    return _order(stored, report, rules) or _worth(stored, report, mono_ms, rules)


def _clocks(device_ms: int, received_ms: int, rules: FixRules) -> Rejection | None:
    if abs(received_ms - device_ms) > rules.skew_max_s * 1000:
        return Rejection.SKEW
    return Rejection.FUTURE if poisoned(device_ms, received_ms, rules) else None


def _order(stored: Presence, report: Report, rules: FixRules) -> Rejection | None:
    gap_ms = report.device_ms - stored.device_ms
    if report.seq is not None and stored.seq is not None:
        # A stored device time is never further ahead than ahead_max_s; beyond that a lower number is a new count.
        if report.seq > stored.seq or gap_ms > rules.ahead_max_s * 1000:
            return None
        return Rejection.REPEATED if report.seq == stored.seq else Rejection.OLD
    if gap_ms == 0:
        return Rejection.REPEATED
    return None if gap_ms > -rules.ordering_allowance_s * 1000 else Rejection.OLD


def _worth(stored: Presence, report: Report, mono_ms: int, rules: FixRules) -> Rejection | None:
    if _too_soon(stored, report, mono_ms, rules):
        return Rejection.RATE
    fresh = device_age_ms(stored, mono_ms) <= rules.fresh_s * 1000
    if fresh and _coarser(stored, report, rules):
        return Rejection.COARSE
    was, now = Point(stored.lat, stored.lng), Point(report.lat, report.lng)
    far_m = metres(was, now)
    if far_m <= rules.jump_min_m:
        return None
    if swapped(was, report.lat, report.lng):
        return Rejection.SWAPPED
    return Rejection.JUMP if fresh and _too_fast(stored, report, far_m, rules) else None


def _too_soon(stored: Presence, report: Report, mono_ms: int, rules: FixRules) -> bool:
    """A limit without a memory: a fix must be 1/rate_per_s after the stored one, by its own time or by arrival.

    A phone that unloads a minute of buffered points keeps them (they are apart in device time), a noisy one is thinned
    to the rate. 0 = no limit.
    """
    apart_ms = 1000 // rules.rate_per_s if rules.rate_per_s else 0
    return report.device_ms - stored.device_ms < apart_ms and mono_ms - stored.seen_mono_ms < apart_ms


def _coarser(stored: Presence, report: Report, rules: FixRules) -> bool:
    accuracy = known_accuracy(report.accuracy_m) or 0.0
    return accuracy > rules.coarse_m >= (stored.accuracy_m or 0.0)


def _too_fast(stored: Presence, report: Report, far_m: float, rules: FixRules) -> bool:
    doubt_m = (stored.accuracy_m or 0.0) + (known_accuracy(report.accuracy_m) or 0.0)
    moved_m = far_m - doubt_m
    took_s = abs(report.device_ms - stored.device_ms) / 1000
    return moved_m > rules.jump_min_m and moved_m > rules.speed_max_kmh / 3.6 * took_s
