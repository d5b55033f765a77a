"""How often the engine's suggestion is taken: of all offers, those to whom it chose (SPEC 12)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from console.reads_figures import figures
from engine.verbs import revoke
from tests.desk import WHY, Desk, north, person


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path, slack_capacity={"reserve_share": 0.0})
    yield made
    made.close()


def counted(desk: Desk) -> tuple[int, int]:
    """(followed, a person's own choice)."""
    row = figures(desk.engine, person())
    return row.followed, sum(row.overrides.values())


def test_only_offers_to_whom_the_engine_chose_count_as_its_suggestion_taken(desk: Desk) -> None:
    desk.worker("ana", north(2))
    desk.worker("ben", north(4))
    desk.job("J1", due=200)
    desk.give("J1", "ana")
    assert counted(desk) == (0, 1)
    revoke.reassign(desk.engine, person(), "J1", WHY, to="ben")
    assert counted(desk) == (0, 2), "named by a person"
    desk.job("J2", due=400)
    assert desk.assign("J2").outcome == "offered"
    assert counted(desk) == (1, 2)


def test_a_reassign_to_the_best_there_is_and_a_preempt_are_told_apart(desk: Desk) -> None:
    desk.worker("ana", north(2))
    desk.job("J1", due=200)
    desk.give("J1", "ana")
    desk.job("urgent", due=200, priority=5)
    revoke.preempt(desk.engine, person(), "J1", "urgent", WHY)
    assert counted(desk) == (0, 2)
    desk.worker("ben", north(3))
    desk.job("J3", due=400)
    desk.give("J3", "ben")
    revoke.reassign(desk.engine, person(), "J3", WHY)
    desk.worker("cem", north(3))
    desk.assign("J3")
    assert counted(desk) == (1, 3)
