"""A worker's trace: for a supervisor, for one job, in its time box, audited before a byte leaves (SPEC 9)."""

from collections.abc import Callable

import pytest

from engine.ports import Forbidden, NotFound
from engine.rules.nouns import Role
from engine.verbs.trace import trace
from tests.desk import Desk, north, person

Found = Callable[..., Desk]
HOUR_MS = 60 * 60_000


def driven(desk: Desk) -> None:
    """Ana drives for four hours, a fix a minute; in the middle she holds J1 for half an hour."""
    desk.worker("ana", north(3))
    desk.worker("ben", north(3))
    for minute in range(240):
        desk.advance(60)
        desk.fix("ana", north(3 + minute / 100))
        if minute == 120:
            desk.job("J1", opens=120, due=200)
            desk.give("J1", "ana")
    desk.ring("write behind")


def test_a_trace_is_boxed_to_an_hour_around_the_job(desk: Desk) -> None:
    driven(desk)
    found = trace(desk.engine, person(), "ana", "J1", "complaint of the customer")
    [offer] = desk.engine.store.offers_of_job("main", "J1")
    assert found.from_ms == offer.promise.starts_ms - offer.promise.travel_ms - HOUR_MS
    assert found.to_ms == offer.promise.ends_ms + HOUR_MS
    assert found.points
    assert all(found.from_ms <= each.device_ms < found.to_ms for each in found.points)
    assert len(found.points) < 240


def test_the_box_and_the_points_are_what_the_site_says(found: Found) -> None:
    desk = found(trace={"around_min": 10, "span_max_h": 1, "points_max": 5})
    driven(desk)
    told = trace(desk.engine, person(), "ana", "J1", "complaint of the customer")
    [offer] = desk.engine.store.offers_of_job("main", "J1")
    assert told.from_ms == offer.promise.starts_ms - offer.promise.travel_ms - 10 * 60_000
    assert told.to_ms - told.from_ms <= HOUR_MS
    assert len(told.points) == 5


def test_the_export_is_in_the_audit_with_who_why_and_for_which_job(desk: Desk) -> None:
    driven(desk)
    found = trace(desk.engine, person(), "ana", "J1", "complaint of the customer")
    row = next(each for each in desk.engine.store.audit("main") if each.seq == found.audit_seq)
    assert (row.act, row.actor, row.job_id, row.worker_id) == ("trace export", "dora", "J1", "ana")
    assert row.words == "complaint of the customer"


def test_B122_a_dispatcher_may_not_and_the_attempt_is_audited_too(desk: Desk) -> None:
    driven(desk)
    with pytest.raises(Forbidden, match="a supervisor may"):
        trace(desk.engine, person("dan", Role.DISPATCHER), "ana", "J1")
    assert desk.acts()[-1] == "trace refused"


def test_B122_the_archive_belongs_to_the_worker_so_another_ones_job_shows_nothing(desk: Desk) -> None:
    """B122: a phone that moves to another worker takes none of the old points along."""
    driven(desk)
    with pytest.raises(NotFound):
        trace(desk.engine, person(), "ben", "J1")
    desk.job("J2", due=400)
    desk.give("J2", "ben")
    assert [each.worker_id for each in trace(desk.engine, person(), "ben", "J2").points] in ([], ["ben"])


def test_of_an_unknown_job_or_worker_nothing_is_told(desk: Desk) -> None:
    driven(desk)
    for worker, job in (("nobody", "J1"), ("ana", "J9")):
        with pytest.raises(NotFound, match="or neither is known"):
            trace(desk.engine, person(), worker, job)


def test_of_a_job_accepted_three_days_ahead_the_days_between_are_not_exported(desk: Desk) -> None:
    desk.worker("ana", north(12), shift=(-60, 6000))
    desk.job("J1", opens=4400, due=4500, lasts=30)
    desk.give("J1", "ana")
    for _ in range(76):
        desk.advance(3600, fresh=True)
        desk.ring("write behind")
    found = trace(desk.engine, person(), "ana", "J1")
    assert (found.from_ms, found.to_ms) == (desk.at(4400 - 12 - 60), desk.at(4430 + 60))
    assert 1 <= len(found.points) <= 3


def test_the_window_ends_with_the_work_and_begins_with_an_early_start(desk: Desk) -> None:
    desk.worker("ana", north(12))
    desk.job("J1", opens=120, due=180, lasts=60)
    desk.give("J1", "ana")
    desk.advance(100 * 60, fresh=True)
    desk.begin("J1", "ana")
    desk.advance(30 * 60, fresh=True)
    desk.finish("J1", "ana")
    found = trace(desk.engine, person(), "ana", "J1")
    assert (found.from_ms, found.to_ms) == (desk.at(100 - 60), desk.at(130 + 60))


def test_a_job_that_nobody_ends_opens_no_more_than_a_day(desk: Desk) -> None:
    desk.worker("ana", north(12))
    desk.job("J1", due=180, lasts=60)
    desk.give("J1", "ana")
    desk.begin("J1", "ana")
    desk.advance(3 * 24 * 3600)
    desk.finish("J1", "ana")
    found = trace(desk.engine, person(), "ana", "J1")
    assert found.to_ms - found.from_ms == 24 * HOUR_MS


def test_of_an_offer_that_was_declined_the_hours_about_it_are_all_there_is(desk: Desk) -> None:
    desk.worker("ana", north(12), shift=(-60, 6000))
    desk.job("J1", opens=4400, due=4500)
    offer = desk.assign("J1").offer
    assert offer is not None
    desk.advance(10)
    desk.decline(offer)
    found = trace(desk.engine, person(), "ana", "J1")
    assert (found.from_ms, found.to_ms) == (desk.at(-60), desk.at(60) + 10_000)
