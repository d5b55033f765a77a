"""Each bench at its smallest: the shape of what it says, never how fast it was."""

import math

import pytest

from benchmarks.bench import BENCHES, bench
from benchmarks.figures import Figure, at_least, at_most, not_measured, quantile, rounded


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.long) if each == "console" else each for each in sorted(BENCHES)]
)
def test_a_bench_says_figures_with_units_bars_and_the_noise_of_the_machine(name: str) -> None:
    said: list[str] = []
    figures = bench(name, progress=said.append, small=True)
    assert said
    titles = [each.figure for each in figures]
    assert "machine: spread of that loop, p5 to p95" in titles
    assert any(each.bar is not None for each in figures)
    for each in figures:
        assert (each.bar is None) == (each.holds is None), each
        assert math.isfinite(each.value) or ": not measured, " in each.figure, each


def test_a_figure_is_held_against_its_bar_unrounded() -> None:
    assert at_most("x", 50.004, "µs", 50.0) == Figure(figure="x", value=50.0, unit="µs", bar=50.0, holds=False)
    assert at_least("x", 0.7, "", 0.7).holds
    assert not_measured("x", "why").holds is None


def test_quantiles_and_digits() -> None:
    assert [quantile(range(100), share) for share in (0.0, 0.5, 0.99, 1.0)] == [0, 50, 99, 99]
    assert rounded(123_456.0) == 123_500.0


def test_a_bench_nobody_knows_is_refused() -> None:
    with pytest.raises(KeyError):
        bench("board")
