"""A worker's trace: for a supervisor, for one job, in its time box, audited before a byte leaves (SPEC 9)."""

from collections.abc import Callable

import pytest

from engine.ports import Forbidden, NotFound
from engine.rules.nouns import Role
from engine.verbs.trace import trace
from tests.desk import Desk, north, person

Found = Callable[..., Desk]


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
    assert found.from_ms == offer.created_ms - 60 * 60_000
    assert found.to_ms == offer.promise.ends_ms + 60 * 60_000
    assert found.points
    assert all(found.from_ms <= each.device_ms < found.to_ms for each in found.points)
    assert len(found.points) < 240


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
