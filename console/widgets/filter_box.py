"""The box for words to filter by. Filtering moves nobody: the pane that was in focus before is so again afterwards."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input


class FilterBox(Input):
    """``back``: the pane that it was opened from."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Clear", show=False)]

    class Left(Message):
        """Escape: nothing is to be filtered."""

    def __init__(self) -> None:
        super().__init__(id="filter", placeholder="words to filter by; enter keeps, esc clears", compact=True)
        self.cursor_blink = False
        self.back = ""

    def ask(self, text: str, back: str) -> None:
        self.value, self.back, self.display = text, back, True
        self.focus()

    def action_leave(self) -> None:
        self.display = False
        self.value = ""
        self.post_message(self.Left())
