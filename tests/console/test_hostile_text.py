"""B111, B112, B114: names and addresses that are markup, escapes, bidi or wide letters are shown, and do nothing."""

from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from console.screens.desk import Desk
from console.viewmodels.cells import fit
from engine import wiring
from engine.verbs import assign
from tests.console.desks import WHO, drive, found, job, keys, settle, shown, still, take_in, worker

HOSTILE = (
    "[/]",
    "[@click=app.quit]press[/]",
    "[#1234]",
    "$error [b",
    "=cmd|' /C calc'!A0",
    "\x1b[2J\x1b[31mred",
    "\x1b]52;c;aGVsbG8=\x07",
    "\x9b31m C1",
    "abc\u202eexe.txt",
    "日本語の会場",
    "👩‍👩‍👧‍👦 family 🏥",
    "tab\tnew\nline",
    "Zoë é\u0301\u0301\u0301",
)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
def test_B111_hostile_names_are_shown_as_typed_on_every_screen(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "site.db"
    workers = [worker(at, name, "proctor") for at, name in enumerate(HOSTILE, 1)]
    engine = found(path, workers=workers)
    take_in(
        engine,
        *(
            job(f"J{at}{text}", due_min=30 + at, type=text, address=text, notes=text, skills="proctor")
            for at, text in enumerate(HOSTILE)
        ),
        job("J-none", due_min=20, skills="[/] hvac"),
    )
    assign.assign(engine, WHO, "J-none")
    wiring.close(engine)
    app = still(path)

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        for _ in range(len(HOSTILE) + 1 if size == (80, 24) else 3):
            await keys(pilot, "j")
            app.look_again()
            await settle(pilot)
            for key in ("w", "o", "c", "question_mark"):
                await keys(pilot, key)
                await settle(pilot)
                quiet(shown(app))
                await keys(pilot, "escape")
                await settle(pilot)
            await keys(pilot, "s")
            await settle(pilot)
            for pane in ("1", "4", "5", "2"):
                await keys(pilot, pane)
                await settle(pilot)
                quiet(shown(app))
        assert app.is_running
        assert isinstance(app.screen, Desk)
        assert app.return_code is None

    drive(app, play, size=size)


def quiet(told: str) -> None:
    """No control character reached the screen."""
    assert not [each for each in told if each != "\n" and not each.isprintable() and each not in "\u200d\u00ad"]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [1, 5, 9, 30])
def test_every_text_fills_its_column_exactly(text: str, width: int) -> None:
    assert cell_len(fit(text, width)) == width
    assert cell_len(fit(text, width, right=True)) == width


def test_markup_in_an_address_is_read_as_letters(tmp_path: Path) -> None:
    path = tmp_path / "site.db"
    engine = found(path, workers=[worker(1, "[b]Ana[/b]")])
    take_in(engine, job("J-1", due_min=60, address="[@click=app.quit]Hall[/]"))
    wiring.close(engine)
    app = still(path)

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        app.look_again()
        await settle(pilot)
        assert "[@click=app.quit]Hall[/]" in shown(app)

    drive(app, play)
