"""The embedded store: programs and reads on one SQLite file, one connection a thread, writers in a line."""

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, cast

from engine.ports import Busy, Damaged, Invalid, ReadOnly
from engine.program import Lost, Program, Rows, Scalar, T
from engine.store.lock import WriterLock
from engine.store.reads import Reads
from engine.store.session import TROUBLE, connect, play, rows, translated
from engine.store.statements import VERSION, schema, table

APPLICATION_ID = 0x43414C42  # "CALB"
WITHOUT_OPERATORS = 1  # the schema before there were operators


def create(path: Path, *, training: bool) -> None:
    """Make a new, empty database: complete or not there at all. Raises FileExistsError, OSError."""
    if path.exists():
        raise FileExistsError(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    connection = sqlite3.connect(part, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.executescript(f"BEGIN;\n{schema('training' if training else 'live', 'sqlite')}\nCOMMIT;")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute(
            "INSERT INTO store_info (key, value) VALUES ('kind', ?)", ["training" if training else "live"]
        )
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()
    publish(part, path)


def publish(part: Path, path: Path) -> None:
    """Give a whole database that nobody has open its name. Raises FileExistsError."""
    os.chmod(part, 0o600)
    os.link(part, path)  # refuses a file that came meanwhile, where rename would replace it
    part.unlink()
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class SqliteStore(Reads):
    """Programs run under the writer lock in BEGIN IMMEDIATE; reads run on the calling thread's own connection."""

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        self.path = path
        self.readonly = readonly
        self._threads = threading.local()
        self._connections: list[sqlite3.Connection] = []
        self._lock = WriterLock(path)
        self.training = self._checked()

    # --- opening ---------------------------------------------------------------------------------------------------

    def _checked(self) -> bool:
        if not self.path.is_file():
            raise Damaged(f"{self.path}: no such database; `run.py init {self.path}` creates one")
        try:
            connection = self._connection()
            [app] = connection.execute("PRAGMA application_id").fetchall()
            [version] = connection.execute("PRAGMA user_version").fetchall()
            if app["application_id"] != APPLICATION_ID:
                raise Damaged(f"{self.path} is not a Callboard database; nothing was changed")
            if version["user_version"] > VERSION:
                raise Damaged(
                    f"{self.path} is of schema {version['user_version']}; this program knows {VERSION}: "
                    "use the newer program. Nothing was changed"
                )
            if version["user_version"] == WITHOUT_OPERATORS:
                self._add_operators(connection)
            elif version["user_version"] < VERSION:
                raise Damaged(f"{self.path} is of schema {version['user_version']}, older than any that can be opened")
            [kind] = connection.execute("SELECT value FROM store_info WHERE key = 'kind'").fetchall()
        except TROUBLE as error:
            if "readonly" in str(error) or "unable to open" in str(error):
                raise ReadOnly(f"{self.path}: its folder cannot be written, which SQLite needs even to read") from error
            raise Damaged(
                f"{self.path} cannot be read as a database ({error}); restore the last good backup"
            ) from error
        return kind["value"] == "training"

    def _add_operators(self, connection: sqlite3.Connection) -> None:
        """From schema 1 to 2: one table more. Raises ReadOnly."""
        if self.readonly:
            raise ReadOnly(
                f"{self.path} is of schema 1; open it once with leave to write, and it is brought to {VERSION}"
            )
        with self._lock.held():
            connection.execute("BEGIN IMMEDIATE")
            [now] = connection.execute("PRAGMA user_version").fetchall()
            if now["user_version"] == WITHOUT_OPERATORS:  # another process may have been faster
                connection.execute(table("operators"))
                connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")

    def _connection(self) -> sqlite3.Connection:
        connection = cast(sqlite3.Connection | None, getattr(self._threads, "connection", None))
        if connection is None:
            connection = connect(str(self.path), readonly=self.readonly)
            self._threads.connection = connection
            self._connections.append(connection)
        return connection

    def _reconnect(self) -> sqlite3.Connection:
        """A new connection in place of this thread's. It is there before the old one goes: the last to go takes the
        log's index with it, and a full disk could not make that again."""
        broken = self._connection()
        _roll_back(broken)
        self._threads.connection = connect(str(self.path), readonly=self.readonly)
        self._connections.append(self._threads.connection)
        self._connections.remove(broken)
        broken.close()
        return self._threads.connection

    def close(self) -> None:
        """Close every thread's connection; nobody may be using the store any more."""
        while self._connections:
            self._connections.pop().close()
        self._threads = threading.local()
        self._lock.close()

    # --- writing ---------------------------------------------------------------------------------------------------

    def run(self, tenant: str, program: Program[T]) -> T | Lost:
        """One program, one transaction. Raises Busy, ReadOnly, Damaged; a lost race is an answer."""
        if self.readonly:
            raise ReadOnly(f"{self.path} is open read-only: nothing can be changed")
        watched = _Watched(program)
        with self._lock.held():
            try:
                connection = self._connection()
                connection.execute("BEGIN IMMEDIATE")
            except TROUBLE as error:
                raise translated(error) from error
            return self._transact(connection, watched, tenant)

    def _transact(self, connection: sqlite3.Connection, watched: "_Watched[T]", tenant: str) -> T | Lost:
        try:
            answer = play(connection, watched.steps(), tenant)
        except sqlite3.IntegrityError as error:
            _roll_back(connection)
            raise _contradicted(error) from error
        except TROUBLE as error:
            _roll_back(connection)
            raise translated(error) from error
        except BaseException:
            _roll_back(connection)
            raise
        if isinstance(answer, Lost):
            _roll_back(connection)
            return answer
        try:
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            self._look_up(watched.hash, tenant, error)
        except sqlite3.IntegrityError as error:
            _roll_back(connection)
            raise _contradicted(error) from error
        except BaseException:  # a deferred key is refused here, and SQLite leaves the transaction open
            _roll_back(connection)
            raise
        return answer

    def _look_up(self, audit_hash: str | None, tenant: str, error: sqlite3.OperationalError) -> None:
        """A failed COMMIT may have committed: reopen and look for the audit row. Returns if it is there."""
        try:
            connection = self._reconnect()
            if audit_hash is not None and rows(connection, "find_audit", {"tenant_id": tenant, "hash": audit_hash}):
                return
        except sqlite3.OperationalError:
            pass  # the disk still fails: the next act opens anew
        raise Busy(
            f"the disk refused the write ({error}), and may keep it or not: do the same again, the answer will be true"
        ) from error

    def checkpoint(self) -> None:
        """Move the WAL into the file under the writer lock (a passive checkpoint may corrupt before SQLite 3.51.3)."""
        with self._lock.held(), _shown():
            self._connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # --- reading ---------------------------------------------------------------------------------------------------

    def rows(self, tenant: str, name: str, **binds: Scalar) -> Rows:
        """One named read on this thread's connection."""
        with _shown():
            return rows(self._connection(), name, {"tenant_id": tenant, **binds})

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """Several reads that see one state."""
        connection = self._connection()
        if connection.in_transaction:
            yield
            return
        with _shown():
            connection.execute("BEGIN")
        try:
            yield
        finally:
            with _shown():
                if connection.in_transaction:
                    connection.execute("COMMIT")

    def backup(self, to: Path) -> None:
        """A whole copy by SQLite's own backup, checked, then put in place. Raises FileExistsError, Invalid, Damaged."""
        if to.exists():
            raise FileExistsError(to)
        if not to.parent.is_dir():
            raise Invalid(f"{to}: there is no folder {to.parent}; make it first, or name another")
        part = to.with_name(f".{to.name}.part")
        part.unlink(missing_ok=True)
        copy = sqlite3.connect(part, isolation_level=None)
        try:
            with _shown():
                self._connection().backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
                verdict = copy.execute("PRAGMA integrity_check").fetchall()
        finally:
            copy.close()
        if verdict != [("ok",)]:
            part.unlink()
            raise Damaged(f"the copy of {self.path} is damaged ({verdict[0][0]}); nothing was kept")
        os.chmod(part, 0o600)
        os.rename(part, to)
        _sync_folder(to.parent)

    def versions(self) -> tuple[str, int]:
        """SQLite's own version, and the schema's."""
        with _shown():
            [row] = self._connection().execute("PRAGMA user_version").fetchall()
        return sqlite3.sqlite_version, int(row["user_version"])

    def integrity(self) -> tuple[str, ...]:
        """What SQLite finds wrong with the file; empty when sound."""
        with _shown():
            connection = self._connection()
            said = connection.execute("PRAGMA integrity_check").fetchall()
            apart = connection.execute("PRAGMA foreign_key_check").fetchall()
        found, orphans = (
            [str(next(iter(row.values()))) for row in said],
            [f"orphan row in {row['table']}" for row in apart],
        )
        return tuple([line for line in found if line != "ok"] + orphans)


class _Watched(Generic[T]):
    """A program that remembers the hash of its audit row, by which its commit can be recognised."""

    def __init__(self, program: Program[T]) -> None:
        self._program = program
        self.hash: str | None = None

    def steps(self) -> Program[T]:
        program = self._program
        try:
            step = next(program)
            while True:
                if step.name == "write_audit":
                    self.hash = cast(str, step.binds["hash"])
                found = yield step
                step = program.send(found)
        except StopIteration as done:
            return cast(T, done.value)
        finally:
            program.close()


@contextmanager
def _shown() -> Generator[None]:
    """What SQLite refuses within, as a door can show it."""
    try:
        yield
    except TROUBLE as error:
        raise translated(error) from error


def _contradicted(error: sqlite3.IntegrityError) -> Damaged:
    """No program of ours breaks these rules on rows that agree, so the rows do not, or a program has a fault."""
    return Damaged(
        f"the schema refused the act ({error}) and nothing was written: rows contradict each other; "
        "see `run.py doctor` and `run.py audit verify`"
    )


def _roll_back(connection: sqlite3.Connection) -> None:
    """SQLite may have rolled back by itself (disk full, I/O error)."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")
