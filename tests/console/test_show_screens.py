"""The screens that only show: workers, audit, figures, handover, settings, tour, and what-if weights."""

import base64
import stat
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from console import reads_figures
from console.app import Console
from console.screens.audit import AuditScreen
from console.screens.desk import Desk
from console.screens.handover import HandoverScreen
from console.screens.pages import Page
from console.screens.shown import Shown
from console.screens.workers import WorkersScreen
from console.viewmodels import figures as figure_lines
from console.viewmodels import handover as handover_lines
from console.viewmodels import workers as worker_lines
from console.viewmodels.cells import ALERT
from console.viewmodels.rows import AlertRow, JobRow
from console.viewmodels.workers import Slot, WorkerRow
from console.widgets.read import Read
from engine import wiring
from engine.metrics import Metrics
from engine.ports import Busy, Invalid
from engine.program import Program, must
from engine.rules.nouns import FixReport
from engine.store import lock
from engine.store.sqlite import SqliteStore
from engine.verbs import answer, assign, ingest, override, revoke, triage
from tests.console.desks import (
    MINUTE_MS,
    NOON_MS,
    WHO,
    Still,
    campus,
    drive,
    found,
    job,
    keys,
    settle,
    shown,
    still,
    take_in,
    typed,
    worker,
)
from tests.console.test_hostile_text import HOSTILE, quiet

SIZES = [(40, 12), (80, 24), (120, 36), (200, 50)]
SCREENS = "WAFHS"


@pytest.fixture
def app(tmp_path: Path) -> Console:
    campus(tmp_path / "site.db")
    return still(tmp_path / "site.db")


def a_worker(**more: object) -> WorkerRow:
    usual: dict[str, object] = {
        "id": "W-1",
        "name": "Ana Rossi",
        "skills": "proctor",
        "region": "main",
        "moving_to": "",
        "capacity": 1,
        "area": "",
        "starts_ms": NOON_MS,
        "ends_ms": NOON_MS + 240 * MINUTE_MS,
        "on_shift": True,
        "absent": False,
        "presence": "fresh",
        "cell": "881ea3d085fffff",
        "seen_ms": 6_000,
        "heard_ms": 2_000,
        "jobs_today": 1,
        "offer_id": "",
        "offer_job": "",
        "offer_from_ms": 0,
        "offer_until_ms": 0,
        "slots": (),
    }
    return WorkerRow(**{**usual, **more})  # type: ignore[arg-type]


def test_a_worker_whose_offer_is_over_is_shown_as_lapsed_until_it_is_swept() -> None:
    offered = {"offer_id": "O-7KQ2", "offer_job": "J-7", "offer_from_ms": NOON_MS, "offer_until_ms": NOON_MS + 20_000}
    row = a_worker(**offered)

    def seen(now_ms: int) -> tuple[str, str]:
        cells = "".join(
            text for text, _ in worker_lines.line(row, 120, worker_lines.axis([row], NOON_MS), now_ms, "UTC")
        )
        return cells, "\n".join("".join(text for text, _ in each) for each in worker_lines.told(row, now_ms, "UTC"))

    for now_ms in (NOON_MS, NOON_MS + 19_999):
        assert all("LAPSED" not in each for each in seen(now_ms))
    assert " 0:20 J-7 " in seen(NOON_MS)[0]
    for now_ms in (NOON_MS + 20_000, NOON_MS - 1):
        listed, full = seen(now_ms)
        assert " LAPSED J-7 " in listed
        assert "offered J-7 (O-7KQ2), LAPSED, waits for the sweep" in full
        assert " left" not in full


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("key", SCREENS)
def test_every_screen_opens_with_the_alerts_in_sight_and_escape_goes_back(
    app: Console, key: str, size: tuple[int, int]
) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, key)
        await settle(pilot)
        assert isinstance(app.screen, Shown)
        told = shown(app)
        assert "▲2 alerts" in told
        assert "esc back" in told
        await keys(pilot, "j", "k", "G", "g", "r")
        await settle(pilot)
        await keys(pilot, "escape")
        await settle(pilot)
        assert app.screen is desk

    drive(app, play, size=size)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_B111_hostile_names_do_nothing_on_these_screens(tmp_path: Path, size: tuple[int, int]) -> None:
    engine = found(tmp_path / "site.db", workers=[worker(at, name, "proctor") for at, name in enumerate(HOSTILE, 1)])
    take_in(engine, *(job(f"J{at}", due_min=20 + at, type=text, address=text) for at, text in enumerate(HOSTILE)))
    for at, text in enumerate(HOSTILE):
        why = revoke.reasoned("other", f"{text} as they asked for it")
        override.override(engine, WHO, f"J{at}", f"W-{at + 1}", why, force=True)
    wiring.close(engine)
    app = still(tmp_path / "site.db")

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        for key in SCREENS:
            await keys(pilot, key)
            await settle(pilot)
            for _ in HOSTILE:
                quiet(shown(app))
                await keys(pilot, "j")
            await keys(pilot, "escape")
            await settle(pilot)
        assert app.screen is desk

    drive(app, play, size=size)


# --- workers -------------------------------------------------------------------------------------------------------


def test_bookings_are_drawn_in_their_slice_of_the_shift() -> None:
    held = Slot(
        job_id="J-1",
        starts_ms=NOON_MS + 60 * MINUTE_MS,
        ends_ms=NOON_MS + 120 * MINUTE_MS,
        arrival_ms=NOON_MS + 60 * MINUTE_MS,
        started=False,
    )
    one, two = a_worker(slots=(held,)), a_worker(slots=(held,), capacity=2)
    on = worker_lines.axis([one], NOON_MS + 30 * MINUTE_MS)
    assert (on.from_ms, on.to_ms) == (NOON_MS, NOON_MS + 240 * MINUTE_MS)
    assert worker_lines.booked(one, on, NOON_MS + 30 * MINUTE_MS, 16) == "··│·████········"
    assert worker_lines.booked(two, on, NOON_MS + 30 * MINUTE_MS, 16) == "··│·▄▄▄▄········"
    assert worker_lines.hours(on, 16, "Europe/Rome") == "13  14  15  16  "


def test_stale_silent_and_absent_are_told_by_sign_and_word() -> None:
    told = {worker_lines.state(a_worker(presence=each))[:2] for each in ("fresh", "stale", "silent")}
    assert told == {("●", "fresh"), ("~", "stale"), ("×", "silent")}
    assert worker_lines.state(a_worker(absent=True))[1] == "absent"
    assert worker_lines.state(a_worker(on_shift=False))[1] == "off shift"


def test_the_list_is_filtered_by_skill_or_job_and_keeps_its_worker(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "W", "f")
        await typed(pilot, "J-1")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, WorkersScreen)
        assert screen.list.order == ["W-6"]
        assert "booked J-1" in shown(app)
        await keys(pilot, "escape")
        await settle(pilot)
        assert len(screen.list.order) == 6

    drive(app, play)


# --- audit ---------------------------------------------------------------------------------------------------------


def test_the_audit_of_one_job_is_whole_and_the_chain_is_verified(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "A", "f")
        await typed(pilot, "J-3")
        await keys(pilot, "enter", "v")
        await settle(pilot)
        told = shown(app)
        assert "all 5 rows of J-3" in told
        assert "✓ the chain is whole: 49 rows" in told
        screen = app.screen
        assert isinstance(screen, AuditScreen)
        assert [screen.list.rows[each].act for each in screen.list.order] == [
            "finish",
            "start",
            "accept",
            "offer",
            "create job",
        ]

    drive(app, play)


# --- figures -------------------------------------------------------------------------------------------------------


def test_the_figures_of_the_campus_are_those_of_its_database(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "F")
        await settle(pilot)
        told = shown(app)
        assert isinstance(app.behind, Still)
        jobs = app.behind.engine.store.jobs("main")
        taken = Counter(each.worker_id or each.done_by for each in jobs if each.worker_id or each.done_by)
        most = max(taken.values())  # a tenth of six workers is one
        for each in (
            "3 accepted",
            "23 open",
            "0 of 0 due so far today",
            "6 fresh",
            f"{most / taken.total():.0%}  alarm above 50%",
            "2  above the budget",
        ):
            assert each in told

    drive(app, play)


def test_a_figure_above_its_limit_says_so_in_words_and_not_in_colour_alone(app: Console) -> None:
    assert isinstance(app.behind, Still)
    row = reads_figures.figures(app.behind.engine, WHO)
    app.behind.close()
    said: dict[float, tuple[str, set[str]]] = {}
    for share in (0.5, 0.67):
        told = figure_lines.sections(replace(row, top_decile_share=share), 58)
        lines = next(lines for title, lines in told if title == "Workers")
        line = next(each for each in lines if "top tenth" in "".join(text for text, _ in each))
        said[share] = (" ".join("".join(text for text, _ in line).split()), {look for _, look in line})
    assert said[0.5][0] == "top tenth's share 50% alarm above 50%"
    assert said[0.67][0] == "top tenth's share 67% above 50%"
    assert ALERT in said[0.67][1]
    assert ALERT not in said[0.5][1]


def test_what_the_engine_answered_took_and_chose_is_told_and_a_refusal_counts_as_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "WAIT_S", 0.1)
    campus(tmp_path / "site.db")
    engine, other = wiring.open_engine(tmp_path / "site.db"), SqliteStore(tmp_path / "site.db")
    before = reads_figures.figures(engine, WHO)
    take_in(engine, job("J-new", due_min=90))
    with pytest.raises(Invalid, match="already"):
        take_in(engine, job("J-new", due_min=90))

    def stuck() -> Program[None]:
        yield must("read_clock")
        with pytest.raises(Busy):
            take_in(engine, job("J-busy", due_min=90))

    other.run("main", stuck())
    offer = assign.assign(engine, WHO, "J-new").offer
    assert offer is not None
    answer.accept(engine, WHO, offer.id, offer.worker_id)
    moved = FixReport(worker=offer.worker_id, device_ms=NOON_MS + 4_000, lat=45.0, lng=9.0)
    ingest.report(engine, [moved], received_ms=NOON_MS + 6_000, archive=[])
    row = reads_figures.figures(engine, WHO)
    other.close()
    wiring.close(engine)
    assert row.here.asked == {"create": (3, 1), "accept": (1, 0)}
    assert set(row.here.stages_us) == {"index", "facts", "filter", "road", "lease"}
    assert (row.here.fixes_a_minute, row.here.lag_p50_us) == (1, 2_000_000)
    assert row.followed == before.followed + 1
    told = "\n".join("".join(text for text, _ in line) for _, lines in figure_lines.sections(row, 58) for line in lines)
    for each in ("66.66%", "1 of 3 failed, under 99.9%", "100.00%", "0 of 1 failed, target 99.9%", "p50 2.0 s"):
        assert each in told


def test_what_came_longer_ago_than_a_minute_is_not_of_the_last_minute() -> None:
    metrics = Metrics()
    for at_s in range(0, 600, 5):
        metrics.flowed("fixes", 10, at_s * 1000)
    assert metrics.last_minute("fixes", 599_000) == 120
    assert metrics.last_minute("fixes", 629_000) == 60
    assert metrics.last_minute("fixes", 900_000) == metrics.last_minute("jobs", 0) == 0


@pytest.mark.parametrize(
    ("counts", "room", "told"),
    [
        ((0, 0, 0), 3, "▁▁▁"),
        ((0, 1, 8), 3, "▁▂█"),
        ((1,) * 100, 5, "█████"),
        ((), 5, ""),
        ((0, 0, 9, 0), 2, "▁█"),
        ((1000, 1), 2, "█▂"),
    ],
)
def test_a_spark_shows_its_highest_full_and_nothing_low(counts: tuple[int, ...], room: int, told: str) -> None:
    assert figure_lines.spark(counts, room) == told


@pytest.mark.parametrize("size", [(40, 12), (80, 24)])
def test_a_worker_is_told_in_full_on_a_page_that_scrolls(app: Console, size: tuple[int, int]) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "W")
        await settle(pilot)
        await keys(pilot, "enter")
        await settle(pilot)
        assert isinstance(app.screen, Page)
        seen = shown(app)
        await keys(pilot, "G")
        await settle(pilot)
        told = " ".join((seen + shown(app)).replace("┃", " ").split())
        assert "capacity 1" in told
        assert "no bookings" in told, "the last line"
        await keys(pilot, "escape")
        assert isinstance(app.screen, WorkersScreen)

    drive(app, play, size=size)


# --- handover ------------------------------------------------------------------------------------------------------


def test_the_digest_tells_alerts_with_owners_snoozes_overrides_and_jobs_at_risk(tmp_path: Path) -> None:
    campus(tmp_path / "site.db")
    engine = wiring.open_engine(tmp_path / "site.db")
    why = revoke.reasoned("other", "she asked for it herself")
    override.override(engine, WHO, "J-8", "W-2", why, force=True)
    first, second = (each.id for each in engine.store.alerts(engine.tenant))
    triage.triage(engine, WHO, "own", first)
    triage.triage(engine, WHO, "snooze", second, for_min=24)
    wiring.close(engine)
    app = still(tmp_path / "site.db")

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "H")
        await settle(pilot)
        told = shown(app)
        for each in (
            "OPEN ALERTS: 2",
            "owner ana",
            "SNOOZES ENDING: 1",
            "13:24",
            "OVERRIDES, 12 h: 1",
            "ana: J-8 to Ben Kovač · other: she asked for it herself",
            "JOBS AT RISK: 3",
            "TOP TENTH",
        ):
            assert each in told

    drive(app, play)


def test_the_digest_is_copied_as_seen_and_saved_for_its_owner_alone(app: Console, tmp_path: Path) -> None:
    sent: list[str] = []

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        assert app._driver is not None  # pyright: ignore[reportPrivateUsage]
        app._driver.write = sent.append  # pyright: ignore[reportPrivateUsage]
        await keys(pilot, "H", "y")
        await settle(pilot)
        assert "cannot be confirmed" in shown(app)
        await keys(pilot, "s")
        await pilot.pause(0.2)
        [path] = tmp_path.glob("site.db.handover-*.txt")
        text = path.read_text()
        assert text.startswith("HANDOVER Harbour campus")
        assert path.name in "".join(shown(app).split())
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        copied = next(each for each in sent if each.startswith("\x1b]52;c;"))
        assert base64.b64decode(copied[len("\x1b]52;c;") :].rstrip("\x07")).decode() == text
        assert isinstance(app.screen, HandoverScreen)

    drive(app, play, size=(200, 50))


def test_what_somebody_wrote_is_inert_in_the_digest() -> None:
    alert = AlertRow(
        id="A-1",
        kind="missed",
        severity=1,
        job_id="J\x1b[2J",
        worker="",
        detail="a\nb",
        opened_ms=0,
        acked_by="",
        owner="",
        snoozed_until_ms=0,
        escalated=0,
    )
    late = JobRow(
        id="J-1",
        type="\x1b]52;c;aGk=\x07",
        skills="",
        state="OPEN",
        priority=1,
        not_before_ms=0,
        due_by_ms=NOON_MS,
        duration_ms=0,
        address="",
        notes="",
        attachments="",
        region="main",
        version=1,
    )
    told = handover_lines.digest(
        handover_lines.Handover(
            site="[/]",
            zone="UTC",
            now_ms=NOON_MS + MINUTE_MS,
            actor="ana",
            alerts=(alert,),
            jobs=(late,),
            slack_ms={},
            overrides=(),
            top_decile_share=None,
            top_decile_limit=0.5,
            on_shift=0,
            fresh=0,
        )
    )
    assert all(each.isprintable() for each in told)
    assert any("MISSED" in each for each in told)


@pytest.mark.parametrize("width", [40, 80])
def test_what_does_not_fit_of_the_digest_goes_on_right_of_its_entry_and_is_copied_whole(
    app: Console, width: int
) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "H")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, HandoverScreen)
        body = screen.query_one("#page_told", Read)
        rows = str(body.content).splitlines()
        assert all(cell_len(each) <= body.size.width for each in rows)
        copied = screen._text.splitlines()  # pyright: ignore[reportPrivateUsage]
        assert " ".join(" ".join(rows).split()) == " ".join(" ".join(copied).split())
        goes_on = [each for each in rows if each not in copied and each.startswith("    ")]
        assert len(goes_on) >= (2 if width == 40 else 0)

    drive(app, play, size=(width, 24))


# --- settings, tour, what-if -----------------------------------------------------------------------------------------


def test_the_settings_in_force_name_what_the_site_changed(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "S", "f")
        await typed(pilot, "auto_offer")
        await settle(pilot)
        told = shown(app)
        assert "auto_offer" in told
        assert "the site's own; default true" in told
        assert "cooldown_min" not in told

    drive(app, play)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_tour_is_made_of_keys_that_are_there(app: Console, size: tuple[int, int]) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "i")
        await settle(pilot)
        assert "1 Alerts first" in shown(app)
        await keys(pilot, "escape")
        await settle(pilot)
        assert app.screen is desk

    drive(app, play, size=size)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
def test_other_weights_show_another_order_and_change_nothing(app: Console, size: tuple[int, int]) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        behind = app.behind
        assert isinstance(behind, Still)
        before = behind.engine.store.audit_head("main")
        desk.board.put("J-7")
        await keys(pilot, "w", *["minus"] * 6)
        await settle(pilot)
        told = shown(app)
        assert "fairness 0*" in told
        assert "Dora Okafor W-4  score -0.5  was 4" in told
        await keys(pilot, "0")
        await settle(pilot)
        assert "fairness 3" in shown(app)
        assert behind.engine.store.audit_head("main") == before

    drive(app, play, size=size)


@pytest.mark.parametrize(("who", "greeted"), [("ana", False), ("zoe", True)])
def test_only_whoever_has_done_nothing_here_is_shown_the_tour(tmp_path: Path, who: str, greeted: bool) -> None:
    campus(tmp_path / "site.db")
    app = still(tmp_path / "site.db")
    behind = app.behind
    assert behind._actor is not None  # pyright: ignore[reportPrivateUsage]
    behind._actor = replace(behind._actor, name=who)  # pyright: ignore[reportPrivateUsage]

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        assert ("new at this desk? i shows it on one page" in shown(app)) is greeted

    drive(app, play)
