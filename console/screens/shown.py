"""What the screens beside the desk share: the status line stays in sight, the data come from a thread behind, and only
the screen on top is read for."""

from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Input

from console.behind import NotOpen
from console.screens.whole import Whole
from console.viewmodels.cells import DIM, HEAD, PLAIN, Line
from console.viewmodels.status import Health
from console.widgets.bars import OneLine, Said, StatusLine

if TYPE_CHECKING:
    from console.app import Console
    from engine.ports import Engine
    from engine.rules.nouns import Actor

Data = TypeVar("Data")
TICK_S = 1.0
RESTS = 20


class Shown(Whole, Screen[None], Generic[Data]):
    """A full screen that shows and changes nothing. A subclass says what is read and how it is shown.

    ``EVERY_S``: how often it is read again while it is on top; None: only when asked (`r`)."""

    EVERY_S: ClassVar[float | None] = 2.0
    HINT: ClassVar[tuple[tuple[str, str], ...]] = ()
    FINDS: ClassVar[str] = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012  (as Textual declares it)
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back", show=False, id="shown.back"),
        Binding("q", "leave", "Back to the desk", show=False, id="shown.leave"),
        Binding("r", "reload", "Read again", show=False, id="shown.reload"),
        Binding("f", "find", "Filter", show=False, id="shown.find"),
    ]

    def __init__(self, text: str = "") -> None:
        """``text``: what it is filtered by from the start, shown in the filter's line."""
        super().__init__()
        self._first = text
        self._reading = False
        self._read_s = self._took_s = 0.0

    def compose(self) -> ComposeResult:
        yield StatusLine(id="status")
        yield from self.body()
        if self.FINDS:
            yield Input(id="find", placeholder=self.FINDS, compact=True)
        yield Said(id="said")
        yield OneLine(id="keys")

    def body(self) -> ComposeResult:
        """The widgets between the status line and what was said last."""
        raise NotImplementedError

    def read(self, engine: "Engine", actor: "Actor") -> Data:
        """On a thread behind."""
        raise NotImplementedError

    def take(self, data: Data) -> None:
        """On the screen."""
        raise NotImplementedError

    def filtered(self, text: str) -> None:
        """The filter's words changed."""

    @property
    def console(self) -> "Console":
        return cast("Console", self.app)

    @property
    def now_ms(self) -> int:
        return self.console.behind.now_ms()

    def on_mount(self) -> None:
        if self.FINDS:
            box = self.query_one("#find", Input)
            box.cursor_blink = False
            box.value, box.display = self._first, bool(self._first)
        self.tick()
        self.reload()
        if self.console.ticks:
            self.set_interval(TICK_S, self.tick)
            if self.EVERY_S is not None:
                self.set_interval(self.EVERY_S, self.reload_on_top)

    def tick(self) -> None:
        if not self.is_current:
            return
        behind = self.console.behind
        health = Health(behind.age_s(), bool(behind.unread))
        self.query_one("#status", StatusLine).take(behind.snap, health, behind.now_ms())
        self.query_one("#keys", OneLine).say(hint((*self.HINT, *GENERAL), self.size.width - 2))

    def on_resize(self) -> None:
        self.call_after_refresh(self.tick)

    def reload_on_top(self) -> None:
        """Not while a read is under way, and rarely where one is dear: a twentieth of the time at most."""
        rested_s = self.console.behind.mono_s() - self._read_s
        if self.is_current and not self._reading and rested_s >= RESTS * self._took_s:
            self.reload()

    @work(exclusive=True)
    async def reload(self) -> None:
        from engine.ports import CallboardError

        said, mono_s = self.query_one("#said", Said), self.console.behind.mono_s
        began_s, self._reading = mono_s(), True
        try:
            data = await self.console.behind.ask(self.read)
        except (CallboardError, NotOpen) as refused:
            said.tell(str(refused), "alert")
            return
        except Exception as error:
            self.console.unforeseen("reading", error)
            said.tell(f"reading failed: {error} (log: {self.console.behind.log_path})", "alert")
            return
        finally:
            self._reading, self._read_s = False, mono_s()
            self._took_s = self._read_s - began_s
        if self.is_mounted:
            self.take(data)

    def tell(self, words: str, look: str = "plain") -> None:
        self.query_one("#said", Said).tell(words, look)

    # --- keys --------------------------------------------------------------------------------------------------------

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_reload(self) -> None:
        self.reload()

    def action_find(self) -> None:
        if self.FINDS:
            box = self.query_one("#find", Input)
            box.display = True
            box.focus()

    def action_back(self) -> None:
        """Escape closes the filter first, then the screen."""
        box = self.query_one("#find", Input) if self.FINDS else None
        if box is not None and (box.has_focus or box.value):
            box.value = ""
            box.display = False
            self.filtered("")
            self.focus_next(".shown")
        else:
            self.dismiss(None)

    @on(Input.Changed, "#find")
    def find_typed(self, event: Input.Changed) -> None:
        self.filtered(event.value)

    @on(Input.Submitted, "#find")
    def find_kept(self, event: Input.Submitted) -> None:
        event.input.display = bool(event.value)
        self.focus_next(".shown")


class Scroll(VerticalScroll, can_focus=True):
    """A page that is read with the keys of a list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", show=False, id="scroll.down"),
        Binding("k", "scroll_up", show=False, id="scroll.up"),
        Binding("g", "scroll_home", show=False, id="scroll.first"),
        Binding("G", "scroll_end", show=False, id="scroll.last"),
    ]


GENERAL = (("r", "read again"), ("esc", "back to the desk"))


def hint(keys: tuple[tuple[str, str], ...], room: int) -> Line:
    """The keys of this screen, the way out first where it is narrow."""
    pieces: list[tuple[str, str]] = []
    for key, words in (keys[-1], *keys[:-1]):
        need = len(key) + len(words) + 1 + (2 if pieces else 0)
        if need > room:
            break
        room -= need
        if pieces:
            pieces.append(("  ", PLAIN))
        pieces += [(f"{key} ", HEAD), (words, DIM)]
    return tuple(pieces)
