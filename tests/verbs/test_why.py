"""Why Ana, why not Ben: the stored decision, the same question now, and under other weights (SPEC 3)."""

import pytest

from engine.ports import Invalid, NotFound
from engine.verbs.override import override
from engine.verbs.why import why
from tests.desk import WHY, Desk, north, person, ranking, said, verdicts


def worked_case(desk: Desk) -> None:
    for name, minutes, jobs in (("ana", 12, 4), ("ben", 18, 0), ("cem", 25, 1)):
        desk.worker(name, north(minutes))
        desk.worked(name, jobs)
    desk.job("J1", due=120)


def test_the_stored_decision_tells_who_why_and_how_long_each_stage_took(desk: Desk) -> None:
    worked_case(desk)
    done = desk.assign("J1")
    told = why(desk.engine, "J1").then
    assert told is not None
    assert told.id == done.decision_id
    assert (told.outcome, told.summary.worker, told.summary.ranked) == ("offered", "ben", 3)
    assert told.summary.policy.version == 1
    assert told.considered == done.considered
    assert sum(getattr(told.summary.stages, stage) for stage in told.summary.stages.__slots__) <= told.total_us


def test_replayed_without_fairness_the_nearest_would_have_been_first(desk: Desk) -> None:
    worked_case(desk)
    desk.assign("J1")
    told = why(desk.engine, "J1", weights={"w_fair": 0})
    assert told.replayed is not None
    assert ranking(told.replayed) == ["ana", "ben", "cem"]
    assert told.weights is not None
    assert (told.weights.w_fair, told.weights.w_eta) == (0, 1)
    assert said(told.replayed, "ana").score == pytest.approx(12 - 0.25 * 108)


def test_replayed_under_the_same_weights_the_order_is_the_same(desk: Desk) -> None:
    worked_case(desk)
    done = desk.assign("J1")
    told = why(desk.engine, "J1", weights={"w_fair": 3})
    assert told.replayed is not None
    assert [(each.worker, each.score) for each in told.replayed] == [
        (each.worker, each.score) for each in done.considered
    ]


def test_asked_now_a_waiting_job_shows_what_would_be_and_writes_nothing(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.job("J1")
    before = desk.acts()
    told = why(desk.engine, "J1")
    assert told.then is None
    assert told.now is not None
    assert verdicts(told.now) == {"ana": "ranked"}
    assert desk.acts() == before
    assert desk.engine.store.decisions("main", "J1", limit=5) == ()
    desk.give("J1", "ana")
    assert why(desk.engine, "J1").now is None


def test_B077_a_job_nobody_can_take_is_explained_by_each_workers_first_failed_filter(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.worker("ben", north(3), skills="lift", shift=(-600, -30))
    desk.worker("cem", north(3), skills="lift", fix=False)
    desk.job("J1", skills="lift")
    desk.assign("J1")
    told = why(desk.engine, "J1").then
    assert told is not None
    assert told.considered is not None
    assert verdicts(told.considered) == {"ana": "skills", "ben": "off_shift", "cem": "no_fix"}
    assert told.summary.refused == {"no_fix": 1, "off_shift": 1, "skills": 1}


def test_after_the_detail_was_dropped_the_summary_still_answers_and_no_replay_is_made_up(desk: Desk) -> None:
    worked_case(desk)
    desk.assign("J1")
    desk.advance(8 * 24 * 3600)
    desk.ring("retain")
    told = why(desk.engine, "J1", weights={"w_fair": 0})
    assert told.then is not None
    assert (told.then.considered, told.replayed) == (None, None)
    assert told.then.summary.worker == "ben"


def test_an_unknown_weight_a_negative_one_and_an_unknown_job_are_refused(desk: Desk) -> None:
    desk.job("J1")
    with pytest.raises(Invalid, match="weight w_speed: one of w_eta"):
        why(desk.engine, "J1", weights={"w_speed": 1})
    for bad in (-1, float("nan"), float("inf")):
        with pytest.raises(Invalid, match="zero or more"):
            why(desk.engine, "J1", weights={"w_fair": bad})
    with pytest.raises(NotFound):
        why(desk.engine, "J9")


def test_a_persons_own_choice_is_told_with_its_words_and_what_it_overruled(desk: Desk) -> None:
    desk.worker("ana")
    desk.worker("ben")
    desk.job("j")
    desk.assign("j")
    desk.advance(45)
    override(desk.engine, person(), "j", "ben", WHY, withdraw=True)
    [told] = why(desk.engine, "j").overrulings
    assert (told.actor, told.worker_id, told.reason, told.words) == ("dora", "ben", WHY.reason, WHY.words)
    assert [each.reason for each in told.overruled] == ["stale"]
