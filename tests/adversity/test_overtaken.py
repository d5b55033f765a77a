"""A dispatcher stopped in the middle of its work, overtaken and resumed: it writes nothing more and says so."""

import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from engine import wiring
from engine.ports import Busy, Engine
from engine.verbs import region
from engine.verbs.sweep import ROUNDS, Desk
from tests.adversity.dispatcher import until
from tests.adversity.ground import BOSS, add_fix, add_job, add_worker, found_live
from tests.adversity.nursery import Nursery
from tests.leases.invariants import broken
from tests.leases.stage import dump


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    nursery = Nursery("tests.adversity.dispatcher")
    yield nursery
    nursery.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Engine]:
    """Another process's desk on the same file (this one). When it takes the region, it is for long."""
    path = tmp_path / "site.db"
    every_second = {"retry_s": 1}
    found_live(path, assign=every_second, rounds={"alerts_s": 1}, lease={"region_lease_s": 2, "auto_offer": True})
    engine = wiring.open_engine(path, overrides={"lease": {"region_lease_s": 300}})
    yield engine
    wiring.close(engine)


def stop(pid: int, path: Path) -> None:
    """Stop a process outside its transactions: one stopped inside would keep everybody out, as any writer does."""

    def stopped() -> bool:
        os.kill(pid, signal.SIGSTOP)
        until(lambda: Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T", "stopped")
        fd = os.open(path.with_name(path.name + ".lock"), os.O_RDWR)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.kill(pid, signal.SIGCONT)
            return False
        finally:
            os.close(fd)
        return True

    until(stopped, "stopped outside a transaction")


def take_over(desk: Engine) -> bool:
    """As a standby does: not by force, when the old lease has run out."""
    try:
        region.takeover(desk, BOSS, "main", "the new one")
    except Busy:
        return False
    return True


def test_a_dispatcher_stopped_overtaken_and_resumed_writes_nothing_and_says_fenced(
    nursery: Nursery, desk: Engine, tmp_path: Path
) -> None:
    path, heard = desk.store.path, tmp_path / "heard"
    add_worker(desk, "ana")
    add_job(desk, "J1")
    pid = nursery.start("tests.adversity.dispatcher:dispatch", str(path), str(heard), "ana")
    until(lambda: len(desk.store.live_offers("main")) == 1, "J1 is offered by the dispatcher")
    stop(pid, path)
    until(lambda: take_over(desk), "the lease runs out")
    assert desk.store.live_offers("main") == (), "the old one's offers are withdrawn"
    add_job(desk, "J2", due_min=10)  # something to offer, and something to raise an alert for
    before = dump(path)
    os.kill(pid, signal.SIGCONT)
    ended = nursery.wait(pid)
    assert ended.code == 0
    assert "fenced" in heard.read_text()
    assert dump(path) == before
    assert broken(path) == []
    told = cast(dict[str, dict[str, int]], ended.told)
    assert told["rung"]["retry"] > 0


@pytest.mark.parametrize(
    "name", [each.name for each in ROUNDS if each.held and each.name not in ("renew", "checkpoint")]
)
def test_a_round_that_has_not_heard_of_the_takeover_writes_nothing(desk: Engine, name: str) -> None:
    """Each round alone, in the moment between the takeover and the old dispatcher's next renewal."""
    add_worker(desk, "ana")
    old = wiring.open_engine(desk.store.path)
    region.takeover(old, BOSS, "main", "the old one")
    add_fix(old, "ana")
    add_job(desk, "J1")
    add_job(desk, "J2", due_min=10)
    region.takeover(desk, BOSS, "main", "the new one", by_force=True)
    before = dump(desk.store.path)
    [ring] = [each.ring for each in ROUNDS if each.name == name]
    ring(Desk(engine=old, holder="the old one"))
    assert dump(desk.store.path) == before
    wiring.close(old)
