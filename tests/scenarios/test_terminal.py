"""The transcript on a terminal: long lines go on below their own words; in a pipe or a file they stay whole."""

import subprocess
import sys

import pytest
from rich.cells import cell_len

from console.transcripts import painted
from engine.verbs.rehearsed import Line
from tests.conftest import ROOT
from tests.console.terminals import Seat

COMMAND = ("run.py", "rehearse", "two-desks-one-job", "--plain", "--notes")
WORDS_AT = 27


@pytest.fixture(scope="module")
def whole() -> list[str]:
    ran = subprocess.run([sys.executable, *COMMAND], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    return ran.stdout.splitlines()


def on_a_terminal(width: int) -> list[str]:
    with Seat(COMMAND, size=(width, 200)) as seat:
        assert seat.ended(60) == 0
        return [row.rstrip() for row in seat.text.rstrip().splitlines()]


def test_on_80_columns_every_word_is_there_and_stands_below_its_own(whole: list[str]) -> None:
    shown = on_a_terminal(80)
    assert " ".join(shown).split() == " ".join(whole).split()
    begins = shown.index("")
    run = shown[begins + 1 : shown.index("", begins + 1)]
    assert len(run) > 24
    assert all(row[:3].strip().isdigit() or not row[:WORDS_AT].strip() for row in run)
    assert any(len(row) > 80 for row in whole)


def test_on_40_columns_too(whole: list[str]) -> None:
    assert " ".join(on_a_terminal(40)).split() == " ".join(whole).split()


def test_wide_letters_count_two_and_whole_lines_stay_whole() -> None:
    line = Line(text="  1  試験室  " + "監督 " * 30, kind="step", lane="試験室", begins=10)
    rows = painted([line], 60).plain.splitlines()
    assert len(rows) > 1
    assert all(cell_len(row) <= 60 for row in rows)
    assert [row[:13] for row in rows[1:]] == [" " * 13] * (len(rows) - 1)
    assert painted([line]).plain == line.text.rstrip()
