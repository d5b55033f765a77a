"""Preempting from the desk: the dialog tells in full what each choice overrules before it is made (SPEC 5)."""

from pathlib import Path

import pytest
from textual.pilot import Pilot

from console.app import Console
from console.screens.desk import Desk
from console.screens.preempt import Preempt
from engine import wiring
from engine.imports.parsed import Parsed
from engine.rules.nouns import FixReport
from engine.verbs import ingest, intake, override, revoke
from engine.verbs.site import SiteFile, advance
from tests.console.desks import NAMES, NOON_MS, WHO, drive, job, keys, settle, shown, still, take_in, worker
from tests.console.test_command_line import type_in


@pytest.fixture
def app(tmp_path: Path) -> Console:
    """J-1 is held by W-1, Ana, and J-77 is urgent and late already."""
    path = tmp_path / "site.db"
    wiring.create(path, SiteFile(name="Harbour campus", zone="Europe/Rome", overrides={"lease": {"auto_offer": False}}),
                  training=True)  # fmt: skip
    engine = wiring.open_engine(path, new_id=wiring.seeded_ids(7))
    advance(engine, NOON_MS)
    ana = worker(1, NAMES[0])
    intake.import_workers(engine, WHO, Parsed(items=((1, ana),), rejected=(), warnings=()))
    fix = FixReport(worker=ana.ref, device_ms=NOON_MS, lat=ana.home.lat, lng=ana.home.lng, accuracy_m=5)
    ingest.report(engine, [fix], received_ms=NOON_MS, archive=[])
    ingest.write_behind(engine, [])
    take_in(engine, job("J-1", due_min=90))
    take_in(engine, job("J-77", due_min=0, priority=5))
    override.override(engine, WHO, "J-1", "W-1", revoke.reasoned("other", "she asked for it herself"), force=True)
    wiring.close(engine)
    return still(path)


def test_the_dialog_tells_in_full_what_taking_the_worker_overrules(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await type_in(pilot, "/preempt J-77")
        await settle(pilot)
        assert isinstance(app.screen, Preempt)
        told = shown(app)
        assert "J-1 is released from Ana" in told
        assert "overrules late: arrives" in told
        await keys(pilot, "escape")

    drive(app, play)
