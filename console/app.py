"""The console: one Textual application over the threads behind it. The engine is not imported here."""

import asyncio
import logging
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rich.text import Text
from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from console.behind import Behind
from console.keymap import KEYMAP, Keymap, load
from console.screens.desk import Desk
from console.themes import THEMES
from console.words import inert

if TYPE_CHECKING:
    from console.stage import RehearsalRoom

Answer = TypeVar("Answer")
log = logging.getLogger("callboard.console")
STOP_WITHIN_S = 1.0
SAID_MAX = 200


class Changed(Message):
    """Something behind has news: a contentless message of which only one waits at a time."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Changed)


class Console(App[int]):
    """``ticks``: whether clocks run by themselves; tests stop them and look when they say so."""

    CSS_PATH = Path(__file__).with_name("console.tcss")
    TITLE = "Callboard"
    MODES: ClassVar[dict[str, type[Desk]]] = {"desk": Desk}  # type: ignore[assignment]
    DEFAULT_MODE = "desk"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", "Copy, or leave at once", show=False, id="console.interrupt", priority=True)
    ]

    def __init__(self, behind: Behind, *, ticks: bool = True, room: "RehearsalRoom | None" = None) -> None:
        super().__init__()
        self.behind = behind
        self.room = room
        self.ticks = ticks
        self.animation_level = "none"
        self.keys: dict[str, str] = {}
        self._covered = self._signed_in = False
        self._touched_s = behind.mono_s()
        self.typed_s: float | None = None  # when the last key came, by time.monotonic
        for each in THEMES:
            self.register_theme(each)
        self.theme = THEMES[0].name

    def on_mount(self) -> None:
        self._end_on_signals()
        if self.ticks:
            self.call_after_refresh(self._start)

    def take_keys(self, found: Keymap) -> None:
        """The operator's own keys, in bindings, footer and help; what is wrong with them is said, and is no key."""
        self.keys = found.keys
        self.set_keymap({f"desk.{name}": key for name, key in found.keys.items()})
        if found.faults and isinstance(self.screen, Desk):
            self.screen.tell(f"{KEYMAP}: {'; '.join(found.faults)}", "warn")

    def _start(self) -> None:
        """After the first paint: importing the engine costs more than the whole skeleton."""
        self.take_keys(load())
        self.behind.start(lambda: self.post_message(Changed()))

    def on_changed(self) -> None:
        if self.behind.failed:
            self.exit(self.behind.failed_code, message=inert(self.behind.failed))
            return
        self.look_again()

    def look_again(self) -> None:
        """Show the newest snapshot; a desk without threads takes it first."""
        if not self.behind.threaded:
            self.behind.read()
        for screen in self.screen_stack:
            if isinstance(screen, Desk):
                screen.news()

    def _end_on_signals(self) -> None:
        """TERM, INT and HUP (a closed window) leave like ctrl+q does, so that the terminal is restored."""
        if self.is_headless:
            return
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with suppress(NotImplementedError, RuntimeError, ValueError):
                asyncio.get_running_loop().add_signal_handler(each, lambda: self.exit(0))

        signal.signal(signal.SIGCONT, self._gone_on)

    def _gone_on(self, *_: object) -> None:
        """Continued after a stop. Textual would start its terminal a second time, and then not give it back, where
        it was not left before: a stop by ctrl+z leaves it, one from outside (SIGSTOP, a debugger) does not."""
        driver = self._driver
        if isinstance(driver, LinuxDriver) and driver._must_signal_resume:  # pyright: ignore[reportPrivateUsage]
            driver.resume_application_mode()
        else:
            self.call_later(self.refresh, layout=True)

    async def on_event(self, event: events.Event) -> None:
        """What is pasted into a line is shown as symbols where it cannot be letters: a box prints what it holds as it
        stands, and keeps of several lines the first."""
        if isinstance(event, events.Paste):
            event.text = inert(event.text)
        if isinstance(event, events.Key | events.MouseDown | events.Paste):
            self._touched_s = self.behind.mono_s()
        if isinstance(event, events.Key):
            self.typed_s = time.monotonic()
        await super().on_event(event)

    def action_interrupt(self) -> None:
        """ctrl+c copies what is selected; with nothing selected it leaves at once, also out of a dialog."""
        focused = self.focused
        chosen = focused.selected_text if isinstance(focused, Input) else self.screen.get_selected_text()
        if chosen:
            self.copy_to_clipboard(chosen)
        else:
            self.exit(0)

    def _fatal_error(self) -> None:
        """A fault of ours that nothing caught: the whole of it to the log, where it is told on the terminal.

        Textual would print it with the values of all variables, and those are about people."""
        log.critical("the desk failed", exc_info=True)
        error = sys.exc_info()[1]
        said = inert(f"{type(error).__name__}: {error}")[:SAID_MAX]
        self._exit_renderables.append(
            Text(f"The desk failed ({said}). Nothing that was agreed is lost. The whole of it: {self.behind.log_path}")
        )
        self._close_messages_no_wait()

    # --- who is at the desk ------------------------------------------------------------------------------------------

    def watch_over(self) -> None:
        """Cover the desk of a site with operators until one signs in, and again when nobody has been there for long."""
        behind, now_s = self.behind, self.behind.mono_s()
        if not behind.guarded or self._covered or behind.snap is None:
            return
        if behind.dismissed:
            self.cover("Locked: you are no longer named here, or have another role now. ")
        elif not self._signed_in:
            self.cover()
        elif behind.idle_lock_s and now_s - self._touched_s > behind.idle_lock_s:
            self.cover("Locked: nobody was here. ")

    def cover(self, why: str = "") -> None:
        from console.screens.login import Login

        snap = self.behind.snap
        if snap is not None and not self._covered:
            self._covered = True
            self.behind.stand_up()
            self.push_screen(Login(snap.site.name, snap.site.actor if self._signed_in else "", why))

    def uncovered(self) -> None:
        self._covered, self._signed_in, self._touched_s = False, True, self.behind.mono_s()

    def leave_what_was_open(self) -> None:
        """Somebody else sits here now: what the one before had begun, and marked, is left undone."""
        from console.screens.desk import Desk
        from console.widgets.alerts import Alerts

        while len(self.screen_stack) > 1 and not isinstance(self.screen, Desk):
            self.screen.dismiss(None)
        if isinstance(self.screen, Desk):
            self.screen.hands.forget()
            self.screen.unmark(frozenset({*self.screen.board.marks, *self.screen.query_one(Alerts).marks}))

    async def push_screen_wait(self, screen: Screen[Answer] | str, *, mode: str | None = None) -> Answer | Any:
        """A key that came right after the lock's opens nothing over the cover."""
        if self._covered:
            raise asyncio.CancelledError
        return await super().push_screen_wait(screen, mode=mode)

    # --- for the screens ---------------------------------------------------------------------------------------------

    @property
    def zone(self) -> str:
        return self.behind.snap.site.zone if self.behind.snap else "UTC"

    def next_theme(self) -> str:
        names = [each.name for each in THEMES]
        self.theme = names[(names.index(self.theme) + 1) % len(names)] if self.theme in names else names[0]
        return self.theme.removeprefix("callboard-")

    def unforeseen(self, doing: str, error: Exception) -> None:
        """A fault of ours in an act: the whole of it to the log, one line to the banner."""
        log.error("%s failed", doing, exc_info=error)
        self.behind.trouble = f"{doing} failed: {error}"

    def leaving(self) -> str:
        snap = self.behind.snap
        if snap is not None and snap.rounds == "here":
            return "This desk dispatches automatically: nothing is offered or expired until another desk takes over."
        return "Nothing that was agreed is lost."


def run_console(
    path: Path, *, demo: object | None = None, read_only: bool = False, tenant: str | None = None,
    room: "RehearsalRoom | None" = None,
) -> int:  # fmt: skip
    """Show the desk of a database until it is left. ``demo``: see stage.DemoStage; it rings the rounds itself.
    ``room``: for the key t.

    Answers the exit code: 0, 2 or 3 (damaged or missing). The terminal is restored on any way out."""
    behind = Behind(path, demo=demo, read_only=read_only, tenant=tenant)
    handler = _log_to(behind.log_path)
    app = Console(behind, room=room)
    try:
        code = app.run()
    finally:
        ended = behind.stop(STOP_WITHIN_S)
        logging.getLogger().removeHandler(handler)
        handler.close()
    code = code if code is not None else app.return_code or 0
    if not ended:
        # A round that hangs would keep the interpreter alive at its exit; the database is safe against this.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


class InertLines(logging.Formatter):
    """Whoever prints the log on a terminal is not to obey what stood in somebody's name."""

    def format(self, record: logging.LogRecord) -> str:
        return "\n".join(map(inert, super().format(record).split("\n")))


def _log_to(path: Path) -> logging.Handler:
    """Warnings of every thread go to a file: the terminal is the desk's."""
    handler = logging.FileHandler(path, delay=True, encoding="utf-8")
    handler.setLevel(logging.WARNING)
    handler.setFormatter(InertLines("%(asctime)s %(levelname)s %(name)s %(message)s"))
    logging.getLogger().addHandler(handler)
    return handler
