"""The alerts: worst first, with marks for an act on many of them."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from console.commands import PANES
from console.viewmodels import alerts as alert_lines
from console.viewmodels.board import marked
from console.viewmodels.cells import Line
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

    def read(self, key: str, width: int) -> Line:
        line = alert_lines.line(self.rows[key], width, self.now_ms, self.zone)
        return marked(line) if key in self.marks else line

    def take(self, snap: Snapshot, now_ms: int) -> None:
        self.rows = {each.id: each for each in snap.alerts}
        self.now_ms, self.zone = now_ms, snap.site.zone
        shown = alert_lines.arrange(snap.alerts, now_ms)
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
