"""Why, at every width: no word at the edge, none lost, and who was chosen first on a small screen."""

from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from console.choosing import choices
from console.screens.why import Part, WhyScreen
from console.viewmodels import why as why_lines
from console.viewmodels.cells import PLAIN
from console.viewmodels.hanging import hung
from console.viewmodels.why import fitted
from engine import wiring
from engine.rules.ledger import Considered
from engine.verbs.why import why
from tests.console.desks import campus, drive, shown, still
from tests.console.test_snapshots import played


@pytest.fixture(scope="module")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("campus") / "site.db"
    campus(path)
    return path


def test_at_40_columns_each_figure_has_its_row(founded: Path) -> None:
    async def act(pilot: Pilot[int], _: object) -> None:
        await played("J-7", ("w",))(pilot)  # type: ignore[misc]
        assert isinstance(pilot.app.screen, WhyScreen)
        rows = [row.strip("┃ \n") for row in shown(pilot.app).splitlines()]
        told = ["As decided, 13:00:00: offered", "1 Ana Rossi W-1  score 0.5", "← offered", "ETA 6 min low (stand-in)",
                "eta 5.4, fair +0.0, slack -4.9", "0 jobs today · slack 19 min"]  # fmt: skip
        at = rows.index(told[0])
        assert rows[at : at + len(told)] == told
        parts = [str(each.content) for each in pilot.app.screen.query(Part)]
        assert all(len(row) <= 36 for part in parts for row in part.splitlines())
        assert "lower scores go first" in parts[0]
        assert "1 job today" in parts[0]

    drive(still(founded), act, size=(40, 60))


def test_nothing_is_lost_where_lines_are_fitted() -> None:
    words = "the road from 試験室 to the hall is closed, so that nobody could be there before the window ends"
    line = (("  3 ", PLAIN), ("Ана ", PLAIN), (words, PLAIN))
    for width in range(8, 120):
        rows = ["".join(text for text, _ in row) for row in fitted([line], width)]
        assert all(cell_len(row) <= width for row in rows)
        assert "".join("".join(rows).split()) == "".join(f"3Ана{words}".split())
        assert all(row[:4].isspace() and row[4] != " " for row in rows[1:])
    assert hung(line, 0, 4) == [line]


def test_an_override_is_offered_the_minutes_that_why_tells(founded: Path) -> None:
    engine = wiring.open_engine(founded)
    found = why(engine, "J-8").now
    assert found is not None
    eta_s = {each.worker: each.eta_s for each in found if each.verdict == "ranked"}
    assert any((each or 0) % 60 for each in eta_s.values())
    for each in choices(engine, "J-8").workers:
        if each.rank is not None:
            assert each.detail.startswith(f"ETA {-(-(eta_s[each.worker_id] or 0) // 60)} min, ")
    wiring.close(engine)


def refused(many: int, reason: str) -> tuple[Considered, ...]:
    return tuple(Considered(worker=f"{reason}-{at}", verdict=reason, detail="lacks hvac") for at in range(many))


@pytest.mark.parametrize("width", [36, 76, 110])
def test_many_refusals_are_counted_by_reason_above_their_list(width: int) -> None:
    told = list(why_lines.considered((*refused(2, "off_shift"), *refused(28, "skills")), {}, None, width))
    rows = ["".join(text for text, _ in row) for row in fitted(told, width)]
    said = "30 looked at, nobody can: 28 skills, 2 off shift"
    assert " ".join(" ".join(rows[:2]).split()).startswith(said)
    assert rows[1 if len(said) <= width else 2].startswith("  – off_shift-0")
    assert sum(row.startswith("  – ") for row in rows) == 30, "each is still listed"
    one = why_lines.considered(refused(1, "skills"), {}, None, width)
    assert not any("looked at" in text for row in one for text, _ in row)
