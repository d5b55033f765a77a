"""The line on which a command is typed: completion below, errors in one line, and nothing is obeyed but a whole
command. What it acts on by default is what was selected when it was opened."""

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from console.commands import COMMANDS, DeskState
from console.screens.whole import Whole
from console.viewmodels.commands_typed import VERBS, Known, Meant, Verb, Wrong, completed, hint, parse
from console.widgets.bars import Said
from console.words import inert

if TYPE_CHECKING:
    from console.screens.desk import Desk


async def open_line(desk: "Desk", state: DeskState, line: str) -> None:
    """Open the line, with something on it already, and run what is typed."""
    meant = await desk.console.push_screen_wait(CommandLine(state, known_of(desk), line, desk.hands.lines))
    if meant is not None:
        desk.run_command(meant.command, meant.state)


def every_verb() -> tuple[Verb, ...]:
    """VERBS, and one for each command beside them that says how it is typed."""
    met = {each.command for each in VERBS}
    return (*VERBS, *(Verb(each.form.split()[0], each.id) for each in COMMANDS if each.form and each.id not in met))


def known_of(desk: "Desk") -> Known:
    from console.asks import reasons

    snap = desk.console.behind.snap
    assert snap is not None, "the command was allowed before there was anything to see"
    return Known(jobs=snap.jobs, alerts={each.id: each for each in snap.alerts}, names=snap.names, reasons=reasons(),
                 verbs=every_verb(), regions=snap.regions)  # fmt: skip


class CommandLine(Whole, ModalScreen[Meant | None]):
    """Answers what was meant, or None."""

    AUTO_FOCUS = "#command"
    DEFAULT_CSS = """
    CommandLine { align: left bottom; background: $background 0%; }
    CommandLine > Vertical { height: auto; width: 100%; background: $panel; border-top: heavy $primary; }
    CommandLine #command { height: 1; padding: 0 1; background: $panel; }
    CommandLine #hint { height: auto; max-height: 3; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave it", show=False, id="line.leave"),
        Binding("tab", "complete", "Complete", show=False, id="line.complete", priority=True),
        Binding("up", "older(1)", "Line before", show=False, id="line.older"),
        Binding("down", "older(-1)", "Line after", show=False, id="line.newer"),
    ]

    def __init__(self, state: DeskState, known: Known, line: str, lines: list[str]) -> None:
        super().__init__()
        self._state, self._known, self._line, self._lines = state, known, line, lines
        self._back = 0
        self._forms = {each.id: each.form for each in COMMANDS}

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Input(value=self._line, id="command", placeholder="/verb …  tab completes, esc leaves", compact=True,
                        select_on_focus=False)  # fmt: skip
            yield Said(id="hint")

    def on_mount(self) -> None:
        box = self.query_one("#command", Input)
        box.cursor_blink = False
        box.cursor_position = len(box.value)
        self._hint(box.value)

    def _hint(self, line: str) -> None:
        self.query_one("#hint", Said).tell(hint(line, self._known, self._forms), "dim")

    @on(Input.Changed)
    def typed(self, event: Input.Changed) -> None:
        self._hint(event.value)

    @on(Input.Submitted)
    def entered(self, event: Input.Submitted) -> None:
        if not event.value.strip(" /"):
            self.dismiss(None)
            return
        try:
            meant = parse(event.value, self._state, self._known)
        except Wrong as wrong:
            self.query_one("#hint", Said).tell(str(wrong), "alert")
            return
        self.dismiss(meant)

    def action_complete(self) -> None:
        box = self.query_one("#command", Input)
        box.value = completed(box.value, self._known)
        box.cursor_position = len(box.value)

    def action_older(self, by: int) -> None:
        """Lines of before, also those that keys stood for."""
        self._back = max(0, min(len(self._lines), self._back + by))
        box = self.query_one("#command", Input)
        box.value = inert(self._lines[-self._back].removeprefix("/")) if self._back else ""
        box.cursor_position = len(box.value)

    def action_leave(self) -> None:
        self.dismiss(None)
