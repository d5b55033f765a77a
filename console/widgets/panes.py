"""The panes of the desk: board, offers, and one job in full."""

from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from console.commands import PANES
from console.viewmodels import board as board_lines
from console.viewmodels import detail as detail_lines
from console.viewmodels import offers as offer_lines
from console.viewmodels.cells import Line
from console.viewmodels.filters import Filter
from console.viewmodels.rows import TERMINAL, JobRow, OfferRow, Snapshot
from console.widgets.lines import Lines
from console.widgets.read import fitted, indented
from console.widgets.told import Told

ORDERS = tuple(board_lines.ORDERS)


class Board(Lines):
    """The jobs. Rows that leave the list while the cursor is on them stay, marked as gone, until it moves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+down", "range(1)", "Mark down", show=False, id="board.mark_down"),
        Binding("shift+up", "range(-1)", "Mark up", show=False, id="board.mark_up"),
    ]

    def __init__(self) -> None:
        super().__init__(id="jobs", empty="no job matches; esc shows all")
        self._told = ""
        self.rows: dict[str, JobRow] = {}
        self.kept = Filter()
        self.marks: dict[str, None] = {}
        self.by = ORDERS[0]
        self.now_ms = 0
        self.zone = "UTC"

    def header(self, width: int) -> Line:
        return board_lines.header(width)

    def read(self, key: str, width: int) -> Line:
        line = board_lines.line(self.rows[key], width, self.now_ms, self.zone)
        return board_lines.marked(line) if key in self.marks else line

    def take(self, snap: Snapshot, now_ms: int, *, resort: bool = False) -> None:
        rows = snap.jobs
        if self.cursor is not None and self.cursor not in rows and (ghost := self.rows.get(self.cursor)) is not None:
            rows = {**rows, ghost.id: _gone(ghost)}
        same = rows is self.rows
        self.rows, self.now_ms, self.zone = rows, now_ms, snap.site.zone
        if same and not resort:
            self.repaint()
        else:
            self.put_in_order(resort=resort)

    def let_go(self) -> None:
        """The cursor has moved: rows that were shown only because it was on them go now."""
        if self.kept.on or any(self.rows[each].gone for each in self.order):
            self.rows = {each: row for each, row in self.rows.items() if not row.gone}
            self.put_in_order(resort=False)

    def put_in_order(self, *, resort: bool) -> None:
        fresh = resort or not self.order
        kept = self.kept.at(self.now_ms)
        self.show(board_lines.arrange(self.rows, self.order, kept, self.by, cursor=self.cursor, resort=fresh))
        self.title()

    def title(self) -> None:
        ended = sum(each.state in TERMINAL or each.gone for each in self.rows.values())
        whole = f"{len(self.rows) - ended} live, {ended} ended"
        shown = f"{len(self.order)} of {len(self.rows)}" if self.kept.on else whole
        marked = f" · {len(self.marks)} marked" if self.marks else ""
        told = f"by {self.by} · {shown}{marked}"
        if told != self._told:  # setting it paints the whole pane
            self._told = told
            self.border_title = Content(f"{' '.join(PANES['jobs'])}{marked}")
            self.border_subtitle = Content(f"by {self.by} · {shown}")

    def mark(self, key: str, *, only_on: bool = False) -> None:
        """Mark a row, or unmark it; ``only_on``: a range never unmarks."""
        if key in self.marks and not only_on:
            del self.marks[key]
        else:
            self.marks[key] = None
        self.title()
        self.repaint()

    def action_range(self, by: int) -> None:
        """Shift and an arrow: mark this row and the one it goes to."""
        for step in (0, by):
            if step:
                self.action_step(step)
            if self.cursor is not None:
                self.mark(self.cursor, only_on=True)

    @property
    def marked(self) -> tuple[JobRow, ...]:
        """The marked jobs as they are now, in the order of the board where they are on it."""
        places = {each: at for at, each in enumerate(self.order)}
        ids = sorted(self.marks, key=lambda each: places.get(each, len(places)))
        return tuple(self.rows[each] for each in ids if each in self.rows)

    @property
    def job(self) -> JobRow | None:
        return self.rows.get(self.cursor or "")


def _gone(row: JobRow) -> JobRow:
    return row if row.gone else replace(row, gone=True)


class Offers(Lines):
    def __init__(self) -> None:
        super().__init__(id="offers", empty="no live offers")
        self.rows: dict[str, OfferRow] = {}
        self.now_ms = 0
        self.zone = "UTC"

    def read(self, key: str, width: int) -> Line:
        return offer_lines.line(self.rows[key], width, self.now_ms, self.zone)

    def take(self, snap: Snapshot, now_ms: int) -> None:
        self.rows = {each.id: each for each in snap.offers}
        self.now_ms, self.zone = now_ms, snap.site.zone
        self.show([each.id for each in snap.offers])

    @property
    def offer(self) -> OfferRow | None:
        return self.rows.get(self.cursor or "")


class JobDetail(Told):
    """One job in full; as it was where it has gone meanwhile. What does not fit goes on right of its line's begin."""

    def __init__(self) -> None:
        super().__init__(id="detail")
        self._lines: list[Line] = []

    def take(self, snap: Snapshot, job: JobRow | None, now_ms: int) -> None:
        if job is None:
            self._lines = [(("no job is selected", "dim"),)]
            self.say(self._lines)
            return
        detail = snap.detail if snap.detail is not None and snap.detail.job_id == job.id else None
        self._lines = detail_lines.lines(job, detail, now_ms, snap.site.zone)
        said = self._fitted()
        if detail is None:  # as high as before until it is read: the scroll bar does not come and go at a held-down key
            said += [((" ", "plain"),)] * (len(self.said) - len(said))
        self.say(said)

    def on_resize(self) -> None:
        self.say(self._fitted())
        super().on_resize()

    def _fitted(self) -> list[Line]:
        width = self.size.width
        rows = fitted(self._lines, width, indented)
        return rows if len(rows) <= self.size.height else fitted(self._lines, width - self.bar_cells, indented)
