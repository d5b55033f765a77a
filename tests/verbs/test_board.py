"""What a desk, a customer and nobody else may see; and that no answer holds a place."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import pytest

from engine.ports import Forbidden, NotFound
from engine.rules.ledger import Region
from engine.rules.nouns import JobState, Point, Role
from engine.rules.place import cell
from engine.verbs import board
from tests.desk import MIDDLE, WHY, Desk, north, person

SEES = (Role.DISPATCHER, Role.SUPERVISOR, Role.TRAINER, Role.INTEGRATION)


def test_the_board_tells_the_desk_at_one_look(desk: Desk) -> None:
    desk.worker("ana", skills="s1")
    desk.worker("ben", north(8), skills="s1")
    desk.worker("cy", fix=False)
    desk.job("offered", skills="s1")
    desk.job("held", skills="s1", due=120)
    desk.job("lax", due=90)
    desk.job("tight", due=30, skills="none")
    offer = desk.assign("offered").offer
    desk.give("held", "ben")
    found = board.board(desk.engine, person(role=Role.DISPATCHER))
    assert {state: n for state, n in found.counts.items() if n} == {
        JobState.OPEN: 2, JobState.OFFERED: 1, JobState.ACCEPTED: 1,
    }  # fmt: skip
    assert [each.id for each in found.waiting] == ["tight", "lax"]
    assert found.offers == (offer,)
    assert [(each.id, each.worker_id) for each in found.held] == [("held", "ben")]
    crew = found.crew
    assert (crew.on_shift, crew.fresh, crew.stale, crew.silent) == (3, 2, 0, 1)
    assert found.regions == (Region(id="main", area_id=None, epoch=0, holder=None, lease_until_ms=0),)
    assert (found.training, found.router.breaker) == (True, "none")
    assert found.figures.offers_lately == {"ACCEPTED": 1}


def test_waiting_jobs_of_equal_slack_go_by_priority(desk: Desk) -> None:
    desk.job("b", priority=1)
    desk.job("a", priority=1)
    desk.job("emergency", priority=5)
    found = board.board(desk.engine, person(role=Role.DISPATCHER))
    assert [each.id for each in found.waiting] == ["emergency", "a", "b"]


def test_a_missed_job_is_counted_while_it_waits(desk: Desk) -> None:
    desk.job("late", due=1, skills="none")
    desk.takeover()
    desk.advance(90)
    desk.ring("miss")
    assert board.board(desk.engine, person()).missed == 1


def test_slack_is_from_the_promise_else_from_now_and_ends_with_the_wait(desk: Desk) -> None:
    desk.worker("ana", north(12))
    desk.job("j", due=60)
    [waiting] = board.jobs(desk.engine, person())
    assert (waiting.slack_ms, waiting.arrival_ms) == (60 * 60_000, None)
    desk.give("j", "ana")
    [held] = board.jobs(desk.engine, person())
    assert held.slack_ms == pytest.approx(48 * 60_000, abs=1_000)
    desk.begin("j", "ana")
    [begun] = board.jobs(desk.engine, person(), live_only=True)
    assert begun.slack_ms is None
    desk.finish("j", "ana")
    assert board.jobs(desk.engine, person(), live_only=True) == ()
    [done] = board.jobs(desk.engine, person(), states=frozenset({JobState.DONE}))
    assert done.worker_id == "ana"


def test_a_worker_is_shown_by_cell_and_ages(desk: Desk) -> None:
    desk.worker("ana", MIDDLE)
    desk.worker("ben", fix=False, shift=(60, 120))
    desk.advance(20)
    ana, ben = board.workers(desk.engine, person(role=Role.DISPATCHER))
    assert ana.where is not None
    assert ana.where.cell == f"{cell(MIDDLE):x}"
    assert (ana.where.position_age_ms, ana.where.contact_age_ms) == (20_000, 20_000)
    assert (ana.presence, ana.on_shift) == ("fresh", True)
    assert (ben.presence, ben.on_shift, ben.where) == ("silent", False, None)
    assert ben.shift is not None
    desk.advance(20)
    assert board.workers(desk.engine, person())[0].presence == "stale"
    desk.advance(600)
    assert board.workers(desk.engine, person())[0].presence == "silent"


def test_an_absence_is_shown_while_it_lasts(desk: Desk) -> None:
    desk.worker("ana")
    desk.absent("ana", 0, 10)
    assert board.workers(desk.engine, person())[0].absent
    desk.advance(600)
    assert not board.workers(desk.engine, person())[0].absent


def test_a_customer_sees_state_and_band_alone_and_no_offer_nobody_took(desk: Desk) -> None:
    desk.worker("ana", north(12))
    desk.job("j")
    offer = desk.assign("j").offer
    assert offer is not None
    before = board.own_job(desk.engine, "j")
    assert (before.state, before.band_from_ms, before.band_to_ms) == (JobState.OPEN, None, None)
    desk.accept(offer)
    after = board.own_job(desk.engine, "j")
    assert after.state is JobState.ACCEPTED
    assert (after.band_from_ms, after.band_to_ms) == (offer.promise.band_from_ms, offer.promise.band_to_ms)
    assert {each.name for each in fields(after)} == {"id", "state", "band_from_ms", "band_to_ms"}


def test_fixes_feed_the_time_to_complete_of_a_job_in_progress_and_of_no_other(desk: Desk) -> None:
    """SPEC 2: on the site its duration counts; seen elsewhere the way back comes on top; an old fix says nothing."""
    desk.worker("ana", north(0))
    desk.job("j", lasts=30)
    desk.give("j", "ana")

    def complete() -> int | None:
        return board.job(desk.engine, person(), "j").completes_ms

    assert complete() is None
    desk.begin("j", "ana")
    ends = desk.at(30)
    assert complete() == ends
    desk.advance(10 * 60)
    desk.fix("ana", north(6))
    away = complete()
    assert away is not None
    assert away > ends + 4 * 60_000
    desk.advance(60)
    assert complete() == ends, "an old fix tells nothing"
    desk.finish("j", "ana")
    assert complete() is None


@pytest.mark.parametrize("role", list(Role))
def test_the_board_is_for_desks_alone(desk: Desk, role: Role) -> None:
    reads = (board.board, board.jobs, board.workers, board.offers, board.alerts)
    for read in reads:
        if role in SEES or role is Role.AUTOMATIC:
            read(desk.engine, person(role=role))
        else:
            with pytest.raises(Forbidden):
                read(desk.engine, person(role=role))


def test_what_is_not_there_is_not_found(desk: Desk) -> None:
    for read in (lambda: board.job(desk.engine, person(), "none"), lambda: board.own_job(desk.engine, "none"),
                 lambda: board.offers(desk.engine, person(), job_id="none")):  # fmt: skip
        with pytest.raises(NotFound):
            read()


def test_no_answer_holds_a_place(desk: Desk) -> None:
    desk.worker("ana", north(12))
    desk.job("j", north(3))
    desk.give("j", "ana")
    answers = (
        board.board(desk.engine, person()), board.jobs(desk.engine, person()), board.workers(desk.engine, person()),
        board.job(desk.engine, person(), "j"), board.own_job(desk.engine, "j"), board.offers(desk.engine, person()),
    )  # fmt: skip
    held = list(parts(answers))
    assert "ana" in held
    assert not [each for each in held if isinstance(each, Point)]
    places = {north(12).lat, north(3).lat, MIDDLE.lng}
    assert not places & {each for each in held if isinstance(each, float)}


def parts(value: object) -> Iterator[object]:
    """Everything a value is made of."""
    yield value
    if is_dataclass(value):
        for each in fields(value):
            yield from parts(getattr(value, each.name))
    elif isinstance(value, dict):
        for each in value.values():
            yield from parts(each)
    elif isinstance(value, tuple | frozenset):
        for each in value:
            yield from parts(each)


def test_each_attempt_names_who_ended_it_and_in_which_role(desk: Desk) -> None:
    for name in ("ana", "ben", "cy"):
        desk.worker(name)
    desk.job("j")
    first = desk.assign("j").offer
    assert first is not None
    desk.decline(first)
    desk.advance(1)
    second = desk.assign("j").offer
    assert second is not None
    desk.accept(second)
    desk.job("k", due=300)
    desk.give("k", "cy")
    told = board.job(desk.engine, person(), "j").attempts
    assert [(each.offer.made_by, each.ended_by, each.ended_as) for each in told] == [
        ("dora", first.worker_id, "worker"), ("dora", second.worker_id, "worker"),
    ]  # fmt: skip
    [forced] = board.job(desk.engine, person(), "k").attempts
    assert (forced.ended_by, forced.ended_as) == ("dora", "supervisor"), "accepted on the worker's behalf"
    live = desk.job("l", due=500)
    desk.give(live.id, "cy", force=False)
    [open_still] = board.job(desk.engine, person(), "l").attempts
    assert (open_still.ended_by, open_still.overruling is not None) == (None, True)


def test_an_attempt_carries_the_override_that_made_it(desk: Desk) -> None:
    desk.worker("ana")
    desk.job("j")
    desk.advance(45)
    desk.give("j", "ana")
    [only] = board.job(desk.engine, person(), "j").attempts
    told = only.overruling
    assert told is not None
    assert (told.actor, told.worker_id, told.reason, told.words) == ("dora", "ana", WHY.reason, WHY.words)
    assert [(each.reason, each.detail) for each in told.overruled] == [("stale", "fix 45 s > 30 s")]
    assert (told.force, told.late_ms) == (True, 0)


def test_an_offer_whose_time_is_over_is_not_live_to_a_reader_though_no_sweep_has_come(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.job("j")
    offer = desk.assign("j").offer
    desk.advance(19)
    assert board.board(desk.engine, person()).offers == (offer,)
    desk.advance(1)
    found = board.board(desk.engine, person())
    assert (found.offers, found.lapsed) == ((), (offer,)), "now == expires_ms is expired"
    [sight] = board.jobs(desk.engine, person())
    assert (sight.state, sight.lapsed, sight.arrival_ms) == (JobState.OFFERED, True, None)
    assert board.job(desk.engine, person(), "j").job.lapsed
