"""Help, made from the command objects: each key, what it does, and why not now."""

from console.commands import COMMANDS, MOVING, DeskState, shown_key
from console.screens.pages import Page
from console.viewmodels.cells import BOLD, DIM, HEAD, PLAIN, WARN, Line
from console.words import inert


class Help(Page):
    def __init__(self, state: DeskState) -> None:
        super().__init__("Help", help_lines(state))


def help_lines(state: DeskState) -> list[Line]:
    """Commands with the reason why one is not allowed on what is selected now; then how to move about."""
    on = f" on {inert(state.job.id)}" if state.job else ""
    told: list[Line] = [((f"Keys{on}", HEAD),)]
    for each in COMMANDS:
        told.append(((f"{shown_key(each, state):>6}  ", BOLD), (f"{each.label:<11} ", BOLD), (each.tooltip, PLAIN)))
        if (reason := each.refusal(state)) is not None:
            told.append(((" " * 20, PLAIN), (f"not now: {inert(reason)}", WARN)))
    told += [((" ", PLAIN),), (("Moving about", HEAD),)]
    told += [((f"  {keys:<20}", BOLD), (words, PLAIN)) for keys, words in MOVING]
    told += [
        ((" ", PLAIN),),
        (
            ("States  ", HEAD),
            ("!! unassigned   · open   > offered   = accepted   * in progress   ✓ done   x cancelled", PLAIN),
        ),
        (("Every change is audited under your name. Times are the site's; a count with − is overdue.", DIM),),
    ]
    return told
