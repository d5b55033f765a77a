"""What a search found: enter on a line goes to its job."""

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from console.screens.whole import Whole
from console.viewmodels.cells import DIM, HEAD, PLAIN, Line, fit
from console.viewmodels.times import clock
from console.widgets.lines import Lines
from console.words import inert

if TYPE_CHECKING:
    from console.finds import Hit, Hits

LOOKS = {"job": HEAD, "worker": PLAIN, "offer": PLAIN, "audit": DIM}


class Found(Lines):
    def __init__(self, hits: "tuple[Hit, ...]", zone: str) -> None:
        super().__init__(id="found", empty="nothing was found")
        self.rows = {f"{each.kind} {each.id}": each for each in hits}
        self._zone = zone

    def on_mount(self) -> None:
        self.show(list(self.rows))

    def read(self, key: str, width: int) -> Line:
        each = self.rows[key]
        at = clock(each.at_ms, self._zone) if each.at_ms is not None else ""
        return (
            (fit(each.kind, 6) + " ", LOOKS[each.kind]),
            (fit(each.id, 11) + " ", PLAIN),
            (fit(at, 8) + " ", DIM),
            (fit(each.words, max(0, width - 29)), PLAIN),
        )


class FindScreen(Whole, ModalScreen[str | None]):
    """Answers the job to go to, or None."""

    AUTO_FOCUS = "#found"
    DEFAULT_CSS = """
    FindScreen { align: center middle; background: $background 60%; }
    FindScreen > Vertical { width: 110; max-width: 100%; height: 80%; border: heavy $primary; background: $surface;
        padding: 0 1; }
    FindScreen #found { height: 1fr; }
    FindScreen Static { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "close", "Close", show=False, id="find.close")]

    def __init__(self, text: str, hits: "Hits", zone: str) -> None:
        super().__init__()
        self._text, self._hits, self._zone = text, hits, zone

    def compose(self) -> ComposeResult:
        more = f" · {', '.join(self._hits.more)} not shown: narrow the words" if self._hits.more else ""
        with Vertical():
            yield Static(
                f"find {inert(self._text)} · {len(self._hits.hits)} found{more}", markup=False, classes="title"
            )
            yield Found(self._hits.hits, self._zone)
            yield Static("enter goes to the job · esc closes", markup=False)

    @on(Lines.Chosen)
    def chosen(self) -> None:
        found = self.query_one(Found)
        hit = found.rows.get(found.cursor or "")
        if hit is not None and hit.job_id is not None:
            self.dismiss(hit.job_id)

    def action_close(self) -> None:
        self.dismiss(None)
