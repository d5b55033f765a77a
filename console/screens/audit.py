"""The audit: the newest rows, filtered by words, or all of one job; and whether the chain is whole."""

from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from console.behind import NotOpen
from console.screens.shown import Shown
from console.viewmodels import audit as told
from console.viewmodels.audit import AuditEntry, Verdict
from console.viewmodels.cells import DIM, Line
from console.widgets.bars import OneLine
from console.widgets.lines import Lines
from console.widgets.paint import content

if TYPE_CHECKING:
    from console.reads import AuditFound
    from engine.ports import Engine
    from engine.rules.nouns import Actor


class AuditList(Lines):
    def __init__(self) -> None:
        super().__init__(id="rows", empty="no row matches; esc shows all")
        self.add_class("shown")
        self.rows: dict[str, AuditEntry] = {}
        self.zone = "UTC"

    def header(self, width: int) -> Line:
        return told.header(width)

    def read(self, key: str, width: int) -> Line:
        return told.line(self.rows[key], width, self.zone)


class AuditScreen(Shown["AuditFound"]):
    AUTO_FOCUS = "#rows"
    FINDS = "a job's id for all of its rows; or words of the newest rows; enter keeps, esc clears"
    HINT = (("j k", "move"), ("f", "filter"), ("v", "verify the chain"))
    BINDINGS: ClassVar[list[BindingType]] = [Binding("v", "verify", "Verify", show=False, id="audit.verify")]

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self._text = text
        self._verdict: Verdict | None = None

    def body(self) -> ComposeResult:
        yield OneLine(id="verdict")
        yield AuditList()
        with VerticalScroll(id="person", can_focus=False):
            yield Static(id="person_told", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#verdict", OneLine).say(told.verdict(None, asked=False))

    @property
    def list(self) -> AuditList:
        return self.query_one(AuditList)

    def read(self, engine: "Engine", actor: "Actor") -> "AuditFound":
        from console import reads

        return reads.audit(engine, actor, self._text.strip())

    def take(self, data: "AuditFound") -> None:
        listed = self.list
        listed.zone = self.console.zone
        listed.rows = {each.key: each for each in data.rows}
        what = (
            f"all {len(data.rows)} rows of {data.of}" if data.of else f"the newest {len(data.rows)} of {data.last} rows"
        )
        listed.border_title = Content(f"Audit · {what} · times in {self.console.zone}")
        listed.show(told.arrange(listed.rows, "" if data.of else self._text))
        if listed.cursor is None and listed.order:  # nothing here acts, so the first match may be told of
            listed.put(listed.order[0])
        self.tell_row()

    def filtered(self, text: str) -> None:
        self._text = text
        self.reload()

    @work(exclusive=True, group="verify")
    async def action_verify(self) -> None:
        from console import reads
        from engine.ports import CallboardError

        line = self.query_one("#verdict", OneLine)
        line.say(told.verdict(None, asked=True))
        try:
            found = await self.console.behind.ask(reads.verify)
        except (CallboardError, NotOpen) as refused:
            self.tell(str(refused), "alert")
            return
        if self.is_mounted:
            line.say(told.verdict(found, asked=True))

    @on(Lines.Moved)
    def tell_row(self) -> None:
        row = self.list.rows.get(self.list.cursor or "")
        lines = told.told(row, self.now_ms, self.console.zone) if row else [(("no row is selected", DIM),)]
        self.query_one("#person_told", Static).update(content(lines))
