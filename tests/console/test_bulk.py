"""One act on many jobs: a dry run first, honest counts, and an outcome for each row."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select

from console.app import Console
from console.screens.bulk import Bulk, BulkRows
from console.screens.desk import Desk
from engine.rules.nouns import JobState
from engine.verbs import revoke
from tests.console.desks import WHO, Still, campus, drive, keys, settle, shown, still, typed


@pytest.fixture
def app(tmp_path: Path) -> Console:
    campus(tmp_path / "site.db")
    return still(tmp_path / "site.db")


def state_of(app: Console, job_id: str) -> JobState:
    assert isinstance(app.behind, Still)
    found = app.behind.engine.store.job("main", job_id)
    assert found is not None
    return found.state


async def reasoned(pilot: Pilot[int], words: str) -> None:
    pilot.app.screen.query_one("#code", Select).value = "mistake"
    pilot.app.screen.query_one("#words", Input).focus()
    await settle(pilot)
    await typed(pilot, words)


async def marked(pilot: Pilot[int], desk: Desk, *ids: str) -> None:
    for each in ids:
        assert desk.board.put(each)
        await keys(pilot, "space")
    await settle(pilot)


def test_many_are_cancelled_after_a_dry_run_that_counts_only_those_that_can_be(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await marked(pilot, desk, "J-9", "J-10", "J-3")
        assert "3 marked" in shown(app)
        await keys(pilot, "c")
        await settle(pilot)
        assert isinstance(app.screen, Bulk)
        told = shown(app)
        assert "Cancel 2 jobs (1 of 3 marked left out)" in told
        assert "J-3 is done already" in told
        assert state_of(app, "J-9") is JobState.OPEN, "a dry run changes nothing"
        await reasoned(pilot, "the hall is shut")
        await keys(pilot, "ctrl+s")
        await settle(pilot)
        assert "2 applied" in shown(app)
        await keys(pilot, "escape")
        await settle(pilot)
        assert {state_of(app, each) for each in ("J-9", "J-10")} == {JobState.CANCELLED}
        assert "cancel 3 jobs: 1 left out, 2 applied" in shown(app)
        assert set(desk.board.marks) == {"J-3"}, "what was not done stays marked"
        assert isinstance(app.behind, Still)
        words = [each.words for each in app.behind.engine.store.newest_audit("main", limit=2)]
        assert sorted(words) == [
            "the hall is shut — /cancel J-10 mistake (2 of 2)", "the hall is shut — /cancel J-9 mistake (1 of 2)",
        ]  # fmt: skip

    drive(app, play)


def test_a_job_that_changed_since_the_dry_run_is_refused_alone_with_who_did_it(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await marked(pilot, desk, "J-9", "J-10")
        await keys(pilot, "c")
        await settle(pilot)
        assert isinstance(app.behind, Still)
        revoke.cancel(app.behind.engine, WHO, "J-10", revoke.reasoned("other", "another desk was faster"))
        await reasoned(pilot, "the hall is shut")
        await keys(pilot, "ctrl+s")
        await settle(pilot)
        rows = app.screen.query_one(BulkRows).rows
        assert (rows["J-9"].state, rows["J-10"].state) == ("applied", "refused")
        assert "it is CANCELLED now (cancel by ana)" in rows["J-10"].words

    drive(app, play)


def test_shift_and_arrows_mark_a_range_and_escape_unmarks(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        desk.board.put("J-11")
        for _ in range(3):
            desk.action_command("mark")
        assert len(desk.board.marks) == 3, "keys that come fast mark one row each"
        await keys(pilot, "escape")
        desk.board.put("J-9")
        at = desk.board.order.index("J-9")
        await keys(pilot, "shift+down", "shift+down")
        assert list(desk.board.marks) == desk.board.order[at : at + 3]
        assert shown(app).count("■") == 3
        await keys(pilot, "escape")
        await settle(pilot)
        assert desk.board.marks == {}
        assert desk.board.cursor == desk.board.order[at + 2]

    drive(app, play)


def test_assigning_many_wants_no_reason_and_leaving_the_dialog_changes_nothing(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await marked(pilot, desk, "J-9", "J-10")
        await keys(pilot, "s")
        await settle(pilot)
        assert "ctrl+s: Assign 2 jobs" in shown(app)
        await keys(pilot, "escape")
        await settle(pilot)
        assert {state_of(app, "J-9"), state_of(app, "J-10")} == {JobState.OPEN}
        await keys(pilot, "s", "ctrl+s")
        await settle(pilot)
        assert {state_of(app, "J-9"), state_of(app, "J-10")} == {JobState.OFFERED}

    drive(app, play)
