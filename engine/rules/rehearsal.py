"""The nouns of a rehearsal: what one move of one session did to the rows, and how the stage looks afterwards."""

from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """Where a session's present act is. FAULT: the database refused a statement; KILLED: the session died."""

    READY = "ready"
    RUNNING = "running"
    DONE = "done"
    LOST = "lost"
    FAULT = "fault"
    KILLED = "killed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One thing a session does: a lease program (many statements, one transaction) or a call of a verb (one move).

    ``statement`` is the next one's name ("" for a call), ``binds`` its bindings as pairs of name and text."""

    title: str
    statement: str
    binds: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneView:
    """A session as the stage shows it. ``next`` None: nothing left to do. ``outcome``: of the act that ended last."""

    name: str
    phase: Phase
    next: Act | None
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A row before and after; only the columns that differ. ``before`` empty: the row is new; ``after`` empty: gone."""

    table: str
    key: str
    before: tuple[tuple[str, str], ...]
    after: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of the middle of the stage: a job, a worker, an offer or a booking, told in one line."""

    table: str
    key: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The stage between two moves: sessions, the committed rows, the training clock. ``doubles``: what is promised
    twice (never with safe programs)."""

    clock_ms: int
    lanes: tuple[LaneView, ...]
    rows: tuple[Row, ...]
    doubles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What one move did. ``done``: begin, a statement's name, commit, call or clock; ``rows``: changed or returned.

    ``waiting``: another session holds the database, and nothing has changed. ``outcome`` is set when the act ended;
    ``lost_at`` names the statement (or guard) that was not won, ``said`` what a verb answered, in words."""

    lane: str
    done: str
    title: str = ""
    binds: tuple[tuple[str, str], ...] = ()
    rows: int | None = None
    changes: tuple[Change, ...] = ()
    waiting: bool = False
    outcome: str = ""
    lost_at: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Every schedule of a scenario: how many there are, how often each end was met, and what broke an invariant."""

    schedules: int
    violations: tuple[str, ...]
    outcomes: tuple[tuple[str, int], ...]
