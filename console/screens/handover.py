"""Handover: one digest for who comes next, to copy to the terminal's clipboard or into a file."""

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from console.screens.shown import Scroll, Shown
from console.viewmodels import handover as told
from console.viewmodels.cells import HEAD, PLAIN, Line
from console.viewmodels.handover import Handover
from console.widgets.read import Read

if TYPE_CHECKING:
    from engine.ports import Engine
    from engine.rules.nouns import Actor


class HandoverScreen(Shown[Handover]):
    """It stands as it was when opened, so that what is copied is what was read; `r` reads it again."""

    EVERY_S: ClassVar[float | None] = None
    AUTO_FOCUS = "#scroll"
    HINT = (("y", "copy"), ("s", "save to a file"), ("j k", "scroll"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy", "Copy", show=False, id="handover.copy"),
        Binding("s", "save", "Save", show=False, id="handover.save"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._text = ""
        self._now_ms = 0

    def body(self) -> ComposeResult:
        with Scroll(id="scroll", classes="shown"):
            yield Read([(("reading…", PLAIN),)], id="page_told", begins=_begins)

    def read(self, engine: "Engine", actor: "Actor") -> Handover:
        from console import reads

        return reads.handover(engine, actor)

    def take(self, data: Handover) -> None:
        lines = told.digest(data)
        self._text, self._now_ms = "\n".join(lines) + "\n", data.now_ms
        page = self.query_one("#scroll", Scroll)
        page.border_title = Content("Handover")
        page.border_subtitle = Content(f"{len(lines)} lines")
        self.query_one("#page_told", Read).take([_looks(each) for each in lines])

    def action_copy(self) -> None:
        self.console.copy_to_clipboard(self._text)
        self.tell(
            "sent to the terminal's clipboard (OSC 52); whether it arrived cannot be confirmed: s saves to a file"
        )

    @work(thread=False, exclusive=True, group="save")
    async def action_save(self) -> None:
        import asyncio

        site = self.console.behind.path
        name = told.file_name(site.name, self._now_ms, self.console.zone)
        try:
            path = await asyncio.to_thread(write, site.parent, name, self._text)
        except OSError as error:
            self.tell(f"the file could not be written: {error}", "alert")
            return
        self.tell(f"saved to {path}", "ok")


def write(folder: Path, name: str, text: str) -> Path:
    """Beside the database, else among temporary files; for its owner alone. Raises OSError."""
    if not os.access(folder, os.W_OK):
        folder = Path(tempfile.gettempdir())
    path = folder / name
    made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(made, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _looks(line: str) -> Line:
    return ((line or " ", PLAIN if line.startswith("  ") or not line else HEAD),)


def _begins(line: Line) -> int:
    """An entry goes on to the right of its list's entries, so that the next one is told from it."""
    return 4 if line[0][0].startswith("  ") else 2
