"""Fixes taken in by one process: decoded, judged, indexed, sampled and written behind, beside GEOADD on a real Valkey.

Time moves as in a city at its peak (each worker reports every 2.5 s), only faster; positions are written behind each
second of the machine's time, as in a running engine.
"""

import random
import time
from dataclasses import dataclass, field

from benchmarks.city import FULL, name_of, radius_m, spots, staffed, wall_ms
from benchmarks.figures import RUNS, Figure, Progress, at_least, median, not_measured, plain, settled
from benchmarks.valkey import ABSENT, Valkey, pipeline, serving
from engine.ports import Engine
from engine.rules.freshness import LatestFix
from engine.rules.nouns import Point
from engine.verbs import ingest
from engine.verbs.fix_lines import FixLine, line_of, read_lines, write_lines

BATCH = 100
EVERY_MS = 2_500  # between two fixes of a worker: 50,000 workers make 20,000 fixes a second
FIXES = 600_000
EVERY_S = 1.0  # the write-behind round
STEP_DEG = 0.0002  # about 20 m, so that some change their cell
BAR = 300_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    lines: bytes
    received_ms: int


def batches(places: list[Point], count: int, from_ms: int) -> list[Batch]:
    """So many fixes of the workers in turn, a batch every few milliseconds of the city's time."""
    chance, made = random.Random(4), list[Batch]()
    for first in range(0, count, BATCH):
        at_ms = from_ms + first * EVERY_MS // len(places)
        fixes = [_fix(n % len(places), places, at_ms, chance) for n in range(first, first + BATCH)]
        made.append(Batch(lines=write_lines(fixes), received_ms=at_ms + 40))
    return made


def _fix(n: int, places: list[Point], at_ms: int, chance: random.Random) -> FixLine:
    lat = round(places[n].lat + chance.uniform(-STEP_DEG, STEP_DEG), 6)
    lng = round(places[n].lng + chance.uniform(-STEP_DEG, STEP_DEG), 6)
    return line_of(name_of(n), at_ms, lat, lng, 8.0)


def measure(progress: Progress, small: bool) -> list[Figure]:
    count, fixes, runs = (200, 2_000, 2) if small else (FULL, FIXES, RUNS)
    with staffed(count, progress) as engine, serving() as valkey:
        places = spots(count, radius_m(count), seed=1)
        ours: list[Taken] = []
        behind = Behind()
        theirs: list[tuple[float, float]] = []
        for run in range(runs):
            progress(f"run {run + 1} of {runs}: {fixes} fixes")
            prepared = batches(places, fixes, wall_ms() + run * EVERY_MS * (fixes // count + 2))
            settled()
            ours.append(take(engine, prepared, behind))
            if valkey is not None:
                theirs.append(_beside(valkey, prepared))
        return [*_figures(ours), *_ratios(ours, theirs, BATCH)]


@dataclass(slots=True, kw_only=True)
class Taken:
    """Seconds by stage, and counts. ``worked_s``: of the processor, over all stages."""

    fixes: int = 0
    kept: int = 0
    decode_s: float = 0.0
    index_s: float = 0.0
    behind_s: float = 0.0
    worked_s: float = 0.0
    written: int = 0

    def rate(self) -> float:
        return self.fixes / (self.decode_s + self.index_s + self.behind_s)


@dataclass(slots=True)
class Behind:
    """What waits for the write-behind, and how long it has: carried over the runs, as in an engine that never rests."""

    archive: list[LatestFix] = field(default_factory=list[LatestFix])
    since_s: float = 0.0


def take(engine: Engine, prepared: list[Batch], behind: Behind) -> Taken:
    """What a door and the write-behind round do, in one thread, every step timed."""
    done, clock = Taken(worked_s=-time.thread_time()), time.perf_counter
    for batch in prepared:
        start = clock()
        reports = read_lines(batch.lines)
        read = clock()
        done.kept += ingest.report(engine, reports, received_ms=batch.received_ms, archive=behind.archive).kept
        end = clock()
        done.fixes += len(reports)
        done.decode_s += read - start
        done.index_s += end - read
        behind.since_s += end - start
        if behind.since_s >= EVERY_S:
            done.written += ingest.write_behind(engine, behind.archive)
            behind.since_s = clock() - end  # the round rings from start to start
            done.behind_s += behind.since_s
    done.worked_s += time.thread_time()
    return done


def _fixes(ours: list[Taken]) -> int:
    return sum(run.fixes for run in ours)


def _rate(ours: list[Taken]) -> float:
    """Over all the runs: a run of two seconds has two writes behind or three."""
    return _fixes(ours) / sum(run.decode_s + run.index_s + run.behind_s for run in ours)


def _figures(ours: list[Taken]) -> list[Figure]:
    def each_us(stage: str) -> float:
        return median(1e6 * getattr(run, stage) / run.fixes for run in ours)

    rows = sum(run.written for run in ours)
    return [
        at_least("ingest: fixes a second, all stages, one process", _rate(ours), "/s", BAR),
        plain("ingest: the same, a second of processor time", _fixes(ours) / sum(run.worked_s for run in ours), "/s"),
        plain("ingest: the median run", median(run.rate() for run in ours), "/s"),
        plain("ingest: the slowest run", min(run.rate() for run in ours), "/s"),
        plain("ingest: decode, a fix", each_us("decode_s"), "µs"),
        plain("ingest: freshness, index and sampling, a fix", each_us("index_s"), "µs"),
        plain("ingest: write-behind, a fix", each_us("behind_s"), "µs"),
        plain("ingest: write-behind, a row", 1e6 * sum(run.behind_s for run in ours) / max(1, rows), "µs"),
        plain("ingest: fixes kept", 100 * median(run.kept / run.fixes for run in ours), "%"),
    ]


def _beside(valkey: Valkey, prepared: list[Batch]) -> tuple[float, float]:
    """Fixes a second by GEOADD in pipelines of a batch: made ready beforehand, and from the same JSON."""
    ready = [_geoadd(batch) for batch in prepared]
    began = time.perf_counter()
    for request in ready:
        valkey.ask(request)
    alone = len(prepared) * BATCH / (time.perf_counter() - began)
    began = time.perf_counter()
    for batch in prepared:
        valkey.ask(_geoadd(batch))
    return alone, len(prepared) * BATCH / (time.perf_counter() - began)


def _geoadd(batch: Batch) -> bytes:
    return pipeline(("GEOADD", "care", fix.lng, fix.lat, fix.worker) for fix in read_lines(batch.lines))


def _ratios(ours: list[Taken], theirs: list[tuple[float, float]], batch: int) -> list[Figure]:
    if not theirs:
        return [not_measured("ingest: GEOADD of Valkey", ABSENT)]
    pairs = list(zip(ours, theirs, strict=True))
    return [
        plain(f"ingest: GEOADD of Valkey, ready-made pipelines of {batch}", median(each[0] for each in theirs), "/s"),
        plain("ingest: GEOADD of Valkey from the same JSON", median(each[1] for each in theirs), "/s"),
        plain("ingest: our rate over ready-made GEOADD", median(run.rate() / each[0] for run, each in pairs), "times"),
        plain("ingest: our rate over GEOADD from JSON", median(run.rate() / each[1] for run, each in pairs), "times"),
    ]
