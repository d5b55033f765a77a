"""Preempt: an urgent job takes the worker of one of lower priority. What each choice breaks is told beside it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Button, Input, Select, Static

from console.screens.dialog import Dialog
from console.viewmodels.cells import ALERT, BOLD, DIM, PLAIN, WARN, Line, fit, who
from console.viewmodels.rows import JobRow
from console.viewmodels.times import hm
from console.widgets.bars import Said
from console.widgets.lines import Lines
from console.widgets.paint import content
from console.widgets.reason import ReasonFields
from console.words import inert

if TYPE_CHECKING:
    from console.acts import Victim

NOTHING = "overrules nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    victim: "Victim"
    reason: str
    words: str


class Victims(Lines):
    def __init__(self, victims: "tuple[Victim, ...]", zone: str) -> None:
        super().__init__(id="workers", empty="nobody holds a job of lower priority")
        self.rows = {each.job_id: each for each in victims}
        self._zone = zone

    def on_mount(self) -> None:
        self.show(list(self.rows))

    def read(self, key: str, width: int) -> Line:
        each = self.rows[key]
        room = max(8, width // 4)
        words = f"cannot: {each.barred}" if each.barred else each.breaks
        return (
            ("▶" if key == self.cursor else " ", PLAIN),
            (fit(f"P{each.priority} {each.job_id}", 12) + " ", BOLD),
            (fit(f"due {hm(each.due_by_ms, self._zone)}", 10), PLAIN),
            (fit(who(each.worker, each.worker_id), room) + " ", PLAIN),
            (fit(words, max(0, width - 25 - room)), DIM if each.barred else WARN),
        )


def _means(each: "Victim | None") -> list[Line]:
    """In full what the row may have no room for."""
    if each is None:
        return [((" ", PLAIN),)]
    if each.barred:
        return [((f"{inert(each.worker)} cannot be taken: ", ALERT), (inert(each.barred), PLAIN))]
    released = f"{inert(each.job_id)} is released from {inert(each.worker)} and offered on."
    free = each.breaks == NOTHING
    return [
        ((released, PLAIN),),
        (("overrules ", BOLD), ("nothing" if free else inert(each.breaks), PLAIN if free else WARN)),
    ]


class Preempt(Dialog[Taken | None]):
    def __init__(self, urgent: JobRow, victims: "tuple[Victim, ...]", zone: str, first: str = "") -> None:
        super().__init__()
        self._urgent, self._victims, self._zone, self._first = urgent, victims, zone, first

    def compose(self) -> ComposeResult:
        from console.asks import reasons

        urgent = self._urgent
        with VerticalScroll(classes="box wide", can_focus=False):
            yield Static(f"Give {inert(urgent.id)} (priority {urgent.priority}) the worker of a lesser job",
                         markup=False, classes="title")  # fmt: skip
            yield Victims(self._victims, self._zone)
            yield Static(id="means", markup=False)
            yield ReasonFields(reasons())
            yield Said(id="lacking")
            yield Button("Leave it (esc)", id="cancel", compact=True)

    def on_mount(self) -> None:
        self.query_one(Victims).put(self._first)
        self.judge()

    @property
    def chosen(self) -> "Victim | None":
        found = self.query_one(Victims)
        return found.rows.get(found.cursor or "")

    @property
    def lacking(self) -> str:
        each = self.chosen
        if each is None:
            return "a job to take the worker from"
        return f"another job ({each.barred})" if each.barred else self.query_one(ReasonFields).lacking

    @on(Lines.Moved)
    @on(Input.Changed)
    @on(Select.Changed)
    def judge(self) -> None:
        each = self.chosen
        self.query_one("#means", Static).update(content(_means(each)))
        lacking = self.lacking
        self.query_one("#lacking", Said).tell(f"(ctrl+s applies) wanted: {lacking}" if lacking else "ctrl+s applies")

    def action_apply(self) -> None:
        each, fields = self.chosen, self.query_one(ReasonFields)
        if self.lacking or each is None or fields.code is None:
            self.query_one("#lacking", Said).tell(f"not yet: {self.lacking}", "warn")
            return
        self.dismiss(Taken(victim=each, reason=fields.code, words=fields.words))
