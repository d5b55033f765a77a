"""Figures and how they are taken: medians of several runs, quantiles of single calls, and the noise of the machine."""

import gc
import os
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

RUNS = 5
LOOP = 20_000
LOOPS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured number. ``bar`` and ``holds`` are None where nothing is demanded of it."""

    figure: str
    value: float
    unit: str
    bar: float | None = None
    holds: bool | None = None


Progress = Callable[[str], None]


def silent(_: str) -> None:
    """No progress."""


def plain(figure: str, value: float, unit: str) -> Figure:
    return Figure(figure=figure, value=rounded(value), unit=unit)


def at_most(figure: str, value: float, unit: str, bar: float) -> Figure:
    return Figure(figure=figure, value=rounded(value), unit=unit, bar=bar, holds=value <= bar)


def at_least(figure: str, value: float, unit: str, bar: float) -> Figure:
    return Figure(figure=figure, value=rounded(value), unit=unit, bar=bar, holds=value >= bar)


def not_measured(figure: str, why: str) -> Figure:
    """A figure this machine cannot give: its value is NaN, and it neither holds nor fails."""
    return Figure(figure=f"{figure}: not measured, {why}", value=float("nan"), unit="")


def rounded(value: float) -> float:
    """Four significant digits: more would be noise."""
    return float(f"{value:.4g}")


def quantile(taken: Iterable[float], share: float) -> float:
    """The value that ``share`` of them do not pass."""
    ordered = sorted(taken)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def settled() -> None:
    """The collector as a running engine sets it (see engine.rounds): on, but not over the standing city each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def each_us(call: Callable[[int], object], count: int) -> list[float]:
    """The microseconds of each of ``count`` calls."""
    taken: list[float] = []
    for n in range(count):
        since = time.perf_counter_ns()
        call(n)
        taken.append((time.perf_counter_ns() - since) / 1000)
    return taken


def each_cpu_us(call: Callable[[int], object], count: int) -> list[float]:
    """The processor's microseconds of each call: what it would take on a machine with nobody else on it."""
    taken: list[float] = []
    for n in range(count):
        since = time.thread_time_ns()
        call(n)
        taken.append((time.thread_time_ns() - since) / 1000)
    return taken


def noise() -> list[Figure]:
    """How much the machine itself wavers: one fixed loop of pure Python, again and again, and the load average."""
    taken = each_us(lambda _: sum(range(LOOP)), LOOPS)
    middle = median(taken)
    spread = 100 * (quantile(taken, 0.95) - quantile(taken, 0.05)) / middle
    return [
        plain("machine: a fixed loop, median", middle, "µs"),
        plain("machine: spread of that loop, p5 to p95", spread, "% of its median"),
        plain("machine: load average of the last minute", os.getloadavg()[0], ""),
    ]
