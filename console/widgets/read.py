"""Lines to read: what does not fit goes on below where its words began, not at the edge."""

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from textual.widgets import Static

from console.viewmodels.cells import Line
from console.viewmodels.hanging import NARROW_INDENT, hung
from console.widgets.paint import content

Begins = Callable[[Line], int]
"""The column below which a line goes on."""


def last_piece(line: Line) -> int:
    """Below the words of the last piece."""
    words = line[-1][0] if line else ""
    return sum(cell_len(text) for text, _ in line[:-1]) + len(words) - len(words.lstrip(" "))


def indented(_: Line) -> int:
    """A little to the right of the edge, whatever the pieces are."""
    return NARROW_INDENT


def fitted(lines: Sequence[Line], width: int, begins: Begins) -> list[Line]:
    """The lines in rows of this width."""
    return [row for each in lines for row in hung(each, width, begins(each))]


class Read(Static):
    """Wrapped anew whenever its width changes, a scroll bar's coming included."""

    def __init__(self, lines: Sequence[Line] = (), *, begins: Begins = last_piece, id: str | None = None) -> None:  # noqa: A002
        super().__init__(content(lines), id=id, markup=False)
        self._lines, self._begins, self._wide = list(lines), begins, 0

    def take(self, lines: Sequence[Line]) -> None:
        """Other lines."""
        self._lines = list(lines)
        self._draw()

    def rows(self, width: int) -> list[Line]:
        """Its lines as they are in this width."""
        return fitted(self._lines, width, self._begins)

    def row_of(self, line: int) -> int:
        """The row in which the line of this number begins; after the last one, how many there are."""
        return len(fitted(self._lines[:line], self._wide, self._begins)) if self._wide else line

    def on_resize(self) -> None:
        if self.size.width != self._wide:
            self._wide = self.size.width
            self._draw()

    def _draw(self) -> None:
        self.update(content(fitted(self._lines, self._wide, self._begins) if self._wide else self._lines))
