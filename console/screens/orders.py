"""Every schedule of a scenario, played on a thread beside the screen: how many, how they end, what broke."""

import threading
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from console.screens.whole import Whole
from console.stage import SAFE, RehearsalRoom, Script
from console.viewmodels.cells import ALERT, DIM, OK, PLAIN, WARN, Line
from console.viewmodels.rehearsal import tally
from console.widgets.paint import content
from console.words import inert
from engine.ports import CallboardError
from engine.rules.rehearsal import Tally

LOOK_S = 0.2


class Stopped(Exception):
    """The trainer has seen enough."""


class Orders(Whole, ModalScreen[None]):
    """Escape stops the search, and once it has ended closes the page."""

    CSS_PATH = Path(__file__).parent.parent / "room.tcss"
    AUTO_FOCUS = "#page"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "Stop or close", show=False, id="orders.close"),
        Binding("x", "export", "Write it down", show=False, id="orders.export"),
        Binding("j,down", "scroll(1)", show=False, id="orders.down"),
        Binding("k,up", "scroll(-1)", show=False, id="orders.up"),
    ]

    def __init__(self, room: RehearsalRoom, script: Script, kind: str, database: Path | None, exports: Path) -> None:
        super().__init__()
        self._exports, self._written = exports, ""
        self._room, self._script, self._kind, self._database = room, script, kind, database
        self._enough = threading.Event()
        self.found = Tally(schedules=0, violations=(), outcomes=())
        self.said: tuple[str, str] = ("playing; esc stops", WARN)
        self.ended = threading.Event()

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="page"):
            yield Static("", id="tally", markup=False)

    def on_mount(self) -> None:
        page = self.query_one("#page")
        page.border_title = f"Every schedule: {inert(self._script.title)} ({self._kind})".replace("[", "\\[")
        page.border_subtitle = "esc stops, then closes · x writes it down"
        self.run_worker(self._play, thread=True, exit_on_error=False)
        self.set_interval(LOOK_S, self.look)
        self.look()

    def on_unmount(self) -> None:
        self._enough.set()

    # --- on the thread -----------------------------------------------------------------------------------------------

    def _play(self) -> None:
        """A house of its own: sessions belong to the thread that opened them."""
        try:
            with self._room.opened(self._script, self._kind, self._database) as house:
                self.found = house.every(self._heard)
            self.said = ("that is every order there is", OK)
        except Stopped:
            self.said = ("stopped: these are not all", WARN)
        except (CallboardError, OSError) as error:
            self.said = (str(error), ALERT)
        finally:
            self.ended.set()

    def _heard(self, found: Tally) -> None:
        self.found = found
        if self._enough.is_set():
            raise Stopped

    # --- on the screen -----------------------------------------------------------------------------------------------

    def look(self) -> None:
        safe = self._kind == SAFE
        words, look = self.said
        lines = self._lines(safe=safe, words=words, look=look)
        if self._written:
            lines.append(((inert(self._written), OK),))
        self.query_one("#tally", Static).update(content(lines))

    def _lines(self, *, safe: bool, words: str, look: str) -> list[Line]:
        lines: list[Line] = [*tally(self.found, self._script.zone, safe=safe), ((" ", PLAIN),), ((inert(words), look),)]
        if safe:
            dead = "one session may also die at any statement of a transaction"
            lines.append(((f"Every order of moves, and {dead}; every invariant is asked after each.", DIM),))
        else:
            lines.append((("Every order of moves; asked of each: is anything promised twice?", DIM),))
        return lines

    def action_export(self) -> None:
        """What the page says, as text: of a search that goes on, as far as it is."""
        from console.transcripts import export_orders

        words, look = self.said
        lines = [
            "".join(text for text, _ in each) for each in self._lines(safe=self._kind == SAFE, words=words, look=look)
        ]
        try:
            self._written = f"written: {export_orders(self._exports, self._script, self._kind, lines)}"
        except OSError as error:
            self._written = f"not written: {error}"
        self.look()

    def action_close(self) -> None:
        if self.ended.is_set():
            self.dismiss(None)
        else:
            self._enough.set()

    def action_scroll(self, by: int) -> None:
        self.query_one("#page", VerticalScroll).scroll_relative(y=by, animate=False)
