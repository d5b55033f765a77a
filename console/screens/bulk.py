"""One act on all marked jobs or alerts: a dry run, a reason, then each in turn with its own transaction and outcome.

Nothing is all-or-nothing here: what is applied is applied (and audited) even if the desk ends in between."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Button, Input, Select, Static

from console.behind import NotOpen
from console.commands import DeskState, Typed, by_id
from console.screens.dialog import Dialog
from console.viewmodels import bulk as rows_of
from console.viewmodels.bulk import APPLIED, NOT_TRIED, REFUSED, WOULD, BulkRow, Item
from console.viewmodels.cells import Line
from console.viewmodels.commands_typed import told
from console.viewmodels.rows import AlertRow, JobRow
from console.widgets.bars import Said
from console.widgets.lines import Lines
from console.widgets.reason import ReasonFields
from console.words import inert

if TYPE_CHECKING:
    from console.acts import Done, Reason
    from console.app import Console
    from engine.ports import Engine
    from engine.rules.nouns import Actor


TYPED = {"acknowledge": "ack"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkDone:
    said: str
    line: str
    applied: frozenset[str]
    all_applied: bool


class BulkRows(Lines):
    def __init__(self, rows: tuple[BulkRow, ...]) -> None:
        super().__init__(id="workers", empty="nothing is marked")
        self.rows = {each.item.id: each for each in rows}

    def on_mount(self) -> None:
        self.show(list(self.rows))

    def read(self, key: str, width: int) -> Line:
        return rows_of.line(self.rows[key], width)

    def put_row(self, row: BulkRow) -> None:
        self.rows[row.item.id] = row
        self.repaint()


class Bulk(Dialog[BulkDone | None]):
    """``typed``: a reason and words typed already, else asked for here where the act wants them."""

    def __init__(self, app: "Console", verb: str, items: tuple[Item, ...], typed: Typed) -> None:
        super().__init__()
        self._desk_app, self._verb, self._typed = app, verb, (typed.reason, typed.words)
        self._minutes = typed.minutes
        self._at_work, self._line = False, ""
        self._done: BulkDone | None = None
        snap = app.behind.snap
        role, acts = (snap.site.role, snap.site.acts) if snap else ("", None)
        command = by_id(verb)

        def refusal(item: Item) -> str | None:
            job, alert = (None, item) if isinstance(item, AlertRow) else (item, None)
            return command.refusal(DeskState(ready=True, readonly=False, pane="jobs", job=job, alert=alert, role=role,
                                             acts=acts))  # fmt: skip

        self._rows = rows_of.planned(verb, items, refusal, typed.minutes)

    def compose(self) -> ComposeResult:
        from console.asks import reasons

        with VerticalScroll(classes="box wide", can_focus=False):
            yield Static(rows_of.title(self._verb, self._rows), markup=False, classes="title", id="title")
            yield BulkRows(self._rows)
            yield ReasonFields(reasons())
            yield Said(id="lacking")
            yield Button("Leave it (esc)", id="cancel", compact=True)

    def on_mount(self) -> None:
        fields = self.query_one(ReasonFields)
        if self._verb not in rows_of.REASONED or self._typed[0]:
            fields.display = False
        self.judge()

    @property
    def _going(self) -> list[BulkRow]:
        return [each for each in self.query_one(BulkRows).rows.values() if each.state == WOULD]

    @property
    def lacking(self) -> str:
        if not self._going:
            return "one to which it can be done"
        fields = self.query_one(ReasonFields)
        return fields.lacking if fields.display else ""

    @on(Input.Changed)
    @on(Select.Changed)
    def judge(self) -> None:
        if self._at_work or self._done is not None:
            return
        lacking, what = self.lacking, rows_of.title(self._verb, self._rows)
        self.query_one("#lacking", Said).tell(f"(ctrl+s applies) wanted: {lacking}" if lacking else f"ctrl+s: {what}")

    def action_apply(self) -> None:
        if self._done is not None or self._at_work:
            return
        if self.lacking:
            self.query_one("#lacking", Said).tell(f"not yet: {self.lacking}", "warn")
            return
        self._at_work = True
        self.run_all()

    @work
    async def run_all(self) -> None:
        """Each row in turn; leaving (esc) stops before the next one."""
        going = self._going
        code, words = self._reason()
        self._line = told(TYPED.get(self._verb, self._verb), self._target("marked"), code, words)
        for at, row in enumerate(going, start=1):
            if not self._at_work:
                self.query_one(BulkRows).put_row(replace(row, state=NOT_TRIED, words="stopped before it"))
                continue
            self.query_one("#lacking", Said).tell(f"{at} of {len(going)}… esc stops")
            self.query_one(BulkRows).put_row(await self._one(row, code, words, f"{at} of {len(going)}"))
        self._at_work = False
        self._finished()

    def _reason(self) -> tuple[str, str]:
        fields = self.query_one(ReasonFields)
        return (fields.code or "", fields.words) if fields.display else self._typed

    def _target(self, what: str) -> str:
        return f"{what} {self._minutes}m" if self._verb == "snooze" else what

    async def _one(self, row: BulkRow, code: str, words: str, place: str) -> BulkRow:
        from console.acts import Reason
        from console.viewmodels.reasons import in_words
        from engine.ports import CallboardError

        line = f"{told(TYPED.get(self._verb, self._verb), self._target(row.item.id), code)} ({place})"
        why = Reason(code=code, words=words, line=line)
        item = row.item
        ask = (
            sees_to(self._verb, item, why, self._minutes)
            if isinstance(item, AlertRow)
            else aimed(self._verb, item, why)
        )
        try:
            done = await self._desk_app.behind.ask(ask)
        except (CallboardError, NotOpen) as refused:
            return replace(row, state=REFUSED, words=in_words(str(refused)))
        except Exception as error:
            self._desk_app.unforeseen(line, error)
            return replace(row, state=REFUSED, words=f"failed: {error}")
        return replace(row, state=APPLIED, words=done.said)

    def _finished(self) -> None:
        rows = tuple(self.query_one(BulkRows).rows.values())
        applied = frozenset(each.item.id for each in rows if each.state == APPLIED)
        said = rows_of.outcome(self._verb, rows)
        self._done = BulkDone(said=said, line=self._line, applied=applied, all_applied=len(applied) == len(rows))
        self.query_one("#title", Static).update(inert(said))
        self.query_one(ReasonFields).display = False
        self.query_one("#lacking", Said).tell(f"{said}. esc closes", "ok" if self._done.all_applied else "warn")

    def action_leave(self) -> None:
        if self._at_work:
            self._at_work = False
            return
        self.dismiss(self._done)


def sees_to(verb: str, alert: AlertRow, why: "Reason", minutes: int) -> "Callable[[Engine, Actor], Done]":
    """The act on one alert, aimed at what was shown."""
    from console import acts

    act = "ack" if verb == "acknowledge" else verb
    words = f"{why.code}: {why.words} — {why.line}" if why.code else why.line
    shown = (alert.acked_by, alert.owner, alert.severity)
    return lambda engine, actor: acts.see_to(engine, actor, act, alert.id, minutes=minutes, words=words, shown=shown)


def aimed(verb: str, job: JobRow, why: "Reason") -> "Callable[[Engine, Actor], Done]":
    """The act on one job, aimed at what was shown."""
    from console import acts

    held = job.held_offer_id or ""
    asks: dict[str, Callable[[Engine, Actor], Done]] = {
        "assign": lambda engine, actor: acts.assign_as_shown(engine, actor, job.id, job.version),
        "withdraw": lambda engine, actor: acts.withdraw(engine, actor, job.live_offer_id or "", why),
        "release": lambda engine, actor: acts.release(engine, actor, job.id, held, why),
        "reassign": lambda engine, actor: acts.reassign(engine, actor, job.id, held, why),
        "cancel": lambda engine, actor: acts.cancel_as_shown(engine, actor, job.id, held, job.version, why),
    }
    return asks[verb]
