"""One automatic dispatcher a region: taken, kept, lost, and workers handed over (SPEC 5)."""

from collections.abc import Callable

import pytest

from engine.ports import Busy, Forbidden, Invalid, NotFound, Stale
from engine.rules.nouns import OfferState, Role
from engine.verbs import region
from tests.desk import WHY, Desk, north, offered_to, person, verdicts

Found = Callable[..., Desk]


def two(found: Found, **settings: object) -> Desk:
    return found(regions=(("main", None), ("other", None)), **settings)


def test_a_takeover_raises_the_epoch_and_waits_for_the_other_ones_lease(desk: Desk) -> None:
    first = region.takeover(desk.engine, person(), "main", "one")
    with pytest.raises(Busy, match="held by one under epoch 1"):
        region.takeover(desk.engine, person(), "main", "two")
    desk.advance(5)
    second = region.takeover(desk.engine, person(), "main", "two")
    assert (first.epoch, second.epoch) == (1, 2)


def test_by_force_at_once_and_the_one_before_is_fenced_at_its_next_renewal(desk: Desk) -> None:
    desk.takeover()
    mine = dict(desk.engine.tenures)
    region.takeover(desk.engine, person(), "main", "two", by_force=True)
    desk.engine.tenures.clear()
    desk.engine.tenures.update(mine)
    assert region.renew(desk.engine, desk.rounds.holder) == ("main",)
    assert desk.engine.tenures == {}


def test_live_offers_are_withdrawn_without_cooldown_and_offered_again(found: Found) -> None:
    desk = found(auto=True)
    desk.worker("ana", north(3))
    desk.job("J1")
    [offer] = desk.engine.store.live_offers("main")
    tenure = region.takeover(desk.engine, person(), "main", "test")
    assert tenure.withdrawn == 1
    facts = desk.engine.store.offer("main", offer.id)
    assert facts is not None
    assert facts.offer.state is OfferState.WITHDRAWN
    [again] = desk.engine.store.live_offers("main")
    assert (again.worker_id, again.epoch) == ("ana", tenure.epoch)


def test_a_setting_adopts_the_live_offers_instead(found: Found) -> None:
    desk = found(lease={"adopt_on_takeover": True})
    desk.worker("ana", north(3))
    desk.job("J1")
    offer = desk.assign("J1").offer
    assert offer is not None
    tenure = region.takeover(desk.engine, person(), "main", "two")
    assert (tenure.adopted, tenure.withdrawn) == (1, 0)
    assert desk.accept(offer).outcome == "accepted"


def test_given_back_a_region_need_not_wait(desk: Desk) -> None:
    desk.takeover()
    region.resign(desk.engine, desk.rounds.holder)
    assert region.takeover(desk.engine, person(), "main", "two").epoch == 2


def test_a_human_act_takes_the_epoch_in_force(desk: Desk) -> None:
    desk.takeover()
    desk.worker("ana", north(3))
    desk.job("J1")
    offer = desk.assign("J1").offer
    assert offer is not None
    assert offer.epoch == 1


# --- handing a worker over -------------------------------------------------------------------------------------------


def test_a_free_worker_moves_at_once_with_bookings_and_a_new_generation(found: Found) -> None:
    desk = two(found)
    desk.worker("ana", north(3), home="main")
    desk.job("J1", due=120)
    desk.give("J1", "ana")
    assert region.handoff(desk.engine, person(), "ana", "other", WHY) == 2
    ana = desk.hand("ana")
    assert (ana.region, ana.generation, [each.job_id for each in ana.bookings]) == ("other", 2, ["J1"])
    assert desk.look("J1").region == "other"
    desk.job("J2", due=200)
    assert verdicts(desk.assign("J2").considered) == {"ana": "other_region"}


def test_with_a_live_offer_the_move_follows_its_answer_and_no_new_offer_is_made(found: Found) -> None:
    desk = two(found)
    desk.takeover()
    desk.worker("ana", north(3), home="main")
    desk.job("J1")
    offer = desk.assign("J1").offer
    assert offer is not None
    assert region.handoff(desk.engine, person(), "ana", "other", WHY) is None
    assert desk.hand("ana").region == "main"
    assert desk.accept(offer).outcome == "accepted", "the owner's offer stands until it is answered"
    desk.job("J2", due=240)
    assert verdicts(desk.assign("J2").considered) == {"ana": "other_region"}
    assert desk.ring("hand over") == 1
    assert (desk.hand("ana").region, desk.hand("ana").generation) == ("other", 2)


def test_a_handoff_that_waits_is_taken_back_and_the_worker_is_offered_work_again(found: Found) -> None:
    desk = two(found)
    desk.takeover()
    desk.worker("ana", north(3), home="main")
    desk.job("J1")
    offer = desk.assign("J1").offer
    assert offer is not None
    region.handoff(desk.engine, person(), "ana", "other", WHY)
    assert region.take_back_handoff(desk.engine, person(), "ana", WHY) == "other"
    assert desk.accept(offer).outcome == "accepted", "the live offer is as it was"
    assert desk.ring("hand over") == 0
    assert (desk.hand("ana").region, desk.hand("ana").generation, desk.hand("ana").moving_to) == ("main", 1, None)
    desk.job("J2", due=240)
    assert offered_to(desk.assign("J2")) == "ana"
    newest = [each for each in desk.engine.store.audit("main") if each.act == "take back handoff"]
    assert [(each.actor, each.worker_id, each.words) for each in newest] == [("dora", "ana", WHY.words)]


def test_what_is_not_waiting_cannot_be_taken_back(found: Found) -> None:
    desk = two(found)
    desk.worker("ana", north(3), home="main")
    with pytest.raises(Stale, match="no handoff waits"):
        region.take_back_handoff(desk.engine, person(), "ana", WHY)
    with pytest.raises(NotFound):
        region.take_back_handoff(desk.engine, person(), "nobody", WHY)
    region.handoff(desk.engine, person(), "ana", "other", WHY)
    with pytest.raises(Stale, match="belongs to other"):
        region.take_back_handoff(desk.engine, person(), "ana", WHY)


def test_with_an_offer_that_expires_the_move_follows_the_expiry(found: Found) -> None:
    desk = two(found)
    desk.takeover()
    desk.worker("ana", north(3), home="main")
    desk.job("J1")
    desk.assign("J1")
    region.handoff(desk.engine, person(), "ana", "other", WHY)
    desk.advance(20, fresh=True)
    desk.ring("expire", "hand over")
    assert desk.hand("ana").region == "other"


def test_an_offer_whose_time_is_over_holds_no_handoff_up_though_nobody_sweeps(found: Found) -> None:
    desk = two(found)
    desk.worker("ana", north(3), home="main")
    desk.job("J1")
    desk.assign("J1")
    desk.advance(20, fresh=True)
    assert region.handoff(desk.engine, person(), "ana", "other", WHY) == 2
    assert (desk.hand("ana").region, desk.look("J1").state) == ("other", "OPEN")


def test_a_handoff_asked_for_again_after_the_offers_time_is_done(found: Found) -> None:
    desk = two(found)
    desk.worker("ana", north(3), home="main")
    desk.job("J1")
    desk.assign("J1")
    assert region.handoff(desk.engine, person(), "ana", "other", WHY) is None
    desk.advance(3600, fresh=True)
    assert region.handoff(desk.engine, person(), "ana", "other", WHY) == 2


def test_only_the_dispatcher_of_the_owning_region_finishes_a_handoff(found: Found) -> None:
    """Another process dispatches main; this one holds the region they go to, and both in the end."""
    desk = two(found)
    desk.worker("ana", north(3), home="main")
    desk.job("J1")
    offer = desk.assign("J1").offer
    assert offer is not None
    region.handoff(desk.engine, person(), "ana", "other", WHY)
    desk.accept(offer)
    desk.takeover("other")
    assert (desk.ring("hand over"), desk.hand("ana").region) == (0, "main")
    desk.takeover("main")
    assert (desk.ring("hand over"), desk.hand("ana").region) == (1, "other")
    [moved] = [each for each in desk.engine.store.audit("main") if each.act == "handoff"]
    assert moved.actor == "auto:main"


def test_location_never_moves_authority(found: Found) -> None:
    """Ana stands next to a job of the other region: she is seen there, and is not theirs."""
    desk = two(found)
    desk.worker("ana", north(0), home="other")
    desk.worker("ben", north(20), home="main")
    desk.job("J1")
    done = desk.assign("J1")
    assert offered_to(done) == "ben"
    assert verdicts(done.considered)["ana"] == "other_region"


def test_what_is_wrong_is_said(found: Found) -> None:
    desk = two(found)
    desk.worker("ana", home="main")
    with pytest.raises(NotFound, match="region south: not found; known: main, other"):
        region.takeover(desk.engine, person(), "south", "one")
    with pytest.raises(Invalid, match="belongs to main already"):
        region.handoff(desk.engine, person(), "ana", "main", WHY)
    with pytest.raises(NotFound, match="worker nobody"):
        region.handoff(desk.engine, person(), "nobody", "main", WHY)
    with pytest.raises(Forbidden):
        region.takeover(desk.engine, person("ana", Role.WORKER), "main", "one")
