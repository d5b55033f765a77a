"""Who is at the desk: covers it until an operator has signed in. Nothing of the site is shown behind it."""

import time
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from console.behind import NotOpen
from console.screens.whole import Whole
from console.widgets.bars import Said
from console.words import inert

if TYPE_CHECKING:
    from console.app import Console


QUIET_S = 0.7


class Login(Whole, ModalScreen[None]):
    """``before``: who sat here before the desk was locked. Escape does nothing here; ctrl+q leaves the console.

    A passphrase must never stand readable in the box for the name, however fast it is typed: the keys that leave that
    box are taken before the letters after them, tab never goes back to it (shift+tab does), and whoever typed before
    it was there is not listened to until they pause."""

    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    Login { align: center middle; background: $background; }
    Login > Vertical { width: 60; max-width: 100%; height: auto; border: heavy $primary; background: $surface;
        padding: 0 1; }
    Login Static { height: auto; }
    Login #refused { height: auto; min-height: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stay", show=False, id="login.stay"),
        Binding("enter", "enter", show=False, id="login.enter", priority=True),
        Binding("tab,down", "step('#passphrase')", show=False, id="login.next", priority=True),
        Binding("shift+tab,up", "step('#name')", show=False, id="login.back", priority=True),
    ]

    def __init__(self, site: str, before: str = "", why: str = "") -> None:
        super().__init__()
        self._site, self._before, self._why = inert(site), before, why

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(f"{self._site}: who is at the desk?", markup=False, classes="title")
            yield Static(f"{self._why}Dispatching goes on. ctrl+q leaves.", markup=False)
            yield Input(value=self._before, placeholder="name", id="name", compact=True)
            yield Input(placeholder="passphrase; enter signs in", password=True, id="passphrase", compact=True)
            yield Said(id="refused")

    def on_mount(self) -> None:
        for each in self.query(Input):
            each.cursor_blink = False
        if self._before:
            self.query_one("#passphrase", Input).focus()
        else:
            self._listen()

    def _listen(self) -> None:
        """Begin at the name once nobody types: of what was typed ahead a part is lost, and perhaps the tab."""
        typed_s = cast("Console", self.app).typed_s
        quiet_s = QUIET_S if typed_s is None else time.monotonic() - typed_s
        if self.focused is not None:
            return
        if quiet_s < QUIET_S:
            self.set_timer(QUIET_S - quiet_s, self._listen)
        else:
            self.set_focus(self.query_one("#name", Input))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enter on the passphrase comes after its letters; every other key that moves comes before those after it."""
        if action == "step":
            return True
        if not super().check_action(action, parameters):
            return False
        return action != "enter" or self.focused is not self.query_one("#passphrase", Input)

    def action_enter(self) -> None:
        self.action_step("#passphrase")

    def action_step(self, box: str) -> None:
        """A key that ran ahead moves nothing, and Textual's own way from box to box is not taken either."""
        if self.focused is not None:
            self.set_focus(self.query_one(box, Input))

    def on_input_submitted(self) -> None:
        self.sign_in()

    @work(exclusive=True)
    async def sign_in(self) -> None:
        from engine.ports import CallboardError
        from engine.verbs import operators

        console = cast("Console", self.app)
        name, box = self.query_one("#name", Input).value, self.query_one("#passphrase", Input)
        passphrase, box.value = box.value, ""
        refused = self.query_one("#refused", Said)
        refused.tell("…")
        try:
            found = await console.behind.ask(lambda engine, _: operators.sign_in(engine, name, passphrase))
        except (CallboardError, NotOpen) as error:
            refused.tell(str(error), "alert")
            return
        if found is None:
            refused.tell("that name and passphrase do not belong together", "alert")
            return
        console.behind.sit_down(found.name, found.role)
        console.uncovered()
        self.dismiss(None)
        if self._before != found.name:
            console.leave_what_was_open()

    def action_stay(self) -> None:
        """Only signing in uncovers the desk."""
