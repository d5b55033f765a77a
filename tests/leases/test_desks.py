"""Dispatchers that die, stop, are overtaken and come back; keys; and every path by which a job is offered."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine import leases, records, wiring
from engine.imports.parsed import Parsed
from engine.ports import Busy, Engine, Forbidden
from engine.program import Lost, Program
from engine.records import JobKey
from engine.rules.nouns import Actor, NewJob, OfferState
from engine.verbs import answer, assign, intake, override, region, revoke, sweep
from engine.verbs.answer import Answer
from engine.verbs.assign import Outcome
from engine.verbs.intake import KeyReused
from engine.verbs.site import SiteFile
from tests.leases import desk, stage
from tests.leases.desk import ANA, MANUAL, offered
from tests.leases.invariants import broken
from tests.leases.stage import MIN_MS, NOON_MS, TTL_MS, WHY, worker_named

# --- rounds -----------------------------------------------------------------------------------------------------------


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
    desk.advance(after, NOON_MS + TTL_MS)
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
    desk.advance(after, NOON_MS + 10 * MIN_MS)
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


def test_an_overtaken_dispatcher_hands_nobody_over(tmp_path: Path) -> None:
    site = SiteFile(zone="Europe/Rome", regions=(("main", None), ("north", None)), overrides=MANUAL)
    engine = desk.desk(tmp_path / "site.db", site=site)
    region.takeover(engine, ANA, "main", "one")
    asked = leases.ask_handoff(ANA, "w1", "north", WHY)
    assert not isinstance(engine.store.run("main", asked), Lost)
    other = desk.again(engine)
    region.takeover(other, ANA, "main", "two", by_force=True)
    assert sweep.hand_over(sweep.Desk(engine=engine, holder="one")) == 0
    assert sweep.hand_over(sweep.Desk(engine=other, holder="two")) == 1
    for each in (engine, other):
        wiring.close(each)


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
    desk.advance(engine, NOON_MS + TTL_MS)
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
    assert row.act == ("override" if path in ("override", "forced", "reassign", "preempt") else "offer")
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
