"""The list of scenarios: what there is to rehearse, and what each teaches."""

from pathlib import Path
from typing import ClassVar, cast

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from console.screens.room import Room
from console.screens.whole import Whole
from console.stage import RehearsalRoom
from console.viewmodels.cells import ACCENT, BOLD, DIM, HEAD, PLAIN
from console.widgets.bars import OneLine, Said
from console.widgets.lines import Lines
from console.widgets.rehearsal import Pane, Scripts
from console.words import inert
from engine.ports import CallboardError

LEGEND = "naive: it has programs that are wrong on purpose (n)   told: verb by verb, one order"


class Scenarios(Whole, Screen[None]):
    """Enter opens the scenario under the cursor; escape leaves."""

    CSS_PATH = Path(__file__).parent.parent / "room.tcss"
    AUTO_FOCUS = "#scripts"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "Leave", show=False, id="scenarios.leave", tooltip="Leave the rehearsal room")
    ]

    def __init__(self, room: RehearsalRoom, *, database: Path | None = None, nested: bool = False) -> None:
        super().__init__()
        self._room, self._database, self._nested = room, database, nested

    def compose(self) -> ComposeResult:
        yield OneLine(id="room-status")
        yield Scripts()
        yield Pane(id="teaches")
        yield Said(id="room-said")
        yield OneLine(id="room-keys")

    def on_mount(self) -> None:
        self.query_one("#room-status", OneLine).say((("REHEARSAL ", ACCENT), (" choose a scenario", BOLD)))
        keys = (("enter ", HEAD), ("open  ", PLAIN), ("j k ", HEAD), ("move  ", PLAIN), ("esc ", HEAD),
                ("leave", PLAIN))  # fmt: skip
        self.query_one("#room-keys", OneLine).say(keys)
        scripts = self.query_one(Scripts)
        scripts.border_title = "Scenarios"
        scripts.take(self._room.listed())
        self._teach()

    @on(Lines.Moved)
    def _teach(self) -> None:
        script = self.query_one(Scripts).chosen
        if script is None:
            return
        told = [((inert(script.title), HEAD),), ((inert(script.teaches), PLAIN),)]
        if script.naive is not None:
            told.append(((f"naive: {inert(script.naive.fault)}", PLAIN),))
        self.query_one("#teaches", Pane).take([*told, ((LEGEND, DIM),)], "What it teaches")

    @on(Lines.Chosen)
    def _open(self) -> None:
        script = self.query_one(Scripts).chosen
        if script is None:
            return
        try:
            self._app.push_screen(Room(self._room, script, database=self._database))
        except (CallboardError, OSError) as refused:
            self.query_one("#room-said", Said).tell(str(refused), "alert")

    @property
    def _app(self) -> App[int]:
        return cast("App[int]", self.app)

    def action_leave(self) -> None:
        """Back to the desk from which it was opened (``nested``), or out."""
        if self._nested:
            self.dismiss(None)
        else:
            self._app.exit(0)
