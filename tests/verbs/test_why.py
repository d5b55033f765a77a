"""Why Ana, why not Ben: the stored decision, the same question now, and under other weights (SPEC 3)."""

from collections.abc import Callable

import pytest

from engine.imports.parsed import Parsed
from engine.ports import Invalid, NotFound
from engine.rules.nouns import NewWorker
from engine.verbs.intake import import_workers
from engine.verbs.override import override
from engine.verbs.unplaced import LISTED_MAX
from engine.verbs.why import why, why_not
from tests.desk import MIDDLE, WHY, Desk, box, north, person, ranking, said, verdicts

Found = Callable[..., Desk]


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
    for bad in (-1, float("nan"), float("inf"), 1e9):
        with pytest.raises(Invalid, match=r"w_fair = .*: a number from 0 to 1000 is wanted"):
            why(desk.engine, "J1", weights={"w_fair": bad})
    for bad in (1.7, -1, float("nan"), 1e9):
        with pytest.raises(Invalid, match=r"eta_band_min = .*: a whole number from 0 to 120 min is wanted"):
            why(desk.engine, "J1", weights={"eta_band_min": bad})
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


# --- why not maria ---------------------------------------------------------------------------------------------------


def many(desk: Desk, prefix: str, count: int, *, shift: tuple[float, float] = (-60, 600), skills: str = "") -> None:
    """So many workers whom nobody ever heard of."""
    new = [
        NewWorker(ref=f"{prefix}{n:04}", name="x", skills=frozenset(skills.split()), home=MIDDLE,
                  shift_starts_ms=desk.at(shift[0]), shift_ends_ms=desk.at(shift[1]))
        for n in range(count)
    ]  # fmt: skip
    done = import_workers(desk.engine, person(), Parsed(items=tuple(enumerate(new, 1)), rejected=(), warnings=()))
    assert not done.rejected


def test_who_has_left_the_index_is_listed_with_the_age_of_the_position_beside_an_offer(desk: Desk) -> None:
    desk.worker("ben")
    desk.worker("maria")
    desk.advance(600)
    desk.fix("ben", MIDDLE)
    desk.ring("cool")
    desk.job("J1", due=200)
    done = desk.assign("J1")
    assert verdicts(done.considered) == {"ben": "ranked", "maria": "stale"}
    assert said(done.considered, "maria").detail == "fix 10 min > 30 s"


def test_two_hundred_who_are_off_shift_hide_nobody_who_is_on(desk: Desk) -> None:
    desk.worker("zoe")
    many(desk, "off", 205, shift=(-600, -300))
    desk.worker("tim", fix=False)
    desk.job("J1", due=200)
    assert verdicts(desk.assign("J1").considered) == {"zoe": "ranked", "tim": "no_fix"}


def test_two_thousand_without_the_skill_hide_nobody_who_has_it(desk: Desk) -> None:
    many(desk, "a", 2001)
    desk.worker("maria", skills="piano", fix=False)
    desk.job("J1", due=200, skills="piano")
    assert verdicts(desk.assign("J1").considered) == {"maria": "no_fix"}


def test_who_is_too_many_to_list_is_counted_and_can_be_asked_for_by_name(desk: Desk) -> None:
    many(desk, "on", LISTED_MAX + 5)
    desk.worker("tim", fix=False)
    desk.job("J1", due=200)
    done = desk.assign("J1")
    assert (len(done.considered), "tim" in verdicts(done.considered)) == (LISTED_MAX, False)
    told = why(desk.engine, "J1").then
    assert told is not None
    assert told.summary.unlisted == 6
    answer = why_not(desk.engine, "J1", "tim")
    assert [(each.verdict, each.detail) for each in answer.now] == [("no_fix", "no position in the last minutes")]
    assert answer.then is None


def test_without_a_position_the_first_filter_that_fails_is_the_reason(found: Found) -> None:
    desk = found(regions=(("main", None), ("other", box("other", north(400), 0.1))))
    desk.worker("away", home="main", fix=False)
    desk.absent("away", -10, 100)
    desk.worker("theirs", home="other", fix=False)
    desk.job("J1", due=200)
    told = desk.assign("J1").considered
    assert verdicts(told) == {"away": "absent", "theirs": "other_region"}


def test_a_named_worker_is_told_everything_that_stands_against_them_and_what_the_decision_said(desk: Desk) -> None:
    desk.worker("ana", north(3), skills="s")
    desk.worker("ben", north(4))
    desk.worker("off", north(4), skills="s", shift=(-600, -300))
    desk.job("J1", skills="s")
    desk.assign("J1")
    ana = why_not(desk.engine, "J1", "ana")
    assert ana.then is not None
    assert (ana.then.verdict, [each.verdict for each in ana.now]) == ("ranked", ["cooldown"]), (
        "her offer is no other job's"
    )
    desk.advance(40)
    assert [each.verdict for each in why_not(desk.engine, "J1", "ben").now] == ["skills", "stale"]
    desk.refresh("off")
    assert [each.verdict for each in why_not(desk.engine, "J1", "off").now] == ["off_shift"]
    with pytest.raises(NotFound, match="worker nobody"):
        why_not(desk.engine, "J1", "nobody")
    with pytest.raises(NotFound, match="job J9"):
        why_not(desk.engine, "J9", "ana")


def test_who_has_nothing_against_them_is_said_to_be_eligible(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.job("J1")
    [told] = why_not(desk.engine, "J1", "ana").now
    assert told.verdict == "ranked"
