"""Fixes into the tables: a batch at once where each plainly moves its worker a little, one by one where ``admit`` must
judge. A test holds the two ways together.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Protocol

import numpy as np

from engine.index.pool import City
from engine.index.positions import (
    ACCURACY,
    BORN,
    CELL,
    CONTACT,
    DEVICE,
    DIRTY,
    HOT,
    INNER,
    LAT,
    LNG,
    MIDDLE_LAT,
    MIDDLE_LNG,
    NO_SEQ,
    RECEIVED,
    SAMPLED,
    SAMPLED_LATE,
    SEQ,
    SHRINK,
    Floats,
    Ints,
    Slots,
)
from engine.rules.freshness import FixRules, LatestFix, Rejection, Report, admit, archivable, known_accuracy
from engine.rules.place import NULL_ISLAND_DEG, cell_of, normal_lng

_TOGETHER = 16  # fewer fixes than this are taken one by one: a call of numpy costs as much as some
_DEGREE_M = 112_000  # at least the length of a degree of latitude
_NEAR_POLE = 89.9


class IndexRules(FixRules, Protocol):
    """What the index needs of ``[location]``."""

    @property
    def hot_s(self) -> int: ...
    @property
    def archive_every_s(self) -> int: ...


@dataclass(slots=True)
class Arrival:
    """Fixes that came at one instant, and what became of them."""

    received_ms: int
    mono_ms: int
    rejected: Counter[Rejection] = field(default_factory=Counter[Rejection])
    archive: list[LatestFix] = field(default_factory=list[LatestFix])


class Taking:
    """How fixes are taken under these rules. Call it while the index is locked."""

    def __init__(self, rules: IndexRules) -> None:
        self._rules = rules
        self._beside_deg = rules.jump_min_m / 1.5 / _DEGREE_M  # both ways: still nearer than a jump
        self._apart_ms = max(1, 1000 // rules.rate_per_s) if rules.rate_per_s else 1
        self._every_ms = rules.archive_every_s * 1000

    def take(self, city: City, reports: Sequence[Report], arrival: Arrival) -> None:
        """In their order for each worker: the first of each, then the second of each, and so on."""
        known = city.slots
        slots: list[int] = [known.get(report.worker, -1) for report in reports]
        if -1 in slots:
            arrival.rejected[Rejection.UNKNOWN_WORKER] += slots.count(-1)
            reports = [report for report, slot in zip(reports, slots, strict=True) if slot >= 0]
            slots = [slot for slot in slots if slot >= 0]
        while slots:
            once = dict(zip(reversed(slots), range(len(slots) - 1, -1, -1), strict=True))  # the first of each
            if len(once) == len(slots):
                self._each_once(city, reports, slots, arrival)
                return
            first = sorted(once.values())
            self._each_once(city, [reports[n] for n in first], [slots[n] for n in first], arrival)
            now = set(first)
            reports = [report for n, report in enumerate(reports) if n not in now]
            slots = [slot for n, slot in enumerate(slots) if n not in now]

    def _each_once(self, city: City, reports: Sequence[Report], slots: list[int], arrival: Arrival) -> None:
        left: Sequence[int] = (
            range(len(slots)) if len(slots) < _TOGETHER else self._at_once(city, reports, slots, arrival)
        )
        for n in left:
            self._judge(city, slots[n], reports[n], arrival)

    # --- at once ------------------------------------------------------------------------------------------------

    def _at_once(self, city: City, reports: Sequence[Report], slots: list[int], arrival: Arrival) -> list[int]:
        """Take those that are plain; answers which are left."""
        batch = _Batch(reports)
        at = np.array(slots, dtype=np.int64)
        plain = self._plain(city, at, batch, arrival)
        left: list[int] = []
        if not plain.all():
            left = (~plain).nonzero()[0].tolist()
            chosen = plain.nonzero()[0]
            at, batch = at[chosen], batch.only(chosen)
        if len(at):
            self._write(city, at, batch, arrival)
        return left

    def _plain(
        self, city: City, at: Slots, batch: "_Batch", arrival: Arrival
    ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Newer by enough, its clock sane, its worker in the grid and still beside, not coarse, surely a place."""
        rules, positions, received = self._rules, city.positions, arrival.received_ms
        degrees = positions.degrees.take(at, axis=0)
        held = positions.held.take(at, axis=0)
        lat, lng, accuracy, device, beside = batch.lat, batch.lng, batch.accuracy, batch.device, self._beside_deg
        plain = device - held[:, DEVICE] >= self._apart_ms
        plain &= device >= received - rules.skew_max_s * 1000
        plain &= device <= received + min(rules.ahead_max_s, rules.skew_max_s) * 1000
        plain &= positions.seen[at, HOT] > 0
        plain &= np.abs(lat - degrees[:, LAT]) < beside
        plain &= np.abs(lng - degrees[:, LNG]) < beside
        north = np.abs(lat)
        plain &= (north > NULL_ISLAND_DEG) & (north < _NEAR_POLE)
        plain &= (lng >= -180) & (lng < 180)
        plain &= ~((accuracy <= 0) | (accuracy > rules.coarse_m))  # NaN, unknown, is neither
        if batch.seq is not None:
            stored = held[:, SEQ]
            plain &= (batch.seq == NO_SEQ) | (stored == NO_SEQ) | (batch.seq > stored)
        return plain

    def _write(self, city: City, at: Slots, batch: "_Batch", arrival: Arrival) -> None:
        positions, device = city.positions, batch.device
        seen, held = positions.seen.take(at, axis=0), positions.held.take(at, axis=0)
        degrees = seen.view(np.float64)
        degrees[:, LAT], degrees[:, LNG], degrees[:, ACCURACY] = batch.lat, batch.lng, batch.accuracy
        seen[:, BORN] = arrival.mono_ms - np.maximum(arrival.received_ms - device, 0)
        seen[:, CONTACT] = arrival.mono_ms
        held[:, DEVICE], held[:, RECEIVED], held[:, DIRTY] = device, arrival.received_ms, 1
        held[:, SEQ] = NO_SEQ if batch.seq is None else batch.seq
        since = device - held[:, SAMPLED]
        due = ((since < 0) | (since >= self._every_ms)).nonzero()[0]
        if len(due):
            held[due, SAMPLED] = device[due]
        positions.seen[at], positions.held[at] = seen, held
        if len(due):
            arrival.archive += positions.latest(at[due], city.ids)
        self._settle(city, at, batch, seen)

    def _settle(self, city: City, at: Slots, batch: "_Batch", seen: Ints) -> None:
        """Those outside the circle of their cell may have left it."""
        home = city.positions.home.take(at, axis=0)
        y, x = batch.lat - home[:, MIDDLE_LAT], (batch.lng - home[:, MIDDLE_LNG]) * home[:, SHRINK]
        for n in (y * y + x * x >= home[:, INNER]).nonzero()[0].tolist():
            cell = cell_of(batch.lat[n], batch.lng[n], city.res)
            if cell != seen[n, CELL]:
                city.move(int(at[n]), cell)

    # --- one by one ---------------------------------------------------------------------------------------------

    def _judge(self, city: City, slot: int, report: Report, arrival: Arrival) -> None:
        positions = city.positions
        stored = positions.presence(slot, report.worker) if positions.is_known(slot) else None
        why = admit(stored, report, received_ms=arrival.received_ms, mono_ms=arrival.mono_ms, rules=self._rules)
        fix = LatestFix(
            worker_id=report.worker,
            device_ms=report.device_ms,
            received_ms=arrival.received_ms,
            lat=report.lat,
            lng=normal_lng(report.lng),
            accuracy_m=known_accuracy(report.accuracy_m),
            seq=report.seq,
        )
        if why:
            arrival.rejected[why] += 1
            self._refuse(
                city, slot, fix, archivable(why, report, received_ms=arrival.received_ms, rules=self._rules), arrival
            )
            return
        positions.put(slot, fix, seen_mono_ms=arrival.mono_ms)
        city.move(slot, cell_of(fix.lat, fix.lng, city.res))
        positions.held[slot, DIRTY] = 1
        if not 0 <= fix.device_ms - int(positions.held[slot, SAMPLED]) < self._every_ms:
            positions.held[slot, SAMPLED] = fix.device_ms
            arrival.archive.append(fix)

    def _refuse(self, city: City, slot: int, fix: LatestFix, is_late: bool, arrival: Arrival) -> None:
        """The worker was heard of, whatever it said; a late point may still go to the archive at its own time."""
        positions = city.positions
        positions.seen[slot, CONTACT] = arrival.mono_ms
        if is_late and abs(fix.device_ms - int(positions.held[slot, SAMPLED_LATE])) >= self._every_ms:
            positions.held[slot, SAMPLED_LATE] = fix.device_ms
            arrival.archive.append(fix)


class _Batch:
    """The numbers of some fixes, by column. ``seq`` None: nobody said one."""

    __slots__ = ("accuracy", "device", "lat", "lng", "seq")

    def __init__(self, reports: Sequence[Report]) -> None:
        self.lat: Floats = np.array([each.lat for each in reports], dtype=np.float64)
        self.lng: Floats = np.array([each.lng for each in reports], dtype=np.float64)
        said = [each.accuracy_m for each in reports]
        self.accuracy: Floats = np.array([nan if each is None else each for each in said], dtype=np.float64)
        self.device: Ints = np.array([each.device_ms for each in reports], dtype=np.int64)
        numbers = [each.seq for each in reports]
        self.seq: Ints | None = None
        if any(each is not None for each in numbers):
            self.seq = np.array([NO_SEQ if each is None else each for each in numbers], dtype=np.int64)

    def only(self, chosen: Slots) -> "_Batch":
        """Some of them."""
        part = _Batch(())
        part.lat, part.lng, part.accuracy = self.lat[chosen], self.lng[chosen], self.accuracy[chosen]
        part.device, part.seq = self.device[chosen], None if self.seq is None else self.seq[chosen]
        return part
