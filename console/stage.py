"""What run.py hands over for rehearsals, as the console and the command line see it: scripts, houses, their players.

Words alone: the first paint of the desk does not wait for the engine they name."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from engine.ports import Engine
    from engine.rules.rehearsal import Tally
    from engine.verbs.rehearse import Player

SAFE, BARE, GUARDED = "safe", "naive, without guards", "naive, on the real schema"


class NaiveScript(Protocol):
    """``fault``: what the naive programs do wrong, in a sentence."""

    @property
    def fault(self) -> str: ...


class Script(Protocol):
    """A scenario as it is shown. ``source`` finds it again; ``decisive``: session and statement; ``questions``: with
    answers; ``notes``: for the trainer alone, never on a projector."""

    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def teaches(self) -> str: ...
    @property
    def rule(self) -> str: ...
    @property
    def zone(self) -> str: ...
    @property
    def decisive(self) -> tuple[str, str]: ...
    @property
    def questions(self) -> Sequence[tuple[str, str]]: ...
    @property
    def notes(self) -> str: ...
    @property
    def naive(self) -> NaiveScript | None: ...
    @property
    def is_race(self) -> bool: ...


class House(Protocol):
    """A scenario on a training database of its own. ``every``: all orders; told what was found so far.
    What it is told may raise, which ends the search.
    ``words``: of statements that are none of the engine's."""

    @property
    def scenario(self) -> Script: ...
    @property
    def player(self) -> "Player": ...
    @property
    def rule(self) -> str: ...
    @property
    def words(self) -> Mapping[str, str]: ...
    @property
    def every(self) -> "Callable[[Callable[[Tally], None] | None], Tally]": ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalRoom:
    """``found``: a script by its name or the path of a file; ``opened``: by script, programs (SAFE, BARE or GUARDED)
    and the trainer's own database, where one is named (it has to be a training one)."""

    listed: Callable[[], Sequence[Script]]
    found: Callable[[str], Script]
    opened: Callable[[Script, str, Path | None], AbstractContextManager[House]]


# --- the demo site as a stage ----------------------------------------------------------------------------------------


class FaultShown(Protocol):
    """What a trainer can do to the demo site. ``shows``: what the class will see; ``of_worker``: one is chosen."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def shows(self) -> str: ...
    @property
    def of_worker(self) -> bool: ...


class DemoStage(Protocol):
    """The demo site, which rings the rounds itself, and its trainer's hands. ``speed``: of the clock, 0 = it stands.

    ``chosen``: whom its trainer chose last; ``warning``: why a replay may differ, or "". ``refusals``: why not now, by
    fault; ``inject`` does it and answers in words, or raises CallboardError; ``pass_a_second``: of training time;
    answers its time. ``record``: where the session is recorded, or how far its replay has come."""

    seed: int
    speed: float
    chosen: str
    warning: str

    def open(self) -> "Engine": ...
    def hear(self, said: Callable[[str], None]) -> None: ...
    def start(self, engine: "Engine") -> None: ...
    def stop(self) -> None: ...
    @property
    def record(self) -> str: ...
    @property
    def faults(self) -> Sequence[FaultShown]: ...
    def refusals(self) -> Mapping[str, str]: ...
    def workers(self) -> Sequence[tuple[str, str]]: ...
    def inject(self, fault: str, worker: str = "") -> str: ...
    def pass_a_second(self) -> str: ...
