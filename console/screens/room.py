"""The rehearsal room: a lane for each session, the rows between them, the clock, the run so far, and who won.

It shows the player's own run, which `--plain` prints: nothing is told a second time."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar, cast

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input

from console.room_commands import ROOM, RoomState, commands_of, room_command
from console.screens.whole import Whole
from console.stage import BARE, GUARDED, SAFE, House, RehearsalRoom, Script
from console.viewmodels import rehearsal as view
from console.viewmodels.cells import DIM
from console.widgets.bars import OneLine, Said
from console.widgets.read import last_piece
from console.widgets.rehearsal import Pane, RoomKeys
from engine.ports import CallboardError
from engine.verbs.rehearse import CLOCK, Cue

KINDS = (SAFE, BARE, GUARDED)
SPEEDS = (0.5, 1.0, 2.0, 4.0, 8.0)
EXPORTS = Path("rehearsals")
LANE_CELLS = 34
LOW_BELOW_ROWS = 30
SLIM_BELOW_ROWS = 20
"""There who won stands at the end of the run alone, which can be scrolled; committed rows have no room."""
LANE_ROWS = {(False, False): 10, (False, True): 7, (True, False): 14, (True, True): 10}
"""The height of the lanes where there is room: in one row of them or in two, on a high screen or a low one."""


class Room(Whole, Screen[None]):
    """One scenario on its own database. ``ticks``: whether play runs by itself; tests call ``beat``."""

    CSS_PATH = Path(__file__).parent.parent / "room.tcss"
    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012  (as Textual declares it)
    VERTICAL_BREAKPOINTS = [(0, "-slim"), (SLIM_BELOW_ROWS, "-low"), (LOW_BELOW_ROWS, "-high")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(each.keys, f"command('{each.id}')", each.label, show=False, tooltip=each.tooltip,
                    id=f"room.{each.id}")
            for each in ROOM
        ),
        Binding("j,down", "scroll_run(1)", show=False, id="room.down"),
        Binding("k,up", "scroll_run(-1)", show=False, id="room.up"),
    ]  # fmt: skip

    def __init__(
        self, room: RehearsalRoom, script: Script, *, database: Path | None = None, ticks: bool = True,
        exports: Path | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.room, self.script, self.database = room, script, database
        self.kind = SAFE
        self.playing = False
        self.speed = 1.0
        self._ticks, self._exports = ticks, exports or EXPORTS
        self._timer: Timer | None = None
        self._open: AbstractContextManager[House] | None = None
        self.house: House = self._enter(SAFE)

    # --- the house ---------------------------------------------------------------------------------------------------

    def _enter(self, kind: str) -> House:
        """Put the scenario on the stage with these programs. Raises CallboardError."""
        opening = self.room.opened(self.script, kind, self.database)
        house = opening.__enter__()
        self._close()
        self._open, self.kind = opening, kind
        return house

    def _close(self) -> None:
        opening, self._open = self._open, None
        if opening is not None:
            opening.__exit__(None, None, None)

    def on_unmount(self) -> None:
        self._close()

    @property
    def _app(self) -> App[int]:
        return cast("App[int]", self.app)

    @property
    def told(self) -> view.Told:
        house = self.house
        return view.Told(now=house.player.now, zone=self.script.zone, rule=house.rule, words=house.words)

    @property
    def state(self) -> RoomState:
        now, script = self.house.player.now, self.script
        return RoomState(
            lanes=tuple((each.name, each.next is not None) for each in now.scene.lanes), position=now.position,
            more=self.house.player.next_cue() is not None, playing=self.playing, safe=self.kind == SAFE,
            naive=script.naive is not None, race=script.is_race, decisive=bool(script.decisive[1]),
            questions=bool(script.questions),
        )  # fmt: skip

    # --- drawing -----------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield OneLine(id="room-status")
        with Horizontal(id="lanes"):
            for number in range(len(self.house.player.now.scene.lanes)):
                yield Pane(id=f"lane{number}")
        with Container(id="stage"):
            yield Pane(id="rows")
            yield Pane(id="run", to_end=True, begins=last_piece)
        yield Pane(id="verdict")
        yield Input(id="by", placeholder="the training clock by: 21 s, 2 min, -60 s", compact=True)
        yield Said(id="room-said")
        yield RoomKeys(id="room-keys")

    def on_mount(self) -> None:
        self.query_one("#by", Input).cursor_blink = False
        self.look()
        self.tell(f"{self.script.teaches}")

    def on_resize(self) -> None:
        self.call_after_refresh(self.look)

    def look(self) -> None:
        """Show where the player looks."""
        told, following = self.told, self.house.player.next_cue()
        shown = view.status(told, self.script.title, self.kind, safe=self.kind == SAFE, width=self.size.width)
        self.query_one("#room-status", OneLine).say(shown)
        self._look_at_lanes(told, following)
        rows = view.rows(told.now)
        self.query_one("#rows", Pane).take(rows, "Committed rows", marked=view.last_changed(rows))
        verdict, room_for_both = view.verdict(told), self.size.height >= SLIM_BELOW_ROWS
        self.query_one("#run", Pane).take(view.run(told, whole=not room_for_both), "The run so far")
        self.query_one("#verdict", Pane).take(verdict or [((view.told_cue(following), DIM),)])
        self.query_one("#verdict", Pane).display = room_for_both or not verdict
        self.query_one("#room-keys", RoomKeys).take(self.state, commands_of(self.state))
        self._share_height()

    def _share_height(self) -> None:
        """Committed rows are the proof: where they lack room, they get what the lanes and the run can spare."""
        lanes, rows, verdict = self.query_one("#lanes"), self.query_one("#rows", Pane), self.query_one("#verdict", Pane)
        if self.size.height < SLIM_BELOW_ROWS:
            lanes.styles.clear_rule("height")
            return
        panes = [each for each in lanes.query(Pane) if each.display]
        two_rows, low = lanes.has_class("-two-rows"), self.size.height < LOW_BELOW_ROWS
        across = 2 if two_rows else max(1, len(panes))
        width = self.size.width // across
        bars = [each for each in self.query("#room-status, #room-said, #by, #room-keys") if each.display]
        shares = view.shares(
            self.size.height - sum(max(1, each.outer_size.height) for each in bars) - verdict.rows(self.size.width),
            lanes=LANE_ROWS[two_rows, low],
            least=max((each.rows(width) for each in panes), default=0) * (1 + two_rows),
            rows=rows.rows(self.size.width),
        )
        lanes.styles.height, rows.styles.max_height = shares

    def _look_at_lanes(self, told: view.Told, following: Cue | None) -> None:
        """As many as there is room for, those that moved last; a naive twin may have fewer sessions."""
        sessions = told.now.scene.lanes
        across, down = max(1, self.size.width // LANE_CELLS), 1 if self.size.height < SLIM_BELOW_ROWS else 2
        shown = view.last_moved(told.now, following, across * down)
        for at, pane in enumerate(self.query("#lanes Pane").results(Pane)):
            pane.display = at < len(sessions) and sessions[at].name in shown
            if pane.display:
                heading, look = view.title(at + 1, sessions[at], view.waits(told.now, sessions[at].name))
                pane.take(view.lane(told, sessions[at], following), heading, look)
        lanes = self.query_one("#lanes")
        lanes.set_class(len(shown) > across, "-two-rows")
        lanes.styles.grid_size_columns = min(across, 2)

    def tell(self, words: str, look: str = "plain") -> None:
        self.query_one("#room-said", Said).tell(words, look)

    # --- commands ----------------------------------------------------------------------------------------------------

    def action_command(self, command_id: str) -> None:
        """Run a command, or say why not now."""
        command = room_command(command_id)
        reason = command.allowed(self.state)
        if reason is not None:
            self.tell(f"{command.label}: {reason}", "warn")
            return
        if command_id not in ("play", "faster", "slower", "theme"):
            self.stop()
        self.tell("")
        try:
            self._do(command_id)
        except (CallboardError, OSError) as refused:
            self.tell(str(refused), "alert")
        if self.is_attached:
            self.look()

    def _do(self, command_id: str) -> None:
        player = self.house.player
        if command_id.startswith("choose"):
            player.choose(player.now.scene.lanes[int(command_id.removeprefix("choose")) - 1].name)
            return
        match command_id:
            case "step":
                player.step()
            case "back":
                player.back()
            case "jump":
                player.jump(*self.script.decisive)
                self.tell("the step that decides", "ok")
            case "anew":
                self.house = self._enter(self.kind)
            case "naive":
                self._swap()
            case "faster" | "slower":
                self._pace(1 if command_id == "faster" else -1)
            case "clock":
                self._ask_clock()
            case _:
                getattr(self, f"_{command_id}")()

    def _swap(self) -> None:
        kind = KINDS[(KINDS.index(self.kind) + 1) % len(KINDS)]
        self.house = self._enter(kind)
        fault = self.script.naive.fault if self.script.naive else ""
        said = {SAFE: "the engine's own programs", BARE: f"{BARE}: {fault}",
                GUARDED: f"{GUARDED}: watch the schema refuse what the naive programs try"}  # fmt: skip
        self.tell(said[kind], "ok" if kind == SAFE else "warn")

    def _theme(self) -> None:
        from console.themes import THEMES

        names = [each.name for each in THEMES]
        self._app.theme = names[(names.index(self._app.theme) + 1) % len(names)]

    def _export(self) -> None:
        from console.transcripts import export

        text, picture = export(self._exports, self.script, self.kind, view.lines_of(self.told))
        self.tell(f"written: {text} and {picture}", "ok")

    def _leave(self) -> None:
        """Escape in the box of the clock closes only that."""
        if self.query_one("#by", Input).display:
            self._shut_clock()
        else:
            self.dismiss(None)

    # --- pages -------------------------------------------------------------------------------------------------------

    def _help(self) -> None:
        from console.screens.room_pages import help_page

        self._app.push_screen(help_page(self.state))

    def _questions(self) -> None:
        from console.screens.room_pages import questions_page

        self._app.push_screen(questions_page(self.script))

    def _notes(self) -> None:
        from console.screens.room_pages import notes_page

        self._app.push_screen(notes_page(self.script))

    def _every(self) -> None:
        from console.screens.orders import Orders

        self._app.push_screen(Orders(self.room, self.script, self.kind, self.database, self._exports))

    # --- the clock ---------------------------------------------------------------------------------------------------

    def _ask_clock(self) -> None:
        """The plan's own step of the clock is there to be entered; else a second."""
        planned = next((each.by_ms for each in self.house.player.now.planned if each.lane == CLOCK), 1000)
        box = self.query_one("#by", Input)
        box.value = f"{planned / 1000:g} s"
        box.display = True
        box.focus()

    @on(Input.Submitted, "#by")
    def _clock_given(self, event: Input.Submitted) -> None:
        by_ms = read_span_ms(event.value)
        if by_ms is None:
            self.tell(f"{event.value}: write seconds or minutes, as 21 s, 2 min, -60 s", "warn")
            return
        self._shut_clock()
        try:
            self.house.player.advance(by_ms)
        except CallboardError as refused:
            self.tell(str(refused), "alert")
        self.look()

    def _shut_clock(self) -> None:
        box = self.query_one("#by", Input)
        box.display = False
        self.set_focus(None)

    # --- playing -----------------------------------------------------------------------------------------------------

    def _play(self) -> None:
        if self.playing:
            self.stop()
            self.tell("stopped")
            return
        self.playing = True
        self._set_timer()
        self.tell(f"playing, {self.speed:g} steps a second (+ and - change it, p stops)")

    def _pace(self, by: int) -> None:
        at = min(max(SPEEDS.index(self.speed) + by, 0), len(SPEEDS) - 1)
        self.speed = SPEEDS[at]
        self._set_timer()
        self.tell(f"{self.speed:g} steps a second")

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self.playing and self._ticks:
            self._timer = self.set_interval(1 / self.speed, self.beat)

    def stop(self) -> None:
        self.playing = False
        self._set_timer()

    def beat(self) -> None:
        """One step of play; it ends by itself."""
        if not self.playing:
            return
        try:
            self.house.player.step()
        except CallboardError as refused:
            self.stop()
            self.tell(str(refused), "alert")
        if self.house.player.next_cue() is None:
            self.stop()
            self.tell("all sessions have ended", "ok")
        self.look()

    def action_scroll_run(self, by: int) -> None:
        run = self.query_one("#run", Pane)
        run.scroll_relative(y=by * 3, animate=False)


def read_span_ms(text: str) -> int | None:
    """``21``, ``21 s``, ``-2 min`` as milliseconds; None where it is no span."""
    number, factor = text.strip().lower(), 1000
    for end, each in (("min", 60_000), ("ms", 1), ("m", 60_000), ("s", 1000)):
        if number.endswith(end):
            number, factor = number.removesuffix(end).strip(), each
            break
    try:
        span = round(float(number) * factor)
    except (ValueError, OverflowError):
        return None
    return span if span and abs(span) <= 7 * 86_400_000 else None
