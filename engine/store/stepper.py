"""The rehearsal driver: the programs the engine runs, advanced one statement at a time, in a chosen order or in all.

Each actor has a connection of its own that never waits (busy timeout 0), so that who is blocked is known at once. For
copies of a database made for this alone: a kill or a tick must cost nobody anything.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from engine.program import Lost, Program, Refuse, Rows, Step
from engine.store.session import LostRace, connect, execute

MOVES_MAX = 10_000
"""A schedule longer than this goes round in circles."""

READY, RUNNING, DONE, LOST, FAULT, KILLED = "ready", "running", "done", "lost", "fault", "killed"

UNIQUE = {
    "UNIQUE constraint failed: offers.tenant_id, offers.job_id": "one_live_offer_a_job",
    "UNIQUE constraint failed: offers.tenant_id, offers.worker_id": "one_live_offer_a_worker",
}
"""What SQLite says of the partial keys, by the names they have in the schema."""

_NO_ROWS: Rows = ()
_BEGIN = Step("begin", {}, wins=False)
_COMMIT = Step("commit", {}, wins=False)
Factory = Callable[[], Program[object]]


class Mover(Protocol):
    """Who may make the next move. ``optional``: a schedule may end without it."""

    @property
    def name(self) -> str: ...
    @property
    def optional(self) -> bool: ...
    @property
    def over(self) -> bool: ...
    def able(self) -> bool: ...
    def move(self) -> str | None: ...
    def close(self) -> None: ...


@runtime_checkable
class Mortal(Protocol):
    """Who steps programs, and can die in the middle of one."""

    @property
    def name(self) -> str: ...
    @property
    def phase(self) -> str: ...
    @property
    def outcome(self) -> str: ...
    def kill(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Naive:
    """Programs that are wrong on purpose: each statement commits by itself, and nothing that was done is undone.

    ``texts``: their statements by name. ``guarded``: False where the schema has lost its keys and checks too."""

    texts: Mapping[str, str]
    guarded: bool


def _open(path: Path, *, durable: bool, keys: bool = True) -> sqlite3.Connection:
    connection = connect(str(path), busy_ms=0)
    if not durable:
        connection.execute("PRAGMA synchronous = OFF")
    if not keys:
        connection.execute("PRAGMA foreign_keys = OFF")
    return connection


class Actor:
    """One session stepping one program: begin, each statement, then commit or roll back.

    ``phase``: ready, running, done, lost, fault or killed. ``outcome`` says it in words ("lost at claim_worker");
    ``answer`` is what the program returned."""

    optional = False

    def __init__(
        self,
        name: str,
        path: Path,
        program: Callable[[], Program[object]],
        tenant: str = "main",
        *,
        durable: bool = False,
        naive: Naive | None = None,
    ) -> None:
        self.name, self.tenant, self.phase, self.outcome = name, tenant, READY, ""
        self.answer: object = None
        self.connection = _open(path, durable=durable, keys=naive is None or naive.guarded)
        self._program, self._found, self._next = program(), _NO_ROWS, _BEGIN
        self._naive = naive
        if naive is not None:
            self._say("")

    @property
    def over(self) -> bool:
        return self.phase not in (READY, RUNNING)

    @property
    def next(self) -> str:
        """What the next move would do: begin, a statement's name, commit."""
        return self._next.name

    @property
    def step(self) -> Step:
        """The next move as the step it is, with its bindings."""
        return self._next

    @property
    def found(self) -> Rows:
        """The rows that the last statement returned."""
        return self._found

    def able(self) -> bool:
        """Whether the next move would go through now; a transaction that may not begin waits."""
        if self.over:
            return False
        return self.phase == RUNNING or self._begin(keep=False)

    def move(self) -> str | None:
        """Make one move and say it; None: waiting for another's transaction, and nothing has changed."""
        if self._naive is not None:
            return self._step(self._next) if self._begin(keep=False) else None
        if self.phase == READY:
            if not self._begin(keep=True):
                return None
            self.phase = RUNNING
            return self._say("begin")
        if self._next is _COMMIT:
            return self._commit()
        return self._step(self._next)

    def _begin(self, *, keep: bool) -> bool:
        try:
            self.connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "busy" in str(error):
                return False
            raise
        if not keep:
            self.connection.execute("ROLLBACK")
        return True

    def _step(self, step: Step) -> str:
        try:
            self._found = execute(self.connection, step, self.tenant, self._naive and self._naive.texts)
        except LostRace as lost:
            if self._naive is not None and lost.__cause__ is not None:  # a unique key: to be seen by its name
                guard = UNIQUE.get(str(lost.__cause__), str(lost.__cause__))
                return self._end(FAULT, f"refused at {step.name}: {guard}", f"{step.name} -> refused")
            return self._end(LOST, f"lost at {lost.step}", f"{step.name} -> {lost.step} lost, roll back")
        except sqlite3.Error as refused:
            return self._end(FAULT, f"refused at {step.name}: {refused}", f"{step.name} -> {refused}, roll back")
        return self._say(f"{step.name} -> {_count(self._found, step)}")

    def _say(self, done: str) -> str:
        """What was done; and the program asked for its next step, which may be to refuse."""
        try:
            self._next = next(self._program) if self._next is _BEGIN else self._program.send(self._found)
        except StopIteration as finished:
            self.answer, self._next = finished.value, _COMMIT
            if self._naive is not None:
                self.phase, self.outcome = DONE, f"done: {finished.value}"
        except Refuse as lost:
            return self._end(LOST, f"lost at {lost.step}", f"{done}; {lost.step} refused, roll back")
        return done

    def _commit(self) -> str:
        try:
            self.connection.execute("COMMIT")
        except sqlite3.Error as refused:
            return self._end(FAULT, f"refused at commit: {refused}", f"commit -> {refused}, roll back")
        self.phase, self.outcome = DONE, "done"
        return "commit"

    def _end(self, phase: str, outcome: str, line: str) -> str:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")
        self._program.close()
        if phase == LOST:
            self.answer = Lost(outcome.removeprefix("lost at "))
        self.phase, self.outcome = phase, outcome
        return line

    def kill(self) -> None:
        """End the session in the middle of whatever it does, as a process that dies would."""
        self.connection.close()
        self._program.close()
        self.phase, self.outcome = KILLED, f"killed before {self.next}"

    def close(self) -> None:
        self.connection.close()
        self._program.close()


def _count(found: Rows, step: Step) -> str:
    rows = len(found) or int(step.wins)
    return "1 row" if rows == 1 else f"{rows} rows"


class Tick:
    """The training clock is set, once, whenever nobody writes."""

    optional = False

    def __init__(self, path: Path, to_ms: int, name: str = "tick") -> None:
        self.name, self.over = name, False
        self._connection, self._to_ms = _open(path, durable=False), to_ms

    def able(self) -> bool:
        return not self.over and self._set(keep=False)

    def move(self) -> str | None:
        if not self._set(keep=True):
            return None
        self.over = True
        return f"the clock shows {self._to_ms}"

    def _set(self, *, keep: bool) -> bool:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        self._connection.execute("UPDATE clock SET now_ms = ?", [self._to_ms])
        self._connection.execute("COMMIT" if keep else "ROLLBACK")
        return True

    def close(self) -> None:
        self._connection.close()


class Kill:
    """One death: the session that is inside a transaction ends there. A schedule may also do without."""

    optional = True
    name = "kill"

    def __init__(self, actors: Sequence[Mortal]) -> None:
        self.over = False
        self._actors = actors

    def able(self) -> bool:
        return not self.over and self._victim() is not None

    def move(self) -> str | None:
        victim = self._victim()
        if victim is None:
            return None
        victim.kill()
        self.over = True
        return f"{victim.name} {victim.outcome}"

    def _victim(self) -> Mortal | None:
        return next((actor for actor in self._actors if actor.phase == RUNNING), None)

    def close(self) -> None:
        pass


# --- schedules -------------------------------------------------------------------------------------------------------

Choose = Callable[[Sequence[Mover]], Mover]


def interleave(movers: Sequence[Mover], choose: Choose) -> list[str]:
    """Play one schedule to its end; ``choose`` picks from those not over. The transcript shows who had to wait."""
    lines: list[str] = []
    stuck: set[str] = set()
    while any(not each.over and not each.optional for each in movers):
        ready = [
            each for each in movers if not each.over and each.name not in stuck and (not each.optional or each.able())
        ]
        if not ready or len(lines) > MOVES_MAX:
            raise RuntimeError("nobody can move: " + "; ".join(lines[-5:]))
        mover = choose(ready)
        said = mover.move()
        lines.append(f"{mover.name}: {said or '<waiting>'}")
        if said is None:
            stuck.add(mover.name)
        else:
            stuck.clear()  # whoever moved may have let the others go on
    return lines


@dataclass(slots=True)
class Explored:
    """What every schedule came to. ``ends``: how often each combination of outcomes was met."""

    schedules: int = 0
    moves: int = 0
    ends: Counter[str] = field(default_factory=Counter[str])


Make = Callable[[], Sequence[Mover]]
Check = Callable[[Sequence[Mover], Sequence[str]], None]


def every_schedule(make: Make, check: Check) -> Explored:
    """Depth first over every choice of who moves next, each schedule played anew from ``make``; ``check`` sees each.

    A mover that would have to wait is no choice: waiting changes nothing, so the schedule equals one without it."""
    explored, prefix = Explored(), list[int]()
    while True:
        movers = make()
        try:
            trace, lines = _play(movers, prefix)
            check(movers, lines)
        finally:
            for each in movers:
                each.close()
        explored.schedules += 1
        explored.moves += len(lines)
        explored.ends[ends_of(movers)] += 1
        while trace and trace[-1][0] + 1 >= trace[-1][1]:
            trace.pop()
        if not trace:
            return explored
        prefix = [taken for taken, _ in trace[:-1]] + [trace[-1][0] + 1]


def _play(movers: Sequence[Mover], prefix: Sequence[int]) -> tuple[list[tuple[int, int]], list[str]]:
    """One schedule: ``prefix`` first, then always the first who can. Answers each choice made and out of how many."""
    trace: list[tuple[int, int]] = []
    lines: list[str] = []
    while any(not each.over and not each.optional for each in movers):
        able = [each for each in movers if each.able()]
        taken = prefix[len(trace)] if len(trace) < len(prefix) else 0
        trace.append((taken, len(able)))
        lines.append(f"{able[taken].name}: {able[taken].move()}")
    return trace, lines


def ends_of(movers: Sequence[Mover]) -> str:
    """How each session ended, in words."""
    return "; ".join(f"{each.name} {each.outcome}" for each in movers if isinstance(each, Mortal))


# --- databases to step on --------------------------------------------------------------------------------------------


def template_of(path: Path) -> bytes:
    """The whole of a database nobody has open (its log is moved into it and goes)."""
    with closing(connect(str(path))) as last:
        last.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return path.read_bytes()


def copy_of(template: bytes, to: Path) -> Path:
    """A fresh database in place of the one before and what that left beside it. Nobody may have it open."""
    for end in ("-wal", "-shm"):
        to.with_name(to.name + end).unlink(missing_ok=True)
    to.write_bytes(template)
    return to


def run_all(path: Path, programs: Iterable[Factory], tenant: str = "main") -> list[str]:
    """One program after the other, to prepare a database; answers their outcomes."""
    outcomes: list[str] = []
    for number, program in enumerate(programs):
        actor = Actor(f"#{number}", path, program, tenant)
        try:
            interleave([actor], lambda ready: ready[0])
        finally:
            actor.close()
        outcomes.append(actor.outcome)
    return outcomes
