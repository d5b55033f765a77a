"""Programs for what surrounds the leases: audit, alerts, decisions, roster, intake, the site itself.

The same language as ``leases``; none of them binds a worker to a job.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.program import Program, Refuse, Row, Rows, Scalar, must, read
from engine.rules.chain import GENESIS, link
from engine.rules.nouns import Actor, Area, Interval, NewJob, NewWorker
from engine.rules.touched import Promised, met, uncovered


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """A person's reason for an act: a code for the figures and words for the audit."""

    reason: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What an alert is about. One alert stands open a (kind, cause). ``severity``: 1 worst … 3."""

    kind: str
    cause: str
    severity: int
    detail: str
    job_id: str | None = None
    worker_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """The region an act belongs to. ``epoch`` None: a human act, stamped with the epoch in force."""

    region: str
    epoch: int | None = None


def in_force(fence: Fence) -> Program[int]:
    """The epoch this act runs under: an automatic one must still be the region's, a human one takes it."""
    if fence.epoch is None:
        [row] = yield must("read_epoch", region_id=fence.region)
    else:
        [row] = yield must("hold_epoch", region_id=fence.region, epoch=fence.epoch)
    return int(row["epoch"] or 0)


def audit(
    actor: Actor,
    act: str,
    *,
    job_id: str | None = None,
    worker_id: str | None = None,
    offer_id: str | None = None,
    why: Why | None = None,
    detail: str = "{}",
) -> Program[int]:
    """Append one row to the tenant's chain, in the action's own transaction; returns its number."""
    why = why or Why()
    [head] = yield must("read_audit_head")
    row: dict[str, Scalar] = {
        "seq": int(head["seq"] or 0) + 1,
        "at_ms": head["now_ms"],
        "actor": actor.name,
        "role": actor.role,
        "act": act,
        "job_id": job_id,
        "worker_id": worker_id,
        "offer_id": offer_id,
        "reason": why.reason,
        "words": why.words,
        "detail": detail,
    }
    prev_hash = str(head["hash"])
    row["hash"] = link(actor.tenant, row, prev_hash)
    yield must("move_audit_head", seq=head["seq"], prev_hash=prev_hash, hash=row["hash"])
    yield must("write_audit", prev_hash=prev_hash, **row)
    return int(head["seq"] or 0) + 1


def number(kind: str, letter: str) -> Program[str]:
    """The next number for people: J-17."""
    [row] = yield must("take_number", kind=kind)
    return f"{letter}-{row['last']}"


# --- alerts ----------------------------------------------------------------------------------------------------------


def raise_alert(actor: Actor, cause: Cause, fence: Fence | None = None) -> Program[str]:
    """Open an alert, or touch the one that stands for this cause; returns its id. ``fence``: of an automatic round."""
    if fence is not None:
        yield from in_force(fence)
    standing = yield read("read_open_alert", kind=cause.kind, cause=cause.cause)
    if standing:
        alert_id = str(standing[0]["alert_id"])
        yield must("touch_alert", alert_id=alert_id, detail=cause.detail)
        return alert_id
    alert_id = yield from number("alert", "A")
    yield must(
        "write_alert",
        alert_id=alert_id,
        kind=cause.kind,
        cause=cause.cause,
        severity=cause.severity,
        job_id=cause.job_id,
        worker_id=cause.worker_id,
        detail=cause.detail,
    )
    yield from audit(actor, f"alert {cause.kind}", job_id=cause.job_id, worker_id=cause.worker_id, detail=_id(alert_id))
    return alert_id


def raise_unassigned(actor: Actor, job_id: str, cause: Cause) -> Program[str]:
    """One alert a cause: of a job whose due_by has passed the missed one speaks, with the reason it was missed for."""
    [job] = yield must("read_job", job_id=job_id)
    if not job["missed"]:
        return (yield from raise_alert(actor, cause))
    standing = yield read("read_open_alert", kind="missed", cause=job_id)
    if standing:
        return str(standing[0]["alert_id"])
    return (yield from raise_alert(actor, replace(cause, kind="missed", detail=f"missed; {cause.detail}")))


def clear_alert(actor: Actor, kind: str, cause: str, fence: Fence | None = None) -> Program[bool]:
    """Resolve the open alert of a cause that has gone; False if none stood. ``fence``: of an automatic round."""
    if fence is not None:
        yield from in_force(fence)
    standing = yield read("read_open_alert", kind=kind, cause=cause)
    if not standing:
        return False
    alert_id = str(standing[0]["alert_id"])
    yield must("resolve_alert", alert_id=alert_id)
    yield from audit(actor, "alert cleared", detail=_id(alert_id))
    return True


def clear_alerts_of_job(job_id: str, kinds: frozenset[str]) -> Program[None]:
    """Part of a larger program: the named kinds of alert on a job have their answer."""
    standing = yield read("list_open_alerts_of_job", job_id=job_id)
    for row in standing:
        if row["kind"] in kinds:
            yield must("resolve_alert", alert_id=row["alert_id"])


TRIAGE = {"ack": "ack_alert", "own": "own_alert", "snooze": "snooze_alert", "escalate": "escalate_alert",
          "resolve": "resolve_alert"}  # fmt: skip


def triage(actor: Actor, act: str, alert_id: str, *, for_ms: int = 0, why: Why | None = None) -> Program[str]:
    """A person's act on an alert: ack, own, snooze (for so long), escalate, resolve."""
    yield must(TRIAGE[act], alert_id=alert_id, actor=actor.name, for_ms=for_ms)
    yield from audit(actor, f"alert {act}", why=why, detail=_id(alert_id))
    return alert_id


def _id(alert_id: str) -> str:
    return f'{{"alert":"{alert_id}"}}'


# --- decisions -------------------------------------------------------------------------------------------------------


def keep_decision(
    *, decision_id: str, job_id: str, outcome: str, total_us: int, summary: str, detail: str, roads: Sequence[Row]
) -> Program[str]:
    """Store a decision and the road times it learned, in a transaction of its own."""
    [counted] = yield must("take_number", kind="decision")
    yield must("write_decision", seq=counted["last"], decision_id=decision_id, job_id=job_id, outcome=outcome,
               total_us=total_us, summary=summary, detail=detail)  # fmt: skip
    for road in roads:
        yield must("write_road_memory", **road)
    return decision_id


def deliver(offer_id: str) -> Program[str]:
    """The worker's phone has asked for its offer and was given it (at least once; the first time is kept)."""
    yield must("mark_delivered", offer_id=offer_id)
    return offer_id


# --- intake and roster -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKey:
    """A client's idempotency key and the hash of the body it came with."""

    key: str
    body_hash: str


def job_columns(new: NewJob) -> dict[str, Scalar]:
    return {
        "type": new.type,
        "skills": skills_text(new.skills),
        "lat": new.place.lat,
        "lng": new.place.lng,
        "not_before_ms": new.not_before_ms,
        "due_by_ms": new.due_by_ms,
        "duration_ms": new.duration_ms,
        "priority": new.priority,
        "address": new.address,
        "notes": new.notes,
        "attachments": new.attachments,
    }


def skills_text(skills: frozenset[str]) -> str:
    """Skills as stored: sorted, one a line (a skill holds no line break)."""
    return "\n".join(sorted(skills))


def open_job(actor: Actor, new: NewJob, region: str, key: JobKey | None = None) -> Program[str]:
    """Create a job, OPEN; under a key already used it is refused at ``write_job_key``. Returns the job's id."""
    job_id = new.ref or (yield from number("job", "J"))
    yield must("write_job", job_id=job_id, region_id=region, **job_columns(new))
    if key is not None:
        yield must("write_job_key", key=key.key, body_hash=key.body_hash, job_id=job_id)
    yield from audit(actor, "create job", job_id=job_id)
    return job_id


def amend_job(
    actor: Actor, job_id: str, version: int, new: NewJob, region: str, why: Why | None = None
) -> Program[str]:
    """Change a waiting job; lost when it was promised or changed meanwhile (release it first).

    Where due_by is still ahead it is missed no longer; where it has passed, what was said of it stands."""
    yield must("amend_job", job_id=job_id, version=version, region_id=region, **job_columns(new))
    [clock] = yield must("read_clock")
    if new.due_by_ms >= int(clock["now_ms"] or 0):
        yield from clear_alerts_of_job(job_id, frozenset({"missed"}))
    yield from audit(actor, "amend job", job_id=job_id, why=why)
    return job_id


def annotate_job(
    actor: Actor, job_id: str, version: int, *, notes: str, attachments: str, why: Why | None = None
) -> Program[str]:
    """Change what only people read, in any state; lost when the job changed meanwhile."""
    yield must("annotate_job", job_id=job_id, version=version, notes=notes, attachments=attachments)
    yield from audit(actor, "annotate job", job_id=job_id, why=why)
    return job_id


def enrol(actor: Actor, new: NewWorker, region: str, *, known: bool, back: bool = False) -> Program[str]:
    """Write or amend a worker and the shift that came with it (shifts it overlaps are replaced). ``back``: they had
    left; shifts and absences of that time that are not over do not come back with them."""
    worker_id = new.ref or (yield from number("worker", "W"))
    columns: dict[str, Scalar] = {
        "worker_id": worker_id,
        "name": new.name,
        "skills": skills_text(new.skills),
        "home_lat": new.home.lat,
        "home_lng": new.home.lng,
        "capacity": new.capacity,
        "area_id": new.area,
        "travels": int(new.travels),
    }
    if known:
        yield must("amend_worker", **columns)
    else:
        yield must("write_worker", region_id=region, **columns)
    detail = "{}"
    if back:
        yield read("drop_coming_shifts", worker_id=worker_id)
        gone = yield read("drop_coming_absences", worker_id=worker_id)
        detail = json.dumps({"dropped_absences": [row["absence_id"] for row in gone]}) if gone else detail
    yield from _shift(worker_id, Interval(starts_ms=new.shift_starts_ms, ends_ms=new.shift_ends_ms))
    act = "worker back" if back else "amend worker" if known else "create worker"
    yield from audit(actor, act, worker_id=worker_id, detail=detail)
    return worker_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A change of a worker's hours, and the jobs, booked or on a live offer, that it is in the way of. They stay until
    somebody moves them; an offer that an absence touches cannot be accepted, and expires."""

    id: str
    touched: tuple[str, ...]


def set_shift(actor: Actor, worker_id: str, shift: Interval, why: Why | None = None) -> Program[Changed]:
    """Give a worker a shift in place of those it overlaps; touched are the jobs that no shift covers any longer."""
    yield must("read_worker", worker_id=worker_id, day="", job_id="")
    promised = yield read("list_promised", worker_id=worker_id)
    before = yield read("list_shifts", worker_id=worker_id, from_ms=0)
    yield from _shift(worker_id, shift)
    after = yield read("list_shifts", worker_id=worker_id, from_ms=0)
    yield from audit(actor, "shift", worker_id=worker_id, why=why)
    return Changed(id=worker_id, touched=uncovered(_promised(promised), map(_span, before), map(_span, after)))


def _shift(worker_id: str, shift: Interval) -> Program[None]:
    span: dict[str, Scalar] = {"worker_id": worker_id, "starts_ms": shift.starts_ms, "ends_ms": shift.ends_ms}
    yield read("drop_overlapping_shifts", **span)
    yield must("write_shift", **span)


def _promised(rows: Rows) -> list[Promised]:
    return [Promised(job_id=str(row["job_id"]), span=_span(row)) for row in rows]


def _span(row: Row) -> Interval:
    return Interval(starts_ms=int(row["starts_ms"] or 0), ends_ms=int(row["ends_ms"] or 0))


def set_absence(actor: Actor, worker_id: str, span: Interval, note: str, why: Why | None = None) -> Program[Changed]:
    """Note that a worker cannot work in ``span``; touched are the jobs whose travel or service lies in it."""
    yield must("read_worker", worker_id=worker_id, day="", job_id="")
    absence_id = yield from number("absence", "B")
    yield must("write_absence", absence_id=absence_id, worker_id=worker_id, starts_ms=span.starts_ms,
               ends_ms=span.ends_ms, note=note)  # fmt: skip
    promised = yield read("list_promised", worker_id=worker_id)
    yield from audit(actor, "absence", worker_id=worker_id, why=why)
    return Changed(id=absence_id, touched=met(_promised(promised), span))


def archive_worker(actor: Actor, worker_id: str, why: Why | None = None) -> Program[str]:
    """Take a worker off the lists; past reports keep them. Lost while an offer or a booking stands."""
    yield must("archive_worker", worker_id=worker_id)
    yield from audit(actor, "archive worker", worker_id=worker_id, why=why)
    return worker_id


def set_policy(actor: Actor, weights: Row, why: Why | None = None) -> Program[int]:
    """The next version of the site's weights."""
    newest = yield read("read_policy")
    version = int(newest[0]["version"] or 0) + 1 if newest else 1
    yield must("write_policy", version=version, set_by=actor.name, **weights)
    yield from audit(actor, "policy", why=why, detail=f'{{"version":{version}}}')
    return version


def refuse_unless(holds: bool, step: str) -> None:
    """Leave the program: everything is rolled back and the answer is ``Lost(step)``."""
    if not holds:
        raise Refuse(step)


# --- operators -------------------------------------------------------------------------------------------------------


def set_operator(actor: Actor, name: str, role: str, passphrase: str) -> Program[str]:
    """Write an operator, or give a known one another role and passphrase (already hashed)."""
    yield must("write_operator", operator=name, role=role, passphrase=passphrase)
    yield from audit(actor, "operator", detail=json.dumps({"operator": name, "role": role}))
    return name


def drop_operator(actor: Actor, name: str) -> Program[str]:
    """Take an operator away; what they did stays in the audit."""
    yield must("drop_operator", operator=name)
    yield from audit(actor, "operator removed", detail=json.dumps({"operator": name}))
    return name


def sat_down(actor: Actor, act: str) -> Program[int]:
    """Somebody signed in at a desk, or was refused there."""
    return (yield from audit(actor, act))


# --- the site --------------------------------------------------------------------------------------------------------


def set_area(actor: Actor, area: Area) -> Program[str]:
    """Write a service area, in place of one of the same id."""
    rings = json.dumps([[[point.lat, point.lng] for point in ring] for ring in area.rings])
    yield must("write_area", area_id=area.id, name=area.name, rings=rings)
    yield from audit(actor, "area", detail=json.dumps({"area": area.id}))
    return area.id


def found_site(
    actor: Actor, *, name: str, zone: str, settings: str, regions: Sequence[tuple[str, Area | None]], weights: Row
) -> Program[str]:
    """A new tenant with its regions, its first policy and the beginning of its audit."""
    yield must("write_tenant", name=name, zone=zone, settings=settings)
    yield must("write_audit_head", hash=GENESIS)
    yield from audit(actor, "found site")
    for region, area in regions:
        if area is not None:
            yield from set_area(actor, area)
        yield must("write_region", region_id=region, area_id=area.id if area else None)
    yield from set_policy(actor, weights)
    return actor.tenant
