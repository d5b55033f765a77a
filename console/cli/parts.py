"""What `run.py` hands to the command line, because doors never import each other: replay, demo, console, benchmarks."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from console.stage import DemoStage, RehearsalRoom, Script
from engine.imports.parsed import Rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOrder:
    """A day to be replayed in virtual time. ``answers``: accept (every offer, after seconds) or mixed.

    ``whole``: refuse the day for one bad row, which is otherwise left out and told; ``progress``: told the share
    that is done, 0 to 1."""

    jobs: Path
    workers: Path
    site: Path | None = None
    seed: int = 1
    answers: str = "accept"
    whole: bool = False
    progress: Callable[[float], None] | None = None


class LateMinutes(Protocol):
    """Minutes from due_by to the start, of the jobs that were begun too late."""

    @property
    def p50(self) -> float: ...
    @property
    def p95(self) -> float: ...


class ReplayReport(Protocol):
    """What became of a replayed day. ``offers``: by outcome; ``rejected``: (file, cell) of rows left out.

    All but ``wall_s`` is the same for the same seed.

    A protocol: who replays has a report of its own, and knows nothing of this door."""

    @property
    def jobs(self) -> int: ...
    @property
    def assigned(self) -> int: ...
    @property
    def on_time(self) -> int: ...
    @property
    def missed(self) -> int: ...
    @property
    def cancelled(self) -> int: ...
    @property
    def alerts(self) -> int: ...
    @property
    def offers(self) -> Mapping[str, int]: ...
    @property
    def double_bookings(self) -> int: ...
    @property
    def late_minutes(self) -> LateMinutes: ...
    @property
    def travel_minutes(self) -> float: ...
    @property
    def top_decile_share(self) -> float: ...
    @property
    def gini(self) -> float: ...
    @property
    def virtual_hours(self) -> float: ...
    @property
    def wall_s(self) -> float: ...
    @property
    def rejected(self) -> Sequence[tuple[str, Rejected]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOrder:
    """``seed``: one seed, one history. ``record``: the file for the session (else one in ``rehearsals/``, from its
    first fault on); ``replay``: the file of one that is played again."""

    seed: int = 1
    record: Path | None = None
    replay: Path | None = None


class DemoSite(DemoStage, Protocol):
    """A demo site: its database, and what brings it to life on the engine of whoever shows it (rounds included)."""

    @property
    def path(self) -> Path: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskOrder:
    """``demo``: brings the site to life, and rings its rounds. ``tenant``: None for the first one."""

    database: Path
    demo: DemoSite | None = None
    read_only: bool = False
    tenant: str | None = None


class Figure(Protocol):
    """One measured figure of a benchmark beside its bar."""

    @property
    def figure(self) -> str: ...
    @property
    def value(self) -> float: ...
    @property
    def unit(self) -> str: ...
    @property
    def bar(self) -> float | None: ...
    @property
    def holds(self) -> bool | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Each None where this copy of the house lacks it.

    ``open_console``: the desk on a database, until it is left; answers the exit code. ``demo``: made
    anew, and gone when the context is left. ``bench``: by the name of what is measured. ``open_room``: the rehearsal
    room on a screen, on this script or on the list."""

    replay: Callable[[ReplayOrder], ReplayReport] | None = None
    open_console: Callable[[DeskOrder], int] | None = None
    demo: Callable[[DemoOrder], AbstractContextManager[DemoSite]] | None = None
    bench: Callable[[str], Sequence[Figure]] | None = None
    rehearse: RehearsalRoom | None = None
    open_room: Callable[[RehearsalRoom, Script | None, Path | None], int] | None = None
