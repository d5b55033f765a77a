"""The rehearsal room as an application of its own: it needs no database, and no engine before a scenario is opened."""

import logging
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from console.screens.room import Room
from console.screens.scenarios import Scenarios
from console.stage import SAFE, RehearsalRoom, Script
from console.themes import THEMES


class RoomApp(App[int]):
    """``script``: opened at once, over the list. ``ticks``: whether play runs by itself."""

    CSS_PATH = Path(__file__).with_name("console.tcss")
    TITLE = "Callboard rehearsal"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", "Leave at once", show=False, id="room.interrupt", priority=True)
    ]

    def __init__(
        self, room: RehearsalRoom, script: Script | None = None, *, database: Path | None = None, ticks: bool = True
    ) -> None:
        super().__init__()
        self._room, self._script, self._database, self._ticks = room, script, database, ticks
        self.animation_level = "none"
        for each in THEMES:
            self.register_theme(each)
        self.theme = THEMES[0].name

    def on_mount(self) -> None:
        self.push_screen(Scenarios(self._room, database=self._database))
        if self._script is not None:
            self.push_screen(Room(self._room, self._script, database=self._database, ticks=self._ticks))


def run_room(room: RehearsalRoom, script: Script | None, database: Path | None) -> int:
    """Show the room until it is left; answers the exit code. Raises CallboardError where nothing can be opened."""
    if script is not None or database is not None:  # said before the screen is taken
        with room.opened(script or room.listed()[0], SAFE, database):
            pass
    silence = logging.NullHandler()  # what the engine would log is part of the story, and told there
    logging.getLogger().addHandler(silence)
    try:
        app = RoomApp(room, script, database=database)
        code = app.run()
    finally:
        logging.getLogger().removeHandler(silence)
    return code if code is not None else app.return_code or 0
