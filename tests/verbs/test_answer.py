"""A worker's answers: each is safe to repeat and says what became of it (SPEC 5)."""

from collections.abc import Callable

import pytest

from engine import wiring
from engine.ports import Forbidden
from engine.rules.nouns import JobState, Offer, Role
from engine.verbs import answer, region, revoke
from engine.verbs.answer import Answer
from engine.verbs.assign import Outcome
from tests.desk import WHY, Desk, north, offered_to, person

Found = Callable[..., Desk]


def offered(desk: Desk, *workers: str) -> Offer:
    for n, name in enumerate(workers or ("ana",)):
        desk.worker(name, north(3 + n))
    desk.job("J1")
    offer = desk.assign("J1").offer
    assert offer is not None
    return offer


def test_accepting_books_the_interval_counts_once_and_frees_the_worker(desk: Desk) -> None:
    offer = offered(desk)
    done = desk.accept(offer)
    assert done.outcome is Answer.ACCEPTED
    ana = desk.hand("ana")
    assert (ana.jobs_today, ana.live_offer_id) == (1, None)
    [booking] = ana.bookings
    assert (booking.starts_ms, booking.ends_ms) == (desk.at(3), desk.at(33))
    assert desk.look("J1").state is JobState.ACCEPTED


def test_B052_accepting_twice_is_one_acceptance_one_history_row_and_one_job_today(desk: Desk) -> None:
    offer = offered(desk)
    desk.accept(offer)
    again = desk.accept(offer)
    assert again.outcome is Answer.ALREADY_ACCEPTED
    assert desk.hand("ana").jobs_today == 1
    assert desk.acts().count("accept") == 1


def test_B052_accepting_again_after_a_restart_answers_the_same(desk: Desk) -> None:
    offer = offered(desk)
    desk.accept(offer)
    reopened = wiring.open_engine(desk.path)
    try:
        again = answer.accept(reopened, person("ana", Role.WORKER), offer.id, "ana")
    finally:
        wiring.close(reopened)
    assert again.outcome is Answer.ALREADY_ACCEPTED


@pytest.mark.parametrize(("seconds", "outcome"), [(19.999, Answer.ACCEPTED), (20, Answer.EXPIRED)])
def test_at_the_very_expiry_an_offer_is_expired(desk: Desk, seconds: float, outcome: Answer) -> None:
    offer = offered(desk)
    desk.advance(seconds)
    assert desk.accept(offer).outcome is outcome


def test_a_late_accept_runs_the_expiry_itself_and_the_next_is_asked(found: Found) -> None:
    desk = found(auto=True)
    desk.worker("ana", north(3))
    desk.worker("ben", north(4))
    desk.job("J1")
    [offer] = desk.engine.store.live_offers("main")
    desk.advance(21, fresh=True)
    done = desk.accept(offer)
    assert done.outcome is Answer.EXPIRED
    assert done.next is not None
    assert offered_to(done.next) == "ben"
    [ended, _] = desk.engine.store.offers_of_job("main", "J1")
    assert ended.answered_ms == offer.expires_ms


def test_declining_frees_the_worker_and_asks_the_next_at_once(found: Found) -> None:
    desk = found(auto=True)
    desk.worker("ana", north(3))
    desk.worker("ben", north(4))
    desk.job("J1")
    [offer] = desk.engine.store.live_offers("main")
    done = desk.decline(offer)
    assert done.outcome is Answer.DECLINED
    assert done.next is not None
    assert offered_to(done.next) == "ben"
    assert desk.hand("ana").live_offer_id is None
    assert desk.decline(offer).outcome is Answer.DECLINED


def test_a_released_acceptance_is_lost_and_not_revived(desk: Desk) -> None:
    offer = offered(desk)
    desk.accept(offer)
    revoke.release(desk.engine, person(), "J1", WHY)
    again = desk.accept(offer)
    assert again.outcome is Answer.LOST
    assert desk.look("J1").state is JobState.OPEN
    assert desk.hand("ana").bookings == ()


def test_somebody_elses_offer_is_not_found(desk: Desk) -> None:
    offer = offered(desk, "ana", "ben")
    assert desk.accept(offer.id, "ben").outcome is Answer.NOT_FOUND
    pretending = answer.accept(desk.engine, person("ben", Role.WORKER), offer.id, "ana")
    assert pretending.outcome is Answer.NOT_FOUND
    assert (pretending.job, pretending.offer) == (None, None)
    assert desk.accept("O-NOTHING", "ana").outcome is Answer.NOT_FOUND


def test_an_offer_of_an_older_epoch_is_fenced(desk: Desk) -> None:
    offer = offered(desk)
    region.takeover(desk.engine, person(), "main", "another")
    assert desk.accept(offer).outcome is Answer.FENCED
    assert desk.hand("ana").live_offer_id is None
    assert desk.look("J1").state is JobState.OPEN
    assert offered_to(desk.assign("J1")) == "ana", "withdrawn by a takeover: no cooldown"


def test_a_dispatcher_may_answer_for_a_worker_and_a_customer_may_not(desk: Desk) -> None:
    offer = offered(desk)
    with pytest.raises(Forbidden):
        answer.accept(desk.engine, person("kim", Role.CUSTOMER), offer.id, "ana")
    done = answer.accept(desk.engine, person("dora", Role.DISPATCHER), offer.id, "ana")
    assert done.outcome is Answer.ACCEPTED


def test_a_job_counts_on_the_day_it_was_accepted_on_the_sites_calendar(desk: Desk) -> None:
    """B107: Vienna's midnight, an hour before UTC's; the last half second still belongs to the old day."""
    desk.worker("ana", north(1), shift=(-60, 6000))
    midnight_ms = 1_800_054_000_000  # 2027-01-15T23:00Z
    for ref, at_ms, day in (("J1", midnight_ms - 500, "2027-01-15"), ("J2", midnight_ms, "2027-01-16")):
        desk.set(at_ms)
        desk.refresh("ana")
        desk.job(ref, due=6000, lasts=1)
        desk.give(ref, "ana")
        assert (("ana", day, 1)) in desk.engine.store.day_counts("main", "2027-01-01")
        assert desk.hand("ana").jobs_today == 1


def test_a_day_that_has_no_midnight_is_counted_like_any_other(found: Found) -> None:
    """Cairo, 30 April 2027: the clock goes from 23:59:59 to 01:00."""
    gone_ms = 1_809_036_000_000  # 2027-04-29T22:00Z
    desk = found(zone="Africa/Cairo", now_ms=gone_ms - 60_000)
    desk.worker("ana", north(1))
    for ref in ("J1", "J2"):
        desk.job(ref, due=300, lasts=1)
        desk.give(ref, "ana")
        desk.set(gone_ms)
        desk.refresh("ana")
    days = desk.engine.store.day_counts("main", "2027-01-01")
    assert days == (("ana", "2027-04-29", 1), ("ana", "2027-04-30", 1))


# --- start and finish ------------------------------------------------------------------------------------------------


def test_start_and_finish_are_the_holders_own_and_safe_to_repeat(desk: Desk) -> None:
    offer = offered(desk, "ana", "ben")
    desk.accept(offer)
    assert desk.begin("J1", "ben").outcome is Answer.NOT_FOUND
    assert desk.finish("J1", "ana").outcome is Answer.LOST, "not begun yet"
    assert [desk.begin("J1", "ana").outcome for _ in range(2)] == [Answer.STARTED] * 2
    assert [desk.finish("J1", "ana").outcome for _ in range(2)] == [Answer.FINISHED] * 2
    assert desk.look("J1").state is JobState.DONE
    assert desk.hand("ana").bookings == ()
    assert desk.hand("ana").jobs_today == 1
    assert desk.assign("J1").outcome is Outcome.NOT_OPEN


def test_B006_late_fixes_change_neither_the_job_in_progress_nor_its_times(desk: Desk) -> None:
    offer = offered(desk)
    desk.accept(offer)
    desk.advance(300)
    desk.begin("J1", "ana")
    before = desk.look("J1"), desk.hand("ana").bookings
    desk.advance(60)
    desk.fix("ana", north(30), age_s=200)
    assert (desk.look("J1"), desk.hand("ana").bookings) == before


def test_B039_a_worker_already_on_the_site_may_start_the_job(desk: Desk) -> None:
    """B039: no fix has to cross a border first; the start is the worker's act."""
    desk.worker("ana", north(0))
    desk.job("J1")
    offer = desk.assign("J1").offer
    assert offer is not None
    assert offer.promise.eta_s == 0
    desk.accept(offer)
    assert desk.begin("J1", "ana").outcome is Answer.STARTED


@pytest.mark.parametrize(("late_s", "said"), [(0, []), (90, ["missed; ana began 2 min after due_by"])])
def test_a_job_begun_after_due_by_is_missed_and_the_alert_says_by_whom(
    desk: Desk, late_s: int, said: list[str]
) -> None:
    offer = offered(desk)
    desk.accept(offer)
    desk.set(desk.look("J1").due_by_ms + late_s * 1000)
    assert answer.start(desk.engine, person("ana", Role.WORKER), "J1", "ana").outcome is Answer.STARTED
    assert [each.detail for each in desk.engine.store.alerts("main") if each.kind == "missed"] == said
    assert desk.look("J1").missed is bool(said)
