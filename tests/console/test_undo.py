"""A slip can be taken back with one key for some seconds, where nothing has happened since; else it says why not."""

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select

from console import acts
from console.app import Console
from console.screens.desk import Desk
from engine.rules.nouns import JobState
from engine.verbs import answer
from tests.console.desks import NAMES, WHO, Still, campus, drive, keys, settle, shown, still, typed


@pytest.fixture
def app(tmp_path: Path) -> Console:
    campus(tmp_path / "site.db")
    return still(tmp_path / "site.db")


def job_of(app: Console, job_id: str) -> tuple[JobState, str | None]:
    assert isinstance(app.behind, Still)
    found = app.behind.engine.store.job("main", job_id)
    assert found is not None
    return found.state, found.worker_id


async def assigned(pilot: Pilot[int], desk: Desk, job_id: str) -> None:
    desk.board.put(job_id)
    await keys(pilot, "s")
    await settle(pilot)


def test_an_assignment_is_taken_back_and_the_audit_says_so(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await assigned(pilot, desk, "J-9")
        assert "U undoes it for 5 s" in shown(app)
        await keys(pilot, "U")
        await settle(pilot)
        assert job_of(app, "J-9")[0] is JobState.OPEN
        assert isinstance(app.behind, Still)
        newest = app.behind.engine.store.newest_audit("main", limit=1)[0]
        assert (newest.act, newest.reason, newest.words) == ("withdraw", "mistake", "taken back at once: assign J-9")

    drive(app, play)


def test_the_offer_to_undo_leaves_the_screen_with_its_grace_and_the_outcome_stays(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await assigned(pilot, desk, "J-9")
        desk.tick()
        assert "U undoes it for 5 s" in shown(app)
        app.behind.mono_s = lambda: 5.1
        desk.tick()
        await settle(pilot)
        assert "U undoes it" not in shown(app)
        assert "assign J-9: offered to" in shown(app)
        await keys(pilot, "z")
        await settle(pilot)
        desk.tick()
        await settle(pilot)
        assert "sorted by due" in shown(app), "what was said since stays"

    drive(app, play)


def test_after_the_grace_it_says_that_it_is_too_late(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await assigned(pilot, desk, "J-9")
        app.behind.mono_s = lambda: 5.1
        await keys(pilot, "U")
        await settle(pilot)
        assert "/offer J-9 was longer ago than 5 s" in shown(app)
        assert job_of(app, "J-9")[0] is JobState.OFFERED

    drive(app, play)


def test_what_was_answered_meanwhile_is_not_undone(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await assigned(pilot, desk, "J-9")
        assert isinstance(app.behind, Still)
        engine = app.behind.engine
        offer = next(each for each in engine.store.live_offers("main") if each.job_id == "J-9")
        answer.accept(engine, WHO, offer.id, offer.worker_id)
        await keys(pilot, "U")
        await settle(pilot)
        assert f"can no longer be undone: J-9 is ACCEPTED with {NAMES[int(offer.worker_id[2:]) - 1]} now" in shown(app)
        assert job_of(app, "J-9") == (JobState.ACCEPTED, offer.worker_id)

    drive(app, play)


def test_a_release_gives_the_job_back_to_the_same_worker(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        before = job_of(app, "J-1")
        desk.board.put("J-1")
        await keys(pilot, "l")
        await settle(pilot)
        app.screen.query_one("#code", Select).value = "mistake"
        app.screen.query_one("#words", Input).focus()
        await typed(pilot, "the wrong row")
        await keys(pilot, "ctrl+s")
        await settle(pilot)
        assert job_of(app, "J-1") == (JobState.OPEN, None)
        await keys(pilot, "U")
        await settle(pilot)
        assert job_of(app, "J-1") == before

    drive(app, play)


def test_a_cancellation_is_not_undone_and_says_so(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "U")
        await settle(pilot)
        assert "undo: nothing was done yet" in shown(app)
        desk.board.put("J-9")
        await keys(pilot, "slash", *'cancel mistake "a test of undo"', "enter")
        await settle(pilot)
        await keys(pilot, "U")
        await settle(pilot)
        assert "cannot be taken back by undo" in shown(app)

    drive(app, play)


def test_what_somebody_else_did_before_the_act_was_looked_at_again_is_not_offered_to_be_undone(
    app: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker accepts in the moment between the offer and the desk's own look at what it left."""
    assert isinstance(app.behind, Still)
    engine, assign = app.behind.engine, acts.assigning.assign

    def and_accepted(*asked: Any) -> Any:
        made = assign(*asked)
        assert made.offer is not None
        answer.accept(engine, WHO, made.offer.id, made.offer.worker_id)
        return made

    monkeypatch.setattr(acts.assigning, "assign", and_accepted)
    assert acts.assign(engine, WHO, "J-9").undo is None
    assert job_of(app, "J-9")[0] is JobState.ACCEPTED
    app.behind.close()
