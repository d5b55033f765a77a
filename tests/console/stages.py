"""The demo as a stage whose clock stands: a test lets seconds of training time pass, and looks at the desk."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from textual.pilot import Pilot

import run
from console.app import Console
from console.behind import Behind
from engine.ports import Engine
from fixtures.demo import Demo
from tests.console.desks import keys, settle, shown

NOON_MS = 1_804_420_800_000
Play = Callable[["Stage"], Awaitable[None]]


class Staged(Behind):
    """A desk that looks when told, over a town whose clock stands until the trainer lets it run."""

    def __init__(self, demo: Demo) -> None:
        super().__init__(demo.path, demo=demo, rounds=False, user="ana", mono_s=lambda: self.at_s)
        self.at_s = 0.0
        self.open()
        assert self._engine is not None
        self.engine: Engine = self._engine
        self.read()
        demo.hear(self._say)
        demo.start(self.engine)

    def read(self) -> None:
        """What a machine measures is left out, so that pictures can be compared."""
        super().read()
        snap = self.snap
        if snap is not None:
            detail = snap.detail
            if detail is not None and detail.decision is not None:
                detail = replace(detail, decision=replace(detail.decision, total_us=1_200))
            self.snap = replace(snap, p99_us=None, detail=detail)


class Stage:
    """The desk, with the trainer's panel opened for a key and closed again for a look at the whole."""

    def __init__(self, pilot: Pilot[int], app: Console, demo: Demo) -> None:
        assert isinstance(app.behind, Staged)
        self.pilot, self.app, self.demo, self.behind = pilot, app, demo, app.behind
        self.engine = app.behind.engine

    async def press(self, *pressed: str) -> None:
        await keys(self.pilot, *pressed)
        await settle(self.pilot)

    async def panel(self, *pressed: str) -> str:
        """Keys of the panel; answers what it said last."""
        await self.press("P", *pressed)
        told = " ".join(shown(self.app).split())
        await self.press("escape")
        return told

    async def second(self, times: int = 1) -> str:
        """Seconds of training time pass; answers the desk."""
        for _ in range(times):
            self.demo.pass_a_second()
            self.behind.at_s += 1.0
        return await self.desk()

    async def desk(self) -> str:
        self.app.look_again()
        await settle(self.pilot)
        return shown(self.app)

    async def until(self, words: str, limit_s: int = 120) -> str:
        """The desk says it within so many seconds of training time."""
        for _ in range(limit_s):
            if words in (told := await self.desk()):
                return told
            self.demo.pass_a_second()
            self.behind.at_s += 1.0
        raise AssertionError(f"{words}: not within {limit_s} s\n{await self.desk()}")


def drive(demo: Demo, play: Play, size: tuple[int, int] = (160, 50)) -> None:
    behind = Staged(demo)
    app = Console(behind, ticks=False, room=run.rehearsal_room())

    async def go() -> None:
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            app.look_again()
            await play(Stage(pilot, app, demo))

    try:
        asyncio.run(go())
    finally:
        behind.close()


def copied(founded: Path, folder: Path) -> Path:
    for each in founded.parent.glob(f"{founded.name}*"):
        shutil.copy(each, folder / each.name)
    return folder / founded.name
