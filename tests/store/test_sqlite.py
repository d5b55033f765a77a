"""The embedded store: whole transactions, threads and processes in a line, and the truth about a COMMIT that failed."""

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.ports import Busy, Damaged, ReadOnly
from engine.program import Lost, Program, must
from engine.rules.nouns import JobState
from engine.store import lock, sqlite
from engine.store.session import connect
from engine.store.sqlite import SqliteStore
from tests.leases import stage
from tests.leases.invariants import broken
from tests.leases.stage import run

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "site.db"
    stage.site(path, "offered").close()
    return path


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(path)
    yield store
    store.close()


# --- files -----------------------------------------------------------------------------------------------------------


def test_create_refuses_a_file_that_is_there_and_leaves_it(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        sqlite.create(path, training=True)
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_database_is_the_owners_alone(path: Path, store: SqliteStore) -> None:
    stage.at(store, stage.NOON_MS)
    sqlite.create(path.with_name("new.db"), training=False)
    assert path.with_name("new.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("content", "said"), [(None, "no such database"), (b"", "not a Callboard"), (b"hello" * 999, "cannot be read")]
)
def test_what_is_no_database_is_not_opened_and_not_made(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "x.db"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(Damaged, match=said):
        SqliteStore(path)
    assert path.exists() is (content is not None)
    assert content is None or path.read_bytes() == content


@pytest.mark.parametrize(
    ("pragma", "said"), [("user_version = 99", "newer"), ("application_id = 7", "not a Callboard")]
)
def test_a_foreign_or_newer_database_is_left_alone(path: Path, pragma: str, said: str) -> None:
    connection = connect(str(path))
    connection.execute(f"PRAGMA {pragma}")
    connection.close()
    with pytest.raises(Damaged, match=said):
        SqliteStore(path)


def test_a_truncated_database_is_damaged_and_not_mended(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(Damaged):
        _accept(path)
    assert path.stat().st_size == 20_000


def _accept(path: Path) -> None:
    SqliteStore(path).run("main", stage.accept("o1", "w1"))


def test_read_only_reads_and_refuses_to_write(path: Path) -> None:
    store = SqliteStore(path, readonly=True)
    assert len(store.jobs("main")) == 3
    with pytest.raises(ReadOnly):
        store.run("main", stage.accept("o1", "w1"))
    store.close()


def test_a_backup_under_load_is_whole(store: SqliteStore, tmp_path: Path) -> None:
    stop = threading.Event()

    def load() -> None:
        while not stop.is_set():
            run(store, stage.set_clock(stage.NOON_MS))

    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(load)
        store.backup(tmp_path / "copy.db")
        stop.set()
        busy.result()
    assert broken(tmp_path / "copy.db") == []
    assert not list(tmp_path.glob("*.part"))
    with pytest.raises(FileExistsError):
        store.backup(tmp_path / "copy.db")


# --- transactions ----------------------------------------------------------------------------------------------------


def test_an_exception_inside_a_program_rolls_back_and_the_store_goes_on(store: SqliteStore) -> None:
    def program() -> Program[None]:
        yield must("accept_offer", offer_id="o1", worker_id="w1")
        raise ZeroDivisionError

    before = stage.dump(store.path)
    with pytest.raises(ZeroDivisionError):
        store.run("main", program())
    assert stage.dump(store.path) == before
    run(store, stage.accept("o1", "w1"))


def test_a_refusal_at_commit_rolls_back_and_the_store_goes_on(store: SqliteStore) -> None:
    """A fault that only the deferred keys see (here: ACCEPTED without a booking) must not leave a transaction open."""

    def program() -> Program[None]:
        yield must("accept_offer", offer_id="o1", worker_id="w1")
        yield must("take_job", job_id="j1", offer_id="o1", worker_id="w1")

    before = stage.dump(store.path)
    with pytest.raises(Damaged, match="nothing was written"):
        store.run("main", program())
    assert stage.dump(store.path) == before
    run(store, stage.accept("o1", "w1"))


class Broken:
    """A connection whose next COMMIT fails, before or after it was done; everything else is the real one's."""

    def __init__(self, real: sqlite3.Connection, when: str, left: list[int]) -> None:
        self.real, self.when, self.left = real, when, left

    def execute(self, sql: str, binds: object = ()) -> sqlite3.Cursor:
        if sql == "COMMIT" and self.left[0]:
            self.left[0] -= 1
            if self.when == "after":
                self.real.execute("COMMIT")
            raise sqlite3.OperationalError("disk I/O error")
        return self.real.execute(sql, binds)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> object:
        return getattr(self.real, name)


@pytest.fixture
def breaking(path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], SqliteStore]:
    def opened(when: str) -> SqliteStore:
        left = [0]
        monkeypatch.setattr(sqlite, "connect", lambda at, **how: Broken(connect(at, **how), when, left))
        store = SqliteStore(path)
        left[0] = 1
        return store

    return opened


def test_a_commit_that_failed_but_was_done_is_answered_as_done(breaking: Callable[[str], SqliteStore]) -> None:
    store = breaking("after")
    held = run(store, stage.accept("o1", "w1"))
    assert held.job_id == "j1"
    assert store.job("main", "j1").state is JobState.ACCEPTED  # type: ignore[union-attr]
    assert broken(store.path) == []


def test_a_commit_that_failed_and_was_not_done_is_no_answer_and_can_be_tried_again(
    breaking: Callable[[str], SqliteStore],
) -> None:
    store = breaking("before")
    before = stage.dump(store.path)
    with pytest.raises(Busy, match="do the same again"):
        store.run("main", stage.accept("o1", "w1"))
    assert stage.dump(store.path) == before
    run(store, stage.accept("o1", "w1"))
    assert broken(store.path) == []


def test_a_commit_without_an_audit_row_that_failed_is_not_called_done(breaking: Callable[[str], SqliteStore]) -> None:
    """What leaves no trace cannot be looked up: such programs can be run again without harm."""
    store = breaking("after")
    with pytest.raises(Busy):
        store.run("main", stage.set_clock(stage.NOON_MS + 1))
    run(store, stage.set_clock(stage.NOON_MS + 1))


# --- writers in a line -----------------------------------------------------------------------------------------------


def test_eight_threads_write_in_a_line_and_none_is_told_locked(store: SqliteStore) -> None:
    def number(_: int) -> int:
        return run(store, _numbered())

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(number, range(200)))
    assert sorted(told) == list(range(1, 201))


def _numbered() -> Program[int]:
    [row] = yield must("take_number", kind="test")
    return int(row["last"] or 0)


NUMBERS = """
import sys
from pathlib import Path
from tests.store.test_sqlite import _numbered
from engine.store.sqlite import SqliteStore
store = SqliteStore(Path(sys.argv[1]))
for _ in range(100):
    print(store.run("main", _numbered()))
"""


def test_three_processes_write_in_a_line(path: Path) -> None:
    programs = [
        subprocess.Popen([sys.executable, "-c", NUMBERS, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    told = [int(line) for each in programs for line in each.communicate()[0].split()]
    assert [each.returncode for each in programs] == [0, 0, 0]
    assert sorted(told) == list(range(1, 301))


def test_a_held_database_is_busy_and_not_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "WAIT_S", 0.1)
    one, two = SqliteStore(path), SqliteStore(path)

    def slow() -> Program[None]:
        yield must("read_clock")
        with pytest.raises(Busy, match="another program"):
            two.run("main", stage.accept("o1", "w1"))

    run(one, slow())
    run(two, stage.accept("o1", "w1"))


def test_readers_are_never_held_up_by_a_writer(path: Path) -> None:
    one, two = SqliteStore(path), SqliteStore(path)
    seen: list[object] = []

    def slow() -> Program[None]:
        yield must("accept_offer", offer_id="o1", worker_id="w1")
        seen.append(two.offer("main", "o1").offer.state)  # type: ignore[union-attr]

    assert not isinstance(one.run("main", slow()), Lost)
    assert seen == ["OFFERED"]


def test_nobody_but_sqlite_has_the_file_open(store: SqliteStore) -> None:
    """Closing any other handle on it would drop SQLite's locks: one descriptor a connection, and no more."""
    run(store, stage.accept("o1", "w1"))
    store.checkpoint()
    files = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if _still_there(fd)]
    assert files.count(str(store.path)) == 1


def _still_there(fd: str) -> bool:
    return os.path.islink(f"/proc/self/fd/{fd}")
