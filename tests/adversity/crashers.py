"""Lives that are to end badly: at a random moment of busy work, or at a chosen statement of a chosen program."""

import os
import random
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

from engine import leases, records
from engine.leases import Fence
from engine.program import Lost, Program
from engine.records import Cause, JobKey, Why
from engine.rules.nouns import Area, Interval, Job, JobState, Point
from engine.store import sqlite
from engine.store.sqlite import SqliteStore
from tests.leases import stage
from tests.leases.contenders import CONTENDERS
from tests.leases.stage import ANA, AUTO, MAIN, MIN_MS, NOON_MS, WHY, lease, new_job, new_worker, worker_named

PLACES = (Point(45.0, 9.0), Point(45.0, 9.1), Point(45.1, 9.1))
LATER = Interval(starts_ms=NOON_MS + 600 * MIN_MS, ends_ms=NOON_MS + 700 * MIN_MS)
WEIGHTS = {"w_eta": 1.0, "w_fair": 2.0, "w_slack": 0.25, "eta_band_min": 5}

PROGRAMS: dict[str, tuple[str, Callable[[], Program[object]]]] = {
    f"{name}, {at}": (at, lambda name=name: CONTENDERS[name]("x"))
    for at, names in {
        "open": ("offer", "override", "override forced", "takeover", "handoff", "alert", "cancel"),
        "offered": ("accept", "decline", "withdraw", "cancel", "takeover", "takeover adopting"),
        "accepted": ("start", "release", "reassign", "cancel held", "preempt", "handoff"),
        "started": ("finish", "cancel held"),
    }.items()
    for name in names
} | {
    "create job": ("open", lambda: records.open_job(ANA, new_job("j9"), "main", JobKey(key="k", body_hash="h"))),
    "amend job": ("open", lambda: records.amend_job(ANA, "j1", 1, new_job("j1", 3), "main")),
    "create worker": ("open", lambda: records.enrol(ANA, new_worker("w9"), "main", known=False)),
    "amend worker": ("open", lambda: records.enrol(ANA, new_worker("w1", 2), "main", known=True)),
    "shift": ("open", lambda: records.set_shift(ANA, "w1", LATER)),
    "absence": ("open", lambda: records.set_absence(ANA, "w1", LATER, "away")),
    "archive worker": ("open", lambda: records.archive_worker(ANA, "w1")),
    "policy": ("open", lambda: records.set_policy(ANA, WEIGHTS)),
    "area": ("open", lambda: records.set_area(ANA, Area(id="a1", name="A", rings=(PLACES,)))),
    "raise alert": ("open", lambda: records.raise_alert(AUTO, stage.nobody("j1"))),
    "missed": ("late", lambda: leases.miss(AUTO, MAIN, "j1", Cause(kind="missed", cause="j1", severity=1,
                                                                      detail="nobody"))),
    "expire": ("expired", lambda: stage.expire("o1")),
    "ask handoff": ("offered", lambda: leases.ask_handoff(ANA, "w1", "north", WHY)),
    "deliver": ("offered", lambda: records.deliver("o1")),
    "keep decision": ("open", lambda: records.keep_decision(decision_id="d1", job_id="j1", outcome="offered",
                                                            total_us=1, summary="{}", detail="{}", roads=[
        {"origin_cell": 1, "destination_cell": 2, "seconds": 60}, {"origin_cell": 2, "destination_cell": 1,
                                                                   "seconds": None}])),
}  # fmt: skip
"""Every program, and the stage at which it wins."""


def prepared(path: Path, at: str) -> SqliteStore:
    """A file at a stage; "late": j1 waits and its due_by has passed; "expired": its offer has."""
    store = stage.site(path, {"expired": "offered", "late": "open"}.get(at, at))
    if at in ("expired", "late"):
        stage.at(store, NOON_MS + 61 * MIN_MS)
    return store


def die_at(path: str, name: str, number: int) -> str:
    """Run a program and die just before its statement of this number (BEGIN and COMMIT are counted too)."""
    left = [number]

    def saw(_: str) -> None:
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1

    store = SqliteStore(Path(path))
    connect = sqlite.connect

    def connected(at: str, *, readonly: bool = False) -> sqlite3.Connection:
        connection = connect(at, readonly=readonly)
        connection.set_trace_callback(saw)
        return connection

    store.close()  # the next connection is made by the program's own thread, through the door below
    sqlite.connect = connected
    done = store.run("main", PROGRAMS[name][1]())
    return done.step if isinstance(done, Lost) else "done"


# --- busy until killed -----------------------------------------------------------------------------------------------


def work(path: str, heard: str, seed: int) -> None:
    """Act at random for ever, and tell each act when it is acknowledged: its number and hash in the audit."""
    store, chance = SqliteStore(Path(path)), random.Random(seed)
    told = os.open(heard, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for n in range(1_000_000):
        seen: list[str] = []
        program = _next(store, chance, f"{seed}-{n}")
        if not isinstance(store.run("main", _noted(program, seen)), Lost):
            os.write(told, "".join(seen).encode())


def _noted(program: Program[object], seen: list[str]) -> Program[object]:
    """The same program; what it writes to the audit is noted."""
    step = next(program)
    try:
        while True:
            if step.name == "write_audit":
                seen.append(f"{step.binds['seq']} {step.binds['hash']}\n")
            step = program.send((yield step))
    except StopIteration as done:
        return done.value


def _next(store: SqliteStore, chance: random.Random, name: str) -> Program[object]:
    """Something that may be done now, or was possible a moment ago (others work on the same file)."""
    if chance.random() < 0.03:
        [region] = [each for each in store.regions("main") if each.id == "main"]
        return stage.takeover(region.epoch, name)
    live = list(store.jobs("main", live_only=True))
    if len(live) < 3:
        return records.open_job(ANA, new_job(f"j-{name}"), "main")
    job = chance.choice(live)
    if job.state in (JobState.OPEN, JobState.UNASSIGNED_ALERT):
        worker, lane = chance.choice((("w1", 0), ("w2", 0), ("wide", 0), ("wide", 1)))
        made = lease(f"o-{name}", job.id, worker, starts_min=chance.randrange(0, 600, 30), lane=lane)
        return leases.offer(AUTO, Fence(region="main"), made)
    return _answer(store, chance, job)


def _answer(store: SqliteStore, chance: random.Random, job: Job) -> Program[object]:
    offer_id, aimed_at = job.live_offer_id or "", job.held_offer_id or ""
    facts = store.offer("main", offer_id or aimed_at)
    worker = facts.offer.worker_id if facts else ""
    why = Why(reason="other", words="a random act")
    acts: list[Callable[[], Program[object]]]
    if job.state is JobState.OFFERED:
        acts = [lambda: stage.accept(offer_id, worker)] * 3
        acts += [lambda: stage.decline(offer_id, worker), lambda: leases.withdraw(ANA, offer_id, why)]
    elif job.state is JobState.ACCEPTED:
        acts = [lambda: leases.start(worker_named(worker), job.id, aimed_at, worker)] * 2
        acts += [lambda: leases.release(ANA, job.id, aimed_at, why)]
    else:
        acts = [lambda: leases.finish(worker_named(worker), job.id, aimed_at, worker)]
    acts += [lambda: leases.cancel(ANA, job.id, aimed_at, why)]
    return chance.choice(acts)()
