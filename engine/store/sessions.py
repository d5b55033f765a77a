"""Movers made of movers: a session that does one program after another, and a clock that is set several times."""

from collections.abc import Sequence
from pathlib import Path

from engine.store.stepper import Actor, Factory, Naive, Tick


class Session:
    """One session doing several programs, one after the other, whatever became of the one before.

    ``acts``: each with its title. ``ended``: the outcomes of those that are over."""

    optional = False

    def __init__(
        self, name: str, path: Path, acts: Sequence[tuple[str, Factory]], tenant: str = "main",
        *, naive: Naive | None = None,
    ) -> None:  # fmt: skip
        self.name, self.ended = name, list[str]()
        self._path, self._tenant, self._naive = path, tenant, naive
        self._left = list(acts)
        self.title, self.actor = self._enter()

    def _enter(self) -> tuple[str, Actor]:
        title, program = self._left.pop(0)
        return title, Actor(self.name, self._path, program, self._tenant, naive=self._naive)

    @property
    def over(self) -> bool:
        return self.actor.over and not self._left

    @property
    def phase(self) -> str:
        return self.actor.phase

    @property
    def outcome(self) -> str:
        return ", ".join(self.ended)

    def able(self) -> bool:
        return self.actor.able()

    def move(self) -> str | None:
        said = self.actor.move()
        if self.actor.over:
            self.ended.append(self.actor.outcome)
            self._go_on()
        return said

    def _go_on(self) -> None:
        if self._left:
            self.actor.close()
            self.title, self.actor = self._enter()

    def kill(self) -> None:
        self.actor.kill()
        self.ended.append(self.actor.outcome)
        self._left.clear()

    def close(self) -> None:
        self.actor.close()


class Ticks:
    """The training clock is set to each of several times in turn, each whenever nobody writes."""

    optional = False

    def __init__(self, path: Path, to_ms: Sequence[int], name: str = "clock") -> None:
        self.name = name
        self._ticks = [Tick(path, each, name) for each in to_ms]

    @property
    def _next(self) -> Tick | None:
        return next((each for each in self._ticks if not each.over), None)

    @property
    def over(self) -> bool:
        return self._next is None

    def able(self) -> bool:
        return self._next is not None and self._next.able()

    def move(self) -> str | None:
        return None if self._next is None else self._next.move()

    def close(self) -> None:
        for each in self._ticks:
            each.close()
