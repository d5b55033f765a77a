"""The audit: the database refuses to change it, and whoever changes the file behind its back is found."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine import leases, records
from engine.rules.chain import FIELDS, link
from engine.rules.nouns import Interval
from engine.store.session import connect
from engine.store.sqlite import SqliteStore
from tests.leases import stage
from tests.leases.stage import ANA, WHY, run


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """A site with an offer, an acceptance and a release in its audit."""
    store = stage.site(tmp_path / "site.db", "accepted")
    run(store, leases.release(ANA, "j1", "o1", WHY))
    yield store
    store.close()


def attack(store: SqliteStore, *statements: str) -> None:
    """What somebody with the file and a tool can do: no triggers, no foreign keys."""
    with closing(sqlite3.connect(store.path)) as db:
        db.execute("DROP TRIGGER no_audit_edit")
        db.execute("DROP TRIGGER no_audit_delete")
        for sql in statements:
            db.execute(sql)
        db.commit()


def test_a_whole_chain_is_whole(store: SqliteStore) -> None:
    verdict = store.verify_audit("main")
    assert verdict.first_bad is None
    assert verdict.rows == len(store.audit("main")) > 8


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE audit SET words = 'nothing' WHERE seq = 3",
        "DELETE FROM audit WHERE seq = 3",
        "INSERT OR REPLACE INTO audit SELECT * FROM audit WHERE seq = 3",
        "REPLACE INTO audit SELECT * FROM audit WHERE seq = 3",
        "UPDATE OR REPLACE audit SET seq = 4 WHERE seq = 3",
    ],
)
def test_the_database_refuses_to_change_its_audit(store: SqliteStore, sql: str) -> None:
    with closing(connect(str(store.path))) as db, pytest.raises(sqlite3.IntegrityError, match="no_audit_"):
        db.execute(sql)
    assert store.verify_audit("main").first_bad is None


@pytest.mark.parametrize(
    "column",
    [
        "at_ms",
        "actor",
        "role",
        "act",
        "job_id",
        "worker_id",
        "offer_id",
        "reason",
        "words",
        "detail",
        "prev_hash",
        "hash",
    ],
)
def test_an_edited_row_is_named(store: SqliteStore, column: str) -> None:
    attack(store, f"UPDATE audit SET {column} = '7' WHERE seq = 5")
    assert store.verify_audit("main").first_bad == 5


def test_a_deleted_row_is_named(store: SqliteStore) -> None:
    attack(store, "DELETE FROM audit WHERE seq = 5")
    assert store.verify_audit("main").first_bad == 5


def test_a_deleted_row_with_the_gap_closed_is_named(store: SqliteStore) -> None:
    attack(store, "DELETE FROM audit WHERE seq = 5", "UPDATE audit SET seq = seq - 1 WHERE seq = 6")  # fmt: skip
    assert store.verify_audit("main").first_bad == 5


def test_two_rows_that_changed_places_are_named(store: SqliteStore) -> None:
    attack(store, "UPDATE audit SET seq = 1005 WHERE seq = 5", "UPDATE audit SET seq = 5 WHERE seq = 6",
           "UPDATE audit SET seq = 6 WHERE seq = 1005")  # fmt: skip
    assert store.verify_audit("main").first_bad == 5


@pytest.mark.parametrize("cut", [1, 3])
def test_a_cut_tail_is_found(store: SqliteStore, cut: int) -> None:
    rows = store.verify_audit("main").rows
    attack(store, f"DELETE FROM audit WHERE seq > {rows - cut}")
    assert store.verify_audit("main").first_bad == rows - cut + 1


def cut_with_its_head(store: SqliteStore, kept: int) -> None:
    attack(
        store,
        f"DELETE FROM audit WHERE seq > {kept}",
        f"UPDATE audit_heads SET seq = {kept}, hash = (SELECT hash FROM audit WHERE seq = {kept})",
    )


@pytest.mark.parametrize("act", ["create job", "offer", "accept"])
def test_a_tail_cut_with_its_head_is_found_by_what_was_done_without_a_row(store: SqliteStore, act: str) -> None:
    first = next(each.seq for each in store.audit("main") if each.act == act)
    cut_with_its_head(store, first - 1)
    verdict = store.verify_audit("main")
    assert verdict.first_bad == first
    assert "has no row" in verdict.missing


@pytest.mark.parametrize("act", ["create worker", "absence", "archive worker"])
def test_a_roster_row_cut_with_the_head_is_found_too(store: SqliteStore, act: str) -> None:
    span = Interval(starts_ms=stage.NOON_MS, ends_ms=stage.NOON_MS + stage.MIN_MS)
    run(store, {
        "create worker": lambda: stage.enrolled("new"),
        "absence": lambda: records.set_absence(ANA, "w2", span, ""),
        "archive worker": lambda: records.archive_worker(ANA, "w2"),
    }[act]())  # fmt: skip
    assert store.verify_audit("main").first_bad is None
    rows = store.verify_audit("main").rows
    cut_with_its_head(store, rows - 1)
    assert store.verify_audit("main").first_bad == rows


def test_a_tail_of_acts_that_leave_no_other_trace_is_found_by_a_head_known_from_elsewhere(store: SqliteStore) -> None:
    run(store, records.sat_down(ANA, "sign in"))
    head = store.verify_audit("main").head
    assert store.audit_row("main", head) == store.verify_audit("main").rows
    cut_with_its_head(store, store.verify_audit("main").rows - 1)
    assert store.verify_audit("main").first_bad is None
    assert store.audit_row("main", head) is None


def test_the_whole_audit_gone_is_found(store: SqliteStore) -> None:
    attack(store, "DELETE FROM audit")
    assert store.verify_audit("main").first_bad == 1


def test_a_row_put_in_at_the_end_is_found(store: SqliteStore) -> None:
    """Even one whose hash is right: the head does not know it."""
    last = store.newest_audit("main", limit=1)[0]
    row: dict[str, object] = dict.fromkeys(FIELDS)
    row |= {
        "seq": last.seq + 1,
        "at_ms": 1,
        "actor": "eve",
        "role": "x",
        "act": "x",
        "reason": "",
        "words": "",
        "detail": "{}",
    }
    digest = link("main", row, last.hash)
    columns = "tenant_id, seq, at_ms, actor, role, act, prev_hash, hash"
    values = f"'main', {last.seq + 1}, 1, 'eve', 'x', 'x', '{last.hash}', '{digest}'"
    attack(store, f"INSERT INTO audit ({columns}) VALUES ({values})")
    assert store.verify_audit("main").first_bad == last.seq + 1


def test_each_tenant_has_its_own_chain(store: SqliteStore) -> None:
    stage.found(store, "other")
    attack(store, "UPDATE audit SET words = 'x' WHERE tenant_id = 'other' AND seq = 2")
    assert store.verify_audit("main").first_bad is None
    assert store.verify_audit("other").first_bad == 2


def test_a_row_of_another_tenant_does_not_pass_as_ones_own(store: SqliteStore) -> None:
    """The hash covers the tenant."""
    row = store.audit("main")[0]
    fields = {name: getattr(row, name) for name in type(row).__slots__}
    assert link("main", fields, row.prev_hash) == row.hash != link("other", fields, row.prev_hash)


def test_an_act_and_its_audit_row_are_one(store: SqliteStore) -> None:
    """A lost act leaves no row, and a chain that cannot be continued lets no act through."""
    attack(store, "UPDATE audit_heads SET seq = seq - 1")
    assert stage.lost(store, stage.offer("o2", "j1", "w2")) == "write_audit"
