"""One object for each action of the rehearsal room: it feeds bindings, footer, help, and the reason why not now."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomState:
    """``lanes``: whether each session has something left; ``decisive``: the scenario names a step that decides."""

    lanes: tuple[tuple[str, bool], ...] = ()
    position: int = 0
    more: bool = True
    playing: bool = False
    safe: bool = True
    naive: bool = False
    race: bool = True
    decisive: bool = True
    questions: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomCommand:
    """``keys``: as Textual names them; ``shown``: as people read them. ``rank``: lower is kept longer in the footer."""

    id: str
    keys: str
    shown: str
    label: str
    tooltip: str
    allowed: Callable[[RoomState], str | None]
    rank: int


def always(_: RoomState) -> str | None:
    return None


def may_step(state: RoomState) -> str | None:
    return None if state.more else "all sessions have ended; , goes back, R begins anew"


def may_go_back(state: RoomState) -> str | None:
    return None if state.position else "this is the beginning"


def may_choose(number: int) -> Callable[[RoomState], str | None]:
    def may(state: RoomState) -> str | None:
        if number > len(state.lanes):
            return f"there is no session {number}"
        name, live = state.lanes[number - 1]
        return None if live else f"{name} has nothing left to do"

    return may


def may_jump(state: RoomState) -> str | None:
    return None if state.decisive else "this scenario names no step that decides"


def may_swap(state: RoomState) -> str | None:
    return None if state.naive else "this scenario has no naive twin"


def may_enumerate(state: RoomState) -> str | None:
    return None if state.race else "it is told verb by verb: it has one order"


def may_ask(state: RoomState) -> str | None:
    return None if state.questions else "this scenario has no questions"


ROOM = (
    RoomCommand(id="step", keys="full_stop,space", shown=".", label="step", allowed=may_step, rank=0,
                tooltip="The next move, as the scenario plans it (also space)"),
    RoomCommand(id="back", keys="comma", shown=",", label="back", allowed=may_go_back, rank=1,
                tooltip="Look one step back; a choice made from there begins another run"),
    *(
        RoomCommand(id=f"choose{n}", keys=str(n), shown=str(n), label=f"session {n}", allowed=may_choose(n),
                    rank=20 + n, tooltip=f"Session {n} moves next, whatever was planned")
        for n in range(1, 5)
    ),
    RoomCommand(id="play", keys="p", shown="p", label="play", allowed=may_step, rank=2,
                tooltip="Play step by step, or stop playing"),
    RoomCommand(id="faster", keys="plus,equals_sign", shown="+", label="faster", allowed=always, rank=13,
                tooltip="Play faster"),
    RoomCommand(id="slower", keys="minus", shown="-", label="slower", allowed=always, rank=14, tooltip="Play slower"),
    RoomCommand(id="jump", keys="right_square_bracket", shown="]", label="decisive", allowed=may_jump, rank=3,
                tooltip="Play to the end and look at the step that decides"),
    RoomCommand(id="naive", keys="n", shown="n", label="naive", allowed=may_swap, rank=4,
                tooltip="Programs that are wrong on purpose: without the schema's guards, then with them, then safe"),
    RoomCommand(id="every", keys="E", shown="E", label="every schedule", allowed=may_enumerate, rank=5,
                tooltip="Play every order of moves, and a death at every statement; count how each ends"),
    RoomCommand(id="questions", keys="q", shown="q", label="questions", allowed=may_ask, rank=6,
                tooltip="Questions for the class"),
    RoomCommand(id="clock", keys="c", shown="c", label="clock", allowed=always, rank=8,
                tooltip="Advance the training clock, or set it back; asks by how much"),
    RoomCommand(id="notes", keys="N", shown="N", label="notes", allowed=always, rank=10,
                tooltip="Notes and answers for the trainer: hidden until asked for, not for the projector"),
    RoomCommand(id="export", keys="x", shown="x", label="export", allowed=always, rank=9,
                tooltip="Write the run, as far as you look, as text and as SVG; says where"),
    RoomCommand(id="anew", keys="R", shown="R", label="anew", allowed=may_go_back, rank=11,
                tooltip="Begin the scenario anew, in its own order"),
    RoomCommand(id="theme", keys="T", shown="T", label="theme", allowed=always, rank=15,
                tooltip="Dark, light, Okabe-Ito"),
    RoomCommand(id="help", keys="question_mark", shown="?", label="help", allowed=always, rank=7,
                tooltip="What every key does, and why not now"),
    RoomCommand(id="leave", keys="escape", shown="esc", label="list", allowed=always, rank=12,
                tooltip="Back to the list of scenarios"),
)  # fmt: skip


def commands_of(state: RoomState) -> tuple[RoomCommand, ...]:
    """Those that this scenario has a use for: no key for a session that is not in it."""
    beyond = {f"choose{n}" for n in range(len(state.lanes) + 1, 5)}
    return tuple(each for each in ROOM if each.id not in beyond)


def room_command(command_id: str) -> RoomCommand:
    return next(each for each in ROOM if each.id == command_id)
