"""One connection: its settings, what a step must win, and which refusals are lost races and which are faults."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.program import Lost, Program, Refuse, must, read
from engine.store.session import LostRace, connect, execute, play
from engine.store.statements import statements
from tests.leases import stage


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = tmp_path / "site.db"
    stage.site(path).close()
    with closing(connect(str(path))) as db:
        yield db


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("foreign_keys", 1), ("recursive_triggers", 1), ("secure_delete", 1), ("trusted_schema", 0), ("synchronous", 2),
        ("wal_autocheckpoint", 0), ("mmap_size", 0), ("cell_size_check", 1), ("journal_mode", "wal"),
        ("busy_timeout", 5000),
    ],
)  # fmt: skip
def test_each_connection_has_the_settings_the_guards_rely_on(
    db: sqlite3.Connection, pragma: str, value: int | str
) -> None:
    assert next(iter(db.execute(f"PRAGMA {pragma}").fetchone().values())) == value


def test_connecting_never_creates(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError):
        connect(str(tmp_path / "none.db")).execute("SELECT 1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a?mode=memory.db", "a#b.db", "50%25.db", "ünï cödé.db"])
def test_a_path_is_a_path_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    stage.site(path).close()
    with closing(connect(str(path))) as db:
        assert db.execute("SELECT COUNT(*) AS n FROM jobs").fetchall() == [{"n": 3}]


@pytest.mark.parametrize(("job_id", "won"), [("j1", True), ("j9", False)])
@pytest.mark.parametrize("name", ["claim_job", "read_job"])
def test_a_must_wins_one_row_whether_it_reads_or_writes(
    db: sqlite3.Connection, name: str, job_id: str, won: bool
) -> None:
    db.execute("BEGIN IMMEDIATE")
    step = must(name, job_id=job_id, offer_id="o1", region_id="main")
    if won:
        execute(db, step, "main")
    else:
        with pytest.raises(LostRace, match=name):
            execute(db, step, "main")


def test_a_must_that_wins_two_rows_is_lost(db: sqlite3.Connection) -> None:
    with pytest.raises(LostRace):
        execute(db, must("list_jobs"), "main")
    assert len(execute(db, read("list_jobs"), "main")) == 3


def test_a_returning_statement_leaves_no_lock_behind(db: sqlite3.Connection) -> None:
    """An unfetched RETURNING would hold the write lock past its end."""
    execute(db, must("take_number", kind="job"), "main")
    [path] = {row["file"] for row in db.execute("PRAGMA database_list").fetchall()}
    with closing(connect(path, busy_ms=0)) as other:
        other.execute("BEGIN IMMEDIATE")


def test_a_fault_in_a_program_raises_and_is_no_lost_race(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        execute(db, must("write_attempt", job_id="j9", worker_id="w1", offer_id="o1", kind="offered"), "main")
    with pytest.raises(sqlite3.ProgrammingError):
        execute(db, must("claim_job", job_id="j1"), "main")


def test_a_program_may_refuse_and_is_closed_either_way(db: sqlite3.Connection) -> None:
    closed: list[str] = []

    def program(job_id: str) -> Program[str]:
        try:
            yield must("read_job", job_id=job_id)
            raise Refuse("no_more")
        finally:
            closed.append(job_id)

    assert play(db, program("j1"), "main") == Lost("no_more")
    assert play(db, program("j9"), "main") == Lost("read_job")
    assert closed == ["j1", "j9"]


def test_every_statement_is_bound_to_a_tenant_and_can_be_prepared(db: sqlite3.Connection) -> None:
    for name, sql in statements().items():
        assert ":tenant_id" in sql, name
        assert ";" not in sql, name
        with pytest.raises(sqlite3.ProgrammingError, match=r"binding|You did not supply"):
            db.execute(f"EXPLAIN {sql}", {})
