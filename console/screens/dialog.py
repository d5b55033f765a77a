"""What all dialogs share: they open on the button that changes nothing, escape leaves, and only ctrl+s applies."""

from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Button

from console.screens.whole import Whole

Result = TypeVar("Result")


class Dialog(Whole, ModalScreen[Result]):
    """A dialog that changes nothing unless it is applied; enter alone never applies."""

    AUTO_FOCUS = "#cancel"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]  # noqa: RUF012  (as Textual declares it)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave it", show=False, id="dialog.leave"),
        Binding("ctrl+s", "apply", "Apply", show=False, id="dialog.apply", priority=True),
    ]

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_apply(self) -> None:
        """For a subclass; a dialog that only shows has nothing to apply."""

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "cancel":
            self.action_leave()
