"""What is typed after `/`: prefixes, names, reasons; errors in one line that change nothing; filters and search."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from console.app import Console
from console.commands import COMMANDS, DeskState, by_id
from console.screens.audit import AuditList
from console.screens.command_line import CommandLine, every_verb
from console.screens.desk import Desk
from console.screens.find import FindScreen
from console.screens.reason import WithReason
from console.screens.workers import WorkerList
from console.viewmodels import filters
from console.viewmodels.commands_typed import Known, Wrong, completed, hint, parse
from console.viewmodels.filters import Filter
from engine.rules.nouns import JobState
from tests.console.desks import Still, campus, drive, keys, settle, shown, still
from tests.console.test_cursor import row

NAMES = {"W-1": "Ana Rossi", "W-2": "Ben Kovač", "W-3": "Cleo Wang", "W-4": "Cleo Brandt"}
REASONS = ("stale", "sick", "mistake", "other")
KNOWN = Known(jobs={each.id: each for each in (row(9), row(42))}, alerts={}, names=NAMES, reasons=REASONS)
NOTHING = DeskState(ready=True, readonly=False, pane="jobs", job=None, alert=None)
ON_9 = DeskState(ready=True, readonly=False, pane="jobs", job=row(9), alert=None)


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Console:
    monkeypatch.setenv("CALLBOARD_CONFIG", str(tmp_path / "config"))
    campus(tmp_path / "site.db")
    return still(tmp_path / "site.db")


def job_of(app: Console, job_id: str) -> tuple[JobState, str | None]:
    assert isinstance(app.behind, Still)
    found = app.behind.engine.store.job("main", job_id)
    assert found is not None
    return found.state, found.worker_id


async def type_in(pilot: Pilot[int], line: str) -> None:
    await keys(pilot, "slash", *line, "enter")
    await settle(pilot)


# --- the language ---------------------------------------------------------------------------------------------------


def test_every_verb_runs_a_command_and_every_form_begins_with_a_verb() -> None:
    assert {each.command for each in every_verb()} <= {each.id for each in COMMANDS}
    names = {each.name for each in every_verb()}
    assert all(each.form.split()[0] in names for each in COMMANDS if each.form)


def test_an_offer_names_job_worker_reason_and_words() -> None:
    meant = parse('/of j42 ben stale "phoned him up"', NOTHING, KNOWN)
    assert meant.command == "assign"
    assert meant.state.job is not None
    typed = meant.state.typed
    assert typed is not None
    assert (meant.state.job.id, typed.worker_id, typed.reason, typed.words) == ("J-42", "W-2", "stale", "phoned him up")


def test_without_a_job_it_is_the_selected_one() -> None:
    meant = parse("cancel mistake was entered twice", ON_9, KNOWN)
    assert meant.state.job is not None
    assert (meant.state.job.id, meant.state.typed and meant.state.typed.words) == ("J-9", "was entered twice")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("re J-9", "re may be release, reassign, resolve, recall: type on"),
        ("frobnicate", "no such verb"),
        ("offer J-99", "J-99: no such job"),
        ("offer J-9 cleo", "cleo may be W-3, W-4: type the id"),
        ("offer J-9 dora", "dora: no such worker"),
        ("cancel J-9 stale short", "5 more letters of words are wanted"),
        ("cancel J-9 because I say so", "because: not a reason"),
        ('cancel J-9 stale "no end', "is not closed"),
        ("cancel", "which job? None is selected"),
        ("start J-9 now", "now: not understood after start"),
        ("ack", "which alert? None is selected"),
        ("find", "find: what?"),
        ("cancel marked stale all of these", "no job is marked"),
    ],
)
def test_what_is_wrong_is_one_line(line: str, said: str) -> None:
    with pytest.raises(Wrong) as wrong:
        parse(line, NOTHING, KNOWN)
    assert said in str(wrong.value)


@pytest.mark.parametrize(
    ("line", "command", "text"),
    [("/J-42", "go", ""), ("/j42", "go", ""), ("/W-2", "find", "W-2"), ("/O-7KQ2M9XA", "find", "O-7KQ2M9XA"),
     ("/A-9", "find", "A-9"), ("/#12", "find", "#12"), ("/audit J-42", "audit", "J-42"), ("/audit", "audit", ""),
     ("/workers cleo", "workers", "cleo"), ("/find J-42", "find", "J-42")],
)  # fmt: skip
def test_an_id_finds_its_thing_alone_or_after_a_verb_that_lists(line: str, command: str, text: str) -> None:
    meant = parse(line, NOTHING, KNOWN)
    typed = meant.state.typed
    assert typed is not None
    assert (meant.command, typed.text) == (command, text)
    assert command != "go" or (meant.state.job is not None and meant.state.job.id == "J-42")


def test_audit_of_a_job_an_offer_and_a_worker_from_the_line(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        for typed, told, other in (("audit j1", "rows of J-1", "J-2"), ("audit {offer}", "rows of O-", "create job")):
            snap = app.behind.snap
            assert snap is not None
            offer = snap.jobs["J-1"].held_offer_id
            await keys(pilot, "slash", *typed.format(offer=offer), "enter")
            await settle(pilot)
            assert told in shown(app)
            rows = list(app.screen.query_one(AuditList).rows.values())
            assert rows
            assert all(each.job_id == "J-1" and each.act != other for each in rows)
            await keys(pilot, "escape", "escape")
            await settle(pilot)
            assert app.screen is desk
        await keys(pilot, "slash", *"workers ben", "enter")
        await settle(pilot)
        assert app.screen.query_one(WorkerList).order == ["W-2"]

    drive(app, play)


@given(st.text(max_size=80))
def test_any_letters_are_understood_or_refused_in_words(line: str) -> None:
    forms = {each.id: each.form for each in COMMANDS}
    hint(line, KNOWN, forms)
    completed(line, KNOWN)
    try:
        meant = parse(line, ON_9, KNOWN)
    except Wrong as wrong:
        assert str(wrong).strip()  # noqa: PT017  (either is right)
    else:
        assert by_id(meant.command)


def test_tab_completes_verbs_jobs_workers_and_reasons() -> None:
    assert completed("/ov", KNOWN) == "/override "
    assert completed("offer j4", KNOWN) == "offer J-42 "
    assert completed("offer J-42 be", KNOWN) == "offer J-42 W-2 "
    assert completed("cancel J-42 mis", KNOWN) == "cancel J-42 mistake "


TOLD = st.builds(Filter, unassigned=st.booleans(), due_min=st.integers(0, 9999), skill=st.sampled_from(["", "hvac"]),
                 text=st.sampled_from(["", "a b", "[/]"]), cell=st.sampled_from(["", "881f1d4887fffff"]))  # fmt: skip


@given(TOLD)
def test_a_filter_is_told_as_it_is_typed(kept: Filter) -> None:
    assert filters.parse(filters.told(kept)) == kept


def test_a_filter_narrows_by_skill_and_by_what_is_due() -> None:
    now = row(9).due_by_ms - 30 * 60_000
    assert filters.parse("skill:proc due:30m").at(now).keeps(row(9))
    assert not filters.parse("due:29m").at(now).keeps(row(9))
    assert not filters.parse("skill:hvac").keeps(row(9))


# --- at the desk ----------------------------------------------------------------------------------------------------


def test_a_typed_override_is_applied_and_its_line_is_in_the_audit(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await type_in(pilot, '/offer J-9 dora stale "phoned her up"')
        assert isinstance(app.screen, Desk)
        assert job_of(app, "J-9")[0] is JobState.OFFERED
        assert '/offer J-9 W-4 stale "phoned her up"' in shown(app)
        assert isinstance(app.behind, Still)
        newest = app.behind.engine.store.newest_audit("main", limit=1)[0]
        assert (newest.act, newest.reason) == ("override", "stale")
        assert newest.words == "phoned her up — /offer J-9 W-4 stale"

    drive(app, play)


def test_force_over_a_standing_offer_withdraws_it_and_books_at_once(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await type_in(pilot, '/force J-7 W-4 local "she lives next door"')
        assert job_of(app, "J-7") == (JobState.ACCEPTED, "W-4")
        assert isinstance(app.behind, Still)
        states = [str(each.state) for each in app.behind.engine.store.offers_of_job("main", "J-7")]
        assert sorted(states) == ["ACCEPTED", "WITHDRAWN"]

    drive(app, play)


def test_a_key_shows_how_it_would_be_typed(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        desk.board.put("J-9")
        await keys(pilot, "s")
        await settle(pilot)
        assert "/offer J-9" in shown(app)

    drive(app, play)


def test_a_wrong_line_stays_to_be_mended_and_changes_nothing(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await type_in(pilot, "/cancel J-9 nonsense here it is")
        assert isinstance(app.screen, CommandLine)
        assert "nonsense: not a reason" in shown(app)
        await keys(pilot, "escape")
        await settle(pilot)
        assert isinstance(app.screen, Desk)
        assert job_of(app, "J-9")[0] is JobState.OPEN

    drive(app, play)


def test_without_a_reason_the_dialog_asks_for_it(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await type_in(pilot, "/cancel J-9")
        assert isinstance(app.screen, WithReason)

    drive(app, play)


def test_work_is_begun_and_finished_on_behalf(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await type_in(pilot, "/start J-1")
        assert job_of(app, "J-1")[0] is JobState.IN_PROGRESS
        desk.board.put("J-1")
        await keys(pilot, "d")
        await settle(pilot)
        assert job_of(app, "J-1")[0] is JobState.DONE
        await type_in(pilot, "/accept J-7")
        assert job_of(app, "J-7")[0] is JobState.ACCEPTED

    drive(app, play)


def test_an_urgent_job_takes_the_worker_of_a_lesser_one(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        assert isinstance(app.behind, Still)
        from tests.console.desks import job, take_in

        take_in(app.behind.engine, job("J-77", due_min=200, priority=5))
        app.look_again()
        was = job_of(app, "J-1")[1]
        await type_in(pilot, '/preempt J-77 J-1 emergency "a burst pipe"')
        assert job_of(app, "J-1")[0] is JobState.OPEN
        live = [each for each in app.behind.engine.store.live_offers("main") if each.job_id == "J-77"]
        assert [each.worker_id for each in live] == [was]

    drive(app, play)


def test_find_looks_through_jobs_workers_offers_and_audit_and_goes_to_the_job(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await type_in(pilot, "/find J-7")
        assert isinstance(app.screen, FindScreen)
        told = shown(app)
        assert all(kind in told for kind in ("job ", "offer ", "audit "))
        await keys(pilot, "enter")
        await settle(pilot)
        assert desk.board.cursor == "J-7"
        await type_in(pilot, "/find okafor")
        assert "W-4" in shown(app)
        await keys(pilot, "escape")
        snap = app.behind.snap
        assert snap is not None
        await type_in(pilot, f"/{snap.alerts[0].id}")
        assert "alert unassigned" in shown(app), "an alert by its id alone, in the audit"
        await keys(pilot, "escape")
        await type_in(pilot, "/#1")
        assert "found site" in shown(app)

    drive(app, play)


def test_find_takes_markup_literally(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await type_in(pilot, "/find [/] [@click=app.quit]")
        assert "find [/] [@click=app.quit] · 0 found" in shown(app)

    drive(app, play)


def test_a_filter_is_kept_by_name_and_recalled(app: Console) -> None:
    async def play(pilot: Pilot[int], desk: Desk) -> None:
        await type_in(pilot, "/filter unassigned skill:hvac")
        assert set(desk.board.order) >= {"J-4", "J-5"}
        await type_in(pilot, "/save heating")
        await keys(pilot, "escape")
        await settle(pilot)
        every = len(desk.board.order)
        await type_in(pilot, "/recall heating")
        assert desk.board.kept == Filter(unassigned=True, skill="hvac")
        assert len(desk.board.order) < every
        await type_in(pilot, "/recall nothing")
        assert "no filter of this name" in shown(app)
        await type_in(pilot, "/forget heating")
        await type_in(pilot, "/recall")
        assert "kept filters: none yet" in shown(app)

    drive(app, play)


def test_a_command_says_its_form() -> None:
    assert by_id("cancel").form == 'cancel JOB reason "words"'
