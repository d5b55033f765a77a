"""What runs behind the screen: the engine is imported and opened on a thread, read at most four times a second, and
asked to act on others. The screen hears of news by one contentless message, and reads the newest snapshot itself."""

import asyncio
import gc
import getpass
import logging
import os
import queue
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from console.viewmodels.rows import SiteFacts, Snapshot

if TYPE_CHECKING:
    from console.asks import Memory
    from console.stage import DemoStage
    from engine.ports import Engine
    from engine.rounds import Rounds
    from engine.rules.nouns import Actor, Role

T = TypeVar("T")
log = logging.getLogger("callboard.console")
POLL_S = 0.25
KEY_POLL_S = 0.05
ASKERS = 2
TROUBLE_SHOWN_S = 30.0
SWITCH_S = 0.0005
NOTE_SHOWN_S = 15.0
FENCED = "fenced: "
"""How the rounds begin to say it."""


class NotOpen(Exception):
    """The engine is not open (yet, or any more)."""


class Behind:
    """The threads behind one desk. ``snap`` is the newest look; ``trouble`` the one line of what failed lately, and
    ``unread`` why there is no newer look; ``note`` what a dispatcher should hear of the rounds, for a while."""

    def __init__(
        self,
        path: Path,
        *,
        demo: object | None = None,
        rounds: bool = True,
        read_only: bool = False,
        tenant: str | None = None,
        user: str | None = None,
        mono_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self.log_path = _log_path(path)
        self.mono_s = mono_s
        self._user = user or _user()
        self._read_only, self._tenant = read_only, tenant
        self.snap: Snapshot | None = None
        self.guarded = False
        self.dismissed = False
        self._sat: tuple[str, str] | None = None
        self.idle_lock_s = 0.0
        self.unread = ""
        self.failed = ""
        self.failed_code = 2
        self.threaded = False
        self.stage = cast("DemoStage | None", demo)
        self._wants_rounds = rounds and demo is None
        self._rounds: Rounds | None = None
        self._engine: Engine | None = None
        self._actor: Actor | None = None
        self._site: SiteFacts | None = None
        self._memory: Memory | None = None
        self._job_id: str | None = None
        self._trouble = self._note = ("", 0.0)
        self._held: frozenset[str] = frozenset()
        self._lost: frozenset[str] = frozenset()
        self._ending = threading.Event()
        self._wake = threading.Event()
        self._asked: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    # --- for the screen ----------------------------------------------------------------------------------------------

    def start(self, news: Callable[[], object]) -> None:
        """``news`` is called from a thread, without content, when there is a newer snapshot or trouble."""
        self.threaded = True
        self._threads = [threading.Thread(target=self._live, args=(news,), name="desk reader", daemon=True)]
        self._threads += [threading.Thread(target=self._serve, name="desk asker", daemon=True) for _ in range(ASKERS)]
        for each in self._threads:
            each.start()

    def look_at(self, job_id: str | None) -> None:
        """The job whose detail the next look brings along."""
        if job_id != self._job_id:
            self._job_id = job_id
            self._wake.set()

    def nudge(self) -> None:
        """Look again soon: something was just done."""
        self._wake.set()

    async def ask(self, asked: Callable[["Engine", "Actor"], T]) -> T:
        """Run it on a thread behind and hand back its answer; what it raises is raised here."""
        if self._engine is None or self._actor is None:
            raise NotOpen("the database is not open yet")
        engine, actor = self._engine, self._actor
        if not self.threaded:
            self._may_still(engine)
            return asked(engine, actor)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def run() -> None:
            try:
                self._may_still(engine)
                done = asked(engine, actor)
            except BaseException as error:
                _on_loop(loop, answer, lambda raised=error: answer.set_exception(raised))
            else:
                _on_loop(loop, answer, lambda: answer.set_result(done))

        self._asked.put(run)
        try:
            return await answer
        finally:
            self.nudge()

    @property
    def trouble(self) -> str:
        """What failed lately, in one line; what has not failed again for a while is over."""
        words, said_s = self._trouble
        return words if self.mono_s() - said_s <= TROUBLE_SHOWN_S else ""

    @trouble.setter
    def trouble(self, words: str) -> None:
        self._trouble = (words, self.mono_s())

    @property
    def note(self) -> str:
        words, said_s = self._note
        return words if self.mono_s() - said_s <= NOTE_SHOWN_S else ""

    def age_s(self) -> float | None:
        return None if self.snap is None else max(0.0, self.mono_s() - self.snap.read_s)

    def now_ms(self) -> int:
        """The database's clock, carried on from the last look; only its trainer moves a training clock."""
        if self.snap is None:
            return 0
        return self.snap.now_ms + (0 if self.snap.site.training else int((self.age_s() or 0.0) * 1000))

    def stop(self, within_s: float = 1.0) -> bool:
        """End the threads, the rounds and the demo; False when they did not end in time."""
        self._ending.set()
        self._wake.set()
        for _ in range(ASKERS):
            self._asked.put(None)
        until_s = time.monotonic() + within_s
        for each in self._threads:
            each.join(max(0.0, until_s - time.monotonic()))
        return not any(each.is_alive() for each in self._threads)

    # --- on the threads ----------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Import the engine and open it. Raises CallboardError, OSError."""
        from console.asks import Memory
        from engine import wiring
        from engine.rules.nouns import Actor, Role
        from engine.rules.roles import MAY

        readonly = self._read_only or (self.path.exists() and not os.access(self.path, os.W_OK))
        if self.stage is not None:
            engine = self.stage.open()
        else:
            engine = wiring.open_engine(self.path, tenant=self._tenant, readonly=readonly)
        training = engine.store.training
        role = Role.TRAINER if training else Role.DISPATCHER
        self._actor = Actor(name=self._user, role=role, tenant=engine.tenant)
        self._site = SiteFacts(name=engine.site.name, zone=engine.site.zone, training=training, readonly=readonly,
                               demo=self.stage is not None, actor=self._actor.name, role=str(role), acts=MAY[role],
                               alert_budget=engine.settings.alert.budget_per_10_min,
                               undo_s=engine.settings.console.undo_s, bell=engine.settings.console.bell)  # fmt: skip
        self._named(engine)
        self.idle_lock_s = engine.settings.console.idle_lock_min * 60.0
        self._memory = Memory()
        self._engine = engine

    def sit_down(self, name: str, role: "Role") -> None:
        """An operator has signed in: acts are theirs from now on."""
        from engine.rules.nouns import Actor
        from engine.rules.roles import MAY

        if self._actor is not None and self._site is not None:
            self._actor, self._sat = Actor(name=name, role=role, tenant=self._actor.tenant), (name, str(role))
            self._site = replace(self._site, actor=name, role=str(role), acts=MAY[role])
            self.nudge()

    def stand_up(self) -> None:
        """The desk is covered: nobody acts at it until one signs in."""
        self._sat, self.dismissed = None, False

    def _may_still(self, engine: "Engine") -> None:
        """Who sits here may have been struck off, or given another role, since they signed in. Raises Forbidden."""
        from engine.ports import Forbidden

        sat = self._sat
        if sat is not None and self._is_struck_off(engine):
            self.dismissed = True
            raise Forbidden(f"{sat[0]} is no longer named here as {sat[1]}: nothing was done; sign in again")

    def _named(self, engine: "Engine") -> frozenset[tuple[str, str]]:
        found = engine.store.rows(engine.tenant, "list_operators")
        self.guarded = bool(found)
        return frozenset((str(each["name"]), str(each["role"])) for each in found)

    def _is_struck_off(self, engine: "Engine") -> bool:
        """Not where nobody is named any more: then the desk asks nobody again."""
        named = self._named(engine)
        if not named:
            self._sat = None
        return self._sat is not None and self._sat not in named

    def read(self) -> None:
        """Take one look."""
        from console.asks import look

        if self._engine is None or self._memory is None or self._site is None:
            raise NotOpen("the database is not open")
        self.snap = look(self._engine, self._memory, self._site, job_id=self._job_id, now_s=self.mono_s())
        self._see_regions(frozenset(self._engine.tenures))
        self.dismissed = self._is_struck_off(self._engine)

    def _see_regions(self, held: frozenset[str]) -> None:
        """Fenced is over, and said no longer, once every region that was lost by it is held again."""
        self._held |= held
        if self._lost and self._lost <= held:
            if FENCED in self._trouble[0]:
                self._trouble = ("", 0.0)
            self._note = (f"this desk dispatches {', '.join(sorted(self._lost))} again", self.mono_s())
            self._lost = frozenset()

    def close(self) -> None:
        """Give the regions back and close the files."""
        from engine import wiring

        engine, self._engine = self._engine, None
        for stop in (self.stage.stop if self.stage else None, self._rounds.stop if self._rounds else None):
            if stop is not None:
                try:
                    stop()
                except Exception:
                    log.exception("stopping")
        if engine is not None:
            wiring.close(engine)

    def _live(self, news: Callable[[], object]) -> None:
        try:
            self.open()
            self.read()
            news()
            self._bring_to_life()
        except Exception as error:
            self._fail(error)
            news()
            self.close()
            return
        while not self._ending.is_set():
            self._turn(news)
        self.close()

    def _bring_to_life(self) -> None:
        assert self._engine is not None
        _keep_out_of_the_loops_way()
        if self.stage is not None:
            self.stage.hear(self._say)
            self.stage.start(self._engine)
        elif self._wants_rounds and not self._engine.store.readonly and not self._engine.store.training:
            from engine.rounds import Rounds

            rounds = Rounds(self._engine, said=self._say)
            rounds.start()
            self._rounds = rounds

    def _turn(self, news: Callable[[], object]) -> None:
        hurried = self._wake.wait(POLL_S)
        self._wake.clear()
        if hurried and self._ending.wait(KEY_POLL_S):
            return
        try:
            self.read()
            self.unread = ""
        except Exception as error:
            if self.unread != (said := f"reading the database failed: {error}"):
                log.exception("reading")
                self.unread = said
        news()

    def _serve(self) -> None:
        while (asked := self._asked.get()) is not None:
            asked()

    def _say(self, said: str) -> None:
        """What the rounds say: to the log; trouble, and that a region was taken over, to the banner too."""
        grave = "failed" in said or FENCED in said
        log.log(logging.WARNING if grave else logging.INFO, "%s", said)
        if grave:
            self.trouble = said
            if FENCED in said and self._engine is not None:
                self._lost = self._held - frozenset(self._engine.tenures)
        elif "taken over" in said:
            self._note = (said, self.mono_s())

    def _fail(self, error: Exception) -> None:
        from engine.ports import CallboardError, Damaged

        self.failed = str(error) or type(error).__name__
        self.failed_code = 3 if isinstance(error, Damaged) else 2
        if not isinstance(error, CallboardError):
            log.exception("opening")
            self.failed = f"{self.failed} (the whole of it is in {self.log_path})"


def _keep_out_of_the_loops_way() -> None:
    """A full collection walks every row, and a computing thread keeps the loop waiting 5 ms: both are felt at the keys.
    The rounds set the same where they ring."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    sys.setswitchinterval(SWITCH_S)


def _on_loop(loop: asyncio.AbstractEventLoop, answer: "asyncio.Future[T]", settle: Callable[[], None]) -> None:
    """Settle a future from another thread; a screen that has gone meanwhile no longer asks."""

    def now() -> None:
        if not answer.done():
            settle()

    try:
        loop.call_soon_threadsafe(now)
    except RuntimeError:
        log.info("an answer came after the desk had closed")


def _user() -> str:
    """Where no operators are named: as the commands say it, `$CALLBOARD_ACTOR`, else by whom the machine knows."""
    try:
        return os.environ.get("CALLBOARD_ACTOR", "").strip() or getpass.getuser()
    except (KeyError, OSError):
        return "dispatcher"


def _log_path(path: Path) -> Path:
    folder = path.parent if os.access(path.parent, os.W_OK) else Path(tempfile.gettempdir())
    return folder / f"{path.name}.log"
