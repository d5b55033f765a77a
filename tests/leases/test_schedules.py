"""Every order in which two or three lease programs can meet while the clock ticks over an expiry: all end whole.

`python run.py test tests/leases -s` prints how many schedules ran and how they ended.
"""

from collections.abc import Iterator
from itertools import combinations_with_replacement as pairs_of

import pytest

from tests.leases.arena import Arena, arena
from tests.leases.contenders import CONTENDERS, STAGES


@pytest.fixture(scope="module")
def ring() -> Iterator[Arena]:
    with arena() as made:
        yield made


def pairs(ring: Arena, at: str) -> list[tuple[str, str]]:
    """The pairs of which at least one wins alone; of the others neither ever gets past its first statement."""
    return [pair for pair in pairs_of(CONTENDERS, 2) if ring.winners(at) & set(pair)]


@pytest.mark.parametrize("at", STAGES)
def test_every_pair_in_every_order_with_a_tick(ring: Arena, at: str) -> None:
    for pair in pairs(ring, at):
        ring.play(at, pair, tick=True)
    ring.report(f"pairs with a tick, up to {at}")


def test_every_program_wins_somewhere(ring: Arena) -> None:
    assert set().union(*(ring.winners(at) for at in STAGES)) == set(CONTENDERS)


EXCLUSIVE = [
    ("offered", "accept", "expire"),
    ("offered", "accept", "decline"),
    ("offered", "accept", "withdraw"),
    ("offered", "accept", "cancel"),
    ("offered", "accept", "accept"),
    ("offered", "expire", "expire"),
    ("offered", "decline", "expire"),
    ("open", "offer", "offer"),
    ("open", "offer", "offer other worker"),
    ("open", "offer", "offer other job"),
    ("open", "offer", "override forced"),
    ("open", "takeover", "takeover adopting"),
    ("open", "handoff", "offer"),
    ("accepted", "start", "release"),
    ("accepted", "release", "reassign"),
    ("accepted", "release", "preempt"),
    ("accepted", "release", "cancel held"),
    ("started", "finish", "cancel held"),
]


@pytest.mark.parametrize(("at", "one", "two"), EXCLUSIVE)
def test_of_two_that_exclude_each_other_never_both_win(ring: Arena, at: str, one: str, two: str) -> None:
    found = ring.play(at, (one, two), tick=True)
    assert not [end for end in found.ends if end == f"a:{one} done; b:{two} done"]
    assert any(f"a:{one} done" in end for end in found.ends)
    assert any(f"b:{two} done" in end for end in found.ends)


RIVALS_OF_TAKING_BACK = ("handoff asked", "accept", "decline", "expire", "withdraw", "offer other job",
                         "take back handoff")  # fmt: skip


@pytest.mark.parametrize("rival", RIVALS_OF_TAKING_BACK)
def test_taking_a_handoff_back_in_every_order_with_a_tick_and_a_death(ring: Arena, rival: str) -> None:
    found = ring.play("asked", ("take back handoff", rival), tick=True, kill=True)
    both = any(end.startswith("a:take back handoff done; b:") and end.endswith("done") for end in found.ends)
    assert both == (rival in ("accept", "decline", "expire", "withdraw")), "a live offer is nobody's to lose by it"


def test_a_handoff_that_was_taken_back_never_moves_the_worker(ring: Arena) -> None:
    """The round that moves has read who waits before it moves them: in between it may be taken back."""
    found = ring.play("asked", ("take back handoff", "handoff asked", "decline"), tick=True)
    assert any("a:take back handoff done; b:handoff asked lost at check_asked" in end for end in found.ends)
    assert any("a:take back handoff lost at take_back_handoff; b:handoff asked done" in end for end in found.ends)
    assert not any("a:take back handoff done; b:handoff asked done" in end for end in found.ends)


@pytest.mark.parametrize(
    ("at", "rival", "step"),
    [
        ("offered", "accept", "accept_offer"),
        ("open", "offer", "check_room"),
        ("open", "override", None),
        ("open", "override forced", "check_room"),
        ("accepted", "reassign", None),
        ("accepted", "preempt", "check_room"),
    ],
)
def test_an_absence_in_every_order_with_a_death_bars_what_comes_after_it(
    ring: Arena, at: str, rival: str, step: str | None
) -> None:
    """Those that name another worker win beside it."""
    ends = ring.play(at, ("absent", rival), kill=True).ends
    assert f"a:absent done; b:{rival} done" in ends
    assert {end.removeprefix(f"a:absent done; b:{rival} lost at ") for end in ends if " lost at " in end} == (
        set() if step is None else {step}
    )


def test_accept_and_expiry_share_the_boundary(ring: Arena) -> None:
    """Before the tick only the acceptance can win, from now == expires_ms on only the expiry."""
    ends = ring.play("offered", ("accept", "expire"), tick=True).ends
    assert ends == {
        "a:accept done; b:expire lost at expire_offer": 3,
        "a:accept lost at accept_offer; b:expire done": 2,
        "a:accept lost at accept_offer; b:expire lost at expire_offer": 1,
    }
