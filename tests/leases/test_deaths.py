"""One program dies between any two of its statements, and another goes on; three programs, a tick and a death."""

from collections.abc import Iterator
from itertools import combinations_with_replacement as pairs_of

import pytest

from tests.leases.arena import Arena, arena
from tests.leases.contenders import CONTENDERS, STAGES


@pytest.fixture(scope="module")
def ring() -> Iterator[Arena]:
    with arena() as made:
        yield made


@pytest.mark.parametrize("at", STAGES)
def test_every_pair_with_a_death_between_any_two_statements(ring: Arena, at: str) -> None:
    for pair in pairs_of(sorted(ring.winners(at)), 2):
        ring.play(at, pair, kill=True)
    ring.report(f"pairs with a death, up to {at}")


TRIPLES = [
    ("offered", ("accept", "expire", "offer")),
    ("offered", ("accept", "expire", "offer other job")),
    ("offered", ("cancel", "accept", "expire")),
    ("offered", ("takeover", "accept", "offer")),
    ("offered", ("takeover adopting", "accept", "offer other worker")),
]


@pytest.mark.parametrize(("at", "names"), TRIPLES)
def test_three_programs_a_tick_and_a_death(ring: Arena, at: str, names: tuple[str, ...]) -> None:
    found = ring.play(at, names, tick=True, kill=True)
    assert found.schedules > 300
    ring.report(f"triples, up to {', '.join(names)}")


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("at", STAGES)
def test_every_pair_with_a_tick_and_a_death(ring: Arena, at: str) -> None:
    for pair in pairs_of(CONTENDERS, 2):
        if ring.winners(at) & set(pair):
            ring.play(at, pair, tick=True, kill=True)
    ring.report(f"pairs with a tick and a death, up to {at}")
