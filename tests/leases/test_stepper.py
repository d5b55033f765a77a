"""The driver itself: who waits is said, who dies leaves nothing, and no order is left out or played twice."""

from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

import pytest

from engine import leases
from engine.program import Lost, Program, Refuse, must
from engine.store.stepper import (
    DONE,
    FAULT,
    KILLED,
    LOST,
    READY,
    Actor,
    Kill,
    Mover,
    Tick,
    copy_of,
    every_schedule,
    interleave,
    template_of,
)  # fmt: skip
from tests.leases import stage
from tests.leases.arena import fast_folder
from tests.leases.stage import NOON_MS, TTL_MS, WHY


@pytest.fixture
def path() -> Iterator[Path]:
    with fast_folder() as folder:
        yield copy_of(stage.template("offered"), folder / "site.db")


def turns(*names: str) -> "Turns":
    return Turns(list(names))


class Turns:
    """Choose by a list of names; who is not ready is passed over; afterwards whoever can."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def __call__(self, ready: Sequence[Mover]) -> Mover:
        while self.names:
            name = self.names.pop(0)
            for each in ready:
                if each.name == name:
                    return each
        return ready[0]


def test_the_transcript_of_an_accept_and_an_expiry(path: Path) -> None:
    """What a trainer shows: the second waits until the first is through, and then finds nothing to win."""
    run = [Actor("ben", path, lambda: stage.accept("o1", "w1")), Actor("sweep", path, lambda: stage.expire("o1"))]
    lines = interleave(run, turns("ben", "sweep", "ben", "sweep", *["ben"] * 20))
    assert lines == [
        "ben: begin",
        "sweep: <waiting>",
        "ben: accept_offer -> 1 row",
        "sweep: <waiting>",
        "ben: read_clock -> 1 row",
        "ben: book_time -> 1 row",
        "ben: take_job -> 1 row",
        "ben: free_worker -> 1 row",
        "ben: credit_day -> 1 row",
        "ben: list_open_alerts_of_job -> 0 rows",
        "ben: read_audit_head -> 1 row",
        "ben: move_audit_head -> 1 row",
        "ben: write_audit -> 1 row",
        "ben: commit",
        "sweep: begin",
        "sweep: expire_offer -> expire_offer lost, roll back",
    ]
    assert [(each.phase, each.outcome) for each in run] == [(DONE, "done"), (LOST, "lost at expire_offer")]
    assert run[0].answer == leases.Held(offer_id="o1", job_id="j1", worker_id="w1")
    assert run[1].answer == Lost("expire_offer")
    for each in run:
        each.close()


def test_who_dies_leaves_nothing_and_no_lock(path: Path) -> None:
    ben, sweep = Actor("ben", path, lambda: stage.accept("o1", "w1")), Actor("sweep", path, lambda: stage.expire("o1"))
    before = stage.dump(path)
    for _ in range(5):
        ben.move()
    assert (ben.next, sweep.able()) == ("free_worker", False)
    assert Kill([ben, sweep]).move() == "ben killed before free_worker"
    assert (ben.phase, sweep.able(), stage.dump(path)) == (KILLED, True, before)
    sweep.close()


def test_the_clock_ticks_between_transactions_only(path: Path) -> None:
    ben, tick = Actor("ben", path, lambda: stage.accept("o1", "w1")), Tick(path, NOON_MS + TTL_MS)
    ben.move()
    assert (tick.able(), tick.move()) == (False, None)
    interleave([ben], turns())
    assert tick.move() == f"the clock shows {NOON_MS + TTL_MS}"
    for each in (ben, tick):
        each.close()


@pytest.mark.parametrize(
    ("steps", "phase", "outcome"),
    [
        (["refuse"], LOST, "lost at no_more"),
        (["read_clock", "refuse"], LOST, "lost at no_more"),
        (["claim_job"], LOST, "lost at claim_job"),
        (["take_job"], FAULT, "refused at commit: FOREIGN KEY constraint failed"),
    ],
)
def test_each_way_a_program_can_end(path: Path, steps: list[str], phase: str, outcome: str) -> None:
    def program() -> Program[None]:
        for name in steps:
            if name == "refuse":
                raise Refuse("no_more")
            yield must(name, job_id="j1", offer_id="o1", worker_id="w1", region_id="main")

    before = stage.dump(path)
    actor = Actor("x", path, program)
    assert actor.phase == READY
    interleave([actor], turns())
    assert (actor.phase, actor.outcome, stage.dump(path)) == (phase, outcome, before)
    actor.close()


def test_every_order_is_played_once(path: Path) -> None:
    """Writers stand in a line, so three transactions have six orders, and each is met exactly once."""
    template, met = template_of(path), list[tuple[str, ...]]()

    def make() -> list[Mover]:
        copy_of(template, path)
        return [
            Actor("expire", path, lambda: stage.expire("o1")),
            Actor("withdraw", path, lambda: leases.withdraw(stage.ANA, "o1", WHY)),
            Tick(path, NOON_MS + TTL_MS),
        ]

    def check(movers: Sequence[Mover], lines: Sequence[str]) -> None:
        met.append(tuple(line.split(":")[0] for line in lines if "begin" in line or line.startswith("tick")))

    found = every_schedule(make, check)
    assert sorted(met) == sorted(permutations(["expire", "withdraw", "tick"]))
    assert found.schedules == 6


def test_a_death_at_every_statement_is_a_schedule(path: Path) -> None:
    template = template_of(path)

    def make() -> list[Mover]:
        copy_of(template, path)
        ben = Actor("ben", path, lambda: stage.accept("o1", "w1"))
        return [ben, Kill([ben])]

    found = every_schedule(make, lambda movers, lines: None)
    statements = 10  # of an acceptance; it can die before each of them, before its commit, or not
    assert found.schedules == statements + 2
    assert sum(count for end, count in found.ends.items() if "killed" in end) == statements + 1
