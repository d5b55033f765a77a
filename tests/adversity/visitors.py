"""Lives that look at files: without the right to write, or while every file that is opened is noted."""

import os
import sys
from pathlib import Path

from console.cli.main import main
from engine import wiring
from engine.ports import CallboardError
from engine.verbs import answer, sweep
from engine.verbs.assign import assign
from run import handed_over
from tests.desk import Desk, north, person

NOBODY = 65_534


def without_rights(path: str) -> dict[str, str]:
    """Read and write as a user who owns nothing; each answer, or the refusal's name and words."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        return _tried(Path(path))
    finally:
        if root:
            os.seteuid(0)


def _tried(path: Path) -> dict[str, str]:
    told: dict[str, str] = {}
    try:
        engine = wiring.open_engine(path)
        told["open"] = f"{len(engine.store.jobs('main'))} jobs"
        told["write"] = assign(engine, person(), "J1").outcome
    except CallboardError as refused:
        told["write" if told else "open"] = f"{type(refused).__name__}: {refused}"
    return told


def a_day(folder: str) -> list[str]:
    """Everything an engine does in a day, from creation to closing; answers the files that Python itself opened."""
    opened: list[str] = []

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes):
            opened.append(os.path.realpath(os.fsdecode(arguments[0])))

    sys.addaudithook(note)
    desk = Desk(Path(folder))
    desk.worker("ana", north(3))
    desk.job("J1")
    desk.takeover()
    made = desk.assign("J1")
    assert made.offer is not None
    assert desk.accept(made.offer).outcome is answer.Answer.ACCEPTED
    desk.begin("J1", "ana")
    desk.finish("J1", "ana")
    sweep.sweep(desk.rounds)
    store = desk.engine.store
    store.backup(Path(folder) / "copy.db")
    assert store.integrity() == ()
    assert store.verify_audit("main").first_bad is None
    desk.restart()
    for words in ("doctor", "board", "audit verify", f"backup {folder}/copy-2.db", "watch --once", "sweep"):
        codes = {main(["--db", str(desk.path), *words.split()], handed_over())}
        assert codes <= {0, 1}, (words, codes)
    desk.close()
    return sorted(set(opened))
