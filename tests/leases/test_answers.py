"""What the people at both ends are told: answers repeated, late, fenced and lost; who is asked next, and who is not."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine import leases, records, wiring
from engine.imports.parsed import Parsed
from engine.ports import Busy, Engine, Forbidden
from engine.program import Lost, Program
from engine.records import JobKey
from engine.rules.nouns import Actor, JobState, NewJob, OfferState, Role
from engine.verbs import answer, assign, intake, override, region, revoke, sweep
from engine.verbs.answer import Answer
from engine.verbs.assign import Outcome
from engine.verbs.intake import KeyReused
from tests.leases import desk, stage
from tests.leases.desk import ANA, MANUAL
from tests.leases.invariants import broken
from tests.leases.stage import MIN_MS, NOON_MS, TTL_MS, WHY, worker_named

W1, W2 = worker_named("w1"), worker_named("w2")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = desk.desk(tmp_path / "site.db")
    yield engine
    wiring.close(engine)
    assert broken(engine.store.path) == []


def offered(engine: Engine, job_id: str = "j1") -> tuple[str, str]:
    """Create and assign; answers the offer and its worker."""
    if engine.store.job(engine.tenant, job_id) is None:
        intake.create_job(engine, ANA, desk.job(job_id))
    made = assign.assign(engine, ANA, job_id)
    assert made.offer is not None
    return made.offer.id, made.offer.worker_id


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
    desk.site.advance(engine, NOON_MS - 3_600_000)
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


# --- rounds ----------------------------------------------------------------------------------------------------------


def test_B056_a_dispatcher_that_died_before_delivery_costs_one_hold(engine: Engine) -> None:
    """The offer is in the database and nobody was told: it ends at its own time, and the worker is free."""
    offer_id, worker_id = offered(engine)
    wiring.close(engine)  # the process is gone
    after = desk.again(engine)
    assert [each.id for each in answer.offers_of(after, worker_id)] == [offer_id]  # asked for, it is delivered still
    region.takeover(after, ANA, "main", "next")
    held = after.store.worker("main", worker_id)
    assert held is not None
    assert held.live_offer_id is None
    wiring.close(after)


@pytest.mark.parametrize("adopt", [False, True])
def test_B056_the_hold_ends_at_its_own_time(tmp_path: Path, adopt: bool) -> None:
    overrides = {"lease": {"auto_offer": False, "adopt_on_takeover": adopt}}
    engine = desk.desk(tmp_path / "site.db", overrides=overrides)
    offer_id, worker_id = offered(engine)
    after = desk.again(engine)
    desk.site.advance(after, NOON_MS + TTL_MS)
    if adopt:
        region.takeover(after, ANA, "main", "next")
        sweep.sweep(sweep.Desk(engine=after, holder="next"))
    else:
        assert answer.accept(after, worker_named(worker_id), offer_id, worker_id).outcome is Answer.EXPIRED
    facts = after.store.offer("main", offer_id)
    assert facts is not None
    assert (facts.offer.state, facts.offer.answered_ms) == (OfferState.EXPIRED, NOON_MS + TTL_MS)
    for each in (engine, after):
        wiring.close(each)


@pytest.mark.parametrize("adopt", [False, True])
def test_B057_offers_of_before_a_stop_end_at_their_own_time_before_anything_new(tmp_path: Path, adopt: bool) -> None:
    overrides = {"lease": {"adopt_on_takeover": adopt}}
    engine = desk.desk(tmp_path / "site.db", workers=("w1", "w2", "w3"), overrides=overrides)
    for number in (1, 2, 3):
        intake.create_job(engine, ANA, desk.job(f"j{number}"))
    live = {each.id for each in engine.store.live_offers("main")}
    assert len(live) == 3
    wiring.close(engine)
    after = desk.again(engine)
    desk.site.advance(after, NOON_MS + 10 * MIN_MS)
    region.takeover(after, ANA, "main", "next")
    sweep.sweep(sweep.Desk(engine=after, holder="next"))
    ended = [after.store.offer("main", each) for each in live]
    assert [(each.offer.state, each.offer.answered_ms) for each in ended if each] == [("EXPIRED", NOON_MS + TTL_MS)] * 3
    wiring.close(after)
    assert broken(after.store.path) == []


def test_an_overtaken_dispatcher_stops_itself(engine: Engine) -> None:
    intake.create_job(engine, ANA, desk.job("j1"))
    region.takeover(engine, ANA, "main", "one")
    other = desk.again(engine)
    region.takeover(other, ANA, "main", "two", by_force=True)
    before = stage.dump(engine.store.path)
    made = assign.assign(engine, ANA, "j1", epoch=engine.tenures["main"].epoch)
    assert made.outcome is Outcome.FENCED
    changed = set(stage.dump(engine.store.path)) ^ set(before)
    assert not [line for line in changed if 'INTO "decisions"' not in line]
    assert region.renew(engine, "one") == ("main",)
    assert engine.tenures == {}
    wiring.close(other)


def test_a_second_desk_does_not_take_a_region_that_is_held(engine: Engine) -> None:
    region.takeover(engine, ANA, "main", "one")
    other = desk.again(engine)
    with pytest.raises(Busy, match="held by one"):
        region.takeover(other, ANA, "main", "two")
    wiring.close(other)


def test_one_bad_offer_does_not_stop_the_sweep(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    offers = [offered(engine, "j1")[0], offered(engine, "j2")[0]]
    region_held = region.takeover(engine, ANA, "main", "me", by_force=True)
    assert region_held.withdrawn == 2
    offers = [offered(engine, "j1")[0], offered(engine, "j2")[0]]
    desk.site.advance(engine, NOON_MS + TTL_MS)
    real = leases.expire

    def poisoned(actor: Actor, offer_id: str, fence: leases.Fence | None = None) -> Program[leases.Freed]:
        if offer_id == min(offers):
            raise ValueError("poison")
        return real(actor, offer_id, fence)

    monkeypatch.setattr(leases, "expire", poisoned)
    assert sweep.expire(sweep.Desk(engine=engine, holder="me")) == 1


# --- keys ------------------------------------------------------------------------------------------------------------


def test_B061_a_key_whose_first_try_was_rolled_back_is_free(engine: Engine) -> None:
    def fails() -> Program[str]:
        yield from records.open_job(ANA, desk.job("j1"), "main", JobKey(key="k", body_hash="h"))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        engine.store.run("main", fails())
    made = intake.create_job(engine, ANA, desk.job("j1"), key="k")
    assert not made.replayed
    assert engine.store.job("main", "j1") is not None
    again = intake.create_job(engine, ANA, desk.job("j1"), key="k")
    assert (again.replayed, again.job.id) == (True, "j1")
    assert len(engine.store.jobs("main")) == 1


def test_B062_one_key_with_another_body_is_refused_and_writes_nothing(engine: Engine) -> None:
    intake.create_job(engine, ANA, replace(desk.job(""), notes="first"), key="k")
    before = stage.dump(engine.store.path)
    with pytest.raises(KeyReused, match="another body"):
        intake.create_job(engine, ANA, replace(desk.job(""), notes="second"), key="k")
    assert stage.dump(engine.store.path) == before
    assert len(engine.store.jobs("main")) == 1


# --- paths -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["automatic", "manual", "override", "forced", "reassign", "preempt", "after a decline"]
)
def test_B064_every_path_writes_an_offer_row_and_its_audit_line(tmp_path: Path, path: str) -> None:
    overrides = {} if path in ("automatic", "after a decline") else MANUAL
    engine = desk.desk(tmp_path / "site.db", overrides=overrides)
    last = _by(engine, path)
    facts = engine.store.offer("main", last)
    assert facts is not None
    row = next(each for each in engine.store.audit("main") if each.offer_id == last)
    assert row.act == ("override" if path in ("override", "forced") else "offer")
    assert row.actor == facts.offer.made_by
    assert facts.offer.promise.confidence == ("low" if path in ("automatic", "manual", "after a decline") else "manual")
    delivered = [each.id for each in answer.offers_of(engine, facts.offer.worker_id)]
    assert delivered == ([] if path == "forced" else [last])
    wiring.close(engine)
    assert broken(engine.store.path) == []


def _by(engine: Engine, path: str) -> str:
    """The last offer's id, made by the path named."""
    intake.create_job(engine, ANA, desk.job("j1"))
    if path in ("override", "forced"):
        done = override.override(engine, ANA, "j1", "w1", WHY, force=path == "forced")
        assert done.offer is not None
        return done.offer.id
    offer_id, worker_id = offered(engine)
    who = worker_named(worker_id)
    if path == "after a decline":
        told = answer.decline(engine, who, offer_id, worker_id)
        assert told.next is not None
        assert told.next.offer is not None
        return told.next.offer.id
    if path == "reassign":
        answer.accept(engine, who, offer_id, worker_id)
        return revoke.reassign(engine, ANA, "j1", WHY, to="w2" if worker_id == "w1" else "w1").offer_id or ""
    if path == "preempt":
        answer.accept(engine, who, offer_id, worker_id)
        intake.create_job(engine, ANA, desk.job("j2", priority=5))
        return revoke.preempt(engine, ANA, "j1", "j2", WHY).offer_id or ""
    return offer_id


def test_B067_an_accepted_job_is_not_rescheduled_under_its_worker(engine: Engine) -> None:
    offer_id, worker_id = offered(engine)
    answer.accept(engine, worker_named(worker_id), offer_id, worker_id)
    tomorrow = desk.job("j1", opens_min=24 * 60)
    before = stage.dump(engine.store.path)
    told = intake.import_jobs(engine, ANA, _parsed(tomorrow))
    assert (told.changed, [each.row for each in told.rejected]) == (0, [1])
    assert "release or withdraw it first" in told.rejected[0].rule
    assert stage.dump(engine.store.path) == before
    revoke.release(engine, ANA, "j1", WHY)
    assert intake.import_jobs(engine, ANA, _parsed(tomorrow)).changed == 1
    worker = engine.store.worker("main", worker_id)
    assert worker is not None
    assert worker.bookings == ()


def _parsed(*jobs: NewJob) -> Parsed[NewJob]:
    return Parsed(items=tuple(enumerate(jobs, 1)), rejected=(), warnings=())


def test_B126_a_manual_choice_of_a_stale_worker_is_an_offer_with_reason_and_never_overlaps(engine: Engine) -> None:
    intake.create_job(engine, ANA, desk.job("j1"))
    desk.later(engine, MIN_MS)  # nobody was seen for a minute
    done = override.override(engine, ANA, "j1", "w1", WHY, force=True)
    assert done.offer is not None
    assert (done.offer.promise.confidence, done.offer.state, done.offer.made_by) == ("manual", "ACCEPTED", "ana")
    assert "stale" in {each.reason for each in done.overrules}
    row = next(each for each in engine.store.audit_of_job("main", "j1") if each.act == "override")
    assert (row.reason, "stale" in row.detail) == (WHY.reason, True)
    intake.create_job(engine, ANA, replace(desk.job("j2"), due_by_ms=NOON_MS + 10 * MIN_MS))
    after = override.override(engine, ANA, "j2", "w1", WHY, force=True)  # the accepted miss, after what is booked
    assert after.late_ms > 0
    worker = engine.store.worker("main", "w1")
    assert worker is not None
    first, second = worker.bookings
    assert first.ends_ms <= second.starts_ms


def test_B126_a_manual_choice_of_an_unskilled_worker_is_refused(engine: Engine) -> None:
    intake.create_job(engine, ANA, replace(desk.job("j1"), skills=frozenset({"crane"})))
    with pytest.raises(Forbidden, match="skills"):
        override.override(engine, ANA, "j1", "w1", WHY)
