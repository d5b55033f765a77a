"""What a dispatcher's own choice may overrule, what nobody may, and what the audit keeps of it (SPEC 5)."""

import json
from collections.abc import Callable

import pytest

from console.choosing import choices, preview
from engine.ports import Forbidden, NotFound, Stale
from engine.rules.nouns import JobState, Role
from engine.rules.place import cell
from engine.verbs.assign import ROAD_RESOLUTION
from engine.verbs.override import override
from engine.verbs.why import why
from tests.desk import MIDDLE, WHY, Desk, box, north, offered_to, person, said

Found = Callable[..., Desk]


def reasons(desk: Desk, job_id: str, name: str) -> list[str]:
    return [each.reason for each in desk.give(job_id, name, force=False).overrules]


# --- may be overruled ------------------------------------------------------------------------------------------------


def test_stale_may_be_overruled(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.advance(60)
    desk.job("J1")
    assert reasons(desk, "J1", "ana") == ["stale"]


def test_a_worker_never_heard_of_is_reckoned_from_home_with_a_wide_band(desk: Desk) -> None:
    desk.worker("ana", north(12), fix=False)
    desk.job("J1")
    done = desk.give("J1", "ana", force=False)
    assert [each.reason for each in done.overrules] == ["no_fix"]
    assert done.offer is not None
    assert done.offer.promise.eta_s == 720
    assert done.offer.promise.band_to_ms - done.offer.promise.band_from_ms >= 20 * 60_000


def test_a_road_that_does_not_lead_there_is_overruled_by_name_as_the_decision_and_the_list_say(desk: Desk) -> None:
    far = north(6)
    desk.worker("ana", far)
    desk.engine.road.load([(cell(far, ROAD_RESOLUTION), cell(MIDDLE, ROAD_RESOLUTION), None)])
    desk.job("J1")
    assert said(desk.assign("J1").considered, "ana").verdict == "no_road"
    [listed] = choices(desk.engine, "J1").workers
    assert (listed.verdict, listed.barred) == ("no_road", "")
    shown = preview(desk.engine, person(), "J1", "ana")
    assert (shown.overrules, shown.barred) == (("no road: no road leads there",), "")
    done = desk.give("J1", "ana", force=False)
    assert [each.reason for each in done.overrules] == ["no_road"]
    assert done.offer is not None
    assert done.offer.promise.band_to_ms - done.offer.promise.band_from_ms >= 20 * 60_000, "a ferry is a guess"
    [told] = why(desk.engine, "J1").overrulings
    assert [(each.reason, each.detail) for each in told.overruled] == [("no_road", "no road leads there")]


def test_a_road_that_does_not_lead_on_to_the_next_booking_is_an_overlap_that_nobody_overrules(desk: Desk) -> None:
    away = north(6)
    desk.worker("ana")
    desk.job("later", away, opens=100, due=130)
    desk.give("later", "ana")
    desk.engine.road.load([(cell(MIDDLE, ROAD_RESOLUTION), cell(away, ROAD_RESOLUTION), None)])
    desk.job("J1", due=30, lasts=10)
    assert said(desk.assign("J1").considered, "ana").verdict == "overlap"
    with_room = desk.give("J1", "ana", force=False)
    assert with_room.late_ms > 0, "only after that booking"


def test_what_an_estimate_may_miss_is_overruled_by_name(found: Found) -> None:
    desk = found(slack_capacity={"reserve_share": 0.0}, eta={"pessimistic_factor": 1.5})
    desk.worker("ana", north(25))
    desk.job("J1", due=26)
    assert said(desk.assign("J1").considered, "ana").verdict == "late"
    done = desk.give("J1", "ana", force=False)
    assert [(each.reason, done.late_ms) for each in done.overrules] == [("late", 0)]
    assert done.overrules[0].detail.startswith("could arrive")


def test_a_site_that_requires_the_router_has_its_refusal_overruled_by_name(found: Found) -> None:
    desk = found(slack_capacity={"reserve_share": 0.0}, router={"required": True})
    desk.worker("ana", north(3))
    desk.job("J1")
    assert said(desk.assign("J1").considered, "ana").verdict == "no_road"
    assert reasons(desk, "J1", "ana") == ["no_road"]


def test_area_cooldown_and_reserve_may_be_overruled(found: Found) -> None:
    desk = found()
    desk.area(box("centre", north(200), 0.1))
    desk.worker("outside", north(3), area="centre")
    desk.job("J1")
    assert reasons(desk, "J1", "outside") == ["outside_area"]
    desk.job("J2")
    desk.worker("ana", north(3))
    first = desk.give("J2", "ana", force=False)
    assert first.offer is not None
    desk.decline(first.offer)
    assert reasons(desk, "J2", "ana") == ["cooldown"]


def test_an_accepted_miss_is_recorded_with_its_minutes(desk: Desk) -> None:
    desk.worker("ana", north(75))
    desk.job("J1", due=60)
    done = desk.give("J1", "ana")
    assert [each.reason for each in done.overrules] == ["late"]
    assert done.late_ms == 15 * 60_000
    row = next(each for each in desk.engine.store.audit_of_job("main", "J1") if each.act == "override")
    detail = json.loads(row.detail)
    assert detail["late_ms"] == 15 * 60_000
    assert detail["force"] is True
    assert [each["reason"] for each in detail["overruled"]] == ["late"]


def test_a_missed_job_may_still_be_given_and_the_miss_is_on_record(found: Found) -> None:
    desk = found(auto=True)
    desk.takeover()
    desk.job("J1", due=10)
    desk.advance(601)
    desk.ring("miss")
    assert desk.look("J1").missed
    [alert] = desk.alerts("missed")
    desk.worker("ana", north(3))
    done = desk.give("J1", "ana")
    assert done.job.state is JobState.ACCEPTED
    assert done.late_ms == 3 * 60_000 + 1_000
    assert [each.id for each in desk.alerts("missed")] == [alert.id], "somebody has to resolve it"


def test_a_shift_may_be_overruled_by_a_supervisor_and_not_by_a_dispatcher(desk: Desk) -> None:
    desk.worker("ana", north(3), shift=(-600, -60))
    desk.job("J1")
    with pytest.raises(Forbidden, match="a supervisor may overrule that"):
        override(desk.engine, person("dan", Role.DISPATCHER), "J1", "ana", WHY)
    assert "off_shift" in reasons(desk, "J1", "ana")


# --- never -----------------------------------------------------------------------------------------------------------


def test_B126_skills_a_live_offer_elsewhere_and_another_region_are_never_overruled(found: Found) -> None:
    desk = found(regions=(("main", None), ("other", None)))
    desk.worker("unskilled", north(3))
    desk.worker("asked", north(3), skills="lift")
    desk.worker("elsewhere", north(3), skills="lift", home="other")
    desk.job("open")
    desk.give("open", "asked", force=False)
    desk.job("J1", skills="lift")
    for name, reason in (
        ("unskilled", "skills"),
        ("asked", "offered_elsewhere"),
        ("elsewhere", "other_region"),
    ):
        with pytest.raises(Forbidden, match=reason):
            desk.give("J1", name)
    assert desk.look("J1").state is JobState.OPEN
    assert desk.acts().count("override") == 1, "what was refused left no trace of an act"


def test_two_reasons_are_both_looked_at_so_that_a_stale_unskilled_worker_stays_out(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.advance(60)
    desk.job("J1", skills="lift")
    with pytest.raises(Forbidden, match="skills"):
        desk.give("J1", "ana")


def test_an_absence_is_not_overruled(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.absent("ana", -5, 120)
    desk.job("J1")
    with pytest.raises(Forbidden, match="absent"):
        desk.give("J1", "ana")


def test_an_absence_is_not_overruled_by_being_late_or_off_shift_as_well(desk: Desk) -> None:
    """What is late or beyond the shift anyhow is still no leave to promise somebody who is away."""
    desk.worker("away")
    desk.absent("away", -10, 600)
    desk.worker("going", shift=(-60, 10))
    desk.absent("going", 0, 600)
    desk.job("missed", opens=-30, due=5)
    desk.job("far", north(100), due=20)
    desk.advance(11 * 60, fresh=True)
    for job_id in ("missed", "far"):
        for name in ("away", "going"):
            assert "absent" in preview(desk.engine, person(), job_id, name).barred
            with pytest.raises(Forbidden, match=r"by anybody: absent \("):
                desk.give(job_id, name)
        assert desk.look(job_id).state is JobState.OPEN


def test_an_offer_lies_clear_of_an_absence_that_only_the_real_drive_would_run_into(desk: Desk) -> None:
    desk.worker("ana")
    desk.absent("ana", 20, 60)
    desk.job("J1", north(16), due=300, lasts=10)
    assert offered_to(desk.assign("J1")) == "ana"
    [offer] = desk.engine.store.live_offers("main")
    assert (offer.promise.starts_ms, offer.promise.ends_ms) == (desk.at(76), desk.at(86))


def test_a_choice_is_promised_around_an_absence_and_after_it_where_the_job_is_late_anyhow(desk: Desk) -> None:
    desk.worker("ana")
    desk.absent("ana", 20, 60)
    desk.job("J1", north(16), due=300, lasts=10)
    done = desk.give("J1", "ana")
    assert done.overrules == ()
    [held] = desk.hand("ana").bookings
    assert (held.starts_ms, held.ends_ms) == (desk.at(76), desk.at(86))
    desk.worker("ben")
    desk.absent("ben", 0, 15)
    desk.job("J2", opens=-30, due=5)
    desk.advance(6 * 60, fresh=True)
    late = desk.give("J2", "ben")
    assert ([each.reason for each in late.overrules], late.late_ms) == (["late"], 10 * 60_000)


@pytest.mark.parametrize("opens", [0, 20])
def test_a_busy_worker_is_promised_after_the_booking_late_and_never_over_it(desk: Desk, opens: float) -> None:
    """Overlap is nothing to overrule: the promise lies clear of every booking and says how late that is."""
    desk.worker("ana", north(0))
    desk.job("held", opens=opens, due=30, lasts=100)
    desk.give("held", "ana")
    desk.job("J1", lasts=30, due=10)
    done = desk.give("J1", "ana")
    held, given = desk.hand("ana").bookings
    assert (held.job_id, given.job_id) == ("held", "J1")
    assert given.starts_ms == held.ends_ms
    assert done.late_ms == (opens + 100 - 10) * 60_000
    assert [each.reason for each in done.overrules] == ["late"]


# --- what the job is -------------------------------------------------------------------------------------------------


def test_an_override_is_a_leased_offer_of_manual_confidence(desk: Desk) -> None:
    """B126 and B064: the same path as any offer: offer row, attempt, expiry, audit with actor, reason and words."""
    desk.worker("ana", north(3))
    desk.job("J1")
    done = desk.give("J1", "ana", force=False)
    assert done.offer is not None
    assert (done.offer.promise.confidence, done.offer.made_by) == ("manual", "dora")
    assert done.offer.expires_ms == desk.now_ms + 20_000
    row = desk.engine.store.audit_of_job("main", "J1")[-1]
    assert (row.act, row.actor, row.role, row.reason) == ("override", "dora", "supervisor", WHY.reason)
    assert (row.words, row.offer_id) == (WHY.words, done.offer.id)
    desk.advance(20, fresh=True)
    assert desk.assign("J1").considered[0].verdict == "cooldown"


def test_force_accepts_on_the_workers_behalf(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.job("J1")
    done = desk.give("J1", "ana")
    assert done.job.state is JobState.ACCEPTED
    assert [each.job_id for each in desk.hand("ana").bookings] == ["J1"]
    assert desk.hand("ana").jobs_today == 1
    assert desk.acts()[-2:] == ["override", "accept"]


def test_while_an_offer_stands_it_has_to_be_withdrawn_first(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.worker("ben", north(3))
    desk.job("J1")
    offer = desk.give("J1", "ana", force=False).offer
    assert offer is not None
    with pytest.raises(Stale, match=f"withdraw offer {offer.id} first"):
        desk.give("J1", "ben")


def test_a_held_or_begun_job_is_released_or_reassigned_instead(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.worker("ben", north(3))
    desk.job("J1")
    desk.give("J1", "ana")
    with pytest.raises(Stale, match="ACCEPTED: release or reassign it"):
        desk.give("J1", "ben")
    desk.begin("J1", "ana")
    with pytest.raises(Stale, match="IN_PROGRESS"):
        desk.give("J1", "ben")


def test_a_choice_made_on_an_old_picture_is_refused(desk: Desk) -> None:
    desk.worker("ana", north(3))
    job = desk.job("J1")
    first = desk.give("J1", "ana", force=False).offer
    assert first is not None
    desk.decline(first)
    with pytest.raises(Stale, match="changed since it was shown: it is OPEN now"):
        override(desk.engine, person(), "J1", "ana", WHY, version=job.version)


def test_who_may_and_what_is_not_known(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.job("J1")
    with pytest.raises(Forbidden):
        override(desk.engine, person("ana", Role.WORKER), "J1", "ana", WHY)
    with pytest.raises(NotFound, match="worker nobody"):
        desk.give("J1", "nobody")
    with pytest.raises(NotFound, match="job J2"):
        desk.give("J2", "ana")


def test_the_booking_before_moves_the_departure(desk: Desk) -> None:
    """Chosen after a held job: origin and departure are the end of that booking, not where the worker is now."""
    desk.worker("ana", north(0))
    desk.job("first", north(10), lasts=20)
    desk.give("first", "ana")
    desk.job("J1", north(0), due=90, lasts=10)
    done = desk.give("J1", "ana", force=False)
    assert done.offer is not None
    assert done.offer.promise.arrival_ms - desk.at(40) in range(1001), "10 there, 20 work, 10 back"


def test_an_offer_that_stands_may_be_withdrawn_in_the_same_act_so_that_nobody_is_asked_in_between(found: Found) -> None:
    desk = found(auto=True)
    desk.worker("ana", north(3))
    desk.worker("ben", north(9))
    desk.job("J1")
    assert offered_to(desk.assign("J1")) == "ana"
    with pytest.raises(Stale, match="in the same act"):
        override(desk.engine, person(), "J1", "ben", WHY)
    done = override(desk.engine, person(), "J1", "ben", WHY, withdraw=True)
    assert done.offer is not None
    assert done.offer.worker_id == "ben"
    assert desk.hand("ana").live_offer_id is None
    assert desk.acts()[-2:] == ["withdraw", "override"]


@pytest.mark.parametrize("force", [False, True])
def test_whoever_holds_this_very_offer_may_be_given_the_job_in_its_place(desk: Desk, *, force: bool) -> None:
    """They said yes on the telephone, or want more time to look: it is no offer elsewhere."""
    desk.worker("ana", north(3))
    desk.job("J1")
    first = desk.assign("J1").offer
    assert first is not None
    [listed] = choices(desk.engine, "J1").workers
    assert (listed.verdict, listed.barred) == ("cooldown", "")
    assert preview(desk.engine, person(), "J1", "ana").barred == ""
    desk.advance(5)
    with pytest.raises(Stale, match=f"withdraw offer {first.id} first, or in the same act"):
        override(desk.engine, person(), "J1", "ana", WHY, force=force)
    done = override(desk.engine, person(), "J1", "ana", WHY, force=force, withdraw=True)
    assert [each.reason for each in done.overrules] == ["cooldown"]
    assert done.offer is not None
    assert (done.offer.worker_id, done.offer.expires_ms) == ("ana", desk.now_ms + 20_000)
    assert done.job.state is (JobState.ACCEPTED if force else JobState.OFFERED)
    assert desk.accept(first).outcome == "lost"
    assert desk.hand("ana").jobs_today == (1 if force else 0)
