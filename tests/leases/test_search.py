"""Every state that two jobs, two workers and three offers can reach, by any program after any other: all of them whole.

Where the schedules ask whether two programs can disturb each other, this asks whether a long history can.
"""

import sqlite3
import sys
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine import leases, records
from engine.program import Lost, Program
from engine.store.session import connect, play
from engine.store.stepper import copy_of
from tests.leases import stage
from tests.leases.arena import fast_folder
from tests.leases.invariants import violations
from tests.leases.stage import ANA, NOON_MS, TTL_MS, WHY, lease, worker_named

OFFERS = ("o1", "o2", "o3")
JOBS, WORKERS = ("j1", "j2"), ("w1", "w2")
"""The clock passes an expiry once, and that makes every kind of offer old. Handoffs are left to the schedules: they
would multiply the states by nine."""

Move = tuple[str, Callable[[], Program[object]]]

STATE = (
    "SELECT job_id, state, live_offer_id, held_offer_id, worker_id, region_id FROM jobs ORDER BY job_id",
    "SELECT worker_id, live_offer_id FROM workers ORDER BY worker_id",
    """SELECT offer_id, job_id, worker_id,
       CASE WHEN state IN ('OFFERED', 'ACCEPTED') THEN state ELSE 'over' END AS state,
       state = 'OFFERED' AND expires_ms <= now_ms AS lapsed FROM offers, clock ORDER BY offer_id""",
    "SELECT epoch FROM regions ORDER BY region_id",
    "SELECT now_ms FROM clock",
)
"""What tells two states apart: how an offer ended matters to no program; versions and the audit only grow."""


def moves(db: sqlite3.Connection, offers: int, takeovers: int) -> Iterator[Move]:
    """Every program with every aim, sensible or not, that keeps within the bounds."""
    made = {row["offer_id"]: row for row in db.execute("SELECT * FROM offers").fetchall()}
    epochs = {row["region_id"]: row["epoch"] for row in db.execute("SELECT * FROM regions").fetchall()}
    [clock] = db.execute("SELECT now_ms FROM clock").fetchall()
    fresh = next((each for each in OFFERS[:offers] if each not in made), None)
    if fresh is not None:
        yield from _offers(fresh)
        yield from _reassigns(fresh, list(made))
    for offer_id, row in made.items():
        yield from _answers(offer_id, row["job_id"], row["worker_id"])
    for job_id in JOBS:
        yield f"cancel {job_id}", lambda j=job_id: leases.cancel(ANA, j, "", WHY)
    if epochs["main"] < takeovers:
        yield "takeover", lambda: stage.takeover(0)
        yield "takeover adopting", lambda: stage.takeover(0, adopt=True)
    if clock["now_ms"] == NOON_MS:
        yield "tick", lambda now_ms=clock["now_ms"]: stage.set_clock(now_ms + TTL_MS)


def _offers(fresh: str) -> Iterator[Move]:
    for job_id in JOBS:
        for worker_id in WORKERS:
            yield f"offer {job_id}", lambda j=job_id, w=worker_id: stage.offer(fresh, j, w)
            yield f"force {job_id}", lambda j=job_id, w=worker_id: stage.override(fresh, j, w, force=True)


def _reassigns(fresh: str, made: list[str]) -> Iterator[Move]:
    for held in made:
        for worker_id in WORKERS:
            to, urgent = lease(fresh, "j1", worker_id), lease(fresh, "j2", worker_id)
            yield f"reassign {held}", lambda h=held, to=to: leases.reassign(ANA, stage.MAIN, "j1", h, WHY, to)
            yield f"preempt {held}", lambda h=held, to=urgent: leases.preempt(ANA, stage.MAIN, "j1", h, to, WHY)


def _answers(offer_id: str, job_id: str, worker_id: str) -> Iterator[Move]:
    who = worker_named(worker_id)
    yield f"accept {offer_id}", lambda: stage.accept(offer_id, worker_id)
    yield f"decline {offer_id}", lambda: stage.decline(offer_id, worker_id)
    yield f"expire {offer_id}", lambda: stage.expire(offer_id)
    yield f"withdraw {offer_id}", lambda: leases.withdraw(ANA, offer_id, WHY)
    yield f"start {offer_id}", lambda: leases.start(who, job_id, offer_id, worker_id)
    yield f"finish {offer_id}", lambda: leases.finish(who, job_id, offer_id, worker_id)
    yield f"release {offer_id}", lambda: leases.release(ANA, job_id, offer_id, WHY)
    yield f"cancel {offer_id}", lambda: leases.cancel(ANA, job_id, offer_id, WHY)


class Search:
    """Breadth first from the open site; a state is kept as the database itself, compressed."""

    def __init__(self, start: bytes, *, offers: int, takeovers: int) -> None:
        self._bounds = (offers, takeovers)
        self.seen: set[str] = set()
        self.waiting: deque[bytes] = deque()
        self.told: Counter[str] = Counter()
        self._db = sqlite3.connect(":memory:", isolation_level=None)
        self._load(start)
        self._keep(self._key())

    def _load(self, state: bytes) -> None:
        self._db.deserialize(state)
        self._db.row_factory = lambda cursor, row: {
            column[0]: value for column, value in zip(cursor.description, row, strict=True)
        }
        self._db.execute("PRAGMA foreign_keys = ON")

    def _key(self) -> str:
        return repr([self._db.execute(sql).fetchall() for sql in STATE])

    def _keep(self, key: str) -> None:
        self.seen.add(key)
        self.waiting.append(zlib.compress(self._db.serialize(), 1))

    def run(self) -> None:
        while self.waiting:
            state = zlib.decompress(self.waiting.popleft())
            self._load(state)
            for name, program in list(moves(self._db, *self._bounds)):
                if self._try(name, program):
                    self._load(state)

    def _try(self, name: str, program: Callable[[], Program[object]]) -> bool:
        """Make one move and look; True when it led to a state not seen before (and the database is in it)."""
        self._db.execute("BEGIN IMMEDIATE")
        done = play(self._db, program(), "main")
        key = "" if isinstance(done, Lost) else self._key()
        if isinstance(done, Lost) or key in self.seen:
            self._db.execute("ROLLBACK")
            self.told[f"{name.split()[0]} lost" if not key else "known"] += 1
            return False
        assert list(violations(self._db)) == [], f"after {name}"
        self._db.execute("COMMIT")
        self._keep(key)
        self.told["new"] += 1
        return True


def start() -> bytes:
    """The open site less its third job and its wide worker, which only make the states larger."""
    with fast_folder() as folder:
        path = copy_of(stage.template("open"), Path(folder) / "site.db")
        with closing(connect(str(path))) as db:
            play(db, records.archive_worker(ANA, "wide"), "main")
            db.execute("PRAGMA journal_mode = DELETE").fetchall()
        return path.read_bytes()


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("offers", "takeovers"), [(2, 1), (3, 0)])
def test_no_history_leads_astray(offers: int, takeovers: int) -> None:
    search = Search(start(), offers=offers, takeovers=takeovers)
    search.run()
    tried = sum(search.told.values())
    what = f"state search, {offers} offers, {takeovers} takeovers"
    print(f"\n{what}: {len(search.seen)} states, {tried} moves tried; all whole", file=sys.stderr)
    assert len(search.seen) > 3_000
