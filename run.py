"""The one command line of callboard: on a fresh machine it sets itself up, then it opens the door that was asked for.

Above the doors only the standard library is used: this file starts on a bare Python.
"""

import sys

if sys.version_info < (3, 11):
    sys.stderr.write("callboard needs Python 3.11 or newer; this is %d.%d.\n" % sys.version_info[:2])
    sys.exit(2)

import contextlib
import hashlib
import os
import subprocess
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
STAMP = "callboard.stamp"
TAIL_LINES = 15


class SetupFailed(Exception):
    """The set-up cannot go on; the message is the whole answer for the person at the terminal."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


def fingerprint(lock: Path) -> str:
    """What a finished environment is stamped with: another lock or another Python makes it out of date."""
    return f"{hashlib.sha256(lock.read_bytes()).hexdigest()} {sys.version_info[0]}.{sys.version_info[1]}"


def python_of(venv: Path) -> Path:
    return venv / "bin" / "python"


def is_ready(venv: Path, lock: Path) -> bool:
    """True when the environment was finished from this very lock; cheap, as every start asks it."""
    try:
        stamp = (venv / STAMP).read_text()
    except OSError:
        return False
    return stamp.split(" ")[0] == fingerprint(lock).split(" ")[0] and python_of(venv).exists()


def pins(lock: Path) -> dict[str, str]:
    """name → version of every package that is needed on each machine (those with a marker are not)."""
    found: dict[str, str] = {}
    for line in lock.read_text().splitlines():
        name, is_pin, version = line.removesuffix("\\").strip().partition("==")
        if is_pin and not line.startswith((" ", "#")) and ";" not in version:
            found[name] = version
    return found


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


@contextlib.contextmanager
def only_one(lock_file: Path) -> Iterator[None]:
    """One set-up at a time; a second one waits and then finds the work done."""
    import fcntl

    with lock_file.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another set-up is running; waiting for it.")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def make_venv(venv: Path) -> None:
    say("  1/3 making .venv")
    # The base interpreter, not sys.executable: that one may live in the very folder that is cleared.
    base = getattr(sys, "_base_executable", sys.executable)
    made = subprocess.run([base, "-m", "venv", "--clear", str(venv)], check=False, capture_output=True, text=True)
    if made.returncode:
        last = "\n".join((made.stdout + made.stderr).splitlines()[-TAIL_LINES:])
        raise SetupFailed(f"{last}\nMaking .venv failed. Remove {venv} and run the same command again.")


def show_pip(lines: Iterator[str], total: int) -> deque[str]:
    """Turn pip's lines into a live count; returns the last of them for the case that pip fails."""
    live, seen, tail = sys.stderr.isatty(), 0, deque[str](maxlen=TAIL_LINES)
    for line in lines:
        tail.append(line.rstrip())
        if line.startswith(("Collecting ", "Requirement already satisfied")):
            seen += 1
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
        advice = "pip failed (above: its last lines). The first set-up needs the network and some 400 MB of disk;"
        raise SetupFailed("\n".join(["", *tail, advice, "when both are there, run the same command again."]))


def set_up(venv: Path, lock: Path) -> None:
    """Make or refresh the environment; the stamp is written last, so an interrupted set-up is done again."""
    if line := missing_venv_line():
        raise SetupFailed(f"This Python cannot make an environment. Type this, then run again:\n  {line}", code=2)
    began = time.monotonic()
    stamp = venv / STAMP
    say(f"Setting up callboard in {venv} (once; later starts need no network)")
    finished_before = stamp.exists() and python_of(venv).exists()
    stamp.unlink(missing_ok=True)
    if not finished_before:
        make_venv(venv)
    install(venv, lock)
    stamp.with_suffix(".part").write_text(fingerprint(lock))
    stamp.with_suffix(".part").replace(stamp)
    say(f"Ready after {time.monotonic() - began:.0f} s.")


def restart(venv: Path) -> NoReturn:
    python = str(python_of(venv))
    os.execv(python, [python, str(ROOT / "run.py"), *sys.argv[1:]])


def settle() -> None:
    """Return inside an interpreter that has the packages: this one, or .venv's by starting again there."""
    if "CALLBOARD_NO_VENV" in os.environ:
        return
    ready = is_ready(VENV, LOCK)
    if ready and Path(sys.prefix).resolve() == VENV:
        return
    if not ready:
        if Path(sys.prefix).resolve() != VENV and has_packages(pins(LOCK)):
            return
        with only_one(ROOT / ".venv.lock"):
            if not is_ready(VENV, LOCK):
                set_up(VENV, LOCK)
    restart(VENV)


def open_door(arguments: list[str]) -> int:
    """`test` is the house's own check; everything else is the console's command line."""
    if arguments[:1] == ["test"]:
        from tests.house.check import main as check

        return check(arguments[1:])
    from console.cli.main import main

    # The place where one door's parts are handed to another: the field and the naive programs of fixtures.
    return main(arguments or ["console"])


def start() -> int:
    try:
        settle()
    except SetupFailed as failure:
        say(str(failure))
        return failure.code
    except OSError as failure:
        say(f"Set-up failed: {failure}")
        return 1
    except KeyboardInterrupt:
        say("\nStopped. The same command starts the set-up again.")
        return 130
    return open_door(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(start())
