"""The tiny language of transactions.

A program is a generator: it yields named steps, is sent the rows each returns, and never touches a database. The same
program is run straight through in production, stepped one statement at a time for trainers, and enumerated in every
order by tests.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

Scalar: TypeAlias = str | int | float | bytes | None
Row: TypeAlias = Mapping[str, Scalar]
Rows: TypeAlias = Sequence[Row]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Step:
    """One named statement with its bindings. ``wins``: it must change or return exactly one row."""

    name: str
    binds: Mapping[str, Scalar]
    wins: bool


@dataclass(frozen=True, slots=True)
class Lost:
    """The transaction was rolled back whole: ``step`` had to win one row and did not. An answer, not an error."""

    step: str


Program: TypeAlias = Generator[Step, Rows, T]


def must(name: str, /, **binds: Scalar) -> Step:
    """A statement that has to win exactly one row, or the race is lost."""
    return Step(name, binds, wins=True)


def read(name: str, /, **binds: Scalar) -> Step:
    """A statement whose rows are looked at, however many."""
    return Step(name, binds, wins=False)


class Refuse(Exception):
    """Raised inside a program that finds it may not go on: rolled back, and the store answers ``Lost(step)``."""

    def __init__(self, step: str) -> None:
        super().__init__(step)
        self.step = step
