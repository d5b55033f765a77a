"""The small dialog of acts that take something back: what it means, a reason code, words."""

from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Button, Input, Select, Static

from console.screens.dialog import Dialog
from console.widgets.bars import Said
from console.widgets.reason import ReasonFields
from console.words import inert


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoned:
    reason: str
    words: str


class WithReason(Dialog[Reasoned | None]):
    """Answers the reason, or None where it was left."""

    def __init__(self, title: str, means: str) -> None:
        super().__init__()
        self._title, self._means = inert(title), inert(means)

    def compose(self) -> ComposeResult:
        from console.asks import reasons

        with VerticalScroll(classes="box", can_focus=False):
            yield Static(self._title, markup=False, classes="title")
            yield Static(self._means, markup=False)
            yield ReasonFields(reasons())
            yield Said(id="lacking")
            yield Button("Leave it (esc)", id="cancel", compact=True)

    def on_mount(self) -> None:
        self.query_one(".box").border_subtitle = "tab to the reason: enter, ↑ ↓, enter · tab to the words"
        self.judge()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.judge()

    def on_select_changed(self, event: Select.Changed) -> None:
        self.judge()

    def judge(self) -> None:
        lacking = self.query_one(ReasonFields).lacking
        self.query_one("#lacking", Said).tell(
            f"(ctrl+s applies) wanted: {lacking}" if lacking else "ctrl+s applies", "plain"
        )

    def action_apply(self) -> None:
        fields = self.query_one(ReasonFields)
        if fields.lacking or fields.code is None:
            self.query_one("#lacking", Said).tell(f"not yet: {fields.lacking}", "warn")
            return
        self.dismiss(Reasoned(reason=fields.code, words=fields.words))
