"""Words drawn line by line read, scroll and are selected as a tree of widgets would have them."""

import asyncio
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection

from console.screens.desk import Desk
from console.viewmodels.cells import Line
from console.widgets.panes import JobDetail
from console.widgets.told import Told
from tests.console.desks import campus, drive, keys, settle, still

WIDE: Line = (("notes ", "head"), ("wide 你好 words that need more than one row of a narrow pane", "plain"))
LINES: list[Line] = [(("J-1", "bold"),), WIDE, *(((f"row {n}", "plain"),) for n in range(8))]
SIZE = (20, 6)


class Shows(App[None]):
    CSS = "Told { padding: 0 1; scrollbar-size-vertical: 1; overflow-x: hidden; }"

    def compose(self) -> ComposeResult:
        yield Told(id="told")


def rows(told: Told) -> list[str]:
    return [told.render_line(y).text.rstrip() for y in range(told.size.height)]


def played() -> tuple[list[str], list[str], list[str], tuple[str, str] | None]:
    """(at first, scrolled to the end, after shorter words came, what the selection copies)"""

    async def run() -> tuple[list[str], list[str], list[str], tuple[str, str] | None]:
        app = Shows()
        async with app.run_test(size=SIZE) as pilot:
            told = app.query_one(Told)
            told.say(LINES)
            await pilot.pause(0.05)
            first = rows(told)
            chosen = told.get_selection(Selection(Offset(6, 1), Offset(13, 1)))
            told.scroll_end(animate=False)
            await pilot.pause(0.05)
            last = rows(told)
            told.say(LINES[:3])
            await pilot.pause(0.05)
            return first, last, rows(told), chosen

    return asyncio.run(run())


def test_long_words_wrap_between_words_scroll_to_their_end_and_shorter_ones_are_in_sight_again() -> None:
    first, last, shorter, chosen = played()
    assert first == ["J-1", "notes wide 你好", "words that need", "more than one row", "of a narrow pane", "row 0"]
    assert last == [f"row {n}" for n in range(2, 8)]
    assert shorter == first
    assert chosen == ("wide 你好", "\n")


def test_a_row_knows_which_letters_of_which_line_stand_in_it() -> None:
    async def run() -> list[object]:
        app = Shows()
        async with app.run_test(size=SIZE) as pilot:
            told = app.query_one(Told)
            told.say(LINES)
            await pilot.pause(0.05)
            first = [next(iter(told.render_line(y))).style for y in (0, 2)]
            return [each.meta.get("offset") if each else None for each in first]

    assert asyncio.run(run()) == [(0, 0), (14, 1)]


def test_no_letter_stands_under_the_bar_and_the_keys_of_a_list_scroll() -> None:
    async def run() -> tuple[list[str], list[str], int]:
        app = Shows()
        async with app.run_test(size=SIZE) as pilot:
            told = app.query_one(Told)
            told.focus()
            told.say([(("x" * 9 + " " + "y" * (told.size.width - 10), "plain"),), *LINES])
            await pilot.pause(0.05)
            first, seen = rows(told), told.scrollable_content_region.width
            await pilot.press("G")
            await pilot.pause(0.05)
            return first, rows(told), seen

    first, last, seen = asyncio.run(run())
    assert first[0] == "x" * 9
    assert set(first[1]) == {"y"}
    assert all(cell_len(each) <= seen for each in first)
    assert last[-1] == "row 7"


@pytest.mark.parametrize("width", [30, 40])
def test_a_job_in_full_goes_on_right_of_its_lines_and_again_when_the_width_changes(tmp_path: Path, width: int) -> None:
    campus(tmp_path / "site.db")

    async def play(pilot: Pilot[int], desk: Desk) -> None:
        desk.board.put("J-5")
        await keys(pilot, "4")
        await pilot.resize_terminal(width, 12)
        await settle(pilot)
        detail = desk.query_one(JobDetail)
        texts = ["".join(text for text, _ in each) for each in detail.said]
        assert all(cell_len(each) <= detail.scrollable_content_region.width for each in texts)
        assert " ".join(" ".join(texts).split()).startswith("J-5 repair · 30 min · priority 4 skills hvac, welding · ")
        assert ("    priority 4" in texts) == (width == 30)

    drive(still(tmp_path / "site.db"), play, size=(60, 12))
