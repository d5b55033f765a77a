"""Why this worker and not that one: as of the decision, as other weights would have it, and as of now."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from console.behind import NotOpen
from console.screens.pages import Page
from console.viewmodels import why as told
from console.viewmodels.cells import Line
from console.widgets.paint import content

if TYPE_CHECKING:
    from console.app import Console
    from engine.rules.ledger import Considered
    from engine.verbs.why import Why


class Part(Static):
    """Lines made for a width, and made anew when that changes."""

    def __init__(self, made: Callable[[int], list[Line]], *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(content(made(told.NARROW)), id=id, classes="part")
        self._made, self._wide = made, told.NARROW

    def on_resize(self) -> None:
        if self.size.width != self._wide:
            self._wide = self.size.width
            self.draw()

    def draw(self) -> None:
        self.update(content(told.fitted(self._made(self._wide), self._wide)))


class WhyScreen(Page):
    """Weights may be tried on the stored decision; nothing is changed by it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "choose(1)", "Next weight", show=False, id="why.next"),
        Binding("left", "choose(-1)", "Weight before", show=False, id="why.before"),
        Binding("plus,equals_sign", "turn(1)", "More", show=False, id="why.more"),
        Binding("minus", "turn(-1)", "Less", show=False, id="why.less"),
        Binding("0", "as_decided", "As decided", show=False, id="why.decided"),
    ]

    def __init__(self, why: "Why", names: Mapping[str, str], zone: str) -> None:
        self._why, self._names, self._zone = why, names, zone
        self._tried: told.Tried = {}
        self._at = 1
        self._replayed: tuple[Considered, ...] | None = None
        super().__init__(f"Why · {why.job.id} · {why.job.state.replace('_', ' ')}", [])

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="page"):
            yield Part(lambda width: told.as_decided(self._why, self._names, self._zone, width))
            yield Part(self._if, id="if")
            yield Part(lambda width: told.as_of_now(self._why, self._names, width))

    def _if(self, width: int) -> list[Line]:
        then = self._why.then
        return [] if then is None else told.what_if(then, self._tried, self._at, self._replayed, self._names, width)

    def _draw(self) -> None:
        """What was tried comes into sight where the page is longer than the screen."""
        part = self.query_one("#if", Part)
        part.draw()
        self.call_after_refresh(part.scroll_visible, animate=False)

    def action_choose(self, by: int) -> None:
        self._at = (self._at + by) % len(told.WEIGHTS)
        self._draw()

    def action_turn(self, by: int) -> None:
        if self._why.then is not None:
            self._tried = told.turned(self._tried, told.decided(self._why.then), self._at, by)
            self.replay()

    def action_as_decided(self) -> None:
        self._tried = {}
        self._draw()

    @work(exclusive=True)
    async def replay(self) -> None:
        """Ranked anew behind the screen; an answer for other weights than those shown is dropped."""
        from engine.verbs.why import replay, reweighted

        then, tried = self._why.then, self._tried
        if then is None:
            return
        behind = cast("Console", self.app).behind
        try:
            found = await behind.ask(lambda engine, actor: replay(then, reweighted(then.summary.policy, tried)))
        except NotOpen:
            return
        if self.is_mounted and tried == self._tried:
            self._replayed = found
            self._draw()
