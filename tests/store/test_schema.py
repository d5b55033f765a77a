"""The database refuses what must not be, whoever asks: these tests go past the programs and write SQL themselves."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.rules.nouns import JobState
from engine.store.session import connect
from tests.leases import stage
from tests.leases.stage import NOON_MS

STATES = [str(each) for each in JobState]
MOVES = {
    ("OPEN", "OFFERED"), ("OPEN", "UNASSIGNED_ALERT"), ("OPEN", "CANCELLED"),
    ("UNASSIGNED_ALERT", "OPEN"), ("UNASSIGNED_ALERT", "OFFERED"), ("UNASSIGNED_ALERT", "CANCELLED"),
    ("OFFERED", "OPEN"), ("OFFERED", "ACCEPTED"), ("OFFERED", "CANCELLED"),
    ("ACCEPTED", "OPEN"), ("ACCEPTED", "IN_PROGRESS"), ("ACCEPTED", "CANCELLED"),
    ("IN_PROGRESS", "DONE"), ("IN_PROGRESS", "CANCELLED"),
}  # fmt: skip
"""SPEC 2, written out a second time on purpose."""

OFFER = """
    INSERT INTO offers (tenant_id, offer_id, job_id, worker_id, state, created_ms, expires_ms, answered_ms, region_id,
        epoch, generation, lane, arrival_ms, travel_ms, starts_ms, ends_ms, eta_s, band_from_ms, band_to_ms, confidence,
        made_by)
    VALUES ('main', ?, ?, ?, ?, 0, 20000, ?, 'main', 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 'high', 'x')"""
BOOKING = """
    INSERT INTO worker_jobs (tenant_id, worker_id, job_id, offer_id, lane, arrival_ms, travel_ms, starts_ms, ends_ms,
        day)
    VALUES ('main', ?, ?, ?, ?, 0, 0, ?, ?, '2026-06-01')"""
HELD = """UPDATE jobs SET was = state, state = 'ACCEPTED', live_offer_id = NULL, held_offer_id = ?, worker_id = ?
          WHERE job_id = ?"""


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a site at rest: j1, j2, j3 open; w1, w2 of capacity 1, wide of 2."""
    path = tmp_path / "site.db"
    stage.site(path).close()
    with closing(connect(str(path))) as db:
        yield db


def refused(db: sqlite3.Connection, sql: str, *binds: object, match: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match=match):
        db.execute(sql, binds)


def offered(db: sqlite3.Connection, offer_id: str, job_id: str, worker_id: str, state: str = "OFFERED") -> None:
    db.execute(OFFER, [offer_id, job_id, worker_id, state, None if state == "OFFERED" else 1])


# --- moves -----------------------------------------------------------------------------------------------------------


def into(db: sqlite3.Connection, state: str) -> None:
    """Bring j1 into a state by the moves there are."""
    if state == "UNASSIGNED_ALERT":
        move(db, "OPEN", state)
    if state in ("OFFERED", "ACCEPTED", "IN_PROGRESS", "DONE"):
        offered(db, "o1", "j1", "w1", "OFFERED" if state == "OFFERED" else "ACCEPTED")
        move(db, "OPEN", "OFFERED")
    if state in ("ACCEPTED", "IN_PROGRESS", "DONE"):
        db.execute(BOOKING, ["w1", "j1", "o1", 0, 0, 1])
        move(db, "OFFERED", "ACCEPTED")
    if state in ("IN_PROGRESS", "DONE"):
        move(db, "ACCEPTED", "IN_PROGRESS")
    if state == "DONE":
        move(db, "IN_PROGRESS", "DONE")
    if state == "CANCELLED":
        move(db, "OPEN", state)


def move(db: sqlite3.Connection, was: str, state: str) -> None:
    """Set was and state, with every other column as the new state wants it, so that the move alone is judged."""
    held = state in ("ACCEPTED", "IN_PROGRESS")
    db.execute(
        """UPDATE jobs SET was = ?, state = ?, live_offer_id = ?, held_offer_id = ?, worker_id = ?, finished_ms = ?
           WHERE job_id = 'j1'""",
        [was, state, "o1" if state == "OFFERED" else None, "o1" if held else None, "w1" if held else None,
         1 if state == "DONE" else None],
    )  # fmt: skip


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("was", STATES)
def test_the_moves_are_those_of_the_spec_and_no_others(db: sqlite3.Connection, was: str, state: str) -> None:
    db.execute("BEGIN")
    into(db, was)
    if (was, state) in MOVES:
        move(db, was, state)
    elif was != state:
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            move(db, was, state)
    else:
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            move(db, was, was)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("lie", STATES)
@pytest.mark.parametrize("truth", ["OPEN", "DONE", "CANCELLED", "IN_PROGRESS"])
def test_a_move_that_lies_about_where_it_came_from_is_refused(
    db: sqlite3.Connection, truth: str, lie: str, state: str
) -> None:
    if lie == truth:
        return
    db.execute("BEGIN")
    into(db, truth)
    stored = db.execute("SELECT was FROM jobs WHERE job_id = 'j1'").fetchone()["was"]
    if (lie, state) == (stored, truth):
        return  # the row as it is: not a move
    with pytest.raises(sqlite3.IntegrityError):
        move(db, lie, state)


def test_an_unknown_state_is_refused(db: sqlite3.Connection) -> None:
    refused(db, "UPDATE jobs SET was = state, state = 'LOST' WHERE job_id = 'j1'", match="FOREIGN KEY")


@pytest.mark.parametrize("state", ["DONE", "CANCELLED", "UNASSIGNED_ALERT"])
def test_a_job_is_born_open(db: sqlite3.Connection, state: str) -> None:
    was = "IN_PROGRESS" if state == "DONE" else "OPEN"
    columns = (
        "tenant_id, type, skills, lat, lng, not_before_ms, due_by_ms, duration_ms, priority, region_id, created_ms"
    )
    refused(
        db,
        f"""INSERT INTO jobs (job_id, was, state, finished_ms, {columns})
            SELECT 'j9', ?, ?, ?, {columns} FROM jobs WHERE job_id = 'j1'""",
        was, state, 1 if state == "DONE" else None, match="no_job_born_moved",
    )  # fmt: skip


def test_a_finished_job_is_not_replaced_by_an_open_one(db: sqlite3.Connection) -> None:
    into(db, "DONE")
    columns = (
        "tenant_id, type, skills, lat, lng, not_before_ms, due_by_ms, duration_ms, priority, region_id, created_ms"
    )
    refused(
        db,
        f"""INSERT OR REPLACE INTO jobs (job_id, {columns}) SELECT job_id, {columns} FROM jobs WHERE job_id = 'j1'""",
        match="no_job_deleted",
    )
    refused(db, "DELETE FROM jobs WHERE job_id = 'j1'", match="no_job_deleted")


# --- holding ---------------------------------------------------------------------------------------------------------


def test_accepted_without_a_booking_does_not_commit(db: sqlite3.Connection) -> None:
    db.execute("BEGIN")
    offered(db, "o1", "j1", "w1")
    move(db, "OPEN", "OFFERED")
    db.execute(HELD, ["o1", "w1", "j1"])
    refused(db, "COMMIT", match="FOREIGN KEY")


def test_accepted_with_another_workers_booking_does_not_commit(db: sqlite3.Connection) -> None:
    db.execute("BEGIN")
    offered(db, "o1", "j1", "w1")
    move(db, "OPEN", "OFFERED")
    db.execute(BOOKING, ["w2", "j1", "o1", 0, 0, 1])
    db.execute(HELD, ["o1", "w1", "j1"])
    refused(db, "COMMIT", match="FOREIGN KEY")


def test_a_held_job_keeps_its_booking(db: sqlite3.Connection) -> None:
    into(db, "ACCEPTED")
    refused(db, "DELETE FROM worker_jobs", match="FOREIGN KEY")


@pytest.mark.parametrize(
    "change",
    ["worker_id = NULL", "held_offer_id = NULL", "worker_id = NULL, held_offer_id = NULL", "live_offer_id = 'o1'"],
)
def test_a_held_job_has_holder_and_assignment_and_no_live_offer(db: sqlite3.Connection, change: str) -> None:
    into(db, "ACCEPTED")
    refused(db, f"UPDATE jobs SET {change} WHERE job_id = 'j1'", match="CHECK")


def test_an_orphan_live_offer_does_not_commit(db: sqlite3.Connection) -> None:
    db.execute("BEGIN")
    db.execute("UPDATE workers SET live_offer_id = 'o9' WHERE worker_id = 'w1'")
    refused(db, "COMMIT", match="FOREIGN KEY")


# --- offers ----------------------------------------------------------------------------------------------------------


def test_a_second_live_offer_on_a_job_is_refused(db: sqlite3.Connection) -> None:
    offered(db, "o1", "j1", "w1")
    refused(db, OFFER, "o2", "j1", "w2", "OFFERED", None, match=r"UNIQUE.*job_id")
    offered(db, "o3", "j1", "w2", "EXPIRED")


def test_a_second_live_offer_on_a_worker_is_refused(db: sqlite3.Connection) -> None:
    offered(db, "o1", "j1", "w1")
    refused(db, OFFER, "o2", "j2", "w1", "OFFERED", None, match=r"UNIQUE.*worker_id")


@pytest.mark.parametrize("end", ["ACCEPTED", "DECLINED", "EXPIRED", "WITHDRAWN"])
@pytest.mark.parametrize("to", ["OFFERED", "ACCEPTED", "DECLINED", "EXPIRED", "WITHDRAWN"])
def test_an_answered_offer_is_not_revived(db: sqlite3.Connection, end: str, to: str) -> None:
    if end == to:
        return
    offered(db, "o1", "j1", "w1", end)
    refused(
        db, "UPDATE offers SET state = ?, answered_ms = ?", to, None if to == "OFFERED" else 2, match="no_offer_revived"
    )


def test_an_answered_offer_is_not_replaced_by_a_live_one(db: sqlite3.Connection) -> None:
    offered(db, "o1", "j1", "w1", "EXPIRED")
    replace = OFFER.replace("INSERT", "INSERT OR REPLACE")
    refused(db, replace, "o1", "j1", "w1", "OFFERED", None, match="no_offer_deleted")
    refused(db, "DELETE FROM offers", match="no_offer_deleted")


def test_an_epoch_is_never_lowered(db: sqlite3.Connection) -> None:
    db.execute("UPDATE regions SET epoch = 3")
    refused(db, "UPDATE regions SET epoch = 2", match="no_epoch_lowered")


# --- bookings --------------------------------------------------------------------------------------------------------


def book(db: sqlite3.Connection, worker_id: str, job_id: str, lane: int, starts_min: int, ends_min: int) -> None:
    offered(db, f"o-{job_id}", job_id, worker_id, "ACCEPTED")
    span = (NOON_MS + starts_min * 60_000, NOON_MS + ends_min * 60_000)
    db.execute(BOOKING, [worker_id, job_id, f"o-{job_id}", lane, *span])


@pytest.mark.parametrize(("starts_min", "ends_min"), [(0, 60), (59, 90), (-30, 1), (10, 20), (-10, 70)])
def test_a_double_booking_is_refused(db: sqlite3.Connection, starts_min: int, ends_min: int) -> None:
    book(db, "w1", "j1", 0, 0, 60)
    with pytest.raises(sqlite3.IntegrityError, match="no_double_booking"):
        book(db, "w1", "j2", 0, starts_min, ends_min)


@pytest.mark.parametrize(("starts_min", "ends_min"), [(60, 90), (-30, 0)])
def test_intervals_that_touch_do_not_overlap(db: sqlite3.Connection, starts_min: int, ends_min: int) -> None:
    book(db, "w1", "j1", 0, 0, 60)
    book(db, "w1", "j2", 0, starts_min, ends_min)


def test_a_booking_of_one_millisecond_too_much_is_refused(db: sqlite3.Connection) -> None:
    offered(db, "o1", "j1", "w1", "ACCEPTED")
    offered(db, "o2", "j2", "w1", "ACCEPTED")
    db.execute(BOOKING, ["w1", "j1", "o1", 0, 0, 1001])
    refused(db, BOOKING, "w1", "j2", "o2", 0, 1000, 2000, match="no_double_booking")


@pytest.mark.parametrize(("worker_id", "lanes"), [("w1", 1), ("wide", 2)])
def test_capacity_is_the_number_of_lanes(db: sqlite3.Connection, worker_id: str, lanes: int) -> None:
    for lane in range(lanes):
        book(db, worker_id, f"j{lane + 1}", lane, 0, 60)
    with pytest.raises(sqlite3.IntegrityError, match="no_booking_beyond_capacity"):
        book(db, worker_id, "j3", lanes, 0, 60)


def test_capacity_is_not_lowered_under_a_booking(db: sqlite3.Connection) -> None:
    book(db, "wide", "j1", 1, 0, 60)
    refused(db, "UPDATE workers SET capacity = 1 WHERE worker_id = 'wide'", match="no_capacity_below_lanes")


@pytest.mark.parametrize(
    "change", ["lane = 1", "worker_id = 'w2'", "starts_ms = starts_ms - 1", "offer_id = 'o-j2'", "job_id = 'j2'"]
)
def test_a_booking_is_not_moved(db: sqlite3.Connection, change: str) -> None:
    book(db, "w1", "j1", 0, 0, 60)
    refused(db, f"UPDATE worker_jobs SET {change}", match="no_rebooking")


def test_a_booking_may_be_shortened_and_not_lengthened(db: sqlite3.Connection) -> None:
    book(db, "w1", "j1", 0, 0, 60)
    db.execute("UPDATE worker_jobs SET ends_ms = ends_ms - 1")
    refused(db, "UPDATE worker_jobs SET ends_ms = ends_ms + 1", match="no_longer_booking")


def test_insert_or_replace_does_not_walk_past_the_guards(db: sqlite3.Connection) -> None:
    book(db, "w1", "j1", 0, 0, 60)
    offered(db, "o9", "j2", "w1", "ACCEPTED")
    replace = BOOKING.replace("INSERT", "INSERT OR REPLACE")
    refused(db, replace, "w1", "j2", "o9", 0, NOON_MS, NOON_MS + 1, match="no_double_booking")


def test_a_day_count_is_never_below_zero(db: sqlite3.Connection) -> None:
    refused(db, "INSERT INTO day_counts VALUES ('main', 'w1', '2026-06-01', -1)", match="CHECK")


# --- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["lat = 91", "lat = 9e999", "lng = -181", "lng = 'x'", "lat = NULL", "priority = 6"])
def test_a_value_no_job_can_have_is_refused(db: sqlite3.Connection, change: str) -> None:
    refused(db, f"UPDATE jobs SET {change} WHERE job_id = 'j1'", match="CHECK|NOT NULL|cannot store")


def test_one_training_clock(db: sqlite3.Connection) -> None:
    refused(db, "INSERT INTO clock (now_ms) VALUES (1)", match="one_clock")
