"""The screen never looks alive when it is not: what is old, read-only or broken says so, with the time and the log."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from textual.pilot import Pilot

from console.app import Console
from console.behind import Behind
from console.commands import COMMANDS
from console.screens.desk import Desk
from console.viewmodels.status import Health, line
from tests.console.desks import NOON_MS, Still, campus, drive, keys, settle, shown, still
from tests.console.terminals import desk_on, live_site

T = TypeVar("T")


class Faulty(Behind):
    """A desk's back whose next looks fail as often as told."""

    fails = 0

    def read(self) -> None:
        if self.fails:
            self.fails -= 1
            raise OSError("disk [/] \x1b[31mI/O error")
        super().read()


def until(app: Console, pilot: Pilot[int], seen: str, *, gone: bool = False) -> "asyncio.Task[None]":
    async def watch() -> None:
        while (seen in shown(app)) is gone:
            await asyncio.sleep(0.02)
            await pilot.pause(0)

    return asyncio.create_task(asyncio.wait_for(watch(), 10))  # type: ignore[arg-type]


def test_B121_a_look_that_fails_is_a_banner_since_when_and_the_next_one_clears_it(tmp_path: Path) -> None:
    campus(tmp_path / "site.db")
    behind = Faulty(tmp_path / "site.db", rounds=False, user="ana")
    app = Console(behind)

    async def run() -> None:
        async with app.run_test(size=(120, 36)) as pilot:
            await until(app, pilot, "TRAINING")
            behind.fails = 1_000
            await until(app, pilot, "STALE")
            told = shown(app)
            assert "× data not updated since 13:00:06: reading the database failed: disk [/] ␛[31mI/O error" in told
            assert "trying again" in " ".join(told.split())
            assert "site.db.log" in "".join(told.split())
            behind.fails = 1
            await until(app, pilot, "data not updated", gone=True)
            assert "TRAINING" in shown(app)

    asyncio.run(run())
    assert behind.stop(5)


def test_a_desk_that_hears_nothing_more_is_stale_and_says_since_when(tmp_path: Path) -> None:
    campus(tmp_path / "site.db")
    app = still(tmp_path / "site.db")
    at_s = 0.0
    app.behind.mono_s = lambda: at_s

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        nonlocal at_s
        for at_s, said in ((2.9, "data 2.9s"), (3.1, "data 3.1s"), (64.0, "data 64s")):
            desk.tick()
            await settle(pilot)
            assert said in shown(app)
            assert ("STALE" in shown(app)) == ("data not updated since 13:00:06" in shown(app)) == (at_s > 3)
        app.look_again()
        await settle(pilot)
        assert "STALE" not in shown(app)
        assert "data 0.0s" in shown(app)

    drive(app, play)


class Unsound(Still):
    """Whatever is asked of it fails in a way nobody foresaw."""

    async def ask(self, asked: Callable[..., T]) -> T:
        raise ZeroDivisionError("[@click=app.quit]no such thing\x07")


def test_a_fault_of_the_engine_in_an_act_is_one_line_and_a_banner_with_the_log(tmp_path: Path) -> None:
    campus(tmp_path / "site.db")
    app = Console(Unsound(tmp_path / "site.db"), ticks=False)

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        for key in ("s", "o", "w"):
            desk.board.put("J-9")
            await keys(pilot, key)
            await settle(pilot)
            assert isinstance(app.screen, Desk)
            assert "J-9 failed: [@click=app.quit]no such thing␇" in shown(app)
            assert "site.db.log" in "".join(shown(app).split())
        assert "STALE" not in shown(app)

    drive(app, play)


def test_a_read_only_desk_says_so_and_refuses_by_name(tmp_path: Path) -> None:
    site = live_site(tmp_path / "site.db")
    with desk_on(site, "--read-only") as desk:
        desk.until("READ-ONLY")
        desk.until("J-2")
        desk.press("s")
        desk.until("assign: this desk is read-only")
        assert "auto nobody" in desk.text


def test_B066_every_action_has_its_own_name_and_many_are_counted_before_they_are_done(tmp_path: Path) -> None:
    assert len({each.label for each in COMMANDS}) == len(COMMANDS)
    assert len({each.tooltip for each in COMMANDS}) == len(COMMANDS)
    campus(tmp_path / "site.db")
    app = still(tmp_path / "site.db")

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        titles: dict[str, str] = {}
        for each in ("J-9", "J-10", "J-11"):
            desk.board.put(each)
            await keys(pilot, "space")
        for command in (each for each in COMMANDS if each.bulk and each.refusal(desk.state) is None):
            await keys(pilot, command.keys[0])
            await settle(pilot)
            titles[command.id] = next(line for line in shown(app).splitlines() if " 3 jobs" in line)
            await keys(pilot, "escape")
            await settle(pilot)
        assert len(titles) >= 2
        assert all(each in titles[each].lower() for each in titles)

    drive(app, play)


def test_on_40_columns_the_clock_of_the_demo_keeps_its_place(tmp_path: Path) -> None:
    campus(tmp_path / "site.db")
    behind = Still(tmp_path / "site.db")
    assert behind.snap is not None
    snap = replace(behind.snap, site=replace(behind.snap.site, demo=True), rounds="here")
    told = {width: "".join(text for text, _ in line(snap, Health(0.0), width, NOON_MS)) for width in (38, 78)}
    assert told[38].startswith("◆ DEMO  13:00:00 CET  ▲2 alerts")
    assert told[78].startswith("◆ DEMO·TRAINING  13:00:00 CET")
    behind.close()
