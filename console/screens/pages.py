"""A page to read: lines that scroll; escape or q closes it."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from console.screens.whole import Whole
from console.viewmodels.cells import Line
from console.widgets.read import Begins, Read, last_piece
from console.words import inert


class Page(Whole, ModalScreen[None]):
    """Help, why: nothing on it acts."""

    AUTO_FOCUS = "#page"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close", "Close", show=False, id="page.close"),
        Binding("j", "scroll('down')", show=False, id="page.down"),
        Binding("k", "scroll('up')", show=False, id="page.up"),
        Binding("g", "scroll('home')", show=False, id="page.first"),
        Binding("G", "scroll('end')", show=False, id="page.last"),
    ]

    def __init__(self, title: str, lines: Sequence[Line], *, begins: Begins = last_piece) -> None:
        super().__init__()
        self._title, self._lines, self._begins = inert(title), lines, begins

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="page"):
            yield Read(self._lines, begins=self._begins)

    def on_mount(self) -> None:
        page = self.query_one("#page")
        page.border_title = self._title.replace("[", "\\[")
        page.border_subtitle = "j k scroll · esc closes"

    def action_close(self) -> None:
        self.dismiss(None)

    def action_scroll(self, how: str) -> None:
        page = self.query_one("#page", VerticalScroll)
        {"down": page.scroll_down, "up": page.scroll_up, "home": page.scroll_home, "end": page.scroll_end}[how](
            animate=False
        )
