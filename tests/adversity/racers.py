"""The lives of racers: each meets the other at a line, runs one program, and says whether it won."""

import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine import leases
from engine.program import Lost, Program
from engine.rules.nouns import OfferState
from engine.store.sqlite import SqliteStore
from tests.adversity.ground import LIMIT_S, StartingLine, TookTooLong
from tests.leases import stage
from tests.leases.stage import ANA, WHY, run

WON = "won"
AIM_MS = 10
"""How long the offers live that are accepted and expired at the same moment, when the disk is quick."""


def _outcome(done: object) -> str:
    return done.step if isinstance(done, Lost) else WON


def _race(path: str, line: str, lane: int, rounds: int, program: Callable[[str], Program[object]]) -> list[str]:
    """Both offer at once; whoever won, the two clear the ground in turns."""
    store, start = SqliteStore(Path(path)), StartingLine(Path(line), lane)
    told: list[str] = []
    chance = random.Random(lane)
    for n in range(rounds):
        start.meet(2 * n + 1)
        _until(time.time() * 1000 + chance.random() * 0.1)  # else whoever came last would be first
        told.append(_outcome(store.run("main", program(f"o-{lane}-{n}"))))
        start.meet(2 * n + 2)
        if n % 2 == lane:
            gone = [store.run("main", leases.withdraw(ANA, f"o-{each}-{n}", WHY)) for each in (0, 1)]
            assert sum(not isinstance(each, Lost) for each in gone) == 1, (n, gone)
    store.close()
    return told


def for_a_job(path: str, line: str, lane: int, rounds: int) -> list[str]:
    """Two assigners offer one job, each to a worker of its own."""
    worker = ("w1", "w2")[lane]
    return _race(path, line, lane, rounds, lambda offer_id: stage.offer(offer_id, "j1", worker))


def for_a_worker(path: str, line: str, lane: int, rounds: int) -> list[str]:
    """Two assigners offer one worker, each a job of its own."""
    job = ("j1", "j3")[lane]
    return _race(path, line, lane, rounds, lambda offer_id: stage.offer(offer_id, job, "w1"))


def accept_in_time(path: str, line: str, lane: int, rounds: int) -> list[str]:
    """Makes each offer and accepts it at its last moment: earlier where it came too late before, and the reverse."""
    store, start = SqliteStore(Path(path)), StartingLine(Path(line), lane)
    told: list[str] = []
    ahead_ms, ttl_ms = 1.0, AIM_MS
    for n in range(rounds):
        made = stage.lease(f"o-{n}", "j1", "w1")
        began = time.monotonic()
        run(store, leases.offer(stage.AUTO, stage.MAIN, _living(made, ttl_ms)))
        ttl_ms = AIM_MS + min(round((time.monotonic() - began) * 3000), 500)
        start.meet(2 * n + 1)
        _until(_expiry(store, f"o-{n}") - ahead_ms)
        told.append(_outcome(store.run("main", stage.accept(f"o-{n}", "w1"))))
        ahead_ms = max(0.0, ahead_ms - 0.1) if told[-1] == WON else min(ahead_ms + 0.1, ttl_ms / 2)
        start.meet(2 * n + 2)
        if told[-1] == WON:
            run(store, leases.release(ANA, "j1", f"o-{n}", WHY))
    store.close()
    return told


def _living(made: leases.Lease, ttl_ms: int) -> leases.Lease:
    return replace(made, ttl_ms=ttl_ms)


def expire_in_time(path: str, line: str, lane: int, rounds: int) -> list[str]:
    """Sweeps at the offer's last moment and again until it has an end, as the rounds do."""
    store, start, chance = SqliteStore(Path(path)), StartingLine(Path(line), lane), random.Random(rounds)
    told: list[str] = []
    for n in range(rounds):
        start.meet(2 * n + 1)
        _until(_expiry(store, f"o-{n}") - chance.random())
        told.append(_expired(store, f"o-{n}"))
        start.meet(2 * n + 2)
    store.close()
    return told


def _expired(store: SqliteStore, offer_id: str) -> str:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        done = _outcome(store.run("main", stage.expire(offer_id)))
        facts = store.offer("main", offer_id)
        assert facts is not None
        if facts.offer.state is not OfferState.OFFERED:
            return done
    raise TookTooLong(f"{offer_id} has no end")


def _expiry(store: SqliteStore, offer_id: str) -> int:
    facts = store.offer("main", offer_id)
    assert facts is not None
    return facts.offer.expires_ms


def _until(at_ms: float) -> None:
    """Hold back until the wall clock shows this: the moment itself is what the race is about."""
    while (left_s := at_ms / 1000 - time.time()) > 0:
        if left_s > LIMIT_S:
            raise TookTooLong(f"the moment is {left_s} s away")


def writer(path: str, line: str, lane: int, rounds: int, writers: int) -> list[float]:
    """One of many writers, with a worker and a job of its own: offer, accept, release. Answers each act's seconds."""
    store, start = SqliteStore(Path(path)), StartingLine(Path(line), lane, writers)
    job, worker = f"mine-{lane}", f"me-{lane}"
    start.meet(1)
    took: list[float] = []
    for n in range(rounds):
        offer_id = f"o-{lane}-{n}"
        for act in (
            stage.offer(offer_id, job, worker),
            stage.accept(offer_id, worker),
            leases.release(ANA, job, offer_id, WHY),
        ):
            began = time.monotonic()
            run(store, act)
            took.append(time.monotonic() - began)
    store.close()
    return took
