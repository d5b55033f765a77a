"""What must hold of a database after anything whatever: written once, asked after every schedule."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from engine.rules.chain import GENESIS, first_bad
from engine.rules.days import local_day
from engine.store.session import connect

BROKEN = {
    "a job has two live offers": """
        SELECT job_id FROM offers WHERE state = 'OFFERED' GROUP BY tenant_id, job_id HAVING COUNT(*) > 1""",
    "a worker has two live offers": """
        SELECT worker_id FROM offers WHERE state = 'OFFERED' GROUP BY tenant_id, worker_id HAVING COUNT(*) > 1""",
    "a live offer without its job and its worker": """
        SELECT offer_id FROM offers WHERE state = 'OFFERED' AND NOT EXISTS (
            SELECT 1 FROM jobs JOIN workers USING (tenant_id) WHERE tenant_id = offers.tenant_id
            AND jobs.job_id = offers.job_id AND jobs.live_offer_id = offer_id AND jobs.state = 'OFFERED'
            AND workers.worker_id = offers.worker_id AND workers.live_offer_id = offer_id)""",
    "an orphan live_offer_id on a worker": """
        SELECT worker_id FROM workers WHERE live_offer_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM offers WHERE offers.tenant_id = workers.tenant_id AND offer_id = live_offer_id
            AND offers.worker_id = workers.worker_id AND offers.state = 'OFFERED')""",
    "an orphan live_offer_id on a job": """
        SELECT job_id FROM jobs WHERE live_offer_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM offers WHERE offers.tenant_id = jobs.tenant_id AND offer_id = live_offer_id
            AND offers.job_id = jobs.job_id AND offers.state = 'OFFERED')""",
    "a held job without its booking and its accepted offer": """
        SELECT job_id FROM jobs WHERE state IN ('ACCEPTED', 'IN_PROGRESS') AND NOT EXISTS (
            SELECT 1 FROM worker_jobs AS held JOIN offers USING (tenant_id, offer_id)
            WHERE held.tenant_id = jobs.tenant_id AND held.job_id = jobs.job_id AND held.offer_id = jobs.held_offer_id
            AND held.worker_id = jobs.worker_id AND offers.state = 'ACCEPTED' AND offers.worker_id = held.worker_id
            AND offers.job_id = held.job_id AND offers.lane = held.lane AND offers.starts_ms = held.starts_ms)""",
    "a booking whose job is not held by it": """
        SELECT job_id FROM worker_jobs AS held WHERE NOT EXISTS (
            SELECT 1 FROM jobs WHERE jobs.tenant_id = held.tenant_id AND jobs.job_id = held.job_id
            AND jobs.held_offer_id = held.offer_id AND jobs.state IN ('ACCEPTED', 'IN_PROGRESS'))""",
    "two bookings overlap on a lane": """
        SELECT one.job_id FROM worker_jobs AS one JOIN worker_jobs AS two USING (tenant_id, worker_id, lane)
        WHERE one.job_id < two.job_id AND one.starts_ms < two.ends_ms AND two.starts_ms < one.ends_ms""",
    "a booking beyond capacity": """
        SELECT worker_id FROM worker_jobs JOIN workers USING (tenant_id, worker_id) WHERE lane >= capacity""",
    "a live offer of an old epoch, generation or another region": """
        SELECT offer_id FROM offers JOIN regions USING (tenant_id, region_id) JOIN workers USING (tenant_id, worker_id)
        JOIN jobs USING (tenant_id, job_id) WHERE offers.state = 'OFFERED' AND (offers.epoch <> regions.epoch
        OR offers.generation <> workers.generation OR offers.region_id <> workers.region_id
        OR offers.region_id <> jobs.region_id)""",
    "an acceptance, refusal or expiry out of its time": """
        SELECT offer_id FROM offers
        WHERE (state IN ('ACCEPTED', 'DECLINED') AND NOT (created_ms <= answered_ms AND answered_ms < expires_ms))
           OR (state = 'EXPIRED' AND answered_ms NOT IN (created_ms, expires_ms))""",
    "an expiry before its time": """
        SELECT offer_id FROM offers JOIN audit USING (tenant_id, offer_id) WHERE state = 'EXPIRED' AND act = 'expire'
        AND created_ms <= at_ms AND at_ms < expires_ms""",
    "an offer without its attempt": """
        SELECT offer_id FROM offers WHERE state <> 'WITHDRAWN' AND NOT EXISTS (
            SELECT 1 FROM offer_attempts AS tried WHERE tried.tenant_id = offers.tenant_id
            AND tried.offer_id = offers.offer_id AND tried.job_id = offers.job_id AND kind = 'offered')""",
    "a withdrawal of nobody's keeps its cooldown": """
        SELECT offer_id FROM offers JOIN offer_attempts USING (tenant_id, offer_id) WHERE state = 'WITHDRAWN'
        AND NOT EXISTS (SELECT 1 FROM audit WHERE audit.tenant_id = offers.tenant_id
            AND ((audit.offer_id = offers.offer_id AND act = 'withdraw')
                 OR (audit.job_id = offers.job_id AND act = 'cancel')))""",
    "an offer without its line in the audit": """
        SELECT offer_id FROM offers WHERE 1 <> (
            SELECT COUNT(*) FROM audit WHERE audit.tenant_id = offers.tenant_id AND audit.offer_id = offers.offer_id
            AND act IN ('offer', 'override'))""",
    "an answer without its line in the audit": """
        SELECT offer_id FROM offers WHERE state IN ('ACCEPTED', 'DECLINED', 'EXPIRED') AND 1 <> (
            SELECT COUNT(*) FROM audit WHERE audit.tenant_id = offers.tenant_id AND audit.offer_id = offers.offer_id
            AND act = CASE state WHEN 'ACCEPTED' THEN 'accept' WHEN 'DECLINED' THEN 'decline' ELSE 'expire' END)""",
    "a release without its cooldown": """
        SELECT offer_id FROM audit WHERE act IN ('release', 'reassign', 'preempt') AND NOT EXISTS (
            SELECT 1 FROM offer_attempts AS tried WHERE tried.tenant_id = audit.tenant_id
            AND tried.offer_id = audit.offer_id AND kind = 'released')""",
    "a terminal job keeps somebody": """
        SELECT job_id FROM jobs WHERE state IN ('DONE', 'CANCELLED')
        AND (worker_id IS NOT NULL OR live_offer_id IS NOT NULL OR held_offer_id IS NOT NULL)""",
    "a job was finished by nobody or never started": """
        SELECT job_id FROM jobs WHERE state = 'DONE' AND (done_by IS NULL OR started_ms IS NULL)""",
}


DOUBLES = {
    "a job is promised to two": """
        SELECT job_id FROM (
            SELECT tenant_id, job_id, offer_id FROM offers WHERE state = 'OFFERED'
            UNION SELECT tenant_id, job_id, offer_id FROM worker_jobs) AS promised
        GROUP BY tenant_id, job_id HAVING COUNT(*) > 1""",
    "a worker is promised to two": """
        SELECT worker_id FROM offers WHERE state = 'OFFERED' GROUP BY tenant_id, worker_id HAVING COUNT(*) > 1""",
    "a job is booked twice": """
        SELECT job_id FROM worker_jobs GROUP BY tenant_id, job_id HAVING COUNT(*) > 1""",
    "a job is booked and yet open": """
        SELECT DISTINCT jobs.job_id FROM jobs JOIN worker_jobs USING (tenant_id, job_id)
        WHERE jobs.state IN ('OPEN', 'UNASSIGNED_ALERT')""",
    "two bookings overlap on a lane": BROKEN["two bookings overlap on a lane"],
}
"""Only what a person would call a double booking: asked of programs that keep no audit and no day counts."""


def doubles(db: sqlite3.Connection) -> Iterator[str]:
    """Every double promise there is."""
    for rule, sql in DOUBLES.items():
        for row in db.execute(sql).fetchall():
            yield f"{rule}: {next(iter(row.values()))}"


def broken(path: Path) -> list[str]:
    """Everything that does not hold in a database file."""
    with closing(connect(str(path), readonly=True)) as db:
        return list(violations(db))


def violations(db: sqlite3.Connection) -> Iterator[str]:
    for row in db.execute("PRAGMA foreign_key_check").fetchall():
        yield f"orphan row in {row['table']}"
    for rule, sql in BROKEN.items():
        for row in db.execute(sql).fetchall():
            yield f"{rule}: {next(iter(row.values()))}"
    for tenant in db.execute("SELECT tenant_id, zone FROM tenants").fetchall():
        yield from _chain(db, tenant["tenant_id"])
        yield from _days(db, tenant["tenant_id"], tenant["zone"])


def _chain(db: sqlite3.Connection, tenant: str) -> Iterator[str]:
    rows = db.execute("SELECT * FROM audit WHERE tenant_id = ? ORDER BY seq", [tenant]).fetchall()
    [head] = db.execute("SELECT seq, hash FROM audit_heads WHERE tenant_id = ?", [tenant]).fetchall()
    bad = first_bad(tenant, rows, 0, GENESIS)
    if bad is not None:
        yield f"the audit of {tenant} is broken at {bad}"
    if (head["seq"], head["hash"]) != (len(rows), rows[-1]["hash"]):
        yield f"the audit of {tenant} ends elsewhere than its head says"


def _days(db: sqlite3.Connection, tenant: str, zone: str) -> Iterator[str]:
    """Day counts are acceptances less releases, told anew from the audit."""
    told: Counter[tuple[str, str]] = Counter()
    held: dict[str, tuple[str, str]] = {}
    started: set[str] = set()
    for row in db.execute("SELECT * FROM audit WHERE tenant_id = ? ORDER BY seq", [tenant]).fetchall():
        act, offer_id = row["act"], row["offer_id"]
        if act == "accept":
            held[offer_id] = (row["worker_id"], local_day(row["at_ms"], zone))
            told[held[offer_id]] += 1
        elif act == "start":
            started.add(offer_id)
        elif act in ("release", "reassign", "preempt") or (
            act == "cancel" and offer_id in held and offer_id not in started
        ):
            told[held[offer_id]] -= 1
    stored = {
        (row["worker_id"], row["day"]): row["jobs"]
        for row in db.execute("SELECT * FROM day_counts WHERE tenant_id = ?", [tenant]).fetchall()
    }
    for key in sorted(told.keys() | stored.keys()):
        if told[key] != stored.get(key, 0):
            yield f"{key[0]} has {stored.get(key, 0)} jobs on {key[1]}, the audit tells {told[key]}"
