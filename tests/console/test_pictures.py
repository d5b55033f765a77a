"""Every look says the same letters: light, colour-blind and NO_COLOR differ from the dark one in style alone.

The pictures are compared in test_snapshots and test_show_snapshots, and here those of the dialogs' other looks."""

import asyncio
import shutil
from pathlib import Path

import pytest
from textual.pilot import Pilot

from console.app import Console
from console.themes import THEMES
from fixtures.demo import found
from tests.console.desks import NOON_MS, campus, drive, settle, shown, still
from tests.console.picture import draw, offered
from tests.console.test_snapshots import SIZES, SnapCompare, played

PLAYS = {
    "desk": ("J-7", ()),
    "override": ("J-9", ("o",)),
    "why": ("J-7", ("w",)),
    "help": ("J-7", ("question_mark",)),
    "workers": ("J-7", ("W", "G")),
    "figures": ("J-7", ("F",)),
}
LOOKS = ("callboard-light", "callboard-okabe-ito", "NO_COLOR")


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


def letters(app: Console, play: str, size: tuple[int, int]) -> dict[str, str]:
    """What is on the screen, by theme; for one without colour, under its only look."""
    said: dict[str, str] = {}

    async def act(pilot: Pilot[int], _: object) -> None:
        await played(*PLAYS[play])(pilot)  # type: ignore[misc]
        for each in THEMES if not app.no_color else THEMES[:1]:
            app.theme = each.name
            await settle(pilot)
            said[each.name] = shown(app)

    drive(app, act, size=size)
    return said


@pytest.mark.parametrize(
    "size", [SIZES[1], *(pytest.param(each, marks=pytest.mark.long) for each in (SIZES[0], SIZES[2]))], ids=str
)
@pytest.mark.parametrize("play", PLAYS)
def test_every_look_says_the_same(
    site: Path, play: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    coloured = letters(still(site), play, size)
    monkeypatch.setenv("NO_COLOR", "1")
    plain = letters(still(site), play, size)
    opened = {
        "override": "Override J-9",
        "why": "Why · J-7",
        "help": " Help ",
        "workers": "Workers",
        "figures": "Figures",
    }
    assert opened.get(play, "J-7") in coloured[THEMES[0].name]
    assert len({*coloured.values(), *plain.values()}) == 1
    assert all(len(line) <= size[0] for line in coloured[THEMES[0].name].splitlines())


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("play", ["override", "why", "help"])
def test_look(site: Path, snap_compare: SnapCompare, play: str, look: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if look == "NO_COLOR":
        monkeypatch.setenv("NO_COLOR", "1")
    app = still(site)
    if look != "NO_COLOR":
        app.theme = look
    assert snap_compare(app, terminal_size=(120, 36), run_before=played(*PLAYS[play]))


@pytest.mark.long
def test_the_picture_of_the_readme_can_be_drawn_again(tmp_path: Path) -> None:
    path = found(tmp_path, seed=1, now_ms=NOON_MS)
    drawn = asyncio.run(draw(path, offered(path)))
    assert all(each in drawn for each in ("Rivertown", "OFFERED", "UNASSIGNED", "Offers"))
