"""Candidate search among 50,000 workers, with the engine's own settings, beside GEOSEARCH on a real Valkey."""

import time

from benchmarks.city import FULL, name_of, radius_m, skills_of, spots
from benchmarks.figures import (
    RUNS,
    Figure,
    Progress,
    at_most,
    each_cpu_us,
    each_us,
    median,
    not_measured,
    plain,
    quantile,
    settled,
)
from benchmarks.valkey import ABSENT, Valkey, command, pipeline, serving
from engine.index.memory import MemoryIndex
from engine.rules.nouns import FixReport, Point
from engine.settings import Settings

TENANT = "main"
SEARCHES = 2_000
WANTED = {"all have the skill": ("care", 50.0, 1_000), "1 % have the skill": ("rare", 500.0, 10_000)}
"""Skill, bar for the p99 in µs, and the radius in metres that GEOSEARCH is given: about ten times the workers needed,
so that Valkey need not sort the whole city (a user of it would have to guess such a radius)."""


def filled(places: list[Point], settings: Settings, mono_ms: int) -> MemoryIndex:
    index = MemoryIndex(settings.location)
    now_ms = time.time_ns() // 1_000_000
    for n in range(len(places)):
        index.enrol(TENANT, name_of(n), skills_of(n))
    fixes = [
        FixReport(worker=name_of(n), device_ms=now_ms, lat=place.lat, lng=place.lng) for n, place in enumerate(places)
    ]
    index.report(TENANT, fixes, received_ms=now_ms, mono_ms=mono_ms)
    return index


def measure(progress: Progress, small: bool) -> list[Figure]:
    count, searches, runs = (500, 20, 2) if small else (FULL, SEARCHES, RUNS)
    settings, mono_ms = Settings(), 1_000_000
    progress(f"placing {count} workers")
    places = spots(count, radius_m(count), seed=1)
    index = filled(places, settings, mono_ms)
    jobs = spots(searches, radius_m(count), seed=2)
    settled()
    figures: list[Figure] = []
    with serving() as valkey:
        if valkey is not None:
            _load(valkey, places)
        for case, (skill, bar, radius) in WANTED.items():
            progress(f"searching: {case}")
            figures += _case(index, settings, mono_ms, jobs, runs, f"search, {case}", skill, bar)
            figures += _beside(valkey, jobs, runs, figures[-2].value, f"search, {case}", skill, radius)
    return figures


def _case(
    index: MemoryIndex, settings: Settings, mono_ms: int, jobs: list[Point], runs: int, title: str, skill: str,
    bar: float,
) -> list[Figure]:  # fmt: skip
    """The median and the p99, each the median of the runs; the last one has the bar, the last but one is the p50."""
    wide, skills = settings.assign, frozenset({skill})

    def look(n: int) -> object:
        return index.near(TENANT, jobs[n], skills, enough=wide.enough_candidates, max_m=wide.search_max_m,
                          unskilled_max=wide.unskilled_listed_max, mono_ms=mono_ms)  # fmt: skip

    taken = [each_us(look, len(jobs)) for _ in range(runs)]
    worked = [each_cpu_us(look, len(jobs)) for _ in range(runs)]
    return [
        plain(f"{title}: p99 of processor time", median(quantile(each, 0.99) for each in worked), "µs"),
        plain(f"{title}: p50", median(quantile(each, 0.5) for each in taken), "µs"),
        at_most(f"{title}: p99", median(quantile(each, 0.99) for each in taken), "µs", bar),
    ]


def _load(valkey: Valkey, places: list[Point]) -> None:
    for skill in ("care", "rare"):
        here = [n for n in range(len(places)) if skill in skills_of(n)]
        valkey.ask(pipeline(("GEOADD", skill, places[n].lng, places[n].lat, name_of(n)) for n in here))


def _beside(
    valkey: Valkey | None, jobs: list[Point], runs: int, ours_us: float, title: str, skill: str, radius: int
) -> list[Figure]:
    if valkey is None:
        return [not_measured(f"{title}: GEOSEARCH", ABSENT)]
    ask = valkey.ask
    asked = [command("GEOSEARCH", skill, "FROMLONLAT", job.lng, job.lat, "BYRADIUS", radius, "m", "ASC", "COUNT", 20,
                     "WITHCOORD", "WITHDIST") for job in jobs]  # fmt: skip
    together = b"".join(asked)
    single = median(quantile(each_us(lambda n: ask(asked[n]), len(asked)), 0.5) for _ in range(runs))
    piped = median(each_us(lambda _: ask(together), runs)) / len(asked)
    return [
        plain(f"{title}: GEOSEARCH of Valkey, one round trip, p50", single, "µs"),
        plain(f"{title}: GEOSEARCH of Valkey, pipelined, each", piped, "µs"),
        plain(f"{title}: GEOSEARCH round trip over our search, p50", single / ours_us, "times"),
        plain(f"{title}: GEOSEARCH pipelined over our search", piped / ours_us, "times"),
    ]
