"""A box to tick whose state is a sign, not only a colour."""

from textual.widgets import Checkbox


class Tick(Checkbox):
    """[X] or [ ]."""

    BUTTON_LEFT = "["
    BUTTON_RIGHT = "]"
    BUTTON_INNER = " "

    def watch_value(self) -> None:
        self.BUTTON_INNER = "X" if self.value else " "  # pyright: ignore[reportConstantRedefinition]
        super().watch_value()
        self.refresh()
