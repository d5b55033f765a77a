"""The settings in force. They are changed on the command line, by a supervisor, and audited."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from console.screens.shown import Scroll, Shown
from console.viewmodels import settings as told
from console.viewmodels.settings import InForce
from console.widgets.paint import content

if TYPE_CHECKING:
    from engine.ports import Engine
    from engine.rules.nouns import Actor


class SettingsScreen(Shown[InForce]):
    EVERY_S: ClassVar[float | None] = None
    AUTO_FOCUS = "#scroll"
    FINDS = "words of a section, a name or a value; enter keeps, esc clears"
    HINT = (("j k", "scroll"), ("f", "filter"))

    def __init__(self) -> None:
        super().__init__()
        self._found: InForce | None = None

    def body(self) -> ComposeResult:
        with Scroll(id="scroll", classes="shown"):
            yield Static("reading…", id="page_told", markup=False)

    def read(self, engine: "Engine", actor: "Actor") -> InForce:
        from console import reads

        return reads.settings(engine)

    def take(self, data: InForce) -> None:
        self._found = data
        self.query_one("#scroll", Scroll).border_title = Content("Settings in force")
        self.filtered("")

    def filtered(self, text: str) -> None:
        if self._found is not None:
            self.query_one("#page_told", Static).update(content(told.lines(self._found, text)))
