"""Who gets a job and why, end to end on a training site (SPEC 3)."""

from collections.abc import Callable

import pytest

from engine.verbs.assign import Outcome
from tests.desk import Desk, box, north, offered_to, ranking, said

Found = Callable[..., Desk]


# --- the worked case -------------------------------------------------------------------------------------------------


def worked_case(desk: Desk) -> None:
    for name, minutes, jobs in (("ana", 12, 4), ("ben", 18, 0), ("cem", 25, 1)):
        desk.worker(name, north(minutes))
        desk.worked(name, jobs)
    desk.job("J1", due=120)


def test_the_worked_case_goes_to_the_worker_18_minutes_away(desk: Desk) -> None:
    worked_case(desk)
    done = desk.assign("J1")
    assert done.outcome is Outcome.OFFERED
    assert offered_to(done) == "ben"
    assert [said(done.considered, name).eta_s for name in ("ana", "ben", "cem")] == [12 * 60, 18 * 60, 25 * 60]
    assert [said(done.considered, name).jobs_today for name in ("ana", "ben", "cem")] == [4, 0, 1]
    slack = [-0.25 * (120 - minutes) for minutes in (12, 18, 25)]
    assert [said(done.considered, name).score for name in ("ana", "ben", "cem")] == pytest.approx(
        [12 + 12 + slack[0], 18 + slack[1], 25 + 3 + slack[2]]
    )


def test_the_worked_case_without_fairness_goes_to_the_nearest(found: Found) -> None:
    desk = found(score={"w_fair": 0})
    worked_case(desk)
    assert offered_to(desk.assign("J1")) == "ana"


def test_an_idle_worker_8_minutes_farther_beats_one_with_four_jobs(desk: Desk) -> None:
    desk.worker("busy", north(5))
    desk.worked("busy", 4)
    desk.worker("idle", north(13))
    desk.job("J1", due=120)
    assert offered_to(desk.assign("J1")) == "idle"


def test_ties_go_by_score_then_jobs_today_then_id(desk: Desk) -> None:
    for name in ("cem", "ana", "ben"):
        desk.worker(name, north(6))
    desk.job("J1")
    assert ranking(desk.assign("J1").considered) == ["ana", "ben", "cem"]


# --- the filters: absent from the ranking, each with its reason and number -----------------------------------------------


def test_every_filter_keeps_its_worker_out_and_says_why_with_a_number(found: Found) -> None:
    """B077 and B054: the first failed filter of each, with what it was measured against."""
    desk = found(regions=(("main", None), ("other", None)))
    desk.area(box("centre", north(200), 0.1))
    desk.worker("stale", north(4), skills="lift")
    desk.advance(31)
    good = {"skills": "lift"}
    desk.worker("good", north(9), **good)
    desk.worker("unskilled", north(2))
    desk.worker("elsewhere", north(4), **good, home="other")
    desk.worker("away", north(4), **good)
    desk.absent("away", -10, 40)
    desk.worker("going", north(4), **good, shift=(-60, 20))
    desk.worker("outside", north(4), **good, area="centre")
    desk.worker("far", north(125), **good)
    desk.worker("lost", north(4), **good, fix=False)
    desk.worker("cooling", north(4), **good)
    desk.worker("overlapping", north(4), **good)
    desk.job("held", north(4), lasts=90)
    desk.give("held", "overlapping")
    desk.worker("asked", north(4), **good)
    desk.job("open", north(4))
    desk.give("open", "asked", force=False)
    job = desk.job("J1", skills="lift", due=60, lasts=30)
    first = desk.give("J1", "cooling", force=False)
    assert first.offer is not None
    desk.decline(first.offer)
    desk.advance(1)
    done = desk.assign(job.id)
    assert offered_to(done) == "good"
    assert ranking(done.considered) == ["good"]
    told = {each.worker: (each.verdict, each.detail) for each in done.considered if each.verdict != "ranked"}
    assert told["stale"] == ("stale", "fix 32 s > 30 s")
    assert told["unskilled"] == ("skills", "lacks lift")
    assert told["elsewhere"] == ("other_region", "belongs to other, the job to main")
    assert told["away"] == ("absent", "absent for 40 min from when they would leave")
    assert told["going"][0] == "off_shift"
    assert "after the shift" in told["going"][1]
    assert told["outside"] == ("outside_area", "the job lies outside Centre")
    assert told["cooling"] == ("cooldown", "had this job 1 s ago < 10 min")
    assert told["overlapping"][0] == "overlap"
    assert "held" in told["overlapping"][1]
    assert told["asked"][0] == "offered_elsewhere"
    assert told["far"][0] == "late"
    assert any(figure.isdigit() for figure in told["far"][1])


def test_an_unskilled_worker_is_never_scored(desk: Desk) -> None:
    desk.worker("near", north(1))
    desk.worker("able", north(30), skills="lift")
    desk.job("J1", skills="lift")
    done = desk.assign("J1")
    assert offered_to(done) == "able"
    assert said(done.considered, "near").score is None
