"""Lease programs: every way a job is bound to a worker or let go. Each is one transaction, told as the statements it
must win.

Lock order: offer, job, worker. Nothing slow happens inside. A ``must`` that wins no row rolls the whole back, and the
store answers ``Lost(step)``; what each loss means is told in docs/leases.md.
"""

import json
from dataclasses import dataclass

from engine.program import Program, Row, Scalar, must, read
from engine.records import (
    Cause,
    Fence,
    Why,
    audit,
    clear_alerts_of_job,
    in_force,
    open_job,
    raise_alert,
    raise_unassigned,
    refuse_unless,
)
from engine.rules.days import local_day
from engine.rules.nouns import Actor, Promise
from engine.rules.schedule import minutes

__all__ = ["Fence", "in_force", "open_job"]

ANSWERED = frozenset({"unassigned", "due_soon", "no_show", "stale"})
"""Kinds of alert on a job that an acceptance answers (a missed one stays until somebody resolves it)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """What is to be offered: which job to which worker, of which generation, with what promise."""

    offer_id: str
    job_id: str
    worker_id: str
    generation: int
    promise: Promise
    ttl_ms: int
    decision_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    offer_id: str
    job_id: str
    worker_id: str
    expires_ms: int
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An acceptance: the assignment is named by its offer."""

    offer_id: str
    job_id: str
    worker_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Freed:
    """A job that is open again, and the worker it was taken from (or offered to)."""

    job_id: str
    worker_id: str


# --- offer and its answers -------------------------------------------------------------------------------------------


def offer(actor: Actor, fence: Fence, lease: Lease) -> Program[Offered]:
    """Bind a waiting job to a free worker until the offer is answered or expires: all or nothing."""
    epoch = yield from in_force(fence)
    made = yield from _bind(actor, fence.region, epoch, lease)
    yield from audit(actor, "offer", job_id=lease.job_id, worker_id=lease.worker_id, offer_id=lease.offer_id)
    return made


def _bind(actor: Actor, region: str, epoch: int, lease: Lease) -> Program[Offered]:
    ids: dict[str, Scalar] = {"job_id": lease.job_id, "worker_id": lease.worker_id, "offer_id": lease.offer_id}
    promise = lease.promise
    yield must("claim_job", job_id=lease.job_id, offer_id=lease.offer_id, region_id=region)
    yield must("claim_worker", worker_id=lease.worker_id, offer_id=lease.offer_id, region_id=region,
               generation=lease.generation)  # fmt: skip
    yield must("check_room", worker_id=lease.worker_id, lane=promise.lane, starts_ms=promise.starts_ms,
               ends_ms=promise.ends_ms, leaves_ms=promise.starts_ms - promise.travel_ms)  # fmt: skip
    [made] = yield must(
        "write_offer",
        **ids,
        ttl_ms=lease.ttl_ms,
        region_id=region,
        epoch=epoch,
        generation=lease.generation,
        decision_id=lease.decision_id,
        made_by=actor.name,
        **_promise_columns(promise),
    )
    yield must("write_attempt", kind="offered", **ids)
    return Offered(
        offer_id=lease.offer_id,
        job_id=lease.job_id,
        worker_id=lease.worker_id,
        expires_ms=int(made["expires_ms"] or 0),
        epoch=epoch,
    )


def _promise_columns(promise: Promise) -> dict[str, Scalar]:
    return {
        "lane": promise.lane,
        "arrival_ms": promise.arrival_ms,
        "travel_ms": promise.travel_ms,
        "starts_ms": promise.starts_ms,
        "ends_ms": promise.ends_ms,
        "eta_s": promise.eta_s,
        "band_from_ms": promise.band_from_ms,
        "band_to_ms": promise.band_to_ms,
        "confidence": promise.confidence,
    }


def accept(actor: Actor, offer_id: str, worker_id: str) -> Program[Held]:
    """The worker takes the offer: live, theirs, of epoch and generation in force, clear of absences; it is booked."""
    [taken] = yield must("accept_offer", offer_id=offer_id, worker_id=worker_id)
    job_id = str(taken["job_id"])
    yield from _hold(offer_id, job_id, worker_id)
    yield from audit(actor, "accept", job_id=job_id, worker_id=worker_id, offer_id=offer_id)
    return Held(offer_id=offer_id, job_id=job_id, worker_id=worker_id)


def _hold(offer_id: str, job_id: str, worker_id: str) -> Program[None]:
    [clock] = yield must("read_clock")
    day = local_day(int(clock["now_ms"] or 0), str(clock["zone"]))
    yield must("book_time", offer_id=offer_id, worker_id=worker_id, day=day)
    yield must("take_job", job_id=job_id, offer_id=offer_id, worker_id=worker_id)
    yield must("free_worker", worker_id=worker_id, offer_id=offer_id)
    yield must("credit_day", worker_id=worker_id, day=day)
    yield from clear_alerts_of_job(job_id, ANSWERED)


def decline(actor: Actor, offer_id: str, worker_id: str) -> Program[Freed]:
    """The worker says no: the job is open and the worker free; the attempt stays and feeds the cooldown."""
    [gone] = yield must("decline_offer", offer_id=offer_id, worker_id=worker_id)
    return (yield from _let_go(actor, "decline", offer_id, str(gone["job_id"]), worker_id))


def expire(actor: Actor, offer_id: str, fence: Fence | None = None) -> Program[Freed]:
    """Time is up (or the offer is "from the future": the clock stepped back). Two sweepers are harmless."""
    if fence is not None:
        yield from in_force(fence)
    [gone] = yield must("expire_offer", offer_id=offer_id)
    return (yield from _let_go(actor, "expire", offer_id, str(gone["job_id"]), str(gone["worker_id"])))


def withdraw(actor: Actor, offer_id: str, why: Why | None = None) -> Program[Freed]:
    """A dispatcher takes a live offer back."""
    [gone] = yield must("withdraw_offer", offer_id=offer_id)
    return (yield from _let_go(actor, "withdraw", offer_id, str(gone["job_id"]), str(gone["worker_id"]), why))


def _let_go(
    actor: Actor, act: str, offer_id: str, job_id: str, worker_id: str, why: Why | None = None
) -> Program[Freed]:
    yield must("reopen_job", job_id=job_id, offer_id=offer_id)
    yield must("free_worker", worker_id=worker_id, offer_id=offer_id)
    yield from audit(actor, act, job_id=job_id, worker_id=worker_id, offer_id=offer_id, why=why)
    return Freed(job_id=job_id, worker_id=worker_id)


def alert(actor: Actor, fence: Fence, job_id: str, version: int, cause: Cause) -> Program[str]:
    """Nobody is left for an open job: UNASSIGNED_ALERT, and the alert that says why."""
    yield from in_force(fence)
    yield must("alert_job", job_id=job_id, version=version)
    return (yield from raise_unassigned(actor, job_id, cause))


def alert_again(actor: Actor, fence: Fence, job_id: str, cause: Cause) -> Program[str]:
    """Nobody is left for a job that is in alert already, and for other reasons than it says (or it was resolved)."""
    yield from in_force(fence)
    return (yield from raise_unassigned(actor, job_id, cause))


def calm(actor: Actor, fence: Fence, job_id: str, version: int) -> Program[str]:
    """Time was given after all (due_by moved away): the alert has its answer, and the job is merely open."""
    yield from in_force(fence)
    yield must("calm_job", job_id=job_id, version=version)
    yield from clear_alerts_of_job(job_id, frozenset({"unassigned"}))
    yield from audit(actor, "calm", job_id=job_id)
    return job_id


def miss(actor: Actor, fence: Fence, job_id: str, cause: Cause) -> Program[str]:
    """due_by has passed without a worker: said once, and the reason kept."""
    yield from in_force(fence)
    yield must("miss_job", job_id=job_id)
    yield from clear_alerts_of_job(job_id, frozenset({"unassigned", "due_soon"}))
    return (yield from raise_alert(actor, cause))


# --- the held job ----------------------------------------------------------------------------------------------------


def start(actor: Actor, job_id: str, offer_id: str, worker_id: str) -> Program[Held]:
    """The worker is there and begins. Begun after due_by it is missed, and the alert says by whom and by how much."""
    yield must("start_job", job_id=job_id, offer_id=offer_id, worker_id=worker_id)
    yield from clear_alerts_of_job(job_id, ANSWERED)
    [job] = yield must("read_job", job_id=job_id)
    late_ms = int(job["started_ms"] or 0) - int(job["due_by_ms"] or 0)
    if late_ms > 0 and not job["missed"]:
        yield must("mark_late", job_id=job_id)
        words = f"missed; {worker_id} began {minutes(late_ms)} after due_by"
        yield from raise_alert(actor, Cause(kind="missed", cause=job_id, severity=2, detail=words, job_id=job_id))
    yield from audit(actor, "start", job_id=job_id, worker_id=worker_id, offer_id=offer_id)
    return Held(offer_id=offer_id, job_id=job_id, worker_id=worker_id)


def finish(actor: Actor, job_id: str, offer_id: str, worker_id: str) -> Program[Held]:
    """The work is done: terminal, and the booked time that is left is free."""
    yield must("finish_job", job_id=job_id, offer_id=offer_id, worker_id=worker_id)
    yield must("unbook_time", job_id=job_id, offer_id=offer_id)
    yield must("touch_idle", worker_id=worker_id)
    yield from clear_alerts_of_job(job_id, ANSWERED)
    yield from audit(actor, "finish", job_id=job_id, worker_id=worker_id, offer_id=offer_id)
    return Held(offer_id=offer_id, job_id=job_id, worker_id=worker_id)


def release(actor: Actor, job_id: str, offer_id: str, why: Why, act: str = "release") -> Program[Freed]:
    """Take an accepted, unstarted job from its worker; aimed at one assignment, so a newer one is never touched."""
    yield must("release_job", job_id=job_id, offer_id=offer_id)
    [gone] = yield must("unbook_time", job_id=job_id, offer_id=offer_id)
    worker_id = str(gone["worker_id"])
    yield must("debit_day", worker_id=worker_id, day=gone["day"])
    yield must("write_attempt", job_id=job_id, worker_id=worker_id, offer_id=offer_id, kind="released")
    yield must("touch_idle", worker_id=worker_id)
    yield from clear_alerts_of_job(job_id, ANSWERED)
    yield from audit(actor, act, job_id=job_id, worker_id=worker_id, offer_id=offer_id, why=why)
    return Freed(job_id=job_id, worker_id=worker_id)


def reassign(
    actor: Actor, fence: Fence, job_id: str, held_offer_id: str, why: Why, to: Lease | None = None,
    *, overruled: str = "{}",
) -> Program[Freed | Offered]:  # fmt: skip
    """Release from one worker and, where another is named, offer to them in the same transaction.

    Whom a person names is their own choice: an override, on record with what it overrules."""
    freed = yield from release(actor, job_id, held_offer_id, why, act="reassign")
    if to is None:
        return freed
    epoch = yield from in_force(fence)
    return (yield from _own_choice(actor, fence.region, epoch, to, why, overruled))


def preempt(
    actor: Actor, fence: Fence, job_id: str, held_offer_id: str, urgent: Lease, why: Why, *, overruled: str = "{}"
) -> Program[Offered]:
    """Release a job from its worker for one of higher priority, and offer that one, in one transaction.

    It goes to the worker a person chose, whatever that overrules: an override too."""
    [lesser] = yield must("read_job", job_id=job_id)
    [greater] = yield must("read_job", job_id=urgent.job_id)
    refuse_unless(int(greater["priority"] or 0) > int(lesser["priority"] or 0), "outrank_job")
    yield from release(actor, job_id, held_offer_id, why, act="preempt")
    epoch = yield from in_force(fence)
    return (yield from _own_choice(actor, fence.region, epoch, urgent, why, overruled))


def cancel(actor: Actor, job_id: str, aimed_at: str, why: Why) -> Program[str]:
    """End a live job. ``aimed_at``: the assignment it had when the canceller looked ("" = none), so that a late cancel
    never clears a newer one; a live offer on it is withdrawn."""
    [job] = yield must("read_job", job_id=job_id)
    live = job["live_offer_id"]
    withdrawn: Row | None = None
    if live is not None:
        [withdrawn] = yield must("withdraw_offer", offer_id=live)
    yield must("cancel_job", job_id=job_id, aimed_at=aimed_at)
    if withdrawn is not None:
        yield must("free_worker", worker_id=withdrawn["worker_id"], offer_id=live)
    gone: Row = {}
    if aimed_at:
        [gone] = yield must("unbook_time", job_id=job_id, offer_id=aimed_at)
        yield must("touch_idle", worker_id=gone["worker_id"])
        if job["state"] == "ACCEPTED":
            yield must("debit_day", worker_id=gone["worker_id"], day=gone["day"])
    yield from clear_alerts_of_job(job_id, ANSWERED | {"missed"})
    holder = gone["worker_id"] if aimed_at else withdrawn["worker_id"] if withdrawn is not None else None
    yield from audit(actor, "cancel", job_id=job_id, worker_id=None if holder is None else str(holder),
                     offer_id=aimed_at or (None if live is None else str(live)), why=why)  # fmt: skip
    return job_id


def override(
    actor: Actor, fence: Fence, lease: Lease, why: Why, *, overruled: str, force: bool, standing: str | None = None
) -> Program[Offered | Held]:
    """A dispatcher's own choice: the same offer path plus the audit row; ``force`` accepts on the worker's behalf.

    ``overruled``: JSON of what the choice overrules, for the audit. ``standing``: a live offer on the job that is
    withdrawn first, in the same transaction (else the next candidate would be asked in between)."""
    epoch = yield from in_force(fence)
    if standing is not None:
        yield from withdraw(actor, standing, why)
    made = yield from _own_choice(actor, fence.region, epoch, lease, why, overruled)
    if not force:
        return made
    return (yield from accept(actor, lease.offer_id, lease.worker_id))


def _own_choice(actor: Actor, region: str, epoch: int, lease: Lease, why: Why, overruled: str) -> Program[Offered]:
    made = yield from _bind(actor, region, epoch, lease)
    yield from audit(actor, "override", job_id=lease.job_id, worker_id=lease.worker_id, offer_id=lease.offer_id,
                     why=why, detail=overruled)  # fmt: skip
    return made


# --- regions ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenure:
    """A dispatcher's hold on a region: everything it does automatically runs under this epoch.

    ``freed``: jobs whose offers its takeover withdrew."""

    region: str
    epoch: int
    freed: tuple[str, ...] = ()
    adopted: int = 0

    @property
    def withdrawn(self) -> int:
        return len(self.freed)


def takeover(
    actor: Actor, region: str, seen_epoch: int, holder: str, lease_ms: int, *, by_force: bool, adopt: bool, why: Why
) -> Program[Tenure]:
    """Become the region's dispatcher: the epoch is raised first, then the old one's live offers are withdrawn (no
    cooldown) or adopted, all in one transaction. Lost while another dispatcher's lease runs, unless by force."""
    [raised] = yield must("raise_epoch", region_id=region, epoch=seen_epoch, holder=holder, lease_ms=lease_ms,
                          by_force=int(by_force))  # fmt: skip
    epoch = int(raised["epoch"] or 0)
    live = yield read("list_live_offers_of_region", region_id=region)
    for row in live:
        if adopt:
            yield must("adopt_offer", offer_id=row["offer_id"], epoch=epoch)
        else:
            yield from _withdraw_unanswered(actor, row)
    yield from audit(actor, "takeover", why=why, detail=json.dumps({"region": region, "epoch": epoch}))
    if adopt:
        return Tenure(region=region, epoch=epoch, adopted=len(live))
    return Tenure(region=region, epoch=epoch, freed=tuple(str(row["job_id"]) for row in live))


def _withdraw_unanswered(actor: Actor, row: Row) -> Program[None]:
    """The offer ended through no act of the worker's: no cooldown."""
    offer_id, job_id, worker_id = str(row["offer_id"]), str(row["job_id"]), str(row["worker_id"])
    yield must("withdraw_offer", offer_id=offer_id)
    yield from _let_go(actor, "withdraw", offer_id, job_id, worker_id, Why(words="its dispatcher was overtaken"))
    yield must("forget_attempt", job_id=job_id, worker_id=worker_id, offer_id=offer_id)


def ask_handoff(actor: Actor, worker_id: str, region: str, why: Why) -> Program[str]:
    """From now on no new offer to this worker; the move follows when the live one is answered or expires."""
    yield must("ask_handoff", worker_id=worker_id, region_id=region)
    yield from audit(actor, "ask handoff", worker_id=worker_id, why=why, detail=json.dumps({"to": region}))
    return worker_id


def take_back_handoff(actor: Actor, worker_id: str, region: str, generation: int, why: Why) -> Program[str]:
    """The worker stays where they are: the move that waits for their live offer is asked for no longer.

    Lost once they were moved (the generation is another) or are to move elsewhere."""
    yield must("take_back_handoff", worker_id=worker_id, region_id=region, generation=generation)
    yield from audit(actor, "take back handoff", worker_id=worker_id, why=why, detail=json.dumps({"to": region}))
    return worker_id


def handoff(
    actor: Actor, worker_id: str, region: str, generation: int, why: Why | None = None, fence: Fence | None = None,
    *, asked: bool = False,
) -> Program[int]:  # fmt: skip
    """Move a worker with no live offer, and the jobs they hold, to another region; answers their new generation.

    ``asked``: a move that waited, and is lost where it was taken back meanwhile."""
    if fence is not None:
        yield from in_force(fence)
    if asked:
        yield must("check_asked", worker_id=worker_id, region_id=region, generation=generation)
    [moved] = yield must("move_worker", worker_id=worker_id, region_id=region, generation=generation)
    held = yield read("list_bookings", worker_id=worker_id)
    for booking in held:
        yield must("move_job", job_id=booking["job_id"], worker_id=worker_id, region_id=region)
    yield from audit(actor, "handoff", worker_id=worker_id, why=why, detail=json.dumps({"to": region}))
    return int(moved["generation"] or 0)
