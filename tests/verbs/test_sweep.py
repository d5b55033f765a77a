"""The rounds: what happens in time even when nobody asks (SPEC 5, 8, 11)."""

import sqlite3
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.leases import Tenure
from engine.rules.nouns import JobState, OfferState
from engine.verbs import region
from engine.verbs.sweep import sweep
from tests.desk import Desk, north, offered_to, person

Found = Callable[..., Desk]
HOUR_S = 3600


def running(found: Found, *workers: str, **settings: object) -> Desk:
    desk = found(auto=True, slack_capacity={"reserve_share": 0.0}, **settings)
    desk.takeover()
    for n, name in enumerate(workers):
        desk.worker(name, north(3 + n))
    return desk


def states(desk: Desk, job_id: str) -> list[tuple[str, str]]:
    return [(each.worker_id, each.state) for each in desk.engine.store.offers_of_job("main", job_id)]


# --- expiry ----------------------------------------------------------------------------------------------------------


def test_an_offer_is_expired_within_a_second_of_its_time_and_the_next_is_asked_at_once(found: Found) -> None:
    desk = running(found, "ana", "ben")
    desk.job("J1")
    desk.advance(19.999, fresh=True)
    assert desk.ring("expire") == 0
    desk.advance(0.001, fresh=True)
    assert desk.engine.settings.rounds.expire_s == 1
    assert desk.ring("expire") == 1
    assert states(desk, "J1") == [("ana", "EXPIRED"), ("ben", "OFFERED")]
    assert desk.hand("ana").live_offer_id is None
    ended, _ = desk.engine.store.offers_of_job("main", "J1")
    assert ended.answered_ms == ended.expires_ms


def test_expiring_again_changes_nothing(found: Found) -> None:
    desk = running(found, "ana")
    desk.job("J1")
    desk.advance(20)
    assert [desk.ring("expire") for _ in range(3)] == [1, 0, 0]
    assert desk.acts().count("expire") == 1


def test_one_offer_that_cannot_be_expired_does_not_stop_the_others(found: Found) -> None:
    """The database itself refuses the first one; the second is expired all the same, the first stays in line."""
    desk = running(found, "ana", "ben")
    desk.job("J1")
    desk.job("J2")
    poisoned, healthy = desk.engine.store.live_offers("main")
    with sqlite3.connect(desk.path) as raw:
        raw.execute(
            f"CREATE TRIGGER poison BEFORE UPDATE ON offers WHEN old.offer_id = '{poisoned.id}' "
            "BEGIN SELECT RAISE(FAIL, 'poison'); END"
        )
    raw.close()
    desk.advance(20)
    desk.ring("expire")
    assert states(desk, healthy.job_id) == [(healthy.worker_id, "EXPIRED")]
    assert states(desk, poisoned.job_id) == [(poisoned.worker_id, "OFFERED")]


def test_B056_a_crash_between_claim_and_delivery_costs_one_hold(found: Found) -> None:
    """B056: nobody delivered the offer; after a restart it expires at its own time and the worker is free."""
    desk = running(found, "ana")
    desk.job("J1")
    [offer] = desk.engine.store.live_offers("main")
    assert offer.delivered_ms is None
    desk.restart()
    desk.advance(20)
    assert offered_to(desk.assign("J1")) is None
    assert desk.hand("ana").live_offer_id is None
    facts = desk.engine.store.offer("main", offer.id)
    assert facts is not None
    assert (facts.offer.state, facts.offer.answered_ms) == (OfferState.EXPIRED, offer.expires_ms)


def test_B057_three_offers_that_lapsed_while_nobody_ran_are_expired_at_start_before_any_decision(found: Found) -> None:
    """B057: at their own time, not at the start's; the takeover withdraws only what is still alive."""
    desk = running(found, "ana", "ben", "cem")
    for n in range(3):
        desk.job(f"J{n}", due=200)
    before = desk.engine.store.live_offers("main")
    desk.restart()
    desk.advance(600)
    desk.takeover()
    desk.ring("expire")
    for offer in before:
        facts = desk.engine.store.offer("main", offer.id)
        assert facts is not None
        assert (facts.offer.state, facts.offer.answered_ms) == (OfferState.EXPIRED, offer.expires_ms)


# --- retry, missed ---------------------------------------------------------------------------------------------------


def test_when_supply_appears_a_waiting_job_is_offered_by_the_retry(found: Found) -> None:
    desk = running(found)
    desk.job("J1")
    assert desk.look("J1").state is JobState.UNASSIGNED_ALERT
    desk.worker("ana", north(3))
    assert desk.ring("retry") == 1
    assert states(desk, "J1") == [("ana", "OFFERED")]
    assert desk.engine.settings.assign.retry_s == 5


def test_waiting_jobs_are_taken_least_slack_first_then_priority(found: Found) -> None:
    desk = running(found)
    desk.job("later", due=50, priority=5)
    desk.job("plain", due=40)
    desk.job("urgent", due=40, priority=3)
    desk.worker("ana", north(3))
    desk.ring("retry")
    assert [each.job_id for each in desk.engine.store.live_offers("main")] == ["urgent"]


def test_a_job_that_is_missed_says_so_once_and_why_and_is_tried_no_more(found: Found) -> None:
    desk = running(found, "ana")
    desk.job("J1", due=10, skills="lift")
    desk.advance(600, fresh=True)
    assert desk.ring("miss") == 0, "due_by itself is in time"
    desk.advance(1, fresh=True)
    assert [desk.ring("miss") for _ in range(2)] == [1, 0]
    [alert] = desk.alerts()
    assert (alert.kind, alert.detail) == ("missed", "missed; 1 looked at: 1 skills")
    assert desk.look("J1").missed
    assert desk.ring("retry") == 0


def test_a_job_offered_and_declined_in_vain_is_missed_with_that_reason(found: Found) -> None:
    desk = running(found, "ana")
    desk.job("J1", due=4)
    desk.decline(desk.engine.store.live_offers("main")[0])
    desk.advance(241)
    desk.ring("miss")
    [alert] = desk.alerts("missed")
    assert "1 cooldown" in alert.detail or "no offer was accepted" in alert.detail


# --- the clock -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hours", [-1, 1])
def test_B097_a_clock_step_ends_offers_once_keeps_fixes_fresh_and_is_said(found: Found, hours: int) -> None:
    mono = [1_000]
    desk = running(found, "ana", mono_ms=lambda: mono[0])
    desk.job("J1", due=180)
    [offer] = desk.engine.store.live_offers("main")
    desk.ring("clock")
    mono[0] += 1000
    desk.set(desk.now_ms + 1000 + hours * HOUR_S * 1000)
    desk.ring("clock", "expire")
    assert states(desk, "J1")[0] == ("ana", "EXPIRED"), "it does not live an hour longer, nor twice"
    assert desk.hand("ana").live_offer_id != offer.id
    seen = desk.engine.index.seen("main", "ana", north(0), mono_ms=desk.engine.mono_ms())
    assert seen is not None
    assert max(seen.device_age_ms, seen.receive_age_ms) == 1000, "ages follow the clock that does not jump"
    [alert] = desk.alerts("clock_stepped")
    assert f"{hours * HOUR_S:+d} s" in alert.detail
    facts = desk.engine.store.offer("main", offer.id)
    assert facts is not None
    assert facts.offer.answered_ms == (offer.created_ms if hours < 0 else offer.expires_ms)


def test_a_clock_that_goes_on_evenly_is_not_said(found: Found) -> None:
    desk = running(found)
    for _ in range(5):
        desk.ring("clock")
        desk.advance(3600)
    assert desk.alerts("clock_stepped") == []


def test_B096_a_sleep_over_midnight_begins_a_new_day_and_expires_what_lapsed(found: Found) -> None:
    """B096: eight hours in one step. The day is a key and not a counter to reset, so nothing can be forgotten."""
    mono = [1_000]
    desk = running(found, "ana", mono_ms=lambda: mono[0])
    desk.worked("ana", 2)
    desk.job("J1", due=2000)
    desk.set(desk.start_ms + 14 * HOUR_S * 1000)
    desk.ring("clock")
    desk.set(desk.now_ms + 8 * HOUR_S * 1000)
    done = sweep(desk.rounds)
    assert done["expire"] == 1
    assert desk.hand("ana").jobs_today == 0
    assert [each.kind for each in desk.alerts()].count("clock_stepped") == 1


def test_B046_the_rounds_ring_once_a_minute_through_the_hour_that_comes_twice(found: Found) -> None:
    """B046: Helsinki, 31 October 2027, 04:00 becomes 03:00. The rounds know no wall clock."""
    fold_ms = 1_824_944_400_000  # 2027-10-31T01:00Z: local 04:00 becomes 03:00
    desk = running(found, "ana", zone="Europe/Helsinki", now_ms=fold_ms - 60 * 60_000)
    desk.job("J1", due=400)
    ends: list[int] = []
    for _ in range(180):
        desk.advance(60, fresh=True)
        ends.append(sweep(desk.rounds)["expire"])
    assert sum(ends) == len([each for _, each in states(desk, "J1") if each == "EXPIRED"])
    assert desk.alerts("clock_stepped") == []


# --- retention -------------------------------------------------------------------------------------------------------


def bytes_on_disk(path: Path) -> bytes:
    """The file and its log, read by another process: closing a file here would drop SQLite's locks on it."""
    files = [str(each) for each in (path, path.with_name(path.name + "-wal")) if each.exists()]
    return subprocess.run(["cat", *files], capture_output=True, check=True).stdout


def test_after_seven_days_a_decisions_detail_is_gone_from_file_and_log_and_its_summary_stays(found: Found) -> None:
    desk = running(found, "ana")
    desk.job("J1", due=200)
    assert b'"travel_s"' in bytes_on_disk(desk.path)
    desk.advance(7 * 24 * HOUR_S)
    desk.ring("retain")
    [kept] = desk.engine.store.decisions("main", "J1", limit=5)
    assert kept.considered is not None, "seven days to the millisecond are kept"
    desk.advance(1)
    desk.ring("retain")
    [emptied] = desk.engine.store.decisions("main", "J1", limit=5)
    assert emptied.considered is None
    assert emptied.summary.worker == "ana"
    assert b'"travel_s"' not in bytes_on_disk(desk.path)


def test_after_seven_days_no_byte_of_an_archived_position_is_left(found: Found) -> None:
    desk = running(found)
    place = north(7.7)
    desk.worker("ana", place)
    desk.ring("write behind")
    trail = desk.path.with_name(desk.path.name + ".fixes")
    wanted = struct.pack(">d", place.lat)
    assert wanted in bytes_on_disk(trail)
    desk.advance(9 * 24 * HOUR_S)
    desk.ring("retain")
    assert wanted not in bytes_on_disk(trail)


def test_the_sites_own_file_holds_no_position_of_a_worker_out_on_the_road(found: Found) -> None:
    """The home base is the roster's; where somebody is now lives in the side file alone."""
    desk = running(found)
    desk.worker("ana", north(3))
    place = north(5.3)
    desk.advance(30)
    desk.fix("ana", place)
    desk.job("J1")
    sweep(desk.rounds)
    assert struct.pack(">d", place.lat) not in bytes_on_disk(desk.path)
    assert struct.pack(">d", place.lat) in bytes_on_disk(desk.path.with_name(desk.path.name + ".fixes"))


# --- all of them -----------------------------------------------------------------------------------------------------


def test_a_dispatcher_that_was_overtaken_changes_nothing_and_stops(found: Found) -> None:
    desk = running(found, "ana")
    region.takeover(desk.engine, person(), "main", "another", by_force=True)
    epoch = desk.engine.tenures.pop("main").epoch
    desk.engine.tenures["main"] = Tenure(region="main", epoch=epoch - 1)
    desk.job("J1")
    assert desk.look("J1").state is JobState.OPEN
    assert desk.ring("retry") == 0
    assert desk.ring("renew") == 1
    assert desk.engine.tenures == {}


def test_every_round_once_on_an_empty_site_does_no_harm(found: Found) -> None:
    desk = running(found)
    done = sweep(desk.rounds)
    assert set(done) >= {"expire", "retry", "miss", "watch", "retain", "write behind"}
    assert desk.engine.store.verify_audit("main").first_bad is None
