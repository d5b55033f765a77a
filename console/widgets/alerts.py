"""The alerts: worst first, with marks for an act on many of them."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content

from console.commands import PANES
from console.viewmodels import alerts as alert_lines
from console.viewmodels.board import marked
from console.viewmodels.cells import DIM, Line
from console.viewmodels.rows import AlertRow, Snapshot
from console.widgets.lines import Lines


class Alerts(Lines):
    """A mark ends with its alert: what is no longer shown is no part of the next act."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+down", "range(1)", "Mark down", show=False, id="alerts.mark_down"),
        Binding("shift+up", "range(-1)", "Mark up", show=False, id="alerts.mark_up"),
    ]

    def __init__(self) -> None:
        super().__init__(id="alerts", empty="no alerts")
        self._told = ""
        self.rows: dict[str, AlertRow] = {}
        self.marks: dict[str, None] = {}
        self.now_ms = 0
        self.zone = "UTC"
        self._kind = 0
        self._laid: tuple[tuple[int, int], list[tuple[str, Line]]] | None = None

    def read(self, key: str, width: int) -> Line:
        line = alert_lines.line(self.rows[key], width, self.now_ms, self.zone, self._kind)
        return marked(line) if key in self.marks else line

    # --- details on more than one row ---------------------------------------------------------------------------------

    def repaint(self) -> None:
        self._laid = None
        super().repaint()

    def _lay(self) -> list[tuple[str, Line]]:
        """What stands in each row where all alerts have one at least: the worst get as many as their details want."""
        size = (self.size.width, self.size.height)
        if self._laid is None or self._laid[0] != size:
            self._laid = (size, self._laid_out(*size))
        return self._laid[1]

    def _laid_out(self, width: int, height: int) -> list[tuple[str, Line]]:
        spare = height - len(self.order)
        if spare <= 0:
            return []
        laid: list[tuple[str, Line]] = []
        for key in self.order:
            told = alert_lines.rows(self.rows[key], width, self.now_ms, self.zone, self._kind)
            if len(told) - 1 > spare:
                told = [self.read(key, width)]
            elif key in self.marks:
                told[0] = marked(told[0])
            spare -= len(told) - 1
            laid += [(key, each) for each in told]
        return laid

    def _reading(self, y: int) -> tuple[str, Line]:
        laid = self._lay()
        if y >= len(laid):
            return super()._reading(y) if not laid else ("row", (("", DIM),))
        key, line = laid[y]
        if key == self.cursor:
            return ("cursor" if self.has_focus else "blurred"), line
        return ("odd" if self.order.index(key) & 1 else "row"), line

    def on_click(self, event: events.Click) -> None:
        laid = self._lay()
        if not laid:
            super().on_click(event)
        elif event.y < len(laid):
            self.put(laid[event.y][0])

    # --- alerts and marks ---------------------------------------------------------------------------------------------

    def take(self, snap: Snapshot, now_ms: int) -> None:
        self.rows = {each.id: each for each in snap.alerts}
        self.now_ms, self.zone = now_ms, snap.site.zone
        shown = alert_lines.arrange(snap.alerts, now_ms)
        self._kind = alert_lines.kind_cells(self.rows[each] for each in shown)
        self.marks = {each: None for each in self.marks if each in self.rows and each in shown}
        self.show(shown)
        many = f"{len(self.marks)} marked · " if self.marks else ""
        told = many + alert_lines.title(snap.alerts, now_ms, snap.alerts_lately, snap.site.alert_budget)
        if told != self._told:
            self._told = told
            self.border_title = Content(f"{' '.join(PANES['alerts'])} · {told}")

    @property
    def alert(self) -> AlertRow | None:
        return self.rows.get(self.cursor or "")

    @property
    def marked(self) -> tuple[AlertRow, ...]:
        """The marked alerts as they are now, in the order they are shown in."""
        return tuple(self.rows[each] for each in self.order if each in self.marks)

    def mark(self, key: str, *, only_on: bool = False) -> None:
        """Mark an alert, or unmark it; ``only_on``: a range never unmarks."""
        if key in self.marks and not only_on:
            del self.marks[key]
        else:
            self.marks[key] = None
        self.repaint()
        self.post_message(self.Moved(self))  # at the last row the cursor stays, and the count of marks is told anew

    def unmark(self, ids: frozenset[str]) -> None:
        self.marks = {each: None for each in self.marks if each not in ids}
        self.repaint()

    def action_range(self, by: int) -> None:
        """Shift and an arrow: mark this alert and the one it goes to."""
        for step in (0, by):
            if step:
                self.action_step(step)
            if self.cursor is not None:
                self.mark(self.cursor, only_on=True)
