"""Promises taken back: each act aimed at what the actor saw, so that a newer assignment is never touched (SPEC 5)."""

from collections.abc import Callable

import pytest

from engine.ports import Forbidden, Invalid, NotFound, Stale
from engine.rules.attempts import attempts
from engine.rules.nouns import JobState, OfferState, Role
from engine.verbs import override, revoke
from engine.verbs.why import why
from tests.desk import WHY, Desk, north, offered_to, person, verdicts

Found = Callable[..., Desk]


def held(desk: Desk, *workers: str) -> str:
    """J1 held by the first of the workers; answers the assignment."""
    for n, name in enumerate(workers or ("ana",)):
        desk.worker(name, north(3 + n))
    desk.job("J1")
    desk.give("J1", (workers or ("ana",))[0])
    return desk.look("J1").held_offer_id or ""


def test_a_release_frees_the_time_takes_the_count_back_and_cools_the_worker_down(desk: Desk) -> None:
    held(desk, "ana", "ben")
    done = revoke.release(desk.engine, person(), "J1", WHY)
    assert done.job.state is JobState.OPEN
    ana = desk.hand("ana")
    assert (ana.bookings, ana.jobs_today) == ((), 0)
    decided = desk.assign("J1")
    assert offered_to(decided) == "ben"
    assert verdicts(decided.considered)["ana"] == "cooldown"


def test_B067_the_cooldown_runs_from_the_release_and_not_from_the_offer(desk: Desk) -> None:
    held(desk)
    desk.advance(9 * 60, fresh=True)
    revoke.release(desk.engine, person(), "J1", WHY)
    desk.advance(9 * 60, fresh=True)
    assert verdicts(desk.assign("J1").considered) == {"ana": "cooldown"}
    desk.advance(60, fresh=True)
    assert offered_to(desk.assign("J1")) == "ana"


def test_on_a_site_that_offers_by_itself_a_release_asks_the_next_at_once(found: Found) -> None:
    desk = found(auto=True)
    for name, minutes in (("ana", 3), ("ben", 4)):
        desk.worker(name, north(minutes))
    desk.job("J1")
    [offer] = desk.engine.store.live_offers("main")
    desk.accept(offer)
    done = revoke.release(desk.engine, person(), "J1", WHY)
    assert done.next is not None
    assert offered_to(done.next) == "ben"


def test_reassign_to_a_named_worker_is_one_act(desk: Desk) -> None:
    held(desk, "ana", "ben")
    done = revoke.reassign(desk.engine, person(), "J1", WHY, to="ben")
    assert done.job.state is JobState.OFFERED
    offer = desk.engine.store.live_offers("main")[0]
    assert (offer.id, offer.worker_id) == (done.offer_id, "ben")
    assert desk.hand("ana").bookings == ()


def test_a_reassign_to_a_named_worker_says_records_and_shows_what_it_overrules_as_an_override_does(
    desk: Desk,
) -> None:
    held(desk)
    desk.worker("far", north(75))
    desk.advance(60)
    done = revoke.reassign(desk.engine, person("dan", Role.DISPATCHER), "J1", WHY, to="far")
    assert ([each.reason for each in done.overrules], done.late_ms) == (["stale", "late"], 16 * 60_000)
    told = why(desk.engine, "J1").overrulings[0]
    assert (told.actor, told.worker_id, told.reason, told.words) == ("dan", "far", WHY.reason, WHY.words)
    assert [each.reason for each in told.overruled] == ["stale", "late"]
    assert (told.late_ms, told.force) == (16 * 60_000, False)
    tried = attempts(
        desk.engine.store.offers_of_job("main", "J1"), desk.engine.store.audit_of_job("main", "J1")
    )  # fmt: skip
    assert tried[-1].overruling == told, "beside the offer too"


def test_a_reassign_and_a_preempt_ask_who_may_overrule_a_shift_and_never_overrule_an_absence(desk: Desk) -> None:
    held(desk)
    dan = person("dan", Role.DISPATCHER)
    desk.worker("zoe", north(3), shift=(-600, 5))
    desk.worker("away", north(3))
    desk.absent("away", -5, 120)
    desk.job("J9", priority=5, lasts=700)
    with pytest.raises(Forbidden, match="a supervisor may overrule that"):
        revoke.reassign(desk.engine, dan, "J1", WHY, to="zoe")
    with pytest.raises(Forbidden, match="absent"):
        revoke.reassign(desk.engine, person(), "J1", WHY, to="away")
    with pytest.raises(Forbidden, match="a supervisor may overrule that"):
        revoke.preempt(desk.engine, dan, "J1", "J9", WHY)
    assert desk.look("J1").worker_id == "ana"
    done = revoke.preempt(desk.engine, person(), "J1", "J9", WHY)
    assert [each.reason for each in done.overrules] == ["off_shift"]
    [told] = why(desk.engine, "J9").overrulings
    assert (told.worker_id, told.words, [each.reason for each in told.overruled]) == ("ana", WHY.words, ["off_shift"])


def test_a_reassign_that_cannot_be_done_leaves_the_assignment_whole(desk: Desk) -> None:
    assignment = held(desk, "ana", "ben")
    desk.job("J2")
    desk.give("J2", "ben", force=False)
    with pytest.raises(Forbidden, match="offered_elsewhere"):
        revoke.reassign(desk.engine, person(), "J1", WHY, to="ben")
    assert desk.look("J1").held_offer_id == assignment
    assert desk.hand("ana").jobs_today == 1


def test_preempting_gives_the_worker_to_the_more_urgent_job(desk: Desk) -> None:
    held(desk)
    desk.job("J9", priority=5)
    done = revoke.preempt(desk.engine, person(), "J1", "J9", WHY)
    assert done.job.state is JobState.OPEN
    [offer] = desk.engine.store.live_offers("main")
    assert (offer.job_id, offer.worker_id) == ("J9", "ana")
    row = next(each for each in desk.engine.store.audit("main") if each.act == "preempt")
    assert (row.reason, row.words) == (WHY.reason, WHY.words)


def test_a_job_of_the_same_priority_may_not_preempt(desk: Desk) -> None:
    held(desk)
    desk.job("J9")
    with pytest.raises(Invalid, match="more than 1 is wanted"):
        revoke.preempt(desk.engine, person(), "J1", "J9", WHY)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("OFFERED", "job J9 is offered to ben: withdraw offer O-"),
        ("ACCEPTED", "job J9 is ACCEPTED with ben: only a waiting job takes the worker of another"),
        ("IN_PROGRESS", "job J9 is IN_PROGRESS with ben: only a waiting job takes the worker of another"),
        ("DONE", "job J9 is DONE with ben: only a waiting job takes the worker of another"),
        ("CANCELLED", "job J9 is CANCELLED: only a waiting job takes the worker of another"),
    ],
)
def test_an_urgent_job_that_does_not_wait_preempts_nobody_and_is_the_one_spoken_of(
    desk: Desk, state: str, told: str
) -> None:
    held(desk, "ana", "ben")
    desk.job("J9", priority=5)
    if state == "CANCELLED":
        revoke.cancel(desk.engine, person(), "J9", WHY)
    else:
        desk.give("J9", "ben", force=state != "OFFERED")
    if state in ("IN_PROGRESS", "DONE"):
        desk.begin("J9", "ben")
    if state == "DONE":
        desk.finish("J9", "ben")
    with pytest.raises(Stale, match=told):
        revoke.preempt(desk.engine, person(), "J1", "J9", WHY)
    assert desk.look("J1").worker_id == "ana"


def test_an_urgent_job_whose_offer_has_lapsed_waits_again(desk: Desk) -> None:
    held(desk, "ana", "ben")
    desk.job("J9", priority=5)
    desk.give("J9", "ben", force=False)
    desk.advance(20, fresh=True)
    revoke.preempt(desk.engine, person(), "J1", "J9", WHY)
    [offer] = desk.engine.store.live_offers("main")
    assert (offer.job_id, offer.worker_id) == ("J9", "ana")


@pytest.mark.parametrize("act", ["override", "reassign", "preempt"])
def test_a_lapsed_offer_elsewhere_keeps_no_worker_from_an_act_that_names_them(desk: Desk, act: str) -> None:
    held(desk, "ana", "ben")
    who = "ana" if act == "preempt" else "ben"
    desk.job("later", opens=150, due=200)
    desk.give("later", who, force=False)
    desk.job("J9", priority=5)
    desk.advance(20, fresh=True)
    if act == "override":
        desk.give("J9", "ben")
    elif act == "reassign":
        revoke.reassign(desk.engine, person(), "J1", WHY, to="ben")
    else:
        revoke.preempt(desk.engine, person(), "J1", "J9", WHY)
    [ended] = desk.engine.store.offers_of_job("main", "later")
    assert ended.state == "EXPIRED"
    assert desk.look("J1" if act == "reassign" else "J9").state is not JobState.OPEN


@pytest.mark.parametrize("act", ["override", "reassign", "preempt"])
def test_the_job_of_a_lapsed_offer_is_asked_on_only_after_the_act_it_was_ended_for(found: Found, act: str) -> None:
    """Asked at once it went to the next best, whose job then went to the very worker the act wants."""
    desk = found(auto=True, lease={"cooldown_min": 0}, slack_capacity={"reserve_share": 0.0})
    who = "ana" if act == "preempt" else "ben"
    for name, minutes in (("ana", 3), ("ben", 12), ("cleo", 80)):
        desk.worker(name, north(minutes), skills={"cleo": "s2", who: "s1 s2"}.get(name, "s1"))
    desk.job("J1", skills="s1")
    desk.accept(desk.engine.store.live_offers("main")[0])
    desk.job("lapsing", skills="s2", due=200)
    [offer] = desk.engine.store.live_offers("main")
    assert (desk.look("J1").worker_id, offer.worker_id) == ("ana", who)
    desk.advance(20, fresh=True)
    desk.job("J9", skills="s1", opens=170, due=300, priority=5)
    if act == "override":
        desk.give("J9", "ben", force=False)
    elif act == "reassign":
        revoke.reassign(desk.engine, person(), "J1", WHY, to="ben")
    else:
        revoke.preempt(desk.engine, person(), "J1", "J9", WHY)
    live = {each.job_id: each.worker_id for each in desk.engine.store.live_offers("main")}
    assert live["J1" if act == "reassign" else "J9"] == who
    assert live["lapsing"] == "cleo"


def test_an_override_of_a_job_with_its_own_lapsed_offer_takes_it_as_it_was_shown(found: Found) -> None:
    desk = found(auto=True)
    desk.worker("ana", north(3))
    desk.worker("ben", north(4))
    desk.job("J1")
    shown = desk.look("J1")
    assert shown.state is JobState.OFFERED
    desk.advance(20, fresh=True)
    with pytest.raises(Stale, match="changed since it was shown"):
        override.override(desk.engine, person(), "J1", "ana", WHY, version=shown.version - 1)
    assert desk.look("J1").version == shown.version, "a refused act ends nothing that was shown otherwise"
    made = override.override(desk.engine, person(), "J1", "ana", WHY, version=shown.version)
    assert made.offer is not None
    assert (made.job.state, made.offer.worker_id) == (JobState.OFFERED, "ana")


def test_where_the_act_is_refused_the_job_of_the_lapsed_offer_is_asked_on_all_the_same(found: Found) -> None:
    desk = found(auto=True)
    desk.worker("ana", north(3))
    desk.worker("ben", north(4))
    desk.job("J1")
    desk.job("rare", skills="none")
    desk.advance(20, fresh=True)
    with pytest.raises(Forbidden):
        override.override(desk.engine, person(), "rare", "ana", WHY)
    [live] = desk.engine.store.live_offers("main")
    assert (live.job_id, live.worker_id) == ("J1", "ben")


def test_a_late_cancel_never_clears_a_newer_assignment(desk: Desk) -> None:
    old = held(desk, "ana", "ben")
    revoke.release(desk.engine, person(), "J1", WHY)
    desk.give("J1", "ben")
    with pytest.raises(Stale, match="ACCEPTED with ben"):
        revoke.cancel(desk.engine, person(), "J1", WHY, aimed_at=old)
    with pytest.raises(Stale, match="ACCEPTED with ben"):
        revoke.release(desk.engine, person(), "J1", WHY, aimed_at=old)
    with pytest.raises(Stale):
        revoke.cancel(desk.engine, person(), "J1", WHY, aimed_at="")
    assert [each.job_id for each in desk.hand("ben").bookings] == ["J1"]


@pytest.mark.parametrize("state", ["OPEN", "OFFERED", "ACCEPTED", "IN_PROGRESS"])
def test_a_cancel_ends_a_job_in_any_live_state_and_frees_what_it_held(desk: Desk, state: str) -> None:
    desk.worker("ana", north(3))
    desk.job("J1")
    if state != "OPEN":
        desk.give("J1", "ana", force=state != "OFFERED")
    if state == "IN_PROGRESS":
        desk.begin("J1", "ana")
    assert desk.look("J1").state == state
    revoke.cancel(desk.engine, person(), "J1", WHY)
    ana = desk.hand("ana")
    assert (ana.live_offer_id, ana.bookings) == (None, ())
    assert desk.look("J1").state is JobState.CANCELLED
    with pytest.raises(Stale):
        revoke.cancel(desk.engine, person(), "J1", WHY)


def test_B081_after_a_cancel_the_rest_of_the_route_is_reckoned_anew(desk: Desk) -> None:
    """The second job's departure came from the first; once that is gone a third may take its time."""
    desk.worker("ana", north(0))
    desk.job("first", north(5), lasts=20, due=30)
    desk.give("first", "ana")
    desk.job("second", north(10), opens=60, due=70, lasts=10)
    desk.give("second", "ana")
    desk.job("third", north(1), due=20, lasts=20)
    assert verdicts(desk.assign("third").considered) == {"ana": "overlap"}
    revoke.cancel(desk.engine, person(), "first", WHY)
    assert offered_to(desk.assign("third")) == "ana"


def test_a_withdrawn_offer_frees_both_and_cannot_be_accepted(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.job("J1")
    offer = desk.assign("J1").offer
    assert offer is not None
    done = revoke.withdraw(desk.engine, person(), offer.id, WHY)
    assert done.job.state is JobState.OPEN
    assert desk.accept(offer).outcome == "lost"
    facts = desk.engine.store.offer("main", offer.id)
    assert facts is not None
    assert facts.offer.state is OfferState.WITHDRAWN
    with pytest.raises(Stale, match="it is WITHDRAWN"):
        revoke.withdraw(desk.engine, person(), offer.id, WHY)


def test_a_job_in_progress_is_not_released(desk: Desk) -> None:
    held(desk)
    desk.begin("J1", "ana")
    with pytest.raises(Stale, match="in progress with ana"):
        revoke.release(desk.engine, person(), "J1", WHY)


def test_a_reason_is_a_known_code_and_real_words() -> None:
    with pytest.raises(Invalid, match="reason 'because'"):
        revoke.reasoned("because", "long enough words")
    with pytest.raises(Invalid, match="at least 10 letters"):
        revoke.reasoned("sick", "  short  ")
    for hollow in ("..........", "1234567890", "          a", "phoned her", "- - - - - ab", "!!!!!!!!!!!!"):
        with pytest.raises(Invalid, match="at least 10 letters"):
            revoke.reasoned("sick", hollow)
    assert revoke.reasoned("sick", "позвонила ей").words == "позвонила ей"
    assert revoke.reasoned("sick", "  rang in sick at eight  ").words == "rang in sick at eight"


def test_workers_may_not_take_promises_back_and_what_is_not_there_is_not_found(desk: Desk) -> None:
    held(desk)
    with pytest.raises(Forbidden):
        revoke.release(desk.engine, person("ana", Role.WORKER), "J1", WHY)
    with pytest.raises(NotFound):
        revoke.withdraw(desk.engine, person(), "O-NOTHING", WHY)
    with pytest.raises(NotFound):
        revoke.cancel(desk.engine, person(), "J2", WHY)
    desk.job("J3")
    with pytest.raises(Stale, match="nobody holds it"):
        revoke.release(desk.engine, person(), "J3", WHY)


def test_B064_every_way_of_assigning_writes_an_offer_row_and_history(found: Found) -> None:
    """B064: automatic, manual, forced, reassigned: each is delivered by the same door, the worker's live offer."""
    desk = found(auto=True)
    desk.worker("ana", north(3))
    desk.job("auto")
    [offer] = desk.engine.store.live_offers("main")
    desk.decline(offer)
    desk.job("manual", opens=200, due=300)
    desk.give("manual", "ana", force=False)
    desk.accept(desk.engine.store.live_offers("main")[0])
    desk.job("forced", opens=400, due=500)
    desk.give("forced", "ana")
    revoke.reassign(desk.engine, person(), "forced", WHY, to="ana")
    for job_id in ("auto", "manual", "forced"):
        offers = desk.engine.store.offers_of_job("main", job_id)
        told = [each.act for each in desk.engine.store.audit_of_job("main", job_id)]
        assert offers
        assert len([each for each in told if each in ("offer", "override")]) == len(offers)
