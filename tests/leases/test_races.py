"""Real threads and real processes at one database: whatever the machine does, one wins and the others are told."""

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.program import Lost, Program
from engine.rules.nouns import JobState
from engine.store.sqlite import SqliteStore
from tests.conftest import ROOT
from tests.leases import stage
from tests.leases.invariants import broken
from tests.leases.stage import NOON_MS, TTL_MS, at, run


def race(path: Path, programs: Sequence[Callable[[], Program[object]]], *, stores: int = 2) -> list[str]:
    """Every program on a thread of its own, let go at once, on ``stores`` stores; what came of each."""
    opened = [SqliteStore(path) for _ in range(stores)]
    gate = threading.Barrier(len(programs))

    def one(number: int) -> str:
        gate.wait()
        done = opened[number % stores].run("main", programs[number]())
        return f"lost at {done.step}" if isinstance(done, Lost) else "won"

    with ThreadPoolExecutor(len(programs)) as pool:
        told = list(pool.map(one, range(len(programs))))
    for store in opened:
        store.close()
    return told


def test_B051_fifty_accepts_of_fifty_offers_made_for_one_job(tmp_path: Path) -> None:
    """Two consoles, fifty threads: one offer and one acceptance came of it."""
    path = tmp_path / "site.db"
    store = stage.site(path)
    for number in range(50):
        run(store, stage.enrolled(f"v{number}"))
    made = race(path, [lambda n=n: stage.offer(f"o{n}", "j1", f"v{n}") for n in range(50)])
    assert Counter(made) == {"won": 1, "lost at claim_job": 49}
    told = race(path, [lambda n=n: stage.accept(f"o{n}", f"v{n}") for n in range(50)])
    assert Counter(told) == {"won": 1, "lost at accept_offer": 49}
    assert told.index("won") == made.index("won")
    job = store.job("main", "j1")
    assert job is not None
    assert (job.state, job.worker_id) == (JobState.ACCEPTED, f"v{made.index('won')}")
    store.close()
    assert broken(path) == []


def test_B051_fifty_presses_of_one_accept(tmp_path: Path) -> None:
    path = tmp_path / "site.db"
    stage.site(path, "offered").close()
    told = race(path, [lambda: stage.accept("o1", "w1")] * 50)
    assert Counter(told) == {"won": 1, "lost at accept_offer": 49}
    assert broken(path) == []


@pytest.mark.parametrize(
    ("name", "programs", "losses"),
    [
        ("one job", [lambda: stage.offer("oa", "j1", "w1"), lambda: stage.offer("ob", "j1", "w2")], {"claim_job"}),
        (
            "one worker",
            [lambda: stage.offer("oa", "j1", "w1"), lambda: stage.offer("ob", "j2", "w1")],
            {"claim_worker"},
        ),
    ],
)
def test_two_assigners_one_wins(
    tmp_path: Path, name: str, programs: list[Callable[[], Program[object]]], losses: set[str]
) -> None:
    for number in range(20):
        path = tmp_path / f"{number}.db"
        stage.site(path).close()
        told = race(path, programs)
        assert sorted(told) == sorted(["won", *(f"lost at {each}" for each in losses)]), name
        assert broken(path) == []


@pytest.mark.parametrize(("now_ms", "winner"), [(NOON_MS + TTL_MS - 1, 0), (NOON_MS + TTL_MS, 1)])
def test_accept_and_sweeper_in_two_connections_at_the_boundary(tmp_path: Path, now_ms: int, winner: int) -> None:
    """One millisecond before, the acceptance; at now == expires_ms, the expiry; never both and never neither."""
    for number in range(20):
        path = tmp_path / f"{number}.db"
        store = stage.site(path, "offered")
        at(store, now_ms)
        store.close()
        told = race(path, [lambda: stage.accept("o1", "w1"), lambda: stage.expire("o1")])
        assert told[winner] == "won"
        assert told.count("won") == 1
        assert broken(path) == []


def test_three_sweepers_expire_an_offer_once(tmp_path: Path) -> None:
    path = tmp_path / "site.db"
    store = stage.site(path, "offered")
    at(store, NOON_MS + TTL_MS)
    store.close()
    told = race(path, [lambda: stage.expire("o1")] * 3, stores=3)
    assert Counter(told) == {"won": 1, "lost at expire_offer": 2}
    assert broken(path) == []


ASSIGNER = """
import sys
from pathlib import Path
from engine.program import Lost
from engine.store.sqlite import SqliteStore
from tests.leases import stage
path, name, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = SqliteStore(path)
print("ready", flush=True)
sys.stdin.readline()
won = 0
for number in range(rounds):
    done = store.run("main", stage.offer(f"{name}{number}", f"k{number}", f"v{number}"))
    won += not isinstance(done, Lost)
print(won, flush=True)
"""


def test_B051_two_processes_assign_the_same_jobs(tmp_path: Path) -> None:
    path, rounds = tmp_path / "site.db", 60
    store = stage.site(path)
    for number in range(rounds):
        run(store, stage.enrolled(f"v{number}"))
        run(store, stage.opened(f"k{number}"))
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", ASSIGNER, str(path), name, str(rounds)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for name in "ab"
    ]  # fmt: skip
    for each in programs:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in programs:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    told = [int(each.communicate()[0]) for each in programs]
    assert sum(told) == rounds == len(store.live_offers("main"))
    store.close()
    assert broken(path) == []
