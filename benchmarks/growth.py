"""What a decision costs in a city of 50,000 and in a town of 1,000 that is as dense."""

import time

from benchmarks.city import FULL, HOUR_MS, SUPERVISOR, spots, staffed, wall_ms
from benchmarks.figures import Figure, Progress, at_most, median, plain, quantile, settled
from engine import records
from engine.ports import Engine
from engine.program import Lost
from engine.rules.nouns import NewJob, Point
from engine.verbs.assign import Outcome, assign

TOWN, ROUNDS, EACH = 1_000, 5, 60
WITHIN_M = 1_500.0  # of the centre: as far from the town's edge as from the city's, for the few who are looked at


def growth(progress: Progress, small: bool) -> list[Figure]:
    """Both engines are open at once and decide in turn, so that the ratio is of one moment."""
    city, rounds, each = (100, 2, 3) if small else (FULL, ROUNDS, EACH)
    with staffed(60 if small else TOWN, progress) as near, staffed(city, progress) as far:
        progress(f"{rounds * each} decisions in each of the two")
        pairs: list[tuple[float, float]] = []
        for run in range(rounds):
            places = spots(each, WITHIN_M, seed=20 + run)
            settled()
            taken = [(_decision_ms(near, f"J{run}-{n}", place), _decision_ms(far, f"J{run}-{n}", place))
                     for n, place in enumerate(places)]  # fmt: skip
            pairs.append((quantile([a for a, _ in taken], 0.5), quantile([b for _, b in taken], 0.5)))
    return [
        plain("growth: a decision among 1,000 workers, p50", median(a for a, _ in pairs), "ms"),
        plain("growth: a decision among 50,000 as dense, p50", median(b for _, b in pairs), "ms"),
        at_most("growth: the latter over the former", median(b / a for a, b in pairs), "times", 1.5),
    ]


def _decision_ms(engine: Engine, ref: str, place: Point) -> float:
    """One decision without a router, from the question to the standing offer. The offer is left to expire."""
    now_ms = wall_ms()
    new = NewJob(ref=ref, type="visit", skills=frozenset({"care"}), place=place, not_before_ms=now_ms,
                 due_by_ms=now_ms + HOUR_MS, duration_ms=HOUR_MS // 2, priority=3)  # fmt: skip
    job_id = engine.store.run(engine.tenant, records.open_job(SUPERVISOR, new, "main"))
    if isinstance(job_id, Lost):
        raise RuntimeError(f"{ref} could not be opened")
    since = time.perf_counter_ns()
    made = assign(engine, SUPERVISOR, job_id)
    taken = (time.perf_counter_ns() - since) / 1e6
    if made.outcome is not Outcome.OFFERED:
        raise RuntimeError(f"{ref}: {made.outcome}, where a city of workers is free")
    return taken
