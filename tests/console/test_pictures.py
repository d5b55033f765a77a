"""What a picture must be for eyes: letters that stand out in every theme; and the README's can be drawn again."""

import asyncio
import shutil
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.color import Color
from textual.pilot import Pilot

from console.app import Console
from console.themes import THEMES
from console.viewmodels.cells import PLAIN
from console.widgets.read import fitted, last_piece
from fixtures.demo import found
from tests.console.desks import NOON_MS, campus, drive, settle, still
from tests.console.picture import draw, offered
from tests.console.test_snapshots import PLAYS, played

READABLE = 3.8
"""Contrast as WCAG counts it: 3 is asked of large and bold letters, 4.5 of small ones; dim words are between."""
BOXES = {"override": ".box", "why": "#page", "help": "#page"}
"""Behind a dialog the desk is dimmed on purpose: there the dialog alone is judged."""


@pytest.fixture(scope="module")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("campus") / "site.db"
    campus(path)
    return path


def light(color: Color) -> float:
    """Relative luminance, WCAG 2."""
    parts = [each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in color.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrasts(app: Console, box: str) -> dict[str, float]:
    """The worst contrast of each run of letters within the box."""
    region = app.screen.query_one(box).region if box else app.screen.region
    least: dict[str, float] = {}
    strips = app.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
    for y in range(region.y, region.bottom):
        for segment in strips[y].crop(region.x, region.right):
            style, words = segment.style, segment.text.strip()
            if style is None or style.color is None or style.bgcolor is None or not any(map(str.isalnum, words)):
                continue
            dark, bright = sorted(light(Color.from_rich_color(each)) for each in (style.color, style.bgcolor))
            least[words] = min(least.get(words, 21.0), (bright + 0.05) / (dark + 0.05))
    return least


@pytest.mark.parametrize("play", PLAYS)
def test_all_letters_stand_out_in_every_theme(founded: Path, tmp_path: Path, play: str) -> None:
    site = shutil.copytree(founded.parent, tmp_path / "site") / founded.name
    app = still(site)

    async def act(pilot: Pilot[int], _: object) -> None:
        await played(*PLAYS[play])(pilot)  # type: ignore[misc]
        for theme in THEMES:
            app.theme = theme.name
            await settle(pilot)
            told = contrasts(app, BOXES.get(play, ""))
            assert len(told) > 5
            assert {words: round(each, 1) for words, each in told.items() if each < READABLE} == {}, theme.name

    drive(app, act)


def test_what_wraps_goes_on_below_its_own_words() -> None:
    line = (("  s ", PLAIN), ("assign ", PLAIN), ("offers the job to the best eligible worker", PLAIN))
    for width, indent in ((30, 11), (20, 4)):
        rows = ["".join(text for text, _ in each) for each in fitted([line], width, last_piece)]
        assert all(cell_len(each) <= width for each in rows)
        assert " ".join(" ".join(rows).split()) == "s assign offers the job to the best eligible worker"
        assert all(len(each) - len(each.lstrip()) == indent for each in rows[1:])
    assert fitted([line], 80, last_piece) == [line]


@pytest.mark.long
def test_the_picture_of_the_readme_can_be_drawn_again(tmp_path: Path) -> None:
    path = found(tmp_path, seed=1, now_ms=NOON_MS)
    drawn = asyncio.run(draw(path, offered(path)))
    assert all(each in drawn for each in ("Rivertown", "OFFERED", "UNASSIGNED", "Offers"))
