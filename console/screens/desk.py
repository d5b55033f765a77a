"""The desk: status, alerts, board, one job, offers. It shows the newest snapshot, and runs commands on what is under
the cursor. Nothing that comes from behind ever moves the cursor or the focus."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from console.commands import COMMANDS, PANES, DeskState, by_id
from console.screens import deeds, looks, openers
from console.screens.hands import Hands
from console.viewmodels import filters
from console.viewmodels.filters import Filter
from console.viewmodels.rows import AlertRow, JobRow
from console.viewmodels.status import STALE_AFTER_S, Health
from console.viewmodels.times import clock
from console.widgets.alerts import Alerts
from console.widgets.bars import KeyBar, Said, StatusLine
from console.widgets.cells import Cells
from console.widgets.filter_box import FilterBox
from console.widgets.lines import Lines
from console.widgets.panes import ORDERS, Board, JobDetail, Offers

if TYPE_CHECKING:
    from console.acts import Undo
    from console.app import Console

TICK_S = 0.5
IDLE_S = 3.0


class Desk(Screen[None]):
    """The default screen."""

    AUTO_FOCUS = "#jobs"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide"), (160, "-wall")]  # noqa: RUF012  (as Textual declares it)
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(",".join(each.keys), f"command('{each.id}')", each.label, show=False, tooltip=each.tooltip,
                    id=f"desk.{each.id}")
            for each in COMMANDS if each.keys
        ),
        *(
            Binding(key, f"pane('{name}')", title, show=False, id=f"pane.{name}")
            for name, (key, title) in PANES.items()
        ),
        Binding("escape", "back", "Back", show=False, id="desk.back"),
        Binding("tab", "next_pane(1)", "Next pane", show=False, id="pane.next"),
        Binding("shift+tab", "next_pane(-1)", "Pane before", show=False, id="pane.before"),
    ]  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.pane = "jobs"
        self._acted_s = 0.0
        self._greeted = False
        self._sorted_s = 0.0
        self.hands = Hands()

    def compose(self) -> ComposeResult:
        yield StatusLine(id="status")
        yield Said(id="banner")
        with Container(id="panes"):
            with Vertical(id="left"):
                yield Alerts()
                yield Board()
            with Vertical(id="right"):
                yield JobDetail()
                with Container(id="below"):
                    yield Cells()
                    yield Offers()
        yield FilterBox()
        yield Said(id="said")
        yield Said(id="line")
        yield KeyBar(id="keys")

    def on_mount(self) -> None:
        for name, (key, title) in PANES.items():
            self._widget(name).border_title = f"{key} {title}"
        self._show_pane("jobs")
        self.query_one("#status", StatusLine).take(None, Health(None), 0)
        if self.console.ticks:
            self.set_interval(TICK_S, self.tick)

    @property
    def console(self) -> "Console":
        return cast("Console", self.app)

    @property
    def board(self) -> Board:
        return self.query_one(Board)

    def _widget(self, pane: str) -> Widget:
        return self.query_one(f"#{pane}")

    # --- what comes from behind --------------------------------------------------------------------------------------

    def news(self) -> None:
        """There is a newer snapshot, or trouble: show it. Called at most four times a second."""
        self.tick(quiet=False)
        if not self._greeted and self.console.behind.snap is not None:
            self._greeted = True
            self.tell("")  # that the database was not open yet is over
            self.greet()

    @work
    async def greet(self) -> None:
        """Whoever has done nothing here yet is told, in the line of what was said last, where the tour is."""
        from console.asks import is_new

        try:
            new = await self.console.behind.ask(is_new)
        except Exception:  # reading trouble is told in its own place
            return
        if new and not self._acted_s:
            self.tell("new at this desk? i shows it on one page, ? every key")

    def tick(self, *, quiet: bool = True) -> None:
        """Ages and countdowns go on between snapshots; only lines that read otherwise are painted."""
        behind = self.console.behind
        now_ms = behind.now_ms()
        snap = behind.snap
        age_s = behind.age_s()
        self.query_one("#status", StatusLine).take(snap, Health(age_s, bool(behind.unread)), now_ms)
        self._banner(age_s)
        if self.hands.graced and not self.hands.can_undo(behind.mono_s()):
            self.tell_done(self.hands.graced)
        self.console.watch_over()
        if snap is None:
            return
        idle = time.monotonic() - self._acted_s > IDLE_S and time.monotonic() - self._sorted_s > IDLE_S
        if idle:
            self._sorted_s = time.monotonic()
        self.board.take(snap, now_ms, resort=idle and not quiet)
        self.query_one(Alerts).take(snap, now_ms)
        if self.hands.bell.rings(snap.alerts, now_ms) and snap.site.bell:
            self.console.bell()
        self.query_one(Offers).take(snap, now_ms)
        self.query_one(Cells).take(snap)
        self.follow()

    def _banner(self, age_s: float | None) -> None:
        behind, banner = self.console.behind, self.query_one("#banner", Said)
        said = f"{behind.trouble} (log: {behind.log_path})" if behind.trouble else ""
        old = age_s is not None and age_s > STALE_AFTER_S
        if behind.snap is not None and (behind.unread or old):
            why = f": {behind.unread} (log: {behind.log_path})" if behind.unread else ""
            said = f"data not updated since {clock(behind.snap.now_ms, self.console.zone)}{why}; trying again"
        banner.tell(said or behind.note, "alert" if said else "warn")
        banner.display = bool(said or behind.note)

    def follow(self) -> None:
        """The detail pane and the key bar tell of the job that the next key would act on."""
        behind = self.console.behind
        job = self.job
        behind.look_at(job.id if job else None)
        if behind.snap is not None:
            self.query_one(JobDetail).take(behind.snap, job, behind.now_ms())
        self.query_one("#keys", KeyBar).take(self.state)

    # --- what a key would act on -------------------------------------------------------------------------------------

    @property
    def job(self) -> JobRow | None:
        """The job of the pane with the focus: under the board's cursor, or of the alert or offer that is selected."""
        rows = self.board.rows
        if self.pane == "alerts" and (alert := self.query_one(Alerts).alert) is not None:
            return rows.get(alert.job_id or "")
        if self.pane == "offers" and (offer := self.query_one(Offers).offer) is not None:
            return rows.get(offer.job_id)
        beside = self.pane == "cells" and not self.has_class("-narrow")  # there the job that is told of is in sight
        return self.board.job if self.pane in ("jobs", "detail") or beside else None

    @property
    def alert(self) -> AlertRow | None:
        alerts = self.query_one(Alerts)
        if self.pane == "alerts":
            return alerts.alert
        job = self.job
        of_job = (alerts.rows[each] for each in alerts.order if job and alerts.rows[each].job_id == job.id)
        return next(of_job, None)

    @property
    def state(self) -> DeskState:
        snap = self.console.behind.snap
        readonly = snap is not None and snap.site.readonly
        return DeskState(ready=snap is not None, readonly=readonly, pane=self.pane, job=self.job, alert=self.alert,
                         role=snap.site.role if snap else "", acts=snap.site.acts if snap else None,
                         marked=self.board.marked, marked_alerts=self.query_one(Alerts).marked,
                         keys=self.console.keys, regions=snap.regions if snap else (),
                         training=bool(snap and snap.site.training), demo=bool(snap and snap.site.demo),
                         undo=self.hands.can_undo(self.console.behind.mono_s()))  # fmt: skip

    def tell(self, words: str, look: str = "plain") -> None:
        self.hands.graced = ""
        self.query_one("#said", Said).tell(words, look)

    def tell_done(self, words: str, look: str = "ok") -> None:
        """An act's outcome, and for as long as it can be undone, that it can."""
        can = self.hands.can_undo(self.console.behind.mono_s())
        self.tell(f"{words}  (U undoes it for {self.grace_s:g} s)" if can else words, look)
        self.hands.graced = words if can else ""

    # --- panes -------------------------------------------------------------------------------------------------------

    def _show_pane(self, name: str) -> None:
        """Where it is narrow, one pane at a time is shown; the focus goes to it."""
        self.pane = name
        for each in PANES:
            self._widget(each).set_class(each == name, "-shown")
        self.query_one("#left").set_class(name in ("alerts", "jobs"), "-shown")
        self.query_one("#right").set_class(name in ("detail", "cells", "offers"), "-shown")
        self.query_one("#below").set_class(name in ("cells", "offers"), "-shown")
        self._widget(name).focus()

    def action_pane(self, name: str) -> None:
        self._acted()
        self._show_pane(name)
        self._hold(name)

    def _hold(self, name: str) -> None:
        """A person chose the pane: a cursor whose row has gone goes to what stands there now."""
        if isinstance(widget := self._widget(name), Lines):
            widget.hold()
        self.follow()

    def action_next_pane(self, by: int) -> None:
        names = list(PANES)
        self.action_pane(names[(names.index(self.pane) + by) % len(names)])

    def action_back(self) -> None:
        self._acted()
        if self.pane != "jobs":
            self.action_pane("jobs")
        elif marks := {*self.board.marks, *self.query_one(Alerts).marks}:
            self.unmark(frozenset(marks))
            self.tell("nothing is marked")
        elif self.board.kept.on:
            self._filter(Filter())
            self.tell("all jobs are shown")
        else:
            self.tell("")

    def on_descendant_focus(self) -> None:
        """Tab moves the focus by itself: the pane with the focus is the one that keys act in."""
        focused = self.focused
        if focused is not None and focused.id in PANES and focused.id != self.pane:
            self._show_pane(focused.id)
            self._hold(focused.id)

    @on(Lines.Moved)
    def moved(self, event: Lines.Moved) -> None:
        self._acted()
        if event.lines is self._widget("jobs"):
            self.board.let_go()
        self.follow()

    @on(Lines.Chosen)
    def chosen(self, event: Lines.Chosen) -> None:
        if event.lines.id == "jobs":
            self.action_command("assign")
            return
        job = self.job
        if job is None:
            self.tell("this is not about one job", "warn")
            return
        self.go_to(job.id)

    def go_to(self, job_id: str) -> None:
        """The board's cursor onto a job, whatever the filter hides."""
        self._show_pane("jobs")
        if not self.board.put(job_id):
            self._filter(Filter())
            self.board.put(job_id)
        self.follow()

    @on(Cells.Chosen)
    def cell_chosen(self, event: Cells.Chosen) -> None:
        """Enter on a cell shows its jobs alone; once more, or on an empty one, all again."""
        kept = self.board.kept
        cell = "" if event.cell == kept.cell else event.cell
        self._filter(replace(kept, cell=cell))
        only = f"only jobs in this cell: {event.words} (enter again shows all)"
        self.tell(only if cell else "jobs of every cell are shown")

    # --- commands ----------------------------------------------------------------------------------------------------

    def _acted(self) -> None:
        self._acted_s = time.monotonic()

    def action_command(self, command_id: str) -> None:
        """Run a command, or say why not now. What it acts on is what is under the cursor at this very key."""
        self._acted()
        self.run_command(command_id, self.state)

    def run_command(self, command_id: str, state: DeskState) -> None:
        """As a key or a typed line means it: on what the state says, which no news has changed since."""
        command = by_id(command_id)
        reason = command.refusal(state)
        if command_id == "undo" and reason is not None:
            reason = self.hands.why_not(self.console.behind.mono_s(), self.grace_s)
        if reason is not None:
            self.tell(f"{command.label}: {reason}", "warn")
            return
        if command_id == "lock" and self.console.behind.guarded:
            self.console.cover()  # at once: the keys that follow are not this operator's any more
        elif command_id == "mark" and state.typed is None and self.pane == "alerts" and state.alert is not None:
            self.query_one(Alerts).mark(state.alert.id)
            self.query_one(Alerts).action_step(1)
        elif command_id == "mark" and state.job is not None:
            self.mark(state.job.id)  # at once: the next key may come before a worker has its turn
        else:
            self.run_deed(command_id, state)

    @work
    async def run_deed(self, command_id: str, state: DeskState) -> None:
        if by_id(command_id).many(state):
            await deeds.bulk(self, state, command_id)
        else:
            await {**deeds.DEEDS, **looks.LOOKS, **openers.OPENERS}[command_id](self, state)

    @property
    def grace_s(self) -> float:
        snap = self.console.behind.snap
        return snap.site.undo_s if snap else 0.0

    def did(self, line: str, undo: "Undo | None") -> None:
        """An act was done: its typed equivalent is shown, so that keys teach the language."""
        self.hands.did(line, undo, self.console.behind.mono_s(), self.grace_s)
        self.query_one("#line", Said).tell(line, "dim")

    def mark(self, job_id: str) -> None:
        self.board.mark(job_id)
        if self.pane == "jobs":
            self.board.action_step(1)
        self.follow()

    def unmark(self, ids: frozenset[str]) -> None:
        for each in ids:
            self.board.marks.pop(each, None)
        self.board.title()
        self.board.repaint()
        self.query_one(Alerts).unmark(ids)
        self.follow()

    def filter_by(self, kept: Filter) -> None:
        self._filter(kept)

    def open_filter(self) -> None:
        """The list is in sight while words are typed; afterwards keys act in the pane where they did before."""
        back = self.pane
        self._show_pane("jobs")
        self.query_one(FilterBox).ask(filters.told(self.board.kept), back)

    def toggle_unassigned(self) -> None:
        kept = self.board.kept
        self._filter(replace(kept, unassigned=not kept.unassigned))
        self.tell("only jobs that nobody has" if self.board.kept.unassigned else "all jobs are shown")

    def next_order(self) -> None:
        board = self.board
        board.by = ORDERS[(ORDERS.index(board.by) + 1) % len(ORDERS)]
        board.put_in_order(resort=True)
        self.tell(f"sorted by {board.by}")

    def _filter(self, kept: Filter) -> None:
        self.board.kept = kept
        self.board.put_in_order(resort=True)
        self.follow()

    @on(Input.Changed, "#filter")
    def filter_typed(self, event: Input.Changed) -> None:
        if event.input.display:
            self._filter(filters.parse(event.value))

    @on(Input.Submitted, "#filter")
    def filter_kept(self, event: Input.Submitted) -> None:
        event.input.display = False
        self._show_pane(self.query_one(FilterBox).back)
        if self.pane != "jobs":
            self.tell(f"{len(self.board.order)} jobs match (pane 2); keys act in pane {PANES[self.pane][0]} as before")
        self.follow()

    @on(FilterBox.Left)
    def filter_left(self) -> None:
        self._filter(Filter())
        self._show_pane(self.query_one(FilterBox).back)
        self.follow()

    def on_resize(self) -> None:
        self.call_after_refresh(self.tick)
