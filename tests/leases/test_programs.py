"""What each lease program leaves in the database when it wins, and that it leaves nothing when it loses."""

import pytest

from engine import leases
from engine.leases import Fence
from engine.rules.nouns import JobState, OfferState
from engine.store.sqlite import SqliteStore
from tests.leases import stage
from tests.leases.looks import accepted, acts, counts, live, offer_state, state
from tests.leases.stage import ANA, AUTO, MAIN, NOON_MS, TTL_MS, WHY, at, lease, lost, run, worker_named

# --- offer -----------------------------------------------------------------------------------------------------------


def test_an_offer_binds_job_and_worker_for_twenty_seconds(store: SqliteStore) -> None:
    made = run(store, stage.offer("o1", "j1", "w1"))
    assert (made.expires_ms, made.epoch) == (NOON_MS + TTL_MS, 0)
    assert (state(store), live(store), acts(store)) == (JobState.OFFERED, "o1", ["offer"])


@pytest.mark.parametrize(
    ("second", "step"),
    [
        (("o2", "j1", "w2"), "claim_job"),
        (("o2", "j2", "w1"), "claim_worker"),
        (("o1", "j2", "w2"), "write_offer"),
        (("o2", "j9", "w2"), "claim_job"),
        (("o2", "j2", "w9"), "claim_worker"),
    ],
)
def test_a_second_offer_is_lost_whole(store: SqliteStore, second: tuple[str, str, str], step: str) -> None:
    """Among them one lost at its third statement, after job and worker were claimed: both claims are undone."""
    run(store, stage.offer("o1", "j1", "w1"))
    assert lost(store, stage.offer(*second)) == step


def test_an_alerted_job_can_be_offered(store: SqliteStore) -> None:
    run(store, leases.alert(AUTO, MAIN, "j1", 1, stage.nobody("j1")))
    assert (state(store), [each.kind for each in store.alerts("main")]) == (JobState.UNASSIGNED_ALERT, ["unassigned"])
    run(store, stage.offer("o1", "j1", "w1"))
    run(store, stage.accept("o1", "w1"))
    assert store.alerts("main") == ()


def test_an_offer_into_booked_time_is_lost_and_beside_it_made(store: SqliteStore) -> None:
    accepted(store)
    assert lost(store, stage.offer("o2", "j2", "w1", starts_min=39)) == "check_room"
    run(store, stage.offer("o3", "j2", "w1", starts_min=40))


def test_an_offer_on_a_lane_the_worker_lacks_is_lost(store: SqliteStore) -> None:
    assert lost(store, stage.offer("o1", "j1", "w1", lane=1)) == "check_room"


def test_an_offer_of_another_region_generation_or_epoch_is_lost(store: SqliteStore) -> None:
    assert lost(store, stage.offer("o1", "j1", "w1", fence=Fence(region="north"))) == "claim_job"
    assert lost(store, stage.offer("o1", "j1", "w1", fence=Fence(region="nowhere"))) == "read_epoch"
    assert lost(store, stage.offer("o1", "j1", "w1", generation=2)) == "claim_worker"
    assert lost(store, stage.offer("o1", "j1", "w1", fence=Fence(region="main", epoch=1))) == "hold_epoch"


# --- answers ---------------------------------------------------------------------------------------------------------


def test_an_acceptance_books_credits_and_frees(store: SqliteStore) -> None:
    accepted(store)
    assert (state(store), offer_state(store), live(store)) == (JobState.ACCEPTED, OfferState.ACCEPTED, None)
    assert (counts(store), acts(store)) == ({"w1": 1}, ["offer", "accept"])
    worker = store.worker("main", "w1")
    assert worker is not None
    assert [(each.job_id, each.offer_id, each.starts_ms) for each in worker.bookings] == [
        ("j1", "o1", NOON_MS + 10 * stage.MIN_MS)
    ]


@pytest.mark.parametrize("late_ms", [0, 1, 3_600_000])
def test_a_late_accept_is_lost_and_the_expiry_wins(store: SqliteStore, late_ms: int) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    at(store, NOON_MS + TTL_MS + late_ms)
    assert lost(store, stage.accept("o1", "w1")) == "accept_offer"
    run(store, stage.expire("o1"))
    facts = store.offer("main", "o1")
    assert facts is not None
    assert facts.offer.answered_ms == NOON_MS + TTL_MS  # when its time was up, not when somebody noticed
    assert (state(store), live(store), acts(store)) == (JobState.OPEN, None, ["offer", "expire"])


def test_one_millisecond_before_its_time_an_offer_is_accepted_and_not_expired(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    at(store, NOON_MS + TTL_MS - 1)
    assert lost(store, stage.expire("o1")) == "expire_offer"
    run(store, stage.accept("o1", "w1"))


def test_an_offer_from_the_future_is_expired(store: SqliteStore) -> None:
    """The clock stepped back over its making: nobody can take it, anybody may end it."""
    run(store, stage.offer("o1", "j1", "w1"))
    at(store, NOON_MS - 1)
    assert lost(store, stage.accept("o1", "w1")) == "accept_offer"
    assert lost(store, stage.decline("o1", "w1")) == "decline_offer"
    assert store.due_offers("main", "main", limit=9) == ("o1",)
    run(store, stage.expire("o1"))
    assert (state(store), live(store)) == (JobState.OPEN, None)


@pytest.mark.parametrize(("offer_id", "worker_id"), [("o1", "w2"), ("o9", "w1"), ("o1", "w9")])
def test_only_the_worker_it_was_made_to_can_answer(store: SqliteStore, offer_id: str, worker_id: str) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    assert lost(store, stage.accept(offer_id, worker_id)) == "accept_offer"
    assert lost(store, stage.decline(offer_id, worker_id)) == "decline_offer"


def test_a_refusal_frees_both_and_keeps_the_attempt(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    run(store, stage.decline("o1", "w1"))
    assert (state(store), offer_state(store), live(store)) == (JobState.OPEN, OfferState.DECLINED, None)
    facts = store.facts("main", "j1", ["w1"])
    assert facts is not None
    assert facts.workers[0].offered_ms == NOON_MS
    assert acts(store) == ["offer", "decline"]


def test_a_withdrawal_says_who_and_why(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    run(store, leases.withdraw(ANA, "o1", WHY))
    row = store.audit_of_job("main", "j1")[-1]
    assert (row.act, row.actor, row.reason, row.words) == ("withdraw", "ana", "other", "said on the phone")
    assert (state(store), live(store)) == (JobState.OPEN, None)


@pytest.mark.parametrize("times", [1, 10])
def test_B052_an_acceptance_replayed_counts_once(store: SqliteStore, times: int) -> None:
    accepted(store)
    for _ in range(times):
        assert lost(store, stage.accept("o1", "w1")) == "accept_offer"
    again = SqliteStore(store.path)  # after a restart
    assert lost(again, stage.accept("o1", "w1")) == "accept_offer"
    again.close()
    assert counts(store) == {"w1": 1}
    assert acts(store) == ["offer", "accept"]


# --- the held job ----------------------------------------------------------------------------------------------------


def test_start_and_finish_release_the_rest_of_the_booking(store: SqliteStore) -> None:
    accepted(store)
    run(store, leases.start(worker_named("w1"), "j1", "o1", "w1"))
    assert state(store) is JobState.IN_PROGRESS
    run(store, leases.finish(worker_named("w1"), "j1", "o1", "w1"))
    job = store.job("main", "j1")
    assert job is not None
    assert (job.state, job.done_by, job.worker_id) == (JobState.DONE, "w1", None)
    assert counts(store) == {"w1": 1}  # a job done stays counted
    run(store, stage.offer("o2", "j2", "w1"))  # the booked time is free again
    assert acts(store) == ["offer", "accept", "start", "finish"]


@pytest.mark.parametrize(("offer_id", "worker_id"), [("o1", "w2"), ("o9", "w1")])
def test_start_and_finish_are_aimed_at_one_assignment(store: SqliteStore, offer_id: str, worker_id: str) -> None:
    accepted(store)
    assert lost(store, leases.start(worker_named(worker_id), "j1", offer_id, worker_id)) == "start_job"
    run(store, leases.start(worker_named("w1"), "j1", "o1", "w1"))
    assert lost(store, leases.finish(worker_named(worker_id), "j1", offer_id, worker_id)) == "finish_job"


def test_a_release_takes_the_count_back_and_starts_the_cooldown(store: SqliteStore) -> None:
    accepted(store)
    at(store, NOON_MS + 5_000)
    run(store, leases.release(ANA, "j1", "o1", WHY))
    facts = store.facts("main", "j1", ["w1"])
    assert facts is not None
    assert (facts.workers[0].offered_ms, facts.workers[0].bookings) == (NOON_MS + 5_000, ())
    assert (state(store), counts(store), acts(store)) == (JobState.OPEN, {"w1": 0}, ["offer", "accept", "release"])


def test_the_count_goes_back_on_the_day_it_was_given(store: SqliteStore) -> None:
    accepted(store)
    at(store, NOON_MS + 24 * 3_600_000)
    run(store, leases.release(ANA, "j1", "o1", WHY))
    assert store.day_counts("main", stage.DAY) == (("w1", stage.DAY, 0),)


def test_a_released_acceptance_is_not_revived(store: SqliteStore) -> None:
    accepted(store)
    run(store, leases.release(ANA, "j1", "o1", WHY))
    assert lost(store, stage.accept("o1", "w1")) == "accept_offer"
    assert lost(store, leases.start(worker_named("w1"), "j1", "o1", "w1")) == "start_job"
    assert lost(store, leases.release(ANA, "j1", "o1", WHY)) == "release_job"
    assert counts(store) == {"w1": 0}


def test_work_that_began_is_not_released(store: SqliteStore) -> None:
    accepted(store)
    run(store, leases.start(worker_named("w1"), "j1", "o1", "w1"))
    assert lost(store, leases.release(ANA, "j1", "o1", WHY)) == "release_job"


def test_reassign_releases_and_offers_in_one(store: SqliteStore) -> None:
    accepted(store)
    run(store, leases.reassign(ANA, MAIN, "j1", "o1", WHY, lease("o2", "j1", "w2")))
    assert (state(store), live(store, "w2"), counts(store)) == (JobState.OFFERED, "o2", {"w1": 0})
    assert acts(store) == ["offer", "accept", "reassign", "override"]


def test_a_reassignment_that_cannot_offer_does_not_release(store: SqliteStore) -> None:
    accepted(store)
    run(store, stage.offer("o2", "j2", "w2"))
    assert lost(store, leases.reassign(ANA, MAIN, "j1", "o1", WHY, lease("o3", "j1", "w2"))) == "claim_worker"
    assert state(store) is JobState.ACCEPTED


def test_preempt_needs_the_higher_priority_and_takes_the_time(store: SqliteStore) -> None:
    accepted(store)
    run(store, leases.preempt(ANA, MAIN, "j1", "o1", lease("o2", "j2", "w1"), WHY))
    assert (state(store), state(store, "j2"), live(store)) == (JobState.OPEN, JobState.OFFERED, "o2")
    run(store, stage.accept("o2", "w1"))
    assert lost(store, leases.preempt(ANA, MAIN, "j2", "o2", lease("o3", "j3", "w1"), WHY)) == "outrank_job"


@pytest.mark.parametrize("began", [False, True])
def test_cancel_ends_a_held_job_and_frees_its_worker(store: SqliteStore, began: bool) -> None:
    accepted(store)
    if began:
        run(store, leases.start(worker_named("w1"), "j1", "o1", "w1"))
    run(store, leases.cancel(ANA, "j1", "o1", WHY))
    assert (state(store), counts(store)) == (JobState.CANCELLED, {"w1": int(began)})
    run(store, stage.offer("o2", "j2", "w1"))


def test_cancel_withdraws_the_live_offer(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    run(store, leases.cancel(ANA, "j1", "", WHY))
    assert (state(store), offer_state(store), live(store)) == (JobState.CANCELLED, OfferState.WITHDRAWN, None)
    assert lost(store, stage.accept("o1", "w1")) == "accept_offer"


def test_a_late_cancel_never_clears_a_newer_assignment(store: SqliteStore) -> None:
    accepted(store)
    run(store, leases.reassign(ANA, MAIN, "j1", "o1", WHY, lease("o2", "j1", "w2")))
    assert lost(store, leases.cancel(ANA, "j1", "o1", WHY)) == "cancel_job"  # while the newer offer stands
    run(store, stage.accept("o2", "w2"))
    assert lost(store, leases.cancel(ANA, "j1", "o1", WHY)) == "cancel_job"
    assert lost(store, leases.cancel(ANA, "j1", "", WHY)) == "cancel_job"
    assert lost(store, leases.release(ANA, "j1", "o1", WHY)) == "release_job"
    assert (state(store), counts(store)) == (JobState.ACCEPTED, {"w1": 0, "w2": 1})


@pytest.mark.parametrize("end", ["finish", "cancel"])
def test_a_terminal_job_stays(store: SqliteStore, end: str) -> None:
    accepted(store)
    run(store, leases.start(worker_named("w1"), "j1", "o1", "w1"))
    run(
        store,
        leases.finish(worker_named("w1"), "j1", "o1", "w1") if end == "finish" else leases.cancel(ANA, "j1", "o1", WHY),
    )
    for aim in ("o1", ""):
        assert lost(store, leases.cancel(ANA, "j1", aim, WHY)) == "cancel_job"
    assert lost(store, stage.offer("o2", "j1", "w2")) == "claim_job"
    assert lost(store, leases.finish(worker_named("w1"), "j1", "o1", "w1")) == "finish_job"


# --- override --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("force", [False, True])
def test_an_override_leaves_offer_booking_and_audit_row(store: SqliteStore, force: bool) -> None:
    run(store, stage.override("o1", "j1", "w1", force=force))
    facts = store.offer("main", "o1")
    worker = store.worker("main", "w1")
    assert facts is not None
    assert worker is not None
    assert (facts.offer.made_by, facts.offer.promise.confidence) == ("ana", "manual")
    assert facts.offer.state is (OfferState.ACCEPTED if force else OfferState.OFFERED)
    assert [each.offer_id for each in worker.bookings] == (["o1"] if force else [])
    row = next(each for each in store.audit_of_job("main", "j1") if each.act == "override")
    assert (row.actor, row.reason, row.words, row.detail) == ("ana", "other", "said on the phone", '{"overruled":[]}')


def test_an_override_is_refused_while_another_offer_stands_or_time_is_taken(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    assert lost(store, stage.override("o2", "j1", "w2", force=True)) == "claim_job"
    assert lost(store, stage.override("o2", "j2", "w1", force=True)) == "claim_worker"
    run(store, stage.accept("o1", "w1"))
    assert lost(store, stage.override("o2", "j2", "w1", force=True)) == "check_room"


# --- capacity --------------------------------------------------------------------------------------------------------


def test_a_worker_of_capacity_two_holds_two_at_once_and_never_three(store: SqliteStore) -> None:
    for offer_id, job_id, lane in (("o1", "j1", 0), ("o2", "j2", 1)):
        run(store, stage.offer(offer_id, job_id, "wide", lane=lane))
        run(store, stage.accept(offer_id, "wide"))
    for lane in (0, 1, 2):
        assert lost(store, stage.offer("o3", "j3", "wide", lane=lane)) == "check_room"
    run(store, stage.offer("o3", "j3", "wide", lane=1, starts_min=40))  # [10, 40) and [40, 70) touch
    run(store, stage.accept("o3", "wide"))
