"""Whatever comes from behind, the next key acts on the job it would have acted on before."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot

from console.app import Console
from console.behind import Behind
from console.commands import by_id
from console.screens.desk import Desk
from console.viewmodels.rows import (
    ACCEPTED,
    CANCELLED,
    DONE,
    OFFERED,
    OPEN,
    UNASSIGNED,
    AlertRow,
    JobRow,
    OfferRow,
    SiteFacts,
    Snapshot,
)
from console.widgets.alerts import Alerts
from console.widgets.lines import Lines
from console.widgets.panes import Board, Offers
from tests.console.desks import NOON_MS, campus, drive, keys, settle, still

SITE = SiteFacts(
    name="Told", zone="Europe/Rome", training=True, readonly=False, demo=False, actor="ana", role="trainer"
)
STATES = (OPEN, UNASSIGNED, OFFERED, ACCEPTED, DONE, CANCELLED)


class Told(Behind):
    """A desk's back that shows what the test says."""

    def __init__(self, jobs: dict[str, JobRow]) -> None:
        super().__init__(Path("told.db"), rounds=False, mono_s=lambda: 0.0)
        self.tell(jobs)

    def tell(self, jobs: dict[str, JobRow]) -> None:
        self.snap = Snapshot(
            read_s=0.0,
            now_ms=NOON_MS,
            site=SITE,
            jobs=jobs,
            alerts=(),
            offers=(),
            router="ok",
            rounds="here",
            p99_us=None,
        )

    def read(self) -> None:
        """Told already."""

    def close(self) -> None:
        """Nothing is open."""


def row(number: int, state: str = OPEN) -> JobRow:
    """Higher numbers are due sooner, so that arrivals come in above."""
    due_ms = NOON_MS + (100_000 - number) * 60_000
    return JobRow(
        id=f"J-{number}", type="exam", skills="proctor", state=state, priority=1 + number % 3, not_before_ms=due_ms,
        due_by_ms=due_ms, duration_ms=60_000, address=f"Hall {number % 7}", notes="", attachments="{}", region="main",
        version=1,
    )  # fmt: skip


Step = tuple[str, int]
steps = st.lists(
    st.tuples(
        st.sampled_from(
            ["arrive", "leave", "leave cursor", "change", "change cursor", "sort", "filter", "unassigned", "tick"]
        ),
        st.integers(min_value=0, max_value=10_000),
    ),
    min_size=1,
    max_size=12,
)


def happen(step: Step, jobs: dict[str, JobRow], desk: Desk) -> dict[str, JobRow]:
    """One thing that happens to the list, by others or by a key that only changes what is shown."""
    what, n = step
    ids = list(jobs)
    aim = desk.board.cursor or "" if what.endswith("cursor") else ids[n % len(ids)] if ids else ""
    if what == "arrive":
        return {**jobs, **{f"J-{each}": row(each, STATES[each % 4]) for each in range(1_000 + n, 1_003 + n)}}
    if what.startswith("leave"):
        return {each: kept for each, kept in jobs.items() if each != aim}
    if what.startswith("change") and aim in jobs:
        return {**jobs, aim: replace(jobs[aim], state=STATES[n % len(STATES)], version=jobs[aim].version + 1)}
    return jobs


@settings(max_examples=20)
@given(steps)
def test_nothing_but_a_moving_key_changes_what_the_next_key_acts_on(told: list[Step]) -> None:
    jobs = {f"J-{n}": row(n, STATES[n % 4]) for n in range(60)}
    behind = Told(jobs)
    app = Console(behind, ticks=False)

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        nonlocal jobs
        await keys(pilot, "space", "space", "space", "pagedown", "j")
        aimed, marked = desk.job, {each.id for each in desk.state.marked}
        assert aimed is not None
        assert len(marked) == 3
        for step in told:
            jobs = happen(step, jobs, desk)
            behind.tell(jobs)
            if step[0] in ("sort", "unassigned"):
                await keys(pilot, "z" if step[0] == "sort" else "u")
            if step[0] == "filter":
                await keys(pilot, "f", *"hall", "enter")
            app.look_again()
            await settle(pilot)
            assert desk.job is not None
            assert (desk.job.id, desk.state.job) == (aimed.id, desk.job)
            assert desk.job.gone == (aimed.id not in jobs)
            assert [each.id for each in desk.state.marked if each.id not in marked] == []
            assert {each.id for each in desk.state.marked} >= marked & set(jobs)

    drive(app, play, size=(80, 24))


def test_B116_the_cursor_stays_on_its_job_and_on_its_line_while_rows_arrive_above() -> None:
    jobs = {f"J-{n}": row(n) for n in range(500)}
    behind = Told(jobs)
    app = Console(behind, ticks=False)

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, *["pagedown"] * 6)
        aimed, line = desk.job, desk.board.order.index(desk.board.cursor or "") - desk.board.scroll_offset.y
        assert aimed is not None
        more = {f"J-{n}": row(n) for n in range(900, 903)}
        behind.tell({**more, **jobs, aimed.id: replace(aimed, state=ACCEPTED, version=2)})
        app.look_again()
        await settle(pilot)
        assert desk.job is not None
        assert (desk.job.id, desk.job.state) == (aimed.id, ACCEPTED)
        assert desk.board.order.index(aimed.id) - desk.board.scroll_offset.y == line
        assert set(more) < set(desk.board.order)

    drive(app, play)


def test_an_alert_that_is_resolved_leaves_the_cursor_on_nothing_not_on_its_neighbour(tmp_path: Path) -> None:
    campus(tmp_path / "site.db")
    app = still(tmp_path / "site.db")

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "1")
        first = desk.alert
        assert first is not None
        snap = app.behind.snap
        assert snap is not None
        app.behind.snap = replace(snap, alerts=tuple(each for each in snap.alerts if each.id != first.id))
        desk.news()
        await settle(pilot)
        assert desk.alert is None
        assert desk.job is None
        await keys(pilot, "a")
        assert app.behind.snap.alerts[0].acked_by == ""
        await keys(pilot, "j")
        assert desk.alert is not None

    drive(app, play)


def test_B117_ten_thousand_jobs_scroll_and_a_change_paints_its_own_line_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """How fast, under 2,000 workers' changes: `run.py bench console`."""
    jobs = {f"J-{n}": row(n) for n in range(10_000)}
    behind = Told(jobs)
    app = Console(behind, ticks=False)
    painted: list[int] = []
    paint = Board.render_line
    monkeypatch.setattr(Board, "render_line", lambda board, y: (painted.append(y), paint(board, y))[1])

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        taken_s: list[float] = []
        for key in ("G", "pageup", "k", "g", "pagedown", "j"):
            since = time.perf_counter()
            await keys(pilot, key)
            taken_s.append(time.perf_counter() - since)
        assert sorted(taken_s)[len(taken_s) // 2] < 0.1
        await pilot.pause(0.1)
        painted.clear()
        here, far = desk.board.order[3], desk.board.order[9_000]
        behind.tell({**jobs, here: replace(jobs[here], state=OFFERED), far: replace(jobs[far], state=ACCEPTED)})
        app.look_again()
        await pilot.pause(0.1)
        assert len(set(painted)) == 1

    drive(app, play)


def test_B117_it_is_there_within_three_seconds_and_keys_stay_quick_while_jobs_change() -> None:
    """Twelve changes come before each key, as at fifty a second; with an engine: `run.py bench console`."""
    since_start = time.perf_counter()
    jobs = {f"J-{n}": row(n) for n in range(10_000)}
    behind = Told(jobs)
    app = Console(behind, ticks=False)

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        nonlocal jobs
        assert len(desk.board.order) == 10_000
        assert time.perf_counter() - since_start < 3
        taken_s: list[float] = []
        for at, key in enumerate(("G", "pageup", "k", "g", "pagedown", "j", "j", "k", "G", "g")):
            changed = [desk.board.order[n] for n in range(at * 12, at * 12 + 12)]
            jobs = {**jobs, **{each: replace(jobs[each], state=OFFERED, version=2) for each in changed}}
            behind.tell(jobs)
            since = time.perf_counter()
            app.look_again()
            await keys(pilot, key)
            taken_s.append(time.perf_counter() - since)
        assert sorted(taken_s)[len(taken_s) // 2] < 0.1

    drive(app, play)


NUMBERS = range(40)
KEYS = ("z", "u", "T", "M")
TYPED = (("f", *"hall", "enter"), ("f", *"nothing", "enter"), ("f", "escape"), ("f", *"hall 3", "escape"))
deeds = st.one_of(
    st.tuples(st.just("news"), st.frozensets(st.sampled_from(NUMBERS), max_size=30)),
    st.tuples(st.just("gone"), st.sampled_from(["aim", "another"])),
    st.tuples(st.just("keys"), st.lists(st.sampled_from(KEYS), min_size=1, max_size=2).map(tuple)),
    st.tuples(st.just("filter"), st.sampled_from(TYPED)),
    st.tuples(st.just("window"), st.just(())),
    st.tuples(st.just("mark"), st.sampled_from([("space",), ("shift+down",), ("shift+up",), ("j", "space")])),
    st.tuples(st.just("move"), st.sampled_from([("j",), ("k",), ("G",)])),
)


@pytest.mark.parametrize("size", [(120, 36), (40, 12)], ids=["wide", "narrow"])
@pytest.mark.parametrize("pane", ["alerts", "offers"])
@settings(max_examples=8)
@given(told=st.lists(deeds, min_size=3, max_size=10))
def test_in_other_panes_too_only_a_person_moves_the_cursor(
    pane: str, size: tuple[int, int], told: list[tuple[str, object]]
) -> None:
    """``aim``: the row that the next key acts on, and its job, as the operator left them; None once it has gone."""
    jobs = {f"J-{n}": row(n) for n in range(20)}
    behind = Told(jobs)
    tell(behind, frozenset(range(12)))
    app = Console(behind, ticks=False)

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await keys(pilot, "1" if pane == "alerts" else "5", "j", "j")
        rows: Lines = desk.query_one(Alerts) if pane == "alerts" else desk.query_one(Offers)
        hands = Hand(aim=rows.cursor, marks=frozenset())
        assert hands.aim is not None
        for each in told:
            await befall(pilot, desk, rows, each)
            hands = hands.after(each[0], desk, rows)
            assert (rows.cursor, desk.pane) == (hands.aim, pane)
            assert (desk.job.id if desk.job else None) == (None if hands.aim is None else f"J-{number(hands.aim) % 20}")
            assert marked(desk, pane) == hands.marks
            if pane == "alerts":
                aimed_at = by_id("acknowledge").many(desk.state)
                assert {one.id for one in aimed_at} == hands.marks  # a bulk act is for what is marked, and in sight

    drive(app, play, size=size)


@dataclass(frozen=True, slots=True)
class Hand:
    """What a person has done: where they left the cursor, and what they marked."""

    aim: str | None
    marks: frozenset[str]

    def after(self, what: str, desk: Desk, rows: Lines) -> "Hand":
        """A key that moves or marks is theirs; whatever else happens takes away what has gone, and no more."""
        if what in ("move", "mark"):
            marks = marked(desk, desk.pane)
            assert marks == self.marks if what == "move" else len(self.marks ^ marks) <= 2
            return Hand(aim=rows.cursor, marks=marks)
        here = frozenset(rows.order)
        return Hand(
            aim=self.aim if self.aim in here else None, marks=self.marks & here if rows.id == "alerts" else self.marks
        )


def marked(desk: Desk, pane: str) -> frozenset[str]:
    state = desk.state
    return frozenset(each.id for each in (state.marked_alerts if pane == "alerts" else state.marked))


async def befall(pilot: Pilot[int], desk: Desk, rows: Lines, told: tuple[str, object]) -> None:
    what, how = told
    behind = desk.console.behind
    assert isinstance(behind, Told)
    if what == "news":
        tell(behind, cast("frozenset[int]", how))
    elif what == "gone":
        others = [each for each in rows.order if each != rows.cursor]
        leaves = rows.cursor if how == "aim" else others[0] if others else None
        tell(behind, frozenset(number(each) for each in rows.order if each != leaves))
    elif what == "window":
        desk.app.post_message(events.AppBlur())
        await settle(pilot)
        desk.app.post_message(events.AppFocus())
    else:
        await keys(pilot, *cast("tuple[str, ...]", how))
    desk.console.look_again()
    await settle(pilot)


def tell(behind: "Told", kept: frozenset[int]) -> None:
    """Alerts and offers of these numbers stand, each of another severity than by its number."""
    assert behind.snap is not None
    behind.snap = replace(
        behind.snap,
        alerts=tuple(replace(alert(n), severity=1 + n % 3) for n in sorted(kept)),
        offers=tuple(offer(n) for n in sorted(kept, reverse=True)),
    )


def number(row_id: str) -> int:
    return int(row_id.partition("-")[2])


def alert(n: int) -> AlertRow:
    return AlertRow(id=f"A-{n}", kind="unassigned", severity=1, job_id=f"J-{n % 20}", worker="", detail="", acked_by="",
                    opened_ms=NOON_MS, owner="", snoozed_until_ms=0, escalated=0)  # fmt: skip


def offer(n: int) -> OfferRow:
    return OfferRow(id=f"O-{n}", job_id=f"J-{n % 20}", worker="", created_ms=NOON_MS, expires_ms=NOON_MS + 20_000,
                    band_from_ms=NOON_MS, band_to_ms=NOON_MS, confidence="low")  # fmt: skip
