"""The life of a dispatcher: a real process with its rounds running, that can be stopped, overtaken and resumed."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import engine.rounds
from engine import wiring
from engine.rounds import Rounds
from engine.verbs import sweep
from tests.adversity.ground import LIMIT_S, TookTooLong, add_fix


def counted(each: sweep.Round, rung: Counter[str]) -> sweep.Round:
    def ring(desk: sweep.Desk) -> int:
        rung[each.name] += 1
        return each.ring(desk)

    return replace(each, ring=ring)


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait for a condition; a bound and not a pause decides that it will not come."""
    deadline, pause = time.monotonic() + LIMIT_S, threading.Event()
    while not holds():
        if time.monotonic() > deadline:
            raise TookTooLong(what)
        pause.wait(0.01)


def dispatch(path: str, heard: str, worker: str) -> dict[str, object]:
    """Dispatch until fenced, go on for three more rings of each round, then stop in order.

    ``heard``: a file to which each thing said is added. Answers what was said, and how often each round had rung when
    the fence was met and at the end."""
    rung: Counter[str] = Counter()
    engine.rounds.ROUNDS = tuple(counted(each, rung) for each in sweep.ROUNDS)
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        with open(heard, "a") as file:
            file.write(text + "\n")

    desk = wiring.open_engine(Path(path))
    add_fix(desk, worker)
    rounds = Rounds(desk, said=say)
    rounds.start()
    until(lambda: any("fenced" in each for each in said), "fenced")
    at_fence = dict(rung)
    until(lambda: rung["clock"] >= at_fence["clock"] + 3, "three more rings")
    rounds.stop()
    wiring.close(desk)
    return {"said": said, "at_fence": at_fence, "rung": dict(rung)}
