"""Workers: who is on shift, when they were last seen and heard, what they hold, and their bookings on one time axis."""

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from console.screens.pages import Page
from console.screens.shown import Shown
from console.viewmodels import workers as told
from console.viewmodels.cells import DIM, Line
from console.viewmodels.workers import Axis, WorkerRow
from console.widgets.lines import Lines
from console.widgets.paint import content
from console.widgets.read import fitted, indented

if TYPE_CHECKING:
    from engine.ports import Engine
    from engine.rules.nouns import Actor

ORDERS = tuple(told.ORDERS)


class WorkerList(Lines):
    def __init__(self) -> None:
        super().__init__(id="everyone", empty="nobody matches; esc shows all")
        self.add_class("shown")
        self.rows: dict[str, WorkerRow] = {}
        self.axis = Axis(0, 1)
        self.now_ms = 0
        self.zone = "UTC"

    def header(self, width: int) -> Line:
        return told.header(width, self.axis, self.zone)

    def read(self, key: str, width: int) -> Line:
        return told.line(self.rows[key], width, self.axis, self.now_ms, self.zone)


class WorkersScreen(Shown[tuple[WorkerRow, ...]]):
    AUTO_FOCUS = "#everyone"
    FINDS = "words to filter by: name, skill, region, cell, job, fresh, stale; enter keeps, esc clears"
    HINT = (("enter", "in full"), ("j k", "move"), ("f", "filter"), ("z", "order"))
    BINDINGS: ClassVar[list[BindingType]] = [Binding("z", "order", "Next order", show=False, id="workers.order")]

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self._by, self._text = ORDERS[0], text

    def body(self) -> ComposeResult:
        yield WorkerList()
        with VerticalScroll(id="person", can_focus=False):
            yield Static(id="person_told", markup=False)

    @property
    def list(self) -> WorkerList:
        return self.query_one(WorkerList)

    def read(self, engine: "Engine", actor: "Actor") -> tuple[WorkerRow, ...]:
        from console import reads

        return reads.workers(engine, actor)

    def take(self, data: tuple[WorkerRow, ...]) -> None:
        people = self.list
        people.rows = {each.id: each for each in data}
        people.zone, people.now_ms = self.console.zone, self.now_ms
        people.axis = told.axis(data, people.now_ms)
        people.border_title = Content(f"Workers · {told.summary(data)}")
        self._arrange()

    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self.tell_person)

    def tick(self) -> None:
        super().tick()
        if self.is_current and self.list.rows:
            self.list.now_ms = self.now_ms
            self.list.repaint()

    def _arrange(self) -> None:
        people = self.list
        people.show(told.arrange(people.rows, self._text, self._by))
        if people.cursor is None and people.order:  # nothing here acts, so the first match may be told of
            people.put(people.order[0])
        people.border_subtitle = Content(f"by {self._by} · {len(people.order)}")
        self.tell_person()

    def filtered(self, text: str) -> None:
        self._text = text
        self._arrange()

    def action_order(self) -> None:
        self._by = ORDERS[(ORDERS.index(self._by) + 1) % len(ORDERS)]
        self._arrange()
        self.tell(f"ordered by {self._by}")

    @on(Lines.Moved)
    def tell_person(self) -> None:
        lines = self._person() or ((("nobody is selected", DIM),),)
        box = self.query_one("#person_told", Static)
        box.update(content(fitted(lines, box.size.width, indented)))

    def _person(self) -> tuple[Line, ...]:
        row = self.list.rows.get(self.list.cursor or "")
        return tuple(told.told(row, self.now_ms, self.console.zone)) if row else ()

    @on(Lines.Chosen)
    def open_person(self) -> None:
        """On a page of their own, which scrolls: below a list on few rows there is no room for them."""
        if lines := self._person():
            self.console.push_screen(Page("Worker", lines, begins=indented))
