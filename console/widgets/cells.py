"""Pane 3: workers and open jobs by H3 cell, on a lattice of hexagons. A schematic: cells and counts, never a pin."""

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from console.viewmodels import cells_map
from console.viewmodels.cells_map import NOWHERE, PITCH, ZOOMS, At, Run
from console.viewmodels.rows import CellRow, CellsRow, Snapshot

TITLE = "3 Cells"
FILLS = ("gap", "none", "want", "stale", "load1", "load2", "load3", "load4", "alert", "cursor")


class Cells(ScrollView, can_focus=True):
    """The map. The cursor is a place of the lattice; it stays where it is when counts change."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"cells--{each}" for each in FILLS}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "step(2,0)", "East", show=False, id="cells.right"),
        Binding("left", "step(-2,0)", "West", show=False, id="cells.left"),
        Binding("down,j", "step(0,1)", "South", show=False, id="cells.down"),
        Binding("up,k", "step(0,-1)", "North", show=False, id="cells.up"),
        Binding("plus,equals_sign", "zoom(1)", "Larger", show=False, id="cells.larger"),
        Binding("minus", "zoom(-1)", "Smaller", show=False, id="cells.smaller"),
        Binding("home,g", "centre", "Alert or middle", show=False, id="cells.centre"),
        Binding("enter", "choose", "Filter the board", show=False, id="cells.choose"),
    ]

    class Chosen(Message):
        """Enter on a cell; ``cell`` is "" where the map holds nothing there."""

        def __init__(self, cell: str, words: str) -> None:
            super().__init__()
            self.cell, self.words = cell, words

    def __init__(self) -> None:
        super().__init__(id="cells")
        self.zoom = 1
        self._zoomed = False
        self.cursor: At | None = None
        self._cells: CellsRow | None = None
        self._at: dict[At, CellRow] = {}
        self._frame = (0, 0, 0, 0)
        self._plan = cells_map.plan(self._frame, self.zoom)
        self._known: dict[str, Style] = {}
        self._said = ("", "")

    # --- what comes from behind --------------------------------------------------------------------------------------

    def take(self, snap: Snapshot) -> None:
        if snap.cells is None or snap.cells is self._cells:
            return
        self._cells = snap.cells
        self._at = {(each.x, each.y): each for each in snap.cells.cells}
        self._frame = cells_map.framed(snap.cells)
        if self.cursor is None and self._at:
            self.cursor = cells_map.nearest(self._at, self._frame)
        self._suit()
        self._lay()

    @property
    def row(self) -> CellRow | None:
        return self._at.get(self.cursor) if self.cursor is not None else None

    def _suit(self) -> None:
        """Until a person zooms: the largest zoom where the whole map is in sight then, else the middle one."""
        if self._zoomed or self._cells is None or not self.size:
            return
        most = ZOOMS - 1
        suits = most if cells_map.fits(self._frame, most, self.size.width, self.size.height) else 1
        if suits != self.zoom:
            self.zoom = suits
            self._lay()

    def _lay(self) -> None:
        self._plan = cells_map.plan(self._frame, self.zoom)
        size = Size(self._plan.width, len(self._plan.lines))
        if size != self.virtual_size:
            self.virtual_size = size
            self._follow()
        self._tell()
        self.refresh()

    def _tell(self) -> None:
        """What is under the cursor and where north is, in the pane's border, as far as it has room."""
        if self._cells is None:
            return
        room, narrow = self.size.width - 16, self.screen.has_class("-narrow")
        north, here = cells_map.compass(self._cells), cells_map.told(self.row)
        if len(here) + (len(north) + 3 if narrow else 0) > room:
            here = cells_map.told_short(self.row)
        title = f"{TITLE} · {here} · {north}" if narrow else f"{TITLE} · {here}"
        said = (title, f"{north} · H3 {self._cells.resolution}")
        if said != self._said:  # setting them paints the whole pane
            self._said = said
            self.border_title, self.border_subtitle = map(Content, said)

    # --- drawing -----------------------------------------------------------------------------------------------------

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._known.clear()

    def _style(self, name: str) -> Style:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self.get_component_rich_style(f"cells--{name}")
        return found

    def _fill(self, at: At) -> str:
        if at == NOWHERE:
            return "gap"
        if at == self.cursor:
            return "cursor"
        return cells_map.look(self._at.get(at))

    def render_line(self, y: int) -> Strip:
        across, down = self.scroll_offset
        line, gap = y + down, self._style("gap")
        if self._cells is None or line >= len(self._plan.lines):
            said = "reading where everybody is…" if self._cells is None and y == 0 else ""
            return Strip([Segment(said, gap)]).adjust_cell_length(self.size.width, gap)
        segments = [self._segment(each) for each in self._plan.lines[line]]
        return Strip(segments, self._plan.width).crop_extend(across, across + self.size.width, gap)

    def _segment(self, run: Run) -> Segment:
        fill = self._fill(run.top)
        if run.top == run.bottom:
            if run.label is None or run.top == NOWHERE:
                return Segment(" " * run.n, self._style(fill))
            said = cells_map.words(self._at.get(run.top), self.zoom, run.label, run.n)
            return Segment(said, self._style(fill))
        upper, lower = self._style(fill), self._style(self._fill(run.bottom))
        return Segment("▀" * run.n, Style(color=upper.bgcolor, bgcolor=lower.bgcolor))

    # --- keys --------------------------------------------------------------------------------------------------------

    def _go(self, at: At) -> None:
        left, above, right, below = self._frame
        if left <= at[0] <= right and above <= at[1] <= below and at != self.cursor:
            self.cursor = at
            self._follow()
            self._tell()
            self.refresh()

    def _follow(self) -> None:
        """The cursor's hexagon, with what is around it, stays in sight."""
        if self.cursor is None:
            return
        column, line = self._plan.spot(self.cursor)
        across, down = PITCH[self.zoom]
        around = Region(column - across, line - down, 3 * across, 3 * down + 1)
        self.scroll_to_region(around, animate=False, immediate=True, force=True)

    def action_step(self, by_x: int, by_y: int) -> None:
        x, y = self.cursor or (0, 0)
        if by_y:  # straight down, as good as the lattice allows: to the right from even rows, to the left from odd
            by_x = 1 if y % 2 == 0 else -1
            if not self._frame[0] <= x + by_x <= self._frame[2]:
                by_x = -by_x
        self._go((x + by_x, y + by_y))

    def action_zoom(self, by: int) -> None:
        self._zoomed = True
        zoom = max(0, min(ZOOMS - 1, self.zoom + by))
        if zoom != self.zoom:
            self.zoom = zoom
            self._lay()
            self._follow()

    def action_centre(self) -> None:
        if self._at:
            self._go(cells_map.nearest(self._at, self._frame))

    def action_choose(self) -> None:
        row = self.row
        self.post_message(self.Chosen(row.id if row else "", cells_map.told(row)))

    def on_click(self, event: events.Click) -> None:
        across, down = self.scroll_offset
        at = self._plan.under(event.x + across, event.y + down)
        if at is not None:
            self._go(at)

    def on_resize(self) -> None:
        self._suit()
        self._tell()
        self._follow()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()
