"""The hot index: who is where now, per tenant, in memory. Lost with the process and rebuilt from the latest fixes.

One lock, held shortly: reports are taken in slices, so that a search never waits for a whole upload.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from math import nan
from threading import Lock
from typing import Protocol

from engine.index.glimpse import all_seen
from engine.index.pool import City, Tracked
from engine.index.search import Hit, Wanted, nearest
from engine.rules.freshness import (
    FixRules,
    LatestFix,
    Rejection,
    Report,
    admit,
    archivable,
    device_age_ms,
    known_accuracy,
    lag_ms,
    poisoned,
)
from engine.rules.nouns import Point, Presence, Seen
from engine.rules.place import NULL_ISLAND_DEG, RESOLUTION, cell_of, metres, normal_lng
from engine.rules.sightings import Ingested, Near

_SLICE = 256  # reports taken under one hold of the lock
_DEGREE_M = 112_000  # at least the length of a degree of latitude


class IndexRules(FixRules, Protocol):
    """What the index needs of ``[location]``."""

    @property
    def hot_s(self) -> int: ...
    @property
    def archive_every_s(self) -> int: ...


class MemoryIndex:
    """Cell → workers and worker → presence. Every method may be called from any thread."""

    def __init__(self, rules: IndexRules, res: int = RESOLUTION) -> None:
        self._rules = rules
        self._res = res
        self._cities: dict[str, City] = {}
        self._lock = Lock()
        self._hot_ms = rules.hot_s * 1000
        self._beside_deg = rules.jump_min_m / 1.5 / _DEGREE_M  # both ways: still nearer than a jump

    # --- who belongs here ---------------------------------------------------------------------------------------

    def enrol(self, tenant: str, worker_id: str, skills: frozenset[str]) -> None:
        """Fixes of this worker are taken from now on. Again with other skills: the position stays."""
        with self._lock:
            city = self._cities.setdefault(tenant, City(self._res))
            worker = city.workers.get(worker_id)
            if worker is None:
                city.workers[worker_id] = Tracked(worker_id, skills, city.kind(skills))
            elif worker.skills != skills:
                hot, cell = worker.hot, worker.column.cell
                city.unplace(worker)
                worker.skills, worker.kind = skills, city.kind(skills)
                if hot:
                    city.place(worker, cell)

    def dismiss(self, tenant: str, worker_id: str) -> None:
        with self._lock:
            city = self._cities.get(tenant)
            worker = city.workers.pop(worker_id, None) if city else None
            if city and worker:
                city.unplace(worker)
                worker.known = False

    # --- fixes in -----------------------------------------------------------------------------------------------

    def report(self, tenant: str, reports: Sequence[Report], *, received_ms: int, mono_ms: int) -> Ingested:
        """Take a batch that came at one instant: in its order, each fix judged against the one before."""
        rejected: Counter[Rejection] = Counter()
        archive: list[LatestFix] = []
        with self._lock:
            city = self._cities.get(tenant)
        if city is None:
            rejected[Rejection.UNKNOWN_WORKER] = len(reports)
            reports = ()
        else:
            for start in range(0, len(reports), _SLICE):
                with self._lock:
                    self._take(city, reports[start : start + _SLICE], received_ms, mono_ms, rejected, archive)
        kept = len(reports) - sum(rejected.values()) if city else 0
        return Ingested(kept=kept, rejected=tuple(sorted(rejected.items())), archive=tuple(archive))

    def _take(
        self,
        city: City,
        reports: Sequence[Report],
        received_ms: int,
        mono_ms: int,
        rejected: Counter[Rejection],
        archive: list[LatestFix],
    ) -> None:
        """The hot loop. A fix that moved a little and is plainly newer is taken without asking ``admit`` (a test holds
        the two together); all others go through it."""
        rules, workers, beside, res, finer = self._rules, city.workers, self._beside_deg, self._res, self._res + 1
        latest_ms = received_ms + min(rules.ahead_max_s, rules.skew_max_s) * 1000
        earliest_ms = received_ms - rules.skew_max_s * 1000
        apart_ms = max(1, 1000 // rules.rate_per_s) if rules.rate_per_s else 1
        coarse, every_ms, hot_ms = rules.coarse_m, rules.archive_every_s * 1000, self._hot_ms
        for report in reports:
            worker = workers.get(report.worker)
            if worker is None:
                rejected[Rejection.UNKNOWN_WORKER] += 1
                continue
            device_ms, lat, lng, accuracy = report.device_ms, report.lat, report.lng, report.accuracy_m
            if not (
                device_ms - worker.device_ms >= apart_ms
                and earliest_ms <= device_ms <= latest_ms
                and worker.hot
                and -beside < lat - worker.lat < beside
                and -beside < lng - worker.lng < beside
                and (NULL_ISLAND_DEG < lat < 89.9 or -89.9 < lat < -NULL_ISLAND_DEG)
                and -180 <= lng < 180
                and (accuracy is None or 0 < accuracy <= coarse)
                and (report.seq is None or worker.seq is None or report.seq > worker.seq)
            ):
                stored = worker if worker.known else None
                why = admit(stored, report, received_ms=received_ms, mono_ms=mono_ms, rules=rules)
                if why:
                    rejected[why] += 1
                    self._refused(worker, report, why, received_ms, mono_ms, archive)
                    continue
                lng, accuracy = normal_lng(lng), known_accuracy(accuracy)
            worker.lat, worker.lng, worker.accuracy_m = lat, lng, accuracy
            worker.device_ms, worker.seq, worker.received_ms = device_ms, report.seq, received_ms
            worker.seen_mono_ms = worker.contact_mono_ms = mono_ms
            lag = received_ms - device_ms
            worker.lag_ms = lag if lag > 0 else 0  # noqa: FURB136 - a call costs more, and this is the hot loop
            worker.born_mono_ms = born = mono_ms - worker.lag_ms
            column = worker.column
            y, x = lat - column.lat, (lng - column.lng) * column.shrink
            if y * y + x * x < column.outer or cell_of(lat, lng, finer) == column.cell:
                at, home, rows, notes = worker.slot, column.home, column.rows, column.notes
                three, four = 3 * at, 4 * at
                rows[three], rows[three + 1], rows[three + 2] = lat, lng, nan if accuracy is None else accuracy
                notes[four], notes[four + 1] = born, mono_ms
                y, x = lat - home.lat, (lng - home.lng) * home.shrink
                cell = home.cell if y * y + x * x < home.inner else cell_of(lat, lng, res)
                if cell != worker.cell:
                    worker.cell = notes[four + 3] = cell
            else:
                self._move(city, worker)
            if born + hot_ms < worker.due_mono_ms:
                _wake(city, worker, born + hot_ms)
            if not worker.dirty:
                worker.dirty = True
                city.changed.append(worker)
            if not 0 <= device_ms - worker.sampled_ms < every_ms:
                worker.sampled_ms = device_ms
                archive.append(_latest(worker))

    def _refused(
        self,
        worker: Tracked,
        report: Report,
        why: Rejection,
        received_ms: int,
        mono_ms: int,
        archive: list[LatestFix],
    ) -> None:
        """The worker was heard of, whatever it said; a late point may still go to the archive at its own time."""
        worker.contact_mono_ms = mono_ms
        if worker.hot:
            worker.column.notes[4 * worker.slot + 1] = mono_ms
        if not archivable(why, report, received_ms=received_ms, rules=self._rules):
            return
        if abs(report.device_ms - worker.sampled_late_ms) < self._rules.archive_every_s * 1000:
            return
        worker.sampled_late_ms = report.device_ms
        archive.append(
            LatestFix(
                worker_id=worker.worker_id,
                device_ms=report.device_ms,
                received_ms=received_ms,
                lat=report.lat,
                lng=normal_lng(report.lng),
                accuracy_m=known_accuracy(report.accuracy_m),
                seq=report.seq,
            )
        )

    def _move(self, city: City, worker: Tracked) -> None:
        hot, known = worker.hot, worker.known
        worker.cell, worker.known = cell_of(worker.lat, worker.lng, self._res), True
        city.move(worker, cell_of(worker.lat, worker.lng, self._res + 1))
        if not (hot and known):
            _wake(city, worker, worker.born_mono_ms + self._hot_ms)

    # --- who is about -------------------------------------------------------------------------------------------

    def near(
        self,
        tenant: str,
        place: Point,
        skills: frozenset[str],
        *,
        enough: int,
        max_m: float,
        unskilled_max: int,
        mono_ms: int,
    ) -> Near:
        """The nearest workers, outward from the place's cell until ``enough`` fresh skilled ones are certain."""
        with self._lock:
            city = self._cities.get(tenant)
            if city is None:
                return Near(skilled=(), unskilled=(), unskilled_more=0, rings=0)
            pool, kinds = city.rarest(skills), city.fit(skills)
            lacking = city.count - pool.count
            found = nearest(
                city,
                pool,
                Wanted(
                    place=place,
                    need=max(1, enough),
                    max_m=max_m,
                    kinds=kinds if lacking or len(skills) > 1 else None,
                    fresh_from=mono_ms - self._rules.fresh_s * 1000,
                ),
            )
            others = self._lacking(city, place, kinds, unskilled_max, found.reach_m)
            return Near(
                skilled=all_seen(found.hits, mono_ms),
                unskilled=all_seen(others, mono_ms),
                unskilled_more=max(0, lacking - len(others)),
                rings=found.rings,
            )

    def _lacking(self, city: City, place: Point, kinds: frozenset[int], need: int, max_m: float) -> list[Hit]:
        if not need or len(kinds) == len(city.kinds):
            return []
        wanted = Wanted(place=place, need=need, max_m=max_m, kinds=kinds, fits=False)
        return nearest(city, city.everybody, wanted).hits[:need]

    def seen(self, tenant: str, worker_id: str, place: Point, *, mono_ms: int) -> Seen | None:
        """One worker as seen from a place: the last known position, also when it left the hot index (its age tells)."""
        with self._lock:
            worker = self._worker(tenant, worker_id)
            if worker is None or not worker.known:
                return None
            return _seen(worker, mono_ms, metres(place, Point(worker.lat, worker.lng)))

    def presence(self, tenant: str, worker_id: str) -> Presence | None:
        """A copy of what the hot index holds of a worker."""
        with self._lock:
            worker = self._worker(tenant, worker_id)
            return worker.copy() if worker and worker.hot else None

    def present(self, tenant: str, *, mono_ms: int) -> tuple[tuple[str, int, int, int], ...]:
        """For boards: worker id, cell, device age and age of the last contact (ms). Hot workers alone."""
        with self._lock:
            city = self._cities.get(tenant)
            workers = list(city.workers.values()) if city else []
        found: list[tuple[str, int, int, int]] = []
        for start in range(0, len(workers), _SLICE):
            with self._lock:
                found += [
                    (each.worker_id, each.cell, device_age_ms(each, mono_ms), mono_ms - each.contact_mono_ms)
                    for each in workers[start : start + _SLICE]
                    if each.hot
                ]
        return tuple(found)

    def _worker(self, tenant: str, worker_id: str) -> Tracked | None:
        city = self._cities.get(tenant)
        return city.workers.get(worker_id) if city else None

    # --- time, disk ---------------------------------------------------------------------------------------------

    def expire(self, *, mono_ms: int) -> int:
        """Take out what is older than hot_s. Costs what it drops: each worker waits once, under the time it was due."""
        dropped = 0
        with self._lock:
            for city in self._cities.values():
                while city.due and city.due[0][0] < mono_ms:
                    at_ms, _, worker = heapq.heappop(city.due)
                    if at_ms != worker.due_mono_ms or not worker.hot:
                        continue  # waits under another time, or is gone
                    due_ms = worker.born_mono_ms + self._hot_ms
                    if due_ms >= mono_ms:
                        _wake(city, worker, due_ms)
                    else:
                        city.unplace(worker)
                        dropped += 1
        return dropped

    def changed(self, tenant: str) -> tuple[LatestFix, ...]:
        """The positions that changed since the last call, for the write-behind.

        In slices, as reports are: a worker is read at the moment it counts as clean again, so no change is missed.
        """
        with self._lock:
            city = self._cities.get(tenant)
            if city is None:
                return ()
            workers, city.changed = city.changed, []
        latest: list[LatestFix] = []
        for start in range(0, len(workers), _SLICE):
            with self._lock:
                for worker in workers[start : start + _SLICE]:
                    worker.dirty = False
                    if worker.known:
                        latest.append(_latest(worker))
        return tuple(latest)

    def load(self, tenant: str, rows: Iterable[LatestFix], *, now_ms: int, mono_ms: int) -> int:
        """Rebuild, or catch up with another process's write-behind. Returns how many positions became hot.

        Ages come from ``now_ms`` (the database's clock) at this moment and from the monotonic clock afterwards.
        Poisoned rows, workers not enrolled, and what is not newer than what is held are passed over; too old a row
        is remembered for "last seen" alone.
        """
        taken, rows = 0, iter(rows)
        while part := list(islice(rows, _SLICE)):
            with self._lock:
                city = self._cities.get(tenant)
                taken += sum(self._restore(city, row, now_ms, mono_ms) for row in part) if city else 0
        return taken

    def _restore(self, city: City, row: LatestFix, now_ms: int, mono_ms: int) -> bool:
        worker = city.workers.get(row.worker_id)
        if worker is None or (worker.known and worker.received_ms >= row.received_ms):
            return False
        if poisoned(row.device_ms, row.received_ms, self._rules) or poisoned(row.received_ms, now_ms, self._rules):
            return False
        worker.lat, worker.lng, worker.accuracy_m = row.lat, row.lng, row.accuracy_m
        worker.device_ms, worker.seq, worker.received_ms = row.device_ms, row.seq, row.received_ms
        worker.seen_mono_ms = worker.contact_mono_ms = mono_ms - max(0, now_ms - row.received_ms)
        worker.lag_ms = lag_ms(row.device_ms, row.received_ms)
        worker.born_mono_ms = worker.seen_mono_ms - worker.lag_ms
        if mono_ms - worker.born_mono_ms > self._hot_ms:
            city.unplace(worker)
            worker.cell, worker.known = cell_of(row.lat, row.lng, self._res), True
            return False
        self._move(city, worker)
        if worker.born_mono_ms + self._hot_ms < worker.due_mono_ms:
            _wake(city, worker, worker.born_mono_ms + self._hot_ms)
        return True


def _wake(city: City, worker: Tracked, due_mono_ms: int) -> None:
    city.turn += 1  # a heap compares what comes after the time: numbers, never workers
    worker.due_mono_ms = due_mono_ms
    heapq.heappush(city.due, (due_mono_ms, city.turn, worker))


def _latest(worker: Tracked) -> LatestFix:
    return LatestFix(
        worker_id=worker.worker_id,
        device_ms=worker.device_ms,
        received_ms=worker.received_ms,
        lat=worker.lat,
        lng=worker.lng,
        accuracy_m=worker.accuracy_m,
        seq=worker.seq,
    )


def _seen(worker: Tracked, mono_ms: int, distance: float) -> Seen:
    return Seen(
        worker_id=worker.worker_id,
        place=Point(worker.lat, worker.lng),
        cell=worker.cell,
        device_age_ms=mono_ms - worker.born_mono_ms,
        receive_age_ms=mono_ms - worker.contact_mono_ms,
        accuracy_m=worker.accuracy_m,
        distance_m=distance,
    )
