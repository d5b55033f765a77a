"""Conditions that only show when something else is also the case; test_mutants takes each out in turn."""

from contextlib import closing
from dataclasses import replace

import pytest

from engine import leases, records
from engine.leases import Fence
from engine.records import Changed
from engine.rules.nouns import Actor, Interval, JobState, Role
from engine.store.session import connect
from engine.store.sqlite import SqliteStore
from tests.leases import stage
from tests.leases.looks import accepted, counts, live, state
from tests.leases.stage import ANA, AUTO, MAIN, NOON_MS, TTL_MS, WHY, at, lost, run, worker_named

NORTH = Fence(region="north")
HOUR_MS = 3_600_000


def meddle(store: SqliteStore, sql: str) -> None:
    """What no program does, to see the guard that stands behind the others."""
    with closing(connect(str(store.path))) as db:
        db.execute(sql)


def amend(store: SqliteStore, job_id: str, region: str, version: int = 1) -> None:
    run(store, records.amend_job(ANA, job_id, version, stage.new_job(job_id), region))


# --- the fence -------------------------------------------------------------------------------------------------------


def test_a_dispatcher_of_the_first_epoch_offers_in_its_region_alone(store: SqliteStore) -> None:
    """Other regions, and other tenants' regions, are at the same epoch."""
    run(store, stage.offer("o1", "j1", "w1", fence=Fence(region="main", epoch=0)))


def test_a_takeover_touches_the_live_offers_of_its_region_and_no_others(store: SqliteStore) -> None:
    run(store, leases.handoff(ANA, "w2", "north", 1))
    amend(store, "j2", "north")
    run(store, stage.offer("o1", "j1", "w1"))
    run(store, stage.offer("o2", "j2", "w2", fence=NORTH, generation=2))
    assert run(store, stage.takeover(0)).withdrawn == 1
    run(store, stage.accept("o2", "w2"))


def test_a_takeover_adopts_each_live_offer_once(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    run(store, stage.offer("o2", "j2", "w2"))
    assert run(store, stage.takeover(0, adopt=True)).adopted == 2


def test_a_takeover_forgets_the_attempt_of_the_live_offer_alone(store: SqliteStore) -> None:
    """An earlier one, which the worker let expire, keeps its cooldown."""
    run(store, stage.offer("o1", "j1", "w1"))
    run(store, stage.decline("o1", "w1"))
    run(store, stage.offer("o2", "j1", "w1"))
    run(store, stage.takeover(0))
    facts = store.facts("main", "j1", ["w1"])
    assert facts is not None
    assert facts.workers[0].offered_ms == NOON_MS


@pytest.mark.parametrize("sql", ["UPDATE regions SET epoch = 9", "UPDATE workers SET generation = 9"])
def test_an_offer_of_an_old_epoch_or_generation_is_not_accepted_even_if_nobody_withdrew_it(
    store: SqliteStore, sql: str
) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    meddle(store, f"{sql} WHERE tenant_id = 'main'")
    assert lost(store, stage.accept("o1", "w1")) == "accept_offer"
    run(store, leases.withdraw(ANA, "o1", WHY))


def test_epoch_and_generation_are_the_offers_own_regions_and_workers(store: SqliteStore) -> None:
    """In a tenant that came last, in its second region, by its second worker: everything else is at other numbers."""
    stage.found(store, "other")
    who = replace(ANA, tenant="other")
    run(store, leases.handoff(who, "w2", "north", 1), "other")
    run(store, records.amend_job(who, "j1", 1, stage.new_job("j1"), "north"), "other")
    taken = leases.takeover(who, "north", 0, "new", 5_000, by_force=True, adopt=False, why=WHY)
    assert run(store, taken, "other").epoch == 1
    run(store, leases.offer(who, NORTH, stage.lease("o1", "j1", "w2", generation=2)), "other")
    run(store, leases.accept(replace(who, name="w2"), "o1", "w2"), "other")


@pytest.mark.parametrize("region", ["main", "nowhere"])
def test_a_handoff_to_where_the_worker_is_or_nowhere_moves_nobody(store: SqliteStore, region: str) -> None:
    if region == "main":
        assert lost(store, leases.ask_handoff(ANA, "w1", region, WHY)) == "ask_handoff"
        assert lost(store, leases.handoff(ANA, "w1", region, 1)) == "move_worker"


def test_a_handoff_moves_every_job_the_worker_holds(store: SqliteStore) -> None:
    for offer_id, job_id, lane in (("o1", "j1", 0), ("o2", "j2", 1)):
        run(store, stage.offer(offer_id, job_id, "wide", lane=lane))
        run(store, stage.accept(offer_id, "wide"))
    run(store, leases.handoff(ANA, "wide", "north", 1))
    assert {job.id: job.region for job in store.jobs("main")} == {"j1": "north", "j2": "north", "j3": "main"}


# --- offers ----------------------------------------------------------------------------------------------------------


def test_a_worker_of_another_region_is_not_claimed(store: SqliteStore) -> None:
    run(store, leases.handoff(ANA, "w1", "north", 1))
    assert lost(store, stage.offer("o1", "j1", "w1", generation=2)) == "claim_worker"


def test_an_offer_before_a_booking_fits(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1", starts_min=40))
    run(store, stage.accept("o1", "w1"))
    assert lost(store, stage.offer("o2", "j2", "w1", starts_min=11)) == "check_room"
    run(store, stage.offer("o3", "j2", "w1", starts_min=10))
    run(store, stage.accept("o3", "w1"))


def away(store: SqliteStore, from_min: int, to_min: int, worker_id: str = "w1", tenant: str = "main") -> Changed:
    span = Interval(starts_ms=NOON_MS + from_min * stage.MIN_MS, ends_ms=NOON_MS + to_min * stage.MIN_MS)
    return run(store, records.set_absence(replace(ANA, tenant=tenant), worker_id, span, "away"), tenant)


def test_an_absence_bars_offers_that_leave_or_end_in_it_and_no_others(store: SqliteStore) -> None:
    """The offer of the stage leaves five minutes before it starts, and takes thirty. Others' absences bar nobody."""
    stage.found(store, "other")
    away(store, 0, 300, "w2")
    away(store, 0, 300, tenant="other")
    away(store, 60, 80)
    for starts_min, force in ((31, False), (84, False), (31, True), (84, True)):
        meant = stage.lease("o1", "j1", "w1", starts_min=starts_min)
        chosen = leases.override(ANA, MAIN, meant, WHY, overruled="{}", force=force)
        assert lost(store, chosen) == "check_room"
        assert lost(store, stage.offer("o1", "j1", "w1", starts_min=starts_min)) == "check_room"
    for n, starts_min in enumerate((30, 85)):
        run(store, stage.offer(f"o{n}", f"j{n + 1}", "w1", starts_min=starts_min))
        run(store, stage.accept(f"o{n}", "w1"))


@pytest.mark.parametrize(
    ("from_min", "to_min", "taken"), [(39, 60, False), (0, 6, False), (40, 60, True), (0, 5, True)]
)
def test_an_absence_noted_under_a_live_offer_bars_its_acceptance(
    store: SqliteStore, from_min: int, to_min: int, taken: bool
) -> None:
    """The offer stays to its end: its worker is told that it is lost, and the next is asked when it expires."""
    stage.found(store, "other")
    run(store, stage.offer("o1", "j1", "w1"))
    away(store, 0, 300, "w2")
    away(store, 0, 300, tenant="other")
    assert away(store, from_min, to_min).touched == (() if taken else ("j1",))
    if taken:
        run(store, stage.accept("o1", "w1"))
        return
    assert lost(store, stage.accept("o1", "w1")) == "accept_offer"
    at(store, NOON_MS + TTL_MS)
    run(store, stage.expire("o1"))


def test_an_absence_names_what_is_booked_and_what_is_offered_in_order_of_time(store: SqliteStore) -> None:
    """Nobody else's, and no offer whose time is over."""
    run(store, stage.offer("o1", "j1", "wide", starts_min=50))
    run(store, stage.accept("o1", "wide"))
    run(store, stage.offer("o2", "j2", "wide"))
    run(store, stage.offer("o3", "j3", "w1"))
    assert away(store, 0, 300, "wide").touched == ("j2", "j1")
    at(store, NOON_MS + TTL_MS)
    assert away(store, 0, 300, "wide").touched == ("j1",)


def test_of_two_live_offers_one_is_withdrawn_and_the_other_stands(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    run(store, stage.offer("o2", "j2", "w2"))
    run(store, leases.withdraw(ANA, "o1", WHY))
    assert (live(store, "w1"), live(store, "w2")) == (None, "o2")


def test_of_two_lapsed_offers_each_is_expired_by_itself(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    run(store, stage.offer("o2", "j2", "w2"))
    at(store, NOON_MS + TTL_MS)
    run(store, stage.expire("o1"))
    assert (live(store, "w1"), live(store, "w2")) == (None, "o2")
    run(store, stage.expire("o2"))


def test_a_refusal_at_the_boundary_is_too_late(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    at(store, NOON_MS + TTL_MS)
    assert lost(store, stage.decline("o1", "w1")) == "decline_offer"


@pytest.mark.parametrize("end", ["decline", "withdraw", "expire"])
def test_an_answer_repeated_is_lost(store: SqliteStore, end: str) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    if end == "expire":
        at(store, NOON_MS + TTL_MS)
    program = {
        "decline": lambda: stage.decline("o1", "w1"),
        "withdraw": lambda: leases.withdraw(ANA, "o1", WHY),
        "expire": lambda: stage.expire("o1"),
    }[end]
    run(store, program())
    lost(store, program())
    run(store, stage.offer("o2", "j1", "w1"))  # nor does it end the next offer of the two
    lost(store, program())
    run(store, stage.accept("o2", "w1"))
    lost(store, program())


# --- the held job ----------------------------------------------------------------------------------------------------


def test_start_once_and_finish_only_what_was_started(store: SqliteStore) -> None:
    accepted(store)
    assert lost(store, leases.finish(worker_named("w1"), "j1", "o1", "w1")) == "finish_job"
    run(store, leases.start(worker_named("w1"), "j1", "o1", "w1"))
    assert lost(store, leases.start(worker_named("w1"), "j1", "o1", "w1")) == "start_job"


def test_a_release_takes_one_count_of_one_worker_on_one_day(store: SqliteStore) -> None:
    accepted(store)
    run(store, stage.offer("o2", "j2", "w2"))
    run(store, stage.accept("o2", "w2"))
    at(store, NOON_MS + 24 * HOUR_MS)
    run(store, stage.offer("o3", "j3", "w1", starts_min=24 * 60))
    run(store, stage.accept("o3", "w1"))
    run(store, leases.release(ANA, "j1", "o1", WHY))
    assert store.day_counts("main", "") == (("w1", stage.DAY, 0), ("w2", stage.DAY, 1), ("w1", "2026-06-02", 1))


# --- alerts ----------------------------------------------------------------------------------------------------------


def alerted(store: SqliteStore, job_id: str) -> str:
    return run(store, leases.alert(AUTO, MAIN, job_id, 1, stage.nobody(job_id)))


def test_an_alert_is_of_the_job_as_it_was_looked_at(store: SqliteStore) -> None:
    alerted(store, "j2")
    run(store, stage.offer("o1", "j1", "w1"))
    for version in (1, 2):
        assert lost(store, leases.alert(AUTO, MAIN, "j1", version, stage.nobody("j1"))) == "alert_job"
    run(store, stage.decline("o1", "w1"))
    assert lost(store, leases.alert(AUTO, MAIN, "j1", 1, stage.nobody("j1"))) == "alert_job"
    assert (state(store), state(store, "j2")) == (JobState.OPEN, JobState.UNASSIGNED_ALERT)


def test_an_acceptance_answers_the_alerts_of_its_job_alone(store: SqliteStore) -> None:
    one, two = alerted(store, "j1"), alerted(store, "j2")
    accepted(store)
    assert [each.id for each in store.alerts("main")] == [two]
    assert lost(store, records.triage(ANA, "resolve", one)) == "resolve_alert"
    run(store, records.triage(ANA, "resolve", two))


def test_a_job_is_missed_once_after_its_time_and_only_while_nobody_has_it(store: SqliteStore) -> None:
    accepted(store)
    due_ms = NOON_MS + 60 * stage.MIN_MS
    at(store, due_ms)  # due_by is the latest arrival: at it, there is time still
    assert lost(store, leases.miss(AUTO, MAIN, "j2", stage.nobody("j2"))) == "miss_job"
    at(store, due_ms + 1)
    run(store, leases.miss(AUTO, MAIN, "j2", stage.nobody("j2")))
    assert lost(store, leases.miss(AUTO, MAIN, "j2", stage.nobody("j2"))) == "miss_job"
    assert lost(store, leases.miss(AUTO, MAIN, "j1", stage.nobody("j1"))) == "miss_job"
    assert {job.id for job in store.jobs("main") if job.missed} == {"j2"}


# --- intake and roster -----------------------------------------------------------------------------------------------


def test_a_job_is_amended_as_it_was_looked_at_and_only_while_nobody_has_it(store: SqliteStore) -> None:
    amend(store, "j2", "main")
    assert lost(store, records.amend_job(ANA, "j2", 1, stage.new_job("j2"), "main")) == "amend_job"
    run(store, stage.offer("o1", "j1", "w1"))
    assert lost(store, records.amend_job(ANA, "j1", 2, stage.new_job("j1"), "main")) == "amend_job"


def test_a_worker_is_amended_while_no_offer_stands(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    changed = records.enrol(ANA, stage.new_worker("w1", 3), "main", known=True)
    assert lost(store, changed) == "amend_worker"
    run(store, records.enrol(ANA, stage.new_worker("w2", 3), "main", known=True))
    assert {each.id: each.capacity for each in store.workers("main")} == {"w1": 1, "w2": 3, "wide": 2}


def test_who_holds_something_does_not_leave_and_who_left_is_not_asked(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "wide"))
    assert lost(store, records.archive_worker(ANA, "wide")) == "archive_worker"
    run(store, stage.accept("o1", "wide"))
    assert lost(store, records.archive_worker(ANA, "wide")) == "archive_worker"
    run(store, records.archive_worker(ANA, "w1"))  # though others hold something
    assert lost(store, records.archive_worker(ANA, "w1")) == "archive_worker"
    run(store, records.archive_worker(ANA, "w2"))
    assert lost(store, stage.offer("o2", "j2", "w1")) == "claim_worker"
    assert counts(store) == {"wide": 1}


def test_one_tenant_is_told_nothing_of_another(store: SqliteStore) -> None:
    stranger = Actor(name="eve", role=Role.SUPERVISOR, tenant="nobody")
    for program in (
        leases.offer(stranger, MAIN, stage.lease("o1", "j1", "w1")),
        leases.cancel(stranger, "j1", "", WHY),
        records.archive_worker(stranger, "w1"),
    ):
        lost(store, program, "nobody")


def test_a_waiting_move_is_another_tenants_own(store: SqliteStore) -> None:
    stage.found(store, "other")
    run(store, leases.ask_handoff(replace(ANA, tenant="other"), "w1", "north", WHY), "other")
    assert lost(store, leases.handoff(ANA, "w1", "north", 1, asked=True)) == "check_asked"
    assert lost(store, leases.take_back_handoff(ANA, "w1", "north", 1, WHY)) == "take_back_handoff"
    run(store, leases.take_back_handoff(replace(ANA, tenant="other"), "w1", "north", 1, WHY), "other")
