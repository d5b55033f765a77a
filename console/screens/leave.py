"""Leaving the desk asks, because it may end automatic dispatching. Enter stays; `y` leaves."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Button, Static

from console.screens.dialog import Dialog


class Leave(Dialog[bool]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "yes", "Leave", show=False, id="leave.yes")]

    def __init__(self, means: str) -> None:
        super().__init__()
        self._means = means

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="box", can_focus=False):
            yield Static("Leave the desk?", markup=False, classes="title")
            yield Static(f"{self._means}\ny leaves, enter or esc stays.", markup=False)
            yield Button("Stay (esc)", id="cancel", compact=True)

    def action_leave(self) -> None:
        self.dismiss(False)

    def action_yes(self) -> None:
        self.dismiss(True)
