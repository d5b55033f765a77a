"""No key reaches a screen that is not whole yet."""

from textual.widget import Widget


class Whole(Widget):
    """Textual runs the bindings of the newest screen for a key that was on its way up from the one before: a key held
    down would ask a page for parts that it does not have yet."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return super().check_action(action, parameters) if self.is_mounted else False
