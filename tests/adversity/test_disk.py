"""A disk that fails and a disk that is full, at every write and every sync of an offer and of an acceptance (SPEC 11).

`run.py test --long tests/adversity/test_disk.py -s` prints how many faults there were and how they ended.
"""

import errno
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from engine.store.sqlite import SqliteStore
from tests.adversity.nursery import Nursery
from tests.desk import Desk, north
from tests.leases.invariants import broken

FAULTED = "tests.adversity.faulted"
DONE = {"assign": ("offered", "standing"), "accept": ("accepted", "already_accepted")}
"""What an act answers when it does it, and when it finds it done."""


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By act, the folder of a site at the moment before it; nobody has it open."""
    found: dict[str, Path] = {}
    for act in DONE:
        folder = tmp_path_factory.mktemp(act)
        desk = Desk(folder)
        desk.worker("ana", north(0))
        desk.job("J1")
        if act == "accept":
            desk.assign("J1")
        desk.engine.store.checkpoint()
        desk.close()
        found[act] = folder
    return found


@pytest.fixture(scope="module")
def nursery(
    faulty: dict[str, str], sites: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Nursery]:
    nursery = Nursery(FAULTED, environment=faulty)
    path = copied(sites["assign"], tmp_path_factory.mktemp("try"))
    try:
        if not nursery.tell(f"{FAULTED}:can_fail", str(path)):
            pytest.skip("this Python's SQLite cannot be reached by a preloaded library")
        yield nursery
    finally:
        nursery.close()


def copied(site: Path, folder: Path) -> Path:
    for file in site.iterdir():
        shutil.copy(file, folder / file.name)
    return folder / "desk.db"


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    error: int
    lasting: bool


EIO_ONCE = Fault("an I/O error", errno.EIO, lasting=False)
EIO_ON = Fault("I/O errors from then on", errno.EIO, lasting=True)
FULL = Fault("a full disk from then on", errno.ENOSPC, lasting=True)


def faulted(nursery: Nursery, path: Path, act: str, number: int, fault: Fault, *, dies: bool) -> dict[str, object]:
    """One act with one fault, and the same act again on a good disk: by the same process, or by another one."""
    told = path.with_name("told")
    words = (str(path), act, number, fault.error, fault.lasting, str(told), dies)
    ended = nursery.run(f"{FAULTED}:act", *words)
    assert ended.code == (-9 if dies else 0), f"{fault.name} at {number}: what a user would see is in the log above"
    if not dies:
        return cast(dict[str, object], ended.told)
    return json.loads(told.read_text()) | {"second": nursery.tell(f"{FAULTED}:again", str(path), act)}


QUICK = {("accept", EIO_ONCE, True), ("assign", FULL, False)}
EACH = [
    pytest.param(act, fault, dies, id=f"{act}, {fault.name}, {'dies' if dies else 'goes on'}",
                 marks=() if (act, fault, dies) in QUICK else pytest.mark.long)
    for act in DONE for fault in (EIO_ONCE, EIO_ON, FULL) for dies in (False, True)
]  # fmt: skip


@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.long)])
def test_a_power_cut_that_takes_all_that_was_not_synced_takes_nothing_acknowledged(
    nursery: Nursery, sites: dict[str, Path], memory: Path, stride: int
) -> None:
    """At every so manieth write or sync; the disk then holds what it held at the last sync of each file."""
    ends: Counter[str] = Counter()
    for number in range(1, 400, stride):
        folder, after = memory / f"{number}", memory / f"{number}-after"
        folder.mkdir()
        after.mkdir()
        path, heard = copied(sites["assign"], folder), folder / "told"
        ended = nursery.run(f"{FAULTED}:through", str(path), str(heard), number)
        left = after_the_cut(folder, copied(sites["assign"], after))
        told = [act for act in heard.read_text().split() if act != "checkpoint"] if heard.exists() else []
        assert broken(left) == [], number
        store = SqliteStore(left)
        acts = [row.act for row in store.audit("main") if row.job_id == "J1"][1:]
        store.close()
        assert acts[: len(told)] == told, number
        assert len(acts) <= len(told) + 1, number
        ends[f"{len(told)} told, {len(acts)} there"] += 1
        if ended.code == 0:
            break
        assert ended.code == -9
    else:
        pytest.fail("it was never cut after the last act")
    print(f"\npower cut at {ends.total()} of {number} places: {dict(sorted(ends.items()))}", file=sys.stderr)


def after_the_cut(before: Path, path: Path) -> Path:
    """``path``: a copy of the site as it was at first; what was synced since then takes its place."""
    for kept in before.glob("*.synced"):
        shutil.copy(kept, path.with_name(kept.stem))
    return path


@pytest.mark.parametrize(("act", "fault", "dies"), EACH)
def test_at_every_write_and_sync(
    nursery: Nursery, sites: dict[str, Path], memory: Path, act: str, fault: Fault, dies: bool
) -> None:
    done, found_done = DONE[act]
    ends: Counter[str] = Counter()
    for number in range(1, 200):
        folder = memory / str(number)
        folder.mkdir()
        path = copied(sites[act], folder)
        told = faulted(nursery, path, act, number, fault, dies=dies)
        first, second = told["first"], told["second"]
        assert broken(path) == [], number
        assert first in (done, "busy"), number
        assert second == found_done or (first == "busy" and second == done), (number, first, second)
        ends[f"{first}, then {second}"] += 1
        if not told["failed"]:
            break
        shutil.rmtree(folder)
    else:
        pytest.fail("it never ran without a fault")
    assert number > 3
    way = "the process then dies" if dies else "the process goes on"
    print(f"\n{act}, {fault.name}, {way}: {number - 1} places; {dict(ends)}", file=sys.stderr)
