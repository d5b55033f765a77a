"""The trainer's panel over the desk of the demo: what befalls the town, and the desk that shows it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

import run
from console.app import Console
from console.panel_commands import FAULT_KEYS
from console.screens.desk import Desk
from console.screens.panel import Cast, Panel
from console.screens.scenarios import Scenarios
from engine.rules import alerts as rules
from fixtures.demo import Demo, found
from fixtures.faults import FAULTS
from tests.console.desks import campus, keys, settle, shown, still
from tests.console.stages import NOON_MS, Staged, copied

Play = Callable[[Pilot[int], Console, Demo], Awaitable[None]]


@pytest.fixture(scope="module")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return found(tmp_path_factory.mktemp("panel"), seed=2, now_ms=NOON_MS)


@pytest.fixture
def demo(founded: Path, tmp_path: Path) -> Demo:
    return Demo(copied(founded, tmp_path), seed=2, speed=0.0, said=lambda _: None)


def drive(demo: Demo, play: Play, size: tuple[int, int] = (120, 36)) -> None:
    behind = Staged(demo)
    app = Console(behind, ticks=False, room=run.rehearsal_room())

    async def go() -> None:
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            app.look_again()
            await keys(pilot, "P")
            await settle(pilot)
            await play(pilot, app, demo)

    try:
        asyncio.run(go())
    finally:
        behind.close()


async def until(app: Console, pilot: Pilot[int], words: str, limit_s: float = 15) -> None:
    """The desk says it. The town's thread runs by the wall clock here."""
    end_s = time.monotonic() + limit_s
    while words not in shown(app):
        assert time.monotonic() < end_s, shown(app)
        await asyncio.sleep(0.05)
        app.look_again()
        await settle(pilot)


def test_a_key_before_the_desk_has_opened_does_not_say_that_this_is_no_demo(demo: Demo) -> None:
    behind = Staged(demo)
    app = Console(behind, ticks=False, room=run.rehearsal_room())

    async def go() -> None:
        async with app.run_test(size=(120, 36)) as pilot:
            await settle(pilot)
            opened, behind.snap = behind.snap, None
            for key in "Pt":
                await keys(pilot, key)
                assert isinstance(app.screen, Desk)
                assert "the database is not open yet" in shown(app)
            behind.snap = opened
            app.look_again()
            await settle(pilot)
            assert "not open yet" not in shown(app)

    try:
        asyncio.run(go())
    finally:
        behind.close()


def test_every_fault_has_a_key_of_its_own() -> None:
    assert set(FAULT_KEYS) == {each.name for each in FAULTS}
    assert len(set(FAULT_KEYS.values())) == len(FAULTS)


def test_the_panel_shows_seed_pace_people_and_what_can_befall(demo: Demo) -> None:
    async def play(pilot: Pilot[int], app: Console, demo: Demo) -> None:
        assert isinstance(app.screen, Panel)
        told = shown(app)
        assert "seed 2" in told
        assert "[stands]" in told
        assert "(r router dies)" in told
        assert "p dispatcher paused" in told
        await keys(pilot, "r")
        await settle(pilot)
        assert "has no router" in shown(app)
        await keys(pilot, "escape")
        assert isinstance(app.screen, Desk)

    drive(demo, play)


def test_a_paused_dispatcher_is_seen_on_the_desk_as_overtaken_and_then_fenced(demo: Demo) -> None:
    async def play(pilot: Pilot[int], app: Console, demo: Demo) -> None:
        await keys(pilot, "p", "2")
        assert demo.speed == 10.0
        await until(app, pilot, "auto elsewhere")
        await keys(pilot, "w")
        await until(app, pilot, "fenced: another dispatcher holds the region")
        await keys(pilot, "0", "b")
        await until(app, pilot, "auto here")

    drive(demo, play, size=(160, 50))


def test_a_step_of_the_clock_and_a_lost_index_are_alerts_on_the_desk(demo: Demo) -> None:
    async def play(pilot: Pilot[int], app: Console, demo: Demo) -> None:
        await keys(pilot, "i")
        await until(app, pilot, "INDEX")
        await keys(pilot, "2", "c")
        await until(app, pilot, "the clock stepped by +600 s")
        end_s = time.monotonic() + 15
        while rules.INDEX_REBUILDING in {each.kind for each in app.behind.snap.alerts}:  # type: ignore[union-attr]
            assert time.monotonic() < end_s
            await asyncio.sleep(0.05)
            app.look_again()

    drive(demo, play, size=(160, 50))


def test_what_befalls_a_worker_befalls_the_one_under_the_cursor(demo: Demo) -> None:
    async def play(pilot: Pilot[int], app: Console, demo: Demo) -> None:
        cast = app.screen.query_one(Cast)
        await keys(pilot, "j")
        chosen = cast.cursor
        await keys(pilot, "l")
        await until(app, pilot, "a fix of 60 s ago came")
        names = dict(demo.workers())
        assert " ".join(names[chosen or ""].split()[1:3]) in shown(app)

    drive(demo, play)


def test_from_the_desk_of_a_training_site_the_room_opens_and_only_the_demo_has_a_panel(tmp_path: Path) -> None:
    campus(tmp_path / "site.db")
    app = still(tmp_path / "site.db")
    app.room = run.rehearsal_room()

    async def go() -> None:
        async with app.run_test(size=(120, 36)) as pilot:
            await settle(pilot)
            app.look_again()
            await keys(pilot, "P")
            assert "only on the demo site" in shown(app)
            await keys(pilot, "t")
            await settle(pilot)
            assert isinstance(app.screen, Scenarios)
            await keys(pilot, "enter", "full_stop")
            assert "step 1" in shown(app)
            await keys(pilot, "escape", "escape")
            assert isinstance(app.screen, Desk)

    asyncio.run(go())
    app.behind.close()


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (160, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_each_fault_is_explained_before_it_is_done_at_any_size(demo: Demo, size: tuple[int, int]) -> None:
    async def play(pilot: Pilot[int], app: Console, demo: Demo) -> None:
        before = app.behind.snap
        for at, each in enumerate(FAULTS):
            await keys(pilot, "right" if at % 2 else "question_mark")
            await settle(pilot)
            told = " ".join(shown(app).replace("┃", " ").split())
            assert f"{FAULT_KEYS[each.name]} {each.title}: " in told
            wanted = demo.refusals().get(each.name)
            words = f"not now: {wanted}" if wanted else each.shows
            assert words in told or (size == (40, 12) and words[:20] in told)
            assert "▸" in told
        await keys(pilot, "left")
        await settle(pilot)
        assert f"{FAULT_KEYS[FAULTS[-2].name]} {FAULTS[-2].title}" in shown(app)
        app.behind.read()
        assert app.behind.snap == before  # nothing was done

    drive(demo, play, size)


def test_why_a_replay_may_differ_stands_in_the_panel_when_it_is_opened(demo: Demo) -> None:
    demo.warning = "Not played again: 1 act of a person at the desk"

    async def play(pilot: Pilot[int], app: Console, demo: Demo) -> None:
        assert demo.warning in shown(app)

    drive(demo, play)


def test_whom_it_befell_is_still_chosen_when_the_panel_was_closed_for_a_look(demo: Demo) -> None:
    async def play(pilot: Pilot[int], app: Console, demo: Demo) -> None:
        await keys(pilot, "j", "j", "n")
        await settle(pilot)
        chosen = app.screen.query_one(Cast).cursor
        await keys(pilot, "escape", "P")
        await settle(pilot)
        assert app.screen.query_one(Cast).cursor == chosen
        assert chosen != demo.workers()[0][0]

    drive(demo, play)


def test_offers_above_the_window_are_counted_on_its_border(demo: Demo) -> None:
    async def play(pilot: Pilot[int], app: Console, demo: Demo) -> None:
        cast = app.screen.query_one(Cast)
        await keys(pilot, "G")
        await settle(pilot)
        people = [(key, words.lstrip("> ")) for key, words in demo.workers()]
        asked = people[2][0]
        cast.take([(key, f"> {words}" if key == asked else f"  {words}") for key, words in people])
        assert cast.border_title == "↑ 1 with an offer above: g"
        await keys(pilot, "g")
        await settle(pilot)
        assert "offered" in cast.border_title

    drive(demo, play)


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36), (200, 50)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_look(tmp_path: Path, snap_compare: Callable[..., bool], size: tuple[int, int]) -> None:
    """Over a small site that no machine's pace can change; the clock stands, so nothing of the town is seen."""
    campus(tmp_path / "site.db")
    behind = Staged(Demo(tmp_path / "site.db", seed=2, speed=0.0, said=lambda _: None))
    app = Console(behind, ticks=False, room=run.rehearsal_room())

    async def play(pilot: Pilot[int]) -> None:
        await settle(pilot)
        app.look_again()
        await keys(pilot, "5", "P")  # offers, of which there are none: nothing measured is in the picture
        await settle(pilot)
        await keys(pilot, *["right"] * 9)
        await settle(pilot)

    try:
        assert snap_compare(app, terminal_size=size, run_before=play)
    finally:
        behind.close()
