"""The figures of the shift (SPEC 12), with small plots."""

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from console.screens.shown import Scroll, Shown
from console.viewmodels import figures as told
from console.viewmodels.figures import FiguresRow
from console.widgets.paint import content

if TYPE_CHECKING:
    from engine.ports import Engine
    from engine.rules.nouns import Actor


class FiguresScreen(Shown[FiguresRow]):
    EVERY_S: ClassVar[float | None] = 10.0
    AUTO_FOCUS = "#scroll"
    HINT = (("j k", "scroll"),)

    def __init__(self) -> None:
        super().__init__()
        self._row: FiguresRow | None = None

    def body(self) -> ComposeResult:
        with Scroll(id="scroll", classes="shown"), Horizontal(id="halves"):
            yield Static("reading…", id="one", markup=False)
            yield Static(id="other", markup=False)

    def read(self, engine: "Engine", actor: "Actor") -> FiguresRow:
        from console import reads_figures

        return reads_figures.figures(engine, actor)

    def take(self, data: FiguresRow) -> None:
        self._row = data
        page = self.query_one("#scroll", Scroll)
        page.border_title = Content(told.summary(data))
        self._draw()

    def _draw(self) -> None:
        if self._row is None:
            return
        width = self.size.width - 4
        one, other = told.columns(told.sections(self._row, width // 2 if width >= 100 else width), width)
        self.query_one("#one", Static).update(content(one))
        second = self.query_one("#other", Static)
        second.display = bool(other)
        second.update(content(other))

    def on_resize(self) -> None:
        super().on_resize()
        self._draw()
