"""Jobs and workers come in: offered at once when on-demand, once a key, and never half (SPEC 3, 5)."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from engine.imports.parsed import Parsed
from engine.ports import Forbidden, Invalid
from engine.rules.nouns import Interval, JobState, NewJob, NewWorker, Role
from engine.verbs import intake, roster
from tests.desk import Desk, box, north, person

Found = Callable[..., Desk]


def parsed(*jobs: NewJob) -> Parsed[NewJob]:
    return Parsed(items=tuple(enumerate(jobs, 2)), rejected=(), warnings=())


def test_a_job_whose_window_opens_within_the_horizon_is_offered_at_intake(found: Found) -> None:
    desk = found(auto=True)
    desk.worker("ana", north(3))
    desk.worker("ben", north(3))
    assert desk.job("now", opens=60, due=120).state is JobState.OFFERED
    assert desk.job("later", opens=61, due=120).state is JobState.OPEN
    assert desk.engine.store.decisions("main", "later", limit=5) == ()


def test_without_auto_offer_nothing_is_offered_by_itself(desk: Desk) -> None:
    desk.worker("ana", north(3))
    assert desk.job("J1").state is JobState.OPEN


def test_imported_jobs_are_offered_least_slack_first_then_priority(found: Found) -> None:
    """One worker, three jobs: the one due first is offered, of two the more urgent, whatever the order of the rows."""
    desk = found(auto=True)
    desk.takeover()
    desk.worker("ana", north(3))
    rows = parsed(
        desk.new_job("late", due=50), desk.new_job("soon", due=40), desk.new_job("urgent", due=40, priority=3)
    )
    intake.import_jobs(desk.engine, person(), rows)
    for expected in ("urgent", "soon", "late"):
        [offer] = desk.engine.store.live_offers("main")
        assert offer.job_id == expected
        desk.decline(offer)
        desk.ring("retry")


def test_B061_a_key_whose_first_attempt_wrote_nothing_may_be_used_again(desk: Desk) -> None:
    """B061: "ok" is said only of a job that is there."""
    bad = desk.new_job("J1", due=-5, opens=0)
    with pytest.raises(Invalid):
        intake.create_job(desk.engine, person(), bad, key="k1")
    made = intake.create_job(desk.engine, person(), desk.new_job("J1"), key="k1")
    assert not made.replayed
    assert desk.look("J1").state is JobState.OPEN


def test_B061_a_key_whose_job_was_refused_by_the_database_leaves_no_trace(desk: Desk) -> None:
    desk.job("J1")
    with pytest.raises(Invalid, match="there is a job of that name already"):
        intake.create_job(desk.engine, person(), desk.new_job("J1", due=70), key="k1")
    assert desk.engine.store.job_key("main", "k1") is None
    made = intake.create_job(desk.engine, person(), desk.new_job("J2"), key="k1")
    assert made.job.id == "J2"


def test_the_same_key_and_body_answers_the_same_job_and_makes_no_second(desk: Desk) -> None:
    new = desk.new_job("")
    first = intake.create_job(desk.engine, person(), new, key="k1")
    again = intake.create_job(desk.engine, person(), new, key="k1")
    assert (again.job.id, again.replayed) == (first.job.id, True)
    assert len(desk.engine.store.jobs("main")) == 1


def test_B062_the_same_key_with_another_body_is_refused_and_names_the_job(desk: Desk) -> None:
    intake.create_job(desk.engine, person(), desk.new_job("J1"), key="k1")
    with pytest.raises(intake.KeyReused, match=r"k1.*J1.*another body"):
        intake.create_job(desk.engine, person(), desk.new_job("J1", due=61), key="k1")
    assert desk.look("J1").due_by_ms == desk.at(60)


def test_a_refused_job_names_the_field_the_value_and_the_rule(desk: Desk) -> None:
    for fields, told in (
        ({"lasts": 0}, "duration 0 ms: more than 0"),
        ({"opens": 10, "due": 5}, "due_by .* at or after not_before"),
        ({"priority": 6}, "priority 6: 1 to 5"),
    ):
        with pytest.raises(Invalid, match=told):
            intake.create_job(desk.engine, person(), desk.new_job("J1", **fields))  # type: ignore[arg-type]
    assert desk.engine.store.jobs("main") == ()


def test_a_worker_may_not_create_jobs(desk: Desk) -> None:
    with pytest.raises(Forbidden):
        intake.create_job(desk.engine, person("ana", Role.WORKER), desk.new_job("J1"))


def test_a_job_belongs_to_the_region_whose_area_holds_it(found: Found) -> None:
    desk = found(regions=(("main", None), ("hills", box("hills", north(200), 0.1))))
    assert desk.job("J1").region == "main"
    assert desk.job("J2", north(200)).region == "hills"


def test_B109_the_same_rows_again_change_nothing_and_say_so(desk: Desk) -> None:
    rows = parsed(desk.new_job("J1"), desk.new_job("J2"))
    first = intake.import_jobs(desk.engine, person(), rows)
    version = desk.look("J1").version
    again = intake.import_jobs(desk.engine, person(), rows)
    assert (first.new, first.unchanged) == (2, 0)
    assert (again.new, again.changed, again.unchanged, again.rejected) == (0, 0, 2, ())
    assert desk.look("J1").version == version


def test_B067_a_held_job_is_not_moved_by_an_import(desk: Desk) -> None:
    """B067: tomorrow outside the shift is refused; an explicit release comes first and frees the old interval."""
    desk.worker("ana", north(3))
    desk.job("J1")
    desk.give("J1", "ana")
    done = intake.import_jobs(desk.engine, person(), parsed(desk.new_job("J1", opens=1440, due=1500)))
    [refused] = done.rejected
    assert "ACCEPTED by ana" in refused.rule
    assert desk.look("J1").due_by_ms == desk.at(60)
    assert [each.job_id for each in desk.hand("ana").bookings] == ["J1"]


def test_the_notes_of_a_held_job_change_by_an_import_and_nothing_else_does(desk: Desk) -> None:
    """No rule reads them, so nobody has to release the job first; with another field in the row it is refused whole."""
    desk.worker("ana", north(3))
    desk.job("J1")
    desk.give("J1", "ana")
    noted = replace(desk.new_job("J1"), notes="ring twice", attachments='{"code":"7"}')
    done = intake.import_jobs(desk.engine, person(), parsed(noted))
    assert (done.changed, done.changes, done.rejected) == (1, ("J1: notes, attachments",), ())
    job = desk.look("J1")
    assert (job.state, job.notes, job.attachments) == (JobState.ACCEPTED, "ring twice", '{"code":"7"}')
    assert intake.import_jobs(desk.engine, person(), parsed(noted)).unchanged == 1
    moved = replace(noted, notes="no", due_by_ms=desk.at(90))
    [refused] = intake.import_jobs(desk.engine, person(), parsed(moved)).rejected
    assert "ACCEPTED by ana" in refused.rule
    assert desk.look("J1").notes == "ring twice"


def test_what_a_file_has_no_column_for_stays_as_it_is(desk: Desk) -> None:
    new = replace(desk.new_job("J1", priority=3), notes="ring twice", address="Hall 2", attachments='{"code":"7"}')
    intake.create_job(desk.engine, person(), new)
    silent = replace(desk.new_job("J1", due=90), unsaid=frozenset({"notes", "address", "priority", "attachments"}))
    assert intake.import_jobs(desk.engine, person(), parsed(silent)).changes == ("J1: due_by_ms",)
    job = desk.look("J1")
    assert (job.due_by_ms, job.priority, job.notes, job.address, job.attachments) == (
        desk.at(90), 3, "ring twice", "Hall 2", '{"code":"7"}',
    )  # fmt: skip


def test_B074_moving_the_window_keeps_the_duration_and_shows_in_the_history(desk: Desk) -> None:
    desk.job("J1", opens=0, due=60, lasts=45)
    done = intake.import_jobs(desk.engine, person(), parsed(desk.new_job("J1", opens=30, due=90, lasts=45)))
    assert done.changed == 1
    job = desk.look("J1")
    assert (job.not_before_ms, job.due_by_ms, job.duration_ms) == (desk.at(30), desk.at(90), 45 * 60_000)
    assert desk.acts()[-1] == "amend job"


def test_a_dry_run_writes_nothing_and_offers_nothing(found: Found) -> None:
    desk = found(auto=True)
    desk.worker("ana", north(3))
    done = intake.import_jobs(desk.engine, person(), parsed(desk.new_job("J1")), dry_run=True)
    assert (done.new, done.changes) == (
        1, ("J1: new, 2027-01-15T09:00:00.000+01:00 to 2027-01-15T10:00:00.000+01:00",),
    )  # fmt: skip
    assert desk.engine.store.jobs("main") == ()


def test_all_or_nothing_lands_nothing_where_one_row_is_refused(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.job("held")
    desk.give("held", "ana")
    rows = parsed(desk.new_job("J1"), desk.new_job("held", due=90))
    done = intake.import_jobs(desk.engine, person(), rows, all_or_nothing=True)
    assert (done.new, len(done.rejected)) == (0, 1)
    assert [job.id for job in desk.engine.store.jobs("main")] == ["held"]


def test_who_left_comes_back_with_the_new_shift_alone_and_in_their_region(found: Found) -> None:
    """The shifts that were coming when they left are not theirs any more; what was worked stays in the reports."""
    desk = found(regions=(("main", None), ("hills", box("hills", north(200), 0.1))))
    desk.worker("ana", north(3))
    roster.shift(desk.engine, person(), "ana", Interval(starts_ms=desk.at(-300), ends_ms=desk.at(-200)))
    roster.shift(desk.engine, person(), "ana", Interval(starts_ms=desk.at(1440), ends_ms=desk.at(1900)))
    roster.leave(desk.engine, person(), "ana")
    elsewhere = staff("ana", desk.at(60), desk.at(600), region="hills")
    [refused] = intake.import_workers(desk.engine, person(), elsewhere).rejected
    assert "belongs to main" in refused.rule
    done = intake.import_workers(desk.engine, person(), staff("ana", desk.at(60), desk.at(600)))
    assert (done.changed, done.changes) == (1, ("ana: back",))
    spans = [(each.starts_ms, each.ends_ms) for each in desk.hand("ana").shifts if each.ends_ms > desk.at(0)]
    assert spans == [(desk.at(60), desk.at(600))]
    assert intake.import_workers(desk.engine, person(), staff("ana", desk.at(60), desk.at(600))).unchanged == 1


def staff(worker: str, starts_ms: int, ends_ms: int, region: str | None = None) -> Parsed[NewWorker]:
    new = NewWorker(ref=worker, name=worker.title(), skills=frozenset(), home=north(3), shift_starts_ms=starts_ms,
                    shift_ends_ms=ends_ms, region=region)  # fmt: skip
    return Parsed(items=((2, new),), rejected=(), warnings=())


def test_B127_the_address_is_kept_as_it_was_typed(desk: Desk) -> None:
    """B127: what was typed and where it lies are two things; neither corrects the other."""
    new = replace(desk.new_job("J1"), address="  12 Wrong Street, Nowhere ")
    assert intake.create_job(desk.engine, person(), new).job.address == "  12 Wrong Street, Nowhere "
    assert desk.look("J1").place == new.place


def test_a_lapsed_offer_bars_no_import_of_its_job_or_its_worker(desk: Desk) -> None:
    desk.worker("ana", north(3))
    desk.job("J1", due=200)
    desk.give("J1", "ana", force=False)
    changed = replace(desk.new_job("J1", due=200), priority=4)
    job_row: Parsed[NewJob] = Parsed(items=((1, changed),), rejected=(), warnings=())
    assert intake.import_jobs(desk.engine, person(), job_row).rejected, "its offer stands"
    desk.advance(20, fresh=True)
    assert intake.import_jobs(desk.engine, person(), job_row).rejected == ()
    assert (desk.look("J1").state, desk.look("J1").priority) == (JobState.OPEN, 4)
