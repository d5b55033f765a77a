"""The desk on one page, for whoever sits at it for the first time. Nothing on it acts."""

from console.commands import by_id, shown_key
from console.screens.pages import Page
from console.viewmodels.cells import BOLD, DIM, HEAD, PLAIN, Line

TRIAGE = (("acknowledge", "takes the alert: others see that somebody looks after it"),)
GIVE = (
    ("assign", "offers the job to the best eligible worker"),
    ("override", "lets you choose the worker, says what that overrules, and asks for a reason"),
    ("why", "tells who was looked at, and why or why not"),
)
KNOW = (
    ("workers", "who is on shift, last seen when, booked for what"),
    ("audit", "who did what, and why: your acts too"),
    ("figures", "how the shift goes"),
    ("handover", "the digest for who comes next"),
    ("help", "every key, and why one is not allowed now"),
)


class Tour(Page):
    def __init__(self) -> None:
        super().__init__("The desk on one page", lines())


def lines() -> list[Line]:
    """Made from the command objects, so that no key is told that is not there."""
    return [
        (("1 Alerts first. ", HEAD), ("Press 1: the worst is on top. enter goes to its job.", PLAIN)),
        *_keys(TRIAGE),
        (("2 Then jobs. ", HEAD), ("Press 2: !! nobody is left, · open, > offered, = accepted, * begun.", PLAIN)),
        *_keys(GIVE),
        (
            ("3 Cells ", HEAD),
            ("shows where workers (w) and open jobs (j) are; enter shows that cell's jobs alone.", PLAIN),
        ),
        (("4 Job ", HEAD), ("tells of the job under the cursor: the one that the next key acts on.", PLAIN)),
        (("5 Offers ", HEAD), ("count down; unanswered ones expire and the next worker is asked.", PLAIN)),
        ((" ", PLAIN),),
        (("To know more", HEAD),),
        *_keys(KNOW),
        ((" ", PLAIN),),
        (("Nothing moves under the cursor, enter alone never overrules anybody, every change is audited.", DIM),),
        (("The top line says whether the screen is LIVE, and how old its data are.", DIM),),
    ]


def _keys(told: tuple[tuple[str, str], ...]) -> list[Line]:
    found = [(by_id(command), words) for command, words in told]
    return [((f"  {shown_key(each):>3} {each.label:<9} ", BOLD), (words, PLAIN)) for each, words in found]
