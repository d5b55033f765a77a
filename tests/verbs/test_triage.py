"""Alerts as a desk lives with them: one a cause, gone with the cause, and each human act audited (SPEC 8)."""

from collections.abc import Callable

import pytest

from engine.imports.parsed import Parsed
from engine.ports import Forbidden, Invalid, NotFound, Stale
from engine.rules.ledger import Alert
from engine.rules.nouns import JobState, Role
from engine.verbs.intake import import_jobs
from engine.verbs.triage import triage
from tests.desk import Desk, north, person

Found = Callable[..., Desk]


def watched(found: Found, *workers: str, **settings: object) -> Desk:
    desk = found(slack_capacity={"reserve_share": 0.0}, **settings)
    desk.takeover()
    for name in workers:
        desk.worker(name, north(12))
    return desk


def kinds(desk: Desk) -> list[str]:
    desk.ring("watch")
    return sorted(each.kind for each in desk.alerts())


def only(desk: Desk, kind: str) -> Alert:
    desk.ring("watch")
    [alert] = desk.alerts(kind)
    return alert


# --- no-show and stale: the accepted job is kept ---------------------------------------------------------------------


def accepted(desk: Desk, *, opens: float = 60) -> None:
    """Window from +60, 12 min of travel: the latest departure is at +48."""
    desk.job("J1", opens=opens, due=120)
    desk.give("J1", "ana")


def test_silence_for_ten_minutes_from_the_latest_departure_is_a_no_show(found: Found) -> None:
    desk = watched(found, "ana")
    accepted(desk)
    desk.advance(57.99 * 60)
    assert "no_show" not in kinds(desk)
    desk.advance(0.01 * 60)
    alert = only(desk, "no_show")
    assert (alert.job_id, alert.worker_id, alert.severity) == ("J1", "ana", 1)
    assert alert.detail == "ana silent, should have left 10 min ago"
    assert desk.look("J1").state is JobState.ACCEPTED


def test_a_worker_who_is_heard_but_does_not_start_is_a_no_show_ten_minutes_after_the_promised_arrival(
    found: Found,
) -> None:
    desk = watched(found, "ana")
    accepted(desk)
    desk.advance(69.99 * 60, fresh=True)
    assert "no_show" not in kinds(desk)
    desk.advance(0.01 * 60, fresh=True)
    assert only(desk, "no_show").detail == "ana has not started, 10 min after the promised arrival"


def test_a_no_show_ends_with_the_start(found: Found) -> None:
    desk = watched(found, "ana")
    accepted(desk)
    desk.advance(75 * 60, fresh=True)
    only(desk, "no_show")
    desk.begin("J1", "ana")
    assert kinds(desk) == []


def test_B017_a_worker_silent_near_the_time_is_flagged_stale_with_an_age_and_keeps_the_job(found: Found) -> None:
    desk = watched(found, "ana")
    accepted(desk)
    desk.advance(47 * 60)
    assert "stale" not in kinds(desk), "not yet near its time"
    desk.refresh("ana")
    desk.advance(2 * 60)
    alert = only(desk, "stale")
    assert (alert.detail, alert.severity) == ("ana: position 2 min old", 3)
    assert desk.look("J1").state is JobState.ACCEPTED
    assert [each.job_id for each in desk.hand("ana").bookings] == ["J1"]
    desk.refresh("ana")
    assert kinds(desk) == []


# --- due soon, offline, rates ----------------------------------------------------------------------------------------


def test_a_job_without_a_worker_is_due_soon_from_fifteen_minutes(found: Found) -> None:
    desk = watched(found, "ana")
    desk.job("J1", due=60)
    desk.advance(44.9 * 60, fresh=True)
    assert kinds(desk) == []
    desk.advance(0.1 * 60, fresh=True)
    assert only(desk, "due_soon").detail == "due in 15 min"
    desk.give("J1", "ana")
    assert kinds(desk) == []


def test_a_worker_on_shift_unheard_for_five_minutes_is_offline_and_an_absent_one_is_not(found: Found) -> None:
    desk = watched(found, "ana", "ben", "cem")
    desk.absent("ben", -5, 600)
    desk.worker("off", shift=(-600, -60))
    desk.advance(299, fresh=False)
    assert kinds(desk) == []
    desk.refresh("cem")
    desk.advance(1)
    alert = only(desk, "offline")
    assert (alert.worker_id, alert.detail) == ("ana", "on shift, no contact for 5 min")
    desk.refresh("ana")
    assert kinds(desk) == []


def test_a_shift_that_has_just_begun_is_not_offline_yet(found: Found) -> None:
    desk = watched(found)
    desk.worker("ana", shift=(-4, 60), fix=False)
    assert kinds(desk) == []
    desk.advance(60)
    assert kinds(desk) == ["offline"]


def test_rates_speak_only_from_ten_on(found: Found) -> None:
    desk = watched(found, *(f"w{n}" for n in range(9)))
    desk.advance(60)
    assert "stale_fraction" not in kinds(desk)
    desk.worker("w9", north(12))
    assert only(desk, "stale_fraction").detail == "9 of 10 workers on shift are stale"


def test_the_span_of_a_rate_is_the_sites(found: Found) -> None:
    desk = watched(found, *(f"w{n}" for n in range(4)), alert={"expiry_span_min": 30, "rate_from": 4})
    for n in range(4):
        desk.job(f"J{n}", due=600)
        assert desk.assign(f"J{n}").offer is not None
    desk.advance(20, fresh=True)
    desk.ring("expire")
    desk.advance(20 * 60, fresh=True)
    assert only(desk, "expiry_rate").detail == "4 of 4 offers expired in 30 min"


def test_many_expired_offers_are_one_alert_that_ends_when_they_are_answered(found: Found) -> None:
    desk = watched(found, *(f"w{n}" for n in range(10)))
    for n in range(10):
        desk.job(f"J{n}", due=600)
        offer = desk.assign(f"J{n}").offer
        assert offer is not None
        if n < 6:
            desk.accept(offer)
        if n == 8:
            desk.advance(20, fresh=True)
            desk.ring("expire")
            assert "expiry_rate" not in kinds(desk)
    desk.advance(20, fresh=True)
    desk.ring("expire")
    assert only(desk, "expiry_rate").detail == "4 of 10 offers expired in 15 min"
    desk.advance(15 * 60, fresh=True)
    assert "expiry_rate" not in kinds(desk)


def test_a_tenth_of_the_workers_with_more_than_half_of_the_jobs_is_an_alert(found: Found) -> None:
    desk = watched(found, "ana", "ben")
    desk.worked("ana", 5)
    desk.worked("ben", 5)
    assert "fairness" not in kinds(desk)
    desk.job("J1")
    desk.give("J1", "ana")
    assert only(desk, "fairness").detail == "the busiest tenth has 55% of today's jobs"


def test_fourteen_jobs_and_one_router_are_one_alert(found: Found) -> None:
    desk = watched(found, "ana", router={"url": "http://127.0.0.1:1"})
    for n in range(14):
        desk.job(f"J{n}", due=600)
        done = desk.assign(f"J{n}")
        assert done.offer is not None, "a dead router holds no assignment up"
        desk.decline(done.offer)
        desk.ring("watch")
    alert = only(desk, "router_down")
    assert alert.job_id is None
    assert len(desk.alerts()) == 1
    assert "connection refused" in alert.detail


def test_an_alert_whose_cause_stands_is_not_raised_again_and_one_that_went_comes_back_anew(found: Found) -> None:
    desk = watched(found, "ana")
    desk.advance(600)
    first = only(desk, "offline")
    desk.advance(60)
    assert only(desk, "offline").id == first.id
    desk.refresh("ana")
    assert kinds(desk) == []
    desk.advance(600)
    assert only(desk, "offline").id != first.id


# --- a person's acts -------------------------------------------------------------------------------------------------


def raised(found: Found) -> tuple[Desk, Alert]:
    desk = watched(found, "ana")
    desk.advance(600)
    return desk, only(desk, "offline")


def test_each_act_on_an_alert_is_kept_and_audited(found: Found) -> None:
    desk, alert = raised(found)
    dora = person("dora", Role.DISPATCHER)
    assert triage(desk.engine, dora, "ack", alert.id).acked_by == "dora"
    assert triage(desk.engine, dora, "own", alert.id).owner == "dora"
    snoozed = triage(desk.engine, dora, "snooze", alert.id, for_min=30)
    assert snoozed.snoozed_until_ms == desk.now_ms + 30 * 60_000
    escalated = triage(desk.engine, dora, "escalate", alert.id)
    assert (escalated.escalated, escalated.severity) == (1, 1)
    assert not triage(desk.engine, dora, "resolve", alert.id, words="rang her up").open
    rows = [each for each in desk.engine.store.audit("main") if each.act.startswith("alert ")][-5:]
    acts = ["ack", "own", "snooze", "escalate", "resolve"]
    assert [(each.act, each.actor) for each in rows] == [(f"alert {act}", "dora") for act in acts]
    assert all(alert.id in each.detail for each in rows)
    assert rows[-1].words == "rang her up"


def test_two_desks_cannot_both_acknowledge(found: Found) -> None:
    desk, alert = raised(found)
    triage(desk.engine, person("dora"), "ack", alert.id)
    with pytest.raises(Stale, match="acknowledged by dora already"):
        triage(desk.engine, person("dan"), "ack", alert.id)
    triage(desk.engine, person("dan"), "resolve", alert.id)
    with pytest.raises(Stale, match="resolved already"):
        triage(desk.engine, person("dora"), "own", alert.id)


def test_what_may_not_be_done_is_said(found: Found) -> None:
    desk, alert = raised(found)
    with pytest.raises(Invalid, match="one of ack, own, snooze, escalate, resolve"):
        triage(desk.engine, person(), "shout", alert.id)
    with pytest.raises(Invalid, match="minutes 0: 1 to 1440"):
        triage(desk.engine, person(), "snooze", alert.id)
    with pytest.raises(NotFound):
        triage(desk.engine, person(), "ack", "A-999")
    with pytest.raises(Forbidden):
        triage(desk.engine, person("ana", Role.WORKER), "ack", alert.id)


# --- the index after a start -----------------------------------------------------------------------------------------


def test_a_lost_file_of_positions_is_said_until_half_of_those_on_duty_are_back(found: Found) -> None:
    desk = found()
    desk.worker("ana")
    desk.worker("ben", north(2))
    desk.job("J1", due=200)
    desk.give("J1", "ana")
    desk.ring("write behind")
    for each in desk.path.parent.glob("desk.db.fixes*"):
        each.unlink()
    desk.restart()
    desk.takeover()
    desk.ring("watch")
    [alert] = desk.alerts("index_rebuilding")
    assert alert.detail.startswith("the file of positions was lost: 0 of 2 on duty are in the index")
    desk.advance(5)
    desk.fix("ana", north(1))
    desk.ring("watch")
    assert not desk.alerts("index_rebuilding")
    assert "alert index_rebuilding" in desk.acts()


def test_a_start_after_an_outage_is_said_until_the_index_has_filled_or_its_memory_is_over(found: Found) -> None:
    desk = found()
    for n in range(10):
        desk.worker(f"w{n}", north(n))
    desk.ring("write behind")
    desk.advance(900)
    desk.restart()
    desk.takeover()
    desk.ring("watch")
    assert [each.detail[:22] for each in desk.alerts("index_rebuilding")] == ["positions are old or g"]
    desk.advance(300)
    desk.ring("renew", "watch")
    assert not desk.alerts("index_rebuilding"), "who has not come back is offline, and said to be"
    assert desk.alerts("offline")


def test_a_restart_that_lost_nothing_says_nothing_and_neither_does_a_first_day(found: Found) -> None:
    desk = found()
    for n in range(10):
        desk.worker(f"w{n}", north(n))
    desk.ring("write behind")
    desk.restart()
    desk.takeover()
    desk.ring("watch")
    assert not desk.alerts("index_rebuilding")


# --- one alert a cause -----------------------------------------------------------------------------------------------


def moved(desk: Desk, ref: str, due: float, **changed: str) -> None:
    new = desk.new_job(ref, due=due, **changed)  # type: ignore[arg-type]
    import_jobs(desk.engine, person(), Parsed(items=((1, new),), rejected=(), warnings=()))


def test_a_missed_job_that_a_person_tries_again_in_vain_has_its_one_alert_still(found: Found) -> None:
    desk = watched(found, "ben")
    desk.job("J1", due=5, skills="lift")
    assert desk.assign("J1").outcome == "alert"
    desk.advance(360, fresh=True)
    desk.ring("renew", "miss")
    [missed] = desk.alerts()
    done = desk.assign("J1")
    assert (done.outcome, done.alert_id) == ("alert", missed.id)
    assert [(each.kind, each.detail) for each in desk.alerts()] == [("missed", missed.detail)]


def test_a_job_missed_before_anybody_tried_it_has_one_alert_too(found: Found) -> None:
    desk = watched(found, "ben")
    desk.job("J1", due=5, skills="lift")
    desk.advance(360, fresh=True)
    desk.ring("renew", "miss")
    assert desk.assign("J1").outcome == "alert"
    assert [each.kind for each in desk.alerts()] == ["missed"]
    assert desk.look("J1").state is JobState.UNASSIGNED_ALERT


def test_due_by_moved_ahead_ends_the_missed_alert_with_the_flag(found: Found) -> None:
    desk = watched(found, "ben")
    desk.job("J1", due=5, skills="lift")
    desk.advance(360, fresh=True)
    desk.ring("renew", "miss")
    moved(desk, "J1", 500, skills="lift")
    assert not desk.look("J1").missed
    assert not desk.alerts("missed")
    desk.ring("renew", "miss", "retry", "watch")
    assert desk.alerts() == []


def test_due_by_moved_but_still_past_keeps_the_one_missed_alert(found: Found) -> None:
    desk = watched(found, "ben")
    desk.job("J1", due=5, skills="lift")
    desk.advance(600, fresh=True)
    desk.ring("renew", "miss")
    [before] = desk.alerts()
    moved(desk, "J1", 6, skills="lift")
    desk.ring("renew", "miss")
    assert [each.id for each in desk.alerts()] == [before.id]
    assert desk.look("J1").missed


def test_a_job_in_alert_that_is_offered_after_all_is_not_said_to_be_due_soon_beside(found: Found) -> None:
    desk = watched(found)
    desk.job("J1", due=12)
    assert desk.assign("J1").outcome == "alert"
    desk.worker("ana", north(2))
    assert desk.assign("J1").outcome == "offered"
    assert kinds(desk) == ["unassigned"]
