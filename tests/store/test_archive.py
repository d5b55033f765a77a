"""The archive of fixes: what is newer stays, days go whole and leave nothing, points belong to the worker."""

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.rules.freshness import DAY_MS, LatestFix
from engine.store.archive import FixArchive, NotAnArchive

TODAY_MS = 1_767_225_600_000 + 100 * DAY_MS  # a midnight UTC


def fix(worker: str = "ana", device_ms: int = TODAY_MS, **other: object) -> LatestFix:
    values: dict[str, object] = {"received_ms": device_ms + 200, "lat": 49.41, "lng": 8.69, **other}
    return LatestFix(worker_id=worker, device_ms=device_ms, **values)  # type: ignore[arg-type]


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[FixArchive]:
    with FixArchive.create(tmp_path / "site.fixes") as archive:
        yield archive


def on_disk(archive_path: Path) -> bytes:
    """Every byte of the file and what SQLite keeps beside it."""
    return b"".join(path.read_bytes() for path in archive_path.parent.glob(archive_path.name + "*"))


def test_latest_is_replaced_only_by_a_newer_receipt(archive: FixArchive) -> None:
    archive.write_behind("main", [fix(lat=1.5)], [])
    archive.write_behind("main", [fix(device_ms=TODAY_MS - 1000, lat=2.5)], [])
    assert [each.lat for each in archive.latest("main")] == [1.5]
    archive.write_behind("main", [fix(device_ms=TODAY_MS + 1000, lat=3.5, accuracy_m=4.0, seq=9)], [])
    assert archive.latest("main") == [fix(device_ms=TODAY_MS + 1000, lat=3.5, accuracy_m=4.0, seq=9)]


def test_B002_a_receive_time_of_a_wrong_clock_does_not_block_the_table(archive: FixArchive) -> None:
    archive.write_behind("main", [fix(received_ms=TODAY_MS + 8 * 365 * DAY_MS)], [])
    archive.write_behind("main", [fix(device_ms=TODAY_MS + 1000, lat=50.0)], [])
    assert [each.lat for each in archive.latest("main")] == [50.0]


def test_tenants_never_meet(archive: FixArchive) -> None:
    archive.write_behind("north", [fix()], [fix()])
    assert archive.latest("south") == []
    assert archive.trace("south", "ana", 0, TODAY_MS * 2, 10) == ()


def test_trace_is_half_open_ordered_over_midnight_and_limited(archive: FixArchive) -> None:
    times = [TODAY_MS + step * 30_000 for step in range(-3, 3)]
    archive.write_behind("main", [], [fix(device_ms=at) for at in random.Random(1).sample(times, len(times))])
    got = archive.trace("main", "ana", times[1], times[5], 10)
    assert [each.device_ms for each in got] == times[1:5]
    assert [each.device_ms for each in archive.trace("main", "ana", times[0], times[5], 4)] == times[:4]


def test_B009_the_same_point_again_is_one_row(archive: FixArchive) -> None:
    for _ in range(100):
        archive.write_behind("main", [], [fix()])
    assert len(archive.trace("main", "ana", 0, TODAY_MS * 2, 1000)) == 1


def test_B006_a_late_point_goes_to_its_own_time_and_leaves_the_latest_alone(archive: FixArchive) -> None:
    archive.write_behind("main", [fix()], [fix()])
    late = fix(device_ms=TODAY_MS - DAY_MS - 900_000, received_ms=TODAY_MS + 300_000)
    archive.write_behind("main", [], [late])
    assert archive.latest("main") == [fix()]
    assert archive.trace("main", "ana", TODAY_MS - 2 * DAY_MS, TODAY_MS, 10) == (late,)


def test_B122_a_phone_that_changes_hands_takes_no_points_along(archive: FixArchive) -> None:
    archive.write_behind("main", [], [fix("ana", TODAY_MS + at) for at in (0, 30_000)])
    archive.write_behind("main", [], [fix("ben", TODAY_MS + at) for at in (60_000, 90_000)])
    assert [each.device_ms for each in archive.trace("main", "ben", 0, TODAY_MS * 2, 10)] == [
        TODAY_MS + 60_000,
        TODAY_MS + 90_000,
    ]


def test_dropped_days_leave_no_byte_in_file_or_log(tmp_path: Path) -> None:
    path = tmp_path / "site.fixes"
    with FixArchive.create(path) as archive:
        old = [fix(f"secret-worker-{n}", TODAY_MS - DAY_MS - 1 - n) for n in range(2000)]
        archive.write_behind("main", old, old)
        archive.write_behind("main", [fix("kept-worker")], [fix("kept-worker")])
        assert b"secret-worker" in on_disk(path)
        assert archive.drop_before(TODAY_MS + 3_600_000) == 1
        assert b"secret-worker" not in on_disk(path)
        assert b"kept-worker" in on_disk(path)
        assert [each.worker_id for each in archive.latest("main")] == ["kept-worker"]


def test_a_reader_delays_the_wipe_and_the_next_checkpoint_does_it(tmp_path: Path) -> None:
    path = tmp_path / "site.fixes"
    with FixArchive.create(path) as archive, FixArchive(path) as desk:
        archive.write_behind("main", [], [fix("secret-worker", TODAY_MS - DAY_MS)])
        rows = desk._db.execute("SELECT name FROM sqlite_schema")
        rows.fetchone()
        archive.drop_before(TODAY_MS)
        assert not archive.checkpoint(wait_ms=0)
        rows.close()
        assert archive.checkpoint()
        assert b"secret-worker" not in on_disk(path)


def test_the_log_does_not_grow_without_end(tmp_path: Path) -> None:
    path, log = tmp_path / "site.fixes", tmp_path / "site.fixes-wal"
    with FixArchive.create(path) as archive:
        longest = 0
        for step in range(12):
            archive.write_behind("main", [fix(f"worker-{n}", TODAY_MS + step) for n in range(20_000)], [])
            longest = max(longest, log.stat().st_size)
        assert longest < 24 * 1024 * 1024
        assert len(archive.latest("main")) == 20_000


def test_forget_takes_one_worker_out_of_everything(tmp_path: Path) -> None:
    path = tmp_path / "site.fixes"
    with FixArchive.create(path) as archive:
        both = [fix("worker-gone"), fix("worker-stays")]
        archive.write_behind("main", both, both)
        assert archive.forget("main", "worker-gone") == 2
        assert b"worker-gone" not in on_disk(path)
        assert len(archive.trace("main", "worker-stays", 0, TODAY_MS * 2, 10)) == 1


def test_another_reader_sees_the_latest_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "site.fixes"
    with FixArchive.create(path) as archive, FixArchive(path) as desk:
        archive.write_behind("main", [fix()], [])
        assert desk.latest("main") == [fix()]
        archive.write_behind("main", [fix(device_ms=TODAY_MS + 5000)], [])
        assert desk.latest("main") == [fix(device_ms=TODAY_MS + 5000)]


def test_a_batch_that_fails_leaves_nothing_half_written(archive: FixArchive) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        archive.write_behind("main", [fix(), fix("ben", lat=95.0)], [fix()])
    assert archive.latest("main") == []
    archive.write_behind("main", [fix()], [])


def test_backup_is_one_whole_file_and_never_overwrites(archive: FixArchive, tmp_path: Path) -> None:
    archive.write_behind("main", [fix()], [fix()])
    to_path = tmp_path / "copies" / "copy.fixes"
    to_path.parent.mkdir()
    archive.backup(to_path)
    assert [path.name for path in to_path.parent.iterdir()] == ["copy.fixes"]
    with pytest.raises(FileExistsError):
        archive.backup(to_path)
    with FixArchive(to_path) as copy:
        assert copy.latest("main") == [fix()]


def test_only_our_own_files_are_opened_and_none_is_made(tmp_path: Path) -> None:
    with pytest.raises(NotAnArchive, match="no such file"):
        FixArchive(tmp_path / "missing")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "text").write_bytes(b"no database at all, far from it" * 100)
    with pytest.raises(NotAnArchive, match="not a database"):
        FixArchive(tmp_path / "text")
    other = sqlite3.connect(tmp_path / "other")
    other.execute("CREATE TABLE t (x)")
    other.close()
    with pytest.raises(NotAnArchive, match="not an archive"):
        FixArchive(tmp_path / "other")
    with FixArchive.create(tmp_path / "newer") as newer:
        newer._db.execute("PRAGMA user_version = 2")
    with pytest.raises(NotAnArchive, match="version 2"):
        FixArchive(tmp_path / "newer")
    with pytest.raises(FileExistsError):
        FixArchive.create(tmp_path / "newer")


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    with FixArchive.create(tmp_path / "site.fixes"):
        assert (tmp_path / "site.fixes").stat().st_mode & 0o077 == 0
