"""Alerts in a dispatcher's hands, by key and typed; their order, what is hidden, the budget and the bell."""

from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from console.app import Console
from console.asks import rows_now
from console.screens.bulk import Bulk, BulkRows
from console.screens.command_line import CommandLine
from console.screens.desk import Desk
from console.viewmodels import alerts as lines
from console.viewmodels.alerts import Bell
from console.viewmodels.reasons import in_words
from console.viewmodels.rows import AlertRow
from console.widgets.alerts import Alerts
from console.widgets.reason import ReasonFields
from engine.records import Cause, raise_alert
from engine.rules.nouns import Refusal
from engine.verbs.site import advance
from engine.verbs.triage import triage
from tests.console.desks import NOON_MS, WHO, Still, campus, drive, keys, settle, shown, still


@pytest.fixture
def app(tmp_path: Path) -> Console:
    campus(tmp_path / "site.db")
    return still(tmp_path / "site.db")


def alert(number: int, severity: int = 1, **more: int | str) -> AlertRow:
    told = AlertRow(id=f"A-{number}", kind="unassigned", severity=severity, job_id=None, worker="",
                    detail="12 looked at", opened_ms=number, acked_by="", owner="", snoozed_until_ms=0,
                    escalated=0)  # fmt: skip
    return replace(told, **more)  # type: ignore[arg-type]


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


def test_reasons_are_in_words_and_what_people_wrote_is_left_alone() -> None:
    assert in_words("9 looked at: 5 no_road, 2 off_shift, 1 offered_elsewhere, 1 not_timed") == (
        "9 looked at: 5 no road, 2 off shift, 1 offered elsewhere, 1 not timed"
    )
    assert in_words("W_no_road_1 said my_words") == "W_no_road_1 said my_words"
    assert not any("_" in in_words(each) for each in Refusal)


LONG = "36 looked at: 20 no road, 8 off shift, 5 offered elsewhere, 2 skills, 1 cooldown"


@pytest.mark.parametrize(("width", "indent"), [(40, 3), (58, 3), (80, 24), (120, 24)])
def test_details_that_are_longer_than_their_column_go_on_below_it_and_are_whole(width: int, indent: int) -> None:
    rows = ["".join(text for text, _ in each) for each in lines.rows(alert(1, detail=LONG), width, 5, "UTC")]
    assert all(cell_len(each) <= width for each in rows)
    assert all(each[:indent].isspace() and each[indent] != " " for each in rows[1:])
    [why] = [each.width for each in lines.shown_columns(width) if each.name == "WHY"]
    told = rows[1:] if indent == 3 else [each[indent : indent + why] for each in rows]
    assert " ".join(" ".join(told).split()) == LONG


def test_a_kind_is_told_whole_where_a_pane_is_wide_and_takes_no_room_where_it_is_not_there() -> None:
    long = alert(1, kind="index_rebuilding")
    assert "INDEX REBUILDING " in "".join(text for text, _ in lines.line(long, 80, 5, "UTC", lines.kind_cells([long])))
    assert lines.shown_columns(80, lines.kind_cells([alert(2)])) == lines.shown_columns(80)


def test_whom_an_alert_is_about_is_told_by_name(app: Console) -> None:
    about = replace(alert(1, kind="offline", detail="on shift, no contact for 9 min"), worker="Ana Rossi")
    assert "Ana Rossi: on shift, no contact" in "".join(text for text, _ in lines.line(about, 100, 5, "UTC"))
    assert isinstance(app.behind, Still)
    engine = app.behind.engine
    for detail in ("W-2 silent, should have left 3 min ago", "W-2: fix 45 s"):
        cause = Cause(kind="no_show", cause="J-1", severity=1, detail=detail, job_id="J-1", worker_id="W-2")
        engine.store.run(engine.tenant, raise_alert(WHO, cause))
        row = next(each for each in rows_now(engine)[1] if each.kind == "no_show")
        assert row.detail == detail.replace("W-2", "Ben Kovač")


def test_empty_space_below_the_alerts_is_given_to_their_details(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        behind, pane = app.behind, desk.query_one(Alerts)
        assert behind.snap is not None
        for many in (3, 60):
            storm = tuple(alert(n, detail=f"{LONG} {n}") for n in range(many))
            behind.snap = replace(behind.snap, alerts=storm)
            pane.take(behind.snap, 5)
            await keys(pilot, "1", "end")
            told = " ".join(shown(app).split())
            assert pane.cursor == f"A-{many - 1}"
            assert ("1 cooldown 2" in told) == (many == 3)
        behind.snap = replace(behind.snap, alerts=storm[:2])
        pane.take(behind.snap, 5)
        pane.mark("A-1")
        await settle(pilot)
        assert sum("■" in row for row in shown(app).splitlines()) == 1

    drive(app, play, size=(80, 24))


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


# --- many at once ----------------------------------------------------------------------------------------------------


def open_alerts(app: Console) -> dict[str, tuple[str | None, str | None, int]]:
    assert isinstance(app.behind, Still)
    found = app.behind.engine.store.alerts("main")
    return {each.id: (each.acked_by, each.owner, each.snoozed_until_ms) for each in found}


async def mark_all(pilot: Pilot[int], desk: Desk) -> list[str]:
    await keys(pilot, "1", "home")
    many = list(desk.query_one(Alerts).order)
    await keys(pilot, *["space"] * len(many))
    assert list(desk.query_one(Alerts).marks) == many
    return many


def test_marked_alerts_are_acknowledged_together_after_a_dry_run_that_changes_nothing(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "1", "a")
        await settle(pilot)
        many = await mark_all(pilot, desk)
        assert desk.board.marks == {}, "a mark in pane 1 is the alert's, not its job's"
        before = open_alerts(app)
        await keys(pilot, "a")
        await settle(pilot)
        assert isinstance(app.screen, Bulk)
        left_out = [each for each in many if before[each][0]]
        assert f"Acknowledge {len(many) - 1} alert" in shown(app)
        assert "is acknowledged by ana already" in shown(app)
        assert not app.screen.query_one(ReasonFields).display
        assert open_alerts(app) == before
        await keys(pilot, "ctrl+s")
        await settle(pilot)
        await keys(pilot, "escape")
        await settle(pilot)
        assert all(acked == "ana" for acked, _, _ in open_alerts(app).values())
        assert f"1 left out, {len(many) - 1} applied" in shown(app)
        assert list(desk.query_one(Alerts).marks) == left_out, "what was not done stays marked"
        assert desk.hands.lines[-1] == "/ack marked"
        await keys(pilot, "escape", "escape")
        assert desk.query_one(Alerts).marks == {}

    drive(app, play)


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
def test_what_is_marked_is_said_beside_the_keys_in_every_pane(app: Console, size: tuple[int, int]) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "1", "home", "space", "end", "space")
        assert " 2 alerts marked  ? help" in shown(app).splitlines()[-1], "at once, at the last row too"
        await keys(pilot, "2", "home", "space")
        for pane in "21345":
            await keys(pilot, pane)
            assert shown(app).splitlines()[-1].startswith(" 2 alerts, 1 job marked")
        await keys(pilot, "escape", "escape")
        assert "marked" not in shown(app).splitlines()[-1]

    drive(app, play, size=size)


def test_many_are_snoozed_for_minutes_and_resolved_with_one_reason_each_audited(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        many = await mark_all(pilot, desk)
        await keys(pilot, "n")
        await settle(pilot)
        assert "snooze marked 10m" in shown(app)
        await keys(pilot, "escape")
        await keys(pilot, "slash", *'resolve marked other "the storm is over"', "enter")
        await settle(pilot)
        assert isinstance(app.screen, Bulk)
        assert "is closed; it comes again if its cause is still there" in shown(app)
        await keys(pilot, "ctrl+s")
        await settle(pilot)
        assert open_alerts(app) == {}
        assert isinstance(app.behind, Still)
        words = {each.words for each in app.behind.engine.store.newest_audit("main", limit=len(many))}
        at = len(many)
        assert words == {
            f"other: the storm is over — /resolve {each} other ({n} of {at})" for n, each in enumerate(many, start=1)
        }

    drive(app, play)


def test_one_that_another_desk_took_since_the_dry_run_is_refused_alone_with_who_did_it(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        many = await mark_all(pilot, desk)
        await keys(pilot, "m")
        await settle(pilot)
        assert isinstance(app.behind, Still)
        triage(app.behind.engine, replace(WHO, name="ben"), "own", many[0])
        await keys(pilot, "ctrl+s")
        await settle(pilot)
        assert isinstance(app.screen, Bulk)
        rows = app.screen.query_one(BulkRows).rows
        assert [rows[each].state for each in many] == ["refused", *["applied"] * (len(many) - 1)]
        assert "it is owned by ben now" in rows[many[0]].words
        assert open_alerts(app)[many[0]][1] == "ben"

    drive(app, play)


def test_a_mark_ends_with_its_alert(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        many = await mark_all(pilot, desk)
        assert isinstance(app.behind, Still)
        triage(app.behind.engine, WHO, "resolve", many[0])
        app.look_again()
        await settle(pilot)
        assert list(desk.query_one(Alerts).marks) == many[1:]
        assert f"{len(many) - 1} marked" in shown(app)

    drive(app, play)
