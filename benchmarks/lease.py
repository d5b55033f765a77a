"""The lease transactions: alone beside bare SQLite, and an accept while the whole city reports its positions."""

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass, field

from benchmarks.bare import Pages, Transaction, connected, frames, recording, replayed_us
from benchmarks.city import CENTRE, FULL, HOUR_MS, SUPERVISOR, name_of, staffed, wall_ms
from benchmarks.figures import (
    Figure,
    Progress,
    at_least,
    at_most,
    median,
    plain,
    quantile,
    settled,
)
from benchmarks.stream import PEAK, busy
from engine import leases, records
from engine.leases import Fence, Lease
from engine.ports import Engine
from engine.program import Lost, Program, T
from engine.rules.nouns import Actor, Confidence, NewJob, Promise, Role
from engine.verbs import answer

BARE_RATE = 0.70
LEASES, ROUNDS = 400, 5
ACCEPTS, ACCEPTS_PER_S = 800, 20
"""A worker and a job each time: nobody is offered twice, and no cooldown is met."""


def measure(progress: Progress, small: bool) -> list[Figure]:
    few, count = (12, 60) if small else (LEASES * ROUNDS, FULL)
    figures: list[Figure] = []
    with staffed(max(few, 60), progress) as engine:
        progress(f"{few} offers and accepts, one after another, beside bare SQLite")
        figures += _alone(engine, few, 3 if small else ROUNDS)
    with staffed(count, progress) as engine:
        figures += _under_load(engine, count, 20 if small else ACCEPTS, 400 if small else PEAK, progress)
    return figures


@dataclass(slots=True)
class Chunk:
    """Microseconds: our offers and accepts, the same statements without us, plain commits of as many pages."""

    offers: list[float] = field(default_factory=list[float])
    accepts: list[float] = field(default_factory=list[float])
    bare: list[float] = field(default_factory=list[float])
    pages: list[float] = field(default_factory=list[float])
    written: list[int] = field(default_factory=list[int])

    def ours(self) -> list[float]:
        return self.offers + self.accepts


def _alone(engine: Engine, count: int, runs: int) -> list[Figure]:
    for n in range(count):
        opened(engine, n)
    engine.store.checkpoint()
    folder, size = engine.store.path.parent, count // runs
    twin = folder / "twin.db"
    engine.store.backup(twin)
    pages = Pages(folder / "pages.db")
    settled()
    with closing(pages), closing(connected(twin)) as bare:
        chunks = [_chunk(engine, range(r * size, (r + 1) * size), bare, pages) for r in range(runs)]
    return _rates(chunks)


def _chunk(engine: Engine, numbers: range, bare: sqlite3.Connection, pages: Pages) -> Chunk:
    """Ours, the same again without us, a plain commit, in turn: so that the three share the machine's mood."""
    chunk, wal = Chunk(), engine.store.path.with_name(engine.store.path.name + "-wal")
    for n in numbers:
        for program, taken in ((offer_of(f"J{n:06}", n), chunk.offers), (accept_of(n), chunk.accepts)):
            told: Transaction = []
            whole, before = recording(program, engine.tenant, told), frames(wal)
            since = time.perf_counter_ns()
            must_win(engine, whole)
            taken.append((time.perf_counter_ns() - since) / 1000)
            chunk.written.append(frames(wal) - before)
            chunk.bare.append(replayed_us(bare, told))
            chunk.pages.append(pages.committed_us(chunk.written[-1]))
    return chunk


def _rates(chunks: list[Chunk]) -> list[Figure]:
    rate = {name: median(1e6 * len(taken) / sum(taken) for taken in lists) for name, lists in (
        ("ours", [each.ours() for each in chunks]), ("bare", [each.bare for each in chunks]),
        ("pages", [each.pages for each in chunks]))}  # fmt: skip
    ratio_bare = median(sum(each.bare) / sum(each.ours()) for each in chunks)
    ratio_pages = median(sum(each.pages) / sum(each.ours()) for each in chunks)
    offer_p99 = median(quantile(each.offers, 0.99) for each in chunks) / 1000
    accept_p99 = median(quantile(each.accepts, 0.99) for each in chunks) / 1000
    return [
        plain("lease: offers and accepts", rate["ours"], "/s"),
        plain("lease: pages written by each", median(median(each.written) for each in chunks), "pages"),
        plain("lease: the same statements in bare SQLite", rate["bare"], "/s"),
        plain("lease: plain commits of as many pages in bare SQLite", rate["pages"], "/s"),
        at_least("lease: rate over that of the same statements in bare SQLite", ratio_bare, "", BARE_RATE),
        at_least("lease: rate over that of plain commits of as many pages", ratio_pages, "", BARE_RATE),
        plain("lease: offer, p50", median(quantile(each.offers, 0.5) for each in chunks) / 1000, "ms"),
        at_most("lease: offer, p99", offer_p99, "ms", 10.0),
        plain("lease: accept, p50", median(quantile(each.accepts, 0.5) for each in chunks) / 1000, "ms"),
        at_most("lease: accept, p99", accept_p99, "ms", 10.0),
    ]


def _under_load(engine: Engine, count: int, accepts: int, rate: int, progress: Progress) -> list[Figure]:
    """20 accepts a second by the worker's own verb, each of an offer made just before."""
    runs: list[list[float]] = []
    with busy(engine, count, rate, progress) as stream:
        progress(f"{accepts} accepts while {rate} fixes/s arrive")
        began = time.monotonic()
        for n in range(accepts):
            must_win(engine, offer_of(opened(engine, n), n))
            time.sleep(max(0.0, began + n / ACCEPTS_PER_S - time.monotonic()))
            actor = Actor(name=name_of(n), role=Role.WORKER)
            since = time.perf_counter_ns()
            answered = answer.accept(engine, actor, f"O{n:06}", name_of(n))
            taken = (time.perf_counter_ns() - since) / 1e6
            if answered.outcome is not answer.Answer.ACCEPTED:
                raise RuntimeError(f"accept {n}: {answered.outcome}")
            if n % (accepts // 4) == 0 and len(runs) < 4:
                runs.append([])
            runs[-1].append(taken)
        arrived = stream.figures("accept beside fixes", rate)
    return [
        plain("accept beside fixes: p50", median(quantile(each, 0.5) for each in runs), "ms"),
        at_most("accept beside fixes: p99", median(quantile(each, 0.99) for each in runs), "ms", 20.0),
        plain("accept beside fixes: the slowest", max(max(each) for each in runs), "ms"),
        *arrived,
    ]


def must_win(engine: Engine, program: Program[T]) -> T:
    done = engine.store.run(engine.tenant, program)
    if isinstance(done, Lost):
        raise RuntimeError(f"a lease was lost at {done.step}, where nobody else was")
    return done


def opened(engine: Engine, n: int) -> str:
    now_ms = wall_ms()
    new = NewJob(ref=f"J{n:06}", type="visit", skills=frozenset({"care"}), place=CENTRE, not_before_ms=now_ms,
                 due_by_ms=now_ms + HOUR_MS, duration_ms=HOUR_MS // 2, priority=3)  # fmt: skip
    return must_win(engine, records.open_job(SUPERVISOR, new, "main"))


def offer_of(job_id: str, n: int) -> Program[leases.Offered]:
    now_ms = wall_ms()
    promise = Promise(lane=0, arrival_ms=now_ms + 600_000, travel_ms=600_000, starts_ms=now_ms + 600_000,
                      ends_ms=now_ms + 600_000 + HOUR_MS // 2, eta_s=600, band_from_ms=now_ms + 300_000,
                      band_to_ms=now_ms + 900_000, confidence=Confidence.HIGH)  # fmt: skip
    lease = Lease(offer_id=f"O{n:06}", job_id=job_id, worker_id=name_of(n), generation=1, promise=promise,
                  ttl_ms=20_000)  # fmt: skip
    return leases.offer(SUPERVISOR, Fence(region="main"), lease)


def accept_of(n: int) -> Program[leases.Held]:
    return leases.accept(Actor(name=name_of(n), role=Role.WORKER), f"O{n:06}", name_of(n))
