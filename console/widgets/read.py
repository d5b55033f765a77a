"""Lines to read: what does not fit goes on below where its words began, not at the edge."""

from rich.cells import cell_len
from textual.widgets import Static

from console.viewmodels import hanging
from console.viewmodels.cells import Line
from console.widgets.paint import content


class Read(Static):
    """Wrapped anew whenever its width changes."""

    def __init__(self, lines: list[Line]) -> None:
        super().__init__(content(lines))
        self._lines, self._wide = lines, 0

    def on_resize(self) -> None:
        if self.size.width != self._wide:
            self._wide = self.size.width
            self.update(content([row for each in self._lines for row in hung(each, self._wide)]))


def hung(line: Line, width: int) -> list[Line]:
    """The line in rows of this width, those after the first below the words of its last piece."""
    return hanging.hung(line, width, sum(cell_len(text) for text, _ in line[:-1]))
