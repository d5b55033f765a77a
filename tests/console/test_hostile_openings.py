"""B111, B112, B114: what no single key of the desk opens: acts on many, preempting, searches, filters, signing in.
With every one of the sixty texts, in the data and pasted into the boxes, on a real terminal."""

import importlib
import pkgutil
from dataclasses import replace
from pathlib import Path

import pytest
from textual.screen import Screen

from console import screens
from console.commands import DeskState
from console.screens.desk import Desk
from console.screens.whole import Whole
from console.viewmodels.commands_typed import Known, Wrong, completed, parse
from engine import records, wiring
from engine.ports import Invalid
from engine.rules.nouns import Role
from engine.verbs import answer, assign, intake, operators
from tests.console.desks import MINUTE_MS, WHO, campus, job
from tests.console.terminals import Seat, desk_on, live_site
from tests.console.test_cursor import row
from tests.console.test_hostile_screens import HOSTILE, alive, hostile_site

ESC, UP, DOWN, BACK_TAB, APPLY, CLEAR = "\x1b", "\x1b[A", "\x1b[B", "\x1b[Z", "\x13", "\x15"
PART = 10
parts = pytest.mark.parametrize("part", range(len(HOSTILE) // PART))


def texts_of(part: int) -> tuple[str, ...]:
    return HOSTILE[part * PART : part * PART + PART]


def pasted(text: str) -> str:
    return f"\x1b[200~{text.replace(chr(27) + '[201~', '')}\x1b[201~"


def leave(desk: Seat) -> None:
    desk.press(ESC, ESC, gap_s=0.11)
    alive(desk)


def reasoned(desk: Seat, text: str) -> None:
    """In a dialog that wants a reason: the text among its words, the first code, apply."""
    desk.press(BACK_TAB, pasted(f"{text[:100]} and ten letters more"), BACK_TAB, "\r", DOWN, "\r", gap_s=0.1)
    desk.press(APPLY, gap_s=0.3)
    alive(desk)


def troubled_site(path: Path, texts: tuple[str, ...]) -> Path:
    """hostile_site, and for each text an alert about it, a job of low priority that is held, and an urgent one."""
    hostile_site(path, texts)
    engine = wiring.open_engine(path)
    now_ms = engine.store.clock(engine.tenant).now_ms
    for at, text in enumerate(texts):
        for name, priority in ((f"L{at}", 1), (f"U{at}", 4)):
            new = job(f"{name}{text[:40]}", due_min=60, priority=priority, address=text, notes=text)
            due_ms = now_ms + (300 + at) * MINUTE_MS
            intake.create_job(engine, WHO, replace(new, not_before_ms=now_ms, due_by_ms=due_ms))
        offer = assign.assign(engine, WHO, f"L{at}{text[:40]}").offer
        if offer is not None:
            answer.accept(engine, WHO, offer.id, offer.worker_id)
        cause = records.Cause(kind="no_show", cause=f"test {at}", severity=2, job_id=f"L{at}{text[:40]}", detail=text)
        engine.store.run(engine.tenant, records.raise_alert(WHO, cause))
    wiring.close(engine)
    return path


@parts
@pytest.mark.long
@pytest.mark.timeout(600)
def test_B111_acts_on_many_jobs_and_on_many_alerts(tmp_path: Path, part: int) -> None:
    texts = texts_of(part)
    with desk_on(troubled_site(tmp_path / "site.db", texts), size=(100, 30)) as desk:
        desk.until("LIVE")
        desk.until("J0")
        for at, text in enumerate(texts):
            for pane, keys in (("2", "slrxc"), ("1", "amnev")):
                desk.press(pane, "g", *" j" * 6, gap_s=0.03)
                desk.press(keys[at % len(keys)], gap_s=0.3)
                reasoned(desk, text)
                leave(desk)


@parts
@pytest.mark.long
@pytest.mark.timeout(600)
def test_B111_preempting_and_what_is_typed_on_the_line(tmp_path: Path, part: int) -> None:
    texts = texts_of(part)
    with desk_on(troubled_site(tmp_path / "site.db", texts), size=(80, 24)) as desk:
        desk.until("LIVE")
        desk.until("J0")
        for at, text in enumerate(texts):
            desk.press("/", f"preempt U{at}", "\t", "\r", gap_s=0.25)
            desk.press(DOWN, UP, gap_s=0.05)
            reasoned(desk, text)
            leave(desk)
            for verb in ("", "find ", "filter ", "workers ", "audit ", "save ", "recall ", "forget ", "go ", "snooze "):
                desk.press("/", gap_s=0.15)
                desk.press(pasted(f"{verb}{text}"), "\t", "\r", gap_s=0.1)
                alive(desk)
                desk.press("j", "k", gap_s=0.03)
                leave(desk)
            desk.press("/", UP, UP, gap_s=0.1)
            leave(desk)


@parts
@pytest.mark.long
@pytest.mark.timeout(600)
def test_B114_the_filter_boxes_of_the_pages(tmp_path: Path, part: int) -> None:
    texts = texts_of(part)
    with desk_on(troubled_site(tmp_path / "site.db", texts), size=(80, 24)) as desk:
        desk.until("LIVE")
        desk.until("J0")
        for text in texts:
            for page in "WAS":
                desk.press(page, gap_s=0.3)
                desk.press("f", gap_s=0.1)
                desk.press(CLEAR, pasted(text), "\r", "j", "k", gap_s=0.08)
                alive(desk)
                leave(desk)
                leave(desk)


@parts
@pytest.mark.long
@pytest.mark.timeout(600)
def test_B111_signing_in_with_any_name(tmp_path: Path, part: int) -> None:
    """Who may not bear such a name is told so; the box of the desk takes it all the same, and shows it as letters."""
    path, texts = live_site(tmp_path / "site.db"), texts_of(part)
    engine = wiring.open_engine(path)
    operators.add(engine, WHO, "ben", Role.DISPATCHER, "correct horse")
    for text in texts:
        try:
            operators.add(engine, WHO, text, Role.DISPATCHER, f"correct horse {text}"[:60])
        except Invalid:
            continue
    wiring.close(engine)
    with desk_on(path, size=(80, 24)) as desk:
        desk.until("who is at the desk?")
        for text in texts:
            desk.press(CLEAR, pasted(text), "\r", pasted(text), "\r", gap_s=0.3)
            alive(desk)
            desk.press(BACK_TAB, gap_s=0.1)
        desk.press(CLEAR, "ben", "\r", gap_s=0.1)
        desk.press("correct horse", "\r")
        desk.until("J-0")
        alive(desk)


def test_a_completed_id_is_symbols_in_the_box_and_means_the_same_job() -> None:
    ids = ("U0\x1b[2J", "U1\x07 two words", "plain")
    known = Known(jobs={each: replace(row(1), id=each) for each in ids}, alerts={}, names={}, reasons=())
    state = DeskState(ready=True, readonly=False, pane="jobs", job=None, alert=None)
    for typed, each in zip(("go u0", "go u1", "go pl"), ids, strict=True):
        line = completed(typed, known)
        assert line.isprintable()
        found = parse(line, state, known).state.job
        assert found is not None
        assert found.id == each


def test_two_ids_that_look_alike_are_refused_rather_than_guessed() -> None:
    ids = ("U\x1bx", "U␛x")
    known = Known(jobs={each: replace(row(1), id=each) for each in ids}, alerts={}, names={}, reasons=())
    state = DeskState(ready=True, readonly=False, pane="jobs", job=row(2), alert=None)
    with pytest.raises(Wrong):
        parse("cancel U␛x mistake ten letters more", state, known)


def test_every_screen_but_the_desk_takes_keys_only_once_it_is_whole() -> None:
    for each in pkgutil.iter_modules(screens.__path__):
        importlib.import_module(f"{screens.__name__}.{each.name}")
    found = [each for each in descended(Screen) if each.__module__.startswith("console.") and each is not Desk]
    assert len(found) > 10
    assert [each for each in found if not issubclass(each, Whole)] == []


def descended(of: type) -> list[type]:
    return [each for child in of.__subclasses__() for each in (child, *descended(child))]


def test_keys_that_run_ahead_into_the_rehearsal_room_do_no_harm(tmp_path: Path) -> None:
    campus(tmp_path / "site.db")
    with desk_on(tmp_path / "site.db") as desk:
        desk.until("J-9")
        for ahead in ("t..", "t\r.,]", "t\rcE", "t\rn?j", "t\rp+q"):
            desk.press(ahead, gap_s=0.3)
            for _ in range(4):
                leave(desk)
