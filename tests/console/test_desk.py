"""What a dispatcher does at the desk, key by key, on a training site whose clock stands still."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from console.app import Console
from console.behind import Behind
from console.commands import COMMANDS, by_id
from console.screens.deeds import DEEDS
from console.screens.desk import Desk
from console.screens.looks import LOOKS
from console.screens.openers import OPENERS
from console.screens.override import Override, Workers
from console.screens.reason import WithReason
from console.viewmodels import detail
from console.viewmodels.rows import Detail
from engine import wiring
from engine.records import Why
from engine.rules.nouns import JobState, Role
from engine.verbs import assign, override
from engine.verbs.site import advance
from tests.console.desks import (
    MINUTE_MS,
    NAMES,
    NOON_MS,
    WHO,
    Still,
    campus,
    drive,
    job,
    keys,
    settle,
    shown,
    still,
    take_in,
    typed,
)
from tests.console.test_cursor import row


@pytest.fixture
def app(tmp_path: Path) -> Console:
    campus(tmp_path / "site.db")
    return still(tmp_path / "site.db")


def state_of(app: Console, job_id: str) -> JobState:
    assert isinstance(app.behind, Still)
    found = app.behind.engine.store.job("main", job_id)
    assert found is not None
    return found.state


async def on(pilot: Pilot[int], desk: Desk, job_id: str) -> None:
    assert desk.board.put(job_id)
    await settle(pilot)


async def reason(pilot: Pilot[int], words: str) -> None:
    """From the opening focus to a reason and words."""
    from textual.widgets import Input, Select

    screen = pilot.app.screen
    screen.query_one("#code", Select).value = "local_knowledge"
    screen.query_one("#words", Input).focus()
    await settle(pilot)
    await typed(pilot, words)


def test_every_command_has_its_deed_and_a_key_of_its_own() -> None:
    assert {each.id for each in COMMANDS} == {*DEEDS, *LOOKS, *OPENERS}
    every = [key for each in COMMANDS for key in each.keys]
    assert len(every) == len(set(every))
    assert all(each.tooltip for each in COMMANDS)


def test_enter_assigns_the_job_under_the_cursor(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await on(pilot, desk, "J-9")
        await keys(pilot, "enter")
        await settle(pilot)
        assert state_of(app, "J-9") is JobState.OFFERED
        assert "assign J-9: offered to" in shown(app)
        assert "(s assign)" in shown(app)

    drive(app, play)


def test_a_command_that_is_not_allowed_says_why_and_does_nothing(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await on(pilot, desk, "J-1")
        await keys(pilot, "o")
        await settle(pilot)
        assert isinstance(app.screen, Desk)
        assert "release (l) or reassign (r) it" in shown(app)

    drive(app, play)


def test_an_override_opens_on_leaving_and_is_applied_by_another_key(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await on(pilot, desk, "J-9")
        await keys(pilot, "o")
        await settle(pilot)
        assert isinstance(app.screen, Override)
        assert app.focused is not None
        assert app.focused.id == "cancel"
        await keys(pilot, "ctrl+s")
        assert isinstance(app.screen, Override), "nothing is applied without a reason"
        app.screen.query_one(Workers).put("W-4")
        await settle(pilot)
        await reason(pilot, "phoned her up")
        assert "ctrl+s applies" in shown(app)
        await keys(pilot, "ctrl+s")
        await settle(pilot)
        assert state_of(app, "J-9") is JobState.OFFERED
        snap = app.behind.snap
        assert snap is not None
        assert snap.jobs["J-9"].worker_id == "W-4"

    drive(app, play)


def test_enter_in_the_override_dialog_leaves_it(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await on(pilot, desk, "J-9")
        await keys(pilot, "o")
        await settle(pilot)
        await keys(pilot, "enter")
        await settle(pilot)
        assert isinstance(app.screen, Desk)
        assert state_of(app, "J-9") is JobState.OPEN

    drive(app, play)


def test_an_override_of_a_job_that_changed_meanwhile_is_refused_with_the_new_state(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await on(pilot, desk, "J-9")
        await keys(pilot, "o")
        await settle(pilot)
        await reason(pilot, "phoned her twice")
        assert isinstance(app.behind, Still)
        override.override(app.behind.engine, WHO, "J-9", "W-2", Why(reason="other", words="another desk was faster"))
        await keys(pilot, "ctrl+s")
        await settle(pilot)
        assert "changed since it was shown: it is OFFERED now" in shown(app)
        snap = app.behind.snap
        assert snap is not None
        assert snap.jobs["J-9"].worker_id == "W-2"

    drive(app, play)


def test_what_can_never_be_overruled_is_shown_with_its_reason_and_not_applied(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await on(pilot, desk, "J-4")
        await keys(pilot, "o")
        await settle(pilot)
        assert "never: skills: lacks hvac" in shown(app)
        await reason(pilot, "she can do it")
        await keys(pilot, "ctrl+s")
        await settle(pilot)
        assert isinstance(app.screen, Override)
        assert state_of(app, "J-4") is JobState.UNASSIGNED_ALERT

    drive(app, play)


def test_an_alert_is_acknowledged_from_its_pane(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "1")
        alert = desk.alert
        assert alert is not None
        await keys(pilot, "a")
        await settle(pilot)
        assert desk.query_one("#alerts")
        assert desk.alert is not None
        assert (desk.alert.id, desk.alert.acked_by) == (alert.id, "ana")

    drive(app, play)


def test_enter_in_alerts_goes_to_the_job_and_changes_nothing(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "1", "j")
        alert = desk.alert
        assert alert is not None
        await keys(pilot, "enter")
        await settle(pilot)
        assert desk.pane == "jobs"
        assert desk.job is not None
        assert desk.job.id == alert.job_id
        assert state_of(app, desk.job.id) is JobState.UNASSIGNED_ALERT

    drive(app, play)


@pytest.mark.parametrize(
    ("key", "job_id", "after"),
    [("x", "J-7", JobState.OPEN), ("l", "J-1", JobState.OPEN), ("c", "J-9", JobState.CANCELLED)],
)
def test_taking_back_asks_for_a_reason(app: Console, key: str, job_id: str, after: JobState) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        before = state_of(app, job_id)
        await on(pilot, desk, job_id)
        await keys(pilot, key)
        await settle(pilot)
        assert isinstance(app.screen, WithReason)
        await reason(pilot, "short")
        await keys(pilot, "ctrl+s")
        assert state_of(app, job_id) is before, "ten letters are wanted"
        await typed(pilot, " no more")
        await keys(pilot, "ctrl+s")
        await settle(pilot)
        assert state_of(app, job_id) is after

    drive(app, play)


def test_the_dialog_of_a_reason_tells_the_keys_that_choose_one_and_they_do(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await on(pilot, desk, "J-1")
        await keys(pilot, "l")
        await settle(pilot)
        assert "tab to the reason: enter, ↑ ↓, enter · tab to the words" in shown(app)
        await keys(pilot, "tab", "enter")
        await settle(pilot)
        await keys(pilot, "down", "enter")
        await settle(pilot)
        await keys(pilot, "tab")
        await typed(pilot, "the car broke down")
        await settle(pilot)
        assert "wanted" not in shown(app)
        await keys(pilot, "ctrl+s")
        await settle(pilot)
        assert state_of(app, "J-1") is JobState.OPEN

    drive(app, play)


def test_reassign_gives_the_job_to_another(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await on(pilot, desk, "J-1")
        was = desk.job
        assert was is not None
        await keys(pilot, "r")
        await settle(pilot)
        await reason(pilot, "car broke down")
        await keys(pilot, "ctrl+s")
        await settle(pilot)
        now = desk.job
        assert now is not None
        assert (now.id, now.state in ("OPEN", "OFFERED")) == ("J-1", True)
        assert now.held_offer_id is None

    drive(app, play)


def test_why_tells_of_every_worker_looked_at(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await on(pilot, desk, "J-4")
        await keys(pilot, "w")
        await settle(pilot)
        told = shown(app)
        assert "As of the decision, 13:00:00: alert" in told
        assert told.count("lacks hvac") >= 6
        await keys(pilot, "escape")
        assert isinstance(app.screen, Desk)

    drive(app, play)


def test_help_is_made_from_the_commands_and_says_why_not_now(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await on(pilot, desk, "J-9")
        await keys(pilot, "question_mark")
        await settle(pilot)
        told = shown(app)
        assert by_id("override").tooltip in told
        assert "not now: J-9 is open: nobody holds it" in told

    drive(app, play, size=(120, 50))


def test_the_filter_takes_any_letters_literally_and_esc_shows_all(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        every = len(desk.board.order)
        await keys(pilot, "f", "[", "/")
        await settle(pilot)
        assert desk.board.order == [desk.board.cursor]
        await keys(pilot, "escape")
        await settle(pilot)
        assert len(desk.board.order) == every
        await keys(pilot, "u")
        await settle(pilot)
        assert {desk.board.rows[each].state for each in desk.board.order} <= {"OPEN", "UNASSIGNED_ALERT"}

    drive(app, play)


def test_leaving_asks_and_enter_stays(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "q")
        await settle(pilot)
        await keys(pilot, "enter")
        await settle(pilot)
        assert isinstance(app.screen, Desk)
        await keys(pilot, "q")
        await settle(pilot)
        await keys(pilot, "y")
        await settle(pilot)
        assert app.return_code == 0

    drive(app, play)


@pytest.mark.parametrize("size", [(40, 12), (60, 16), (80, 24), (109, 30), (110, 30), (200, 50)])
def test_every_size_keeps_mode_alert_count_and_clock_in_sight(app: Console, size: tuple[int, int]) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        for pane in ("1", "2", "4", "5"):
            await keys(pilot, pane)
            app.look_again()
            await settle(pilot)
            top = shown(app).splitlines()[0]
            assert "TRAINING" in top
            assert "▲2 alerts" in top
            assert "13:00:06 CET" in top
        await keys(pilot, "o", "escape", "w", "escape", "question_mark", "escape")

    drive(app, play, size=size)


def test_a_storm_of_sizes_does_no_harm(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        for width, height in ((40, 10), (200, 50), (41, 12), (110, 24), (20, 5), (80, 24)):
            await pilot.resize_terminal(width, height)
            await keys(pilot, "j", "tab")
        app.look_again()
        await settle(pilot)
        assert desk.board.order

    drive(app, play)


def test_a_read_only_desk_says_so_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campus(tmp_path / "site.db")
    monkeypatch.setattr("os.access", lambda *_: False)  # a file's mode means nothing to root, who may run this
    app = still(tmp_path / "site.db")

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        assert "READ-ONLY" in shown(app)
        await keys(pilot, "s")
        assert "this desk is read-only" in shown(app)

    drive(app, play)


def test_trouble_behind_is_a_banner_that_names_the_log(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        app.behind.trouble = "round expire failed: [/] disk"
        desk.news()
        await settle(pilot)
        told = shown(app)
        assert "× round expire failed: [/] disk" in told
        assert "site.db.log" in "".join(told.split())
        assert "STALE" not in told  # what is read is fresh: the rounds failed

    drive(app, play)


def test_B051_a_job_taken_at_another_desk_is_answered_with_the_offer_that_stands(app: Console, tmp_path: Path) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await on(pilot, desk, "J-9")
        other = wiring.open_engine(tmp_path / "site.db", new_id=wiring.seeded_ids(99))
        made = assign.assign(other, WHO, "J-9")
        wiring.close(other)
        assert made.offer is not None
        await keys(pilot, "s")
        await settle(pilot)
        assert f"the offer to {NAMES[int(made.offer.worker_id[2:]) - 1]} stands" in shown(app)

    drive(app, play)


def test_a_new_job_appears_and_the_cursor_does_not_move(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await on(pilot, desk, "J-9")
        assert isinstance(app.behind, Still)
        take_in(app.behind.engine, job("J-99", due_min=20))
        app.look_again()
        await settle(pilot)
        assert "J-99" in desk.board.order
        assert desk.board.cursor == "J-9"

    drive(app, play)


def test_the_desk_acts_as_a_named_person(app: Console) -> None:
    assert app.behind.snap is not None
    assert (app.behind.snap.site.actor, app.behind.snap.site.role) == ("ana", str(Role.TRAINER))


def test_pane_4_and_why_tell_who_accepted_and_the_overrides_words_and_what_it_overruled(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        assert isinstance(app.behind, Still)
        advance(app.behind.engine, NOON_MS + 50_000)
        why = Why(reason="local_knowledge", words="she is next door already")
        override.override(app.behind.engine, WHO, "J-9", "W-6", why, force=True)
        app.look_again()
        await on(pilot, desk, "J-9")
        app.look_again()
        await settle(pilot)
        told = shown(app)
        assert "Fatima Haddad accepted by ana on their behalf" in told
        assert "override by ana" in told
        assert "local knowledge: she is next door already" in told
        assert "stale: fix 50 s > 30 s" in told
        await keys(pilot, "w")
        await settle(pilot)
        told = shown(app)
        assert "Override to Fatima Haddad W-6, accepted on their behalf" in told
        assert "she is next door already" in told
        assert "overrules stale: fix 50 s > 30 s" in told
        await keys(pilot, "escape")
        await on(pilot, desk, "J-1")
        app.look_again()
        await settle(pilot)
        assert "accepted by ana on their behalf" in shown(app)

    drive(app, play, size=(160, 50))


def test_the_list_and_the_header_count_the_same_live_jobs(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        told = shown(app)
        assert "jobs 28 " in told
        assert "28 live, 1 ended" in told

    drive(app, play, size=(200, 50))


def test_a_job_in_progress_tells_when_it_will_be_complete_or_should_have_been() -> None:
    begun = replace(row(1), state="IN_PROGRESS", worker="Ana")
    for late_min, words in ((-12, "complete in 12m, at 13:12"), (5, "should have been complete at 12:55, 5m ago")):
        told = Detail(job_id=begun.id, attempts=(), decision=None, completes_ms=NOON_MS - late_min * MINUTE_MS)
        said = ["".join(text for text, _ in line) for line in detail.lines(begun, told, NOON_MS, "Europe/Rome")]
        assert words in said


def test_the_desk_acts_under_the_name_that_the_commands_act_under(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campus(tmp_path / "site.db")
    monkeypatch.setenv("CALLBOARD_ACTOR", "nina")
    behind = Behind(tmp_path / "site.db", rounds=False)
    behind.open()
    behind.read()
    assert behind.snap is not None
    assert behind.snap.site.actor == "nina"
    behind.close()


def test_an_assign_that_bound_nobody_bears_no_check_mark(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await on(pilot, desk, "J-5")
        await keys(pilot, "s")
        await settle(pilot)
        assert "! assign J-5: no eligible worker" in shown(app)

    drive(app, play)
