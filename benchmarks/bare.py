"""What SQLite alone would take: the very statements of a lease, and a plain commit that writes as many pages."""

import random
import sqlite3
import time
from pathlib import Path

from engine.program import Program, Rows, Scalar, T
from engine.store.session import BUSY_MS
from engine.store.statements import statements

PAGE, FRAME = 4_096, 4_096 + 24
PAGES, BODY = 4_000, 3_000  # so that a row fills a page
Transaction = list[tuple[str, dict[str, Scalar]]]


def recording(program: Program[T], tenant: str, into: Transaction) -> Program[T]:
    """The same program; the statements it runs, as text and bindings, are kept beside it."""
    found: Rows = ()
    try:
        step = next(program)
        while True:
            into.append((statements()[step.name], {"tenant_id": tenant, **step.binds}))
            found = yield step
            step = program.send(found)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


def connected(path: Path) -> sqlite3.Connection:
    """A plain connection with the pragmas of the store that cost anything."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_MS / 1000, cached_statements=256)
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 0", "foreign_keys = ON",
                   "recursive_triggers = ON", "secure_delete = ON", "temp_store = MEMORY"):  # fmt: skip
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def replayed_us(connection: sqlite3.Connection, transaction: Transaction) -> float:
    """The microseconds of a recorded transaction, run again on a copy of the database it was recorded on."""
    since = time.perf_counter_ns()
    connection.execute("BEGIN IMMEDIATE")
    for statement, binds in transaction:
        connection.execute(statement, binds).fetchall()
    connection.execute("COMMIT")
    return (time.perf_counter_ns() - since) / 1000


class Pages:
    """A table of one row a page, to commit any number of pages by one plain update."""

    def __init__(self, path: Path) -> None:
        self._connection = connected(path)
        self._turn = 0
        self._connection.execute("CREATE TABLE pages (id INTEGER PRIMARY KEY, body BLOB)")
        self._connection.execute("BEGIN")
        self._connection.executemany("INSERT INTO pages VALUES (?, ?)", [(n, bytes(BODY)) for n in range(PAGES)])
        self._connection.execute("COMMIT")
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def committed_us(self, pages: int) -> float:
        """The microseconds of one commit of so many pages. New bytes each time: SQLite passes over equal ones."""
        self._turn += 1
        first, body = self._turn * pages % (PAGES - pages), random.randbytes(BODY)
        since = time.perf_counter_ns()
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("UPDATE pages SET body = ? WHERE id >= ? AND id < ?", (body, first, first + pages))
        self._connection.execute("COMMIT")
        return (time.perf_counter_ns() - since) / 1000

    def close(self) -> None:
        self._connection.close()


def frames(wal: Path) -> int:
    """Pages in a write-ahead log, by its size: the file is not opened."""
    return max(0, wal.stat().st_size - 32) // FRAME if wal.exists() else 0
