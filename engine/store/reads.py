"""Rows into nouns: every read the verbs may ask of the store."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager

from engine.program import Row, Rows, Scalar
from engine.rules.chain import GENESIS, first_bad
from engine.rules.days import local_day
from engine.rules.ledger import (
    Alert,
    AuditRow,
    AuditVerdict,
    Clock,
    Decision,
    OfferFacts,
    Policy,
    Region,
    Site,
    Summary,
)
from engine.rules.nouns import Area, Booking, Facts, Interval, Job, Offer, Worker
from engine.store import nouns as read
from engine.store.nouns import number, text, text_or_none

AUDIT_PAGE = 5_000
AMONG = 32


class Reads:
    """Mixed into the store: each method is one or a few named statements on the calling thread's connection."""

    @abstractmethod
    def rows(self, tenant: str, name: str, **binds: Scalar) -> Rows: ...

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]: ...

    # --- the site ---------------------------------------------------------------------------------------------------

    def sites(self) -> tuple[Site, ...]:
        return tuple(
            Site(
                tenant=text(row["tenant_id"]),
                name=text(row["name"]),
                zone=text(row["zone"]),
                settings=text(row["settings"]),
            )
            for row in self.rows("", "list_tenants")
        )

    def clock(self, tenant: str) -> Clock:
        [row] = self.rows(tenant, "read_clock")
        return Clock(now_ms=number(row["now_ms"]), zone=text(row["zone"]))

    def policy(self, tenant: str) -> Policy:
        [row] = self.rows(tenant, "read_policy")
        return read.policy(row)

    def regions(self, tenant: str) -> tuple[Region, ...]:
        return tuple(
            Region(
                id=text(row["region_id"]),
                area_id=text_or_none(row["area_id"]),
                epoch=number(row["epoch"]),
                holder=text_or_none(row["holder"]),
                lease_until_ms=number(row["lease_until_ms"]),
            )
            for row in self.rows(tenant, "list_regions")
        )

    def areas(self, tenant: str) -> tuple[Area, ...]:
        return tuple(read.area(row["area_id"], row["name"], row["rings"]) for row in self.rows(tenant, "list_areas"))

    # --- jobs -------------------------------------------------------------------------------------------------------

    def job(self, tenant: str, job_id: str) -> Job | None:
        found = self.rows(tenant, "read_job", job_id=job_id)
        return read.job(found[0]) if found else None

    def jobs(self, tenant: str, *, live_only: bool = False) -> tuple[Job, ...]:
        return tuple(map(read.job, self.rows(tenant, "list_live_jobs" if live_only else "list_jobs")))

    def waiting_jobs(self, tenant: str, region: str, *, horizon_ms: int, limit: int) -> tuple[Job, ...]:
        found = self.rows(tenant, "list_waiting_jobs", region_id=region, horizon_ms=horizon_ms, limit=limit)
        return tuple(map(read.job, found))

    def overdue_jobs(self, tenant: str, region: str, *, limit: int) -> tuple[Job, ...]:
        return tuple(map(read.job, self.rows(tenant, "list_overdue_jobs", region_id=region, limit=limit)))

    def job_key(self, tenant: str, key: str) -> tuple[str, str] | None:
        """The body's hash and the job of an idempotency key."""
        found = self.rows(tenant, "read_job_key", key=key)
        return (text(found[0]["body_hash"]), text(found[0]["job_id"])) if found else None

    # --- workers ----------------------------------------------------------------------------------------------------

    def facts(self, tenant: str, job_id: str, worker_ids: Iterable[str]) -> Facts | None:
        """One consistent read of the job and these workers (unknown and archived ones are left out)."""
        with self.snapshot():
            found = self.rows(tenant, "read_job", job_id=job_id)
            if not found:
                return None
            clock = self.clock(tenant)
            day = local_day(clock.now_ms, clock.zone)
            asked = (self._worker(tenant, worker_id, day, job_id, clock.now_ms) for worker_id in worker_ids)
            workers = tuple(worker for worker in asked if worker is not None)
        return Facts(now_ms=clock.now_ms, job=read.job(found[0]), workers=workers)

    def worker(self, tenant: str, worker_id: str) -> Worker | None:
        with self.snapshot():
            clock = self.clock(tenant)
            return self._worker(tenant, worker_id, local_day(clock.now_ms, clock.zone), "", clock.now_ms)

    def workers(self, tenant: str) -> tuple[Worker, ...]:
        with self.snapshot():
            clock = self.clock(tenant)
            day = local_day(clock.now_ms, clock.zone)
            found = self.rows(tenant, "list_workers", day=day)
            held: dict[str, list[Booking]] = {}
            for worker_id, booking in self.bookings(tenant):
                held.setdefault(worker_id, []).append(booking)
            return tuple(
                self._whole(tenant, row, clock.now_ms, tuple(held.get(text(row["worker_id"]), ()))) for row in found
            )

    def _worker(self, tenant: str, worker_id: str, day: str, job_id: str, now_ms: int) -> Worker | None:
        found = self.rows(tenant, "read_worker", worker_id=worker_id, day=day, job_id=job_id)
        if not found or found[0]["archived"]:
            return None
        return self._whole(tenant, found[0], now_ms, self._bookings(tenant, worker_id))

    def _whole(self, tenant: str, row: Row, now_ms: int, bookings: tuple[Booking, ...]) -> Worker:
        worker_id = text(row["worker_id"])
        return read.worker(
            row,
            shifts=self._spans(tenant, "list_shifts", worker_id, now_ms),
            absences=self._spans(tenant, "list_absences", worker_id, now_ms),
            bookings=bookings,
        )

    def _spans(self, tenant: str, name: str, worker_id: str, from_ms: int) -> tuple[Interval, ...]:
        found = self.rows(tenant, name, worker_id=worker_id, from_ms=from_ms)
        return tuple(Interval(starts_ms=number(row["starts_ms"]), ends_ms=number(row["ends_ms"])) for row in found)

    def _bookings(self, tenant: str, worker_id: str) -> tuple[Booking, ...]:
        return tuple(map(read.booking, self.rows(tenant, "list_bookings", worker_id=worker_id)))

    def bookings(self, tenant: str) -> tuple[tuple[str, Booking], ...]:
        """(worker, booking) of everybody, in order of time."""
        found = self.rows(tenant, "list_all_bookings")
        return tuple((text(row["worker_id"]), read.booking(row)) for row in found)

    def on_shift(self, tenant: str, at_ms: int, *, limit: int) -> tuple[tuple[str, frozenset[str]], ...]:
        return tuple(map(read.skilled, self.rows(tenant, "list_on_shift", at_ms=at_ms, limit=limit)))

    def on_duty(self, tenant: str, at_ms: int, *, among: Collection[str] | None = None) -> tuple[tuple[str, int], ...]:
        """(worker, since when) of everybody, or of those ``among``, who is on shift and not absent."""
        if among is None:
            found = self.rows(tenant, "list_on_duty", at_ms=at_ms)
        else:
            found = self._among(tenant, "list_on_duty_among", at_ms, among)
        return tuple((text(row["worker_id"]), number(row["since_ms"])) for row in found)

    def on_shift_among(self, tenant: str, at_ms: int, among: Collection[str]) -> tuple[tuple[str, str, bool], ...]:
        """(worker, region, absent) of those ``among`` who are on shift."""
        found = self._among(tenant, "list_on_shift_among", at_ms, among)
        return tuple((text(row["worker_id"]), text(row["region_id"]), bool(row["absences"])) for row in found)

    def _among(self, tenant: str, name: str, at_ms: int, among: Collection[str]) -> Rows:
        """A statement that asks of so many at a time, asked of all."""
        found, asked = list[Row](), sorted(among)
        for start in range(0, len(asked), AMONG):
            some = asked[start : start + AMONG]
            binds = {f"w{n:02}": worker_id for n, worker_id in enumerate(some, 1)}
            rest = dict.fromkeys((f"w{n:02}" for n in range(len(some) + 1, AMONG + 1)), some[0])
            found.extend(self.rows(tenant, name, at_ms=at_ms, **binds, **rest))
        return found

    def count_on_duty(self, tenant: str, at_ms: int) -> int:
        return number(self.rows(tenant, "count_on_duty", at_ms=at_ms)[0]["n"])

    def headcount(self, tenant: str) -> int:
        return number(self.rows(tenant, "count_workers")[0]["n"])

    def enrolled(self, tenant: str) -> tuple[tuple[str, frozenset[str]], ...]:
        return tuple(map(read.skilled, self.rows(tenant, "list_enrolled")))

    def moving_workers(self, tenant: str, region: str) -> tuple[tuple[str, str, int], ...]:
        """(worker, region to move to, generation) of those of a region whose handoff waits no longer for an offer."""
        found = self.rows(tenant, "list_moving_workers", region_id=region)
        return tuple((text(row["worker_id"]), text(row["moving_to"]), number(row["generation"])) for row in found)

    # --- offers -----------------------------------------------------------------------------------------------------

    def offer(self, tenant: str, offer_id: str) -> OfferFacts | None:
        found = self.rows(tenant, "read_offer", offer_id=offer_id)
        if not found:
            return None
        [row] = found
        return OfferFacts(
            offer=read.offer(row),
            now_ms=number(row["now_ms"]),
            epoch_now=number(row["epoch_now"]),
            generation_now=number(row["generation_now"]),
            job_held_offer_id=text_or_none(row["held_offer_id"]),
        )

    def live_offers(self, tenant: str) -> tuple[Offer, ...]:
        return tuple(map(read.offer, self.rows(tenant, "list_live_offers")))

    def offers_of_job(self, tenant: str, job_id: str) -> tuple[Offer, ...]:
        return tuple(map(read.offer, self.rows(tenant, "list_offers_of_job", job_id=job_id)))

    def offers_of_worker(self, tenant: str, worker_id: str) -> tuple[Offer, ...]:
        return tuple(map(read.offer, self.rows(tenant, "list_offers_of_worker", worker_id=worker_id)))

    def due_offers(self, tenant: str, region: str, *, limit: int) -> tuple[str, ...]:
        return tuple(
            text(row["offer_id"]) for row in self.rows(tenant, "list_due_offers", region_id=region, limit=limit)
        )

    def offers_answered(self, tenant: str, since_ms: int) -> Mapping[str, int]:
        found = self.rows(tenant, "count_offers_since", since_ms=since_ms)
        return {text(row["state"]): number(row["n"]) for row in found}

    # --- the record -------------------------------------------------------------------------------------------------

    def alerts(self, tenant: str) -> tuple[Alert, ...]:
        return tuple(map(read.alert, self.rows(tenant, "list_alerts")))

    def alert(self, tenant: str, alert_id: str) -> Alert | None:
        found = self.rows(tenant, "read_alert", alert_id=alert_id)
        return read.alert(found[0]) if found else None

    def open_alert(self, tenant: str, kind: str, cause: str) -> tuple[str, str] | None:
        """The id and detail of the alert that stands for a cause."""
        found = self.rows(tenant, "read_open_alert", kind=kind, cause=cause)
        return (text(found[0]["alert_id"]), text(found[0]["detail"])) if found else None

    def last_summary(self, tenant: str, job_id: str) -> tuple[str, Summary] | None:
        """The outcome and summary of a job's newest decision."""
        found = self.rows(tenant, "read_last_decision", job_id=job_id)
        return (text(found[0]["outcome"]), read.summary(found[0]["summary"])) if found else None

    def alerts_since(self, tenant: str, since_ms: int) -> int:
        [row] = self.rows(tenant, "count_alerts_since", since_ms=since_ms)
        return number(row["n"])

    def decisions(self, tenant: str, job_id: str, *, limit: int) -> tuple[Decision, ...]:
        return tuple(map(read.decision, self.rows(tenant, "list_decisions_of_job", job_id=job_id, limit=limit)))

    def day_counts(self, tenant: str, from_day: str) -> tuple[tuple[str, str, int], ...]:
        """(worker, local day, jobs) from a day on."""
        found = self.rows(tenant, "list_day_counts", from_day=from_day)
        return tuple((text(row["worker_id"]), text(row["day"]), number(row["jobs"])) for row in found)

    def audit(self, tenant: str, *, after: int = 0, limit: int = 1000) -> tuple[AuditRow, ...]:
        return tuple(map(read.audit_row, self.rows(tenant, "list_audit", after_seq=after, limit=limit)))

    def newest_audit(self, tenant: str, *, limit: int) -> tuple[AuditRow, ...]:
        return tuple(map(read.audit_row, self.rows(tenant, "list_newest_audit", limit=limit)))

    def audit_head(self, tenant: str) -> int:
        """The number of the newest audit row."""
        [head] = self.rows(tenant, "read_audit_head")
        return number(head["seq"])

    def roster_changed(self, tenant: str, since_seq: int) -> bool:
        """Whether workers came, changed or left after an audit row."""
        return bool(self.rows(tenant, "find_roster_act", after_seq=since_seq))

    def audit_of_job(self, tenant: str, job_id: str) -> tuple[AuditRow, ...]:
        return tuple(map(read.audit_row, self.rows(tenant, "list_audit_of_job", job_id=job_id)))

    def verify_audit(self, tenant: str) -> AuditVerdict:
        """Walk the whole chain, compare its end with the head, and look whether what was done has its row: edits,
        deletions and a cut tail are found. A tail cut with its head, of acts that leave no other trace, is not: only a
        head known from elsewhere tells (``audit_row``)."""
        with self.snapshot():
            heads = self.rows(tenant, "read_audit_head")
            if not heads:
                return AuditVerdict(rows=0, head="", first_bad=1)
            seq, prev_hash, head = 0, GENESIS, heads[0]
            while page := self.rows(tenant, "list_audit", after_seq=seq, limit=AUDIT_PAGE):
                bad = first_bad(tenant, page, seq, prev_hash)
                if bad is not None:
                    return AuditVerdict(rows=seq, head=prev_hash, first_bad=bad)
                seq, prev_hash = number(page[-1]["seq"]), text(page[-1]["hash"])
            whole = (seq, prev_hash) == (head["seq"], head["hash"])
            if whole and (undone := self.rows(tenant, "find_unaudited")):
                missing = f"{text(undone[0]['what'])} {text(undone[0]['id'])} has no row"
                return AuditVerdict(rows=seq, head=prev_hash, first_bad=seq + 1, missing=missing)
        agreed = min(seq, number(head["seq"]))  # rows beyond the head were put in, rows short of it were cut off
        return AuditVerdict(rows=seq, head=prev_hash, first_bad=None if whole else agreed + 1)

    def audit_row(self, tenant: str, digest: str) -> int | None:
        """The number of the audit row with this hash; None: there is none."""
        found = self.rows(tenant, "find_audit", hash=digest)
        return number(found[0]["seq"]) if found else None

    def road_memory(self, tenant: str, *, limit: int) -> tuple[tuple[int, int, int | None], ...]:
        found = self.rows(tenant, "list_road_memory", limit=limit)
        return tuple(
            (
                number(row["origin_cell"]),
                number(row["destination_cell"]),
                None if row["seconds"] is None else number(row["seconds"]),
            )
            for row in found
        )
