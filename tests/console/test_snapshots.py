"""How the six main pictures look: at three sizes, dark, light, colour-blind and NO_COLOR; and at the smallest size.

The looks of one size are taken from one desk, whose theme is changed, and one without colour. All say the same letters:
what differs is style alone."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_textual_snapshot import SVGImageExtension
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from console.app import Console
from console.screens.desk import Desk
from console.themes import THEMES
from tests.console.desks import campus, drive, keys, settle, shown, still

SIZES = [(80, 24), (120, 36), (200, 50)]
SMALLEST = (40, 12)
PLAYS = {
    "desk": ("J-7", ()),
    "override": ("J-9", ("o",)),
    "why": ("J-7", ("w",)),
    "workers": ("J-7", ("W", "G")),
    "figures": ("J-7", ("F",)),
    "help": ("J-7", ("question_mark",)),
}
OPENED = {
    "desk": "J-7",
    "override": "Override J-9",
    "why": "Why · J-7",
    "workers": "Workers",
    "figures": "Figures",
    "help": " Help ",
}
NO_COLOR = "NO_COLOR"
SnapCompare = Callable[..., bool]
Shots = dict[str, tuple[str, str]]
"""By look, the picture and its letters."""


@pytest.fixture(scope="module")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("campus") / "site.db"
    campus(path)
    return path


@pytest.fixture
def site(founded: Path, tmp_path: Path) -> Path:
    for each in founded.parent.iterdir():
        shutil.copy(each, tmp_path)
    return tmp_path / founded.name


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


def shots(app: Console, play: str, size: tuple[int, int]) -> Shots:
    """Every look of one play; of a desk without colour its only one."""
    taken: Shots = {}

    async def act(pilot: Pilot[int], _: object) -> None:
        await played(*PLAYS[play])(pilot)  # type: ignore[misc]
        for each in (None,) if app.no_color else THEMES:
            app.theme = each.name if each else app.theme
            await settle(pilot)
            look = each.name.removeprefix("callboard-") if each else NO_COLOR
            taken[look] = (app.export_screenshot(), shown(app))

    drive(app, act, size=size)
    return taken


@pytest.mark.parametrize("size", [*SIZES, SMALLEST], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("play", PLAYS)
def test_look(
    site: Path, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch, play: str, size: tuple[int, int]
) -> None:
    taken = shots(still(site), play, size)
    monkeypatch.setenv("NO_COLOR", "1")
    taken |= shots(still(site), play, size)
    pictures = snapshot.use_extension(SVGImageExtension)
    kept = taken if size != SMALLEST else [THEMES[0].name.removeprefix("callboard-")]
    assert [look for look in kept if taken[look][0] != pictures(name=look)] == []
    letters = {words for _, words in taken.values()}
    assert len(letters) == 1
    assert len(taken) == len(THEMES) + 1
    assert OPENED[play] in (words := letters.pop())
    assert all(len(line) <= size[0] for line in words.splitlines())
