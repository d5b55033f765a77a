"""A desk as its user has it: `run.py console` on a pseudo-terminal, and what a terminal makes of the bytes it sends.

The terminal is strict: anything that is neither text nor one of the driver's own sequences is kept as ``strange``."""

import codecs
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.cells import get_character_cell_size

from console.words import UNSEEN, WRITING
from engine import wiring
from engine.imports.parsed import Parsed
from engine.ports import Engine
from engine.rules.nouns import FixReport, NewWorker
from engine.verbs import ingest, intake
from engine.verbs.site import SiteFile
from tests.conftest import ROOT
from tests.console.desks import MINUTE_MS, WHO, job, worker

SEQUENCE = re.compile(
    r"\x1b\[(?P<lead>[<=>?]?)(?P<numbers>[\d;:]*)(?P<inner>[ -/]*)(?P<end>[@-~])"
    r"|\x1b\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    r"|\x1b(?P<other>[^\[\]])",
    re.DOTALL,
)
ALTERNATE, CURSOR, PASTE, WRAP, FOCUS = "1049", "25", "2004", "7", "1004"
MOUSE = ("1000", "1003", "1006", "1015", "1016")
DRIVERS = {ALTERNATE, CURSOR, PASTE, WRAP, FOCUS, *MOUSE, "2026", "2048"}
SANE = {CURSOR, WRAP}
"""What is on in a terminal that nobody has touched."""

SIT_DOWN = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Make the terminal the controlling one, so that closing it hangs up, and become the command."""


class Glass:
    """A terminal's screen: what it shows, which modes are on, and what came that no driver sends."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.lines = [[" "] * width for _ in range(height)]
        self.x = self.y = 0
        self.modes = set(SANE)
        self.kitty = 0
        self.strange: list[str] = []
        self.copied: list[str] = []
        self._rest = ""
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    @property
    def text(self) -> str:
        return "\n".join("".join(each) for each in self.lines)

    def feed(self, told: bytes) -> None:
        text, at = self._rest + self._decode(told), 0
        while at < len(text):
            if text[at] != "\x1b":
                self._letter(text[at])
                at += 1
            elif found := SEQUENCE.match(text, at):
                self._sequence(found)
                at = found.end()
            elif len(text) - at > 20_000:
                self.strange.append(text[at : at + 40])
                at += 1
            else:
                break
        self._rest = text[at:]

    def _letter(self, letter: str) -> None:
        if letter == "\r":
            self.x = 0
        elif letter == "\n":
            self.y = min(self.height - 1, self.y + 1)
        elif unicodedata.category(letter) in UNSEEN and letter not in WRITING:
            self.strange.append(letter)
        elif wide := get_character_cell_size(letter):
            for n in range(wide):
                if self.x + n < self.width:
                    self.lines[self.y][self.x + n] = "" if n else letter
            self.x += wide

    def _sequence(self, found: re.Match[str]) -> None:
        lead, numbers, end = found["lead"], found["numbers"], found["end"]
        if found["osc"] is not None:
            self._command(found["osc"])
        elif end in ("h", "l") and lead == "?" and set(numbers.split(";")) <= DRIVERS:
            (self.modes.update if end == "h" else self.modes.difference_update)(numbers.split(";"))
        elif end == "u" and lead in (">", "<"):
            self.kitty += 1 if lead == ">" else -1
        elif end == "H" and not lead:
            y, _, x = numbers.partition(";")
            self.y, self.x = min(self.height, int(y or 1)) - 1, int(x or 1) - 1
        elif end in ("J", "K") and not lead:
            self._erase(end)
        elif not (end == "m" and not lead) and not (end == "p" and found["inner"] == "$"):
            self.strange.append(found[0])

    def _command(self, told: str) -> None:
        if told.startswith("52;"):
            self.copied.append(told)
        elif not re.fullmatch(r"22;[a-z-]+", told):  # the shape of the mouse's pointer
            self.strange.append(told)

    def _erase(self, what: str) -> None:
        for y in range(self.height) if what == "J" else (self.y,):
            self.lines[y] = [" "] * self.width


class Seat:
    """A process on a terminal of its own. Use as a context: it is ended, by its id, on the way out."""

    def __init__(self, command: Sequence[str], *, size: tuple[int, int] = (120, 36), **env: str) -> None:
        self.glass = Glass(*size)
        self.master, ours = pty.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.attrs = termios.tcgetattr(ours)
        told = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "CALLBOARD_NO_VENV": "1", **env}
        for each in ("COLUMNS", "LINES", "NO_COLOR", "TEXTUAL"):
            if each not in env:
                told.pop(each, None)
        self.process = subprocess.Popen(
            [sys.executable, "-c", SIT_DOWN, *command], cwd=ROOT, env=told, stdin=ours, stdout=ours, stderr=ours,
            start_new_session=True,
        )  # fmt: skip
        self._tty = ours
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "Seat":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        self.hang_up()

    def _read(self) -> None:
        while True:
            try:
                told = os.read(self.master, 65_536)
            except OSError:
                return
            if not told:
                return
            with self._lock:
                self.glass.feed(told)

    @property
    def text(self) -> str:
        with self._lock:
            return self.glass.text

    def until(self, seen: str | Callable[[str], bool], within_s: float = 15.0) -> float:
        """The seconds until the screen says it; AssertionError with the screen where it does not."""
        since = time.monotonic()
        while time.monotonic() - since < within_s:
            text = self.text
            if seen in text if isinstance(seen, str) else seen(text):
                return time.monotonic() - since
            time.sleep(0.02)
        raise AssertionError(f"not on the screen after {within_s} s: {seen}\n{self.text}")

    def press(self, *keys: str, gap_s: float = 0.03) -> None:
        for each in keys:
            os.write(self.master, each.encode())
            time.sleep(gap_s)

    def signal(self, which: signal.Signals) -> None:
        self.process.send_signal(which)

    def ended(self, within_s: float) -> int:
        """Its exit code; TimeoutExpired where it goes on. What it wrote last has then been read."""
        code = self.process.wait(within_s)
        time.sleep(0.1)
        return code

    def hang_up(self) -> None:
        """The window is closed."""
        for each in (self._tty, self.master):
            if each >= 0:
                os.close(each)
        self._tty = self.master = -1

    def assert_sane(self) -> None:
        """As a user finds the terminal again: main screen, cursor, no mouse, no paste marks, line by line, echo."""
        with self._lock:
            assert self.glass.modes == SANE
            assert self.glass.kitty == 0
        now = termios.tcgetattr(self._tty)
        assert now[:4] == self.attrs[:4]


def desk_on(path: Path, *more: str, size: tuple[int, int] = (120, 36), **env: str) -> Seat:
    return Seat(["run.py", "console", "--db", str(path), *more], size=size, **env)


def live_site(path: Path, *, jobs: int = 3, workers: int = 3) -> Path:
    """A live site with workers about and waiting jobs, where nothing is offered unless somebody asks."""
    quiet = {"lease": {"auto_offer": False}}
    wiring.create(path, SiteFile(name="Harbour campus", zone="Europe/Rome", overrides=quiet), training=False)
    engine = wiring.open_engine(path)
    now_ms = engine.store.clock(engine.tenant).now_ms
    staffed(engine, [worker(at, f"Person {at}") for at in range(1, workers + 1)])
    for at in range(jobs):
        due_ms = now_ms + (60 + at) * MINUTE_MS
        intake.create_job(engine, WHO, replace(job(f"J-{at}", due_min=60), not_before_ms=now_ms, due_by_ms=due_ms))
    wiring.close(engine)
    return path


def staffed(engine: Engine, staff: list[NewWorker]) -> None:
    """Take these workers on, on shift for hours and seen just now."""
    now_ms = engine.store.clock(engine.tenant).now_ms
    shift = {"shift_starts_ms": now_ms - 60 * MINUTE_MS, "shift_ends_ms": now_ms + 600 * MINUTE_MS}
    staff = [replace(each, **shift) for each in staff]
    intake.import_workers(engine, WHO, Parsed(items=tuple(enumerate(staff, 1)), rejected=(), warnings=()))
    ingest.report(engine, [fix(each, now_ms) for each in staff], received_ms=now_ms, archive=[])
    ingest.write_behind(engine, [])


def fix(of: NewWorker, now_ms: int) -> FixReport:
    return FixReport(worker=of.ref, device_ms=now_ms, lat=of.home.lat, lng=of.home.lng, accuracy_m=5)
