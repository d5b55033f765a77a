"""How the desk looks: desk, override, why, help, at three sizes, and the themes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from console.app import Console
from console.screens.desk import Desk
from tests.console.desks import campus, keys, settle, still

SIZES = [(80, 24), (120, 36), (200, 50)]
PLAYS = {
    "desk": ("J-7", ()),
    "override": ("J-9", ("o",)),
    "why": ("J-7", ("w",)),
    "help": ("J-7", ("question_mark",)),
}
SnapCompare = Callable[..., bool]


@pytest.fixture
def app(tmp_path: Path) -> Console:
    campus(tmp_path / "site.db")
    return still(tmp_path / "site.db")


def played(job_id: str, pressed: tuple[str, ...]) -> Callable[[Pilot[int]], object]:
    async def play(pilot: Pilot[int]) -> None:
        app = pilot.app
        assert isinstance(app, Console)
        await settle(pilot)
        app.look_again()
        desk = app.screen
        assert isinstance(desk, Desk)
        desk.board.put(job_id)
        await settle(pilot)
        app.look_again()
        await keys(pilot, *pressed)
        await settle(pilot)

    return play


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("play", PLAYS)
def test_look(app: Console, snap_compare: SnapCompare, play: str, size: tuple[int, int]) -> None:
    assert snap_compare(app, terminal_size=size, run_before=played(*PLAYS[play]))


@pytest.mark.parametrize("theme", ["callboard-light", "callboard-okabe-ito"])
def test_theme(app: Console, snap_compare: SnapCompare, theme: str) -> None:
    app.theme = theme
    assert snap_compare(app, terminal_size=(120, 36), run_before=played("J-7", ()))


def test_no_color(tmp_path: Path, snap_compare: SnapCompare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    campus(tmp_path / "site.db")
    assert snap_compare(still(tmp_path / "site.db"), terminal_size=(120, 36), run_before=played("J-4", ()))


def test_the_smallest(app: Console, snap_compare: SnapCompare) -> None:
    assert snap_compare(app, terminal_size=(40, 12), run_before=played("J-7", ()))
