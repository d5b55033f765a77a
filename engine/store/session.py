"""One connection and what runs on it: straight through in production; the stepper uses the same ``execute``."""

import sqlite3
from collections.abc import Mapping
from typing import cast

from engine.ports import Busy, Damaged, ReadOnly
from engine.program import Lost, Program, Refuse, Row, Rows, Scalar, Step, T
from engine.store.statements import statements

BUSY_MS = 5_000
GUARDS = frozenset(
    [
        "no_double_booking",
        "no_booking_beyond_capacity",
        "no_capacity_below_lanes",
        "no_offer_revived",
        "no_epoch_lowered",
    ]
)
"""Triggers whose refusal is a lost race; the others can only be met by a fault in the programs, and raise."""


class LostRace(Exception):
    """A step had to win a row and did not: roll back; the answer is ``Lost(step)``."""

    def __init__(self, step: str) -> None:
        super().__init__(step)
        self.step = step


def connect(path: str, *, readonly: bool = False, busy_ms: int = BUSY_MS) -> sqlite3.Connection:
    """Open an existing database file; never creates one. Raises sqlite3.OperationalError."""
    mode = "ro" if readonly else "rw"
    connection = sqlite3.connect(
        f"file:{_quoted(path)}?mode={mode}",
        uri=True,
        isolation_level=None,
        timeout=busy_ms / 1000,
        check_same_thread=False,  # each thread uses its own; the store closes them all at the end
        cached_statements=256,
    )
    connection.row_factory = _as_dict
    for pragma in (
        "foreign_keys = ON",
        "recursive_triggers = ON",
        "secure_delete = ON",
        "trusted_schema = OFF",
        "synchronous = FULL",
        "wal_autocheckpoint = 0",
        "temp_store = MEMORY",
        "mmap_size = 0",
        "cell_size_check = ON",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _as_dict(cursor: sqlite3.Cursor, values: tuple[Scalar, ...]) -> Row:
    return {column[0]: value for column, value in zip(cursor.description, values, strict=True)}


def rows(connection: sqlite3.Connection, name: str, binds: Mapping[str, Scalar]) -> Rows:
    """The rows of one named statement, all fetched (an open cursor would hold its lock)."""
    return cast(Rows, connection.execute(statements()[name], binds).fetchall())


def execute(connection: sqlite3.Connection, step: Step, tenant: str, texts: Mapping[str, str] | None = None) -> Rows:
    """Run one step; raises LostRace when it had to win exactly one row and did not. ``texts``: other statements."""
    try:
        cursor = connection.execute((texts or statements())[step.name], {"tenant_id": tenant, **step.binds})
        found = cast(Rows, cursor.fetchall())
    except sqlite3.IntegrityError as refused:
        raise _lost_or_fault(step, refused) from refused
    if step.wins:
        won = len(found) if cursor.description else cursor.rowcount
        if won != 1:
            raise LostRace(step.name)
    return found


def _lost_or_fault(step: Step, refused: sqlite3.IntegrityError) -> Exception:
    guard = str(refused)
    if guard in GUARDS:
        return LostRace(guard)
    if guard.startswith("UNIQUE constraint failed"):
        return LostRace(step.name)
    return refused


def play(connection: sqlite3.Connection, program: Program[T], tenant: str) -> T | Lost:
    """Every statement of a program on a connection that is in a transaction; the caller commits or rolls back."""
    try:
        found: Rows = ()
        step = next(program)
        while True:
            found = execute(connection, step, tenant)
            step = program.send(found)
    except StopIteration as done:
        return cast(T, done.value)
    except (LostRace, Refuse) as lost:
        return Lost(lost.step)
    finally:
        program.close()


TROUBLE = (sqlite3.OperationalError, sqlite3.DatabaseError, UnicodeDecodeError)
"""What SQLite raises of a file or a disk that fails: of damaged text, Python's own error."""


def translated(error: Exception) -> Exception:
    """What a door can show of what SQLite refused; a fault of the programs stays what it is."""
    text = str(error)
    if isinstance(error, UnicodeDecodeError):
        return Damaged("the database is damaged (its text cannot be read); restore the last good backup")
    if "readonly" in text or "read-only" in text:
        return ReadOnly(f"the database cannot be written ({text})")
    if "locked" in text or "busy" in text:
        return Busy("the database is held by another program; try again")
    if "malformed" in text or "not a database" in text:
        return Damaged(f"the database is damaged ({text}); restore the last good backup")
    if "disk" in text or "full" in text:
        return Busy(f"the disk refused the write ({text}); try again when there is room, the answer will be true")
    if type(error) in (sqlite3.OperationalError, sqlite3.DatabaseError):  # each statement was tried on a sound schema
        return Damaged(f"the database does not answer as its schema should ({text}); restore the last good backup")
    return error
