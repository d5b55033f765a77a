"""A box to tick whose state is a sign, not only a colour."""

from textual.widgets import Checkbox

TICKED, CLEAR = "[X]", "[ ]"


class Tick(Checkbox):
    """[X] or [ ]."""

    BUTTON_LEFT = BUTTON_RIGHT = ""
    BUTTON_INNER = CLEAR

    def watch_value(self) -> None:
        self.BUTTON_INNER = TICKED if self.value else CLEAR  # pyright: ignore[reportConstantRedefinition]
        super().watch_value()
        self.refresh()
