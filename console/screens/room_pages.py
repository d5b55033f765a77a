"""Pages of the rehearsal room: help, questions for the class, notes for the trainer."""

from console.room_commands import RoomState, commands_of
from console.screens.pages import Page
from console.stage import Script
from console.viewmodels.cells import BOLD, DIM, HEAD, PLAIN, WARN, Line
from console.words import inert


def help_page(state: RoomState) -> Page:
    told: list[Line] = [(("Keys of the rehearsal room", HEAD),)]
    for each in commands_of(state):
        told.append(((f"{each.shown:>4}  ", BOLD), (f"{each.label:<15} ", BOLD), (each.tooltip, PLAIN)))
        if (reason := each.allowed(state)) is not None:
            told.append(((f"{'':22}not now: {inert(reason)}", WARN),))
    told += [
        ((" ", PLAIN),),
        (("   j k, arrows     ", BOLD), ("scroll the run", PLAIN)),
        ((" ", PLAIN),),
        (("<waiting>: another session is inside its transaction; nothing has changed. * marks a row that the last step",
          DIM),),
        (("changed for everybody. The training clock stands until the plan or the trainer moves it.", DIM),),
    ]  # fmt: skip
    return Page("Help", told)


def questions_page(script: Script) -> Page:
    return Page(
        "Questions for the class",
        [((f"{number}. ", BOLD), (inert(ask), BOLD)) for number, (ask, _) in enumerate(script.questions, 1)],
    )


def notes_page(script: Script) -> Page:
    """For the trainer alone: notes, and the answers to the questions."""
    told: list[Line] = [((inert(line) or " ", PLAIN),) for line in script.notes.strip().splitlines()]
    for ask, answer in script.questions:
        told += [((" ", PLAIN),), ((inert(ask), BOLD),), ((inert(answer), PLAIN),)]
    return Page("Notes for the trainer (not for the projector)", told or [(("no notes", DIM),)])
