"""An outcome names workers as the board does."""

from pathlib import Path

from console import acts
from engine import wiring
from tests.console.desks import WHO, found, job, take_in, worker


def test_an_outcome_names_the_worker_as_the_board_does_and_by_id_too_where_two_have_the_name(tmp_path: Path) -> None:
    engine = found(
        tmp_path / "site.db", workers=[worker(1, "Ana Rossi"), worker(2, "Ben Kovač"), worker(3, "Ben Kovač")]
    )
    take_in(engine, *(job(f"J-{at}", due_min=100 + at) for at in (1, 2, 3)))
    said = [acts.assign(engine, WHO, f"J-{at}").said for at in (1, 2, 3)]
    names = sorted(each.partition("offered to ")[2].partition(" for ")[0] for each in said)
    assert names == ["Ana Rossi", "Ben Kovač W-2", "Ben Kovač W-3"]
    assert acts.assign(engine, WHO, "J-1").said.startswith("assign J-1: the offer to ")
    wiring.close(engine)
