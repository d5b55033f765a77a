"""Positions on disk, in a file of their own beside the site's: the latest of each worker, and a trace by day.

The site's file holds no positions. A day's table is dropped whole, and after the checkpoint nothing of it is left in
the file or its log. Written by one process under a lock file; others may read the latest fixes at the same time.
"""

import fcntl
import os
import sqlite3
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self, cast
from urllib.parse import quote

from engine.rules.freshness import DAY_MS, LatestFix
from engine.store.session import translated

APPLICATION_ID = 0x43424658  # "CBFX"
VERSION = 1
_BUSY_MS = 5_000
_LOG_BYTES = 16 * 1024 * 1024  # a longer log is moved into the file by the next write
_STEPPED_MS = 300_000  # a stored receive time so far ahead of the batch comes from a clock that was wrong
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_COLUMNS = """
    tenant TEXT NOT NULL,
    worker TEXT NOT NULL,
    device_ms INTEGER NOT NULL,
    received_ms INTEGER NOT NULL,
    lat REAL NOT NULL CHECK (lat BETWEEN -90 AND 90),
    lng REAL NOT NULL CHECK (lng BETWEEN -180 AND 180),
    accuracy_m REAL,
    seq INTEGER,
"""
_LATEST = f"CREATE TABLE latest_fixes ({_COLUMNS} PRIMARY KEY (tenant, worker)) WITHOUT ROWID, STRICT"
_UPSERT = """
INSERT INTO latest_fixes (tenant, worker, device_ms, received_ms, lat, lng, accuracy_m, seq)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (tenant, worker) DO UPDATE SET
    device_ms = excluded.device_ms, received_ms = excluded.received_ms, lat = excluded.lat, lng = excluded.lng,
    accuracy_m = excluded.accuracy_m, seq = excluded.seq
WHERE excluded.received_ms > latest_fixes.received_ms OR latest_fixes.received_ms > ?
"""
_READ = "SELECT worker, device_ms, received_ms, lat, lng, accuracy_m, seq FROM "

Row = tuple[str, int, int, float, float, float | None, int | None]


class NotAnArchive(ValueError):
    """The file is missing, damaged, not a fix archive, or of a newer version; the text says which."""


class FixArchive:
    """One connection, guarded by a lock. Use ``create`` once, ``FixArchive(path)`` afterwards, and ``close``."""

    def __init__(self, path: Path) -> None:
        """Open an existing archive. Raises NotAnArchive; never makes a file."""
        if not path.is_file():
            raise NotAnArchive(f"{path.name}: there is no such file")
        self._path, self._guard, self._version = path, Lock(), -1
        self.anew = False
        self._db = _connect(path, "rw")
        try:
            _check(self._db, path.name)
            _tune(self._db)
        except BaseException:
            self._db.close()
            raise

    @classmethod
    def create(cls, path: Path) -> Self:
        """A new, empty archive. Raises FileExistsError."""
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(_connect(part, "rw")) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN IMMEDIATE")
            db.execute(_LATEST)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {VERSION}")
            db.execute("COMMIT")
        try:
            os.link(part, path)  # whole, or not there: a death on the way leaves no half archive
        finally:
            part.unlink()
        _sync(path.parent)
        made = cls(path)
        made.anew = True
        return made

    def write_behind(self, tenant: str, latest: Sequence[LatestFix], archive: Sequence[LatestFix]) -> None:
        """One transaction: each worker's latest position, if newer than the one on disk, and the sampled points."""
        if not latest and not archive:
            return
        stepped_ms = max((fix.received_ms for fix in latest), default=0) + _STEPPED_MS
        days: dict[str, list[LatestFix]] = {}
        for fix in archive:
            days.setdefault(_table(fix.device_ms), []).append(fix)
        with self._writing() as db:
            db.executemany(_UPSERT, [(*_values(tenant, fix), stepped_ms) for fix in latest])
            for table, fixes in days.items():
                key = "PRIMARY KEY (tenant, worker, device_ms)"
                db.execute(f"CREATE TABLE IF NOT EXISTS {table} ({_COLUMNS} {key}) WITHOUT ROWID, STRICT")
                rows = [_values(tenant, fix) for fix in fixes]
                db.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", rows)
        if _size(self._path.with_name(self._path.name + "-wal")) > _LOG_BYTES:
            self.checkpoint(wait_ms=0)

    def latest(self, tenant: str) -> list[LatestFix]:
        """Each worker's last position, however old."""
        with self._guard:
            return [_fix(row) for row in self._db.execute(f"{_READ} latest_fixes WHERE tenant = ?", (tenant,))]

    def changed_elsewhere(self) -> bool:
        """Whether another process has written since the last time this was asked (true the first time)."""
        with self._guard:
            (version,) = cast(tuple[int], self._db.execute("PRAGMA data_version").fetchone())
        changed, self._version = version != self._version, version
        return changed

    def trace(self, tenant: str, worker_id: str, from_ms: int, to_ms: int, limit: int) -> tuple[LatestFix, ...]:
        """A worker's archived points in ``[from_ms, to_ms)``, in the order of device time, at most ``limit``.

        Points belong to the worker they were bound to when they came: a phone that changes hands takes none along.
        """
        found: list[LatestFix] = []
        with self._guard:
            for table in _tables(self._db):
                if not _table(from_ms) <= table <= _table(to_ms) or len(found) >= limit:
                    continue
                rows = self._db.execute(
                    f"{_READ} {table} WHERE tenant = ? AND worker = ? AND device_ms >= ? AND device_ms < ?"
                    " ORDER BY device_ms LIMIT ?",
                    (tenant, worker_id, from_ms, to_ms, limit - len(found)),
                )
                found += [_fix(row) for row in rows]
        return tuple(found)

    def drop_before(self, day_ms: int) -> int:
        """Drop the days before the (UTC) day of ``day_ms``, and latest positions as old. Returns the tables dropped.

        Call ``checkpoint`` until it says True where a reader stood in the way: only then nothing is left on disk.
        """
        with self._writing() as db:
            old = [table for table in _tables(db) if table < _table(day_ms)]
            for table in old:
                db.execute(f"DROP TABLE {table}")
            db.execute("DELETE FROM latest_fixes WHERE device_ms < ?", (day_ms // DAY_MS * DAY_MS,))
        self.checkpoint()
        return len(old)

    def forget(self, tenant: str, worker_id: str) -> int:
        """Delete everything of one worker. Returns the rows deleted."""
        with self._writing() as db:
            gone = 0
            for table in ("latest_fixes", *_tables(db)):
                gone += db.execute(f"DELETE FROM {table} WHERE tenant = ? AND worker = ?", (tenant, worker_id)).rowcount
        self.checkpoint()
        return gone

    def checkpoint(self, *, wait_ms: int = 1_000) -> bool:
        """Move the log into the file and empty it. False: a reader stood in the way all the time; ask again."""
        with self._guard, _lock_file(self._path):
            self._db.execute(f"PRAGMA busy_timeout = {wait_ms}")
            try:
                busy: tuple[int, int, int] = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                self._db.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
            return busy[0] == 0

    def backup(self, to_path: Path) -> None:
        """A copy while others write. Raises FileExistsError. A backup keeps positions until it is deleted."""
        if to_path.exists():
            raise FileExistsError(to_path.name)
        part = to_path.with_name(to_path.name + ".part")
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with self._guard, closing(_connect(part, "rw")) as copy:
            self._db.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it
        os.replace(part, to_path)
        _sync(to_path.parent)

    def close(self) -> None:
        with self._guard:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        """Process lock, lock file, BEGIN IMMEDIATE: always in this order."""
        with self._guard, _lock_file(self._path):
            try:
                self._db.execute("BEGIN IMMEDIATE")
                yield self._db
                self._db.execute("COMMIT")
            except sqlite3.OperationalError as error:
                self._roll_back()
                raise translated(error) from error
            except BaseException:
                self._roll_back()
                raise

    def _roll_back(self) -> None:
        if self._db.in_transaction:  # a full disk may have rolled back already
            self._db.execute("ROLLBACK")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    where = f"file:{quote(str(path.absolute()))}?mode={mode}"
    return sqlite3.connect(where, uri=True, isolation_level=None, timeout=_BUSY_MS / 1000, check_same_thread=False)


def _check(db: sqlite3.Connection, name: str) -> None:
    try:
        ours: int = db.execute("PRAGMA application_id").fetchone()[0]
        version: int = db.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.DatabaseError as error:
        raise NotAnArchive(f"{name}: not a database, or damaged ({error})") from error
    if ours != APPLICATION_ID:
        raise NotAnArchive(f"{name}: not an archive of fixes")
    if version != VERSION:
        raise NotAnArchive(f"{name}: version {version}; this program reads version {VERSION}")


def _tune(db: sqlite3.Connection) -> None:
    """A crash may lose the last second of positions, never the file: NORMAL is enough here. No automatic checkpoint:
    SQLite before 3.51.3 can damage a log when one races a writer."""
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA secure_delete = ON")
    db.execute("PRAGMA wal_autocheckpoint = 0")
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA temp_store = MEMORY")


@contextmanager
def _lock_file(path: Path) -> Generator[None]:
    """Between processes: fair where SQLite's own waiting is not, and held over checkpoints."""
    handle = os.open(path.with_name(path.name + ".lock"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _size(path: Path) -> int:
    """By name alone: opening a database's file beside SQLite, and closing it, would drop SQLite's locks."""
    return path.stat().st_size if path.exists() else 0


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _table(at_ms: int) -> str:
    """The table of a UTC day. Made from a date alone, so it is safe inside a statement; sorts as the days do."""
    day = (_EPOCH + timedelta(days=at_ms // DAY_MS)).date()
    return f"fixes_{day:%Y%m%d}"


def _tables(db: sqlite3.Connection) -> list[str]:
    names: Iterable[tuple[str]] = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    return [name for (name,) in names if name.startswith("fixes_") and _is_day(name.removeprefix("fixes_"))]


def _is_day(text: str) -> bool:
    try:
        return len(text) == 8 and text.isdigit() and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _values(tenant: str, fix: LatestFix) -> tuple[str, str, int, int, float, float, float | None, int | None]:
    return (tenant, fix.worker_id, fix.device_ms, fix.received_ms, fix.lat, fix.lng, fix.accuracy_m, fix.seq)


def _fix(row: Row) -> LatestFix:
    worker, device_ms, received_ms, lat, lng, accuracy_m, seq = row
    return LatestFix(
        worker_id=worker,
        device_ms=device_ms,
        received_ms=received_ms,
        lat=lat,
        lng=lng,
        accuracy_m=accuracy_m,
        seq=seq,
    )
