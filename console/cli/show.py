"""How answers are shown: one JSON document, or tables and lines for people, with every text from data made inert."""

import os
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

import msgspec

from console.words import inert
from engine.rules.days import local

PLAIN_WIDTH = 160  # columns where stdout is no terminal and nobody says


def document(answer: object) -> None:
    """The one JSON document of a command on stdout."""
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()


def line(text: str, *, flush: bool = False) -> None:
    sys.stdout.write(f"{inert(text)}\n")
    if flush:
        sys.stdout.flush()


def note(text: str) -> None:
    """A word beside the answer: stderr, so that stdout stays the answer alone."""
    sys.stderr.write(f"{inert(text)}\n")


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str = "none") -> None:
    """A table of texts. A column whose name ends in ``>`` is set to the right (numbers)."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        right = name.endswith(">")
        made.add_column(Text(name.removesuffix(">")), justify="right" if right else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(inert("" if cell is None else str(cell))) for cell in row))
    if not made.row_count:
        line(f"{title}: {empty}")
        return
    line(title)
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else PLAIN_WIDTH
    Console(file=sys.stdout, width=width, markup=False, emoji=False, highlight=False).print(made)


@contextmanager
def working(what: str) -> Generator[None]:
    """A sign of life on stderr while something takes long; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True, markup=False).status(what):
        yield


# --- times and spans ---------------------------------------------------------------------------------------------


def when(at_ms: int | None, zone: str, *, seconds: bool = False) -> str:
    """The site's own time: ``Mon 15 Mar 07:02``."""
    if at_ms is None:
        return ""
    return f"{local(at_ms, zone):%a %d %b %H:%M{':%S' if seconds else ''}}"


def hour(at_ms: int | None, zone: str, *, seconds: bool = False) -> str:
    return "" if at_ms is None else f"{local(at_ms, zone):%H:%M{':%S' if seconds else ''}}"


def minutes(span_ms: int | None) -> str:
    """Whole minutes, downwards: 59 s are 0, one second too late is -1."""
    return "" if span_ms is None else str(span_ms // 60_000)


def age(span_ms: int | None) -> str:
    """``12 s``, ``4 min``, ``2 h``."""
    if span_ms is None:
        return ""
    if span_ms < 120_000:
        return f"{span_ms // 1000} s"
    return f"{span_ms // 60_000} min" if span_ms < 7_200_000 else f"{span_ms // 3_600_000} h"
