"""Errors as one line and an exit code: 1 refused or lost, 2 usage, 3 damaged or missing, 4 read-only."""

import errno
import logging
import os
import sys
import tempfile
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from console.words import inert

OK, REFUSED, USAGE, DAMAGED, READ_ONLY = range(5)
INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What went wrong, for a script (kind), a person (message) and the shell (code)."""

    kind: str
    message: str
    code: int = REFUSED


SYSTEM = {
    errno.EROFS: ("read_only", READ_ONLY),
    errno.EACCES: ("read_only", READ_ONLY),
    errno.EPERM: ("read_only", READ_ONLY),
}


def told(error: BaseException) -> Told:
    """Any exception in one line; one that nobody foresaw leaves its traceback in a log file whose path is told."""
    if found := _of_the_engine(error):
        return found
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "run.py"
        return Told(kind="usage", message=f"{error.format_message()} (`{path} --help` tells more)", code=USAGE)
    if isinstance(error, click.ClickException):
        return Told(kind="refused", message=error.format_message())
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return Told(
            kind="interrupted", message="interrupted; whatever had been said to be done is done", code=INTERRUPTED
        )
    if isinstance(error, FileExistsError):
        return Told(kind="exists", message=f"{_name(error)}: it is there already, and nothing is overwritten")
    if isinstance(error, OSError) and error.errno is not None:
        kind, code = SYSTEM.get(error.errno, ("system", REFUSED))
        return Told(kind=kind, message=f"{_name(error)}: {error.strerror or 'the system refused'}", code=code)
    return Told(kind="unexpected", message=f"unexpected {type(error).__name__}; the details are in {keep(error)}")


def _of_the_engine(error: BaseException) -> Told | None:
    """An error the engine foresaw. Its module is there by then: it is not loaded for a desk that starts."""
    from engine import ports

    kinds = (
        (ports.Damaged, "damaged", DAMAGED),
        (ports.ReadOnly, "read_only", READ_ONLY),
        (ports.NotFound, "not_found", REFUSED),
        (ports.Forbidden, "forbidden", REFUSED),
        (ports.Stale, "stale", REFUSED),
        (ports.Busy, "busy", REFUSED),
        (ports.Invalid, "invalid", REFUSED),
        (ports.CallboardError, "refused", REFUSED),
    )
    named = ((kind, code) for each, kind, code in kinds if isinstance(error, each))
    return next((Told(kind=kind, message=str(error), code=code) for kind, code in named), None)


def _name(error: OSError) -> str:
    return str(error.filename or (error.args[0] if error.args else "") or "file")


def keep(error: BaseException) -> Path:
    """The traceback in a file only its owner may read; answers its path."""
    folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "callboard"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix="error-", suffix=".log", dir=folder)
    except OSError:
        handle, name = tempfile.mkstemp(prefix="callboard-error-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write("".join(traceback.format_exception(error)))
    return Path(name)


@contextmanager
def hushed() -> Generator[None]:
    """While a screen has the terminal, nothing else writes to it (the screen keeps a log of its own)."""
    root = logging.getLogger()
    ours = [each for each in root.handlers if isinstance(each, Lines)]
    for each in ours:
        root.removeHandler(each)
    try:
        yield
    finally:
        for each in ours:
            root.addHandler(each)


class Lines(logging.Handler):
    """What the engine logs as a warning or worse: one line on stderr, a traceback in a file."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        where = f" (the details are in {keep(error)})" if error is not None else ""
        sys.stderr.write(f"{inert(record.getMessage())}{where}\n")
