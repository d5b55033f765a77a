"""Lines to read: what does not fit goes on below where its words began, not at the edge."""

from rich.cells import cell_len
from textual.widgets import Static

from console.viewmodels.cells import PLAIN, Line
from console.widgets.paint import content

NARROW_INDENT = 4


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
    """The line in rows of this width; the words of its last piece stand below each other while that leaves them half
    of the width. One word that is longer than a row is left for the terminal to break."""
    if sum(cell_len(text) for text, _ in line) <= width:
        return [line]
    *head, (words, look) = line
    began = sum(cell_len(text) for text, _ in head)
    indent = began if began * 2 <= width else NARROW_INDENT
    rows, room = [""], width - began
    for word in words.split(" "):
        if rows[-1] and cell_len(rows[-1]) + 1 + cell_len(word) > room:
            rows, room = [*rows, word], width - indent
        else:
            rows[-1] = f"{rows[-1]} {word}" if rows[-1] else word
    return [(*head, (rows[0], look)), *(((" " * indent, PLAIN), (each, look)) for each in rows[1:])]
