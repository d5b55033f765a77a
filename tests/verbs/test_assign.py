"""Who gets a job and why, end to end on a training site (SPEC 3)."""

import time
from collections.abc import Callable
from dataclasses import asdict, fields, replace

import pytest

from engine.ports import Forbidden, NotFound
from engine.rules.nouns import Actor, JobState, Role
from engine.settings import Eta, load
from engine.verbs import answer, region
from engine.verbs.assign import FOLLOWED_MAX, Outcome, assign
from engine.verbs.decide import eta_rules
from engine.verbs.why import why
from tests.desk import Desk, box, north, offered_to, person, ranking, said, verdicts

Found = Callable[..., Desk]


# --- the worked case -------------------------------------------------------------------------------------------------


def worked_case(desk: Desk) -> None:
    for name, minutes, jobs in (("ana", 12, 4), ("ben", 18, 0), ("cem", 25, 1)):
        desk.worker(name, north(minutes))
        desk.worked(name, jobs)
    desk.job("J1", due=120)


def test_the_worked_case_goes_to_the_worker_18_minutes_away(desk: Desk) -> None:
    worked_case(desk)
    done = desk.assign("J1")
    assert done.outcome is Outcome.OFFERED
    assert offered_to(done) == "ben"
    assert [said(done.considered, name).eta_s for name in ("ana", "ben", "cem")] == [12 * 60, 18 * 60, 25 * 60]
    assert [said(done.considered, name).jobs_today for name in ("ana", "ben", "cem")] == [4, 0, 1]
    slack = [-0.25 * (120 - minutes) for minutes in (12, 18, 25)]
    assert [said(done.considered, name).score for name in ("ana", "ben", "cem")] == pytest.approx(
        [12 + 12 + slack[0], 18 + slack[1], 25 + 3 + slack[2]]
    )


def test_the_worked_case_without_fairness_goes_to_the_nearest(found: Found) -> None:
    desk = found(score={"w_fair": 0})
    worked_case(desk)
    assert offered_to(desk.assign("J1")) == "ana"


def test_an_idle_worker_8_minutes_farther_beats_one_with_four_jobs(desk: Desk) -> None:
    desk.worker("busy", north(5))
    desk.worked("busy", 4)
    desk.worker("idle", north(13))
    desk.job("J1", due=120)
    assert offered_to(desk.assign("J1")) == "idle"


def test_ties_go_by_score_then_jobs_today_then_id(desk: Desk) -> None:
    for name in ("cem", "ana", "ben"):
        desk.worker(name, north(6))
    desk.job("J1")
    assert ranking(desk.assign("J1").considered) == ["ana", "ben", "cem"]


# --- the filters: absent from the ranking, each with its reason and number -------------------------------------------


def test_every_filter_keeps_its_worker_out_and_says_why_with_a_number(found: Found) -> None:
    """B077 and B054: the first failed filter of each, with what it was measured against."""
    desk = found(regions=(("main", None), ("other", None)))
    desk.area(box("centre", north(200), 0.1))
    desk.worker("stale", north(4), skills="lift")
    desk.advance(31)
    good = {"skills": "lift"}
    desk.worker("good", north(9), **good)
    desk.worker("unskilled", north(2))
    desk.worker("elsewhere", north(4), **good, home="other")
    desk.worker("away", north(4), **good)
    desk.absent("away", -10, 65)
    desk.worker("going", north(4), **good, shift=(-60, 20))
    desk.worker("outside", north(4), **good, area="centre")
    desk.worker("far", north(125), **good)
    desk.worker("lost", north(4), **good, fix=False)
    desk.worker("cooling", north(4), **good)
    desk.worker("overlapping", north(4), **good)
    desk.job("held", north(4), lasts=90)
    desk.give("held", "overlapping")
    desk.worker("asked", north(4), **good)
    desk.job("open", north(4))
    desk.give("open", "asked", force=False)
    job = desk.job("J1", skills="lift", due=60, lasts=30)
    first = desk.give("J1", "cooling", force=False)
    assert first.offer is not None
    desk.decline(first.offer)
    desk.advance(1)
    done = desk.assign(job.id)
    assert offered_to(done) == "good"
    assert ranking(done.considered) == ["good"]
    told = {each.worker: (each.verdict, each.detail) for each in done.considered if each.verdict != "ranked"}
    assert told["stale"] == ("stale", "fix 32 s > 30 s")
    assert told["unskilled"] == ("skills", "lacks lift")
    assert told["elsewhere"] == ("other_region", "belongs to other, the job to main")
    assert told["away"] == ("absent", "back from an absence, arrives 7 min after due_by")
    assert told["going"][0] == "off_shift"
    assert "after the shift" in told["going"][1]
    assert told["outside"] == ("outside_area", "the job lies outside Centre")
    assert told["cooling"] == ("cooldown", "had this job 1 s ago < 10 min")
    assert told["overlapping"][0] == "overlap"
    assert "held" in told["overlapping"][1]
    assert told["asked"][0] == "offered_elsewhere"
    assert told["far"][0] == "late"
    assert any(figure.isdigit() for figure in told["far"][1])


def test_an_unskilled_worker_is_never_scored(desk: Desk) -> None:
    desk.worker("near", north(1))
    desk.worker("able", north(30), skills="lift")
    desk.job("J1", skills="lift")
    done = desk.assign("J1")
    assert offered_to(done) == "able"
    assert said(done.considered, "near").score is None


def test_a_skilled_worker_on_shift_without_a_position_is_listed_as_no_fix(desk: Desk) -> None:
    """B077: "why not Maria" has an answer also where the index never heard of her."""
    desk.worker("maria", skills="lift", fix=False)
    desk.worker("unskilled", fix=False)
    desk.job("J1", skills="lift")
    done = desk.assign("J1")
    assert verdicts(done.considered) == {"maria": "no_fix"}


def test_a_worker_of_another_region_or_inside_the_cooldown_or_with_an_offer_is_never_asked(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.job("J1")
    first = desk.assign("J1")
    assert first.offer is not None
    desk.job("J2")
    done = desk.assign("J2")
    assert verdicts(done.considered) == {"ana": "offered_elsewhere"}
    assert first.offer.id in said(done.considered, "ana").detail
    desk.decline(first.offer)
    assert verdicts(desk.assign("J1").considered) == {"ana": "cooldown"}
    desk.advance(599, fresh=True)
    assert verdicts(desk.assign("J1").considered) == {"ana": "cooldown"}
    desk.advance(1, fresh=True)
    assert offered_to(desk.assign("J1")) == "ana"


def test_B016_no_fix_for_six_minutes_is_stale_and_says_so(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.advance(6 * 60)
    desk.ring("cool")
    desk.job("J1")
    done = desk.assign("J1")
    assert said(done.considered, "ana").verdict == "stale"
    assert said(done.considered, "ana").detail == "fix 6 min > 30 s"
    assert done.outcome is Outcome.ALERT


def test_B007_a_phone_that_unloads_two_hours_of_old_fixes_stays_stale(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.advance(7200)
    for n in range(120):
        desk.fix("ana", north(3), age_s=7200 - n)
    desk.job("J1", due=180)
    seen = desk.engine.index.seen("main", "ana", north(0), mono_ms=desk.engine.mono_ms())
    assert seen is not None
    assert seen.device_age_ms == 7200_000
    assert seen.receive_age_ms == 0
    assert offered_to(desk.assign("J1")) is None


def test_B072_a_job_never_ends_after_the_shift(desk: Desk) -> None:
    """B072: the trip home is not counted, the end of the service is; equal is enough."""
    desk.worker("short", north(40), shift=(-60, 79))
    desk.worker("exact", north(40), shift=(-60, 80))
    desk.job("J1", due=45, lasts=40)
    done = desk.assign("J1")
    assert ranking(done.considered) == ["exact"]
    assert said(done.considered, "short").verdict == "off_shift"
    assert said(done.considered, "short").detail == "would end 1 min after the shift"


def test_a_worker_opted_into_travel_may_leave_the_area_when_on_time(desk: Desk) -> None:
    desk.area(box("centre", north(200), 0.1))
    desk.worker("stays", north(4), area="centre")
    desk.worker("goes", north(9), area="centre", travels=True)
    desk.job("J1")
    done = desk.assign("J1")
    assert ranking(done.considered) == ["goes"]
    assert verdicts(done.considered)["stays"] == "outside_area"


# --- slack capacity --------------------------------------------------------------------------------------------------


def test_one_of_five_idle_workers_of_a_cell_is_kept_for_emergencies(found: Found) -> None:
    desk = found()
    for n in range(5):
        desk.worker(f"w{n}", north(1 + n / 100))
    desk.job("J1")
    desk.job("J2", priority=4)
    ordinary = desk.assign("J1")
    assert sorted(verdicts(ordinary.considered).values()) == ["ranked"] * 4 + ["reserved"]
    kept = next(each for each in ordinary.considered if each.verdict == "reserved")
    assert kept.detail == "kept for emergencies"
    assert kept.worker in ranking(desk.assign("J2").considered)


def test_four_idle_workers_are_too_few_to_keep_one_back(found: Found) -> None:
    desk = found()
    for n in range(4):
        desk.worker(f"w{n}", north(1 + n / 100))
    desk.job("J1")
    assert len(ranking(desk.assign("J1").considered)) == 4


# --- K, then the next K ----------------------------------------------------------------------------------------------


def test_the_best_five_are_timed_and_the_others_are_named_as_not_timed(desk: Desk) -> None:
    for n in range(7):
        desk.worker(f"w{n}", north(3 + n))
    desk.job("J1")
    done = desk.assign("J1")
    assert ranking(done.considered) == ["w0", "w1", "w2", "w3", "w4"]
    assert [each.worker for each in done.considered if each.verdict == "not_timed"] == ["w5", "w6"]


def test_an_idle_worker_farther_away_can_make_the_best_five(desk: Desk) -> None:
    for n in range(5):
        desk.worker(f"busy{n}", north(2))
        desk.worked(f"busy{n}", 4)
    desk.worker("idle", north(10))
    desk.job("J1")
    done = desk.assign("J1")
    assert offered_to(done) == "idle"


def test_when_all_five_fail_on_real_times_the_next_five_are_timed(desk: Desk) -> None:
    """The optimistic bound (60 km/h, straight) lets the five busy ones through; the stand-in does not."""
    for n in range(5):
        desk.worker(f"near{n}", north(20))
    desk.worker("booked", north(15))
    desk.job("J1", due=19)
    for n in range(5):
        desk.worked(f"near{n}", 0)
    desk.worked("booked", 6)
    done = desk.assign("J1")
    assert offered_to(done) == "booked"
    assert [verdicts(done.considered)[f"near{n}"] for n in range(5)] == ["late"] * 5
    assert said(done.considered, "near0").detail == "arrives 1 min after due_by"


# --- repeated, lost, alerts ------------------------------------------------------------------------------------------


def test_assign_repeated_returns_the_offer_that_stands(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.worker("ben", north(3))
    desk.job("J1")
    first, again = desk.assign("J1"), desk.assign("J1")
    assert again.outcome is Outcome.STANDING
    assert again.offer == first.offer
    assert len(desk.engine.store.live_offers("main")) == 1


def test_assign_after_the_time_of_an_offer_expires_it_and_asks_the_next(desk: Desk) -> None:
    """Without any sweeper: the next reader runs the expiry."""
    desk.worker("ana", north(3))
    desk.worker("ben", north(4))
    desk.job("J1")
    assert offered_to(desk.assign("J1")) == "ana"
    desk.advance(20, fresh=True)
    done = desk.assign("J1")
    assert offered_to(done) == "ben"
    assert verdicts(done.considered)["ana"] == "cooldown"
    states = [(each.worker_id, each.state) for each in desk.engine.store.offers_of_job("main", "J1")]
    assert states == [("ana", "EXPIRED"), ("ben", "OFFERED")]


def test_an_accepted_or_ended_job_is_not_open(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.job("J1")
    desk.give("J1", "ana")
    assert desk.assign("J1").outcome is Outcome.NOT_OPEN


def test_nobody_far_ahead_of_due_by_is_no_eligible_and_near_it_an_alert(desk: Desk) -> None:
    """The alert horizon is 60 min: at 61 the job stays OPEN, at 60 it is UNASSIGNED_ALERT."""
    desk.worker("ana", north(3), skills="other")
    desk.job("far", skills="lift", due=61)
    desk.job("near", skills="lift", due=60)
    far, near = desk.assign("far"), desk.assign("near")
    assert (far.outcome, far.job.state, far.alert_id) == (Outcome.NO_ELIGIBLE, JobState.OPEN, None)
    assert (near.outcome, near.job.state) == (Outcome.ALERT, JobState.UNASSIGNED_ALERT)
    [alert] = desk.alerts("unassigned")
    assert alert.id == near.alert_id
    assert alert.detail == "1 looked at: 1 skills"


def test_B129_a_job_without_candidates_alerts_within_the_decision(desk: Desk) -> None:
    desk.job("J1", skills="lift")
    since = time.perf_counter()
    assert desk.assign("J1").alert_id is not None
    assert time.perf_counter() - since < 0.5


def test_all_late_is_an_alert_however_far_due_by_is(desk: Desk) -> None:
    desk.worker("ana", north(100))
    desk.job("J1", due=65)
    done = desk.assign("J1")
    assert done.outcome is Outcome.ALERT
    assert set(verdicts(done.considered).values()) == {"late"}


def test_an_alert_is_one_a_job_and_ends_with_the_acceptance(desk: Desk) -> None:
    desk.job("J1")
    first, second = desk.assign("J1"), desk.assign("J1")
    assert first.alert_id == second.alert_id
    assert len(desk.alerts()) == 1
    desk.worker("ana", north(3))
    done = desk.assign("J1")
    assert done.offer is not None
    assert desk.look("J1").state is JobState.OFFERED
    desk.accept(done.offer)
    assert desk.alerts() == []


def test_a_worker_taken_between_decision_and_lease_means_the_next_candidate(desk: Desk) -> None:
    """Two jobs, one worker: the loser goes on to its second choice and says whom it lost."""
    desk.worker("ana", north(3))
    desk.worker("ben", north(9))
    desk.job("J1")
    desk.job("J2")
    whole = desk.engine.store.facts

    def facts_then_a_rival(tenant: str, job_id: str, ids: object) -> object:
        read = whole(tenant, job_id, ids)  # type: ignore[arg-type]
        if job_id == "J1" and desk.look("J2").state is JobState.OPEN:
            desk.give("J2", "ana", force=False)
        return read

    desk.engine.store.facts = facts_then_a_rival  # type: ignore[method-assign, assignment]
    done = desk.assign("J1")
    assert offered_to(done) == "ben"
    assert said(done.considered, "ana").verdict in ("ranked", "offered_elsewhere")
    lost = [each for each in done.considered if each.worker == "ana" and each.verdict == "offered_elsewhere"]
    assert lost
    assert "lost at claim_worker" in lost[0].detail


def test_a_job_taken_between_decision_and_lease_returns_the_offer_that_stands(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.worker("ben", north(9))
    desk.job("J1")
    whole = desk.engine.store.facts

    def facts_then_a_rival(tenant: str, job_id: str, ids: object) -> object:
        read = whole(tenant, job_id, ids)  # type: ignore[arg-type]
        if desk.look("J1").state is JobState.OPEN:
            desk.engine.store.facts = whole  # type: ignore[method-assign]
            desk.give("J1", "ben", force=False)
        return read

    desk.engine.store.facts = facts_then_a_rival  # type: ignore[method-assign, assignment]
    done = desk.assign("J1")
    assert done.outcome is Outcome.STANDING
    assert offered_to(done) == "ben"
    assert desk.hand("ana").live_offer_id is None


def test_B059_a_worker_in_cooldown_is_asked_again_only_when_the_site_allows_it_and_nobody_else_is_left(
    found: Found,
) -> None:
    desk = found(lease={"cooldown_retry_when_empty": True})
    desk.worker("w1", north(3))
    desk.worker("w2", north(4))
    desk.job("J1")
    for expected in ("w1", "w2"):
        done = desk.assign("J1")
        assert offered_to(done) == expected
        assert done.offer is not None
        desk.decline(done.offer)
        desk.advance(1)
    again = desk.assign("J1")
    assert offered_to(again) == "w1"
    [newest, *_] = desk.engine.store.decisions("main", "J1", limit=5)
    assert newest.summary.retried_in_cooldown


def test_B059_without_that_setting_the_cooldown_holds(desk: Desk) -> None:
    desk.worker("w1", north(3))
    desk.job("J1")
    first = desk.assign("J1")
    assert first.offer is not None
    desk.decline(first.offer)
    again = desk.assign("J1")
    assert again.outcome is Outcome.ALERT
    assert verdicts(again.considered) == {"w1": "cooldown"}


# --- what is kept, who may -------------------------------------------------------------------------------------------


def test_the_offer_carries_its_decision_epoch_generation_and_band(desk: Desk) -> None:
    desk.worker("ana", north(12))
    desk.job("J1")
    offer = desk.assign("J1").offer
    assert offer is not None
    [decision] = desk.engine.store.decisions("main", "J1", limit=5)
    assert offer.decision_id == decision.id
    assert (offer.epoch, offer.generation) == (0, 1)
    assert offer.expires_ms - offer.created_ms == 20_000
    assert offer.promise.eta_s == 720
    assert offer.promise.arrival_ms == desk.at(12)
    assert offer.promise.band_from_ms % 300_000 == offer.promise.band_to_ms % 300_000 == 0
    assert offer.promise.band_from_ms <= offer.promise.arrival_ms < offer.promise.band_to_ms
    assert offer.promise.confidence == "low"


def test_a_retry_that_finds_the_same_is_not_kept_again(desk: Desk) -> None:
    desk.job("J1", due=200)
    for _ in range(5):
        desk.assign("J1")
        desk.advance(5)
    assert len(desk.engine.store.decisions("main", "J1", limit=10)) == 1


def test_a_customer_may_not_assign_and_an_unknown_job_is_not_found(desk: Desk) -> None:
    desk.job("J1")
    with pytest.raises(Forbidden):
        assign(desk.engine, person("kim", Role.CUSTOMER), "J1")
    with pytest.raises(NotFound):
        desk.assign("J2")


def test_B071_due_by_is_the_latest_arrival_and_the_service_may_end_after_it(desk: Desk) -> None:
    """Arrival 10:45 for due_by 11:00 and a 30 min service is on time; a minute too far is late."""
    desk.worker("on_time", north(60))
    desk.worker("late", north(61))
    desk.job("J1", due=60, lasts=30)
    done = desk.assign("J1")
    assert ranking(done.considered) == ["on_time"]
    assert done.offer is not None
    assert done.offer.promise.ends_ms == desk.at(90)
    assert said(done.considered, "late").verdict == "late"


def test_B079_three_equal_workers_share_nine_equal_jobs_evenly(desk: Desk) -> None:
    for name in ("ana", "ben", "cem"):
        desk.worker(name, north(2))
    for n in range(9):
        desk.job(f"J{n}", due=240, lasts=5)
        done = desk.assign(f"J{n}")
        assert done.offer is not None
        desk.accept(done.offer)
        desk.begin(f"J{n}", done.offer.worker_id)
        desk.finish(f"J{n}", done.offer.worker_id)
    assert [desk.hand(name).jobs_today for name in ("ana", "ben", "cem")] == [3, 3, 3]


def test_what_a_worker_sees_is_the_live_offer_marked_as_delivered(desk: Desk) -> None:
    desk.worker("ana", north(2))
    desk.job("J1")
    desk.assign("J1")
    assert [each.job_id for each in answer.offers_of(desk.engine, "ana")] == ["J1"]
    assert answer.offers_of(desk.engine, "ana")[0].delivered_ms is not None
    desk.advance(20)
    assert answer.offers_of(desk.engine, "ana") == ()


def test_why_not_maria_has_an_answer_beside_an_offer_too(desk: Desk) -> None:
    desk.worker("ana", north(3), skills="s1")
    desk.worker("maria", skills="s1", fix=False)
    desk.worker("unskilled", fix=False)
    desk.worker("off", skills="s1", shift=(300, 400), fix=False)
    desk.job("J1", skills="s1")
    told = verdicts(why(desk.engine, "J1").now or ())
    assert told == {"ana": "ranked", "maria": "no_fix"}
    done = desk.assign("J1")
    assert offered_to(done) == "ana"
    assert verdicts(done.considered) == {"ana": "ranked", "maria": "no_fix"}
    then = why(desk.engine, "J1").then
    assert then is not None
    assert verdicts(then.considered or ()) == {"ana": "ranked", "maria": "no_fix"}
    assert then.summary.refused == {"no_fix": 1}


# --- a lapsed offer on another job -----------------------------------------------------------------------------------


def test_a_lapsed_offer_on_another_job_keeps_nobody_from_this_one(desk: Desk) -> None:
    """Nobody sweeps: the next reader ends it, whichever job it reads for."""
    desk.worker("ana", north(3))
    desk.job("J1", due=200)
    assert offered_to(desk.assign("J1")) == "ana"
    desk.job("J2", due=50)
    desk.advance(19.999, fresh=True)
    assert verdicts(desk.assign("J2").considered) == {"ana": "offered_elsewhere"}
    desk.advance(0.001, fresh=True)
    assert offered_to(desk.assign("J2")) == "ana"
    assert desk.look("J1").state is JobState.OPEN
    [ended] = desk.engine.store.offers_of_job("main", "J1")
    assert (ended.state, ended.answered_ms) == ("EXPIRED", ended.expires_ms)


def test_a_lapsed_offer_of_the_best_candidate_is_ended_though_others_are_free(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.worker("far", north(30))
    desk.job("J1", due=200)
    desk.give("J1", "ana", force=False)
    desk.advance(20, fresh=True)
    desk.job("J2", due=200)
    assert offered_to(desk.assign("J2")) == "ana"


def test_the_job_of_an_offer_ended_on_the_way_is_asked_on_at_once(found: Found) -> None:
    """Where jobs are offered by themselves the lapsed one's next candidate is asked too, after the one in hand."""
    desk = found(auto=True, slack_capacity={"reserve_share": 0.0})
    desk.worker("ana", north(3))
    desk.job("J1", due=200)
    assert desk.hand("ana").live_offer_id is not None
    desk.worker("ben", north(5))
    desk.advance(20, fresh=True)
    desk.job("J2", due=200)
    told = {each.job_id: each.worker_id for each in desk.engine.store.live_offers("main")}
    assert told == {"J2": "ana", "J1": "ben"}


def test_of_many_jobs_freed_on_the_way_only_a_few_are_asked_on(found: Found) -> None:
    """After a long sleep an answer does not wait for the whole backlog; the retry takes the rest."""
    desk = found(auto=True, slack_capacity={"reserve_share": 0.0})
    for n in range(30):
        desk.worker(f"w{n:02}", north(1 + n))
        desk.job(f"J{n:02}", due=400)
    assert len(desk.engine.store.live_offers("main")) == 30
    desk.advance(3600, fresh=True)
    desk.job("new", due=400)
    assert desk.look("new").state is JobState.OFFERED
    assert len(desk.engine.store.live_offers("main")) == 1 + FOLLOWED_MAX


def test_an_overtaken_dispatcher_ends_no_lapsed_offer(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.takeover()
    desk.job("J1", due=200)
    desk.assign("J1")
    desk.job("J2", due=200)
    old = desk.engine.tenures["main"].epoch
    region.takeover(desk.engine, person(), "main", "another", by_force=True)
    desk.assign("J1")
    desk.advance(20, fresh=True)
    actor = Actor(name="auto:main", role=Role.AUTOMATIC)
    assert assign(desk.engine, actor, "J2", epoch=old).outcome is not Outcome.OFFERED
    assert desk.acts().count("expire") == 0


def test_every_rule_of_the_eta_is_read_from_its_setting() -> None:
    eta = Eta(detour=1.5, speed_kmh=31, optimistic_speed_kmh=61, pessimistic_factor=1.7, band_min=6, band_early_s=121,
              band_late_s=301, band_doubt_s=302, band_doubt_share=0.3)  # fmt: skip
    rules = eta_rules(replace(load(), eta=eta))
    assert {each.name: getattr(rules, each.name) for each in fields(rules)} == asdict(eta)
