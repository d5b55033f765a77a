"""The one command line of callboard: it sets itself up on a fresh machine, with the standard library alone."""

import sys

if sys.version_info < (3, 11):
    sys.stderr.write("callboard needs Python 3.11 or newer; this is %d.%d.\n" % sys.version_info[:2])
    sys.exit(2)

import hashlib
import os
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from console.cli.parts import DemoOrder, DemoSite, DeskOrder, Figure, Parts, ReplayOrder, ReplayReport
    from console.stage import House, RehearsalRoom, Script

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
STAMP = "callboard.stamp"
TAIL_LINES = 15


class SetupFailed(Exception):
    """The set-up cannot go on. Two arguments: the whole answer for the person at the terminal, and the exit code."""


def python_of(venv: Path) -> Path:
    return venv / "bin" / "python"


def digest(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes()).hexdigest()


def is_ready(venv: Path, lock: Path, version: str = "") -> bool:
    """True when the environment was finished from this very lock (by this Python version); each start asks it."""
    try:
        stamp = (venv / STAMP).read_text()
    except OSError:
        return False
    return stamp.startswith(digest(lock)) and stamp.endswith(version) and python_of(venv).exists()


def pins(lock: Path) -> dict[str, str]:
    """name → version of every package that is needed on each machine (those with a marker are not)."""
    import re

    return dict(re.findall(r"^([\w.-]+)==(\S+) \\$", lock.read_text(), re.MULTILINE))


def has_packages(wanted: dict[str, str]) -> bool:
    """True when the running interpreter already has every package at the locked version (pip aside: any will do)."""
    from importlib import metadata

    try:
        return all(metadata.version(name) == version for name, version in wanted.items() if name != "pip")
    except metadata.PackageNotFoundError:
        return False


def missing_venv_line() -> str | None:
    """The line to type where this Python cannot make an environment (Debian keeps venv in a package of its own)."""
    from importlib.util import find_spec

    if find_spec("venv") and find_spec("ensurepip"):
        return None
    sudo = "" if os.geteuid() == 0 else "sudo "
    return f"{sudo}apt install python{sys.version_info[0]}.{sys.version_info[1]}-venv"


def say(text: str, end: str = "\n") -> None:
    """Progress goes to stderr: stdout belongs to the command, which may print JSON there."""
    sys.stderr.write(text + end)
    sys.stderr.flush()


def say_wrapped(text: str) -> None:
    """No word is broken at the edge of the terminal."""
    import shutil
    import textwrap

    say(textwrap.fill(text, max(20, shutil.get_terminal_size().columns - 1)))


def hold(lock_file: Path) -> IO[str]:
    """One set-up at a time; a second one waits and then finds the work done. Closed by the end or the restart."""
    import fcntl

    handle = lock_file.open("w")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("Another set-up is running; waiting for it.")
        fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def make_venv(venv: Path) -> None:
    if line := missing_venv_line():
        raise SetupFailed(f"This Python cannot make an environment. Type this, then run again:\n  {line}", 2)
    say("  1/3 making .venv")
    # The base interpreter, not sys.executable: that one may live in the very folder that is cleared.
    base = getattr(sys, "_base_executable", sys.executable)
    made = subprocess.run([base, "-m", "venv", "--clear", str(venv)], check=False, capture_output=True, text=True)
    if made.returncode:
        last = "\n".join((made.stdout + made.stderr).splitlines()[-TAIL_LINES:])
        raise SetupFailed(f"{last}\nMaking .venv failed. Remove {venv} and run the same command again.", 1)


def show_pip(lines: Iterator[str], total: int) -> deque[str]:
    """Turn pip's lines into a live count; returns the last of them for the case that pip fails."""
    live, seen, tail = sys.stderr.isatty(), 0, deque[str](maxlen=TAIL_LINES)
    for line in lines:
        tail.append(line.rstrip())
        if line.startswith(("Collecting ", "Requirement already satisfied")) and seen < total:
            seen += 1  # those that only some machines need come on top, and are not in the total
            if live or seen % 10 == 0 or seen == total:
                say(f"{chr(13) * live}  2/3 fetching packages {seen}/{total}", end="" if live else "\n")
        elif line.startswith("Installing collected packages"):
            say(f"{chr(10) * live}  3/3 installing them")
    return tail


def install(venv: Path, lock: Path) -> None:
    # --no-deps: the lock is complete, and nothing outside it may slip in.
    options = ["--no-deps", "--require-hashes", "--no-input", "--progress-bar=off", "--disable-pip-version-check"]
    command = [str(python_of(venv)), "-m", "pip", "install", *options, "-r", str(lock)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        assert pip.stdout is not None
        tail = show_pip(iter(pip.stdout), len(pins(lock)))
    if pip.returncode:
        advice = "pip failed (above: its last lines). A set-up needs the network and 400 MB of disk, once."
        raise SetupFailed("\n".join(["", *tail, advice, "When both are there, run the same command again."]), 1)


def version_of(venv: Path) -> str:
    """The Python of a usable environment, or nothing: it may be absent, half made, or its base was upgraded away."""
    ask = [str(python_of(venv)), "-c", "import pip, sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        return subprocess.run(ask, check=False, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def set_up(venv: Path, lock: Path) -> None:
    """Make or refresh the environment; the stamp is written last, so an interrupted set-up is done again."""
    began = time.monotonic()
    say(f"Setting up callboard in {venv} (once; later starts need no network)")
    stamp = venv / STAMP
    can_refresh = stamp.exists() and version_of(venv)
    stamp.unlink(missing_ok=True)
    if not can_refresh:
        make_venv(venv)
    install(venv, lock)
    stamp.write_text(f"{digest(lock)} {version_of(venv)}")
    say(f"Ready after {time.monotonic() - began:.0f} s.")


def settle() -> None:
    """Return inside an interpreter that has the packages: this one, or .venv's by starting again there."""
    if "CALLBOARD_NO_VENV" in os.environ:
        return
    inside = Path(sys.prefix).resolve() == VENV.resolve()
    version = "%d.%d" % sys.version_info[:2] if inside else ""
    if not is_ready(VENV, LOCK, version):
        if not inside and has_packages(pins(LOCK)):
            return
        handle = hold(ROOT / ".venv.lock")
        if not is_ready(VENV, LOCK, version):
            set_up(VENV, LOCK)
        handle.close()
    elif inside:
        return
    python = str(python_of(VENV))
    os.execv(python, [python, str(ROOT / "run.py"), *sys.argv[1:]])


def open_door(arguments: list[str]) -> int:
    """`test` is the house's own check; everything else is the console's command line."""
    if arguments[:1] == ["test"]:
        from tests.house.check import main as check

        return check(arguments[1:])
    from console.cli.main import main

    return main(arguments or ["console"], handed_over())


def handed_over() -> "Parts":
    """The parts of other doors that the command line uses: doors never import each other, so they meet here.

    Nothing of them is imported before it is used: `board` does not wait for what `replay` needs."""
    from console.cli.parts import Parts

    return Parts(
        replay=replay_day if is_here("fixtures.replay") else None,
        open_console=open_desk if is_here("console.app") else None,
        demo=demo_site if is_here("fixtures.demo") else None,
        bench=measure if is_here("benchmarks.bench") else None,
        rehearse=rehearsal_room() if is_here("fixtures.rehearsal") else None,
        open_room=open_room if is_here("console.room") else None,
    )


def is_here(part: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(part) is not None
    except ModuleNotFoundError:  # not even the room
        return False


def replay_day(order: "ReplayOrder") -> "ReplayReport":
    from fixtures.replay import replay

    return replay(
        order.jobs,
        order.workers,
        site=order.site,
        seed=order.seed,
        answers=order.answers,
        whole=order.whole,
        progress=order.progress,
    )


def open_desk(order: "DeskOrder") -> int:
    need_terminal()
    from console.app import run_console

    room = rehearsal_room() if is_here("fixtures.rehearsal") else None
    return run_console(order.database, demo=order.demo, read_only=order.read_only, tenant=order.tenant, room=room)


def demo_site(order: "DemoOrder") -> "AbstractContextManager[DemoSite]":
    from fixtures import demo, recording

    told = recording.read(order.replay) if order.replay is not None else None
    need_terminal()
    if order.record is not None:
        recording.refuse_existing(order.record)
    recorder = recording.Recorder(Path("rehearsals"), file=order.record)
    return demo.opened(ROOT / ".osrm", seed=order.seed, said=say_wrapped, recorder=recorder, recording=told)


def need_terminal() -> None:
    """A screen cannot be shown in a pipe; said before anything is set up for it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        from click import UsageError

        raise UsageError("the console needs a terminal; other commands do not")


def measure(what: str) -> "Sequence[Figure]":
    from benchmarks.bench import bench

    return bench(what)


def rehearsal_room() -> "RehearsalRoom":
    """Scenarios and naive programs are the fixtures'; they are imported when one is asked for."""
    from console.stage import RehearsalRoom

    def listed() -> "Sequence[Script]":
        from fixtures import scenarios

        return [scenarios.found(name) for name in scenarios.names()]

    def found(name: str) -> "Script":
        from fixtures import scenarios

        return scenarios.found(name)

    def opened(script: "Script", programs: str, database: Path | None) -> "AbstractContextManager[House]":
        from fixtures import rehearsal, scenarios

        return rehearsal.opened(scenarios.found(script.source), rehearsal.Programs(programs), database=database)

    return RehearsalRoom(listed=listed, found=found, opened=opened)


def open_room(room: "RehearsalRoom", script: "Script | None", database: Path | None) -> int:
    from console.room import run_room

    return run_room(room, script, database)


def start() -> int:
    try:
        settle()
    except SetupFailed as failure:
        say(failure.args[0])
        return failure.args[1]
    except (OSError, KeyboardInterrupt) as failure:
        say(f"\nSet-up stopped: {str(failure) or 'interrupted'}. The same command starts it again.")
        return 1
    return open_door(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(start())
