"""Where schedules are played: one file, made anew from a template for each, and the invariants asked after each."""

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from engine.store.stepper import Actor, Explored, Kill, Mover, Tick, copy_of, every_schedule
from tests.leases import stage
from tests.leases.contenders import ABSENCES, CONTENDERS, HANDOFFS, STAGES
from tests.leases.invariants import broken, violations

EVERY = {**CONTENDERS, **HANDOFFS, **ABSENCES}
BOUNDARY_MS = stage.NOON_MS + stage.TTL_MS
"""To the millisecond when o1 expires."""


class Arena:
    """``total``: what was played since the last report. The file lies in memory where that can be."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "arena.db"
        self.total = Explored()
        self._winners = {name: frozenset(each for each in CONTENDERS if self._wins(name, each)) for name in STAGES}
        self.total = Explored()

    def _wins(self, at: str, name: str) -> bool:
        return any("done" in end for end in self.play(at, [name], tick=True).ends)

    def winners(self, at: str) -> frozenset[str]:
        """The programs that win at this stage when alone: before the tick, after it or both."""
        return self._winners[at]

    def play(self, at: str, names: Sequence[str], *, tick: bool = False, kill: bool = False) -> Explored:
        """Every schedule of these programs. Raises AssertionError with the transcript where an invariant broke."""

        def make() -> list[Mover]:
            copy_of(stage.template(at), self.path)
            named = list(zip("abc", names, strict=False))
            actors = [Actor(f"{n}:{name}", self.path, lambda n=n, name=name: EVERY[name](n)) for n, name in named]
            movers: list[Mover] = [*actors]
            movers += [Tick(self.path, BOUNDARY_MS)] if tick else []
            movers += [Kill(actors)] if kill else []
            return movers

        def check(movers: Sequence[Mover], lines: Sequence[str]) -> None:
            faults = [f"{m.name} {m.outcome}" for m in movers if isinstance(m, Actor) and m.phase == "fault"]
            alive = next(m for m in movers if isinstance(m, Actor) and m.phase != "killed") if len(names) > 1 else None
            wrong = list(violations(alive.connection)) if alive else broken(self.path)
            if wrong := wrong + faults:
                raise AssertionError("\n".join([*wrong, f"from {at}: {', '.join(names)}", *lines]))

        found = every_schedule(make, check)
        self.total.schedules += found.schedules
        self.total.moves += found.moves
        self.total.ends += Counter(found.ends)
        return found

    def report(self, what: str) -> None:
        """A few lines for people: `-s` shows them, and docs/leases.md quotes them."""
        ends = Counter[str]()
        for end, count in self.total.ends.items():
            ends[", ".join(sorted(_phase(each) for each in end.split("; ")))] += count
        lines = [f"  {count:6} {end}" for end, count in ends.most_common()]
        head = f"{what}: {self.total.schedules} schedules, {self.total.moves} moves; all whole"
        print("\n".join(["", head, *lines]), file=sys.stderr)
        self.total = Explored()


def _phase(outcome: str) -> str:
    return next(word for word in ("done", "lost", "killed", "fault") if f" {word}" in outcome)


@contextmanager
def arena() -> Iterator[Arena]:
    """An arena that leaves nothing behind."""
    with fast_folder() as folder:
        yield Arena(folder)


@contextmanager
def fast_folder() -> Iterator[Path]:
    """A folder that is gone afterwards, in memory where the machine has such: nothing here has to outlast a crash."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)
