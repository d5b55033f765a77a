"""What must not grow with the number of workers and jobs."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.store import sqlite


@pytest.mark.parametrize("table", ["workers", "jobs"])
def test_a_new_offer_is_not_looked_for_in_every_worker_and_job(tmp_path: Path, table: str) -> None:
    """SQLite checks a deferred key by looking for the rows that point to the new offer: it needs an index to do so."""
    path = tmp_path / "x.db"
    sqlite.create(path, training=True)
    with closing(sqlite3.connect(path)) as db:
        plan = db.execute(
            f"EXPLAIN QUERY PLAN SELECT 1 FROM {table} WHERE tenant_id = 'main' AND live_offer_id = 'O-1'"
        ).fetchall()
    assert [step[3].split(" (")[0] for step in plan] == [
        f"SEARCH {table} USING COVERING INDEX {table.removesuffix('s')}_of_live_offer"
    ]
