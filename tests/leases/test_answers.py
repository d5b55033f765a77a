"""What the people at both ends are told: answers repeated, late, fenced and lost; who is asked next, and who is not."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine import records, wiring
from engine.ports import Engine, Forbidden
from engine.program import Lost
from engine.rules.nouns import Actor, JobState, OfferState, Role
from engine.verbs import answer, assign, intake, region, revoke
from engine.verbs.answer import Answer
from engine.verbs.assign import Outcome
from tests.leases import desk
from tests.leases.desk import ANA, offered
from tests.leases.stage import MIN_MS, NOON_MS, TTL_MS, WHY, worker_named


def jobs_today(engine: Engine) -> dict[str, int]:
    return {worker.id: worker.jobs_today for worker in engine.store.workers(engine.tenant)}


def refusals(made: assign.Assigned) -> dict[str, str]:
    return {each.worker: each.verdict for each in made.considered}


# --- accept ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, 10])
def test_B052_accept_pressed_again_answers_the_same_acceptance(engine: Engine, times: int) -> None:
    offer_id, worker_id = offered(engine)
    who = worker_named(worker_id)
    assert answer.accept(engine, who, offer_id, worker_id).outcome is Answer.ACCEPTED
    for _ in range(times):
        told = answer.accept(engine, who, offer_id, worker_id)
        assert told.outcome is Answer.ALREADY_ACCEPTED
        assert told.job is not None
        assert told.job.held_offer_id == offer_id
    other = desk.again(engine)
    assert answer.accept(other, who, offer_id, worker_id).outcome is Answer.ALREADY_ACCEPTED
    wiring.close(other)
    assert jobs_today(engine)[worker_id] == 1
    assert [row.act for row in engine.store.audit_of_job("main", "j1")] == ["create job", "offer", "accept"]


@pytest.mark.parametrize("taken_over", [False, True])
def test_an_acceptance_that_was_released_is_lost_when_repeated(engine: Engine, taken_over: bool) -> None:
    offer_id, worker_id = offered(engine)
    who = worker_named(worker_id)
    answer.accept(engine, who, offer_id, worker_id)
    revoke.release(engine, ANA, "j1", WHY)
    if taken_over:
        region.takeover(engine, ANA, "main", "me")
    assert answer.accept(engine, who, offer_id, worker_id).outcome is Answer.LOST
    assert jobs_today(engine)[worker_id] == 0


def test_a_late_accept_runs_the_expiry_and_says_expired(engine: Engine) -> None:
    offer_id, worker_id = offered(engine)
    desk.later(engine, TTL_MS, "w1", "w2")
    for _ in range(2):
        told = answer.accept(engine, worker_named(worker_id), offer_id, worker_id)
        assert told.outcome is Answer.EXPIRED
    assert told.job is not None
    assert told.job.state is JobState.OPEN
    assert told.offer is not None
    assert (told.offer.state, told.offer.answered_ms) == (OfferState.EXPIRED, NOON_MS + TTL_MS)


def test_accepting_what_one_declined_is_lost(engine: Engine) -> None:
    """Scripts rely on: accepted, already_accepted, expired, fenced, lost, not_found."""
    offer_id, worker_id = offered(engine)
    who = worker_named(worker_id)
    assert answer.decline(engine, who, offer_id, worker_id).outcome is Answer.DECLINED
    assert answer.decline(engine, who, offer_id, worker_id).outcome is Answer.DECLINED
    assert answer.accept(engine, who, offer_id, worker_id).outcome is Answer.LOST


def test_somebody_elses_offer_is_not_found(engine: Engine) -> None:
    offer_id, worker_id = offered(engine)
    other = "w2" if worker_id == "w1" else "w1"
    for who, claims in ((worker_named(other), other), (worker_named(other), worker_id)):
        assert answer.accept(engine, who, offer_id, claims).outcome is Answer.NOT_FOUND
        assert answer.decline(engine, who, offer_id, claims).outcome is Answer.NOT_FOUND
    assert answer.accept(engine, worker_named(worker_id), "O-NONE", worker_id).outcome is Answer.NOT_FOUND
    with pytest.raises(Forbidden):
        answer.accept(engine, Actor(name="x", role=Role.CUSTOMER), offer_id, worker_id)


def test_an_accept_of_an_old_epoch_is_fenced(engine: Engine) -> None:
    offer_id, worker_id = offered(engine)
    region.takeover(engine, ANA, "main", "me")
    assert answer.accept(engine, worker_named(worker_id), offer_id, worker_id).outcome is Answer.FENCED


def test_an_offer_of_before_the_clock_stepped_back_is_expired(engine: Engine) -> None:
    """B097: no offer lives an hour longer."""
    offer_id, worker_id = offered(engine)
    desk.advance(engine, NOON_MS - 3_600_000)
    assert answer.accept(engine, worker_named(worker_id), offer_id, worker_id).outcome is Answer.EXPIRED


# --- assign ----------------------------------------------------------------------------------------------------------


def test_assigned_again_the_live_offer_stands(engine: Engine) -> None:
    offer_id, _ = offered(engine)
    other = desk.again(engine)
    for each in (engine, other):
        made = assign.assign(each, ANA, "j1")
        assert made.outcome is Outcome.STANDING
        assert made.offer is not None
        assert made.offer.id == offer_id
    wiring.close(other)
    assert len(engine.store.offers_of_job("main", "j1")) == 1


def test_B054_a_worker_whose_booking_overlaps_is_absent_with_the_reason(engine: Engine) -> None:
    offer_id, worker_id = offered(engine)
    answer.accept(engine, worker_named(worker_id), offer_id, worker_id)
    intake.create_job(engine, ANA, replace(desk.job("j2"), due_by_ms=NOON_MS + 15 * MIN_MS))
    made = assign.assign(engine, ANA, "j2")
    told = {each.worker: each for each in made.considered}
    assert told[worker_id].verdict == "overlap"
    assert "j1" in told[worker_id].detail
    assert made.offer is not None
    assert made.offer.worker_id != worker_id


def test_B059_who_declined_is_not_asked_again_within_the_cooldown(engine: Engine) -> None:
    for _ in range(2):
        offer_id, worker_id = offered(engine)
        answer.decline(engine, worker_named(worker_id), offer_id, worker_id)
    made = assign.assign(engine, ANA, "j1")
    assert refusals(made) == {"w1": "cooldown", "w2": "cooldown"}
    desk.later(engine, 10 * MIN_MS, "w1", "w2")
    assert assign.assign(engine, ANA, "j1").outcome is Outcome.OFFERED


def test_B059_a_setting_allows_a_retry_when_the_list_would_be_empty_and_the_decision_says_so(tmp_path: Path) -> None:
    retry = {"lease": {"auto_offer": False, "cooldown_retry_when_empty": True}}
    engine = desk.desk(tmp_path / "site.db", overrides=retry)
    asked: list[str] = []
    for _ in range(3):
        offer_id, worker_id = offered(engine)
        asked.append(worker_id)
        answer.decline(engine, worker_named(worker_id), offer_id, worker_id)
        desk.later(engine, 1_000, "w1", "w2")
    assert asked[0] != asked[1]
    newest = engine.store.decisions("main", "j1", limit=3)
    assert [each.summary.retried_in_cooldown for each in newest] == [True, False, False]
    wiring.close(engine)


def test_a_former_holder_is_in_cooldown_from_the_release(engine: Engine) -> None:
    offer_id, worker_id = offered(engine)
    answer.accept(engine, worker_named(worker_id), offer_id, worker_id)
    desk.later(engine, 11 * MIN_MS, "w1", "w2")  # the offer itself is out of its cooldown
    revoke.reassign(engine, ANA, "j1", WHY)
    made = assign.assign(engine, ANA, "j1")
    assert refusals(made)[worker_id] == "cooldown"
    assert made.offer is not None
    assert made.offer.worker_id != worker_id


def test_two_tenants_in_one_cell_never_meet(engine: Engine, tmp_path: Path) -> None:
    """The same ids at the same place in one file: neither's worker is a candidate of the other."""
    store = engine.store
    who = Actor(name="init", role=Role.SUPERVISOR, tenant="other")
    weights = {"w_eta": 1.0, "w_fair": 3.0, "w_slack": 0.25, "eta_band_min": 5}
    found = records.found_site(
        who, name="y", zone="UTC", settings='{"lease":{"auto_offer":false}}', regions=[("main", None)], weights=weights
    )
    assert not isinstance(store.run("other", found), Lost)
    other = wiring.open_engine(store.path, tenant="other", new_id=wiring.seeded_ids(9))
    intake.create_job(other, who, desk.job("j1"))
    made = assign.assign(other, who, "j1")
    assert (made.offer, made.considered) == (None, ())
    offer_id, worker_id = offered(engine)
    assert answer.accept(other, replace(who, name=worker_id), offer_id, worker_id).outcome is Answer.NOT_FOUND
    assert other.store.job("other", "j1").live_offer_id is None  # type: ignore[union-attr]
    wiring.close(other)
