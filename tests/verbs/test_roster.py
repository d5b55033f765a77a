"""Shifts, absences and workers who leave (SPEC 1, 3)."""

from dataclasses import replace
from typing import cast

import pytest

from engine.imports.parsed import Parsed
from engine.ports import Forbidden, Invalid, NotFound, Stale, Store
from engine.program import Lost, Program, T
from engine.records import Why
from engine.rules.nouns import Interval, JobState, Role
from engine.verbs import ingest, intake, roster
from engine.verbs.answer import Answer
from engine.verbs.override import override
from engine.verbs.roster import absent, leave, shift
from tests.desk import Desk, north, offered_to, person, ranking, verdicts


def span(desk: Desk, start: float, end: float) -> Interval:
    return Interval(starts_ms=desk.at(start), ends_ms=desk.at(end))


def test_an_absence_keeps_a_worker_out_while_it_lasts_and_not_a_minute_longer(desk: Desk) -> None:
    """Half-open: a job that ends as the absence begins, or a departure as it ends, does not touch it."""
    desk.worker("ana", north(10))
    desk.absent("ana", 40, 60)
    desk.job("before", due=30, lasts=30)
    desk.job("over", due=30, lasts=31)
    assert ranking(desk.assign("before").considered) == ["ana"]
    desk.decline(desk.engine.store.live_offers("main")[0])
    assert verdicts(desk.assign("over").considered) == {"ana": "absent"}
    desk.advance(60 * 60, fresh=True)
    desk.job("after", opens=60, due=90)
    assert offered_to(desk.assign("after")) == "ana"


def test_who_is_on_duty_is_the_same_asked_of_all_of_some_or_counted(desk: Desk) -> None:
    desk.worker("ana", north(0))
    desk.worker("ben", north(1), shift=(-60, 0))
    desk.worker("cyd", north(2))
    desk.worker("dan", north(3))
    desk.absent("cyd", -10, 60)
    leave(desk.engine, person(), "dan")
    store, now = desk.engine.store, desk.at(0)
    assert [each for each, _ in store.on_duty("main", now)] == ["ana"]
    assert store.on_duty("main", now, among=["dan", "cyd", "ben", "ana", "nobody"]) == store.on_duty("main", now)
    assert store.on_duty("main", now, among=["ben"]) == ()
    assert store.count_on_duty("main", now) == 1
    shift(desk.engine, person(), "ben", span(desk, -30, 90))
    many = [f"x{n}" for n in range(100)]
    assert [each for each, _ in store.on_duty("main", now, among=["ben", *many, "ana"])] == ["ana", "ben"]
    assert store.count_on_duty("main", now) == 2


def test_an_absence_names_the_accepted_jobs_it_touches_and_leaves_them(desk: Desk) -> None:
    desk.worker("ana", north(0))
    for ref, opens in (("in", 60), ("out", 180)):
        desk.job(ref, opens=opens, due=opens + 10, lasts=30)
        desk.give(ref, "ana")
    _, touched = absent(desk.engine, person(), "ana", span(desk, 80, 180), "dentist")
    assert touched == ("in",)
    assert [each.job_id for each in desk.hand("ana").bookings] == ["in", "out"]


def test_an_absence_names_a_live_offer_it_touches_which_is_not_accepted_then_and_expires(desk: Desk) -> None:
    desk.worker("ana", north(0))
    desk.job("J1", due=100)
    offer = desk.assign("J1").offer
    assert offer is not None
    assert desk.absent("ana", 200, 300) == ()
    assert desk.absent("ana", 0, 120) == ("J1",)
    told = desk.accept(offer)
    assert (told.outcome, told.job and told.job.state) == (Answer.LOST, JobState.OFFERED)
    desk.advance(25, fresh=True)
    assert desk.accept(offer).outcome is Answer.EXPIRED
    assert desk.look("J1").state is JobState.OPEN


def test_an_absence_touches_what_is_promised_from_the_departure_on(desk: Desk) -> None:
    desk.worker("ana", north(10))
    desk.job("J1", opens=60, due=70, lasts=30)
    desk.give("J1", "ana")
    [booked] = desk.hand("ana").bookings
    leaves_min = (booked.starts_ms - booked.travel_ms - desk.at(0)) / 60_000
    assert leaves_min < 60
    assert desk.absent("ana", 0, leaves_min) == ()
    assert desk.absent("ana", 0, leaves_min + 1) == ("J1",)
    assert desk.absent("ana", 90, 120) == ()


@pytest.mark.parametrize("force", [False, True])
def test_an_absence_noted_while_somebody_chose_is_not_overruled(desk: Desk, force: bool) -> None:
    """Between the choice and its transaction another process notes the absence."""
    desk.worker("ana", north(0))
    desk.job("J1", due=100)
    run = desk.engine.store.run

    class Slow:
        def __getattr__(self, name: str) -> object:
            return getattr(desk.engine.store, name)

        def run(self, tenant: str, program: Program[T]) -> T | Lost:
            roster.absent(desk.engine, person(), "ana", span(desk, 0, 300))
            return run(tenant, program)

    between = replace(desk.engine, store=cast(Store, Slow()))
    with pytest.raises(Stale, match="check_room"):
        override(between, person(), "J1", "ana", Why(reason="other", words="asked for by name"), force=force)
    assert desk.look("J1").state is JobState.OPEN


def test_a_shift_names_what_it_leaves_uncovered_and_an_accept_minds_no_shift(desk: Desk) -> None:
    """A shift may be overruled: who accepts works, and the dispatcher was told."""
    desk.worker("ana", north(0))
    desk.worker("ben", north(1), shift=(-300, -60))
    for ref, name in (("J1", "ana"), ("J2", "ben")):
        desk.job(ref, due=100)
        override(desk.engine, person(), ref, name, Why(reason="other", words="asked for by name"))
    assert shift(desk.engine, person(), "ana", span(desk, -60, 500))[1] == ()
    assert shift(desk.engine, person(), "ana", span(desk, -60, 5))[1] == ("J1",)
    assert shift(desk.engine, person(), "ben", span(desk, -300, -90))[1] == (), "it was overruled before"
    for offer in desk.engine.store.live_offers("main"):
        assert desk.accept(offer).outcome is Answer.ACCEPTED


def test_a_second_shift_of_the_day_serves_and_the_gap_between_does_not(desk: Desk) -> None:
    desk.worker("ana", north(0), shift=(-60, 30))
    shift(desk.engine, person(), "ana", span(desk, 120, 240))
    assert len(desk.hand("ana").shifts) == 2
    desk.job("gap", opens=40, due=60)
    desk.job("later", opens=100, due=130)
    assert verdicts(desk.assign("gap").considered) == {"ana": "off_shift"}
    done = desk.assign("later")
    assert offered_to(done) == "ana"
    assert done.offer is not None
    assert done.offer.promise.starts_ms == desk.at(120), "she leaves when her second shift begins"


def test_a_shift_replaces_those_it_overlaps(desk: Desk) -> None:
    desk.worker("ana", north(0), shift=(-60, 30))
    why = Why(reason="other", words="stays on for the fair")
    worker, _ = shift(desk.engine, person(), "ana", span(desk, 0, 90), why)
    assert [(each.starts_ms, each.ends_ms) for each in worker.shifts] == [(desk.at(0), desk.at(90))]
    row = desk.engine.store.newest_audit("main", limit=1)[0]
    assert (row.act, row.worker_id, row.words) == ("shift", "ana", "stays on for the fair")


def test_B124_a_worker_who_leaves_stays_in_past_reports_and_takes_no_fix_any_more(desk: Desk) -> None:
    desk.worker("ana", north(0))
    desk.worked("ana", 3)
    leave(desk.engine, person(), "ana")
    assert desk.engine.store.day_counts("main", "2027-01-01") == (("ana", "2027-01-15", 3),)
    assert {job.done_by for job in desk.engine.store.jobs("main")} == {"ana"}
    assert [worker.id for worker in desk.engine.store.workers("main")] == []
    desk.advance(10)
    assert desk.fix("ana", north(0)).rejected == {"unknown_worker": 1}
    desk.job("J1")
    assert desk.assign("J1").considered == ()


def test_B124_a_worker_with_an_offer_or_a_booking_may_not_leave(desk: Desk) -> None:
    desk.worker("ana", north(0))
    desk.job("J1")
    desk.give("J1", "ana")
    with pytest.raises(Stale, match="still holds J1"):
        leave(desk.engine, person(), "ana")
    assert [worker.id for worker in desk.engine.store.workers("main")] == ["ana"]


def test_what_is_wrong_is_said(desk: Desk) -> None:
    desk.worker("ana", north(0))
    with pytest.raises(Invalid, match="the end has to come after the start"):
        absent(desk.engine, person(), "ana", span(desk, 10, 10))
    with pytest.raises(NotFound, match="worker nobody"):
        shift(desk.engine, person(), "nobody", span(desk, 0, 10))
    with pytest.raises(Forbidden):
        roster.absent(desk.engine, person("ana", Role.WORKER), "ana", span(desk, 0, 10))


def test_B019_a_fix_of_an_unknown_worker_is_counted_and_makes_nobody_appear(desk: Desk) -> None:
    desk.worker("ana", north(0))
    assert desk.fix("nobody", north(0)) == ingest.FixesTaken(kept=0, rejected={"unknown_worker": 1})
    assert desk.engine.metrics.counts()["fixes unknown_worker"] == 1


def test_who_comes_back_is_away_no_longer_and_the_audit_names_what_was_dropped(desk: Desk) -> None:
    """What was noted for the time after they left is not theirs any more; what is over stays."""
    desk.worker("ana", north(0))
    desk.absent("ana", -60, -30)
    ahead, _ = absent(desk.engine, person(), "ana", span(desk, 0, 60 * 24 * 30))
    leave(desk.engine, person(), "ana")
    desk.worker("ana", north(0))
    back = next(row for row in desk.engine.store.newest_audit("main", limit=9) if row.act == "worker back")
    assert back.detail == f'{{"dropped_absences": ["{ahead}"]}}'
    desk.job("J1", due=100)
    assert offered_to(desk.assign("J1")) == "ana"


def test_a_missed_job_changed_with_its_due_by_still_past_stays_missed_and_has_one_alert(desk: Desk) -> None:
    desk.takeover()
    desk.job("J1", due=10)
    desk.advance(11 * 60)
    desk.ring("miss")
    later = replace(desk.new_job("J1", due=10), notes="back door", priority=3)
    assert intake.import_jobs(desk.engine, person(), Parsed(items=((2, later),), rejected=(), warnings=())).changed == 1
    desk.assign("J1")
    assert desk.look("J1").missed
    assert [each.kind for each in desk.alerts()] == ["missed"]
