"""The trainer's panel: what befalls the demo site, while the class watches the desk behind it.

It is a small box in a corner; the desk goes on, and nothing here acts on a job: only the world around it changes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import ModalScreen

from console.panel_commands import FAULT_KEYS, PACES, SECOND_KEY
from console.screens.whole import Whole
from console.stage import DemoStage
from console.viewmodels.cells import BOLD, DIM, HEAD, PLAIN, Line, fit
from console.widgets.bars import OneLine, Said
from console.widgets.lines import Lines
from console.widgets.rehearsal import Pane
from console.words import inert
from engine.ports import CallboardError

if TYPE_CHECKING:
    from console.app import Console

LOOK_S = 1.0
WHOM = "befalls whom? j k  > offered = accepted"


class Cast(Lines):
    """Who is on shift: faults of a worker befall the one under the cursor."""

    def __init__(self) -> None:
        super().__init__(id="cast", empty="nobody is on shift")
        self._names: dict[str, str] = {}
        self._asked = frozenset[str]()

    def take(self, people: Sequence[tuple[str, str]]) -> None:
        self._names = dict(people)
        self._asked = frozenset(key for key, words in people if words.startswith(">"))
        self.show(list(self._names))
        self._count()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._count()

    def _count(self) -> None:
        """The list stays at whom was chosen: who has an offer may be above."""
        above = sum(key in self._asked for key in self.order[: self.scroll_offset.y])
        self.border_title = f"↑ {above} with an offer above: g" if above else WHOM

    def read(self, key: str, width: int) -> Line:
        return ((fit(f" {key:<5} {self._names.get(key, '')}", width), PLAIN),)


class Panel(Whole, ModalScreen[None]):
    CSS_PATH = Path(__file__).parent.parent / "room.tcss"
    AUTO_FOCUS = "#cast"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (40, "-high")]  # noqa: RUF012  (as Textual declares it)
    HORIZONTAL_BREAKPOINTS = [(0, "-slim"), (76, "-broad")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,P", "dismiss", "Close", show=False, id="panel.close"),
        *(
            Binding(key, f"inject('{name}')", name.replace("_", " "), show=False, id=f"panel.{name}")
            for name, key in FAULT_KEYS.items()
        ),
        *(Binding(key, f"pace('{key}')", words, show=False, id=f"pace.{key}") for key, (_, words) in PACES.items()),
        Binding("right,question_mark", "explain(1)", "What it shows", show=False, id="panel.explain"),
        Binding("left", "explain(-1)", "What the one before shows", show=False, id="panel.explain_before"),
        Binding(SECOND_KEY, "second", "A second passes", show=False, id="pace.second"),
    ]

    def __init__(self, stage: DemoStage, *, ticks: bool = True) -> None:
        super().__init__()
        self._stage, self._ticks = stage, ticks
        self._told: int | None = None

    def compose(self) -> ComposeResult:
        with Container(id="panel"):
            yield OneLine(id="paces")
            with Container(id="hands"):
                yield Cast()
                yield Pane(id="faults")
            yield Said(id="panel-said")

    def on_mount(self) -> None:
        self.query_one("#panel").border_title = "Trainer · esc closes"
        self.look()
        self.query_one(Cast).put(self._stage.chosen)  # whom it befell before: closed for a look, it goes on with them
        if self._stage.warning:
            self.tell(self._stage.warning, "warn")
        if self._ticks:
            self.set_interval(LOOK_S, self.look)

    def on_resize(self) -> None:
        self.call_after_refresh(self.look)

    def look(self) -> None:
        speed, refusals = self._stage.speed, self._stage.refusals()
        slim = self.has_class("-slim")
        paces: list[tuple[str, str]] = [] if slim else [("training clock  ", DIM)]
        gap = " " if slim else "  "
        for key, (each, words) in PACES.items():
            paces += [(f"{key} ", HEAD), (f"[{words}]{gap}" if each == speed else f"{words}{gap}", BOLD)]
        paces += [(". ", HEAD), ("1 s", BOLD)]
        self.query_one("#paces", OneLine).say(tuple(paces))
        self.query_one("#panel").border_subtitle = inert(self._stage.record).replace("[", "\\[")
        self.query_one(Cast).take(self._stage.workers())
        self._list(refusals)

    def _list(self, refusals: Mapping[str, str]) -> None:
        faults, columns = self.query_one("#faults", Pane), 1 if self.has_class("-slim") else 2
        high = self.has_class("-high")
        made = self._long(refusals, faults.size.width - 1) if high else self._short(refusals, columns)
        faults.take(made, "what befalls · ← → all that it shows" if high else "what befalls · ← → what it shows")
        if self._told is not None:
            line = self._told if high else self._told // columns
            faults.scroll_to(y=line - (faults.size.height > 2), animate=False)

    def _long(self, reasons: Mapping[str, str], width: int) -> list[Line]:
        """A fault a line, with the beginning of what there will be to see, or why not now."""
        made: list[Line] = []
        for at, each in enumerate(self._stage.faults):
            key, reason, mark = FAULT_KEYS[each.name], reasons.get(each.name), "▸" if at == self._told else " "
            title = inert(each.title)
            if reason is None:
                words = fit(f": {inert(each.shows)}", max(1, width - len(title) - 3))
                made.append(((f"{mark}{key} ", HEAD), (title, BOLD), (words, DIM)))
            else:
                made.append(((fit(f"{mark}({key} {title}: {inert(reason)})", max(1, width)), DIM),))
        return made

    def _short(self, reasons: Mapping[str, str], columns: int) -> list[Line]:
        """In brackets what may not be now. What each shows, or why not now, is told below of the one that is marked."""
        made: list[Line] = []
        for first in range(0, len(self._stage.faults), columns):
            line: list[tuple[str, str]] = []
            for at, each in enumerate(self._stage.faults[first : first + columns], start=first):
                key, may = FAULT_KEYS[each.name], each.name not in reasons
                text = f"{key} {each.title}" if may else f"({key} {each.title})"
                marked = at == self._told
                look = BOLD if marked else PLAIN if may else DIM
                line.append((fit(f"{'▸' if marked else ' '}{text}", 24), look))
            made.append(tuple(line))
        return made

    def action_explain(self, by: int) -> None:
        """Before it is done: what there will be to see, or why it may not be now."""
        faults, was = self._stage.faults, self._told
        self._told = (len(faults) - 1 if by < 0 else 0) if was is None else (was + by) % len(faults)
        each, refusals = faults[self._told], self._stage.refusals()
        reason = refusals.get(each.name)
        whom = " (whoever is under the cursor)" if each.of_worker else ""
        words = f"{each.shows}{whom}" if reason is None else f"not now: {reason}"
        self.tell(f"{FAULT_KEYS[each.name]} {each.title}: {words}")
        self._list(refusals)

    def tell(self, words: str, look: str = "plain") -> None:
        self.query_one("#panel-said", Said).tell(words, look)

    def action_pace(self, key: str) -> None:
        self._stage.speed, words = PACES[key]
        self.tell(f"the training clock {words}")
        self.look()

    @work
    async def action_second(self) -> None:
        """A class looks at one second: what was done shows within it."""
        console = cast("Console", self.app)
        try:
            at = await console.behind.ask(lambda _, __: self._stage.pass_a_second())
        except (CallboardError, TimeoutError) as refused:
            self.tell(str(refused) or "the town did not answer in time", "warn")
        else:
            self.tell(f"{at}: a second has passed")
        self.look()
        console.look_again()

    @work
    async def action_inject(self, fault: str) -> None:
        """On a thread behind: the router may take a moment to end, and the screen shall not wait."""
        worker = self.query_one(Cast).cursor or ""
        self._stage.chosen = worker
        of_worker = any(each.name == fault and each.of_worker for each in self._stage.faults)
        self.tell("…")
        console = cast("Console", self.app)
        try:
            said = await console.behind.ask(lambda _, __: self._stage.inject(fault, worker if of_worker else ""))
        except (CallboardError, TimeoutError) as refused:
            self.tell(str(refused) or "the town did not answer in time", "warn")
        else:
            shows = next(each.shows for each in self._stage.faults if each.name == fault)
            self.tell(f"{said}. To see: {shows}", "ok")
        self.look()
        console.look_again()
