"""The player of a rehearsal: which moves were made, where one looks, and what is next. It draws nothing.

A screen or a transcript shows ``Rehearsal``: frozen, so that it may be drawn from another thread. ``Player`` moves it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from engine.ports import Invalid
from engine.rules.rehearsal import LaneView, Moved, Phase, Scene

CLOCK = "clock"
MOVES_MAX = 500
"""A schedule longer than this goes round in circles."""


class Stage(Protocol):
    """A training database with sessions on it; see engine.store.theatre."""

    def scene(self) -> Scene: ...
    def move(self, name: str) -> Moved: ...
    def advance(self, to_ms: int) -> Moved: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """Who moves next: a session by its name, or the clock (``by_ms`` forward, or back where negative).

    ``to_end``: and again, until its present act has ended (or has to wait)."""

    lane: str
    by_ms: int = 0
    to_end: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One move as it was made, and the stage after it. ``at_ms``: the training clock when it was made."""

    cue: Cue
    at_ms: int
    moved: Moved
    scene: Scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """``steps``: all that was played; ``position``: how many of them one looks at (``back`` only looks).

    ``planned``: the scenario's cues that were not played yet, in the order it asks for; ``as_planned``: nobody has
    chosen otherwise."""

    opening: Scene
    steps: tuple[Step, ...] = ()
    position: int = 0
    planned: tuple[Cue, ...] = ()
    as_planned: bool = True

    @property
    def scene(self) -> Scene:
        return self.steps[self.position - 1].scene if self.position else self.opening

    @property
    def last(self) -> Step | None:
        """The step one looks at; None before the first."""
        return self.steps[self.position - 1] if self.position else None

    @property
    def over(self) -> bool:
        """Every session has ended, as far as one looks."""
        return all(each.next is None for each in self.scene.lanes)

    def lane(self, name: str) -> LaneView:
        return next(each for each in self.scene.lanes if each.name == name)


class Player:
    """Plays on a stage that ``make`` sets anew each time. Not for two threads at once; ``close`` ends the sessions."""

    def __init__(self, make: Callable[[], Stage], planned: Sequence[Cue] = ()) -> None:
        self._make, self._planned = make, tuple(planned)
        self._stage: Stage | None = None
        self.now = self._begin()

    def _begin(self) -> Rehearsal:
        self.close()
        self._stage = self._make()
        return Rehearsal(opening=self._stage.scene(), planned=self._planned)

    def close(self) -> None:
        if self._stage is not None:
            self._stage.close()
            self._stage = None

    # --- moving ------------------------------------------------------------------------------------------------------

    def step(self) -> Rehearsal:
        """The next move: one played before and gone back over, else the scenario's next cue, else the first session
        that has something left. Nothing when all is over."""
        now = self.now
        if now.position < len(now.steps):
            self.now = replace(now, position=now.position + 1)
        elif (cue := self.next_cue()) is not None:
            self._play(cue)
        return self.now

    def next_cue(self) -> Cue | None:
        """What ``step`` would do; None at the end."""
        now = self.now
        if now.position < len(now.steps):
            return now.steps[now.position].cue
        live = {each.name for each in now.scene.lanes if each.next is not None}
        for cue in now.planned:
            if cue.lane == CLOCK or cue.lane in live:
                return cue
        return self._unplanned(live)

    def _unplanned(self, live: set[str]) -> Cue | None:
        """The first session that need not wait: whoever is inside a transaction goes before all others."""
        inside = [each.name for each in self.now.scene.lanes if each.phase is Phase.RUNNING and each.next]
        free = inside or [each.name for each in self.now.scene.lanes if each.name in live]
        return Cue(lane=free[0]) if free else None

    def choose(self, lane: str) -> Rehearsal:
        """This session moves next, whatever was planned; what had been played beyond here is forgotten."""
        self._rewind()
        self._play(Cue(lane=lane), planned=False)
        return self.now

    def advance(self, by_ms: int) -> Rehearsal:
        """The trainer moves the training clock."""
        self._rewind()
        self._play(Cue(lane=CLOCK, by_ms=by_ms), planned=False)
        return self.now

    def back(self) -> Rehearsal:
        """Look one step back; a choice made from there is played on a stage set anew up to there."""
        self.now = replace(self.now, position=max(0, self.now.position - 1))
        return self.now

    def to_start(self) -> Rehearsal:
        self.now = replace(self.now, position=0)
        return self.now

    def play(self) -> Iterator[Rehearsal]:
        """Step by step to the end; whoever takes them sets the pace."""
        while self.next_cue() is not None:
            yield self.step()

    def jump(self, lane: str, done: str) -> Rehearsal:
        """Play to the end, then look at this session's decisive move: the one that lost it, else the first of that
        name (a statement, or the title of a call). At the end where there is none."""
        for _ in self.play():
            pass
        met = [
            place
            for place, each in enumerate(self.now.steps, start=1)
            if each.moved.lane == lane and done in (each.moved.done, each.moved.title) and not each.moved.waiting
        ]
        lost = [place for place in met if self.now.steps[place - 1].moved.lost_at]
        if met:
            self.now = replace(self.now, position=(lost or met)[0])
        return self.now

    def _rewind(self) -> None:
        """Make the stage stand where one looks: replayed from the start, which gives the same each time."""
        cues = [each.cue for each in self.now.steps[: self.now.position]]
        if len(cues) < len(self.now.steps):
            self.now = self._begin()
            for cue in cues:
                self._play(cue)

    def _play(self, cue: Cue, *, planned: bool = True) -> None:
        now, stage = self.now, self._stage
        if stage is None:
            raise Invalid("the rehearsal was closed")
        if now.position >= MOVES_MAX:
            raise Invalid(f"more than {MOVES_MAX} moves: the schedule goes round in circles")
        at_ms = now.scene.clock_ms
        moved = stage.advance(at_ms + cue.by_ms) if cue.lane == CLOCK else stage.move(cue.lane)
        step = Step(cue=cue, at_ms=at_ms, moved=moved, scene=stage.scene())
        again = cue.to_end and not moved.outcome and not moved.waiting
        left = _from(now.planned, cue, keep=again) if planned else now.planned
        self.now = replace(
            now,
            steps=(*now.steps, step),
            position=now.position + 1,
            planned=left,
            as_planned=now.as_planned and planned,
        )


def _from(planned: tuple[Cue, ...], cue: Cue, *, keep: bool) -> tuple[Cue, ...]:
    """The plan after this cue (``keep``: from it on); those before it were of sessions that had ended."""
    for place, each in enumerate(planned):
        if each == cue:
            return planned[place if keep else place + 1 :]
    return planned
