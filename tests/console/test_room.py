"""The rehearsal room on a screen: the very run that `--plain` prints, stepped by keys; and how it looks."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Input

import run
from console.cli.main import main
from console.cli.parts import Parts
from console.room import RoomApp
from console.room_commands import ROOM
from console.screens.orders import Orders
from console.screens.pages import Page
from console.screens.room import Room, read_span_ms
from console.screens.scenarios import Scenarios
from console.stage import GUARDED, SAFE
from console.viewmodels import rehearsal as view
from console.widgets.read import Read
from console.widgets.rehearsal import Pane
from engine.ports import CallboardError
from engine.verbs.site import SiteFile
from engine.wiring import create
from fixtures import scenarios
from tests.conftest import ROOT
from tests.console.desks import keys, settle

SIZES = [(80, 24), (120, 36)]
STEP, BACK, DECISIVE = "full_stop", "comma", "right_square_bracket"
KEY_NAMES = {".": STEP, ",": BACK, "]": DECISIVE, "esc": "escape"}
Play = Callable[[Pilot[int], Room], Awaitable[None]]


def app_on(name: str | None) -> RoomApp:
    room = run.rehearsal_room()
    return RoomApp(room, room.found(name) if name else None, ticks=False)


def drive(name: str, play: Play, size: tuple[int, int] = (120, 36)) -> None:
    async def go() -> None:
        app = app_on(name)
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            assert isinstance(app.screen, Room)
            await play(pilot, app.screen)

    asyncio.run(go())


def lines(room: Room) -> str:
    return "".join(f"{each.text}\n" for each in view.lines_of(room.told))


def seen(app_screen: Room | Page | Scenarios | Orders) -> str:
    strips = app_screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


async def ended(pilot: Pilot[int], orders: Orders) -> None:
    while not orders.ended.is_set():
        await asyncio.sleep(0.02)
    orders.look()
    await settle(pilot)


# --- the same run ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two-desks-one-job", "region-handoff", "decline-and-walk-on", "router-down-river"])
def test_the_screen_shows_the_very_run_that_plain_prints(name: str) -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        while room.state.more:
            await keys(pilot, STEP)
        assert lines(room) == scenarios.found(name).expected.transcript
        assert room.script.rule[:30] in seen(room)

    drive(name, play)


def test_played_by_itself_it_is_the_same_run_and_stops_at_its_end() -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, "p", "plus")
        assert (room.playing, room.speed) == (True, 2.0)
        while room.playing:
            room.beat()
        assert lines(room) == scenarios.found("zombie-dispatcher").expected.transcript
        await keys(pilot, "p")
        assert not room.playing
        assert "all sessions have ended" in seen(room)

    drive("zombie-dispatcher", play)


def test_waiting_and_the_loss_are_said_in_words_where_they_happen() -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, *([STEP] * 5))
        assert "south desk <waiting>" in seen(room)
        assert "live offer - → o-north" in seen(room)
        await keys(pilot, DECISIVE)
        assert 'rolled back "lost at claim_job"' in seen(room)
        assert "won: north desk; lost: south desk" in seen(room)

    drive("two-desks-one-job", play)


def test_who_is_chosen_moves_next_and_the_rule_that_decides_is_found_anew() -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, "3")
        assert "there is no session 3" in seen(room)
        await keys(pilot, "2")
        while room.state.more:
            await keys(pilot, "2" if room.state.lanes[1][1] else "1")
        assert "won: south desk; lost: north desk" in lines(room)
        assert "your order" in seen(room)
        await keys(pilot, "R")
        assert lines(room) == ""

    drive("two-desks-one-job", play)


def test_back_only_looks_and_a_choice_from_there_is_another_run() -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, STEP, STEP, STEP, BACK, BACK)
        assert "step 1 of 3" in seen(room)
        await keys(pilot, STEP)
        assert len(room.house.player.now.steps) == 3
        await keys(pilot, BACK, "1")
        assert len(room.house.player.now.steps) == 2

    drive("two-desks-one-job", play)


def test_the_trainer_moves_the_clock() -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        before_ms = room.house.player.now.scene.clock_ms
        await keys(pilot, "c")
        box = room.query_one("#by", Input)
        assert box.display
        assert box.value == "20 s"  # what the plan would do
        box.value = "-2 min"
        await keys(pilot, "enter")
        assert room.house.player.now.scene.clock_ms == before_ms - 120_000
        await keys(pilot, "c", "escape")
        assert not box.display
        assert room.is_current

    drive("late-accept", play)


def test_spans() -> None:
    told = ["21", "21 s", "-2 min", "0.5s", "250 ms", "0", "soon", "1e400", "nan", ""]
    assert [read_span_ms(each) for each in told] == [21_000, 21_000, -120_000, 500, 250, *[None] * 5]


def test_naive_double_books_on_a_bare_schema_and_is_refused_by_the_real_one() -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, "n", DECISIVE)
        assert "!! double booking: a job is promised to two: exam" in seen(room)
        await keys(pilot, "n")
        assert room.kind == GUARDED
        await keys(pilot, DECISIVE)
        assert "one_live_offer_a_job" in lines(room)
        assert "double booking" not in seen(room)
        await keys(pilot, "n")
        assert room.kind == SAFE

    drive("two-desks-one-job", play)


def test_without_a_naive_twin_and_for_what_is_told_the_keys_say_why() -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, "n")
        assert "has no naive twin" in seen(room)
        await keys(pilot, "E")
        assert "it has one order" in seen(room)

    drive("index-lost", play)


# --- every schedule --------------------------------------------------------------------------------------------------


def test_every_schedule_beside_the_screen() -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, "E")
        orders = room.app.screen
        assert isinstance(orders, Orders)
        await ended(pilot, orders)
        assert "26 schedules  0 violations" in seen(orders)
        assert "north desk done; south desk lost at claim_job" in seen(orders)
        await keys(pilot, "escape")
        assert room.is_current

    drive("two-desks-one-job", play)


def test_the_keys_of_the_lesson_lead_to_the_counts_it_names() -> None:
    """Row after row, for each begins where the one before left the room."""
    guide = (ROOT / "docs" / "training.md").read_text("utf-8")
    rows = [
        next(row for row in guide.splitlines() if words in row) for words in ("The same without care", "How often?")
    ]
    pressed = [KEY_NAMES.get(each, each) for row in rows for each in re.findall(r"`([^`]+)`", row.split("|")[2])]

    async def play(pilot: Pilot[int], room: Room) -> None:
        counted: list[str] = []
        for each in pressed:
            await keys(pilot, each)
            if isinstance(orders := room.app.screen, Orders) and each == "E":
                await ended(pilot, orders)
                counted.append(f"{len(orders.found.violations) or 'none'} of {orders.found.schedules}")
        assert counted == ["240 of 244", "none of 88"]
        assert all(each in rows[1] for each in counted)
        assert (room.kind, room.is_current) == (SAFE, True)

    drive("two-desks-one-job", play)


def test_every_schedule_can_be_stopped() -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, "n", "E")
        orders = room.app.screen
        assert isinstance(orders, Orders)
        while orders.found.schedules < 3:
            await asyncio.sleep(0.01)
        await keys(pilot, "escape")
        await ended(pilot, orders)
        assert orders.found.schedules < 244
        assert "stopped: these are not all" in seen(orders)

    drive("two-desks-one-job", play)


def test_every_schedule_is_written_down_and_tells_the_hour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def play(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, "n", "E")
        orders = room.app.screen
        assert isinstance(orders, Orders)
        await ended(pilot, orders)
        await keys(pilot, "x")
        await settle(pilot)
        assert "written: rehearsals/accept-at-expiry-naive-orders.txt" in seen(orders)

    drive("accept-at-expiry", play)
    told = (tmp_path / "rehearsals" / "accept-at-expiry-naive-orders.txt").read_text("utf-8")
    assert "86 schedules  27 double-book" in told
    assert "believe" in told
    assert "clock: it shows 12:00:20" in told


# --- pages, files, the list ------------------------------------------------------------------------------------------


def test_notes_and_answers_are_shown_only_when_asked_for() -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        answer = room.script.questions[0][1][:30]
        assert answer not in seen(room)
        await keys(pilot, "q")
        page = room.app.screen
        assert isinstance(page, Page)
        assert room.script.questions[0][0][:30] in seen(page)
        assert answer not in seen(page)
        await keys(pilot, "escape", "N")
        page = room.app.screen
        assert isinstance(page, Page)
        assert answer in seen(page)

    drive("late-accept", play)


def test_export_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    async def play(pilot: Pilot[int], room: Room) -> None:
        while room.state.more:
            await keys(pilot, STEP)
        await keys(pilot, "x")
        assert "written: rehearsals/late-accept.txt and rehearsals/late-accept.svg" in seen(room)

    drive("late-accept", play)
    text = (tmp_path / "rehearsals" / "late-accept.txt").read_text("utf-8")
    assert scenarios.found("late-accept").expected.transcript.rstrip("\n") in text
    assert "accept_offer" in (tmp_path / "rehearsals" / "late-accept.svg").read_text("utf-8")


def test_the_help_has_every_key_and_says_why_not_now() -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, "question_mark")
        page = room.app.screen
        assert isinstance(page, Page)
        race = [each for each in ROOM if each.id not in ("choose3", "choose4")]
        assert all(each.tooltip[:40] in seen(page) for each in race)
        assert "not now: this is the beginning" in seen(page)
        assert "session 3" not in seen(page).lower(), "a race of two has no third session to choose"

    drive("two-desks-one-job", play, size=(140, 60))


def test_why_not_now_goes_on_below_its_own_words_in_the_help() -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, DECISIVE, "question_mark")
        page = room.app.screen
        assert isinstance(page, Page)
        rows = seen(page).splitlines()
        at = next(n for n, each in enumerate(rows) if "not now: all sessions have ended" in each)
        assert rows[at + 1].index("begins anew") == rows[at].index("not now")

    drive("two-desks-one-job", play, size=(80, 24))


def test_from_the_list_into_a_scenario_and_back_out() -> None:
    async def go() -> None:
        app = app_on(None)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            screen = app.screen
            assert isinstance(screen, Scenarios)
            assert "two-desks-one-job" in seen(screen) or "accept-at-expiry" in seen(screen)
            await keys(pilot, "j", "enter")
            assert isinstance(app.screen, Room)
            assert app.screen.script.name == scenarios.names()[1]
            await keys(pilot, "escape")
            assert app.screen is screen
            await keys(pilot, "escape")
        assert app.return_code == 0

    asyncio.run(go())


def test_text_of_a_scenario_is_inert(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    told = (scenarios.HERE / "preemption.toml").read_text("utf-8")
    file.write_text(told.replace('title = "Preemption"', 'title = "[/] \\u001b[31m [@click=app.quit]x[/]"'), "utf-8")

    async def play(pilot: Pilot[int], room: Room) -> None:
        assert "[/] ␛[31m [@click=app.quit]x[/]" in seen(room)
        await keys(pilot, STEP, "q", "escape", "N", "escape", "E")

    drive(str(file), play)


@pytest.mark.parametrize("size", [(40, 12), (200, 50)])
def test_scenarios_of_many_sessions_fit(size: tuple[int, int]) -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, STEP, STEP, DECISIVE, "question_mark", "escape")
        assert "REHEARSAL" in seen(room)

    for name in ("region-handoff", "decline-and-walk-on"):
        drive(name, play, size)


def test_on_80_columns_the_run_goes_on_below_its_words_and_the_clock_is_in_sight() -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, "n", STEP, STEP)
        assert "12:00:00 (Europe/Rome)" in seen(room)
        await keys(pilot, "n", "n", STEP, STEP)
        rows = [each.rstrip() for each in seen(room).splitlines()]
        at = next(n for n, each in enumerate(rows) if "begin: from here" in each and "12:00:00" in each)
        assert rows[at + 1].strip() == "[offer o-north: exam to ana]"
        assert rows[at + 1].index("[") == rows[at].index("begin")

    drive("two-desks-one-job", play, size=(80, 24))


@pytest.mark.parametrize("size", [(40, 12), (40, 30), (80, 24), (120, 36)])
def test_who_won_and_the_rule_are_told_once_and_nothing_wraps_to_the_edge(size: tuple[int, int]) -> None:
    async def play(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, DECISIVE)
        while room.state.more:
            await keys(pilot, STEP)
        await settle(pilot)
        told = [each.query_one(Read) for each in room.query("Pane").results(Pane) if each.display]
        assert "".join(str(each.content) for each in told).count("won: north desk") == 1
        assert all(cell_len(row) <= each.size.width for each in told for row in str(each.content).splitlines())
        assert "12:00:00 C" in seen(room) or "12:00:00 (Europe/Rome)" in seen(room)
        assert "] decisive" in seen(room), "the keys are in sight"

    drive("two-desks-one-job", play, size)


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (120, 30)], ids=str)
def test_the_rows_that_prove_it_are_in_sight_at_the_end(size: tuple[int, int]) -> None:
    async def naive(pilot: Pilot[int], room: Room) -> None:
        await keys(pilot, "n")
        while room.state.more:
            await keys(pilot, STEP)
        await settle(pilot)
        assert all(f" offer {each}  job exam" in seen(room) for each in ("o-north", "o-south"))

    async def zombie(pilot: Pilot[int], room: Room) -> None:
        while room.state.more:
            await keys(pilot, STEP)
        await settle(pilot)
        assert " offer o-new  job exam, worker ben, state OFFERED" in seen(room)

    drive("two-desks-one-job", naive, size)
    drive("zombie-dispatcher", zombie, size)


def test_lanes_are_low_only_while_the_rows_need_their_room() -> None:
    roomy = view.shares(30, lanes=10, least=5, rows=8)
    tight = view.shares(18, lanes=10, least=5, rows=8)
    assert (roomy[0], tight[0]) == (10, 5)
    assert roomy[1] >= 8 <= tight[1]
    assert view.shares(12, lanes=10, least=9, rows=8) == (9, 4), "the lanes keep what they say"


# --- the door --------------------------------------------------------------------------------------------------------


def test_a_live_database_is_refused_before_the_screen_is_taken(tmp_path: Path) -> None:
    create(tmp_path / "live.db", SiteFile(), training=False)
    with pytest.raises(CallboardError, match="is a live database"):
        run.open_room(run.rehearsal_room(), None, tmp_path / "live.db")


def test_in_a_pipe_it_is_the_transcript_and_in_a_terminal_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str | None] = []

    def open_room(room: object, script: object, database: object) -> int:
        opened.append(getattr(script, "name", None))
        return 0

    parts = Parts(rehearse=run.rehearsal_room(), open_room=open_room)
    assert main(["rehearse", "late-accept"], parts) == 0
    assert main(["rehearse"], parts) == 2
    assert opened == []
    monkeypatch.setattr("console.cli.rehearse._is_seen", lambda: True)
    assert [main(["rehearse", *each], parts) for each in ((), ("late-accept",))] == [0, 0]
    assert main(["rehearse", "late-accept", "--plain"], parts) == 0
    assert opened == [None, "late-accept"]


def test_it_starts_without_the_store() -> None:
    heavy = ("sqlite3", "httpx", "apscheduler")
    ask = f"import sys, console.room; print([each for each in {heavy!r} if each in sys.modules])"
    told = subprocess.run([sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout.strip() == "[]"


# --- pictures --------------------------------------------------------------------------------------------------------

SHOWN = {
    "list": (None, ("j", "j")),
    "race": ("two-desks-one-job", (STEP,) * 5),
    "lost": ("two-desks-one-job", (DECISIVE,)),
    "naive": ("two-desks-one-job", ("n", DECISIVE)),
    "every": ("two-desks-one-job", ("E",)),
    "three": ("region-handoff", (STEP,) * 12),
}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("what", SHOWN)
def test_look(snap_compare: Callable[..., bool], what: str, size: tuple[int, int]) -> None:
    name, pressed = SHOWN[what]

    async def play(pilot: Pilot[int]) -> None:
        await settle(pilot)
        await keys(pilot, *pressed)
        screen = pilot.app.screen
        if isinstance(screen, Orders):
            await ended(pilot, screen)
        await settle(pilot)

    assert snap_compare(app_on(name), terminal_size=size, run_before=play)


def test_no_color(snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def play(pilot: Pilot[int]) -> None:
        await settle(pilot)
        await keys(pilot, "n", DECISIVE)

    assert snap_compare(app_on("two-desks-one-job"), terminal_size=(80, 24), run_before=play)
