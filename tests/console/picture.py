"""The README's picture: `python -m tests.console.picture` draws the desk on Rivertown's frozen noon: docs/desk.svg."""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

from console.app import Console
from console.screens.desk import Desk
from engine import wiring
from engine.rules.nouns import JobState
from engine.verbs import assign
from engine.verbs.site import advance
from fixtures.demo import found
from tests.conftest import ROOT
from tests.console.desks import NOON_MS, WHO, Still, settle

SIZE = (120, 36)
OUT = ROOT / "docs" / "desk.svg"
BETWEEN_OFFERS_MS = 4_000


class Ringing(Still):
    """Said as it is where the demo runs: its rounds ring in the desk's own process."""

    def read(self) -> None:
        super().read()
        if self.snap is not None:
            self.snap = replace(self.snap, rounds="here", p99_us=11_000)


def offered(path: Path) -> str:
    """Offers made a few seconds apart, so that the bars differ; answers the last job's id."""
    engine = wiring.open_engine(path, new_id=wiring.seeded_ids(3))
    now_ms, last = NOON_MS, ""
    for each in engine.store.jobs(engine.tenant, live_only=True):
        if each.state is JobState.OPEN and assign.assign(engine, WHO, each.id).offer is not None:
            now_ms, last = now_ms + BETWEEN_OFFERS_MS, each.id
            advance(engine, now_ms)
    wiring.close(engine)
    return last


async def draw(path: Path, on: str) -> str:
    app = Console(Ringing(path), ticks=False)
    async with app.run_test(size=SIZE) as pilot:
        await settle(pilot)
        app.look_again()
        await settle(pilot)
        desk = app.screen
        assert isinstance(desk, Desk)
        desk.board.put(on)
        await settle(pilot)
        app.look_again()
        await settle(pilot)
        drawn = app.export_screenshot(title="Callboard")
    app.behind.close()
    return drawn


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        site = found(Path(folder), seed=1, now_ms=NOON_MS)
        OUT.write_text(asyncio.run(draw(site, offered(site))), encoding="utf-8")


if __name__ == "__main__":
    main()
