"""kill -9: what was acknowledged is there, nothing is half done, and the next process serves at once (SPEC 11).

`run.py test --long tests/adversity/test_kills.py -s` kills 500 times and prints what was found.
"""

import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.store.session import connect
from engine.store.sqlite import SqliteStore
from tests.adversity.crashers import PROGRAMS, prepared
from tests.adversity.nursery import Nursery
from tests.leases import stage
from tests.leases.invariants import broken
from tests.leases.stage import dump

CRASHERS = "tests.adversity.crashers"
ROUND = 10
"""Kills on one database, then a new one."""


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery(CRASHERS)
    yield nursery
    nursery.close()


@pytest.mark.parametrize("name", PROGRAMS)
def test_killed_before_any_of_its_statements_a_program_has_done_nothing(
    nursery: Nursery, memory: Path, name: str
) -> None:
    path = memory / "site.db"
    prepared(path, PROGRAMS[name][0]).close()
    before = dump(path)
    for number in range(100):
        ended = nursery.run(f"{CRASHERS}:die_at", str(path), name, number)
        if ended.code == 0:
            break
        assert ended.code == -9
        assert dump(path) == before, f"killed before statement {number}"
    else:
        pytest.fail("it never came to its end")
    assert ended.told == "done"
    assert number > 2
    print(f"\n{name}: killed before each of {number} statements", file=sys.stderr)
    assert broken(path) == []
    assert dump(path) != before


def acknowledged(heard: Path) -> dict[int, str]:
    lines = heard.read_text().splitlines() if heard.exists() else []
    return {int(seq): digest for seq, digest in (line.split() for line in lines)}


def in_audit(path: Path) -> dict[int, str]:
    with closing(connect(str(path), readonly=True)) as db:
        return {row["seq"]: row["hash"] for row in db.execute("SELECT seq, hash FROM audit").fetchall()}


def serve(path: Path) -> float:
    """Open the file as a new process does, and write; answers the seconds."""
    began = time.monotonic()
    store = SqliteStore(path)
    stage.at(store, stage.NOON_MS)
    store.close()
    return time.monotonic() - began


def killed_round(nursery: Nursery, path: Path, chance: random.Random, kills: int) -> tuple[int, int, float]:
    """Two work at a time, and each is killed while it does. Answers acts told, acts untold, longest time to serve."""
    stage.site(path).close()
    heard, first, longest_s = path.with_name("heard"), len(in_audit(path)), 0.0
    for _ in range(kills // 2):
        pids = [nursery.start(f"{CRASHERS}:work", str(path), str(heard), chance.randrange(10**9)) for _ in range(2)]
        for pid in pids:
            threading.Event().wait(chance.random() * 0.06)  # the random moment
            assert nursery.kill(pid).code == -9
            told, stored = acknowledged(heard), in_audit(path)
            assert {seq: stored.get(seq) for seq in told} == told, "what was acknowledged is there"
        longest_s = max(longest_s, serve(path))
        assert broken(path) == []
    told, stored = acknowledged(heard), in_audit(path)
    untold = len(stored) - first - len(told)
    assert 0 <= untold <= kills, "each death leaves at most one act that was done and not yet told"
    return len(told), untold, longest_s


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [40, pytest.param(500, marks=pytest.mark.long)])
def test_killed_at_random_moments_nothing_acknowledged_is_lost(
    nursery: Nursery, tmp_path: Path, memory: Path, kills: int
) -> None:
    chance, acts, unheard, longest_s = random.Random(kills), 0, 0, 0.0
    for n in range(0, kills, ROUND):
        folder = (memory if kills < 100 else tmp_path) / f"round-{n}"
        folder.mkdir()
        told, untold, took_s = killed_round(nursery, folder / "site.db", chance, min(ROUND, kills - n))
        acts, unheard, longest_s = acts + told, unheard + untold, max(longest_s, took_s)
    print(
        f"\n{kills} kills: {acts} acknowledged acts, all there; {unheard} done and not told; "
        f"open again and written to after at most {longest_s * 1000:.0f} ms",
        file=sys.stderr,
    )
    assert acts > kills
    assert longest_s < 1.0
