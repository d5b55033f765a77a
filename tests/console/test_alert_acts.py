"""Alerts in a dispatcher's hands, by key and typed; their order, what is hidden, the budget and the bell."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from console.app import Console
from console.screens.command_line import CommandLine
from console.screens.desk import Desk
from console.viewmodels import alerts as lines
from console.viewmodels.alerts import Bell
from console.viewmodels.rows import AlertRow
from engine.verbs.site import advance
from tests.console.desks import NOON_MS, Still, campus, drive, keys, settle, shown, still


@pytest.fixture
def app(tmp_path: Path) -> Console:
    campus(tmp_path / "site.db")
    return still(tmp_path / "site.db")


def alert(number: int, severity: int = 1, **more: int) -> AlertRow:
    told = AlertRow(id=f"A-{number}", kind="unassigned", severity=severity, job_id=None, worker="",
                    detail="12 looked at", opened_ms=number, acked_by="", owner="", snoozed_until_ms=0,
                    escalated=0)  # fmt: skip
    return replace(told, **more)


def test_worst_first_then_the_nearest_deadline_and_snoozed_ones_are_away_until_due() -> None:
    queue = [alert(1, 2, due_ms=5), alert(2, 1, due_ms=50), alert(3, 1, due_ms=20), alert(4, 1, snoozed_until_ms=100)]
    assert lines.arrange(queue, 99) == ["A-3", "A-2", "A-1"]
    assert lines.arrange(queue, 100) == ["A-3", "A-2", "A-4", "A-1"]


def test_the_title_says_what_is_hidden_and_when_the_budget_is_spent() -> None:
    assert lines.title([alert(1, snoozed_until_ms=9)], 5, 1, 1) == "1 snoozed · 1 new in 10 min, budget 1"
    assert lines.title([], 5, 3, 1).endswith("budget 1 !")


def test_a_cause_is_one_line_with_its_count() -> None:
    text = "".join(piece for piece, _ in lines.line(alert(1, seen=14), 90, 5, "UTC"))
    assert "×14 12 looked at" in text


def test_the_bell_rings_once_for_each_new_one_of_severity_1_and_can_be_muted() -> None:
    bell = Bell()
    assert not bell.rings([alert(1)], 0), "those that stood when the desk was opened ring no bell"
    assert bell.rings([alert(1), alert(2)], 0)
    assert not bell.rings([alert(1), alert(2), alert(3, severity=2)], 0)
    bell.muted = True
    assert not bell.rings([alert(4)], 0)
    bell.muted = False
    assert not bell.rings([alert(4)], 0), "what came while it was muted stays silent"


@pytest.mark.parametrize(
    ("key", "field", "value"), [("m", "owner", "ana"), ("a", "acked_by", "ana"), ("e", "escalated", 1)]
)
def test_a_key_in_the_alerts_pane(app: Console, key: str, field: str, value: object) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "1")
        aim = desk.alert
        assert aim is not None
        await keys(pilot, key)
        await settle(pilot)
        snap = app.behind.snap
        assert snap is not None
        [now] = [each for each in snap.alerts if each.id == aim.id]
        assert getattr(now, field) == value
        assert f" {aim.id}" in "\n".join(desk.hands.lines)

    drive(app, play)


def test_snooze_asks_for_minutes_on_the_line_and_hides_it_until_then(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "1")
        aim = desk.alert
        assert aim is not None
        await keys(pilot, "n")
        await settle(pilot)
        assert isinstance(app.screen, CommandLine)
        assert f"snooze {aim.id} 10m" in shown(app)
        await keys(pilot, "enter")
        await settle(pilot)
        assert f"snooze {aim.id}: unassigned hidden for 10 min" in shown(app)
        assert "1 snoozed" in shown(app)
        assert desk.alert is None, "the cursor does not slip to the next alert"
        assert isinstance(app.behind, Still)
        advance(app.behind.engine, NOON_MS + 11 * 60_000)
        app.look_again()
        await settle(pilot)
        assert "1 snoozed" not in shown(app)

    drive(app, play)


def test_resolving_wants_a_reason_and_the_audit_keeps_it(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "1", "slash", *'resolve other "the customer rang"', "enter")
        await settle(pilot)
        assert isinstance(app.behind, Still)
        newest = app.behind.engine.store.newest_audit("main", limit=1)[0]
        assert newest.act == "alert resolve"
        assert "other: the customer rang — /resolve A-" in newest.words

    drive(app, play)
