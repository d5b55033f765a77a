"""What taking over a region and moving a worker leave behind, and that tenants never meet."""

from engine import leases
from engine.leases import Fence
from engine.rules.nouns import Actor, JobState, OfferState, Role
from engine.store.sqlite import SqliteStore
from tests.leases import stage
from tests.leases.looks import accepted, live, offer_state, state
from tests.leases.stage import ANA, AUTO, MAIN, NOON_MS, TTL_MS, WHY, at, lease, lost, run, worker_named


def test_a_takeover_withdraws_without_cooldown(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    taken = run(store, stage.takeover(0))
    assert (taken.epoch, taken.withdrawn, taken.adopted) == (1, 1, 0)
    facts = store.facts("main", "j1", ["w1"])
    assert facts is not None
    assert (state(store), live(store), facts.workers[0].offered_ms) == (JobState.OPEN, None, None)
    assert lost(store, stage.accept("o1", "w1")) == "accept_offer"
    run(store, stage.offer("o2", "j1", "w1", fence=Fence(region="main", epoch=1)))  # the same worker, at once


def test_a_takeover_may_adopt_instead(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    taken = run(store, stage.takeover(0, adopt=True))
    assert (taken.withdrawn, taken.adopted) == (0, 1)
    run(store, stage.accept("o1", "w1"))


def test_an_acceptance_stands_through_a_takeover(store: SqliteStore) -> None:
    accepted(store)
    run(store, stage.takeover(0))
    run(store, leases.start(worker_named("w1"), "j1", "o1", "w1"))


def test_the_overtaken_dispatcher_changes_nothing(store: SqliteStore) -> None:
    run(store, stage.takeover(0, "one"))
    run(store, stage.takeover(1, "two"))
    old = Fence(region="main", epoch=1)
    assert lost(store, stage.offer("o1", "j1", "w1", fence=old)) == "hold_epoch"
    assert lost(store, leases.alert(AUTO, old, "j1", 1, stage.nobody("j1"))) == "hold_epoch"
    assert lost(store, leases.miss(AUTO, old, "j1", stage.nobody("j1"))) == "hold_epoch"
    run(store, stage.offer("o1", "j1", "w1", fence=Fence(region="main", epoch=2)))
    at(store, NOON_MS + TTL_MS)
    assert lost(store, stage.expire("o1", epoch=1)) == "hold_epoch"  # the successor's offer is the successor's to end
    run(store, stage.expire("o1", epoch=2))
    assert lost(store, stage.takeover(1, "one")) == "raise_epoch"


def test_a_region_is_not_taken_while_its_lease_runs(store: SqliteStore) -> None:
    run(store, stage.takeover(0, "one", by_force=False))
    assert lost(store, stage.takeover(1, "two", by_force=False)) == "raise_epoch"
    at(store, NOON_MS + stage.LEASE_MS - 1)
    assert lost(store, stage.takeover(1, "two", by_force=False)) == "raise_epoch"
    at(store, NOON_MS + stage.LEASE_MS)
    assert run(store, stage.takeover(1, "two", by_force=False)).epoch == 2


def test_a_lease_of_a_clock_that_stepped_back_is_no_bar(store: SqliteStore) -> None:
    run(store, stage.takeover(0, "one", by_force=False))
    at(store, NOON_MS - 3_600_000)
    assert run(store, stage.takeover(1, "two", by_force=False)).epoch == 2


def test_a_human_act_stamps_the_epoch_in_force(store: SqliteStore) -> None:
    run(store, stage.takeover(0))
    made = run(store, stage.override("o1", "j1", "w1", force=False))
    assert made.epoch == 1  # type: ignore[union-attr]
    run(store, stage.accept("o1", "w1"))


def test_a_handoff_waits_for_the_live_offer_and_takes_no_new_one(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    run(store, leases.ask_handoff(ANA, "w1", "north", WHY))
    assert lost(store, leases.handoff(ANA, "w1", "north", 1, WHY)) == "move_worker"
    run(store, stage.accept("o1", "w1"))
    assert lost(store, stage.offer("o2", "j2", "w1", starts_min=40)) == "claim_worker"
    assert store.moving_workers("main", "main") == (("w1", "north", 1),)
    assert store.moving_workers("main", "north") == (), "it is not theirs to finish"
    assert run(store, leases.handoff(ANA, "w1", "north", 1, WHY)) == 2
    job = store.job("main", "j1")
    assert job is not None
    assert (job.region, job.worker_id) == ("north", "w1")  # with the bookings
    run(store, leases.start(worker_named("w1"), "j1", "o1", "w1"))


def test_a_handoff_taken_back_leaves_the_worker_and_the_live_offer_as_they_were(store: SqliteStore) -> None:
    run(store, stage.offer("o1", "j1", "w1"))
    run(store, leases.ask_handoff(ANA, "w1", "north", WHY))
    run(store, leases.take_back_handoff(ANA, "w1", "north", 1, WHY))
    assert lost(store, leases.take_back_handoff(ANA, "w1", "north", 1, WHY)) == "take_back_handoff"
    run(store, stage.accept("o1", "w1"))
    assert store.moving_workers("main", "main") == ()
    assert lost(store, leases.handoff(ANA, "w1", "north", 1, WHY, asked=True)) == "check_asked"
    run(store, stage.offer("o2", "j2", "w1", starts_min=40))


def test_taking_back_and_finishing_are_aimed_at_one_worker_one_region_and_one_generation(store: SqliteStore) -> None:
    for worker_id in ("w1", "w2"):
        run(store, leases.ask_handoff(ANA, worker_id, "north", WHY))
    for region, generation in (("main", 1), ("north", 2)):
        assert lost(store, leases.take_back_handoff(ANA, "w1", region, generation, WHY)) == "take_back_handoff"
        assert lost(store, leases.handoff(ANA, "w1", region, generation, asked=True)) == "check_asked"
    run(store, leases.take_back_handoff(ANA, "w1", "north", 1, WHY))
    assert store.moving_workers("main", "main") == (("w2", "north", 1),)
    assert lost(store, leases.handoff(ANA, "w1", "north", 1, asked=True)) == "check_asked"


def test_an_older_generation_changes_nothing(store: SqliteStore) -> None:
    run(store, leases.handoff(ANA, "w1", "north", 1))
    run(store, leases.handoff(ANA, "w1", "main", 2))
    assert lost(store, stage.offer("o1", "j1", "w1", generation=1)) == "claim_worker"
    assert lost(store, leases.handoff(ANA, "w1", "north", 2)) == "move_worker"
    run(store, stage.offer("o1", "j1", "w1", generation=3))


def test_two_tenants_in_one_cell_never_meet(store: SqliteStore) -> None:
    """The same ids, the same place, one file: each tenant's acts see and change their own alone."""
    stage.found(store, "other")
    run(store, stage.offer("o1", "j1", "w1"))
    theirs = Actor(name="w1", role=Role.WORKER, tenant="other")
    assert lost(store, leases.accept(theirs, "o1", "w1"), "other") == "accept_offer"
    made = leases.offer(theirs, MAIN, lease("o1", "j1", "w1"))  # the very same names, and no rival
    run(store, made, "other")
    run(store, leases.decline(theirs, "o1", "w1"), "other")
    assert (state(store), offer_state(store), live(store)) == (JobState.OFFERED, OfferState.OFFERED, "o1")
    assert [each.id for each in store.live_offers("other")] == []
    assert {row.act for row in store.audit("other")} >= {"offer", "decline"}
