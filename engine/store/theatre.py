"""A training database as a stage: sessions that take turns on it, each move shown with the rows it changed.

Every rehearsal plays on a copy of its own, so that going back and every order of moves cost nobody anything.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from engine.ports import CallboardError, Damaged, Forbidden, Invalid, NotFound
from engine.program import Scalar, Step
from engine.rules.rehearsal import Act, Change, LaneView, Moved, Phase, Scene, Tally
from engine.store import scenery
from engine.store.invariants import doubles, violations
from engine.store.session import connect
from engine.store.sessions import Session, Ticks
from engine.store.sqlite import SqliteStore
from engine.store.statements import named
from engine.store.stepper import (
    Actor,
    Factory,
    Kill,
    Mortal,
    Mover,
    Naive,
    Tick,
    copy_of,
    ends_of,
    every_schedule,
    template_of,
)

Acts = Sequence[tuple[str, Factory]]
Calls = Sequence[tuple[str, Callable[[], str]]]
CLOCK = "clock"
SCHEDULES_MAX = 20_000
"""Orders grow with the factorial of the moves: beyond this nobody would wait for the end."""
COUNTED = re.compile(r" -> \d+ rows?$")
DIED = re.compile(r"killed before \w+")


class Caller:
    """A session that calls verbs: one move is one call, which runs its own transactions to the end."""

    optional = False
    phase = Phase.READY.value

    def __init__(self, name: str, calls: Calls, free: Callable[[], bool]) -> None:
        self.name, self.outcome, self.said = name, "", ""
        self._left, self._free = list(calls), free

    @property
    def over(self) -> bool:
        return not self._left

    @property
    def title(self) -> str:
        return self._left[0][0]

    def able(self) -> bool:
        return not self.over and self._free()

    def move(self) -> str | None:
        if not self._free():
            return None
        _, call = self._left.pop(0)
        try:
            self.said = call()
        except CallboardError as refused:
            self.said = f"refused: {refused}"
        self.outcome = self.said
        return self.said

    def close(self) -> None:
        pass


class Stage:
    """Sessions on one copy. ``close`` ends them; whatever was not committed is gone."""

    def __init__(self, path: Path, cast: Sequence[Session | Caller], tenant: str, zone: str) -> None:
        self._path, self._cast, self._tenant, self._zone = path, {each.name: each for each in cast}, tenant, zone
        self._watching = connect(str(path), readonly=True)

    def scene(self) -> Scene:
        found = scenery.look(self._watching, self._tenant)
        lanes = tuple(_view(each, self._zone) for each in self._cast.values())
        return Scene(
            clock_ms=self._now_ms(), lanes=lanes, rows=scenery.standing(found, self._zone),
            doubles=tuple(doubles(self._watching)),
        )  # fmt: skip

    def _now_ms(self) -> int:
        return int(self._watching.execute("SELECT now_ms FROM clock").fetchall()[0]["now_ms"])

    def move(self, name: str) -> Moved:
        """One move of one session. Raises NotFound where there is no such session, or it has nothing left to do."""
        mover = self._cast.get(name)
        if mover is None or mover.over:
            raise NotFound(f"{name}: no session that could move; there are {', '.join(self._cast)}")
        return self._call(mover) if isinstance(mover, Caller) else self._step(mover)

    def advance(self, to_ms: int) -> Moved:
        """The training clock is set; it waits, like any writer, while a session is inside a transaction."""
        with closing(Tick(self._path, to_ms)) as tick:
            said = tick.move()
        shown = scenery.cell("now_ms", to_ms, self._zone)
        return Moved(lane=CLOCK, done=CLOCK, waiting=said is None, said=f"the clock is set to {shown}")

    def close(self) -> None:
        for each in self._cast.values():
            each.close()
        self._watching.close()

    # --- one move ----------------------------------------------------------------------------------------------------

    def _call(self, mover: Caller) -> Moved:
        title, before = mover.title, scenery.look(self._watching, self._tenant)
        if mover.move() is None:
            return Moved(lane=mover.name, done="call", title=title, waiting=True)
        return Moved(lane=mover.name, done="call", title=title, said=mover.said, changes=self._changed(before))

    def _changed(self, before: scenery.Look, seen_by: sqlite3.Connection | None = None) -> tuple[Change, ...]:
        after = scenery.look(seen_by or self._watching, self._tenant)
        return tuple(scenery.changes(before, after, self._zone))

    def _step(self, mover: Session) -> Moved:
        actor, title = mover.actor, mover.title
        step = actor.step
        done, binds = step.name, _binds(step.binds, self._zone)
        # Inside a transaction only its own connection sees what it has done; when the act is over, everybody does.
        before = scenery.look(actor.connection, self._tenant)
        if mover.move() is None:
            return Moved(lane=mover.name, done=done, title=title, waiting=True)
        changed = self._changed(before, None if actor.over else actor.connection)
        lost = actor.phase in (Phase.LOST, Phase.FAULT)
        return Moved(
            lane=mover.name, done=done, title=title, binds=binds, rows=_rows(actor, step, changed, lost=lost),
            changes=changed, outcome=actor.outcome, lost_at=actor.outcome.removeprefix("lost at ") if lost else "",
        )  # fmt: skip


def _rows(actor: Actor, step: Step, changed: Sequence[Change], *, lost: bool) -> int | None:
    """Rows returned or changed; a step that had to win one row and went on has won it, shown or not."""
    if step.name in ("begin", "commit"):
        return None
    return 0 if lost else len(actor.found) or len(changed) or int(step.wins)


def _view(mover: Session | Caller, zone: str) -> LaneView:
    if mover.over:
        return LaneView(name=mover.name, phase=_phase(mover), next=None, outcome=mover.outcome)
    if isinstance(mover, Caller):
        act = Act(title=mover.title, statement="", binds=())
    else:
        act = Act(title=mover.title, statement=mover.actor.next, binds=_binds(mover.actor.step.binds, zone))
    return LaneView(name=mover.name, phase=_phase(mover), next=act, outcome=mover.outcome)


def _phase(mover: Session | Caller) -> Phase:
    return Phase.DONE if mover.over and isinstance(mover, Caller) else Phase(mover.phase)


def _binds(binds: Mapping[str, Scalar], zone: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, scenery.cell(name, value, zone)) for name, value in binds.items())


# --- copies ----------------------------------------------------------------------------------------------------------


class Theatre:
    """A training database to rehearse on, and a folder for the copy that is played on.

    ``naive_sql``: statements of programs that are wrong on purpose, and, unless ``guarded``, the script named
    ``drop_guards`` that takes the schema's guards away. Raises Damaged, Forbidden for a live database."""

    def __init__(self, database: Path, folder: Path, *, naive_sql: str = "", guarded: bool = True) -> None:
        store = _training(database)
        self.tenant, self.zone = store.sites()[0].tenant, store.sites()[0].zone
        store.checkpoint()
        store.close()
        self.path = folder / "stage.db"
        texts = named(naive_sql) if naive_sql else {}
        self._naive = Naive(texts=texts, guarded=guarded) if naive_sql else None
        self._template = template_of(database)
        if not guarded:
            copy_of(self._template, self.path)
            _drop_guards(self.path, texts["drop_guards"])
            self._template = template_of(self.path)

    def fresh(self) -> Path:
        """A new copy to tell a scenario on, in place of the last one, which nobody may have open any more."""
        for end in (".lock", ".fixes", ".fixes-wal", ".fixes-shm"):
            self.path.with_name(self.path.name + end).unlink(missing_ok=True)
        return copy_of(self._template, self.path)

    def session(self, name: str, acts: Acts, path: Path | None = None) -> Session:
        return Session(name, path or self.path, acts, self.tenant, naive=self._naive)

    def caller(self, name: str, calls: Calls) -> Caller:
        return Caller(name, calls, self._free)

    def _free(self) -> bool:
        with closing(connect(str(self.path), busy_ms=0)) as probe:
            try:
                probe.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return False
            probe.execute("ROLLBACK")
        return True

    def stage(self, cast: Sequence[Session | Caller]) -> Stage:
        return Stage(self.path, cast, self.tenant, self.zone)

    def every(
        self, cast: Callable[[Path], Sequence[Session]], clock_to_ms: Sequence[int], *, deaths: bool,
        playing: Callable[[Tally], None] | None = None,
    ) -> Tally:  # fmt: skip
        """Every order in which the sessions and the clock can move, each on a fresh copy beside the stage; ``deaths``:
        also with one session dying at any statement of a transaction. Naive programs are asked only whether anyone was
        promised twice; safe ones every invariant. ``playing``: told after each what was found so far; what it raises
        ends the search."""
        ends, broken, path = Counter[str](), list[str](), self.path.with_name("orders.db")

        def so_far() -> Tally:
            outcomes = tuple(sorted(ends.items(), key=lambda each: (-each[1], each[0])))
            return Tally(schedules=ends.total(), violations=tuple(broken), outcomes=outcomes)

        def make() -> list[Mover]:
            copy_of(self._template, path)
            sessions = list(cast(path))
            clock = [Ticks(path, clock_to_ms, CLOCK)] if clock_to_ms else []
            return [*sessions, *clock, *([Kill(sessions)] if deaths else [])]

        def check(movers: Sequence[Mover], lines: Sequence[str]) -> None:
            wrong = list(self._broken(path, movers))
            if wrong:
                broken.append(f"{'; '.join(wrong)} ({' · '.join(COUNTED.sub('', each) for each in lines)})")
            ends[DIED.sub("died", ends_of(movers))] += 1
            if ends.total() > SCHEDULES_MAX:
                raise Invalid(
                    f"more than {SCHEDULES_MAX} schedules: play fewer sessions, or fewer acts, against each other"
                )
            if playing is not None:
                playing(so_far())

        every_schedule(make, check)
        return so_far()

    def _broken(self, path: Path, movers: Sequence[Mover]) -> Iterator[str]:
        with closing(connect(str(path), readonly=True)) as db:
            if self._naive is not None:
                yield from doubles(db)
                return
            yield from violations(db)
        for each in movers:
            if isinstance(each, Mortal) and each.phase == Phase.FAULT:
                yield f"{each.name} {each.outcome}"


def _training(database: Path) -> SqliteStore:
    store = SqliteStore(database)
    if not store.training:
        store.close()
        raise Forbidden(
            f"{database} is a live database: a rehearsal plays races, sets clocks and lets sessions die, so it opens "
            "training databases only; `run.py init FILE --training` makes one, and without --db it makes its own"
        )
    if not store.sites():
        store.close()
        raise Damaged(f"{database} holds no site")
    return store


def _drop_guards(path: Path, script: str) -> None:
    with closing(connect(str(path))) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        db.executescript(script)
