"""The files themselves: half made, damaged, not to be written, copied under load, and opened by nobody but SQLite.

A missing, foreign, newer or older database and read-only mode are in tests/store/test_sqlite.py.
"""

import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from engine import wiring
from engine.ports import CallboardError
from engine.program import Lost
from engine.store.session import connect
from engine.store.sqlite import SqliteStore
from engine.verbs.site import SiteFile
from tests.adversity.nursery import Nursery
from tests.desk import Desk, north
from tests.leases import stage
from tests.leases.invariants import broken
from tests.leases.stage import dump, run


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery("tests.adversity.visitors", "tests.adversity.crashers")
    yield nursery
    nursery.close()


# --- half made -------------------------------------------------------------------------------------------------------


@pytest.fixture
def failing(faulty: dict[str, str]) -> Iterator[Nursery]:
    nursery = Nursery("tests.adversity.faulted", environment=faulty)
    yield nursery
    nursery.close()


@pytest.mark.parametrize("stride", [9, pytest.param(1, marks=pytest.mark.long)])
def test_killed_at_any_write_of_its_creation_a_site_is_whole_or_not_there(
    failing: Nursery, memory: Path, stride: int
) -> None:
    """``stride``: every so manieth write or sync; with --long each."""
    made = tried = 0
    for number in range(1, 400, stride):
        tried += 1
        path = memory / str(number) / "desk.db"
        path.parent.mkdir()
        ended = failing.run("tests.adversity.faulted:create", str(path), number)
        if not path.exists():
            wiring.create(path, SiteFile(), training=True)
        else:
            made += 1
            [synced] = path.parent.glob(".desk.db.*.new.synced")
            assert path.read_bytes() == synced.read_bytes(), "it got its name before all of it was on the disk"
        engine = wiring.open_engine(path)
        assert engine.store.sites()
        wiring.close(engine)
        assert broken(path) == [], number
        if ended.code == 0:
            break
        assert ended.code == -9
        shutil.rmtree(path.parent)
    else:
        pytest.fail("it was never made to the end")
    assert number > 100
    print(f"\ncreation: killed at {tried - 1} of {number - 1} places; whole after {made - 1} of them, not there after "
          "the others", file=sys.stderr)  # fmt: skip


# --- damaged ---------------------------------------------------------------------------------------------------------


def used(path: Path) -> str:
    """Open, read and write as an engine does: "served", or the refusal's name. A state or a number that is none any
    more ends in a ValueError, a column that is none in a KeyError; any other error is a fault."""
    store = None
    try:
        store = SqliteStore(path)
        store.jobs("main")
        store.workers("main")
        store.live_offers("main")
        store.verify_audit("main")
        store.run("main", stage.accept("o1", "w1"))
    except (CallboardError, ValueError, KeyError) as refused:
        return type(refused).__name__
    finally:
        if store is not None:
            store.close()
    return "served"


def found(path: Path) -> list[str]:
    """Which of `doctor`'s looks and the tests' invariants see something wrong."""
    looks = {"integrity check": integrity, "invariants or audit": broken}
    return [name for name, look in looks.items() if _sees(look, path)]


def integrity(path: Path) -> list[str]:
    with closing(connect(str(path), readonly=True)) as db:
        lines = [str(next(iter(row.values()))) for row in db.execute("PRAGMA integrity_check").fetchall()]
    return [line for line in lines if line != "ok"]


def _sees(look: Callable[[Path], list[str]], path: Path) -> bool:
    try:
        return bool(look(path))
    except Exception:  # what cannot be read is seen, too
        return True


@pytest.mark.parametrize("times", [60, pytest.param(1500, marks=pytest.mark.long)])
def test_a_flipped_bit_is_refused_found_or_harmless_and_never_a_traceback(memory: Path, times: int) -> None:
    chance, ends = random.Random(times), Counter[str]()
    path = memory / "site.db"
    stage.site(path, "offered").close()
    sound, rows = path.read_bytes(), dump(path)
    for n in range(times):
        at, bit = chance.randrange(len(sound)), chance.randrange(8)
        flipped = bytearray(sound)
        flipped[at] ^= 1 << bit
        folder = memory / str(n)  # a new one each time: of a damaged file, something may be kept open in this process
        folder.mkdir()
        (folder / "site.db").write_bytes(flipped)
        ends[_end(folder / "site.db", rows)] += 1
        shutil.rmtree(folder)
    print(f"\n{times} flipped bits: {dict(ends.most_common())}", file=sys.stderr)
    assert sum(ends.values()) == times


def _end(path: Path, rows: list[str]) -> str:
    try:
        changed = dump(path) != rows
    except Exception:
        changed = True
    seen = found(path) if changed else []
    refused = used(path)
    if refused != "served":
        return f"refused ({refused})"
    if not changed:
        return "nothing changed"
    return f"found by {' and '.join(seen)}" if seen else "a value changed unseen"


@pytest.mark.parametrize("share", [0.0, 0.1, 0.35, 0.6, 0.9, 0.99])
def test_a_truncated_database_is_refused_and_left_as_it_is(tmp_path: Path, share: float) -> None:
    path = tmp_path / "site.db"
    stage.site(path, "offered").close()
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    assert used(path) == "Damaged"
    assert path.stat().st_size == int(len(whole) * share)


# --- not to be written -----------------------------------------------------------------------------------------------


@pytest.fixture
def readable() -> Iterator[Path]:
    """A folder that anybody may read and only its owner may write (the tests' own folders are closed to others)."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)
        os.chmod(folder, 0o755)


@pytest.mark.parametrize("shut", ["file", "folder", "both"])
def test_what_may_not_be_written_is_said_and_never_called_damaged(nursery: Nursery, readable: Path, shut: str) -> None:
    desk = Desk(readable)
    desk.worker("ana", north(3))
    desk.job("J1")
    desk.close()
    before = dump(desk.path)
    for file in readable.iterdir():
        os.chmod(file, 0o444 if shut != "folder" else 0o666)
    os.chmod(readable, 0o555 if shut != "file" else 0o777)
    told = cast(dict[str, str], nursery.tell("tests.adversity.visitors:without_rights", str(desk.path)))
    os.chmod(readable, 0o755)
    assert told.get("write", told["open"]).startswith("ReadOnly: "), told
    assert dump(desk.path) == before


# --- copied under load -----------------------------------------------------------------------------------------------


def test_a_backup_taken_while_others_write_restores_whole_and_serves(nursery: Nursery, memory: Path) -> None:
    path, heard = memory / "site.db", memory / "heard"
    store = stage.site(path)
    pids = [nursery.start("tests.adversity.crashers:work", str(path), str(heard), seed) for seed in (1, 2)]
    copies: list[Path] = []
    for n in range(5):
        copies.append(memory / f"copy-{n}.db")
        store.backup(copies[-1])
    for pid in pids:
        nursery.kill(pid)
    store.close()
    acts = [len(dump(copy)) for copy in copies]
    assert acts == sorted(acts)
    for copy in copies:
        assert broken(copy) == []
        restored = SqliteStore(copy)
        assert restored.verify_audit("main").first_bad is None
        assert restored.integrity() == ()
        run(restored, stage.takeover(next(each.epoch for each in restored.regions("main") if each.id == "main")))
        assert not isinstance(restored.run("main", stage.set_clock(stage.NOON_MS)), Lost)
        restored.close()


# --- opened by nobody else -------------------------------------------------------------------------------------------


def test_nothing_in_the_process_opens_the_live_files_but_sqlite(nursery: Nursery, tmp_path: Path) -> None:
    """Closing any other handle on them would drop SQLite's locks, and with them commits (sqlite.org/howtocorrupt 2.2).

    The side file is made by an exclusive open, before any connection to it exists."""
    opened = cast(list[str], nursery.tell("tests.adversity.visitors:a_day", str(tmp_path)))
    database = os.path.realpath(tmp_path / "desk.db")
    assert database + ".lock" in opened, "the hook hears what is opened"
    live = {database + end for end in ("", "-wal", "-shm", ".fixes-wal", ".fixes-shm")}
    assert live & set(opened) == set()
