"""The hot index: who is where now, per tenant, in memory. Lost with the process and rebuilt from the latest fixes.

One lock, held shortly: reports are taken in slices, so that a search never waits for a whole upload.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from threading import Lock

import numpy as np

from engine.index.glimpse import all_seen
from engine.index.pool import City
from engine.index.positions import BORN, CELL, CONTACT, DIRTY, HOT, KIND, KNOWN, NEVER_MS, RECEIVED, Slots
from engine.index.search import Hit, Wanted, nearest
from engine.index.taking import Arrival, IndexRules, Taking
from engine.rules.freshness import LatestFix, Rejection, Report, poisoned
from engine.rules.nouns import Point, Presence, Seen
from engine.rules.place import RESOLUTION, cell_of, metres
from engine.rules.sightings import Ingested, Near

_SLICE = 256  # reports taken, or rows read, under one hold of the lock


class MemoryIndex:
    """Cell → workers and worker → presence. Every method may be called from any thread."""

    def __init__(self, rules: IndexRules, res: int = RESOLUTION) -> None:
        self._rules, self._taking = rules, Taking(rules)
        self._res = res
        self._cities: dict[str, City] = {}
        self._lock = Lock()
        self._hot_ms = rules.hot_s * 1000

    # --- who belongs here ---------------------------------------------------------------------------------------

    def enrol(self, tenant: str, worker_id: str, skills: frozenset[str]) -> None:
        """Fixes of this worker are taken from now on. Again with other skills: the position stays."""
        with self._lock:
            self._cities.setdefault(tenant, City(self._res)).enrol(worker_id, skills)

    def dismiss(self, tenant: str, worker_id: str) -> None:
        with self._lock:
            city = self._cities.get(tenant)
            if city:
                city.dismiss(worker_id)

    # --- fixes in -----------------------------------------------------------------------------------------------

    def report(self, tenant: str, reports: Sequence[Report], *, received_ms: int, mono_ms: int) -> Ingested:
        """Take a batch that came at one instant: in its order, each fix judged against the one before."""
        arrival = Arrival(received_ms, mono_ms)
        with self._lock:
            city = self._cities.get(tenant)
        if city is None:
            arrival.rejected[Rejection.UNKNOWN_WORKER] = len(reports)
        else:
            for start in range(0, len(reports), _SLICE):
                with self._lock:
                    self._taking.take(city, reports[start : start + _SLICE], arrival)
        kept = len(reports) - sum(arrival.rejected.values())
        return Ingested(kept=kept, rejected=tuple(sorted(arrival.rejected.items())), archive=tuple(arrival.archive))

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
            has_all = bool(kinds.all())
            lacking = city.count - pool.count
            wanted = Wanted(
                place=place,
                need=max(1, enough),
                max_m=max_m,
                kinds=None if has_all else kinds,
                fresh_from=mono_ms - self._rules.fresh_s * 1000,
            )
            found = nearest(city, pool, wanted, skills)
            others: list[Hit] = []
            if unskilled_max and not has_all:
                lacks = Wanted(place=place, need=unskilled_max, max_m=found.reach_m, kinds=~kinds)
                others = nearest(city, city.everybody, lacks, (skills, "lacks")).hits[:unskilled_max]
            return Near(
                skilled=all_seen(found.hits, mono_ms),
                unskilled=all_seen(others, mono_ms),
                unskilled_more=max(0, lacking - len(others)),
                rings=found.rings,
            )

    def seen(self, tenant: str, worker_id: str, place: Point, *, mono_ms: int) -> Seen | None:
        """One worker as seen from a place: the last known position, also when it left the hot index (its age tells)."""
        with self._lock:
            city = self._cities.get(tenant)
            slot = city.slots.get(worker_id, -1) if city else -1
            if city is None or slot < 0 or not city.positions.is_known(slot):
                return None
            row = city.positions.row(slot)
            return all_seen([(metres(place, Point(*row[:2])), worker_id, row)], mono_ms)[0]

    def unplaced(self, tenant: str, skills: frozenset[str], *, hot: bool, limit: int) -> tuple[tuple[str, ...], int]:
        """Workers with these skills who left the hot index or never were in it: no search finds them (``hot``: those
        in it too). Who was heard of last comes first, who never was comes last. At most ``limit``, and how many more.
        """
        with self._lock:
            city = self._cities.get(tenant)
            if city is None or not city.slots:
                return (), 0
            rows = len(city.ids)
            seen, held = city.positions.seen[:rows], city.positions.held[:rows]
            found: Slots = np.arange(rows) if hot else (seen[:, HOT] == 0).nonzero()[0]
            if not len(found):
                return (), 0
            found = found[city.fit(skills)[seen[found, KIND]]]
            heard = np.where(held[found, KNOWN] > 0, seen[found, CONTACT], NEVER_MS)
            slots: list[int] = found[np.argsort(-heard, kind="stable")].tolist()
            ids = [worker_id for slot in slots if (worker_id := city.ids[slot])]
            return tuple(ids[:limit]), max(0, len(ids) - limit)

    def presence(self, tenant: str, worker_id: str) -> Presence | None:
        """A copy of what the hot index holds of a worker."""
        with self._lock:
            city = self._cities.get(tenant)
            slot = city.slots.get(worker_id, -1) if city else -1
            if city is None or slot < 0 or not city.positions.is_hot(slot):
                return None
            return city.positions.presence(slot, worker_id)

    def present(self, tenant: str, *, mono_ms: int) -> tuple[tuple[str, int, int, int], ...]:
        """For boards: worker id, cell, device age and age of the last contact (ms). Hot workers alone."""
        with self._lock:
            city = self._cities.get(tenant)
            if city is None:
                return ()
            hot: Slots = city.positions.seen[:, HOT].nonzero()[0]
            rows = city.positions.seen.take(hot, axis=0)
            slots: list[int] = hot.tolist()
            ids = [city.ids[slot] for slot in slots]
        ages = mono_ms - rows[:, (BORN, CONTACT)]
        return tuple(zip(ids, rows[:, CELL].tolist(), ages[:, 0].tolist(), ages[:, 1].tolist(), strict=True))

    def quiet(self, tenant: str, *, older_ms: int, mono_ms: int) -> dict[str, tuple[int, int] | None]:
        """Whose position or contact is older than this, with both ages (ms; None: not hot, or never heard).

        The many who report in time cost nothing: rounds ask this of a whole city every few seconds."""
        with self._lock:
            city = self._cities.get(tenant)
            if city is None:
                return {}
            seen = city.positions.seen[: len(city.ids)]
            since = mono_ms - older_ms
            late: Slots = ((seen[:, HOT] == 0) | (seen[:, BORN] < since) | (seen[:, CONTACT] < since)).nonzero()[0]
            slots: list[int] = late.tolist()
            ids = [city.ids[slot] for slot in slots]
            rows = seen.take(late, axis=0)
        ages: list[list[int]] = (mono_ms - rows[:, (BORN, CONTACT)]).tolist()
        told = zip(ids, rows[:, HOT].tolist(), ages, strict=True)
        return {worker_id: (born, contact) if hot else None for worker_id, hot, (born, contact) in told if worker_id}

    # --- time, disk ---------------------------------------------------------------------------------------------

    def expire(self, *, mono_ms: int) -> int:
        """Take out what is older than hot_s. A look over the ages of all: some microseconds a thousand workers."""
        dropped = 0
        with self._lock:
            for city in self._cities.values():
                seen = city.positions.seen
                old: list[int] = ((seen[:, HOT] > 0) & (seen[:, BORN] < mono_ms - self._hot_ms)).nonzero()[0].tolist()
                for slot in old:
                    city.unplace(slot)
                dropped += len(old)
        return dropped

    def changed(self, tenant: str) -> tuple[LatestFix, ...]:
        """The positions that changed since the last call, for the write-behind.

        In slices, as reports are: a worker is read at the moment it counts as clean again, so no change is missed.
        """
        latest: list[LatestFix] = []
        with self._lock:
            city = self._cities.get(tenant)
            dirty: Slots = city.positions.held[:, DIRTY].nonzero()[0] if city else np.empty(0, dtype=np.int64)
        for start in range(0, len(dirty), _SLICE):
            with self._lock:
                assert city is not None
                held, part = city.positions.held, dirty[start : start + _SLICE]
                part = part[held[part, DIRTY] > 0]  # not those dismissed meanwhile
                held[part, DIRTY] = 0
                latest += city.positions.latest(part, city.ids)
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
        slot, positions = city.slots.get(row.worker_id, -1), city.positions
        if slot < 0 or (positions.held[slot, KNOWN] and positions.held[slot, RECEIVED] >= row.received_ms):
            return False
        if poisoned(row.device_ms, row.received_ms, self._rules) or poisoned(row.received_ms, now_ms, self._rules):
            return False
        positions.put(slot, row, seen_mono_ms=mono_ms - max(0, now_ms - row.received_ms))
        cell = cell_of(row.lat, row.lng, self._res)
        if mono_ms - int(positions.seen[slot, BORN]) > self._hot_ms:
            city.unplace(slot)
            positions.seen[slot, CELL] = cell
            return False
        city.move(slot, cell)
        return True
