"""The panes of the rehearsal room: lines that wrap and scroll, a bar at the foot, a list of scenarios."""

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from textual.containers import VerticalScroll
from textual.widgets import Static

from console.room_commands import ROOM, RoomCommand, RoomState
from console.stage import Script
from console.viewmodels.cells import BOLD, DIM, PLAIN, Line, fit
from console.widgets.bars import OneLine
from console.widgets.lines import Lines
from console.widgets.read import Begins, Read, indented


class Pane(VerticalScroll, can_focus=False):
    """Lines with a title in the border. ``to_end``: its end is kept in sight; ``begins``: below which column a line
    goes on that does not fit."""

    def __init__(self, *, id: str, to_end: bool = False, begins: Begins = indented) -> None:  # noqa: A002  (Textual's own)
        super().__init__(id=id)
        self._to_end = to_end
        self._shown: list[Line] = []
        self._marked: tuple[int, int] | None = None
        self._body = Read(begins=begins)

    def compose(self) -> Sequence[Static]:  # type: ignore[override]
        return (self._body,)

    def take(
        self, lines: list[Line], title: str = "", look: str = "plain", *, marked: tuple[int, int] | None = None
    ) -> None:
        """``marked``: first and last of the lines that are to be in sight."""
        self._marked = marked
        self.border_title = title.replace("[", "\\[")
        self.set_class(look in ("warn", "alert"), "-marked")
        if lines != self._shown:
            self._shown = lines
            self._body.take(lines)
            self._follow()

    def on_resize(self) -> None:
        self._follow()

    def _follow(self) -> None:
        if self._to_end:
            self.call_after_refresh(self.scroll_end, animate=False)
        elif self._marked is not None:
            self.call_after_refresh(self._show_marked)

    def _show_marked(self) -> None:
        """The last of them at the foot, unless the first would then be above the top."""
        if self._marked is not None:
            first, last = self._body.row_of(self._marked[0]), self._body.row_of(self._marked[1] + 1)
            self.scroll_to(y=max(0, min(first, last - self.scrollable_content_region.height)), animate=False)

    def rows(self, width: int) -> int:
        """How many rows its lines take in panes of this width, borders and all."""
        return len(self._body.rows(width - self.gutter.width)) + self.gutter.height


class RoomKeys(OneLine):
    """Keys in the order of their rank, as many as fit; what is not allowed now is dim and in brackets."""

    def take(self, state: RoomState, ranked: Sequence[RoomCommand] = ROOM) -> None:
        pieces: list[tuple[str, str]] = []
        room = self.size.width
        for each in sorted(ranked, key=lambda each: each.rank):
            may = each.allowed(state) is None
            text = f"{each.shown} {each.label}" if may else f"({each.shown} {each.label})"
            need = cell_len(text) + (2 if pieces else 0)
            if need > room:
                break
            room -= need
            pieces += [("  ", PLAIN)] if pieces else []
            pieces += [(f"{each.shown} ", "head"), (each.label, PLAIN)] if may else [(text, DIM)]
        self.say(tuple(pieces))


class Scripts(Lines):
    """The scenarios there are, each a line."""

    def __init__(self) -> None:
        super().__init__(id="scripts", empty="no scenarios")
        self.scripts: Mapping[str, Script] = {}

    def take(self, scripts: Sequence[Script]) -> None:
        self.scripts = {each.name: each for each in scripts}
        self.show(list(self.scripts))

    @property
    def chosen(self) -> Script | None:
        return self.scripts.get(self.cursor or "")

    def read(self, key: str, width: int) -> Line:
        each = self.scripts[key]
        marks = "naive" if each.naive else "" if each.is_race else "told"
        name = min(26, width // 2)
        return ((fit(f" {each.name}", name), DIM), (" ", PLAIN), (fit(each.title, width - name - 9), BOLD),
                (fit(f"{marks} ", 8, right=True), DIM))  # fmt: skip
