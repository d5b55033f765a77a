"""Words of any length drawn line by line: wrapped, scrolled, selectable, and only what is in sight is made.

A widget that sizes itself to its words lays out the whole screen when they take more or fewer rows. A key to a job with
ten attempts cost 16 ms either way where the job before was as high; where it was not, 25 ms so and 18 drawn by line."""

from collections.abc import Sequence
from typing import ClassVar, cast

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions

from console.viewmodels.cells import Line
from console.widgets.paint import one

KEPT_LINES = 512


class Told(ScrollView, can_focus=True):
    """Lines of pieces. ``say`` shows others; what reads as before is not painted again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", show=False, id="told.down"),
        Binding("k", "scroll_up", show=False, id="told.up"),
        Binding("g", "scroll_home", show=False, id="told.first"),
        Binding("G", "scroll_end", show=False, id="told.last"),
    ]

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's own name)
        super().__init__(id=id)
        self.said: list[Line] = []
        self._rows: list[tuple[int, int]] = []
        self._wide = 0
        self._laid_for = Size(0, 0)
        self._painted: dict[int, tuple[Line, int]] = {}
        self._strips: dict[tuple[Line, int], list[Strip]] = {}

    def say(self, lines: Sequence[Line]) -> None:
        if list(lines) == self.said:
            return
        self.said = list(lines)
        self._measure()
        for y in range(self.size.height):
            if self._painted.get(y) != self._reading(y):
                self.refresh(Region(0, y, self.size.width, 1))

    def _measure(self) -> None:
        """Setting the virtual size lays out the whole screen: the bar alone is moved, where one is wanted or not."""
        self._lay_rows()
        size = Size(self._wide, len(self._rows))
        if size == self.virtual_size:
            return
        if self.styles.auto_dimensions or not self.size:
            self.virtual_size = size
        else:
            self.set_reactive(cast("Reactive[Size]", ScrollView.virtual_size), size)
            self._scroll_update(size)

    def _lay_rows(self) -> None:
        """Where they are more than there is room for, a bar stands in the last column."""
        self._laid_for = self.size
        self._wide = max(1, self.size.width)
        self._rows = self._rows_in(self._wide)
        if len(self._rows) > self.size.height and self._wide > self.bar_cells:
            self._wide -= self.bar_cells
            self._rows = self._rows_in(self._wide)

    @property
    def bar_cells(self) -> int:
        """What the scroll bar takes where it is shown; it may not be yet."""
        return self.styles.scrollbar_size_vertical

    def _rows_in(self, width: int) -> list[tuple[int, int]]:
        return [(at, n) for at, line in enumerate(self.said) for n in range(self._height(line, width))]

    def _height(self, line: Line, width: int) -> int:
        fits = sum(cell_len(text) for text, _ in line) <= width
        return 1 if fits else len(self._wrapped(line, width))

    def on_resize(self) -> None:
        self._measure()

    # --- drawing -----------------------------------------------------------------------------------------------------

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        self._painted.clear()

    def _reading(self, y: int) -> tuple[Line, int]:
        """What stands in a row of the pane: a line, and which of its rows."""
        if self._laid_for != self.size:  # a frame may be painted before the news of a new size has come
            self._lay_rows()
        row = y + self.scroll_offset.y
        if row >= len(self._rows):
            return (), 0
        at, n = self._rows[row]
        return self.said[at], n

    def _wrapped(self, line: Line, width: int) -> list[Strip]:
        known = self._strips.get((line, width))
        if known is None:
            if len(self._strips) >= KEPT_LINES:
                self._strips.clear()
            known = self._strips[line, width] = self._drawn(line, width)
        return known

    def _drawn(self, line: Line, width: int, span: tuple[int, int] | None = None) -> list[Strip]:
        """The rows of one line; ``span``: the letters of it that are selected, to -1 for all."""
        content = one(line)
        if span is not None:
            chosen = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            content = content.stylize(chosen, span[0], None if span[1] == -1 else span[1])
        return content.render_strips(width, None, self.visual_style, RenderOptions(self._get_style, {}))

    def render_line(self, y: int) -> Strip:
        line, n = self._painted[y] = self._reading(y)
        width, blank = self.size.width, self.visual_style.rich_style
        if not line:
            return Strip.blank(width, blank)
        at = self._rows[y + self.scroll_offset.y][0]
        selected = self.text_selection
        span = selected.get_span(at) if selected is not None else None
        rows = self._wrapped(line, self._wide) if span is None else self._drawn(line, self._wide, span)
        return _placed(rows[n], at).extend_cell_length(width, blank)

    # --- selecting ---------------------------------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join("".join(text for text, _ in line) for line in self.said)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()


def _placed(row: Strip, at: int) -> Strip:
    """The row as one of the ``at``-th line: where on it each piece stands is known from the wrapping."""
    first = next(iter(row), Segment(""))
    offset = cast("tuple[int, int]", (first.style or RichStyle.null()).meta.get("offset", (0, 0)))
    return row.apply_offsets(offset[0], at)
