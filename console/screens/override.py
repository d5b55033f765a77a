"""Override: choose the worker yourself, from the ranked and the refused; see what it overrules; say why.

The job's id and version are those of the moment it was opened; the engine checks the version again at apply."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Button, Input, Select, Static

from console.behind import Behind, NotOpen
from console.screens.dialog import Dialog
from console.viewmodels.cells import ALERT, BOLD, DIM, PLAIN, WARN, Line, fit, who
from console.viewmodels.times import hm, span
from console.widgets.bars import Said
from console.widgets.lines import Lines
from console.widgets.paint import content
from console.widgets.reason import ReasonFields
from console.widgets.tick import Tick
from console.words import inert

if TYPE_CHECKING:
    from console.choosing import Choices, Choosable, Preview


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    worker_id: str
    reason: str
    words: str
    force: bool


class Workers(Lines):
    """Ranked first, then those who may be overruled, then those who never may, with the reason."""

    def __init__(self, workers: "tuple[Choosable, ...]") -> None:
        super().__init__(id="workers", empty="nobody is on the roster")
        self.rows = {each.worker_id: each for each in workers}

    def on_mount(self) -> None:
        self.show(list(self.rows))

    def read(self, key: str, width: int) -> Line:
        each = self.rows[key]
        place = f"{each.rank:>2} " if each.rank is not None else " × " if each.barred else "   "
        mark = ("▶" if key == self.cursor else " ") + place
        person = fit(who(each.name, each.worker_id), max(8, width // 4))
        words = each.barred or (
            each.detail if each.rank is not None else f"{each.verdict.replace('_', ' ')}: {each.detail}"
        )
        if each.barred:
            words = f"never: {words}"
        look = DIM if each.barred else PLAIN if each.rank is not None else WARN
        return (
            (mark, BOLD if each.rank is not None else DIM),
            (f"{person} ", DIM if each.barred else PLAIN),
            (fit(words, max(0, width - 5 - max(8, width // 4))), look),
        )


class Override(Dialog[Picked | None]):
    """It opens on leaving; the arrows choose a worker from there too."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "worker(1)", "Next worker", show=False, id="override.down"),
        Binding("up,k", "worker(-1)", "Worker before", show=False, id="override.up"),
    ]

    def __init__(
        self, behind: Behind, opened: "Choices", zone: str, worker_id: str = "", *, force: bool = False
    ) -> None:
        super().__init__()
        self._behind, self._opened, self._zone = behind, opened, zone
        self._first, self._force = worker_id, force
        self._previewed: tuple[str, Preview] | None = None

    def compose(self) -> ComposeResult:
        from console.asks import reasons

        opened = self._opened
        due = f"due {hm(opened.due_by_ms, self._zone)}"
        state = opened.state.replace("_", " ")
        with VerticalScroll(classes="box wide", can_focus=False):
            yield Static(f"Override {inert(opened.job_id)} · {state} · {due} · version {opened.version}",
                         markup=False, classes="title")  # fmt: skip
            yield Workers(opened.workers)
            yield Static(id="means", markup=False)
            yield ReasonFields(reasons())
            yield Tick(
                "accepted on the worker's behalf (no waiting for their answer)", self._force, id="force", compact=True
            )
            yield Said(id="lacking")
            yield Button("Leave it (esc)", id="cancel", compact=True)

    def on_mount(self) -> None:
        self.query_one(Workers).put(self._first)
        self.look()

    def action_worker(self, by: int) -> None:
        self.query_one(Workers).action_step(by)

    @property
    def chosen(self) -> "Choosable | None":
        workers = self.query_one(Workers)
        return workers.rows.get(workers.cursor or "")

    @on(Lines.Moved)
    def look(self) -> None:
        self._previewed = None
        self.judge()
        self.preview()

    @on(Input.Changed)
    @on(Select.Changed)
    def judge(self) -> None:
        self.query_one("#means", Static).update(content(self._means()))
        lacking = self.lacking
        self.query_one("#lacking", Said).tell(f"(ctrl+s applies) wanted: {lacking}" if lacking else "ctrl+s applies")

    @property
    def lacking(self) -> str:
        each = self.chosen
        if each is None:
            return "a worker"
        if barred := self._barred(each):
            return f"another worker ({barred})"
        return self.query_one(ReasonFields).lacking

    def _barred(self, each: "Choosable") -> str:
        if self._previewed is not None and self._previewed[0] == each.worker_id and self._previewed[1].barred:
            return self._previewed[1].barred
        return each.barred

    def _means(self) -> list[Line]:
        each = self.chosen
        if each is None:
            return [((" ", PLAIN),)]
        name = inert(each.name)
        if barred := self._barred(each):
            return [((f"{name} can never be given this job: ", ALERT), (inert(barred), PLAIN))]
        if self._previewed is None or self._previewed[0] != each.worker_id:
            return [((f"{name}: working out what this overrules…", DIM),)]
        found = self._previewed[1]
        over = "; ".join(inert(said) for said in found.overrules) or "nothing"
        late = f" · due_by is missed by {span(found.late_ms)}" if found.late_ms > 0 else ""
        told: list[Line] = [((f"{name} overrules ", BOLD), (over, WARN if found.overrules else PLAIN), (late, ALERT))]
        if self._opened.standing:
            told.append(((f"the offer to {inert(self._opened.standing)} is withdrawn in the same act", WARN),))
        return told

    @work(exclusive=True)
    async def preview(self) -> None:
        """What the choice under the cursor means, worked out behind; an answer for another one is dropped."""
        from console.choosing import preview

        each = self.chosen
        if each is None or each.barred:
            return
        job_id, worker_id = self._opened.job_id, each.worker_id
        try:
            found = await self._behind.ask(lambda engine, actor: preview(engine, actor, job_id, worker_id))
        except NotOpen:
            return
        if self.is_mounted and (now := self.chosen) is not None and now.worker_id == worker_id:
            self._previewed = (worker_id, found)
            self.judge()

    def action_apply(self) -> None:
        each, fields = self.chosen, self.query_one(ReasonFields)
        if self.lacking or each is None or fields.code is None:
            self.query_one("#lacking", Said).tell(f"not yet: {self.lacking}", "warn")
            return
        force = self.query_one("#force", Tick).value
        self.dismiss(Picked(worker_id=each.worker_id, reason=fields.code, words=fields.words, force=force))
