"""The player: what a trainer does with a rehearsal, step by step, and what the stage shows."""

from collections.abc import Iterator

import pytest

from engine.ports import NotFound
from engine.rules.rehearsal import Phase
from engine.verbs.rehearse import Cue, Player
from engine.verbs.rehearsed import transcript, upcoming
from fixtures import scenarios
from fixtures.rehearsal import opened


@pytest.fixture
def desks() -> Iterator[Player]:
    with opened(scenarios.found("two-desks-one-job")) as house:
        yield house.player


@pytest.fixture
def boundary() -> Iterator[Player]:
    with opened(scenarios.found("accept-at-expiry")) as house:
        yield house.player


def lines(player: Player) -> list[str]:
    return [each.text for each in transcript(player.now, "Europe/Rome", "as planned")]


def test_before_the_first_step_each_lane_shows_what_is_next(desks: Player) -> None:
    scene = desks.now.scene
    assert [(each.name, each.phase, each.next and each.next.statement) for each in scene.lanes] == [
        ("north desk", Phase.READY, "begin"), ("south desk", Phase.READY, "begin"),
    ]  # fmt: skip
    assert [(each.table, each.key) for each in scene.rows] == [("job", "exam"), ("worker", "ana"), ("worker", "ben")]
    assert desks.now.last is None
    [north, _] = scene.lanes
    assert north.next is not None
    assert (north.next.title, upcoming(north.next)) == (
        "offer o-north: exam to ana", "begin: from here to the end nobody else can write",
    )  # fmt: skip


def test_a_step_shows_statement_bindings_rows_and_the_row_before_and_after(desks: Player) -> None:
    for _ in range(4):
        desks.step()
    last = desks.now.last
    assert last is not None
    assert (last.moved.lane, last.moved.done, last.moved.rows) == ("north desk", "claim_job", 1)
    assert dict(last.moved.binds) == {"job_id": "exam", "offer_id": "o-north", "region_id": "main"}
    [change] = last.moved.changes
    assert (change.before, change.after) == (
        (("state", "OPEN"), ("live_offer_id", "-")), (("state", "OFFERED"), ("live_offer_id", "o-north")),
    )  # fmt: skip
    nobody_else_sees_it = next(each for each in desks.now.scene.rows if each.key == "exam")
    assert "OPEN" in nobody_else_sees_it.text


def test_who_has_to_wait_waits_and_nothing_changes(desks: Player) -> None:
    desks.choose("south desk")
    desks.choose("north desk")
    last = desks.now.last
    assert last is not None
    assert last.moved.waiting
    assert last.moved.changes == ()
    assert desks.now.lane("north desk").phase is Phase.READY


def test_back_looks_and_forward_shows_the_same(desks: Player) -> None:
    for _ in desks.play():
        pass
    whole = lines(desks)
    for _ in range(5):
        desks.back()
    assert len(desks.now.steps) == 15
    assert not desks.now.over
    for _ in desks.play():
        pass
    assert lines(desks) == whole


def test_a_choice_after_going_back_forgets_what_was_beyond(desks: Player) -> None:
    """Back to the start, and the other desk goes first: now it wins."""
    for _ in desks.play():
        pass
    desks.to_start()
    desks.choose("south desk")
    for _ in desks.play():
        pass
    assert desks.now.lane("south desk").outcome == "done"
    assert desks.now.lane("north desk").outcome == "lost at claim_job"
    assert not desks.now.as_planned
    assert lines(desks)[-1] == "rule: a job can be claimed only while it waits, and whoever is first ends that"


def test_going_back_inside_a_transaction_and_on_ends_it_whole(desks: Player) -> None:
    for _ in range(8):
        desks.step()
    for _ in range(3):
        desks.back()
    desks.choose("north desk")
    assert len(desks.now.steps) == 6
    for _ in desks.play():
        pass
    assert desks.now.lane("north desk").outcome == "done"


def test_jump_to_the_decisive_step(desks: Player) -> None:
    now = desks.jump("south desk", "claim_job")
    assert now.last is not None
    assert now.last.moved.lost_at == "claim_job"
    assert (now.position, len(now.steps)) == (15, 15)
    desks.to_start()
    assert desks.jump("south desk", "claim_job").position == 15


def test_the_trainer_moves_the_clock(boundary: Player) -> None:
    """With 19.999 s instead of the scenario's 20 the acceptance wins."""
    boundary.advance(19_999)
    while not boundary.now.lane("ana").outcome:
        boundary.choose("ana")
    assert boundary.now.lane("ana").outcome == "done"


def test_the_clock_waits_while_a_transaction_runs(boundary: Player) -> None:
    boundary.choose("ana")
    boundary.advance(1_000)
    last = boundary.now.last
    assert last is not None
    assert last.moved.waiting
    assert boundary.now.scene.clock_ms == boundary.now.opening.clock_ms


def test_next_cue_is_the_scenarios_then_anybody_who_can(desks: Player) -> None:
    assert desks.next_cue() == Cue(lane="north desk")
    for _ in desks.play():
        pass
    assert desks.next_cue() is None
    with pytest.raises(NotFound, match="south desk: no session that could move"):
        desks.choose("south desk")


def test_a_story_goes_back_too() -> None:
    """Going back in a story makes its engine anew and tells it again: the same ids, the same rows."""
    with opened(scenarios.found("decline-and-walk-on")) as house:
        for _ in house.player.play():
            pass
        whole = lines(house.player)
        house.player.to_start()
        house.player.step()
        house.player.choose("ana")
        for _ in house.player.play():
            pass
        assert lines(house.player)[:-1] == whole[:-1]
