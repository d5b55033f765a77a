"""What a reader hands back, and the limits of what it takes.

``row`` is the number a spreadsheet shows: in a table the header is row 1 and the first data row is 2; in JSON and
GeoJSON the first object (or feature) is 1. Row 0 is the file as a whole: then nothing of it was read.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

MOST_BYTES = 50_000_000
MOST_ROWS = 500_000
MOST_COLUMNS = 500
MOST_SHOWN = 120  # characters of a refused value that are kept for the report


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """One cell (or row, or file) that was not taken; ``rule`` says what is wanted and what to do."""

    row: int
    column: str
    value: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed(Generic[T]):
    """``items`` are (row, noun) in the order of the file; a row with one refused cell is not among them."""

    items: tuple[tuple[int, T], ...]
    rejected: tuple[Rejected, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A value that is not taken: the rule it breaks, in words."""

    rule: str


def rejected(row: int, column: str, value: str, rule: str) -> Rejected:
    """A refusal that is safe to print and to store: shortened, and without lone surrogates."""
    return Rejected(row=row, column=_shown(column), value=_shown(value), rule=_shown(rule, most=400))


def whole_file(rule: str, *, column: str = "", value: str = "") -> Rejected:
    return rejected(0, column, value, rule)


def refusal(*refusals: Rejected, warnings: Iterable[str] = ()) -> Parsed[T]:
    """Nothing was read, for these reasons."""
    return Parsed(items=(), rejected=tuple(refusals), warnings=tuple(warnings))


def _shown(text: str, most: int = MOST_SHOWN) -> str:
    text = text if len(text) <= most else text[: most - 1] + "…"
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\0")
