"""Workers move between regions from the desk: typed, with a reason, audited, and taken back while it still waits."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from console.app import Console
from console.commands import DeskState, by_id
from console.screens.command_line import CommandLine
from console.screens.desk import Desk
from console.screens.help import Help
from console.screens.reason import WithReason
from console.viewmodels.commands_typed import Wrong, candidates, completed, parse
from engine import wiring
from engine.imports.parsed import Parsed
from engine.rules.nouns import FixReport
from engine.verbs import ingest, intake, override, revoke
from engine.verbs.site import SiteFile, advance
from tests.console.desks import (
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
    worker,
)
from tests.console.test_command_line import KNOWN, NOTHING, type_in

ABOUT = replace(KNOWN, regions=("main", "north", "north-east"))


@pytest.fixture
def app(tmp_path: Path) -> Console:
    """Two regions; the one offer there is binds W-1, Ana."""
    path = tmp_path / "site.db"
    site = SiteFile(name="Harbour campus", zone="Europe/Rome", regions=(("main", None), ("north", None)),
                    overrides={"lease": {"auto_offer": False}})  # fmt: skip
    wiring.create(path, site, training=True)
    engine = wiring.open_engine(path, new_id=wiring.seeded_ids(7))
    advance(engine, NOON_MS)
    staff = [worker(at, name) for at, name in enumerate(NAMES[:2], 1)]
    intake.import_workers(engine, WHO, Parsed(items=tuple(enumerate(staff, 1)), rejected=(), warnings=()))
    at = [
        FixReport(worker=each.ref, device_ms=NOON_MS, lat=each.home.lat, lng=each.home.lng, accuracy_m=5)
        for each in staff
    ]
    ingest.report(engine, at, received_ms=NOON_MS, archive=[])
    ingest.write_behind(engine, [])
    take_in(engine, job("J-1", due_min=90))
    override.override(engine, WHO, "J-1", "W-1", revoke.reasoned("other", "she asked for it herself"))
    wiring.close(engine)
    return still(path)


def belongs(app: Console, worker_id: str) -> tuple[str, str | None]:
    assert isinstance(app.behind, Still)
    found = app.behind.engine.store.worker("main", worker_id)
    assert found is not None
    return found.region, found.moving_to


def newest(app: Console) -> tuple[str, str | None, str, str]:
    assert isinstance(app.behind, Still)
    row = app.behind.engine.store.newest_audit("main", limit=1)[0]
    return row.act, row.worker_id, row.reason, row.words


def test_a_worker_moves_at_once_and_the_audit_keeps_the_line(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await type_in(pilot, '/handoff ben north other "lives in the north now"')
        assert belongs(app, "W-2") == ("north", None)
        assert "handoff W-2 north: Ben Kovač belongs to north now" in shown(app)
        assert '/handoff W-2 north other "lives in the north now"' in shown(app)
        act, worker_id, reason, words = newest(app)
        assert ("handoff" in act, worker_id, reason) == (True, "W-2", "other")
        assert words == "lives in the north now — /handoff W-2 north other"

    drive(app, play)


def test_with_a_live_offer_it_waits_and_can_be_taken_back(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await type_in(pilot, '/handoff ana north other "lives in the north now"')
        assert belongs(app, "W-1") == ("main", "north")
        assert "waits until their live offer is answered or over" in shown(app)
        await type_in(pilot, '/handoff ana back mistake "it was meant for Ben"')
        assert belongs(app, "W-1") == ("main", None)
        assert "Ana Rossi stays, and does not go to north" in shown(app)
        assert newest(app)[3] == "it was meant for Ben — /handoff W-1 back mistake"
        await type_in(pilot, '/handoff ana back mistake "it was meant for Ben"')
        assert "no handoff waits" in shown(app)

    drive(app, play)


def test_without_a_reason_a_dialog_says_what_it_means_and_escape_changes_nothing(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await type_in(pilot, "/handoff ben north")
        assert isinstance(app.screen, WithReason)
        assert "Hand Ben Kovač W-2 over to north" in shown(app)
        assert "The jobs they hold go with them" in shown(app)
        await keys(pilot, "escape")
        await settle(pilot)
        assert belongs(app, "W-2") == ("main", None)
        assert "handoff W-2 north: left, nothing was changed" in shown(app)

    drive(app, play)


def test_tab_completes_worker_then_region_then_reason(app: Console) -> None:
    assert completed("handoff be", ABOUT) == "handoff W-2 "
    assert candidates("handoff W-2 ", ABOUT) == ["main", "north", "north-east", "back"]
    assert completed("handoff W-2 nor", ABOUT) == "handoff W-2 north "
    assert completed("handoff W-2 ba", ABOUT) == "handoff W-2 back "
    assert completed("handoff W-2 north mis", ABOUT) == "handoff W-2 north mistake "

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "slash", *"handoff be", "tab", *"no", "tab")
        await settle(pilot)
        assert isinstance(app.screen, CommandLine)
        assert "handoff W-2 north" in shown(app)

    drive(app, play)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("handoff", "handoff: which worker?"),
        ("handoff dora north", "dora: no such worker"),
        ("handoff ben", "handoff: to which region?; one of main, north, north-east, or back"),
        ("handoff ben south", "south: no such region; one of main"),
        ("handoff ben north because", "because: not a reason"),
        ("handoff ben north other short", "5 more letters"),
    ],
)
def test_what_is_wrong_is_one_line(line: str, said: str) -> None:
    with pytest.raises(Wrong) as wrong:
        parse(line, NOTHING, ABOUT)
    assert said in str(wrong.value)


def test_who_may_not_or_has_nowhere_to_go_is_told_why(tmp_path: Path) -> None:
    command = by_id("handoff")
    two = replace(NOTHING, regions=("main", "north"))
    assert command.refusal(two) is None
    assert command.refusal(replace(two, acts=frozenset({"board"}), role="worker")) == "the role worker may not handoff"
    assert command.refusal(replace(two, readonly=True)) == "this desk is read-only"
    assert command.refusal(DeskState(ready=False, readonly=False, pane="jobs", job=None, alert=None)) is not None
    campus(tmp_path / "site.db")

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await type_in(pilot, '/handoff W-1 main other "lives in the north now"')
        assert "this site has one region only" in shown(pilot.app)
        await keys(pilot, "question_mark")
        await settle(pilot)
        assert isinstance(pilot.app.screen, Help)
        assert "Move a worker, with their jobs, to another region" in shown(pilot.app)

    drive(still(tmp_path / "site.db"), play, size=(140, 90))
